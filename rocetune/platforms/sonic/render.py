"""A fitted plan to CONFIG_DB JSON of the managed scope, through ``templates/sonic/config_db.j2``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rocetune.model.change import Rendered
from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan, PortPlan, Setting
from rocetune.model.qos import PriorityQos
from rocetune.platforms.sonic.database import dump, load, natural
from rocetune.platforms.sonic.facts import dynamic
from rocetune.platforms.sonic.fit import eight_lanes, fixed_headroom, fixed_port, private_size
from rocetune.platforms.sonic.owned import OURS
from rocetune.platforms.templating import environment
from rocetune.tuning.thresholds import sonic_power

LOSSLESS_QUEUE_PROFILE = "egress_lossless_profile"  # stock name on every platform
LOSSLESS_POOL = "ingress_lossless_pool"
STOCK_QUEUES = range(7)  # queues that stock images give a buffer profile
_ACTIONS = {"drop": "drop", "forward": "forward", "notify": "alert"}
_TRAILING_COMMA = re.compile(r",(\s*})")
_SPEED_PART = re.compile(r"-\d+(?:\.\d+)?[gm](?=-|$)")
NAME_CHARS = 32  # sonic-wred-profile.yang and its like
_PORT = re.compile(r"Ethernet\d{1,4}", re.ASCII)


class BadPort(ValueError):
    """A port name that CONFIG_DB cannot have."""


@dataclass(frozen=True, slots=True)
class Queue:
    """One line of QUEUE, BUFFER_QUEUE or BUFFER_PG for a template."""

    index: int
    scheduler: str = ""
    wred: str = ""
    profile: str = ""


def object_name(setting: Setting, entry: PriorityQos, names: Iterable[str] = ()) -> str:
    """Name of a class's WRED, scheduler and buffer objects: at most 32 characters (YANG), stable over value changes.

    A long name loses letters of its network. Where two of a switch's settings (``names``) would then read the same, or
    nothing readable is left, a hash tells them apart.
    """
    last = entry.name or str(entry.priority)
    full = f"{OURS}-{setting.name}-{last}"
    if len(full) <= NAME_CHARS:
        return full
    room = NAME_CHARS - len(f"{OURS}--{last}")
    short = _shortened(setting.name, room)
    clash = any(name != setting.name and _shortened(name, room) == short for name in names)
    if short and not clash:
        return f"{OURS}-{short}-{last}"
    return f"{full[: NAME_CHARS - 7].rstrip('-')}-{hashlib.sha256(full.encode()).hexdigest()[:6]}"


def setting_names(plan: DevicePlan) -> frozenset[str]:
    """Names of the settings that share one switch."""
    return frozenset(item.setting.name for item in plan.managed)


@cache
def _shortened(name: str, room: int) -> str:
    """A setting's name in ``room`` characters: speed, cable and what follows stay, the network's end goes."""
    if len(name) <= room:
        return name
    match = _SPEED_PART.search(name)
    if match is None:
        return ""
    network, rest = name[: match.start()], name[match.start() :]
    kept = network[: max(0, room - len(rest))].rstrip("-")
    return kept + rest if len(kept) >= 3 else ""


def render(plan: DevicePlan, facts: Facts, site_templates: Path | None = None) -> Rendered:
    """CONFIG_DB JSON of what rocetune owns on this switch. Deterministic bytes."""
    ports = plan.managed
    for item in ports:
        if not _PORT.fullmatch(item.native):
            raise BadPort(f"{plan.device.name}: {item.native!r} is no SONiC port: names are Ethernet0, Ethernet4 ...")
    text = environment("sonic", site_templates).get_template("config_db.j2").render(**_context(plan, facts))
    database = load(_TRAILING_COMMA.sub(r"\1", text))
    kept = {table: {key: fields for key, fields in keys.items() if fields} for table, keys in database.items()}
    return Rendered(text=dump({table: keys for table, keys in kept.items() if keys}))


def _size(entry: PriorityQos, setting: Setting, ports: Sequence[PortPlan], facts: Facts) -> int:
    like = [item for item in ports if item.setting.name == setting.name]
    return private_size(entry, facts, setting.qos.speed_mbps, eight_lanes(like, facts))


def _context(plan: DevicePlan, facts: Facts) -> dict[str, Any]:
    managed = {item.native: item for item in plan.managed}
    ports = [managed[name] for name in natural(managed)]
    settings = {item.setting.name: item.setting for item in ports}
    names = setting_names(plan)
    classes = [
        (object_name(setting, entry, names), setting, entry)
        for _, setting in sorted(settings.items())
        for entry in setting.qos.priorities
        if entry.owned
    ]
    described = [_port(item, facts, names) for item in ports]
    return {
        "map": OURS,
        "dscps": _dscps(plan, ports),
        "group_maps": sorted({(port["group_map"], port["lossless"]) for port in described}),
        "pfc_to_pg": facts.extra.get("asic_type") in ("mellanox", "barefoot"),
        "serve_all_ports": plan.device.globals_mode == "exclusive",
        "schedulers": [(name, entry) for name, _, entry in classes if entry.scheduling is not None],
        "wreds": [(name, entry) for name, _, entry in classes if _marks(entry)],
        "profiles": [
            (name, entry, _size(entry, setting, ports, facts), sonic_power(entry.alpha or 1.0))
            for name, setting, entry in classes
            if _pfc(entry) and fixed_headroom(setting, entry)
        ],
        "pool": LOSSLESS_POOL,
        "cable_object": facts.extra.get("cable_object", "AZURE"),
        "ports": described,
        "poll": plan.qos.watchdog_poll_ms if any(port["watchdog"] for port in described) else None,
    }


def _pfc(entry: PriorityQos) -> bool:
    return bool(entry.owned and entry.pfc)


def _marks(entry: PriorityQos) -> bool:
    return bool(entry.ecn and entry.kmin_bytes is not None and entry.kmax_bytes is not None)


def _dscps(plan: DevicePlan, ports: Iterable[PortPlan]) -> list[tuple[int, int]]:
    """Every DSCP: owned classes, then foreign ones where they declare it, the default class for the rest."""
    known = {**dict(plan.qos.foreign_dscps), **dict(plan.qos.dscp_to_priority)}
    rest = 0
    for item in ports:
        for entry in item.setting.qos.priorities:
            if entry.owned and not entry.dscps and not entry.lossless:
                rest = entry.priority
    return [(dscp, known.get(dscp, rest)) for dscp in range(64)]


def _port(item: PortPlan, facts: Facts, names: frozenset[str]) -> dict[str, Any]:
    setting, qos = item.setting, item.setting.qos
    owned = [entry for entry in qos.priorities if entry.owned]
    foreign = {entry.priority for entry in qos.priorities if not entry.owned}
    pfc = [entry for entry in owned if _pfc(entry)]
    watched = [entry.priority for entry in pfc if entry.watchdog] if qos.watchdog is not None else []
    # A foreign lossless class keeps its own priority group.
    lossless = sorted(
        {entry.priority for entry in pfc} | {e.priority for e in qos.priorities if e.lossless and not e.owned}
    )
    return {
        "name": item.native,
        "lossless": tuple(lossless),
        "group_map": f"{OURS}-PG{''.join(map(str, lossless)) or 'none'}",
        "mtu": qos.mtu_bytes,
        "cable_m": cable_length(setting, facts),
        "pfc": ",".join(str(entry.priority) for entry in pfc),
        "watched": ",".join(map(str, watched)),
        "watchdog": qos.watchdog if watched else None,
        "action": _ACTIONS.get((qos.watchdog.action if qos.watchdog else None) or "drop", "drop"),
        "queues": [
            Queue(
                entry.priority,
                scheduler=object_name(setting, entry, names) if entry.scheduling is not None else "",
                wred=object_name(setting, entry, names) if _marks(entry) else "",
            )
            for entry in owned
            if entry.scheduling is not None or _marks(entry)
        ],
        "buffer_queues": _buffer_queues({entry.priority for entry in pfc}, {e.priority for e in owned}, foreign, facts),
        "groups": [Queue(entry.priority, profile=_group_profile(item, entry, facts, names)) for entry in pfc],
    }


def cable_length(setting: Setting, facts: Facts) -> int | None:
    """Metres for CABLE_LENGTH; 0 keeps the switch's buffer manager away from a headroom that the profile fixes."""
    if fixed_port(setting, facts):
        return 0
    return None if setting.qos.cable_m is None else round(setting.qos.cable_m)


def _buffer_queues(lossless: set[int], owned: set[int], foreign: set[int], facts: Facts) -> list[Queue]:
    lossy = facts.extra.get("lossy_queue_profile", "egress_lossy_profile")
    wanted = (set(STOCK_QUEUES) | owned) - foreign
    return [Queue(index, profile=LOSSLESS_QUEUE_PROFILE if index in lossless else lossy) for index in sorted(wanted)]


def _group_profile(item: PortPlan, entry: PriorityQos, facts: Facts, names: frozenset[str]) -> str:
    """Bound profile of a lossless priority group; the switch's own name where the switch decides."""
    if fixed_headroom(item.setting, entry):
        return object_name(item.setting, entry, names)
    return own_profile(item.setting.qos.speed_mbps, item.setting.qos.cable_m, facts)


def own_profile(speed_mbps: int | None, cable_m: float | None, facts: Facts) -> str:
    """The name under which the switch keeps its own headroom profile; ``NULL`` lets the dynamic model compute it."""
    if dynamic(facts) or speed_mbps is None or cable_m is None:
        return "NULL"
    return f"pg_lossless_{speed_mbps}_{round(cable_m)}m_profile"

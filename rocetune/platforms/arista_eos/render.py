"""A fitted plan to configuration text, through the template ``arista_eos/config.j2``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocetune.model.change import Rendered
from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan, Setting
from rocetune.model.qos import Watchdog
from rocetune.platforms import templating
from rocetune.platforms.arista_eos import facts as device_facts
from rocetune.platforms.arista_eos import fit, mmu, names

_ACTIONS = {"drop": "drop", "notify": "notify-only", "forward": "notify-only"}  # shutdown: EOS's own, no line


@dataclass(frozen=True, slots=True)
class Queue:
    """One transmit queue of a profile."""

    number: int
    title: str
    strict: bool
    percent: int | None
    guaranteed_kbps: int | None
    ecn: tuple[int, int, int] | None  # minimum, maximum bytes; probability percent


@dataclass(frozen=True, slots=True)
class QosProfile:
    """One ``qos profile``."""

    name: str
    queues: tuple[Queue, ...]
    no_drop: tuple[int, ...]
    watchdog: WatchdogLines | None
    ecn_queues: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WatchdogLines:
    """Watchdog numbers in EOS's seconds. ``action`` None: EOS shuts the port, its default."""

    timeout_s: float
    recovery_s: float
    polling_s: float
    action: str | None


@dataclass(frozen=True, slots=True)
class PortLines:
    """What one interface gets. ``mtu`` None: switched ports take none."""

    name: str
    profile: str
    mtu: int | None
    dcbx: str | None
    ecn_queues: tuple[int, ...]


def render(plan: DevicePlan, facts: Facts, site_templates: Path | None = None) -> Rendered:
    """The configuration of the managed scope; equal plans give equal bytes."""
    settings = {item.setting.name: item.setting for item in plan.managed}
    floors = {name: fit.guaranteed_kbps(made, facts, plan.device.declared) for name, made in settings.items()}
    profiles = {name: _profile(settings[name], floors[name]) for name in sorted(settings)}
    ports = [
        _port(item.native, profiles[item.setting.name], item.setting, facts)
        for item in sorted(plan.managed, key=lambda item: _natural(item.native))
    ]
    buffers = mmu.choose(plan, facts)
    template = templating.environment(device_facts.NAME, site_templates).get_template("config.j2")
    text = template.render(
        device=plan.device.name,
        mode=device_facts.queue_mode(facts),
        dscps=_by_class(dscp_map(plan)),
        queue_map=sorted({q.number for made in profiles.values() for q in made.queues}),
        mmu={
            "name": names.MMU_PROFILE,
            "headroom": buffers.headroom_bytes,
            "threshold": mmu.word_of(buffers.alpha) if buffers.alpha is not None else "",
        }
        if buffers.headroom_bytes is not None
        else None,
        profiles=list(profiles.values()),
        ports=ports,
        watchdog=_switch_wide([made.watchdog for made in profiles.values() if made.watchdog]),
        ecn_counter=facts.extra.get("ecn_counter_feature", plan.device.declared.get("ecn_counter_feature")) == "on",
    )
    return Rendered(text)


def dscp_map(plan: DevicePlan) -> dict[int, int]:
    """DSCP to traffic class as the device is to have it: the owned classes, or all 64 where the map is ours.

    Under ``globals: exclusive`` a DSCP that no class names goes to the default class (traffic class 1). DSCP 56-63
    and those of foreign classes keep EOS's own class: control traffic stays in traffic class 7.
    """
    if not plan.managed:
        return {}
    owned = {point: names.traffic_class(priority) for point, priority in plan.qos.dscp_to_priority}
    owned = {point: tc for point, tc in owned.items() if tc != names.RESERVED_TC}
    if plan.device.globals_mode != "exclusive":
        return owned
    foreign = {point for point, _ in plan.qos.foreign_dscps}
    for point in range(64):
        default = names.default_traffic_class(point)
        kept = point in foreign or default == names.RESERVED_TC
        owned.setdefault(point, default if kept else names.traffic_class(0))
    return owned


def _profile(setting: Setting, floors: Mapping[int, int]) -> QosProfile:
    queues = []
    for entry in setting.qos.priorities:
        if not entry.owned or entry.queue is None:
            continue
        curve = None
        if entry.ecn and entry.kmin_bytes is not None and entry.kmax_bytes is not None:
            curve = (max(1, entry.kmin_bytes), max(1, entry.kmax_bytes), int(entry.pmax_percent or 100))
        strict = entry.scheduling == "strict"
        percent = None if strict else entry.bandwidth_percent
        title = f"{entry.name or 'class'}: priority {entry.priority}"
        queues.append(Queue(entry.queue, title, strict, percent, floors.get(entry.priority), curve))
    no_drop = tuple(entry.priority for entry in setting.qos.priorities if entry.owned and entry.pfc)
    watched = no_drop and setting.qos.watchdog is not None and any(e.watchdog for e in setting.qos.priorities)
    return QosProfile(
        names.profile_name(setting.name),
        tuple(sorted(queues, key=lambda queue: queue.number)),
        no_drop,
        _watchdog(setting.qos.watchdog) if watched and setting.qos.watchdog else None,
        tuple(sorted(queue.number for queue in queues if queue.ecn)),
    )


def _watchdog(timers: Watchdog) -> WatchdogLines | None:
    if timers.detect_ms is None or timers.restore_ms is None or timers.poll_ms is None:
        return None
    action = _ACTIONS.get(timers.action or "drop")
    return WatchdogLines(timers.detect_ms / 1000, timers.restore_ms / 1000, timers.poll_ms / 1000, action)


def _switch_wide(all_lines: Sequence[WatchdogLines]) -> WatchdogLines | None:
    """Defaults for ports that watch without timers of their own: the shortest of the profiles.

    The action is written only as ``drop``, and only when every profile drops: the other words of a port have no
    switch-wide counterpart that hardware takes.
    """
    if not all_lines:
        return None
    timeout, recovery = min(w.timeout_s for w in all_lines), min(w.recovery_s for w in all_lines)
    drop = all(lines.action == "drop" for lines in all_lines)
    return WatchdogLines(timeout, recovery, min(w.polling_s for w in all_lines), "drop" if drop else None)


def _port(native: str, made: QosProfile, setting: Setting, facts: Facts) -> PortLines:
    known = facts.ports.get(native)
    switched = known is not None and known.extra.get("mode") == "bridged"
    dcbx = setting.qos.dcbx if setting.qos.dcbx in ("ieee", "cee") else None
    return PortLines(native, made.name, None if switched else setting.qos.mtu_bytes, dcbx, made.ecn_queues)


def _by_class(points: dict[int, int]) -> list[tuple[str, int]]:
    found: dict[int, list[str]] = {}
    for point, tc in sorted(points.items()):
        found.setdefault(tc, []).append(str(point))
    return [(" ".join(members), tc) for tc, members in sorted(found.items())]


def _natural(name: str) -> list[tuple[int, str]]:
    parts = "".join(c if c.isdigit() else f" {c} " for c in name).split()
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]

"""What the daemons of an emulated SONiC switch make of its CONFIG_DB: buffer manager, orchagent, PFC watchdog.

Written after the behaviour that the reference cites from sonic-swss, traps included: the buffer manager only adds, a
delete of an overlapping range points the groups at the null profile, a running watchdog keeps its queue list, a
scheduler with a ``priority`` field is rejected as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from rocetune.lab.sonic_factory import Database, Fields
from rocetune.lab.sonic_skus import Row, Sku, computed, sku

Event = tuple[str, str, str]  # "set" or "del", table, key
_BOUND = {"BUFFER_PG": "groups", "BUFFER_QUEUE": "queues"}


@dataclass(slots=True)
class Timer:
    """A transient unit of systemd."""

    unit: str
    at: float
    description: str
    command: list[str]


@dataclass(slots=True)
class SwitchState:
    """Everything an emulated switch remembers; one JSON file."""

    config: Database
    startup: Database
    boot: float
    appl: Database = field(default_factory=dict)
    groups: dict[str, str | None] = field(default_factory=dict)  # "Ethernet0:3" -> profile in the ASIC, None = null
    queues: dict[str, str | None] = field(default_factory=dict)
    watched: dict[str, str] = field(default_factory=dict)  # port -> queues its running watchdog looks at
    told: dict[str, str] = field(default_factory=dict)  # port -> PFC list that the buffer manager heard of
    lengths: dict[str, str] = field(default_factory=dict)  # port -> cable length that it remembers
    storms: dict[str, list[int]] = field(default_factory=dict)  # "Ethernet0:3" -> [stormed now, detected, restored]
    seen: dict[str, list[float]] = field(default_factory=dict)  # "Ethernet0:3" -> [at, PFC frames received, per second]
    timers: list[Timer] = field(default_factory=list)
    checkpoints: list[str] = field(default_factory=list)
    computed: dict[str, str] = field(default_factory=dict)  # "Ethernet0:3" -> profile of the dynamic model
    full: list[str] = field(default_factory=list)  # ports whose headroom is used up
    log: list[str] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write atomically."""
        draft = path.with_suffix(".new")
        content = {item.name: getattr(self, item.name) for item in fields(self)}
        content["timers"] = [asdict(timer) for timer in self.timers]
        draft.write_text(json.dumps(content))
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> SwitchState:
        """Read what :meth:`save` wrote."""
        raw: dict[str, Any] = json.loads(path.read_text())
        raw["timers"] = [Timer(**item) for item in raw["timers"]]
        return cls(**raw)


def boot(state: SwitchState, now: float) -> None:
    """Start all daemons on what CONFIG_DB holds; nothing volatile survives."""
    state.boot = now
    state.appl, state.groups, state.queues = {}, {}, {}
    state.watched, state.storms, state.seen, state.computed = {}, {}, {}, {}
    state.timers, state.told = [], {}
    state.lengths = {
        port: text for held in state.config.get("CABLE_LENGTH", {}).values() for port, text in held.items()
    }
    process(state, [("set", table, key) for table, entries in state.config.items() for key in entries])


def process(state: SwitchState, events: Iterable[Event]) -> None:
    """One batch of changes: orchagent takes keys in sorted order, the buffer manager follows with its own batch."""
    batch = sorted(set(events), key=lambda event: (event[1], event[2], event[0]))
    for action, table, key in batch:
        _orchagent(state, action, table, key)
    follow: list[Event] = []
    if state.config.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model") == "dynamic":
        dynamic_manager(state)
    else:
        for port in _concerned(state, batch):
            follow += _buffer_manager(state, port)
    # A length in the same batch as its port is remembered too late: the order of two tables is not defined.
    for action, table, key in batch:
        if action == "set" and table == "CABLE_LENGTH":
            state.lengths.update(state.config.get(table, {}).get(key, {}))
    for action, table, key in sorted(follow, key=lambda event: (event[1], event[2])):
        _orchagent(state, action, table, key)


def _concerned(state: SwitchState, batch: list[Event]) -> list[str]:
    """Ports whose headroom the buffer manager looks up again: written ones, and those whose PFC list changed."""
    ports: dict[str, None] = {}
    for action, table, key in batch:
        if action == "set" and table == "PORT":
            ports[key] = None
        enabled = state.config.get("PORT_QOS_MAP", {}).get(key, {}).get("pfc_enable")
        if action == "set" and table == "PORT_QOS_MAP" and enabled is not None and state.told.get(key) != enabled:
            state.told[key] = enabled
            ports[key] = None
    return list(ports)


def _buffer_manager(state: SwitchState, port: str) -> list[Event]:
    """buffermgrd of the traditional model: look up, write, and never take away."""
    enabled = state.told.get(port, "")
    speed = state.config.get("PORT", {}).get(port, {}).get("speed", "")
    length = state.lengths.get(port, "")
    if not enabled or not speed or length in ("", "0m"):
        return []
    row = next((row for row in _sku(state).rows if (str(row.speed_mbps), f"{row.cable_m}m") == (speed, length)), None)
    if row is None:
        state.log.append(
            f"ERR swss#buffermgrd: Unable to create/update PG profile for port {port}. No PG profile configured for "
            f"speed {speed} and cable length {length}"
        )
        return []
    name, events = f"pg_lossless_{speed}_{length}_profile", []
    profiles = state.config.setdefault("BUFFER_PROFILE", {})
    if name not in profiles:
        profiles[name] = _profile(row)
        events.append(("set", "BUFFER_PROFILE", name))
    groups = state.config.setdefault("BUFFER_PG", {})
    for span in spans(enabled):
        groups[f"{port}|{span}"] = {"profile": name}  # written also where it is there already, or something else is
        events.append(("set", "BUFFER_PG", f"{port}|{span}"))
    return events


def _sku(state: SwitchState) -> Sku:
    return sku(state.config.get("DEVICE_METADATA", {}).get("localhost", {}).get("hwsku", ""))


def _profile(row: Row) -> Fields:
    offset = {} if row.xon_offset is None else {"xon_offset": str(row.xon_offset)}
    return {
        "pool": "ingress_lossless_pool",
        "xon": str(row.xon),
        **offset,
        "xoff": str(row.xoff),
        "size": str(row.size),
        "dynamic_th": str(row.threshold),
    }


def dynamic_manager(state: SwitchState) -> None:
    """buffermgrd of the dynamic model: a group that asks for it gets a computed profile, in APPL_DB alone.

    A port that is full (fault ``headroom_refused``) keeps what it had.
    """
    shown = state.appl.setdefault("BUFFER_PG_TABLE", {})
    made: dict[str, Fields] = {}
    lengths = {port: text for held in state.config.get("CABLE_LENGTH", {}).values() for port, text in held.items()}
    for key, entry in state.config.get("BUFFER_PG", {}).items():
        port, _, span = key.rpartition("|")
        if entry.get("profile") != "NULL" or port not in state.config.get("PORT", {}):
            continue
        name, row = _computed(state, port, lengths.get(port, ""))
        held = state.computed.get(f"{port}:{span}", "")
        if port in state.full and name != held:
            line = f"Unable to update profile for port {port}. Accumulative headroom size exceeds limit"
            if not any(line in old for old in state.log):
                state.log.append(f"ERR swss#buffermgrd: :- isHeadroomResourceValid: {line}")
            name = held
        elif row is not None:
            made[name] = _profile(row)
        _give(state, f"{port}:{span}", name, shown)
    kept = state.appl.get("BUFFER_PROFILE_TABLE", {})
    used = {entry["profile"] for entry in shown.values()}
    state.appl["BUFFER_PROFILE_TABLE"] = {k: v for k, v in (kept | made).items() if k in used}
    state.computed = {key: name for key, name in state.computed.items() if key in shown}


def _computed(state: SwitchState, port: str, length: str) -> tuple[str, Row | None]:
    """Name and numbers of the profile for a port, ("", None) for a cable of 0 m or none."""
    held = state.config["PORT"][port]
    speed, mtu = held.get("speed", ""), held.get("mtu", "9100")
    if not speed or length in ("", "0m"):
        return "", None
    suffix = "" if mtu == "9100" else f"_mtu{mtu}"
    shared = _sku(state).asic_type != "mellanox"
    return f"pg_lossless_{speed}_{length}{suffix}_profile", computed(
        int(speed), int(length.removesuffix("m")), int(mtu), shared=shared
    )


def _give(state: SwitchState, group: str, name: str, shown: dict[str, Fields]) -> None:
    port, _, span = group.partition(":")
    first, _, last = span.partition("-")
    if name:
        shown[group] = {"profile": name}
        state.computed[group] = name
    else:
        shown.pop(group, None)
    for index in range(int(first), int(last or first) + 1):
        state.groups[f"{port}:{index}"] = name or None


def spans(enabled: str) -> list[str]:
    """``3,4`` as the key part ``3-4``; gaps make several."""
    numbers = sorted(int(part) for part in enabled.split(",") if part.isdigit())
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][-1] == number - 1:
            found[-1].append(number)
        else:
            found.append([number])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in found]


def _orchagent(state: SwitchState, action: str, table: str, key: str) -> None:
    if table in _BOUND:
        _bind(state, action, table, key)
    elif table == "PFC_WD" and key != "GLOBAL":
        mask = state.config.get("PORT_QOS_MAP", {}).get(key, {}).get("pfcwd_sw_enable", "")
        if action == "del":
            state.watched.pop(key, None)
            state.storms = {name: storm for name, storm in state.storms.items() if name.split(":")[0] != key}
        elif mask:
            state.watched[key] = mask
    elif table == "PORT_QOS_MAP" and action == "set":
        # An entry that waited for a mask starts now; a running one is not told (sonic-swss 842).
        mask = state.config[table].get(key, {}).get("pfcwd_sw_enable", "")
        if mask and key in state.config.get("PFC_WD", {}) and key not in state.watched:
            state.watched[key] = mask
    elif table == "SCHEDULER" and "priority" in state.config.get(table, {}).get(key, {}):
        state.log.append(f"ERR swss#orchagent: :- handleSchedulerTable: Unknown field:priority in {key}")


def _bind(state: SwitchState, action: str, table: str, key: str) -> None:
    port, _, span = key.rpartition("|")
    first, _, last = span.partition("-")
    bound = state.groups if table == "BUFFER_PG" else state.queues
    name = f"{port}:{span}"
    held: Fields = state.config.get(table, {}).get(key, {})
    if action == "set" and held:
        state.appl.setdefault(f"{table}_TABLE", {})[name] = dict(held)
    else:
        state.appl.get(f"{table}_TABLE", {}).pop(name, None)
    for index in range(int(first), int(last or first) + 1):
        bound[f"{port}:{index}"] = held.get("profile") if action == "set" and held else None

"""The plan as a SONiC switch can have it: cable lengths of its table, whole percents, timer ranges, what is missing.

Ranges from the YANG models of sonic-buildimage; buffer behaviour from sonic-swss cfgmgr (see the reference).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rocetune.model.facts import Facts
from rocetune.model.plan import Assumption, DevicePlan, PortPlan, Setting, Unsupported, Why
from rocetune.model.qos import Path, PortQos, PriorityQos, Watchdog
from rocetune.platforms.sonic.facts import MAX_MTU_BYTES, PUBLISHED, Headroom, dynamic, headroom_rows, table_known
from rocetune.tuning.thresholds import sonic_power

COMMON_LENGTHS_M = (5, 40, 300)  # the lengths nearly every lookup table lists
COMPUTING = ("mellanox", "barefoot", "vs")  # asic_type with a headroom formula in sonic-swss cfgmgr
POLL_MS, DETECT_MS, RESTORE_MS = (100, 1000), (100, 5000), (100, 60000)


@dataclass(slots=True)
class _Notes:
    """What fit found out, in the order found; texts are kept once."""

    why: dict[Path, Why]
    unsupported: dict[tuple[Path, str], Unsupported] = field(default_factory=dict)
    assumptions: dict[str, Assumption] = field(default_factory=dict)
    where: str = ""

    def refuse(self, path: Path, text: str, blocking: bool = False) -> None:
        self.unsupported.setdefault((path, text), Unsupported(self.where, path, text, blocking))

    def assume(self, text: str, remedy: str = "", risk: bool = False) -> None:
        self.assumptions.setdefault(text, Assumption(self.where, text, remedy, risk))

    def round(self, path: Path, text: str) -> None:
        old = self.why.get(path, Why(rule="sonic.fit"))
        self.why[path] = replace(old, rounding=f"{old.rounding}; {text}" if old.rounding else text)


def fit(plan: DevicePlan, facts: Facts) -> DevicePlan:
    """The plan in SONiC's terms. Reasons say what was rounded; Unsupported says what is left out."""
    poll = _poll_ms(plan)
    made: dict[tuple[int, int | None], tuple[Setting, _Notes]] = {}
    ports, written = [], set()
    for item in plan.ports:
        speed = item.setting.qos.speed_mbps or _speed(item, facts)
        key = (id(item.setting), speed)
        if key not in made:
            made[key] = _setting(item.setting, speed, poll, facts)
        if plan.device.manage == "full" and item.port.manage == "full":
            written.add(key)
        ports.append(replace(item, setting=made[key][0]))
    unsupported, assumptions = list(plan.unsupported), list(plan.assumptions)
    for key, (_, notes) in made.items():  # what only looks at a port stops no push
        unsupported += (replace(lack, blocking=lack.blocking and key in written) for lack in notes.unsupported.values())
        assumptions += notes.assumptions.values()
    if facts.extra.get("switch_type") == "voq":
        assumptions.append(
            Assumption(plan.device.name, "VOQ chassis: only port|queue keys are written, not host|asic|port|queue", "")
        )
    qos = replace(plan.qos, watchdog_poll_ms=poll)
    return replace(
        plan, ports=tuple(ports), qos=qos, unsupported=tuple(unsupported), assumptions=tuple(dict.fromkeys(assumptions))
    )


def fixed_headroom(setting: Setting, entry: PriorityQos) -> bool:
    """Whether the profile fixes a buffer number of this class, so that the switch's own table does not apply."""
    intent = setting.profile.classes.get(entry.name or "")
    if intent is None:
        return False
    numbers = (intent.pfc.headroom, intent.pfc.xoff, intent.pfc.xon, intent.pfc.alpha)
    return any(value != "auto" for value in numbers)


def fixed_port(setting: Setting, facts: Facts) -> bool:
    """Whether a port of this setting has a headroom by hand beside a buffer manager that must not touch it."""
    return not dynamic(facts) and any(entry.pfc and fixed_headroom(setting, entry) for entry in setting.qos.priorities)


def _speed(item: PortPlan, facts: Facts) -> int | None:
    port = facts.ports.get(item.native)
    return item.port.speed_mbps or (port.speed_mbps if port else None)


def _poll_ms(plan: DevicePlan) -> int | None:
    """One polling interval per switch: at most half the shortest detection or restoration time, 100..1000 ms."""
    times = [
        value
        for item in plan.ports
        if (dog := item.setting.qos.watchdog) is not None
        for value in (dog.detect_ms, dog.restore_ms)
        if value is not None
    ]
    if not times:
        return None
    wanted = plan.qos.watchdog_poll_ms or min(times) // 2
    return max(POLL_MS[0], min(POLL_MS[1], wanted))


def _setting(setting: Setting, speed: int | None, poll: int | None, facts: Facts) -> tuple[Setting, _Notes]:
    notes = _Notes(dict(setting.why), where=setting.name)
    qos = setting.qos
    rows = headroom_rows(facts)
    if rows and facts.extra.get("headroom_table_from") == PUBLISHED and any(entry.lossless for entry in qos.priorities):
        notes.assume(
            f"the switch's headroom table is taken to be the one published for {facts.extra['headroom_table_name']}",
            "a live diff reads the switch's own",
        )
    by_hand = fixed_port(setting, facts)
    if by_hand:
        notes.round(("cable_m",), "written as 0m: otherwise the switch would bind its own headroom over the fixed one")
        if any(entry.pfc and not fixed_headroom(setting, entry) for entry in qos.priorities):
            notes.refuse(
                ("priorities",),
                "a port has either fixed headroom or the switch's own, the other lossless class would get none: "
                "fix pfc.headroom for every class",
                blocking=True,
            )
    row_m = float(math.ceil(qos.cable_m)) if by_hand and qos.cable_m is not None else None
    lossless = any(entry.owned and entry.pfc for entry in qos.priorities)
    cable = None if by_hand else _cable(qos.cable_m, speed, lossless, facts, notes)
    priorities = tuple(_priority(entry, setting, speed, cable or row_m, rows, facts, notes) for entry in qos.priorities)
    if qos.trust not in ("dscp", None):
        notes.refuse(("trust",), f"trust {qos.trust} is not rendered: only DSCP maps are")
    if qos.dcbx not in ("off", None):
        notes.refuse(("dcbx",), "SONiC speaks no DCBX; the servers' DCBX must be off")
    mtu = qos.mtu_bytes
    if mtu is not None and mtu > MAX_MTU_BYTES:
        notes.round(("mtu_bytes",), f"{mtu} is above the ceiling: {MAX_MTU_BYTES}")
        mtu = MAX_MTU_BYTES
    fitted = replace(
        qos,
        mtu_bytes=mtu,
        cable_m=cable,
        dcbx=None,
        link_pause=None,
        speed_mbps=speed,
        priorities=priorities,
        watchdog=_watchdog(qos, poll, facts, notes),
    )
    return replace(setting, qos=fitted, why=notes.why), notes


def _cable(cable_m: float | None, speed: int | None, lossless: bool, facts: Facts, notes: _Notes) -> float | None:
    """The CABLE_LENGTH to write: whole metres, in the traditional model a length of the switch's table."""
    if cable_m is None:
        return None
    metres = max(1, math.ceil(cable_m))
    if not dynamic(facts):
        listed = _listed(speed, facts, notes)
        longer = [length for length in listed if length >= metres]
        if not longer:
            _no_headroom(metres, speed, listed, lossless, facts, notes)
            return float(metres)
        metres = longer[0]
    if metres != cable_m:
        notes.round(("cable_m",), f"{cable_m:g} m becomes {metres} m, the next length the switch has headroom for")
    return float(metres)


def _listed(speed: int | None, facts: Facts, notes: _Notes) -> list[int]:
    """Lengths that the switch's table has at this speed; the common ones where the table or the speed is not known."""
    if table_known(facts) and speed is not None:
        return sorted({length for rate, length in headroom_rows(facts) if rate == speed})
    at = f" at {speed} Mbit/s" if speed is not None else ""
    unread = "the port's speed is not known" if table_known(facts) else "pg_profile_lookup.ini was not read"
    notes.assume(
        f"{unread}: the switch's headroom table is taken to list 5, 40 and 300 m{at}", "a live diff reads both"
    )
    return list(COMMON_LENGTHS_M)


def _no_headroom(
    metres: int, speed: int | None, listed: list[int], lossless: bool, facts: Facts, notes: _Notes
) -> None:
    """The buffer manager finds no row: a lossless class would run without headroom, so nothing may be pushed."""
    nothing = f"no length at {speed} Mbit/s" + ("" if headroom_rows(facts) else ", it is empty")
    longest = f"up to {listed[-1]} m" if listed else nothing
    known = table_known(facts) and speed is not None
    notes.refuse(
        ("cable_m",),
        f"no headroom for {metres} m: the switch's table {'lists' if known else 'is taken to list'} {longest}"
        + ("; fix pfc.headroom in the profile, or give the port a listed speed and length" if lossless else ""),
        blocking=lossless and known,
    )
    if lossless and not known:
        notes.assume(
            f"no headroom table of this switch is known: one that ends at {listed[-1] if listed else 0} m, as most do, "
            f"gives a lossless port of {metres} m none, and it loses frames",
            "state hwsku in the inventory if it is not, or fix pfc.headroom in the profile",
            risk=True,
        )


def _priority(
    entry: PriorityQos,
    setting: Setting,
    speed: int | None,
    cable: float | None,
    rows: Mapping[tuple[int, int], Headroom],
    facts: Facts,
    notes: _Notes,
) -> PriorityQos:
    at = ("priorities", entry.priority)
    changes: dict[str, Any] = {
        "traffic_class": entry.priority,
        "queue": entry.priority,
        "priority_group": entry.priority if entry.lossless else 0,
        "xoff_bytes": None,
        "xon_offset_bytes": None,
    }
    if entry.pmax_percent is not None:
        whole = max(1, min(100, round(entry.pmax_percent)))
        if whole != entry.pmax_percent:
            notes.round(
                (*at, "pmax_percent"), f"{entry.pmax_percent:g} % becomes {whole} %: SONiC takes whole percents"
            )
        changes["pmax_percent"] = float(whole)
    if entry.bandwidth_percent is not None and not 1 <= entry.bandwidth_percent <= 100:
        notes.round((*at, "bandwidth_percent"), "DWRR weights are 1 to 100")
        changes["bandwidth_percent"] = max(1, min(100, entry.bandwidth_percent))
    if entry.lossless:
        if fixed_headroom(setting, entry):
            changes |= _fixed(entry, speed, cable, rows, facts, notes)
        else:
            changes |= _own_table(entry, speed, cable, rows, facts, notes)
    return replace(entry, **changes)


def _own_table(
    entry: PriorityQos,
    speed: int | None,
    cable: float | None,
    rows: Mapping[tuple[int, int], Headroom],
    facts: Facts,
    notes: _Notes,
) -> dict[str, Any]:
    """The switch decides: its table (traditional) or its formula (dynamic)."""
    path = ("priorities", entry.priority, "headroom_bytes")
    found = rows.get((speed or 0, round(cable or 0))) if not dynamic(facts) else None
    if found is None:
        model = "computes it (dynamic model)" if dynamic(facts) else "takes it from its own table (traditional model)"
        notes.round(path, f"not written: the switch {model}; this number is what the link needs")
        if dynamic(facts):
            _computed_there(facts, notes)
        # A device whose own number cannot be known is not judged by ours.
        kept = None if facts.source == "device" else entry.headroom_bytes
        return {"headroom_bytes": kept, "xon_bytes": None, "alpha": None}
    need = entry.headroom_bytes
    notes.round(
        path, f"the switch's own table gives {found.xoff} B for {speed} Mbit/s and {cable:g} m; needed {need} B"
    )
    if need is not None and found.xoff < need:
        notes.assume(
            f"the switch's table reserves {found.xoff:,} B for {speed} Mbit/s and {cable:g} m where the link needs "
            f"{need:,} B: {need - found.xoff:,} B could be lost while the peer stops",
            "fix pfc.headroom in the profile to override the table",
            risk=True,
        )
    return {"headroom_bytes": found.xoff, "xon_bytes": None, "alpha": None}


def _computed_there(facts: Facts, notes: _Notes) -> None:
    """Said offline already: in the dynamic model the planned headroom is a yardstick, not what goes out."""
    notes.assume(
        "dynamic buffer model: the switch computes headroom from speed, cable length and MTU; the planned number is "
        "not written",
        "fix pfc.headroom in the profile to write a number of yours",
    )
    kind = facts.extra.get("asic_type", "")
    if kind not in COMPUTING:
        notes.assume(
            f"an image for {kind or 'an unknown ASIC'} computes headroom in the dynamic buffer model: community images "
            "do so on NVIDIA and Barefoot only",
            "set buffer_model traditional on the switch, or fix pfc.headroom in the profile",
        )


def _fixed(
    entry: PriorityQos,
    speed: int | None,
    cable: float | None,
    rows: Mapping[tuple[int, int], Headroom],
    facts: Facts,
    notes: _Notes,
) -> dict[str, Any]:
    """An explicit BUFFER_PROFILE. What the profile leaves open comes from the switch's own row."""
    near = [length for rate, length in rows if rate == speed and length >= (cable or 0)]
    row = rows.get((speed or 0, min(near, default=0)))
    at = ("priorities", entry.priority)
    if entry.xoff_bytes is not None:
        notes.refuse(
            (*at, "xoff_bytes"), "a static XOFF threshold is not rendered: the lossless pool is dynamic; fix alpha"
        )
    alpha = entry.alpha if entry.alpha is not None else (2.0**row.threshold if row and row.threshold <= 7 else 1.0)
    power = sonic_power(alpha)
    if 2.0**power != alpha:
        notes.round((*at, "alpha"), f"{alpha:g} becomes {2.0**power:g}: SONiC takes powers of two")
    xon = entry.xon_bytes if entry.xon_bytes is not None else (row.xon if row else 0)
    if entry.xon_bytes is None:
        said = f"{xon} B, as in the switch's own table" if row else "0 B: the switch's own table was not read"
        notes.why[(*at, "xon_bytes")] = Why("sonic.xon", (("xon_bytes", xon),), (said,), source="pg_profile_lookup.ini")
    if row is None and entry.xon_bytes is None:
        notes.assume(
            "no row of the switch's headroom table for this speed and cable: xon and the private size of the fixed "
            "headroom profile are not taken from it",
            "read the device, or fix pfc.xon in the profile",
        )
    return {"alpha": 2.0**power, "xon_bytes": xon, "xon_offset_bytes": _xon_offset(entry, row, facts, notes)}


def _xon_offset(entry: PriorityQos, row: Headroom | None, facts: Facts, notes: _Notes) -> int | None:
    """How far below its dynamic XOFF a group resumes: the switch's own row, else the plan's gap.

    Without it a group of a shared headroom pool would resume at the first byte below XOFF, and pause would flap.
    """
    if _private(facts) or entry.xon_offset_bytes is None:
        return None
    if row is None or row.xon_offset is None:
        return entry.xon_offset_bytes
    path = ("priorities", entry.priority, "xon_offset_bytes")
    notes.round(path, f"the switch's own table has {row.xon_offset} B; two frames would be {entry.xon_offset_bytes} B")
    return row.xon_offset


def private_size(entry: PriorityQos, facts: Facts, speed_mbps: int | None = None, more_bytes: int = 0) -> int:
    """``size`` of an explicit lossless profile, bytes; ``more_bytes`` see :func:`eight_lanes`.

    NVIDIA, Barefoot and Centec reserve xon + xoff for the port. Elsewhere the rows of the switch's own table for the
    speed tell: a size below xoff is the private part beside a shared headroom pool, a larger one holds xoff too. Of
    several the largest counts; without a row xon alone is reserved (headroom data of sonic-buildimage).
    """
    xon, xoff = entry.xon_bytes or 0, entry.headroom_bytes or 0
    if _private(facts):
        return xon + xoff + more_bytes
    rows = [row for (speed, _), row in headroom_rows(facts).items() if speed == speed_mbps]
    return max((row.size if row.size < row.xoff else row.size - row.xoff + xoff for row in rows), default=xon)


def eight_lanes(ports: Iterable[PortPlan], facts: Facts) -> int:
    """Bytes that NVIDIA reserves on ports of eight lanes beside xon and xoff: one port MTU; 0 where none has them.

    Source: sonic-swss buffer_headroom_mellanox.lua; ACS-MSN4700's row for 400G is 9216 B more than its parts.
    """
    if facts.extra.get("asic_type") != "mellanox":
        return 0
    known = ((item, facts.ports.get(item.native)) for item in ports)
    return max(
        (item.setting.qos.mtu_bytes or 0 for item, port in known if port and port.extra.get("lanes") == "8"), default=0
    )


def _private(facts: Facts) -> bool:
    """True where each group keeps its headroom for itself."""
    return facts.extra.get("asic_type") in ("mellanox", "barefoot", "centec", "centec-arm64")


def _watchdog(qos: PortQos, poll: int | None, facts: Facts, notes: _Notes) -> Watchdog | None:
    dog = qos.watchdog
    if dog is None:
        return None
    action = dog.action
    if action == "shutdown":
        notes.refuse(("watchdog", "action"), "SONiC cannot shut a port from its watchdog: drop is used")
        action = "drop"
    if action == "forward" and facts.extra.get("asic_type") == "cisco-8000":
        notes.refuse(("watchdog", "action"), "action forward is refused on cisco-8000: drop is used")
        action = "drop"
    detect = _clip("detect_ms", dog.detect_ms, (max(DETECT_MS[0], poll or 0), DETECT_MS[1]), notes)
    restore = _clip("restore_ms", dog.restore_ms, (max(RESTORE_MS[0], poll or 0), RESTORE_MS[1]), notes)
    if poll is not None:
        notes.why.setdefault(
            ("watchdog", "poll_ms"),
            Why(
                rule="sonic.poll",
                inputs=(("detect_ms", detect or 0), ("restore_ms", restore or 0)),
                steps=("half the shortest time of all ports of the switch, 100 to 1000 ms",),
                source="sonic-pfcwd.yang; sonic-mgmt PR 27657: poll equal to detect trips falsely",
            ),
        )
    return Watchdog(detect, restore, poll, action)


def _clip(name: str, value: int | None, bounds: tuple[int, int], notes: _Notes) -> int | None:
    if value is None:
        return None
    kept = max(bounds[0], min(bounds[1], value))
    if kept != value:
        notes.refuse(("watchdog", name), f"{value} ms is outside {bounds[0]} to {bounds[1]} ms: {kept} ms is used")
    return kept

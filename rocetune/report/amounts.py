"""A change in an engineer's words: which class, which quantity, and what a native value amounts to.

Native values keep each vendor's own unit. The fitted plan holds the same quantity in bytes, so the ratio of the
two tells the unit, and the old value can be converted with it. Where plan and value do not agree on a ratio,
nothing is converted: a number without a known unit is shown as the device writes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocetune.model.change import Change
from rocetune.model.plan import DevicePlan, PortPlan
from rocetune.model.qos import leaf
from rocetune.model.units import bytes_to_us, show_bytes, show_speed

_NUMBER = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*$")

WORDS = {
    "trust": "trust",
    "mtu_bytes": "MTU",
    "cable_m": "cable length",
    "link_pause": "link-level pause",
    "dcbx": "DCBX",
    "dscp_to_priority": "DSCP map",
    "dscps": "DSCP map",
    "pfc": "PFC",
    "traffic_class": "traffic class",
    "queue": "queue",
    "priority_group": "priority group",
    "scheduling": "scheduling",
    "bandwidth_percent": "bandwidth",
    "headroom_bytes": "headroom",
    "xoff_bytes": "XOFF",
    "xon_bytes": "XON",
    "alpha": "alpha",
    "ecn": "ECN",
    "kmin_bytes": "ECN kmin",
    "kmax_bytes": "ECN kmax",
    "pmax_percent": "ECN pmax",
    "watchdog": "PFC watchdog",
    "detect_ms": "watchdog detect",
    "restore_ms": "watchdog restore",
    "poll_ms": "watchdog poll",
    "action": "watchdog action",
    "roce_tos": "rdma_cm ToS",
    "cnp_dscp": "CNP DSCP",
    "cnp_priority": "CNP priority",
    "np_priorities": "DCQCN notification point",
    "rp_priorities": "DCQCN reaction point",
    "dcqcn": "DCQCN parameter",
    "storm_prevention_ms": "storm prevention",
    "roce_mode": "RoCE mode",
    "persistence": "boot persistence",
}


@dataclass(frozen=True, slots=True)
class Amount:
    """One side of a change. ``size_bytes`` and ``time_us`` are None where the unit is not known."""

    native: str | None
    size_bytes: int | None = None
    time_us: float | None = None

    def __str__(self) -> str:
        if self.native is None:
            return "–"
        shown = self.native or "set"
        if self.size_bytes is None:
            return shown
        amount = show_bytes(self.size_bytes)
        if self.time_us is not None:
            amount += f", {self.time_us:.3g} µs"
        return f"{shown} ({amount})"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one change is about. ``class_name`` is the profile's, "" where it is none's."""

    class_name: str
    quantity: str
    old: Amount
    new: Amount
    speed_mbps: int | None = None

    @property
    def subject(self) -> str:
        """``roce ECN kmin``."""
        return f"{self.class_name} {self.quantity}".strip()


def port_of(plan: DevicePlan | None, name: str) -> PortPlan | None:
    """The planned port with this native or inventory name."""
    for item in plan.ports if plan else ():
        if name in (item.native, item.port.name):
            return item
    return None


def meaning(change: Change, plan: DevicePlan | None) -> Meaning:
    """Class, quantity and amounts of one change, as far as its origin and the plan tell."""
    path = change.origin[1:]
    port = port_of(plan, str(change.origin[0])) if change.origin else None
    inputs = dict(change.why.inputs) if change.why else {}
    speed = port.port.speed_mbps if port else None
    if speed is None and isinstance(inputs.get("speed_mbps"), int):
        speed = int(inputs["speed_mbps"])
    last = next((str(part) for part in reversed(path) if isinstance(part, str)), "")
    planned = leaf(port.setting.qos, path) if port and path else None
    return Meaning(
        class_name=_class_name(path, port) or str(inputs.get("class", "")),
        quantity=WORDS.get(last, last.replace("_", " ")),
        old=_amount(change.old, change.new, last, planned, speed),
        new=_amount(change.new, change.new, last, planned, speed),
        speed_mbps=speed,
    )


def speed_words(speed_mbps: int | None) -> str:
    """``400G``, or "" where the speed is not known."""
    return show_speed(speed_mbps) if speed_mbps else ""


def _class_name(path: tuple[str | int, ...], port: PortPlan | None) -> str:
    if len(path) < 2 or path[0] != "priorities" or not isinstance(path[1], int):
        return ""
    entry = port.setting.qos.priority(path[1]) if port else None
    return entry.name if entry and entry.name else f"priority {path[1]}"


def _amount(native: str | None, new: str | None, name: str, planned: object, speed: int | None) -> Amount:
    if native is None or not name.endswith("_bytes") or name == "mtu_bytes":
        return Amount(native)
    value, reference = _NUMBER.match(native), _NUMBER.match(new or "")
    if value is None or reference is None or value[2] != reference[2]:
        return Amount(native)
    if not isinstance(planned, int) or float(reference[1]) == 0 or planned == 0:
        return Amount(native)
    size = round(float(value[1]) * planned / float(reference[1]))
    return Amount(native, size, bytes_to_us(size, speed) if speed else None)

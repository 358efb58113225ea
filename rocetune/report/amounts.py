"""A change in an engineer's words: which class, which quantity, and what a native value amounts to.

Native values keep each vendor's own unit. The fitted plan holds the same quantity in bytes, so the ratio of the
two tells the unit, and the old value can be converted with it. Where plan and value do not agree on a ratio,
nothing is converted: a number without a known unit is shown as the device writes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rocetune.model.change import Change, Key
from rocetune.model.plan import DevicePlan, PortPlan
from rocetune.model.qos import leaf
from rocetune.model.units import bytes_to_us, show_bytes

_NUMBER = re.compile(r"(?<![\w.])[0-9]+(?:\.[0-9]+)?(?![\w.])")
_SCALES = (1, 1000, 1024)  # a native number times this is bytes
_ACRONYMS = {word.lower(): word for word in ("DSCP", "ECN", "MTU", "PFC", "PG", "QoS", "TC", "WRED")}
_SIZES = ("kmin_bytes", "kmax_bytes", "headroom_bytes", "xoff_bytes", "xon_bytes", "xon_offset_bytes")

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
    "xon_offset_bytes": "XON below XOFF",
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
class Size:
    """A number inside a native value that the plan knows as bytes. ``time_us`` None: the speed is not known."""

    name: str  # leaf name: kmin_bytes
    size_bytes: int
    time_us: float | None

    def __str__(self) -> str:
        return show_bytes(self.size_bytes) + (f", {self.time_us:.3g} us" if self.time_us is not None else "")


@dataclass(frozen=True, slots=True)
class Amount:
    """One side of a change: the native value, and the sizes in it where their unit is known."""

    native: str | None
    sizes: tuple[Size, ...] = ()

    def __str__(self) -> str:
        if self.native is None:
            return "–"
        shown = self.native or "set"
        if len(self.sizes) > 1:
            words = "; ".join(f"{WORDS[size.name].rpartition(' ')[2]} {size}" for size in self.sizes)
            return f"{shown} ({words})"
        return f"{shown} ({self.sizes[0]})" if self.sizes else shown


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
    planned = _planned(port, path, last)
    return Meaning(
        class_name=_class_name(path, port) or str(inputs.get("class", "")),
        quantity=_quantity(last, change.key),
        old=_amount(change.old, change.new, planned, speed),
        new=_amount(change.new, change.new, planned, speed),
        speed_mbps=speed,
    )


def _quantity(last: str, key: Key) -> str:
    """What a leaf of the plan is called; where no leaf is known, the words of the native key itself."""
    if last:
        return WORDS.get(last) or (last if last.isupper() else last.replace("_", " "))
    ends = dict.fromkeys(part for part in (key[0], key[-1]) if re.search("[A-Za-z]", part) and "ROCETUNE" not in part)
    spaced = (part.lower() if part.isupper() else part for part in ends)
    words = " ".join(spaced).replace("_", " ").replace("-", " ").split()
    return " ".join(_ACRONYMS.get(word, word) for word in dict.fromkeys(words))


def _class_name(path: tuple[str | int, ...], port: PortPlan | None) -> str:
    if len(path) < 2 or path[0] != "priorities" or not isinstance(path[1], int):
        return ""
    entry = port.setting.qos.priority(path[1]) if port else None
    return entry.name if entry and entry.name else f"priority {path[1]}"


def _planned(port: PortPlan | None, path: tuple[str | int, ...], last: str) -> dict[str, int]:
    """Sizes that a value of this origin may speak of; the origin's own first."""
    if port is None or not last.endswith("_bytes") or last == "mtu_bytes":
        return {}
    names = (last, *(name for name in _SIZES if name != last))
    found = {name: leaf(port.setting.qos, (*path[:-1], name)) for name in names}
    return {name: value for name, value in found.items() if isinstance(value, int) and value > 0}


def _amount(native: str | None, new: str | None, planned: dict[str, int], speed: int | None) -> Amount:
    if native is None or new is None or not planned or _NUMBER.sub("#", native) != _NUMBER.sub("#", new):
        return Amount(native)
    numbers, reference = ([float(text) for text in _NUMBER.findall(value)] for value in (native, new))
    if len(reference) == 1 and reference[0]:  # any unit: cells, kbytes; the plan tells the ratio
        name, size = next(iter(planned.items()))
        return Amount(native, (_size(name, numbers[0] * size / reference[0], speed),))
    sizes: list[Size] = []
    for mine, wanted in zip(numbers, reference, strict=True):
        hit = next(((name, k) for name, size in planned.items() for k in _SCALES if wanted * k == size), None)
        if hit is not None and hit[0] not in {size.name for size in sizes}:
            sizes.append(_size(hit[0], mine * hit[1], speed))
    return Amount(native, tuple(sizes))


def _size(name: str, size: float, speed: int | None) -> Size:
    return Size(name, round(size), bytes_to_us(round(size), speed) if speed else None)

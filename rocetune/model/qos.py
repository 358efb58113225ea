"""The QoS of one port, in words that belong to no vendor.

The same classes carry what a port *should* have (plan) and what it *was observed* to have (state), so the
doctor compares like with like. Every leaf is ``T | None``: in a plan ``None`` means "not ours to say", in a
state ``None`` means "could not be observed" (never "off").

A leaf is addressed by a :data:`Path` below its port, for example ``("priorities", 3, "kmin_bytes")`` or
``("host", "cnp_dscp")``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal

Path = tuple[str | int, ...]
Trust = Literal["dscp", "pcp", "none"]
Scheduling = Literal["strict", "dwrr"]
WatchdogAction = Literal["drop", "forward", "notify", "shutdown"]


@dataclass(frozen=True, slots=True)
class PriorityQos:
    """One priority (0-7) of one port: its class, its queue and buffer, its ECN curve.

    ``priority`` is the PFC / 802.1p priority on the wire. ``traffic_class``, ``queue`` (egress) and
    ``priority_group`` (ingress) are indexes inside the device and differ from it on some platforms.
    """

    priority: int
    name: str | None = None  # class name of the profile: "roce", "cnp"
    owned: bool = True  # False: a foreign class (owner: other): counted in sums, never written
    dscps: tuple[int, ...] | None = None  # DSCPs that classify into this priority
    lossless: bool | None = None  # the intent; pfc below is the setting
    pfc: bool | None = None
    traffic_class: int | None = None
    queue: int | None = None
    priority_group: int | None = None
    scheduling: Scheduling | None = None
    bandwidth_percent: int | None = None  # share of a dwrr class; None for strict
    headroom_bytes: int | None = None  # bytes that still arrive after XOFF was sent
    xoff_bytes: int | None = None  # static threshold; None where the threshold is dynamic (alpha)
    xon_bytes: int | None = None  # XON level where the device takes one
    xon_offset_bytes: int | None = None  # XON lies this far below XOFF, where the threshold is dynamic
    alpha: float | None = None  # dynamic threshold factor of the ingress priority group
    ecn: bool | None = None
    kmin_bytes: int | None = None
    kmax_bytes: int | None = None
    pmax_percent: float | None = None
    watchdog: bool | None = None  # PFC watchdog covers this priority


@dataclass(frozen=True, slots=True)
class Watchdog:
    """PFC watchdog timers of a port, milliseconds."""

    detect_ms: int | None = None
    restore_ms: int | None = None
    poll_ms: int | None = None
    action: WatchdogAction | None = None


@dataclass(frozen=True, slots=True)
class HostQos:
    """What only a NIC has. Priorities in the two sets are those with the DCQCN role enabled."""

    dcbx: Literal["os", "firmware"] | None = None  # who owns DCB settings
    roce_tos: int | None = None  # rdma_cm default ToS byte (DSCP * 4 + ECN)
    traffic_class: int | None = None  # forced traffic class byte; -1 = readable and unset
    cnp_dscp: int | None = None
    cnp_priority: int | None = None  # 802.1p priority of CNPs
    np_priorities: frozenset[int] | None = None  # notification point (receiver) enabled
    rp_priorities: frozenset[int] | None = None  # reaction point (sender) enabled
    dcqcn: tuple[tuple[str, int], ...] | None = None  # (parameter, value in the NIC's own unit), sorted
    storm_prevention_ms: int | None = None  # 0 = off; 100 is what "auto" means on mlx5
    roce_mode: Literal["v1", "v2"] | None = None  # rdma_cm default
    active_mtu_bytes: int | None = None  # RDMA path MTU: 256..4096


@dataclass(frozen=True, slots=True)
class PortQos:
    """Everything rocetune says about, or reads from, one port."""

    trust: Trust | None = None
    mtu_bytes: int | None = None  # the port MTU as the platform counts it
    speed_mbps: int | None = None
    link_up: bool | None = None
    cable_m: float | None = None  # length the device uses to size headroom
    link_pause: bool | None = None  # 802.3x global pause on (rx or tx)
    dcbx: Literal["off", "ieee", "cee"] | None = None  # switch side
    dscp_to_priority: tuple[int | None, ...] | None = None  # 64 entries, index = DSCP
    priorities: tuple[PriorityQos, ...] = ()  # sorted by priority; only those that are known or planned
    watchdog: Watchdog | None = None
    host: HostQos | None = None  # servers only

    def priority(self, number: int) -> PriorityQos | None:
        """The entry of one priority, or None."""
        for entry in self.priorities:
            if entry.priority == number:
                return entry
        return None

    def lossless(self) -> tuple[PriorityQos, ...]:
        """The priorities whose intent is lossless."""
        return tuple(entry for entry in self.priorities if entry.lossless)

    def named(self, name: str) -> PriorityQos | None:
        """The entry of a class by its profile name, or None."""
        for entry in self.priorities:
            if entry.name == name:
                return entry
        return None


def leaves(qos: PortQos) -> Iterator[tuple[Path, Any]]:
    """Every leaf that is not None, with its path below the port."""
    for field in fields(qos):
        value = getattr(qos, field.name)
        if field.name == "priorities":
            for entry in value:
                for inner in fields(entry):
                    leaf = getattr(entry, inner.name)
                    if leaf is not None and inner.name != "priority":
                        yield ("priorities", entry.priority, inner.name), leaf
        elif field.name in ("watchdog", "host"):
            if value is not None:
                for inner in fields(value):
                    leaf = getattr(value, inner.name)
                    if leaf is not None:
                        yield (field.name, inner.name), leaf
        elif value is not None:
            yield (field.name,), value


def leaf(qos: PortQos, path: Path) -> Any:
    """The value at one path, or None when any part of it is absent."""
    value: Any = qos
    for part in path:
        if value is None:
            return None
        value = (
            value.priority(part)
            if isinstance(part, int)
            else (value if part == "priorities" else getattr(value, part, None))
        )
    return value

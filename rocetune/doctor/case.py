"""What a check is given: the plan, the observed states, and the cables between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rocetune.doctor.rates import Rates, rates
from rocetune.model.change import Comparison, Phase
from rocetune.model.plan import DevicePlan, PortPlan
from rocetune.model.qos import HostQos, Path, PortQos, PriorityQos, Watchdog, leaf
from rocetune.model.state import State

PortKey = tuple[str, str]  # (device, inventory name of the port)
_UNSEEN = PortQos()
_NO_HOST = HostQos()
_NO_WATCHDOG = Watchdog()


@dataclass(frozen=True, slots=True)
class Place:
    """One planned port of a device that was read. ``seen`` is empty when the device did not show the port."""

    plan: DevicePlan
    item: PortPlan
    state: State

    @property
    def device(self) -> str:
        return self.plan.device.name

    @property
    def name(self) -> str:
        """The port's name in the inventory (``rail0``)."""
        return self.item.port.name

    @property
    def native(self) -> str:
        return self.item.native

    @property
    def key(self) -> PortKey:
        return self.device, self.name

    @property
    def is_server(self) -> bool:
        return self.plan.device.kind == "server"

    @property
    def label(self) -> str:
        return f"{self.device} {self.name}"

    @property
    def want(self) -> PortQos:
        return self.item.setting.qos

    @property
    def want_host(self) -> HostQos:
        return self.want.host or _NO_HOST

    @property
    def seen(self) -> PortQos:
        return self.state.ports.get(self.native, _UNSEEN)

    @property
    def seen_host(self) -> HostQos:
        return self.seen.host or _NO_HOST

    @property
    def seen_watchdog(self) -> Watchdog:
        return self.seen.watchdog or _NO_WATCHDOG

    @property
    def rates(self) -> Rates:
        return rates(self.state, self.native)

    def value(self, path: Path) -> Any:
        """The observed leaf, None when it is unknown."""
        return leaf(self.seen, path)

    def setting(self, name: str, priority: int | None = None) -> str | None:
        """A device-level observation that concerns this port, or one priority of it."""
        tail = "" if priority is None else f".{priority}"
        return self.state.settings.get(f"{name}.{self.native}{tail}")

    def rdma(self) -> tuple[PriorityQos, ...]:
        """Planned classes of ours that carry RDMA: lossless ones, and ECN-only ones of a lossy profile."""
        return tuple(
            entry for entry in self.want.priorities if entry.owned and (entry.lossless or self.uses_ecn(entry))
        )

    def uses_ecn(self, entry: PriorityQos) -> bool:
        """Whether switches are to mark this class. A NIC's plan has no ECN leaf, so there the profile tells."""
        if entry.ecn is not None:
            return entry.ecn
        intent = self.item.setting.profile.classes.get(entry.name or "")
        if not self.is_server or intent is None or intent.ecn == "off":
            return False
        return intent.ecn is not None or intent.lossless

    def markers(self, entry: PriorityQos) -> tuple[str, ...]:
        """Who puts the DSCP of this class into packets; unstated, rdma_cm alone (as the planner has it)."""
        intent = self.item.setting.profile.classes.get(entry.name or "")
        if intent is None:
            return ()
        return intent.marking.by if intent.marking is not None else ("rdma_cm",)

    def paused(self) -> tuple[PriorityQos, ...]:
        """Planned classes of ours with PFC."""
        return tuple(entry for entry in self.want.priorities if entry.owned and entry.pfc)

    def cnp(self) -> PriorityQos | None:
        """The planned class of congestion notifications."""
        named = self.want.named("cnp")
        if named is not None:
            return named if named.owned else None
        wanted = self.want_host.cnp_dscp
        for entry in self.want.priorities:
            if entry.owned and wanted is not None and wanted in (entry.dscps or ()):
                return entry
        return None

    def pfc_seen(self, priority: int) -> bool | None:
        entry = self.seen.priority(priority)
        return None if entry is None else entry.pfc


@dataclass(frozen=True)
class Case:
    """All that one diagnosis looks at.

    ``plan`` holds the fitted plans, also of devices that were not read: they tell who the peers are.
    ``drift`` None: running configurations were not compared. ``phase`` set: during a push, after this phase.
    ``outside`` names devices that nobody asked about: what needs their word is skipped, not unknown.
    """

    plan: Mapping[str, DevicePlan]
    states: Mapping[str, State]
    drift: Mapping[str, Comparison] | None = None
    phase: Phase | None = None
    outside: frozenset[str] = frozenset()

    @cached_property
    def _by_device(self) -> Mapping[str, tuple[Place, ...]]:
        return {
            name: tuple(Place(self.plan[name], item, state) for item in self.plan[name].ports)
            for name, state in self.states.items()
            if name in self.plan
        }

    @cached_property
    def _by_key(self) -> Mapping[PortKey, Place]:
        return {place.key: place for places in self._by_device.values() for place in places}

    def devices(self, kind: str | None = None) -> Iterator[tuple[DevicePlan, State, tuple[Place, ...]]]:
        """Devices that were read, with their planned ports; ``kind`` is "switch" or "server"."""
        for name, places in self._by_device.items():
            plan = self.plan[name]
            if kind is None or plan.device.kind == kind:
                yield plan, self.states[name], places

    def places(self, kind: str | None = None) -> Iterator[Place]:
        """Planned ports of the devices that were read."""
        for _, _, places in self.devices(kind):
            yield from places

    def place(self, key: PortKey) -> Place | None:
        """One port by its inventory names, if its device was read."""
        return self._by_key.get(key)

    def peer(self, place: Place) -> Place | None:
        """The port at the other end of the cable, None when it is unknown or was not read."""
        peer = place.item.port.peer
        return None if peer is None else self._by_key.get(peer)

    def beyond(self, place: Place) -> bool:
        """True when the other end of the cable was left out on purpose."""
        peer = place.item.port.peer
        return peer is not None and peer[0] in self.outside and peer[0] not in self.states

    def peer_gap(self, place: Place) -> str:
        """Why :meth:`peer` has no answer."""
        peer = place.item.port.peer
        if peer is None:
            return "the other end of this cable is not in the inventory"
        if peer[0] not in self.states:
            return f"the other end, {peer[0]} {peer[1]}, was not read"
        return f"the other end, {peer[0]} {peer[1]}, has no planned port"

    def links(self) -> Iterator[tuple[Place, Place | None]]:
        """Every cable with an end that was read, once. A switch comes first; the second is None if not read."""
        for place in self.places():
            other = self.peer(place)
            if other is None:
                if place.item.port.peer is not None:
                    yield place, None
            elif _first(place, other):
                yield place, other


def _first(place: Place, other: Place) -> bool:
    if place.is_server != other.is_server:
        return not place.is_server
    return place.key <= other.key

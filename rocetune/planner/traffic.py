"""What marking is made for: the round trip through a network, and the senders that meet on one of its ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rocetune.model.fabric import Fabric, Network, Port
from rocetune.model.plan import Why
from rocetune.planner.notes import Problem
from rocetune.tuning import ecn, wire

_SPINES = frozenset({"spine"})
_CORES = frozenset({"superspine", "super-spine", "core"})
_NO_SERVERS = "no server port of this network is known"


@dataclass(frozen=True, slots=True)
class Flows:
    """Senders that meet on one port of a network, for which marking is designed."""

    count: int
    why: Why

    @property
    def guessed(self) -> bool:
        """True where the network has no server port to count."""
        return self.why.source == _NO_SERVERS


@dataclass(frozen=True, slots=True)
class Traffic:
    """One network: ``path_m`` are the cables of its longest path, each once, by one of their ends."""

    round_trip: ecn.RoundTrip
    flows: Flows
    path_m: Mapping[str, float]


def traffic_of(fabric: Fabric) -> Mapping[str, Traffic]:
    """Round trip and flows of every network, as stated or from its switches, cables and servers."""
    surveys = {name: _Survey() for name in fabric.networks}
    for device in fabric.devices.values():
        if device.kind != "switch":
            continue
        level = 3 if device.role in _CORES else 2 if device.role in _SPINES else 1
        servers: Counter[str] = Counter()
        for port in fabric.ports.get(device.name, ()):
            if port.network in surveys:
                surveys[port.network].saw(port, level)
                servers[port.network] += port.link_role != "fabric"
        for network, count in servers.items():
            if count > surveys[network].fullest[0]:
                surveys[network].fullest = (count, device.name)
    return {name: _traffic(network, surveys[name]) for name, network in fabric.networks.items()}


class _Survey:
    """What the switch ports of one network show."""

    def __init__(self) -> None:
        self.tiers = 1
        self.host: dict[str, float] = {}
        self.inner: dict[frozenset[tuple[str, str]], tuple[str, float]] = {}
        self.fullest = (0, "")

    def saw(self, port: Port, level: int) -> None:
        """One port of a switch of this tier."""
        inner = port.link_role == "fabric"
        self.tiers = max(self.tiers, level, 2 if inner else 1)
        if not port.cable_m or port.cable_m <= ecn.ORDINARY_CABLE_M:
            return
        name = f"{port.device}:{port.name}"
        if inner:  # both ends are switch ports; it is one cable
            self.inner.setdefault(frozenset({(port.device, port.name), port.peer or ("", "")}), (name, port.cable_m))
        else:
            self.host[name] = port.cable_m

    def path(self) -> Mapping[str, float]:
        """The two longest cables to servers, and as many between switches as a path crosses."""
        crossed = 2 * (self.tiers - 1)
        return dict([*_longest(self.host.items(), 2), *_longest(self.inner.values(), crossed)])


def _longest(cables: Iterable[tuple[str, float]], count: int) -> list[tuple[str, float]]:
    return sorted(cables, key=lambda cable: -cable[1])[:count]


def _traffic(network: Network, survey: _Survey) -> Traffic:
    path = survey.path()
    trip = ecn.round_trip(survey.tiers, path) if network.rtt_us is None else _stated(network.name, network.rtt_us)
    return Traffic(trip, _flows(network, *survey.fullest), path)


def _stated(name: str, rtt_us: float) -> ecn.RoundTrip:
    step, source = f"round trip without load: {rtt_us:g} us, as stated", f"rocetune.yaml: networks.{name}.rtt"
    return ecn.RoundTrip(rtt_us, Why("ecn.rtt", (("rtt_us", rtt_us),), (step,), source=source))


def _flows(network: Network, ports: int, leaf: str) -> Flows:
    """As stated, else the other servers of the fullest leaf: the widest incast of one switch."""
    if network.flows is not None:
        step = f"{network.flows} senders on one port, as stated"
        source = f"rocetune.yaml: networks.{network.name}.flows"
        return Flows(network.flows, Why("flows", (("flows", network.flows),), (step,), source=source))
    if not ports:
        return Flows(1, Why("flows", (("flows", 1),), (f"{_NO_SERVERS}: one sender",), source=_NO_SERVERS))
    flows = max(1, ports - 1)
    step = f"{leaf} has {ports} ports to servers: {flows} send to one"
    return Flows(flows, Why("flows", (("flows", flows),), (step,), source="links.yaml: fullest leaf"))


def traffic_problems(fabric: Fabric, traffic: Mapping[str, Traffic]) -> Iterator[Problem]:
    """A stated round trip that light itself does not make."""
    for name, network in fabric.networks.items():
        path = traffic[name].path_m
        least = wire.light_us(sum(path.values()))
        if network.rtt_us is not None and network.rtt_us < least:
            cables = ", ".join(f"{where} {length:g} m" for where, length in path.items())
            text = f"rtt {network.rtt_us:g} us of network {name} is less than light takes, {least:.6g} us ({cables})"
            remedy = "measure between the servers farthest apart, or correct length in links.yaml"
            yield Problem(text, remedy, field=("site", "networks", name, "rtt"))

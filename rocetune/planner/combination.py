"""One kind of port: everything that decides its numbers, found once and shared by all ports like it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import ValidationError

from rocetune.model.fabric import Device, Network, Port
from rocetune.model.plan import Why
from rocetune.model.profile import Pfc, Profile
from rocetune.planner.inputs import Cable, Chip, cable_of
from rocetune.planner.notes import Believed, Problem
from rocetune.planner.traffic import Traffic
from rocetune.site.effective import effective, label_of
from rocetune.tuning.published import PublishedTable, Row
from rocetune.tuning.thresholds import DEFAULT_ALPHA, encodings

Kind = Literal["switch", "server"]


@dataclass(slots=True, eq=False)
class Combination:
    """Ports that share every input of the tuner. ``headrooms`` is by class name, filled when first planned."""

    number: int
    kind: Kind
    network: str
    profile: Profile
    winners: tuple[tuple[str, str], ...]
    chip: Chip | None  # None on servers
    speed_mbps: int | None
    cable: Cable
    traffic: Traffic
    source: Profile  # with its overrides
    problems: list[Problem] = field(default_factory=list)
    believed: list[Believed] = field(default_factory=list)
    headrooms: dict[str, tuple[int, Why]] = field(default_factory=dict)
    filled: bool = False
    own_row: tuple[PublishedTable, Row] | None = None  # of the switch's own headroom table, where it runs one
    raised_bytes: int = 0  # headroom of the whole switch, where that is more than this port alone needs

    @property
    def rtt_us(self) -> float:
        """Unloaded round trip of the network, microseconds."""
        return self.traffic.round_trip.rtt_us

    @property
    def senders(self) -> int:
        """Flows that meet on a port of the network."""
        return self.traffic.flows.count

    def alpha(self, pfc: Pfc) -> float:
        """The dynamic threshold factor of a class: the profile's, else the one that the switch itself will use."""
        return self.own_alpha or DEFAULT_ALPHA if pfc.alpha == "auto" else pfc.alpha

    def written_alpha(self, pfc: Pfc) -> float:
        """The factor that the switch has once :meth:`alpha` is written: platforms know steps, mostly powers of two."""
        alpha = self.alpha(pfc)
        return encodings()[self.chip.alphas].written(alpha) if self.chip is not None and self.chip.alphas else alpha

    @property
    def own_alpha(self) -> float | None:
        """``dynamic_th`` of the switch's own table row as a factor; None without a row, or where it names no such."""
        threshold = self.own_row[1].threshold if self.own_row is not None else None
        known = encodings()["sonic"]
        return known.decode(threshold) if threshold is not None and known.low <= threshold <= known.high else None

    def at(self, *path: str | int) -> tuple[str | int, ...]:
        """Where a value of the profile was written: in the override that decided it, else in the profile itself."""
        dotted = ".".join(map(str, path))
        labels = [who for name, who in self.winners if dotted == name or dotted.startswith(name + ".")]
        labels += [who for name, who in self.winners if name.startswith(dotted + ".")]
        for number, override in enumerate(self.source.overrides if labels else ()):
            if label_of(number, override) == labels[0]:
                return ("overrides", number, *path)
        return path

    @property
    def label(self) -> str:
        """``backend-400g-2m``, and ``-host`` on servers: safe in a configuration line."""
        parts = [
            _safe(self.network)[:24] or "network",
            _speed_label(self.speed_mbps),
            _length_label(self.cable.length_m),
        ]
        return "-".join(part for part in (*parts, "host" if self.kind == "server" else "") if part)


@dataclass(frozen=True, slots=True)
class _Named:
    """What the overrides of a profile look at, so that nothing else splits a combination."""

    roles: frozenset[str]
    groups: frozenset[str]
    devices: frozenset[str]
    rail: bool
    speed: bool
    cable: bool


class Combinations:
    """Interns combinations. ``of`` costs one dictionary look-up for a port like one seen before."""

    def __init__(self, networks: Mapping[str, Network], traffic: Mapping[str, Traffic]) -> None:
        self._networks, self._traffic = networks, traffic
        self._named = {name: _looked_at(item.profile) for name, item in networks.items() if item.profile is not None}
        self._groups = frozenset[str]().union(*(item.groups for item in self._named.values()))
        self._devices = frozenset[str]().union(*(item.devices for item in self._named.values()))
        self._quick: dict[tuple[object, ...], Combination | None] = {}
        self._effective: dict[tuple[object, ...], tuple[Profile, tuple[tuple[str, str], ...], str, Problem | None]] = {}
        self._all: dict[tuple[object, ...], Combination] = {}

    def context(self, device: Device, chip: Chip | None) -> tuple[object, ...]:
        """The part of the key that all ports of a device share."""
        named = device.name if device.name in self._devices else ""
        groups = self._groups.intersection(device.groups)
        return (device.kind, device.role, groups, named, chip.rules if chip else None)

    def of(self, device: Device, chip: Chip | None, context: tuple[object, ...], port: Port) -> Combination | None:
        """The combination of a port; None where its network has no profile."""
        key = (
            context,
            port.network,
            port.role,
            port.rail,
            port.speed_mbps,
            port.medium,
            port.cable_m,
            port.link_role,
        )
        try:
            return self._quick[key]
        except KeyError:
            made = self._quick[key] = self._make(device, chip, port)
            return made

    def raised(self, item: Combination, size_bytes: int, why: Why) -> Combination:
        """The same kind of port on a switch whose ports all get one headroom; itself where it has that already."""
        sizes = {size for size, _ in item.headrooms.values()}
        if not sizes or sizes == {size_bytes}:
            return item
        key = ("raised", item.number, size_bytes)
        if key not in self._all:
            headrooms = {name: (size_bytes, _shared(own, size_bytes, why)) for name, (own, _) in item.headrooms.items()}
            self._all[key] = replace(item, number=len(self._all), headrooms=headrooms, raised_bytes=size_bytes)
        return self._all[key]

    def _make(self, device: Device, chip: Chip | None, port: Port) -> Combination | None:
        network = self._networks.get(port.network or "")
        if network is None or network.profile is None:
            return None
        profile, winners, fingerprint, problem = self._profile(device, port, network.profile, self._named[network.name])
        cable = cable_of(port)
        rules = chip.rules if chip else None
        key = (device.kind, network.name, fingerprint, winners, rules, port.speed_mbps, cable)
        found = self._all.get(key)
        if found is None:
            found = self._all[key] = Combination(
                len(self._all),
                device.kind,
                network.name,
                profile,
                winners,
                chip,
                port.speed_mbps,
                cable,
                self._traffic[network.name],
                network.profile,
                [problem] if problem else [],
                list(cable.believed),
            )
        return found

    def _profile(
        self, device: Device, port: Port, profile: Profile, named: _Named
    ) -> tuple[Profile, tuple[tuple[str, str], ...], str, Problem | None]:
        roles = named.roles.intersection(role for role in (device.role, port.role) if role)
        groups = named.groups.intersection(device.groups)
        chosen = device.name if device.name in named.devices else None
        rail = port.rail if named.rail else None
        speed = port.speed_mbps if named.speed else None
        medium = port.medium if named.cable else None
        key = (port.network, roles, groups, chosen, rail, speed, medium)
        found = self._effective.get(key)
        if found is None:
            problem = None
            try:
                result, winners = effective(
                    profile,
                    role=roles,
                    network=port.network,
                    rail=rail,
                    speed_mbps=speed,
                    medium=medium,
                    device=chosen,
                    groups=groups,
                )
            except (ValidationError, ValueError) as error:
                result, winners = profile.model_copy(update={"overrides": ()}), ()
                text = f"overrides of profile {profile.name} contradict each other here: {_first_line(error)}"
                problem = Problem(text, "make their matches exclude each other", profile.name, ("overrides",))
            found = self._effective[key] = (result, winners, result.model_dump_json(exclude={"overrides"}), problem)
        return found


def _shared(own_bytes: int, size_bytes: int, why: Why) -> Why:
    steps = (
        f"one headroom serves the whole switch: this port alone needs {own_bytes:,} B, the most demanding "
        f"{size_bytes:,} B:",
        *why.steps,
    )
    return Why("headroom.largest", why.inputs, steps, why.bounds, why.rounding, why.source)


def _looked_at(profile: Profile) -> _Named:
    matches = [override.match for override in profile.overrides]
    return _Named(
        roles=frozenset(match.role for match in matches if match.role is not None),
        groups=frozenset(match.group for match in matches if match.group is not None),
        devices=frozenset(match.device for match in matches if match.device is not None),
        rail=any(match.rail is not None for match in matches),
        speed=any(match.speed is not None for match in matches),
        cable=any(match.cable is not None for match in matches),
    )


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(str(item["msg"]) for item in error.errors())
    return str(error).splitlines()[0]


def _safe(text: str) -> str:
    kept = "".join(char if char.isascii() and char.isalnum() else "-" for char in text.lower())
    return "-".join(part for part in kept.split("-") if part)


def _speed_label(speed_mbps: int | None) -> str:
    if speed_mbps is None:
        return ""
    return f"{speed_mbps // 1000}g" if speed_mbps % 1000 == 0 else f"{speed_mbps}m"


def _length_label(length_m: float) -> str:
    if length_m >= 1000 and length_m % 1000 == 0:
        return f"{length_m / 1000:.0f}km"
    return f"{length_m:.0f}m" if length_m == int(length_m) else f"{round(length_m * 100)}cm"

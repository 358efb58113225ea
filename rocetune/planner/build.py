"""The plan of a whole fabric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rocetune.model.fabric import Device, Fabric, Port
from rocetune.model.plan import Assumption, DevicePlan, EcnBasis, Plan, PortPlan, Setting
from rocetune.planner.classes import ecn_of
from rocetune.planner.combination import Combination, Combinations
from rocetune.planner.curves import basis_of, curve_of, tighter
from rocetune.planner.fixed import buffer_problems
from rocetune.planner.headroom import computes_headroom, fill_headroom
from rocetune.planner.inputs import COMPUTED_BY_SWITCH, Chip, chip_of
from rocetune.planner.knowledge import idle_chips, idle_tables, knowledge
from rocetune.planner.naming import Draft, names
from rocetune.planner.notes import Believed, Notes, Problem
from rocetune.planner.server import server_qos
from rocetune.planner.shape import Counts, Room, Shape, device_qos, more_than_carried, room_of
from rocetune.planner.switch import switch_qos
from rocetune.planner.traffic import traffic_of, traffic_problems
from rocetune.tuning.ecn import RTT_SOURCE, Curve


@dataclass(frozen=True, slots=True)
class Habits:
    """Names of platforms by what they do with headroom: one number for all lossless ports of a switch; no SONiC and
    so none of the tables that its makers copy. ``alphas``: how each writes alpha, a key of alpha_encodings.yaml."""

    one_headroom: frozenset[str] = frozenset()
    no_sonic: frozenset[str] = frozenset()
    alphas: Mapping[str, str] = field(default_factory=dict)


def plan(fabric: Fabric, asics: Mapping[str, str] | None = None, habits: Habits | None = None) -> Plan:
    """Every number of every planned port, with its reason.

    ``asics`` gives the chip that a device itself reported, by device name; it wins over the inventory. Ports and
    devices with ``manage: none`` and networks without a profile are left out. What cannot be is in ``problems``:
    nothing is raised for a number that does not work out.
    """
    return _Planner(fabric, asics or {}, habits or Habits()).run()


@dataclass(frozen=True, slots=True)
class _Planned:
    """A device whose settings have no names yet: those need all devices."""

    device: Device
    ports: list[tuple[Port, Combination]]
    shape: Shape
    believed: list[Believed]
    left_out: Mapping[str, str]
    asic: str | None


class _Planner:
    """Interns combinations, settings and shapes while it walks over the devices in the inventory's order."""

    def __init__(self, fabric: Fabric, asics: Mapping[str, str], habits: Habits) -> None:
        self._fabric, self._asics, self._habits = fabric, asics, habits
        self._knowledge, self._wrong = knowledge(fabric.tuning)
        traffic = traffic_of(fabric)
        self._wrong += tuple(traffic_problems(fabric, traffic))
        self._combinations = Combinations(fabric.networks, traffic)
        self._chips: dict[tuple[object, ...], Chip] = {}
        self._settings: dict[tuple[object, ...], Setting] = {}
        self._drafts: list[Draft] = []  # in the order of the settings
        self._basis: dict[str, dict[int, EcnBasis]] = {}  # by the setting's number
        self._shapes: dict[tuple[object, ...], Shape] = {}
        self._notes = Notes()

    def run(self) -> Plan:
        self._notes.add(self._wrong, "rocetune.yaml", 1, "file")
        for idle in (idle_tables, idle_chips):
            self._notes.add(idle(self._fabric, self._knowledge), "rocetune.yaml", 1, "file")
        planned = [self._device(device) for device in self._fabric.devices.values() if device.manage != "none"]
        drafts = self._settings.values()
        final = {
            draft.name: replace(draft, name=name, basis=self._basis.get(draft.name, {}))
            for draft, name in zip(drafts, names(self._drafts), strict=True)
        }
        devices = {item.device.name: _device_plan(item, final) for item in planned}
        return Plan(devices, tuple(final.values()), self._assumed(), self._notes.problems())

    def _assumed(self) -> tuple[Assumption, ...]:
        """What is believed about a whole network: the round trip and the senders that ECN thresholds follow from."""
        used = {
            item.combination.network: item.combination.traffic
            for item in self._drafts
            if any(_from_round_trip(item.combination, name) for name, _, _ in item.curves)
        }
        found = []
        for name, item in used.items():
            trip = item.round_trip
            if trip.why.source == RTT_SOURCE:
                text = (
                    f"ECN thresholds follow from a round trip of {trip.rtt_us:.3g} us without load ({trip.why.source}"
                )
                text += f"; {trip.why.steps[1]})" if len(trip.why.steps) > 1 else ")"
                remedy = f"measure it at an idle time and state rtt under networks: {name} in rocetune.yaml"
                found.append(Assumption(f"network {name}", text, remedy))
            if item.flows.guessed:
                text = "no server port of the network is known: pmax is made for one sender on a port"
                found.append(
                    Assumption(f"network {name}", text, f"state flows under networks: {name} in rocetune.yaml")
                )
        return tuple(found)

    def _device(self, device: Device) -> _Planned:
        chip = self._chip(device) if device.kind == "switch" else None
        context = self._combinations.context(device, chip)
        planned: list[tuple[Port, Combination]] = []
        left_out: dict[str, str] = {}
        for port in self._fabric.ports.get(device.name, ()):
            combination = None
            if port.manage != "none" and port.network is not None:
                combination = self._combinations.of(device, chip, context, port)
            if combination is None:
                left_out[port.name] = _why_left_out(port)
                continue
            planned.append((port, combination))
        if device.platform in self._habits.one_headroom:
            planned = self._alike(chip, planned)
        counts = Counter(item.number for _, item in planned)
        key = (chip and (chip.asic and chip.asic.key, chip.model), device.kind, tuple(sorted(counts.items())))
        shape = self._shapes.get(key)
        if shape is None:
            kinds = {combination.number: combination for _, combination in planned}
            shape = self._shapes[key] = self._shape(device.kind, chip, [(kinds[n], counts[n]) for n in sorted(counts)])
        asic = chip.asic.key if chip is not None and chip.asic is not None else None
        return _Planned(device, planned, shape, self._note(device, chip, planned, counts, shape), left_out, asic)

    def _alike(self, chip: Chip | None, planned: list[tuple[Port, Combination]]) -> list[tuple[Port, Combination]]:
        """All ports with the headroom of the most demanding one; deep-buffer chips see to theirs by themselves."""
        if chip is None or chip.asic is None or chip.asic.layout == "voq":
            return planned
        kinds = {item.number: item for _, item in planned}
        for item in kinds.values():
            fill_headroom(item, self._knowledge)
        sizes = [found for item in kinds.values() for found in item.headrooms.values()]
        if not sizes:
            return planned
        size, why = max(sizes, key=lambda found: found[0])
        alike = {number: self._combinations.raised(item, size, why) for number, item in kinds.items()}
        return [(port, alike[item.number]) for port, item in planned]

    def _chip(self, device: Device) -> Chip:
        """The chip of a switch; devices with the same words share one answer."""
        said = device.declared
        read = self._asics.get(device.name)
        copied = device.platform not in self._habits.no_sonic
        alphas = self._habits.alphas.get(device.platform, "")
        key = (read, said.get("asic"), said.get("model"), said.get("hwsku"), copied, alphas)
        if key not in self._chips:
            self._chips[key] = chip_of(device, read, self._knowledge, copied, alphas)
        return self._chips[key]

    def _shape(self, kind: str, chip: Chip | None, counts: Counts) -> Shape:
        if kind == "server" or chip is None:
            settings = {item.number: self._server_setting(item) for item, _ in counts}
            qos, problems = device_qos("server", counts, settings)
            return Shape(settings, qos, {}, tuple(problems), ())
        for item, _ in counts:
            fill_headroom(item, self._knowledge)
        room = room_of(chip, counts, self._knowledge)
        settings, found = {}, [*room.problems, *more_than_carried(chip.asic, counts)]
        for item, _ in counts:
            found += buffer_problems(item, room.buffer)
            settings[item.number], problems = self._switch_setting(item, room)
            found += problems
        qos, problems = device_qos("switch", counts, settings)
        return Shape(settings, qos, room.why, tuple(dict.fromkeys(found + problems)), room.believed)

    def _server_setting(self, combination: Combination) -> Setting:
        key = (combination.number,)
        if key not in self._settings:
            qos, why = server_qos(combination)
            self._settings[key] = self._draft(Draft(combination), qos=qos, why=why)
        return self._settings[key]

    def _switch_setting(self, combination: Combination, room: Room) -> tuple[Setting, list[Problem]]:
        curves: dict[str, Curve] = {}
        found: list[Problem] = []
        for name, intent in combination.profile.classes.items():
            wanted = ecn_of(intent)
            if wanted is not None:
                bounds = room.bounds.get(intent.priority) if intent.lossless else None
                curve, problems = curve_of(combination, name, wanted, bounds, room.cell_bytes, room.buffer)
                found += problems
                if curve is not None:
                    curves[name] = curve
        numbers = tuple((name, item.kmin_bytes, item.kmax_bytes, item.bounded) for name, item in sorted(curves.items()))
        key = (combination.number, numbers)
        if key not in self._settings:
            qos, why = switch_qos(combination, curves)
            kept = tuple((name, kmin, kmax) for name, kmin, kmax, _ in numbers)
            self._settings[key] = self._draft(Draft(combination, kept), qos=qos, why=why)
        basis = self._basis.setdefault(self._settings[key].name, {})
        for name in curves:
            intent = combination.profile.classes[name]
            made = basis_of(combination, room.bounds.get(intent.priority) if intent.lossless else None)
            basis[intent.priority] = tighter(basis.get(intent.priority), made)
        return self._settings[key], found

    def _draft(self, draft: Draft, **values: object) -> Setting:
        """A setting under a number, until all settings are known and can be named."""
        self._drafts.append(draft)
        combination = draft.combination
        return Setting(
            name=f"#{len(self._drafts)}",
            network=combination.network,
            profile=combination.profile,
            winners=combination.winners,
            **values,  # type: ignore[arg-type]
        )

    def _note(
        self,
        device: Device,
        chip: Chip | None,
        planned: list[tuple[Port, Combination]],
        counts: Mapping[int, int],
        shape: Shape,
    ) -> list[Believed]:
        """Counts problems where they occur; returns what is believed about this device."""
        believed = list(shape.believed)
        if chip is not None and planned:
            self._notes.add(chip.problems, device.name, 1, "device")
            believed += chip.believed
        if device.declared.get("buffer_model") == "dynamic" and any(computes_headroom(item) for _, item in planned):
            believed.append(COMPUTED_BY_SWITCH)
        self._notes.add(shape.problems, device.name, 1, "device")
        seen: set[int] = set()
        for port, item in planned:
            if (item.problems or item.believed) and item.number not in seen:
                seen.add(item.number)
                self._notes.add(item.problems, f"{device.name}:{port.name}", counts[item.number], "port")
                believed += item.believed
        return list(dict.fromkeys(believed))


def _device_plan(item: _Planned, final: Mapping[str, Setting]) -> DevicePlan:
    settings = {number: final[draft.name] for number, draft in item.shape.settings.items()}
    return DevicePlan(
        item.device,
        tuple(PortPlan(port, _native(item.device, port), settings[made.number]) for port, made in item.ports),
        item.shape.qos,
        tuple(Assumption(item.device.name, entry.text, entry.remedy) for entry in item.believed),
        why=item.shape.why,
        left_out=item.left_out,
        asic=item.asic,
    )


def _from_round_trip(combination: Combination, name: str) -> bool:
    wanted = ecn_of(combination.profile.classes[name])
    return wanted is not None and "auto" in (wanted.kmin, wanted.kmax)


def _why_left_out(port: Port) -> str:
    """Completes "leaf1:Ethernet4 ..."."""
    if port.manage == "none":
        return "has manage: none, so it is left alone"
    if port.network is None:
        return "belongs to no network: no matcher under networks: in rocetune.yaml takes it"
    return f"belongs to network {port.network}, which has profile: none, so it is left alone"


def _native(device: Device, port: Port) -> str:
    """The name in the device's configuration, as far as the inventory tells: a bound netdev, else the name."""
    if device.kind == "server" and port.select and port.select.startswith("netdev:"):
        return port.select.removeprefix("netdev:")
    return port.name

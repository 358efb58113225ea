"""The plan's marking curves beside vendor presets, for the same ports: what each would do there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocetune.model.plan import EcnBasis, Plan, Setting, Why
from rocetune.model.qos import PriorityQos
from rocetune.tuning import ecn, fluid
from rocetune.tuning.outlook import Outlook
from rocetune.tuning.presets import EcnPreset, ecn_preset, ecn_presets
from rocetune.tuning.search import Analytic, Candidate, Evaluator, Scenario

PLAN = "plan"


@dataclass(frozen=True, slots=True)
class Line:
    """One curve on these ports. ``outlook`` None: the preset says nothing here, and ``note`` why."""

    name: str
    kmin_bytes: int | None
    kmax_bytes: int | None
    pmax_percent: float | None
    outlook: Outlook | None
    why: Why | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Compared:
    """One class of one setting, the plan's line first."""

    setting: str
    class_name: str
    priority: int
    speed_mbps: int
    basis: EcnBasis
    assumed: tuple[str, ...]  # of the senders' DCQCN
    ports: int
    devices: tuple[str, ...]
    lines: tuple[Line, ...]


def chosen(names: Iterable[str]) -> tuple[EcnPreset, ...]:
    """Presets by name, ``all`` for every one. Raises LookupError with the nearest known name."""
    found: dict[str, EcnPreset] = {}
    for name in names:
        try:
            some = tuple(ecn_presets().values()) if name.lower() == "all" else (ecn_preset(name),)
        except ValueError as error:
            raise LookupError(str(error)) from error
        found |= {preset.name: preset for preset in some}
    return tuple(found.values())


def compare(
    plan: Plan, presets: Sequence[EcnPreset], names: Iterable[str], evaluator: Evaluator | None = None
) -> tuple[Compared, ...]:
    """Every marking queue of these devices' settings against the presets, as the evaluator judges them.

    Without one the fluid model and the bounds do; a simulator is another.
    """
    judge = evaluator or Analytic()
    users: dict[str, dict[str, int]] = {}
    for device in names:
        for item in plan.devices[device].ports:
            count = users.setdefault(item.setting.name, {})
            count[device] = count.get(device, 0) + 1
    return tuple(
        made
        for setting in plan.settings
        if setting.name in users
        for made in _of(setting, presets, users[setting.name], judge)
    )


def _of(setting: Setting, presets: Sequence[EcnPreset], users: dict[str, int], judge: Evaluator) -> Iterator[Compared]:
    speed = setting.qos.speed_mbps
    for priority, basis in sorted(setting.basis.items()):
        entry = setting.qos.priority(priority)
        if entry is None or speed is None or entry.kmin_bytes is None or entry.kmax_bytes is None:
            continue
        ports_like = _Ports(speed, basis, judge)
        lines = (_planned(setting, entry, ports_like), *(_preset(preset, ports_like) for preset in presets))
        assumed, ports = _params(speed, basis).assumed, sum(users.values())
        yield Compared(setting.name, entry.name or "", priority, speed, basis, assumed, ports, tuple(users), lines)


@dataclass(frozen=True, slots=True)
class _Ports:
    """Ports of one setting and class, and who judges curves on them."""

    speed_mbps: int
    basis: EcnBasis
    judge: Evaluator

    def line(self, name: str, kmin: int, kmax: int, pmax: float, why: Why | None) -> Line:
        """A curve with what to expect of it. Without DCQCN the firmware's parameters stand for what marks would do."""
        basis, bounds = self.basis, None
        if basis.strict_bytes is not None and basis.incast_bytes is not None:
            bounds = ecn.Bounds(basis.strict_bytes, basis.incast_bytes, Why("ecn.bounds"))
        preset = "firmware" if basis.dcqcn == "off" else basis.dcqcn
        candidate = Candidate(name, kmin, kmax, pmax, dcqcn_preset=preset, dcqcn=basis.parameters)
        scene = Scenario(name, "incast", self.speed_mbps, basis.flows, basis.rtt_us, basis.frame_bytes, bounds)
        return Line(name, kmin, kmax, pmax, self.judge.evaluate(candidate, (scene,))[0], why)


def _planned(setting: Setting, entry: PriorityQos, ports: _Ports) -> Line:
    assert entry.kmin_bytes is not None and entry.kmax_bytes is not None
    pmax = 100.0 if entry.pmax_percent is None else entry.pmax_percent
    why = setting.why.get(("priorities", entry.priority, "kmax_bytes"))
    return ports.line(PLAN, entry.kmin_bytes, entry.kmax_bytes, pmax, why)


def _preset(preset: EcnPreset, ports: _Ports) -> Line:
    queue = None if ports.basis.incast_bytes is None else int(ports.basis.incast_bytes)
    try:
        made = preset.thresholds(ports.speed_mbps, queue)
    except ValueError as error:
        return Line(preset.name, None, None, None, None, None, str(error))
    return ports.line(preset.name, made.kmin_bytes, made.kmax_bytes, made.pmax_percent, made.why)


def _params(speed_mbps: int, basis: EcnBasis) -> fluid.Params:
    """Senders without DCQCN: the firmware's parameters stand for what the marks would do."""
    return fluid.params("firmware" if basis.dcqcn == "off" else basis.dcqcn, speed_mbps, dict(basis.parameters))

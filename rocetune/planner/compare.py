"""The plan's marking curves beside vendor presets, for the same ports: what each would do there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocetune.model.plan import EcnBasis, Plan, Setting, Why
from rocetune.model.qos import PriorityQos
from rocetune.tuning import ecn, fluid
from rocetune.tuning.outlook import Outlook, outlook
from rocetune.tuning.presets import EcnPreset, ecn_preset, ecn_presets

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
            some = tuple(ecn_presets().values()) if name == "all" else (ecn_preset(name),)
        except ValueError as error:
            raise LookupError(str(error)) from error
        found |= {preset.name: preset for preset in some}
    return tuple(found.values())


def compare(plan: Plan, presets: Sequence[EcnPreset], names: Iterable[str]) -> tuple[Compared, ...]:
    """Every marking queue of these devices' settings against the presets."""
    users: dict[str, dict[str, int]] = {}
    for device in names:
        for item in plan.devices[device].ports:
            count = users.setdefault(item.setting.name, {})
            count[device] = count.get(device, 0) + 1
    return tuple(
        made
        for setting in plan.settings
        if setting.name in users
        for made in _of(setting, presets, users[setting.name])
    )


def _of(setting: Setting, presets: Sequence[EcnPreset], users: dict[str, int]) -> Iterator[Compared]:
    speed = setting.qos.speed_mbps
    for priority, basis in sorted(setting.basis.items()):
        entry = setting.qos.priority(priority)
        if entry is None or speed is None or entry.kmin_bytes is None or entry.kmax_bytes is None:
            continue
        lines = (_planned(setting, entry, speed, basis), *(_preset(preset, speed, basis) for preset in presets))
        assumed, ports = _params(speed, basis).assumed, sum(users.values())
        yield Compared(setting.name, entry.name or "", priority, speed, basis, assumed, ports, tuple(users), lines)


def _planned(setting: Setting, entry: PriorityQos, speed_mbps: int, basis: EcnBasis) -> Line:
    assert entry.kmin_bytes is not None and entry.kmax_bytes is not None
    pmax = 100.0 if entry.pmax_percent is None else entry.pmax_percent
    why = setting.why.get(("priorities", entry.priority, "kmax_bytes"))
    expected = _outlook(speed_mbps, entry.kmin_bytes, entry.kmax_bytes, pmax, basis)
    return Line(PLAN, entry.kmin_bytes, entry.kmax_bytes, pmax, expected, why)


def _preset(preset: EcnPreset, speed_mbps: int, basis: EcnBasis) -> Line:
    queue = None if basis.incast_bytes is None else int(basis.incast_bytes)
    try:
        made = preset.thresholds(speed_mbps, queue)
    except ValueError as error:
        return Line(preset.name, None, None, None, None, None, str(error))
    expected = _outlook(speed_mbps, made.kmin_bytes, made.kmax_bytes, made.pmax_percent, basis)
    return Line(preset.name, made.kmin_bytes, made.kmax_bytes, made.pmax_percent, expected, made.why)


def _outlook(speed_mbps: int, kmin: int, kmax: int, pmax: float, basis: EcnBasis) -> Outlook:
    bounds = None
    if basis.strict_bytes is not None and basis.incast_bytes is not None:
        bounds = ecn.Bounds(basis.strict_bytes, basis.incast_bytes, Why("ecn.bounds"))
    params = _params(speed_mbps, basis)
    return outlook(speed_mbps, kmin, kmax, pmax, basis.flows, params, bounds, basis.frame_bytes, basis.rtt_us)


def _params(speed_mbps: int, basis: EcnBasis) -> fluid.Params:
    """Senders without DCQCN: the firmware's parameters stand for what the marks would do."""
    return fluid.params("firmware" if basis.dcqcn == "off" else basis.dcqcn, speed_mbps, dict(basis.parameters))

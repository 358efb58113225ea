"""Intent against configuration, and configuration against operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rocetune.doctor.case import Case, Place
from rocetune.doctor.checks.ecn import ROUNDING
from rocetune.doctor.correlation import origin
from rocetune.doctor.verdicts import Result, at, check, show
from rocetune.model.change import Change, Comparison
from rocetune.model.finding import OURS
from rocetune.model.qos import Path, leaves

_SHOWN = 3  # differences named in one finding
_OPERATED = frozenset(
    {
        "trust",
        "mtu_bytes",
        "pfc",
        "ecn",
        "kmin_bytes",
        "kmax_bytes",
        "pmax_percent",
        "headroom_bytes",
        "xoff_bytes",
        "alpha",
        "watchdog",
        "detect_ms",
        "restore_ms",
        "action",
        "scheduling",
        "bandwidth_percent",
    }
)


@check("DRF-001")
def drift(case: Case) -> Iterator[Result]:
    """The managed part of the running configuration is what the plan renders."""
    for plan, state, _ in case.devices():
        if case.drift is None or not plan.managed:
            continue
        comparison = case.drift.get(state.device)
        if comparison is None:
            yield Result(
                "unknown",
                state.device,
                expected="running configuration as rendered",
                observed="not compared",
                reason="the running configuration was not read",
            )
            continue
        yield _drifted(state.device, comparison)


@check("DRF-003")
def operating(case: Case) -> Iterator[Result]:
    """Where the configuration is as rendered, the device operates with it, within the rounding of chips."""
    for place in case.places("switch"):
        comparison = None if case.drift is None else case.drift.get(place.device)
        if comparison is None or comparison.changes or comparison.refused:
            continue  # what is not configured cannot operate: DRF-001 speaks
        for path, wanted in leaves(place.want):
            if path[-1] in _OPERATED and _ours(place, path):
                yield from _operates(place, path, wanted)


def _drifted(device: str, comparison: Comparison) -> Result:
    pending = (*comparison.changes, *comparison.refused)
    if not pending:
        return Result("pass", device, expected="no difference", observed="no difference")
    named = "; ".join(_words(change) for change in pending[:_SHOWN])
    more = f"; and {len(pending) - _SHOWN} more" if len(pending) > _SHOWN else ""
    return Result(
        "fail",
        device,
        expected="running configuration as rendered",
        observed=f"{len(pending)} difference{'s' if len(pending) > 1 else ''}: {named}{more}",
        origins=tuple(origin(change) for change in pending),
        fix=(f"{OURS}--limit {device} diff", f"{OURS}--limit {device} apply"),
    )


def _words(change: Change) -> str:
    where = " / ".join(change.key)
    if change.op == "add":
        return f"{where} missing"
    if change.op == "remove":
        return f"{where} left over"
    return f"{where} is {change.old}, not {change.new}"


def _operates(place: Place, path: Path, wanted: Any) -> Iterator[Result]:
    value = place.value(path)
    if value is None:
        return  # the check of that leaf says that it is unknown
    yield at(
        place,
        _close(wanted, value),
        path,
        priority=path[1] if path[0] == "priorities" else None,
        want=wanted,
        expected=f"{path[-1]} {show(wanted, path)}, as configured",
        observed=show(value, path),
    )


def _ours(place: Place, path: Path) -> bool:
    if path[0] != "priorities":
        return True
    entry = place.want.priority(int(path[1]))
    return entry is not None and entry.owned


def _close(wanted: Any, value: Any) -> bool:
    """Equal, or for numbers within 8 % (cells and steps of the chip)."""
    if isinstance(wanted, bool) or not isinstance(wanted, (int, float)) or not isinstance(value, (int, float)):
        return bool(wanted == value)
    return abs(value - wanted) <= ROUNDING * abs(wanted)

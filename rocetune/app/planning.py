"""From a site to plans, and from plans to configuration, before any device is asked."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocetune import platforms
from rocetune.app.errors import UseError
from rocetune.app.workspace import Workspace
from rocetune.model.change import Rendered
from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan, Plan, PlanProblem
from rocetune.planner import Habits
from rocetune.planner import plan as plan_fabric

if TYPE_CHECKING:
    from rocetune.planner.compare import Compared


@dataclass(frozen=True, slots=True)
class Fitted:
    """A device's plan in its platform's own terms, and the facts that it was fitted to."""

    plan: DevicePlan
    facts: Facts


def make_plan(ws: Workspace, asics: Mapping[str, str] | None = None) -> Plan:
    """The whole fabric. ``asics`` (device -> ASIC) overrides what the inventory declares."""
    fabric = ws.site.fabric
    used = {device.platform for device in fabric.devices.values() if device.kind == "switch"}
    known = [platforms.get(name) for name in used if name in platforms.names()]
    habits = Habits(
        frozenset(item.name for item in known if item.one_headroom),
        frozenset(item.name for item in known if not item.sonic_tables),
        {item.name: item.alphas for item in known if item.alphas},
    )
    return plan_fabric(fabric, asics, habits)


def select(ws: Workspace, plan: Plan, limit: str | None) -> tuple[str, ...]:
    """Names of planned devices that a ``--limit`` expression picks, sorted.

    A comma means or, a plus sign means and, and binds tighter: ``leaf1,role=gpu+group=pod1``. A term is a device name
    pattern (``gpu*``), ``role=leaf``, ``group=gpu``, ``platform=sonic`` or ``network=backend``. Raises UseError when
    an item matches nothing, so that a typing error never looks like success.
    """
    names = tuple(sorted(plan.devices))
    if limit is None:
        return names
    if not limit.strip(" ,"):
        raise UseError("--limit is empty", "leave it out for all devices; a shell variable may have been empty")
    chosen: set[str] = set()
    for item in filter(None, (part.strip() for part in limit.split(","))):
        terms = [term.strip() for term in item.split("+")]
        if not all(terms):
            raise UseError(f"--limit {item!r} lacks a condition beside its +", "as in: role=gpu+group=pod1")
        found = {name for name in names if all(_matches(plan.devices[name], term) for term in terms)}
        if not found:
            known = ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")
            raise UseError(
                f"--limit {item!r} matches no managed device",
                "use a name pattern, role=, group=, platform= or network=, with , for or and + for and; "
                f"devices: {known}",
            )
        chosen |= found
    return tuple(sorted(chosen))


def _matches(plan: DevicePlan, item: str) -> bool:
    device = plan.device
    key, _, wanted = item.partition("=")
    if not wanted:
        return fnmatch.fnmatchcase(device.name, item)
    values: dict[str, Iterable[str]] = {
        "role": (device.role or "",),
        "group": device.groups,
        "platform": (device.platform,),
        "network": {port.setting.network for port in plan.ports},
    }
    if key not in values:
        raise UseError(f"--limit does not know {key!r}", "use role=, group=, platform= or network=")
    return any(fnmatch.fnmatchcase(value, wanted) for value in values[key])


def compare_curves(plan: Plan, names: Iterable[str], presets: Iterable[str]) -> tuple[Compared, ...]:
    """The plan's marking curves beside vendor presets. Raises UseError for a preset that nobody knows."""
    from rocetune.planner.compare import chosen, compare

    wanted = [name for words in presets for name in (part.strip() for part in words.split(",")) if name]
    try:
        return compare(plan, chosen(wanted), names)
    except LookupError as error:
        raise UseError(str(error.args[0]), "every preset by name: rocetune ecn --list-presets") from error


def fitted(ws: Workspace, plan: Plan, names: Iterable[str]) -> Iterator[Fitted]:
    """Plans fitted to declared facts: what can be said offline."""
    for name in names:
        device_plan = plan.devices[name]
        platform = platforms.get(device_plan.device.platform)
        facts = platform.declared(device_plan)
        yield Fitted(platform.fit(device_plan, facts), facts)


def with_refusals(plan: Plan) -> Plan:
    """The plan with what its switches, as declared, would refuse or do less well among its problems.

    A refusal that blocks is an error, since nothing could be pushed; an assumption that risks frames is a warning.
    """
    found: dict[tuple[str, str, bool], list[str]] = {}
    for name, item in plan.devices.items():
        if item.device.kind == "switch":
            platform = platforms.get(item.device.platform)
            fit = platform.fit(item, platform.declared(item))
            told = [(entry.text, "", False) for entry in fit.unsupported if entry.blocking]
            told += [(entry.text, entry.remedy, True) for entry in fit.assumptions if entry.risk]
            for key in dict.fromkeys(told):
                found.setdefault(key, []).append(name)
    more = [
        PlanProblem(
            places[0] + (f" and {len(places) - 1} more" if len(places) > 1 else ""), text, remedy, warning=warning
        )
        for (text, remedy, warning), places in found.items()
    ]
    return dataclasses.replace(plan, problems=tuple(sorted((*more, *plan.problems), key=lambda item: item.warning)))


def as_taken(plan: Plan, name: str) -> Plan:
    """The plan with one device as its platform takes it, by declared facts: rounding and limits belong to the story."""
    device_plan = plan.devices[name]
    platform = platforms.get(device_plan.device.platform)
    taken = platform.fit(device_plan, platform.declared(device_plan))
    return dataclasses.replace(plan, devices={**plan.devices, name: taken})


def render(ws: Workspace, plan: Plan, names: Iterable[str]) -> Iterator[tuple[str, Rendered]]:
    """Configuration per device from declared facts; deterministic bytes."""
    for item in fitted(ws, plan, names):
        platform = platforms.get(item.plan.device.platform)
        yield item.plan.device.name, platform.render(item.plan, item.facts)


def refuse_problems(plan: Plan) -> None:
    """An infeasible number never reaches a device. Raises UseError with all of them."""
    errors = [problem for problem in plan.problems if not problem.warning]
    if errors:
        lines = [f"{problem.where}: {problem.text}; {problem.remedy}" for problem in errors]
        count = "1 number" if len(errors) == 1 else f"{len(errors)} numbers"
        raise UseError(f"{count} of the plan cannot be", "\n".join(lines))

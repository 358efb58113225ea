"""Connect to devices, learn their facts, and compare what runs with what is wanted."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocetune import platforms
from rocetune.app.errors import UseError
from rocetune.app.planning import Fitted, make_plan, refuse_problems, select
from rocetune.app.workspace import Workspace
from rocetune.deploy.compare import Scope, compare, reasons
from rocetune.deploy.fleet import Answer, Fleet, Member, Refused
from rocetune.deploy.transaction import running_in
from rocetune.model.change import Comparison, Config
from rocetune.model.facts import Facts
from rocetune.model.outcome import DeviceDiff, Progress, Report
from rocetune.model.plan import DevicePlan, Plan
from rocetune.model.state import Transcript
from rocetune.platforms.base import DeviceError, Platform, managed_ports


@dataclass(frozen=True, slots=True)
class Reading:
    """One device as read: the plan that fits it, and both sides of the comparison."""

    fitted: Fitted
    running: Config
    desired: Config
    comparison: Comparison
    at: float = 0.0  # time.monotonic() of the read
    transcript: Transcript = field(default_factory=dict)  # facts, configuration and state, as one reading


@dataclass(slots=True)
class Scene:
    """The scope of a live command after every device was asked."""

    plan: Plan
    names: tuple[str, ...]
    fleet: Fleet
    readings: dict[str, Reading]
    failed: dict[str, str]  # device -> why it could not be read


def quiet(_: Progress) -> None:
    """A report that nobody listens to."""


def heard(progress: Report | None) -> Report:
    """``progress`` for use in the middle of a push: a reader that went away stops the words, not the work."""
    if progress is None:
        return quiet
    gone = False

    def report(step: Progress) -> None:
        nonlocal gone
        if not gone:
            try:
                progress(step)
            except (OSError, ValueError):  # broken pipe, full disk, closed file
                gone = True

    return report


def make_fleet(
    ws: Workspace, plan: Plan, names: Iterable[str], *, accept_new_host_keys: bool = False, workers: int = 16
) -> Fleet:
    """A fleet of these devices. Nothing is connected yet."""
    members = [Member(name, platforms.get(plan.devices[name].device.platform), ws.endpoint(name)) for name in names]
    return Fleet(members, workers=workers, own_keys=ws.own_known_hosts, accept_new=accept_new_host_keys)


def read_facts(fleet: Fleet, names: tuple[str, ...], report: Report) -> dict[str, Answer[Facts]]:
    """Facts of all devices. The first is asked alone: a wrong password then hits one account once.

    Raises UseError when that first device refuses the credentials.
    """
    seen = [0]

    def work(member: Member) -> Facts:
        session = fleet.session(member.name)
        greeting = session.collect(member.platform.commands("facts", None))
        facts = member.platform.facts(greeting)
        fleet.learned(member.name, facts, greeting)
        return facts

    def done(name: str, answer: Answer[Facts]) -> None:
        seen[0] += 1
        report(
            Progress("connect", "connected" if answer.error is None else answer.error.text, name, seen[0], len(names))
        )

    first = fleet.each(names[:1], work, done)
    for name, answer in first.items():
        if isinstance(answer.error, Refused):
            raise UseError(f"{name}: {answer.error.text}", "stopped after one device so that no account is locked")
    return {**first, **fleet.each(names[1:], work, done)}


def replan(ws: Workspace, plan: Plan, facts: Mapping[str, Facts]) -> Plan:
    """Plan again where a device says another ASIC than the inventory (or none was declared)."""
    differing = {
        name: item.asic
        for name, item in facts.items()
        if item.asic and item.asic != plan.devices[name].device.declared.get("asic")
    }
    return make_plan(ws, differing) if differing else plan


def comparison_of(platform: Platform, item: Fitted, running: Config | None) -> tuple[Config, Comparison]:
    """Desired configuration and the comparison with ``running`` (None: nothing known, all is new)."""
    rendered = platform.render(item.plan, item.facts)
    desired = platform.desired(rendered, running, item.plan, item.facts)
    managed = managed_ports(item.plan)
    others = tuple(sorted(port for port in item.facts.ports if port not in managed))
    scope = Scope(managed, item.plan.device.globals_mode, others)
    comparison = compare(
        running or {},
        desired,
        platform.owned,
        scope,
        origin=lambda key: platform.origin(key, item.plan),
        why=reasons(item.plan),
    )
    return desired, comparison


def read_scene(
    ws: Workspace,
    limit: str | None,
    report: Report,
    *,
    only: Collection[str] | None = None,
    accept_new_host_keys: bool = False,
) -> Scene:
    """Connect to the scope, read facts and running configurations, re-fit and compare.

    ``only`` narrows the scope to these devices as well (a rollback's).

    Raises UseError for an infeasible plan or refused credentials; a device that cannot be read is in ``failed``.
    """
    plan = make_plan(ws)
    refuse_problems(plan)
    names = tuple(name for name in select(ws, plan, limit) if only is None or name in only)
    if not names:
        raise UseError("no device of that run is in the scope", "check --limit and the inventory")
    fleet = make_fleet(ws, plan, names, accept_new_host_keys=accept_new_host_keys, workers=ws.workers)
    try:
        return _ask(ws, plan, names, fleet, report)
    except BaseException:
        fleet.close()
        raise


def _ask(ws: Workspace, plan: Plan, names: tuple[str, ...], fleet: Fleet, report: Report) -> Scene:
    answers = read_facts(fleet, names, report)
    facts = {name: answer.value for name, answer in answers.items() if answer.value is not None}
    plan = replan(ws, plan, facts)
    refuse_problems(plan)
    seen = [0]

    def work(member: Member) -> Reading:
        known = facts[member.name]
        item = Fitted(member.platform.fit(plan.devices[member.name], known), known)
        wanted = (*member.platform.commands("config", known), *member.platform.commands("state", known))
        answers = fleet.session(member.name).collect(tuple(dict.fromkeys(wanted)))
        running = running_in(answers, member.platform, known, member.name)
        desired, comparison = comparison_of(member.platform, item, running)
        return Reading(item, running, desired, comparison, time.monotonic(), {**member.greeting, **answers})

    def done(name: str, answer: Answer[Reading]) -> None:
        seen[0] += 1
        report(Progress("read", "read" if answer.error is None else answer.error.text, name, seen[0], len(facts)))

    readings = fleet.each(tuple(facts), work, done)
    failed = {name: _text(answers[name].error) for name in answers if answers[name].error is not None}
    failed |= {name: _text(answer.error) for name, answer in readings.items() if answer.error is not None}
    good = {name: answer.value for name, answer in readings.items() if answer.value is not None}
    return Scene(plan, names, fleet, good, failed)


def _text(error: DeviceError | None) -> str:
    return "" if error is None else f"{error.command}: {error.text}"


def device_diff(
    name: str, platform: Platform, item: Fitted, running: Config | None, comparison: Comparison
) -> DeviceDiff:
    """What the writers show of one device."""
    steps = platform.steps(comparison.changes, running or {}, item.facts) if comparison.changes else ()
    return DeviceDiff(
        device=name,
        platform=platform.name,
        comparison=comparison,
        steps=steps,
        unsupported=item.plan.unsupported,
        assumptions=item.plan.assumptions,
        facts_source=item.facts.source,
        plan=item.plan,
    )


def failed_diff(plan: DevicePlan, reason: str) -> DeviceDiff:
    """A device that could not be read."""
    return DeviceDiff(plan.device.name, plan.device.platform, error=reason)


def saved_running(folder: Path, name: str, platform: Platform) -> Path | None:
    """The saved running configuration of a device in a folder, or None."""
    for path in (folder / f"{name}{platform.running_suffix}", folder / f"{name}.txt"):
        if path.is_file():
            return path
    return None

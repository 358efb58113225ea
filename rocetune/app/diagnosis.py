"""``rocetune doctor``: states from devices or from a bundle, judged against the plan."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath

from rocetune import platforms
from rocetune.app.collecting import Bundle, Record, as_read, gather, known_platforms
from rocetune.app.errors import UseError
from rocetune.app.planning import Fitted, make_plan, select
from rocetune.app.reading import comparison_of, make_fleet, quiet, replan
from rocetune.app.workspace import Workspace
from rocetune.doctor.engine import Case, diagnose
from rocetune.model.change import Comparison, Phase
from rocetune.model.facts import Facts
from rocetune.model.outcome import DoctorReport, Progress, Report
from rocetune.model.plan import Plan
from rocetune.model.qos import Path
from rocetune.model.state import State

Remedy = Callable[[str, Path, object], tuple[str, ...]]


def doctor(
    ws: Workspace,
    limit: str | None = None,
    bundle: FilePath | None = None,
    interval_s: float = 2.0,
    progress: Report | None = None,
    *,
    accept_new_host_keys: bool = False,
) -> DoctorReport:
    """Judge the scope. Raises UseError for an unknown limit, refused credentials or a file that is no bundle."""
    started = time.monotonic()
    report = progress or quiet
    plan = make_plan(ws)
    names = select(ws, plan, limit)
    if bundle is not None:
        read = Bundle.load(bundle)
        known_platforms(read)
        names = tuple(name for name in names if name in read.devices or name in read.failed)
        if not names:
            raise UseError(
                f"{bundle} holds no device of this site", "run doctor in the site that it was collected from"
            )
    else:
        fleet = make_fleet(ws, plan, names, accept_new_host_keys=accept_new_host_keys, workers=ws.workers)
        try:
            read = gather(fleet, names, interval_s, report, as_read)
        finally:
            fleet.close()
    report(Progress("doctor", f"judging {len(read.devices)} devices"))
    verdict = judge(ws, plan, read, names)
    return dataclasses.replace(verdict, seconds=time.monotonic() - started)


def judge(ws: Workspace, plan: Plan, bundle: Bundle, names: tuple[str, ...]) -> DoctorReport:
    """The doctor's verdict on what a bundle says about these devices.

    Cables that lead to other devices of the plan are judged by this end alone; what needs the other end is skipped.
    """
    records = {name: bundle.devices[name] for name in names if name in bundle.devices}
    facts = {name: _facts(record) for name, record in records.items()}
    plan = replan(ws, plan, facts)
    fits = {
        name: Fitted(platforms.get(record.platform).fit(plan.devices[name], facts[name]), facts[name])
        for name, record in records.items()
    }
    states = {name: state_of(name, record, facts[name]) for name, record in records.items()}
    drift = {name: found for name, record in records.items() if (found := _drift(record, fits[name])) is not None}
    everyone = {**plan.devices, **{name: item.plan for name, item in fits.items()}}
    case = Case(everyone, states, drift, outside=frozenset(plan.devices) - frozenset(names))
    result = diagnose(case, remedy_of(fits))
    missing = tuple(name for name in names if name not in bundle.devices)
    return dataclasses.replace(
        result,
        devices=len(names),
        unreachable=missing,
        one_sample=not any(record.second for record in records.values()),
    )


def _facts(record: Record) -> Facts:
    return platforms.get(record.platform).facts(record.first)


def state_of(name: str, record: Record, facts: Facts) -> State:
    """The state a record shows, with both counter samples."""
    platform = platforms.get(record.platform)
    state = platform.read(name, record.first, facts)
    if record.second:
        later = platform.read(name, record.second, facts)
        state = dataclasses.replace(state, samples=(*state.samples, *later.samples))
    return state


def _drift(record: Record, item: Fitted) -> Comparison | None:
    platform = platforms.get(record.platform)
    command = platform.commands("config", item.facts)[0]
    reply = record.first.get(command)
    if reply is None or reply.error is not None:
        return None
    return comparison_of(platform, item, platform.parse(reply.text, item.facts))[1]


def remedy_of(fits: Mapping[str, Fitted]) -> Remedy:
    """Fix commands in the words of each device's platform."""

    def remedy(device: str, path: Path, want: object) -> tuple[str, ...]:
        if device not in fits:
            return ()
        item = fits[device]
        return platforms.get(item.plan.device.platform).remedy(path, want, item.facts, item.plan)

    return remedy


def judge_one(item: Fitted, before: State | None, after: State, phase: Phase) -> DoctorReport:
    """The verdict on one device in the middle of a push: only what this phase should already have made true.

    Links and fabric are not judged here: the other ends may not have had their turn yet.
    """
    if before is not None:
        after = dataclasses.replace(after, samples=(*before.samples[-1:], *after.samples[-1:]))
    name = item.plan.device.name
    return diagnose(Case({name: item.plan}, {name: after}, None, phase), lambda device, path, want: ())

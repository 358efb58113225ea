"""``rocetune apply``, ``apply --resume`` and ``rollback``: the transaction of the whole scope.

One path for all three: read the scene, show the differences, get consent, push by phases with the undo armed
first, then let the doctor judge. What differs is only where the desired side comes from.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rocetune import __version__, platforms
from rocetune.app.collecting import Record, cleaner, gather
from rocetune.app.diagnosis import judge, judge_one, state_of
from rocetune.app.diffing import report_of
from rocetune.app.errors import UseError
from rocetune.app.reading import Scene, quiet, read_scene
from rocetune.app.workspace import Workspace
from rocetune.deploy import journal as journals
from rocetune.deploy.compare import Ownership
from rocetune.deploy.journal import Busy, Journal, RunRecord, SiteLock
from rocetune.deploy.push import Push, title
from rocetune.deploy.restore import restoring
from rocetune.deploy.runner import brake
from rocetune.deploy.transaction import Work, settle
from rocetune.doctor.engine import worse
from rocetune.model.change import Change, Comparison, Impact
from rocetune.model.finding import Finding
from rocetune.model.outcome import (
    ApplyReport,
    DeviceStanding,
    DiffReport,
    DoctorReport,
    Progress,
    PushResult,
    Report,
)
from rocetune.model.state import State
from rocetune.model.transaction import Token
from rocetune.platforms.base import DeviceError, managed_ports

Consent = Callable[[DiffReport], bool]


@dataclass(frozen=True, slots=True)
class Options:
    """How a push is done. ``max_impact`` bounds what live traffic may feel; ``keep`` leaves confirmed phases after a
    failure instead of taking the run back."""

    max_impact: Impact = Impact.MARKING
    wave: int = 8
    keep: bool = False
    accept_new_host_keys: bool = False
    interval_s: float = 1.0


class _Stop(Exception):
    """A precondition failed; nothing was written."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems


def apply(
    ws: Workspace,
    limit: str | None = None,
    *,
    bring_up: bool = False,
    max_impact: Impact = Impact.MARKING,
    yes_confirm: Consent = lambda report: False,
    wave: int = 8,
    accept_new_host_keys: bool = False,
    keep: bool = False,
    progress: Report | None = None,
) -> ApplyReport:
    """Make the scope what the profiles say, or leave it as it was. Never raises for a device's trouble.

    Raises UseError for trouble before any device was touched.
    """
    options = Options(max(max_impact, Impact.LINK_BOUNCE) if bring_up else max_impact, wave, keep, accept_new_host_keys)
    return _run(ws, limit, "apply", options, yes_confirm, progress or quiet, None)


def rollback(
    ws: Workspace,
    run: str,
    *,
    yes_confirm: Consent = lambda report: True,
    wave: int = 8,
    max_impact: Impact = Impact.ALL_PORTS,
    progress: Report | None = None,
    accept_new_host_keys: bool = False,
) -> ApplyReport:
    """Give every key that a run touched the value it had before, by the same transaction.

    Raises UseError when the run is not known.
    """
    record = _record(ws, run)
    options = Options(max_impact, wave, True, accept_new_host_keys)
    return _run(ws, None, f"rollback {run}", options, yes_confirm, progress or quiet, record)


def resume(
    ws: Workspace,
    run: str | None = None,
    *,
    yes_confirm: Consent = lambda report: True,
    bring_up: bool = True,
    progress: Report | None = None,
    accept_new_host_keys: bool = False,
    wave: int = 8,
    max_impact: Impact = Impact.LINK_BOUNCE,
) -> ApplyReport:
    """Settle every transaction of a run that was cut off, then apply as usual.

    Raises UseError when there is nothing to resume.
    """
    record = _record(ws, run) if run else journals.unfinished(ws.state)
    if record is None:
        raise UseError("no run was cut off: there is nothing to resume", "use: rocetune apply")
    report = progress or quiet
    with _lock(ws, record.run):
        standings = _settle_all(ws, record, report, accept_new_host_keys)
        unsettled = [item for item in standings if item.standing == "unknown"]
        if unsettled:
            problems = tuple(f"{item.device}: {item.detail}" for item in unsettled)
            return ApplyReport(record.run, "mixed", DiffReport((), True), (), standings, None, problems)
        _end(ws, record.run, "settled")
    return apply(
        ws,
        None,
        bring_up=bring_up,
        max_impact=max_impact,
        yes_confirm=yes_confirm,
        wave=wave,
        accept_new_host_keys=accept_new_host_keys,
        progress=report,
    )


def _record(ws: Workspace, run: str) -> RunRecord:
    try:
        return journals.read(ws.state, run)
    except KeyError as error:
        raise UseError(str(error.args[0]), "list them in the folder named above") from error


def _lock(ws: Workspace, run: str) -> SiteLock:
    return SiteLock(ws.state, run)


def _end(ws: Workspace, run: str, verdict: str) -> None:
    journal = Journal.reopen(ws.state, run)
    journal.end(verdict)
    journal.close()


def _run(
    ws: Workspace,
    limit: str | None,
    command: str,
    options: Options,
    consent: Consent,
    report: Report,
    undoing: RunRecord | None,
) -> ApplyReport:
    started = time.monotonic()
    run = journals.new_run_id()
    try:
        with _lock(ws, run):
            cut_off = journals.unfinished(ws.state)
            if cut_off is not None and undoing is None:
                raise UseError(
                    f"run {cut_off.run} was cut off and is not settled",
                    f"finish it with: rocetune apply --resume   or undo it with: rocetune rollback {cut_off.run}",
                )
            result = _locked(ws, limit, command, options, consent, report, undoing, run)
    except Busy as busy:
        result = ApplyReport(run, "refused", DiffReport((), True), problems=(f"{busy}; wait for it to end",))
    return dataclasses.replace(result, seconds=time.monotonic() - started)


def _locked(
    ws: Workspace,
    limit: str | None,
    command: str,
    options: Options,
    consent: Consent,
    report: Report,
    undoing: RunRecord | None,
    run: str,
) -> ApplyReport:
    if undoing is not None:
        limit = ",".join(undoing.devices)
        _settle_all(ws, undoing, report, options.accept_new_host_keys)
    scene = read_scene(ws, limit, report, accept_new_host_keys=options.accept_new_host_keys)
    try:
        if undoing is not None:
            _point_back(scene, undoing)
        diff = report_of(scene)
        try:
            _may_start(scene, diff, options)
        except _Stop as stop:
            return ApplyReport(run, "refused", diff, problems=stop.problems)
        if not diff.changed:
            doctor = _doctor(ws, scene, options, report)
            if undoing is not None and undoing.verdict is None:
                _end(ws, undoing.run, "rolled back")
            return ApplyReport(run, "unchanged", diff, doctor=doctor)
        if not consent(diff):
            return ApplyReport(run, "refused", diff, problems=("not confirmed; nothing was written",))
        result = _push(ws, scene, diff, command, options, report, run)
        if undoing is not None and undoing.verdict is None and result.verdict == "applied":
            _end(ws, undoing.run, "rolled back")
        return result
    finally:
        scene.fleet.close()


def _point_back(scene: Scene, record: RunRecord) -> None:
    """Replace the desired side by what the run's journal saved, key by key."""
    for name, reading in list(scene.readings.items()):
        platform = platforms.get(reading.fitted.plan.device.platform)
        desired, changes = restoring(reading.running, record.touched(name), platform.owned)
        scene.readings[name] = dataclasses.replace(
            reading, desired=desired, comparison=Comparison(changes=tuple(changes))
        )


def _may_start(scene: Scene, diff: DiffReport, options: Options) -> None:
    """Everything that must hold before the first write. Raises _Stop with all that does not."""
    problems = [f"{name}: cannot be read: {reason}" for name, reason in sorted(scene.failed.items())]
    for item in diff.devices:
        problems += _refusals(item.device, item.comparison.refused)
        beyond = [change for change in item.comparison.changes if change.impact > options.max_impact]
        if beyond:
            worst = max(beyond, key=lambda change: change.impact)
            problems.append(
                f"{item.device}: {' '.join(worst.key)} has impact {worst.impact.name.lower()}, "
                f"the limit is {options.max_impact.name.lower()}: drain it and raise --max-impact"
                ", or use --bring-up for a rack that is not in service"
            )
    if problems:
        raise _Stop(*problems)
    changed = [item.device for item in diff.devices if item.comparison.changes]
    answers = scene.fleet.each(changed, lambda member: scene.fleet.session(member.name).ready())
    for name, answer in answers.items():
        if answer.error is not None:
            problems.append(f"{name}: {answer.error.command}: {answer.error.text}")
        problems += [f"{name}: {text}" for text in answer.value or ()]
    if problems:
        raise _Stop(*problems)


def _refusals(device: str, changes: Sequence[Change]) -> list[str]:
    return [
        f"{device}: {' '.join(change.key)} would have to change from {change.old or 'nothing'} to {change.new}, "
        "and the inventory says globals: refuse"
        for change in changes
    ]


class _PhaseJudge:
    """The doctor between commit and confirm: only what is new or worse than the baseline counts."""

    def __init__(self, scene: Scene, baseline: Mapping[str, Record]) -> None:
        self._scene = scene
        self._states: dict[str, State] = {}
        self._before: dict[str, DoctorReport] = {}
        for name, record in baseline.items():
            self._states[name] = state_of(name, record, scene.readings[name].fitted.facts)

    def __call__(self, name: str, token: Token) -> Sequence[Finding]:
        item = self._scene.readings[name].fitted
        platform = platforms.get(item.plan.device.platform)
        before = self._states.get(name)
        commands = platform.commands("state", item.facts)
        after = platform.read(name, self._scene.fleet.session(name).collect(commands), item.facts)
        found = judge_one(item, before, after, token.phase)
        base = judge_one(item, None, before, token.phase) if before is not None else None
        self._states[name] = after
        new = worse(base, found) if base is not None else found.findings
        return [finding for finding in new if finding.verdict == "fail" and finding.severity in ("critical", "error")]


def _push(
    ws: Workspace, scene: Scene, diff: DiffReport, command: str, options: Options, report: Report, run: str
) -> ApplyReport:
    changes = {item.device: item.comparison.changes for item in diff.devices if item.comparison.changes}
    names = tuple(changes)
    report(Progress("baseline", f"doctor baseline of {len(names)} devices"))
    baseline = gather(scene.fleet, names, 0, report, cleaner(False))
    work = {name: _work(scene, name) for name in names}
    journal = Journal.create(
        ws.state,
        run,
        command=command,
        version=__version__,
        devices=names,
        platforms={name: item.platform.name for name, item in work.items()},
    )
    try:
        rule = _PhaseJudge(scene, baseline.devices) if command == "apply" else (lambda name, token: ())
        push = Push(run, scene.fleet, journal, work, changes, rule, options.wave, report)
        with brake(scene.fleet.cancel):
            results = push.go()
            return _finish(ws, scene, diff, options, report, run, journal, work, results)
    finally:
        journal.close()


def _work(scene: Scene, name: str) -> Work:
    reading = scene.readings[name]
    item = reading.fitted
    platform = platforms.get(item.plan.device.platform)
    ownership = Ownership(platform.owned, managed_ports(item.plan))
    return Work(name, platform, item.facts, reading.running, ownership, item.plan.device.role)


def _finish(
    ws: Workspace,
    scene: Scene,
    diff: DiffReport,
    options: Options,
    report: Report,
    run: str,
    journal: Journal,
    work: Mapping[str, Work],
    results: list[PushResult],
) -> ApplyReport:
    """After the last wave: the doctor when all went well, else take the run back and say where devices stand."""
    bad = [item for item in results if item.outcome != "confirmed"]
    if not bad and not scene.fleet.cancel.is_set():
        journal.end("applied")
        standings = tuple(DeviceStanding(name, "new") for name in work)
        doctor = _doctor(ws, scene, options, report)
        return ApplyReport(run, "applied", diff, tuple(results), standings, doctor)
    problems = [f"{item.device}: {title(item.phase)}: {item.outcome}: {item.detail}" for item in bad if item.detail]
    if scene.fleet.cancel.is_set():
        problems.append("interrupted: no further device was begun")
    taken_back: list[PushResult] = []
    if not options.keep:
        taken_back = _take_back(ws, scene, options, report, run, journal, work)
    standings = _standings(ws, scene, run, work, [*results, *taken_back])
    settled = all(item.standing == "old" for item in standings)
    known = all(item.standing in ("old", "new", "partly new") for item in standings)
    verdict = "rolled back" if settled else "mixed"
    if known:
        journal.end(verdict)
    return ApplyReport(
        run, "rolled back" if settled else "mixed", diff, (*results, *taken_back), standings, None, tuple(problems)
    )


def _take_back(
    ws: Workspace,
    scene: Scene,
    options: Options,
    report: Report,
    run: str,
    journal: Journal,
    work: Mapping[str, Work],
) -> list[PushResult]:
    """Undo the confirmed phases of this run on every device that answers; same transaction, own tokens."""
    record = journals.read(ws.state, run)
    confirmed = {entry.token.device for entry in record.tokens if entry.outcome == "confirmed"}
    if not confirmed:
        return []
    report(Progress("undo", f"taking the run back on {len(confirmed)} devices", total=len(confirmed)))
    was_cancelled = scene.fleet.cancel.is_set()
    scene.fleet.cancel.clear()
    changes: dict[str, Sequence[Change]] = {}
    for name in confirmed:
        item = work[name]
        _, back = restoring(item.running, record.touched(name), item.platform.owned)
        if back:
            changes[name] = back
    push = Push(f"{run}-undo", scene.fleet, journal, work, changes, lambda name, token: (), options.wave, report)
    results = push.go(tolerant=True)
    if was_cancelled:
        scene.fleet.cancel.set()
    return results


def _standings(
    ws: Workspace, scene: Scene, run: str, work: Mapping[str, Work], results: Iterable[PushResult]
) -> tuple[DeviceStanding, ...]:
    """Where each device stands, from the results and from the device itself where these leave a doubt."""
    record = journals.read(ws.state, run)
    last: dict[str, PushResult] = {}
    for item in results:
        if item.outcome != "skipped":
            last[item.device] = item
    standings: list[DeviceStanding] = []
    for name in sorted(work):
        entries = [entry for entry in record.tokens if entry.token.device == name]
        if not entries:
            standings.append(DeviceStanding(name, "old"))
            continue
        end = last.get(name)
        if end is not None and end.outcome in ("reverting", "unknown"):
            until = entries[-1].at + entries[-1].revert_in_s if end.outcome == "reverting" else None
            standings.append(DeviceStanding(name, "reverting" if until else "unknown", until, end.detail))
            continue
        touched = record.touched(name)
        running = work[name].running
        if all(running.get(key) == old for key, old in touched.items()):
            standings.append(DeviceStanding(name, "old"))
        else:
            standings.append(DeviceStanding(name, "partly new", detail="earlier phases are confirmed"))
    return tuple(standings)


def _settle_all(
    ws: Workspace, record: RunRecord, report: Report, accept_new_host_keys: bool
) -> tuple[DeviceStanding, ...]:
    """Bring every open transaction of a run to rest."""
    from rocetune.app.planning import make_plan
    from rocetune.app.reading import make_fleet, read_facts

    open_tokens = {
        entry.token.device: entry for entry in record.tokens if entry.outcome in (None, "reverting", "unknown")
    }
    names = tuple(sorted(open_tokens))
    if not names:
        return ()
    plan = make_plan(ws)
    lost = tuple(
        DeviceStanding(name, "unknown", detail="no longer in the inventory")
        for name in names
        if name not in plan.devices
    )
    names = tuple(name for name in names if name in plan.devices)
    fleet = make_fleet(ws, plan, names, accept_new_host_keys=accept_new_host_keys, workers=ws.workers)
    journal = Journal.reopen(ws.state, record.run)
    try:
        facts = read_facts(fleet, names, report)
        standings = [
            DeviceStanding(name, "unknown", detail=str(answer.error))
            for name, answer in facts.items()
            if answer.error is not None
        ]

        def work(name: str) -> DeviceStanding:
            entry = open_tokens[name]
            member = fleet.members[name]
            assert member.facts is not None
            ownership = Ownership(member.platform.owned, managed_ports(plan.devices[name]))
            item = Work(name, member.platform, member.facts, {}, ownership)
            keys = {key: (old, new) for key, old, new in entry.changes}
            found = settle(fleet, item, entry.token, keys)
            if found.standing != "unknown":
                journal.outcome(entry.token, "reverted" if found.standing == "old" else "confirmed", "settled")
            return found

        ready = [name for name, answer in facts.items() if answer.error is None]
        answers = fleet.each(ready, lambda member: work(member.name))
        standings += [answer.value for answer in answers.values() if answer.value is not None]
        return (*standings, *lost)
    except DeviceError as error:
        raise UseError(f"{error.device}: {error.text}") from error
    finally:
        journal.close()
        fleet.close()


def _doctor(ws: Workspace, scene: Scene, options: Options, report: Report) -> DoctorReport:
    """The verdict over the whole scope, on the links that are already open."""
    ready = tuple(name for name in scene.names if name in scene.readings)
    report(Progress("doctor", f"examining {len(ready)} devices"))
    bundle = gather(scene.fleet, ready, options.interval_s, report, cleaner(False))
    return judge(ws, scene.plan, bundle, scene.names)

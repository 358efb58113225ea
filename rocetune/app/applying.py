"""``rocetune apply``, ``apply --resume`` and ``rollback``: the transaction of the whole scope.

One path for all three: read the scene, show the differences, get consent, push by phases with the undo armed
first, then let the doctor judge. What differs is only where the desired side comes from.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from rocetune import platforms
from rocetune.app.diffing import report_of
from rocetune.app.errors import UseError
from rocetune.app.pushing import Options, examine, push
from rocetune.app.reading import Scene, heard, read_scene
from rocetune.app.settling import settle_all
from rocetune.app.workspace import Workspace
from rocetune.deploy import journal as journals
from rocetune.deploy.journal import Busy, Damaged, Journal, RunRecord, SiteLock
from rocetune.deploy.restore import restoring
from rocetune.model.change import Change, Comparison, Impact
from rocetune.model.outcome import ApplyReport, DeviceStanding, DiffReport, Progress, Report

Consent = Callable[[DiffReport], bool]


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
    interval_s: float = 1.0,
    progress: Report | None = None,
) -> ApplyReport:
    """Make the scope what the profiles say, or leave it as it was. Never raises for a device's trouble.

    Raises UseError for trouble before any device was touched.
    """
    options = Options(
        max(max_impact, Impact.LINK_BOUNCE) if bring_up else max_impact, wave, keep, accept_new_host_keys, interval_s
    )
    return _run(_Job(ws, limit, "apply", options, yes_confirm, heard(progress)))


def rollback(
    ws: Workspace,
    run: str,
    limit: str | None = None,
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
    options = Options(max_impact, wave, True, accept_new_host_keys, examine=False)
    return _run(_Job(ws, limit, f"rollback {run}", options, yes_confirm, heard(progress), record))


def resume(
    ws: Workspace,
    run: str | None = None,
    limit: str | None = None,
    *,
    keep: bool = False,
    yes_confirm: Consent = lambda report: True,
    bring_up: bool = True,
    progress: Report | None = None,
    accept_new_host_keys: bool = False,
    wave: int = 8,
    max_impact: Impact = Impact.LINK_BOUNCE,
    interval_s: float = 1.0,
) -> ApplyReport:
    """Settle every transaction of a run that was cut off, then apply as usual to that run's devices.

    ``limit`` narrows the apply further, not the settling. Raises UseError when there is nothing to resume.
    """
    record = _record(ws, run) if run else _unfinished(ws)
    if record is None:
        raise UseError("no run was cut off: there is nothing to resume", "use: rocetune apply")
    report = heard(progress)
    with _alone(ws, record.run):
        standings = settle_all(ws, record, report, accept_new_host_keys)
        if unsettled := _unsettled(standings):
            return ApplyReport(record.run, "mixed", DiffReport((), True), (), standings, None, unsettled)
        if record.verdict is None:
            _end(ws, record.run, "settled")
    impact = max(max_impact, Impact.LINK_BOUNCE) if bring_up else max_impact
    options = Options(impact, wave, keep, accept_new_host_keys, interval_s)
    return _run(_Job(ws, limit, "apply", options, yes_confirm, report, only=record.devices))


def _unsettled(standings: Sequence[DeviceStanding]) -> tuple[str, ...]:
    return tuple(f"{item.device}: {item.detail}" for item in standings if item.standing == "unknown")


def _record(ws: Workspace, run: str) -> RunRecord:
    try:
        return journals.read(ws.state, run)
    except KeyError as error:
        raise UseError(str(error.args[0]), "use one of these") from error
    except Damaged as error:
        raise _damaged(error) from error


def _unfinished(ws: Workspace) -> RunRecord | None:
    try:
        return journals.unfinished(ws.state)
    except Damaged as error:
        raise _damaged(error) from error


def _damaged(error: Damaged) -> UseError:
    return UseError(
        str(error), f"see with rocetune diff where the devices stand, then move {error.path.parent} out of the way"
    )


def _end(ws: Workspace, run: str, verdict: str) -> None:
    journal = Journal.reopen(ws.state, run)
    journal.end(verdict)
    journal.close()


@dataclass(frozen=True, slots=True)
class _Job:
    """What was asked for. ``undoing``: the run that a rollback takes back, else None."""

    ws: Workspace
    limit: str | None
    command: str
    options: Options
    consent: Consent
    report: Report
    undoing: RunRecord | None = None
    only: Collection[str] | None = None  # devices beside which nothing is touched


def _run(job: _Job) -> ApplyReport:
    started = time.monotonic()
    run = journals.new_run_id()
    with _alone(job.ws, run):
        cut_off = _unfinished(job.ws)
        if cut_off is not None and (job.undoing is None or job.undoing.run != cut_off.run):
            raise UseError(
                f"run {cut_off.run} was cut off and is not settled",
                f"finish it with: rocetune apply --resume   or undo it with: rocetune rollback {cut_off.run}",
            )
        result = _locked(job, run)
    return dataclasses.replace(result, seconds=time.monotonic() - started)


@contextmanager
def _alone(ws: Workspace, run: str) -> Iterator[None]:
    """One push per site at a time. Raises UseError with the other run's id, or when the state folder is not ours."""
    try:
        lock = SiteLock(ws.state, run)
    except Busy as busy:
        raise UseError(str(busy), "wait for it to end") from busy
    except OSError as error:
        raise UseError(
            f"{ws.state} cannot be used: {error.strerror or error}", "give this user rights there"
        ) from error
    with closing(lock):
        yield


def _locked(job: _Job, run: str) -> ApplyReport:
    accept, undoing = job.options.accept_new_host_keys, job.undoing
    if undoing is not None:
        standings = settle_all(job.ws, undoing, job.report, accept)
        if unsettled := _unsettled(standings):
            return ApplyReport(undoing.run, "mixed", DiffReport((), True), (), standings, None, unsettled)
    only = job.only if undoing is None else undoing.devices
    scene = read_scene(job.ws, job.limit, job.report, only=only, accept_new_host_keys=accept)
    try:
        if undoing is not None:
            _point_back(scene, undoing)
        result = _change(job, run, scene, report_of(scene))
    finally:
        scene.fleet.close()
    if undoing is not None and result.verdict in ("applied", "unchanged"):
        return _given_back(job, undoing, scene, result)
    return result


def _given_back(job: _Job, undoing: RunRecord, scene: Scene, result: ApplyReport) -> ApplyReport:
    """A rollback is done when every device that the run touched was in its scope; the others are named."""
    touched = {entry.token.device for entry in undoing.tokens}
    left = sorted(touched - set(scene.names))
    if not left:
        if undoing.verdict is None:
            _end(job.ws, undoing.run, "rolled back")
        return result
    gone = [name for name in left if name not in scene.plan.devices]
    problems = [f"{name}: outside --limit, keeps what the run wrote" for name in left if name not in gone]
    problems += [f"{name}: no longer in the inventory, keeps what the run wrote" for name in gone]
    verdict = "mixed" if gone else result.verdict
    return dataclasses.replace(result, verdict=verdict, problems=(*result.problems, *problems))


def _change(job: _Job, run: str, scene: Scene, diff: DiffReport) -> ApplyReport:
    """From the shown differences to the pushed ones, or the reason why not."""
    try:
        _may_start(scene, diff, job.options, job.report)
    except _Stop as stop:
        return ApplyReport(run, "refused", diff, problems=stop.problems)
    if not diff.changed:
        wanted = job.options.examine
        doctor = examine(job.ws, scene, job.options, job.report, written=False) if wanted else None
        return ApplyReport(run, "unchanged", diff, doctor=doctor)
    if not job.consent(diff):
        return ApplyReport(run, "refused", diff, problems=("not confirmed; nothing was written",))
    return push(job.ws, scene, diff, job.command, job.options, job.report, run)


def _point_back(scene: Scene, record: RunRecord) -> None:
    """Replace the desired side by what the run's journal saved, key by key."""
    for name, reading in list(scene.readings.items()):
        platform = platforms.get(reading.fitted.plan.device.platform)
        desired, changes = restoring(reading.running, record.touched(name), platform.owned)
        scene.readings[name] = dataclasses.replace(
            reading, desired=desired, comparison=Comparison(changes=tuple(changes))
        )


def _may_start(scene: Scene, diff: DiffReport, options: Options, report: Report) -> None:
    """Everything that must hold before the first write. Raises _Stop with all that does not."""
    problems = [f"{name}: cannot be read: {reason}" for name, reason in sorted(scene.failed.items())]
    for item in diff.devices:
        problems += [f"{item.device} {lack.where}: {lack.text}" for lack in item.unsupported if lack.blocking]
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
        for text in answer.value or ():
            if text.startswith("note: "):
                report(Progress("precheck", text.removeprefix("note: "), name))
            else:
                problems.append(f"{name}: {text}")
    if problems:
        raise _Stop(*problems)


def _refusals(device: str, changes: Sequence[Change]) -> list[str]:
    return [
        f"{device}: {' '.join(change.key)} would have to change from {change.old or 'nothing'} to {change.new}, "
        "and the inventory says globals: refuse"
        for change in changes
    ]

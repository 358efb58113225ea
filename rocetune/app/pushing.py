"""The writing part of a run: baseline, phases, the doctor between commit and confirm, and where devices stand after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rocetune import __version__, platforms
from rocetune.app.collecting import Record, cleaner, gather
from rocetune.app.diagnosis import judge, judge_one, state_of
from rocetune.app.reading import Scene
from rocetune.app.workspace import Workspace
from rocetune.deploy import journal as journals
from rocetune.deploy.compare import Ownership
from rocetune.deploy.journal import Journal
from rocetune.deploy.push import Push, title
from rocetune.deploy.restore import restoring
from rocetune.deploy.runner import brake
from rocetune.deploy.transaction import Work
from rocetune.doctor.engine import worse
from rocetune.model.change import Change, Impact
from rocetune.model.finding import Finding
from rocetune.model.outcome import ApplyReport, DeviceStanding, DiffReport, DoctorReport, Progress, PushResult, Report
from rocetune.model.state import State, Transcript
from rocetune.model.transaction import Token
from rocetune.platforms.base import managed_ports


@dataclass(frozen=True, slots=True)
class Options:
    """How a push is done. ``max_impact`` bounds what live traffic may feel; ``keep`` leaves confirmed phases after a
    failure instead of taking the run back; ``examine`` False for a rollback, which leads away from the plan."""

    max_impact: Impact = Impact.MARKING
    wave: int = 8
    keep: bool = False
    accept_new_host_keys: bool = False
    interval_s: float = 1.0
    examine: bool = True


class PhaseJudge:
    """The doctor between commit and confirm: only what is new or worse than the baseline counts."""

    def __init__(self, scene: Scene, baseline: Mapping[str, Record]) -> None:
        self._scene = scene
        self._states: dict[str, State] = {}
        self._before: dict[str, DoctorReport] = {}
        for name, record in baseline.items():
            self._states[name] = state_of(name, record, scene.readings[name].fitted.facts)

    def __call__(self, name: str, token: Token, transcript: Transcript) -> Sequence[Finding]:
        item = self._scene.readings[name].fitted
        platform = platforms.get(item.plan.device.platform)
        before = self._states.get(name)
        after = platform.read(name, transcript, item.facts)
        found = judge_one(item, before, after, token.phase)
        base = judge_one(item, None, before, token.phase) if before is not None else None
        self._states[name] = after
        new = worse(base, found) if base is not None else found.findings
        return [finding for finding in new if finding.verdict == "fail" and finding.severity in ("critical", "error")]


def push(
    ws: Workspace, scene: Scene, diff: DiffReport, command: str, options: Options, report: Report, run: str
) -> ApplyReport:
    changes = {item.device: item.comparison.changes for item in diff.devices if item.comparison.changes}
    names = tuple(changes)
    report(Progress("baseline", f"doctor baseline of {len(names)} devices"))
    baseline = gather(scene.fleet, names, options.interval_s, report, cleaner(False))
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
        rule = PhaseJudge(scene, baseline.devices) if options.examine else (lambda name, token, transcript: ())
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
    return Work(name, platform, item.facts, reading.running, ownership, item.plan.device.role, reading.at)


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
        doctor = examine(ws, scene, options, report) if options.examine else None
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
    push = Push(
        f"{run}-undo", scene.fleet, journal, work, changes, lambda name, token, transcript: (), options.wave, report
    )
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


def examine(ws: Workspace, scene: Scene, options: Options, report: Report) -> DoctorReport:
    """The verdict over the whole scope, on the links that are already open."""
    ready = tuple(name for name in scene.names if name in scene.readings)
    report(Progress("doctor", f"examining {len(ready)} devices"))
    bundle = gather(scene.fleet, ready, options.interval_s, report, cleaner(False))
    return judge(ws, scene.plan, bundle, scene.names)

"""The writing part of a run: baseline, phases, the doctor between commit and confirm, and where devices stand after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from rocetune import __version__, platforms
from rocetune.app.collecting import Record, as_read, gather
from rocetune.app.diagnosis import judge, judge_one, state_of
from rocetune.app.errors import UseError
from rocetune.app.reading import Scene
from rocetune.app.workspace import Workspace
from rocetune.deploy import journal as journals
from rocetune.deploy.compare import Ownership
from rocetune.deploy.journal import Journal, RunRecord
from rocetune.deploy.push import Push, counted, title
from rocetune.deploy.restore import restoring
from rocetune.deploy.runner import brake
from rocetune.deploy.transaction import Judge, Work
from rocetune.doctor.correlation import flatten
from rocetune.doctor.engine import worse
from rocetune.model.change import Change, Impact
from rocetune.model.facts import Facts
from rocetune.model.finding import Finding
from rocetune.model.outcome import ApplyReport, DeviceStanding, DiffReport, DoctorReport, Progress, PushResult, Report
from rocetune.model.state import State, Transcript
from rocetune.model.transaction import Token
from rocetune.platforms.base import managed_ports

Verdict = Literal["rolled back", "mixed"]


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
        self._scene, self._baseline = scene, baseline
        self._states: dict[str, State] = {}

    def __call__(self, name: str, token: Token, transcript: Transcript) -> Sequence[Finding]:
        item = self._scene.readings[name].fitted
        platform = platforms.get(item.plan.device.platform)
        before = self._before(name, item.facts)
        after = platform.read(name, transcript, item.facts)
        found = judge_one(item, before, after, token.phase)
        self._states[name] = after
        if before is None:
            return [finding for finding in found.findings if _stops(finding)]
        if not any(map(_stops, flatten(found.findings))):
            return ()
        return [finding for finding in worse(judge_one(item, None, before, token.phase), found) if _stops(finding)]

    def _before(self, name: str, facts: Facts) -> State | None:
        """The state at the last phase, at first that of the baseline: understood only when a device has its turn."""
        if name not in self._states and name in self._baseline:
            return state_of(name, self._baseline[name], facts)
        return self._states.get(name)


def _stops(finding: Finding) -> bool:
    return finding.verdict == "fail" and finding.severity in ("critical", "error")


def push(
    ws: Workspace, scene: Scene, diff: DiffReport, command: str, options: Options, report: Report, run: str
) -> ApplyReport:
    """Write what the diff shows, or take it back. Raises UseError when the journal cannot be kept."""
    changes = {item.device: item.comparison.changes for item in diff.devices if item.comparison.changes}
    names = tuple(changes)
    report(Progress("baseline", f"doctor baseline of {counted(len(names))}"))
    known = {name: scene.readings[name].transcript for name in names}
    baseline = gather(scene.fleet, names, options.interval_s, report, as_read, known)
    work = {name: _work(scene, name) for name in names}
    try:
        journal = Journal.create(
            ws.state,
            run,
            command=command,
            version=__version__,
            devices=names,
            platforms={name: item.platform.name for name, item in work.items()},
        )
        with closing(journal), brake(scene.fleet.cancel):
            judged = PhaseJudge(scene, baseline.devices) if options.examine else _unjudged
            writing = _Writing(ws, scene, diff, options, report, run, journal, work)
            return writing.finish(writing.go(run, changes, judged))
    except OSError as error:
        raise UseError(
            f"the journal in {ws.state} cannot be written: {error.strerror or error}",
            "make room or rights there; what was begun is finished with: rocetune apply --resume",
        ) from error


def _work(scene: Scene, name: str) -> Work:
    reading = scene.readings[name]
    item = reading.fitted
    platform = platforms.get(item.plan.device.platform)
    ownership = Ownership(platform.owned, managed_ports(item.plan))
    return Work(name, platform, item.facts, reading.running, ownership, item.plan.device.role, reading.at)


def _unjudged(name: str, token: Token, transcript: Transcript) -> Sequence[Finding]:
    """No judge: a rollback leads away from the plan."""
    return ()


@dataclass(frozen=True, slots=True)
class _Writing:
    """A run while it writes, and how it ends."""

    ws: Workspace
    scene: Scene
    diff: DiffReport
    options: Options
    report: Report
    run: str
    journal: Journal
    work: Mapping[str, Work]

    def go(
        self, run: str, changes: Mapping[str, Sequence[Change]], judged: Judge, *, tolerant: bool = False
    ) -> list[PushResult]:
        """Push these changes; tokens bear ``run``."""
        fleet, wave = self.scene.fleet, self.options.wave
        return Push(run, fleet, self.journal, self.work, changes, judged, wave, self.report).go(tolerant)

    def finish(self, results: list[PushResult]) -> ApplyReport:
        """After the last wave: the doctor when all went well, else take the run back and say where devices stand."""
        bad = [item for item in results if item.outcome != "confirmed"]
        if not bad and not self.scene.fleet.cancel.is_set():
            self.journal.end("applied")
            standings = tuple(DeviceStanding(name, "new") for name in self.work)
            wanted = self.options.examine
            doctor = examine(self.ws, self.scene, self.options, self.report) if wanted else None
            return ApplyReport(self.run, "applied", self.diff, tuple(results), standings, doctor)
        problems = [f"{item.device}: {title(item.phase)}: {item.outcome}: {item.detail}" for item in bad if item.detail]
        if self.scene.fleet.cancel.is_set():
            problems.append("interrupted: no further device was begun")
        confirmed = {item.device for item in results if item.outcome == "confirmed"}
        results = [*results, *([] if self.options.keep else self._take_back(confirmed))]
        standings = self._standings(results)
        journal_trouble = any("cannot be written" in item.detail for item in results)  # leave it to rollback
        verdict: Verdict = "rolled back" if all(item.standing == "old" for item in standings) else "mixed"
        if all(item.standing in ("old", "new", "partly new") for item in standings) and not journal_trouble:
            self.journal.end(verdict)
        return ApplyReport(self.run, verdict, self.diff, tuple(results), standings, None, tuple(problems))

    def _take_back(self, confirmed: set[str]) -> list[PushResult]:
        """Undo the confirmed phases of this run on every device that answers; same transaction, own tokens."""
        if not confirmed:
            return []
        record = journals.read(self.ws.state, self.run)
        self.report(Progress("undo", f"taking the run back on {counted(len(confirmed))}", total=len(confirmed)))
        cancel = self.scene.fleet.cancel
        was_cancelled = cancel.is_set()
        cancel.clear()
        changes = {
            name: restoring(self.work[name].running, record.touched(name), self.work[name].platform.owned)[1]
            for name in confirmed
        }
        results = self.go(f"{self.run}-undo", changes, _unjudged, tolerant=True)
        if was_cancelled:
            cancel.set()
        return results

    def _standings(self, results: Iterable[PushResult]) -> tuple[DeviceStanding, ...]:
        """Where each device stands, from the last result and from what was last read of it."""
        record = journals.read(self.ws.state, self.run)
        last = {item.device: item for item in results if item.outcome != "skipped"}
        return tuple(self._standing(name, record, last.get(name)) for name in sorted(self.work))

    def _standing(self, name: str, record: RunRecord, end: PushResult | None) -> DeviceStanding:
        entries = [entry for entry in record.tokens if entry.token.device == name]
        if not entries:
            return DeviceStanding(name, "old")
        if end is not None and end.outcome == "reverting":
            return DeviceStanding(name, "reverting", entries[-1].at + entries[-1].revert_in_s, end.detail)
        if end is not None and end.outcome == "unknown":
            return DeviceStanding(name, "unknown", None, end.detail)
        running = self.work[name].running
        if all(running.get(key) == old for key, old in record.touched(name).items()):
            return DeviceStanding(name, "old")
        return DeviceStanding(name, "partly new", detail="earlier phases are confirmed")


def examine(ws: Workspace, scene: Scene, options: Options, report: Report, *, written: bool = True) -> DoctorReport:
    """The verdict over the whole scope, on the links that are already open.

    ``written`` False: nothing was, so what was read for the comparison is the first sample.
    """
    ready = tuple(name for name in scene.names if name in scene.readings)
    report(Progress("doctor", f"examining {counted(len(ready))}"))
    known = None if written else {name: scene.readings[name].transcript for name in ready}
    bundle = gather(scene.fleet, ready, options.interval_s, report, as_read, known)
    return judge(ws, scene.plan, bundle, scene.names)

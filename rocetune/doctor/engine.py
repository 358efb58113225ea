"""Runs the checks over one case and dresses their results: words, evidence, fixes, root causes, order."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches

from rocetune.doctor import checks as _checks
from rocetune.doctor.case import Case
from rocetune.doctor.catalogue import Entry, entries
from rocetune.doctor.correlation import Judged, flatten, fold, origin, topic
from rocetune.doctor.verdicts import Result, registered
from rocetune.model.finding import OURS, Finding, Severity, Verdict
from rocetune.model.outcome import DoctorReport
from rocetune.model.qos import Path
from rocetune.model.state import Evidence

Remedy = Callable[[str, Path, object], tuple[str, ...]]
"""``(device, path, want)`` to the commands a person types; () where the platform knows none."""

__all__ = ["Case", "Remedy", "diagnose", "worse"]

_SEVERITIES: tuple[Severity, ...] = ("critical", "error", "warning", "info")
_VERDICTS: tuple[Verdict, ...] = ("fail", "unknown", "pass")
LOADED = _checks.__all__  # importing the package registers the checks


def diagnose(case: Case, remedy: Remedy, ids: Collection[str] | None = None) -> DoctorReport:
    """Judge a case. ``ids`` limits the checks; an unknown id raises ValueError with the nearest known ones.

    ``seconds`` and ``unreachable`` of the report are the caller's to fill in.
    """
    judged: list[Judged] = []
    passed = skipped = 0
    for entry in _selected(ids):
        for result in registered()[entry.id](case):
            if not _applies(case, entry, result):
                continue
            if result.verdict == "pass":
                passed += 1
            elif result.verdict == "unknown" and result.outside:
                skipped += 1
            else:
                judged.append(Judged(_finding(case, entry, result, remedy), result))
    read = [plan.device.name for plan, _, _ in case.devices()]
    return DoctorReport(
        findings=tuple(sorted(fold(case, judged), key=_order)),
        passed=passed,
        devices=len(read),
        one_sample=any(len(case.states[name].samples) < 2 for name in read),
        skipped=skipped,
    )


def worse(before: DoctorReport, after: DoctorReport) -> tuple[Finding, ...]:
    """Findings of ``after`` that are new, or more severe than in ``before``. Folded ones count on both sides.

    A setting that could be judged before and no longer can is worse, too. Counters need a baseline of two samples
    to be compared, and one that can no longer be judged is not worse: a port that re-trained may have reset it.
    Context (info) is never worse.
    """
    kinds = entries()
    old = {_key(finding): finding for finding in flatten(before.findings)}
    found = []
    for finding in flatten(after.findings):
        if finding.severity == "info":
            continue
        counter = finding.id in kinds and kinds[finding.id].kind == "counter"
        if counter and (before.one_sample or finding.verdict == "unknown"):
            continue
        if _rank(finding) < _rank(old.get(_key(finding))):
            found.append(finding)
    return tuple(sorted(found, key=_order))


def _selected(ids: Collection[str] | None) -> Iterator[Entry]:
    known = entries()
    for identity in ids or ():
        if identity not in known:
            near = get_close_matches(identity, known, 3)
            hint = f"; did you mean {', '.join(near)}?" if near else ""
            raise ValueError(f"no check {identity!r}{hint}")
    for entry in known.values():
        if (ids is None or entry.id in ids) and entry.id in registered():
            yield entry


def _applies(case: Case, entry: Entry, result: Result) -> bool:
    """False for what a push has not reached yet, and for checks of other platforms."""
    device = case.plan[result.device].device
    if entry.platforms and device.platform not in entry.platforms:
        return False
    earliest = entry.server_phase if device.kind == "server" else entry.switch_phase
    return case.phase is None or earliest <= case.phase


def _finding(case: Case, entry: Entry, result: Result, remedy: Remedy) -> Finding:
    failed = result.verdict == "fail"
    return Finding(
        id=entry.id,
        severity=result.severity or entry.severity,
        verdict=result.verdict,
        device=result.device,
        title=result.title or entry.title,
        port=result.port,
        priority=result.priority,
        expected=result.expected,
        observed=result.observed,
        evidence=result.evidence or _evidence(case, result),
        fix=_fix(entry, result, remedy) if failed else (),
        reason=(result.why or entry.why) if failed else result.reason,
        peer=result.peer,
        path=result.path,
        want=result.want,
        apply=failed and _pushable(case, entry, result),
    )


def _evidence(case: Case, result: Result) -> Evidence | None:
    """The line with the longest path that leads to the result's."""
    lines = case.states[result.device].evidence
    for path in (result.path, *(path for device, path, _ in result.also if device == result.device)):
        for length in range(len(path), 0, -1):
            found = lines.get(path[:length])
            if found is not None:
                return found
    return None


def _pushable(case: Case, entry: Entry, result: Result) -> bool:
    """True when the comparison with the plan found this leaf, so that a push writes it.

    Objects of a switch serve many ports and the comparison names one of them; a NIC has its own.
    """
    drift = (case.drift or {}).get(result.device)
    if entry.kind != "setting" or drift is None:
        return False
    paths = [path for device, path, _ in result.also if device == result.device]
    wanted = {(path[0], topic(path[1:])) for path in (result.path, *paths) if len(path) > 1}
    found = {(path[0], topic(path[1:])) for path in map(origin, drift.changes) if len(path) > 1}
    if case.plan[result.device].device.kind == "switch":
        return bool({about for _, about in wanted} & {about for _, about in found})
    return bool(wanted & found)


def _fix(entry: Entry, result: Result, remedy: Remedy) -> tuple[str, ...]:
    return tuple(_limited(line, result.device) for line in _lines(entry, result, remedy))


def _limited(line: str, device: str) -> str:
    """A command of ours is about this device, never about all that the site holds."""
    if not line.startswith(OURS) or line.startswith(f"{OURS}--limit "):
        return line
    return f"{OURS}--limit {device} {line.removeprefix(OURS)}"


def _lines(entry: Entry, result: Result, remedy: Remedy) -> tuple[str, ...]:
    if result.fix:
        return result.fix
    elsewhere: list[str] = []
    own = remedy(result.device, result.path, result.want) if result.path else ()
    for device, path, want in result.also:
        if device != result.device:
            lines = remedy(device, path, want)
            elsewhere += [f"on {device}:", *lines] if lines else []
        elif not own:
            own = remedy(device, path, want)
    words = result.advice or entry.fix
    if elsewhere:
        # A comment can be typed with the commands around it; without it half of the remedy would be missing.
        return (*elsewhere, f"on {result.device}:", *(own or (f"# {words}",)))
    return own or (words,)


def _key(finding: Finding) -> tuple[str, str, str | None, int | None]:
    return finding.id, finding.device, finding.port, finding.priority


def _rank(finding: Finding | None) -> tuple[int, int]:
    """Smaller is worse; nothing is best."""
    if finding is None:
        return len(_VERDICTS), len(_SEVERITIES)
    return _VERDICTS.index(finding.verdict), _SEVERITIES.index(finding.severity)


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sort key with ``Ethernet2/1`` before ``Ethernet10/1``."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", name, re.ASCII))


def _order(finding: Finding) -> tuple[object, ...]:
    """Failures first, each family as bad as its worst member, then by check and place."""
    family = [finding, *flatten(finding.consequences)]
    worst = min(_SEVERITIES.index(item.severity) for item in family)
    return (
        _VERDICTS.index(finding.verdict),
        worst,
        _SEVERITIES.index(finding.severity),
        finding.id,
        _natural(finding.device),
        _natural(finding.port or ""),
        -1 if finding.priority is None else finding.priority,
    )

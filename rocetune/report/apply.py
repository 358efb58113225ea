"""What a push did: waves and time, where every device stands, and one summary line last."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rocetune.model.change import Phase
from rocetune.model.outcome import ApplyReport, DeviceStanding, PushResult
from rocetune.report import encode
from rocetune.report.changes import PHASE_WORDS
from rocetune.report.diff import settings
from rocetune.report.diff import summary as diff_summary
from rocetune.report.findings import unjudged
from rocetune.report.ranges import compact
from rocetune.report.table import PLAIN, Paint, counted, duration, markdown_table, table, to_json

_SHADES = {
    "confirmed": "good",
    "unchanged": "dim",
    "skipped": "dim",
    "reverted": "warn",
    "reverting": "warn",
    "failed": "bad",
    "unreachable": "bad",
    "unknown": "bad",
    "new": "good",
    "old": "dim",
    "partly new": "warn",
}


def summary(report: ApplyReport, undoing: str = "") -> str:
    """One line: the verdict, how much, how long, how healthy. ``undoing`` names the run that was to be given back."""
    devices = counted(len(report.diff.devices), "device")
    health = _health(report)
    changes = settings(report.diff)
    took = f"in {duration(report.seconds)}"
    if report.verdict == "unchanged":
        state = f"already as before run {undoing}" if undoing else "already as planned"
        return f"no changes: {devices} {state}{health}, {took}."
    if report.verdict == "applied" and undoing:
        what = f"{counted(changes, 'setting')} of run {undoing}"
        return f"given back: {what} on {devices}{health}, {took} (run {report.run})."
    if report.verdict == "applied":
        return f"applied: {counted(changes, 'setting')} on {devices}{health}, {took} (run {report.run})."
    if report.verdict == "rolled back":
        return f"rolled back: {_standings_words(report.standings) or devices} {took}{health} (run {report.run})."
    if report.verdict == "refused":
        return f"refused: nothing was changed ({counted(len(_problems(report)), 'reason')})."
    return f"mixed: {_standings_words(report.standings)} {took}{health}; needs a person (run {report.run})."


def _health(report: ApplyReport) -> str:
    """What the doctor said afterwards, as part of a sentence; "" where it was not asked."""
    doctor = report.doctor
    if doctor is None:
        return ""
    blind = [item for item in doctor.findings if item.verdict == "unknown"]
    named = f"{counted(len({item.id for item in blind}), 'check')}: {unjudged(doctor)}" if blind else ""
    if doctor.verdict == "healthy" and any(item.severity != "info" for item in blind):
        return f", healthy as far as it could be judged (without {named})"
    if doctor.verdict != "unknown":
        return f", {doctor.verdict}"
    missing = f"{counted(len(doctor.unreachable), 'device')} not reached" if doctor.unreachable else ""
    reasons = ", ".join(filter(None, (named, missing)))
    return f"; health could not be fully judged ({reasons})"


def _standings_words(standings: Sequence[DeviceStanding]) -> str:
    found: dict[str, list[str]] = {}
    for item in standings:
        found.setdefault(item.standing, []).append(item.device)
    return ", ".join(f"{compact(names, limit=4)} {standing}" for standing, names in found.items())


def next_commands(report: ApplyReport, undoing: str = "") -> tuple[str, ...]:
    """What to type next, most useful first; arguments of ``rocetune``."""
    if undoing and report.verdict in ("applied", "unchanged"):
        return ("diff",)
    if report.verdict == "mixed":
        return (f"apply --resume {report.run}", f"rollback {report.run}")
    if report.verdict == "refused":
        return ()
    if report.doctor and report.doctor.verdict != "healthy":
        return ("doctor",) if report.verdict == "unchanged" else ("doctor", f"rollback {report.run}")
    if report.verdict == "rolled back":
        return ("diff",)
    return () if report.verdict == "unchanged" else (f"rollback {report.run}",)


def apply_text(report: ApplyReport, paint: Paint = PLAIN) -> str:
    """Waves, standings and problems; the caller prints findings, next command and :func:`summary` after it."""
    blocks = []
    if report.results:
        rows = [
            [phase, wave, names, paint(_SHADES.get(outcome, ""), outcome), took, detail]
            for phase, wave, names, outcome, took, detail in wave_rows(report.results)
        ]
        blocks.append(table(rows, ["phase", "wave", "devices", "outcome", "time", ""], indent="  ", right=[4]))
    if report.standings and report.verdict in ("mixed", "rolled back"):
        rows = [
            [names, paint(_SHADES.get(standing, "bad"), standing), detail]
            for names, standing, detail in standing_rows(report.standings)
        ]
        blocks.append(table(rows, ["devices", "stand", ""], indent="  "))
    blocks += [paint("bad", "! ") + problem.replace("\n", "\n  ") for problem in _problems(report)]
    return "\n\n".join(blocks)


def _problems(report: ApplyReport) -> tuple[str, ...]:
    """Problems, those that several devices share said once."""
    names = {item.device for item in report.diff.devices}
    found: dict[tuple[str, bool], list[str]] = {}
    for problem in report.problems:
        name, colon, text = problem.partition(": ")
        own = bool(colon) and name in names
        found.setdefault((text if own else problem, own), []).append(name)
    return tuple(f"{compact(where)}: {text}" if own else text for (text, own), where in found.items())


def wave_rows(results: Sequence[PushResult]) -> list[tuple[str, str, str, str, str, str]]:
    """One row per phase, wave and outcome, in the order they happened. The time is the slowest device's."""
    found: dict[tuple[Phase, bool, str, str, str], list[PushResult]] = {}
    for item in results:
        found.setdefault((item.phase, item.removal, item.wave, item.outcome, item.detail), []).append(item)
    return [
        (
            PHASE_WORDS[phase] + (" (removal)" if removal else ""),
            wave,
            compact(item.device for item in same),
            outcome,
            duration(max(item.seconds for item in same)),
            detail.splitlines()[0] if detail else "",
        )
        for (phase, removal, wave, outcome, detail), same in found.items()
    ]


def standing_rows(standings: Sequence[DeviceStanding]) -> list[tuple[str, str, str]]:
    """Devices that stand alike in one row, in the order they came."""
    found: dict[tuple[str, str], list[str]] = {}
    for item in standings:
        found.setdefault((item.standing, standing_detail(item)), []).append(item.device)
    return [(compact(names), standing, detail) for (standing, detail), names in found.items()]


def standing_detail(item: DeviceStanding) -> str:
    """For a device on its way back, the clock time by which it is there."""
    if item.until is None:
        return item.detail
    at = time.strftime("%H:%M:%S", time.localtime(item.until))
    return f"back to the old configuration by {at}" + (f"; {item.detail}" if item.detail else "")


def apply_markdown(report: ApplyReport, undoing: str = "") -> str:
    """The same for a change record."""
    blocks = [f"**rocetune {'rollback' if undoing else 'apply'}**: {summary(report, undoing)}"]
    rows = [list(row) for row in wave_rows(report.results)]
    if rows:
        blocks.append(markdown_table(rows, ["phase", "wave", "devices", "outcome", "time", "detail"]))
    standings = [list(row) for row in standing_rows(report.standings)]
    if standings:
        blocks.append(markdown_table(standings, ["devices", "stand", "detail"]))
    blocks += [f"- {problem}" for problem in report.problems]
    return "\n\n".join(blocks) + "\n"


def apply_document(report: ApplyReport, undoing: str = "") -> encode.Json:
    """The report as one JSON object; see docs/json.md."""
    return {
        "format": "rocetune.apply/1",
        "run": report.run,
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "seconds": round(report.seconds, 3),
        "undoing": undoing or None,
        "summary": summary(report, undoing),
        "diff": {"changed": report.diff.changed, "summary": diff_summary(report.diff)},
        "results": [
            {
                "device": item.device,
                "phase": item.phase.name.lower(),
                "removal": item.removal,
                "wave": item.wave,
                "outcome": item.outcome,
                "detail": item.detail,
                "seconds": round(item.seconds, 3),
            }
            for item in report.results
        ],
        "devices": [
            {"device": item.device, "standing": item.standing, "until": item.until, "detail": item.detail}
            for item in report.standings
        ],
        "problems": list(report.problems),
        "health": report.doctor.verdict if report.doctor else None,
        "findings": [
            {
                "id": item.id,
                "severity": item.severity,
                "verdict": item.verdict,
                "device": item.device,
                "port": item.port,
            }
            for item in (report.doctor.findings if report.doctor else ())
        ],
        "next": list(next_commands(report, undoing)),
    }


def apply_json(report: ApplyReport, undoing: str = "") -> str:
    """:func:`apply_document` as text."""
    return to_json(apply_document(report, undoing))

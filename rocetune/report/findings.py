"""The doctor's report: text for people, markdown for tickets, JSON for programs, JUnit XML for CI.

JSON, stable; fields may be added, never renamed::

    {"format": "rocetune.doctor/1", "verdict": "healthy|unhealthy|unknown", "summary": "...",
     "devices": 6, "passed": 812, "skipped": 0, "unreachable": ["gpu04"], "seconds": 4.2, "one_sample": false,
     "findings": [{"id": "PFC-002", "severity": "critical|error|warning|info", "verdict": "fail|unknown",
                   "device": "leaf1", "port": "Ethernet1/1"|null, "priority": 3|null,
                   "title": "...", "expected": "...", "observed": "...",
                   "evidence": {"command": "...", "line": "..."}|null,
                   "fix": ["..."], "apply": "rocetune --limit leaf1 apply"|null, "reason": "...",
                   "peer": "gpu01 rail0"|null, "folded": 1,
                   "consequences": [{"id": "PFC-003", "severity": "...", "verdict": "...",
                                     "device": "...", "port": "..."|null, "priority": 3|null}]}]}

Findings come worst first. ``reason`` says why a failure matters, or why something is unknown. ``fix`` is what a person
types or, where no command is known, one sentence; ``apply`` is the push that mends the same, where one does.

Commands of ours inside a fix get the reader's own options (site, lab) from ``again``, the same function that makes the
``Next:`` line: a fix typed as it stands never reaches another rack, nor more than its device.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rocetune.model.finding import OURS, Finding
from rocetune.model.outcome import DoctorReport
from rocetune.report.ranges import compact
from rocetune.report.table import PLAIN, Paint, cell, counted, duration, fenced, markdown_table, to_json

_SHADES = {"critical": "bad", "error": "bad", "warning": "warn", "info": "dim"}
_VERDICT_SHADES = {"healthy": "good", "unhealthy": "bad", "unknown": "warn"}
_LABEL = 10  # cells of the left column in text
_FIXES = 3  # places whose commands are all printed when many share one finding
_LONG_LINES, _LONG_CHARS = 3, 200  # a fix beyond these is offered as one push first
_REASONS = 3  # different reasons of one unknown check that are printed without -v
_NAMED = 4  # checks named in the summary
_DEVICES = 6  # devices named before "and N more"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

Group = tuple[Finding, ...]
Again = Callable[[str], str]
"""Arguments of ``rocetune`` to the command line with the options that the reader gave."""


def plain(arguments: str) -> str:
    """A command line without options of the reader."""
    return f"{OURS}{arguments}"


def summary(report: DoctorReport) -> str:
    """One line: the verdict, what it stands on, and how long it took. Counts are of findings as they are listed."""
    failed, blind = list(_failures(report.findings)), list(_unknowns(report.findings))
    by_severity = Counter(group[0].severity for group in failed)
    words = [f"{by_severity[name]} {name}" for name in ("critical", "error", "warning", "info") if by_severity[name]]
    parts = ["nothing fails"]
    if failed:
        parts = [f"{counted(len(failed), 'finding')} ({', '.join(words)}) on {_extent(failed)}"]
    if blind:
        parts.append(f"{counted(len(blind), 'check')} ({unjudged(report)}) could not be judged on {_extent(blind)}")
    parts.append(f"{report.passed} passed")
    if report.unreachable:
        parts.append(f"{counted(len(report.unreachable), 'device')} not reached")
    took = f" in {duration(report.seconds)}" if report.seconds else ""
    return f"{report.verdict}: {'; '.join(parts)} on {counted(report.devices, 'device')}{took}."


def unjudged(report: DoctorReport) -> str:
    """Checks that could not be judged, the gravest first: ``DRF-001, FW-007 and 2 more``; "" when all were."""
    worst = sorted(_unknowns(report.findings), key=lambda group: list(_SHADES).index(group[0].severity))
    names = list(dict.fromkeys(group[0].id for group in worst))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _extent(groups: Sequence[Group]) -> str:
    """``4 ports of 2 devices``; without ports, the devices alone."""
    items = [item for group in groups for item in group]
    ports = {(item.device, item.port) for item in items if item.port is not None}
    devices = counted(len({item.device for item in items}), "device")
    return f"{counted(len(ports), 'port')} of {devices}" if ports else devices


def next_command(report: DoctorReport) -> str:
    """Arguments of ``rocetune`` that help most now, or "" when there is nothing to do."""
    if report.unreachable:
        return f"--limit {','.join(report.unreachable[:_DEVICES])} doctor"
    failed = [item for item in report.findings if item.verdict == "fail" and item.severity != "info"]
    drifted = {item.device for root in failed for item in _family(root) if item.id == "DRF-001"}
    devices = sorted(drifted) or sorted({item.device for item in failed})
    if devices:
        return f"--limit {','.join(devices[:_DEVICES])} {'diff' if drifted else 'doctor'}"
    if report.one_sample and report.verdict != "healthy":
        return "doctor --interval 5"
    return ""


# ---- text ------------------------------------------------------------------------------------------------------------


def findings_text(
    report: DoctorReport,
    paint: Paint = PLAIN,
    verbose: bool = False,
    again: Again = plain,
) -> str:
    """Failures in full, worst first; what could not be judged in short; the next command and the summary last.

    ``again`` makes a command line of the arguments, with the site the user gave.
    """
    blocks = [_failure(group, paint, verbose, again) for group in _failures(report.findings)]
    blocks += [_unknown_block(report, paint, verbose), _unreached(report, paint)]
    if report.one_sample:
        blocks.append("Counters were read once only: rates, drops and pauses are not judged.")
    blocks.append(_skipped(report))
    tail = [f"Next: {again(command)}"] if (command := next_command(report)) else []
    word, rest = summary(report).split(":", 1)
    tail.append(f"{paint(_VERDICT_SHADES[report.verdict], word)}:{rest}")
    blocks.append("\n".join(tail))
    return "\n\n".join(block for block in blocks if block)


def _failure(group: Group, paint: Paint, verbose: bool, again: Again) -> str:
    first = group[0]
    head = paint(_SHADES[first.severity], f"{first.severity:<{_LABEL}}") + f"{paint('bold', first.id)}  {first.title}"
    rows = [
        ("where", _where(group)),
        ("expected", first.expected),
        ("observed", first.observed),
        ("evidence", _evidence_words(first)),
        ("why", first.reason),
        ("explains", _consequence_words(group)),
    ]
    lines = [head] + [f"  {label:<{_LABEL}}{text}" for label, text in rows if text]
    for index, command in enumerate(_fixes(group, verbose, again)):
        lines.append(f"  {'fix' if index == 0 else '':<{_LABEL}}{command}")
    return "\n".join(lines)


def _fixes(group: Group, verbose: bool, again: Again) -> list[str]:
    """Commands as they are typed; a long story is offered as one push first."""
    if own := _own_commands(group, again):
        return own
    sets: dict[tuple[str, ...], list[Finding]] = {}
    for item in group:
        if item.fix:
            sets.setdefault(_spoken(item.fix, again), []).append(item)
    alone = len(sets) == 1 and len({item.device for item in group}) == 1
    by_hand = [line for fix in sets for line in fix] if alone else _by_place(sets, verbose)
    if not all(item.apply for item in group) or not _long(sets):
        return by_hand
    devices = ",".join(dict.fromkeys(item.device for item in group))
    return [again(f"--limit {devices} apply"), "or by hand:", *by_hand]


def _by_place(sets: Mapping[tuple[str, ...], Sequence[Finding]], verbose: bool) -> list[str]:
    """Several places get a heading each; those whose commands are left out are named."""
    if all(len(fix) == 1 and fix[0].endswith(".") for fix in sets):
        return [line for fix in sets for line in fix]  # sentences name what they are about
    shown = list(sets.items()) if verbose else list(sets.items())[:_FIXES]
    lines = [line for fix, items in shown for line in (f"on {_places(items)}:", *fix)]
    left = [item for items in list(sets.values())[len(shown) :] for item in items]
    if left:
        places = f"{counted(len(left), 'more place')}, {_places(left)}"
        lines.append(f"({places}: -v shows the commands, and so does --format json)")
    return lines


def _own_commands(group: Group, again: Again) -> list[str]:
    """Commands of ours that differ in their device alone, with all devices in one; [] when these are others."""
    rests = {
        tuple(line.removeprefix(f"{OURS}--limit {item.device} ").removeprefix(OURS) for line in item.fix)
        for item in group
        if item.fix
    }
    if len(rests) != 1 or not all(line.startswith(OURS) for item in group for line in item.fix):
        return []
    devices = ",".join(dict.fromkeys(item.device for item in group))
    return [again(f"--limit {devices} {rest}") for rest in next(iter(rests))]


def _spoken(fix: Sequence[str], again: Again) -> tuple[str, ...]:
    """A fix with the reader's options in every command of ours."""
    return tuple(again(line.removeprefix(OURS)) if line.startswith(OURS) else line for line in fix)


def _long(sets: Mapping[tuple[str, ...], Sequence[Finding]]) -> bool:
    lines = [line for fix in sets for line in fix]
    return len(lines) > _LONG_LINES or sum(map(len, lines)) > _LONG_CHARS


def _unknown_block(report: DoctorReport, paint: Paint, verbose: bool) -> str:
    groups = list(_unknowns(report.findings))
    if not groups:
        return ""
    lines = ["could not be judged:"]
    for group in groups:
        first = group[0]
        times = f" ({counted(len(group), 'place')})" if len(group) > 1 else ""
        lines.append(f"  {paint(_SHADES[first.severity], f'{first.severity:<8}')}  {first.id}  {first.title}{times}")
        lines += [f"  {'':<{_LABEL}}{line}" for line in _reasons(group, verbose)]
    return "\n".join(lines)


def _reasons(group: Group, verbose: bool) -> list[str]:
    """Every reason with all its places, the most frequent first."""
    found: dict[str, list[Finding]] = {}
    for item in group:
        found.setdefault(item.reason or "not observed", []).append(item)
    ranked = sorted(found.items(), key=lambda pair: -len(pair[1]))
    shown = ranked if verbose else ranked[:_REASONS]
    lines = [f"{_where(tuple(items))}: {_CONTROL.sub(' ', reason)}" for reason, items in shown]
    left = [item for _, items in ranked[len(shown) :] for item in items]
    return [*lines, f"{_places(left)}: other reasons, -v shows them"] if left else lines


def _skipped(report: DoctorReport) -> str:
    if not report.skipped:
        return ""
    return f"{counted(report.skipped, 'link check')} skipped: the other end is outside --limit (or not in the bundle)."


def _unreached(report: DoctorReport, paint: Paint) -> str:
    return f"{paint('bad', 'not reached')}: {compact(report.unreachable)}" if report.unreachable else ""


def _place(item: Finding) -> str:
    return item.device if item.port is None else f"{item.device} {item.port}"


def _where(group: Group) -> str:
    """Places of a group, ports of one device joined, with the priority when it is one."""
    alone = len(group) == 1 and group[0].peer
    place = f"{_place(group[0])} (peer {group[0].peer})" if alone else _places(group)
    priorities = {item.priority for item in group}
    number = next(iter(priorities)) if len(priorities) == 1 else None
    return place if number is None else f"{place}, priority {number}"


def _places(group: Sequence[Finding]) -> str:
    ports: dict[str, list[str]] = {}
    for item in group:
        ports.setdefault(item.device, [])
        if item.port is not None:
            ports[item.device].append(item.port)
    alike: dict[str, list[str]] = {}
    for device, names in ports.items():
        alike.setdefault(compact(names), []).append(device)
    parts = [f"{compact(devices)} {names}".rstrip() for names, devices in alike.items()]
    if len(parts) > _DEVICES:
        left = sum(len(devices) for devices in list(alike.values())[_DEVICES:])
        parts = [*parts[:_DEVICES], f"and {counted(left, 'device')} more"]
    return "; ".join(parts)


def _evidence_words(item: Finding) -> str:
    """One line, without control characters: a device's answer must not steer the terminal."""
    if item.evidence is None:
        return ""
    return _CONTROL.sub(" ", f"{item.evidence.command}: {item.evidence.line.strip()}")


def _consequence_words(group: Group) -> str:
    """``PFC-003 gpu01 rail0; DRF-001 leaf1``."""
    by_id: dict[str, list[Finding]] = {}
    for root in group:
        for item in root.consequences:
            by_id.setdefault(item.id, []).append(item)
    return "; ".join(f"{identity} {_places(items)}" for identity, items in sorted(by_id.items()))


# ---- grouping --------------------------------------------------------------------------------------------------------


def _failures(findings: Sequence[Finding]) -> Iterator[Group]:
    """Failing findings that say the same of several places, in order of first appearance."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for item in findings:
        if item.verdict == "fail":
            key = (item.id, item.severity, item.expected, item.observed, item.priority)
            groups.setdefault(key, []).append(item)
    yield from (tuple(group) for group in groups.values())


def _unknowns(findings: Sequence[Finding]) -> Iterator[Group]:
    """Unknown findings by check and severity."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for item in findings:
        if item.verdict == "unknown":
            groups.setdefault((item.id, item.severity), []).append(item)
    yield from (tuple(group) for group in groups.values())


def _family(finding: Finding) -> Iterator[Finding]:
    yield finding
    for item in finding.consequences:
        yield from _family(item)


# ---- JSON, markdown --------------------------------------------------------------------------------------------------


def findings_json(report: DoctorReport, again: Again = plain) -> str:
    """The document described at the top of this module."""
    return to_json(findings_document(report, again))


def findings_document(report: DoctorReport, again: Again = plain) -> dict[str, Any]:
    """The same as plain data, for reports that contain it."""
    return {
        "format": "rocetune.doctor/1",
        "verdict": report.verdict,
        "summary": summary(report),
        "devices": report.devices,
        "passed": report.passed,
        "skipped": report.skipped,
        "unreachable": list(report.unreachable),
        "seconds": round(report.seconds, 3),
        "one_sample": report.one_sample,
        "findings": [_finding_json(item, again) for item in report.findings],
    }


def _finding_json(item: Finding, again: Again) -> dict[str, Any]:
    evidence = item.evidence
    return {
        "id": item.id,
        "severity": item.severity,
        "verdict": item.verdict,
        "device": item.device,
        "port": item.port,
        "priority": item.priority,
        "title": item.title,
        "expected": item.expected,
        "observed": item.observed,
        "evidence": None if evidence is None else {"command": evidence.command, "line": evidence.line},
        "fix": list(_spoken(item.fix, again)),
        "apply": again(f"--limit {item.device} apply") if item.apply else None,
        "reason": item.reason,
        "peer": item.peer,
        "folded": item.folded,
        "consequences": [
            {name: getattr(other, name) for name in ("id", "severity", "verdict", "device", "port", "priority")}
            for other in item.consequences
        ],
    }


def findings_markdown(report: DoctorReport, again: Again = plain) -> str:
    """A heading, a table of failures with their evidence and fixes below, and a table of unknowns."""
    blocks = [f"## Doctor: {report.verdict}", cell(summary(report))]
    failures = list(_failures(report.findings))
    if failures:
        rows = [
            (group[0].severity, group[0].id, group[0].title, _where(group), group[0].expected, group[0].observed)
            for group in failures
        ]
        blocks.append(markdown_table(rows, ("severity", "check", "what", "where", "expected", "observed")))
        blocks += [_markdown_failure(group, again) for group in failures]
    unknowns = list(_unknowns(report.findings))
    if unknowns:
        rows_ = [
            (item[0].severity, item[0].id, item[0].title, _where(item), "\n".join(_reasons(item, verbose=True)))
            for item in unknowns
        ]
        blocks.append("### Could not be judged")
        blocks.append(markdown_table(rows_, ("severity", "check", "what", "where", "why")))
    if report.unreachable:
        blocks.append(f"Not reached: {cell(compact(report.unreachable))}")
    if report.skipped:
        blocks.append(_skipped(report))
    return "\n\n".join(blocks) + "\n"


def _markdown_failure(group: Group, again: Again) -> str:
    first = group[0]
    parts = [f"### {first.id}: {cell(_where(group))}"]
    if first.reason:
        parts.append(f"Why it matters: {cell(first.reason)}.")
    explains = _consequence_words(group)
    if explains:
        parts.append(f"Explains: {cell(explains)}.")
    if first.evidence is not None:
        parts.append("Evidence:\n\n" + fenced(f"{first.evidence.command}\n{first.evidence.line}"))
    fixes = _fixes(group, True, again)
    if fixes:
        parts.append("Fix:\n\n" + fenced("\n".join(fixes)))
    return "\n\n".join(parts)


def findings_junit(report: DoctorReport, again: Again = plain) -> str:
    """JUnit XML for CI (see :mod:`rocetune.report.junit`)."""
    from rocetune.report.junit import junit

    return junit(report, lambda item: _spoken(item.fix, again))

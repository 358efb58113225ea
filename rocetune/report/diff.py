"""What would change, as text for people, markdown for pull requests and JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence

from rocetune.model.change import Change, Impact, Key, Step
from rocetune.model.outcome import DiffReport
from rocetune.model.plan import DevicePlan
from rocetune.report import encode
from rocetune.report.changes import PHASE_WORDS, Group, Line, groups, impact_words, roundings, sections, settings_in
from rocetune.report.overview import Row
from rocetune.report.overview import rows as rows_of
from rocetune.report.ranges import compact
from rocetune.report.table import PLAIN, Paint, cell, counted, fenced, markdown_table, table, to_json

_SIGNS = {"add": "+", "change": "~", "remove": "-"}
_KINDS = {"add": "add", "change": "warn", "remove": "remove"}


def summary(report: DiffReport) -> str:
    """One line: how much, on how many devices, how bad."""
    changed = [item for item in report.devices if item.comparison.changes]
    adopted = sum(settings_in(item.comparison.adopted) for item in report.devices)
    refused = sum(len(item.comparison.refused) for item in report.devices)
    parts = []
    if changed:
        words = f"{counted(settings(report), 'setting')} to change on {counted(len(changed), 'device')}"
        parts.append(f"{words}, up to {impact_words(report_impact(report))}")
    elif not report.failed:
        parts.append(f"no changes on {counted(len(report.devices), 'device')}")
    if adopted:
        parts.append(f"{counted(adopted, 'setting')} already right")
    if refused:
        parts.append(f"{refused} refused by globals: refuse")
    if report.failed:
        parts.append(f"{counted(len(report.failed), 'device')} could not be read")
    return "; ".join(parts) + "."


def settings(report: DiffReport) -> int:
    """How many settings would change, all devices together."""
    return sum(settings_in(change.key for change in item.comparison.changes) for item in report.devices)


def report_impact(report: DiffReport) -> Impact:
    """The worst impact of any change."""
    return max((change.impact for item in report.devices for change in item.comparison.changes), default=Impact.NONE)


def apply_commands(report: DiffReport) -> tuple[tuple[str, str], ...]:
    """Commands of ``rocetune`` that would push this diff, each with the condition it is for; () when none would."""
    if not any(item.comparison.changes for item in report.devices):
        return ()
    if any(entry.blocking for item in report.devices for entry in item.unsupported):
        return ()
    worst = report_impact(report)
    if worst <= Impact.MARKING:
        return (("apply", ""),)
    feels = f"up to {impact_words(worst)}"
    limit = f"apply --max-impact {worst.name.lower()}"
    if worst > Impact.LINK_BOUNCE:
        return ((limit, f"{feels}: drain the device first"),)
    return (
        ("apply --bring-up", f"if the rack is not in service: {feels}"),
        (limit, f"if it is in service, and drained: {feels}"),
    )


def brief_text(report: DiffReport, paint: Paint = PLAIN) -> str:
    """What would change, one line per device or group of equal devices; the summary last."""
    rows = []
    for group in groups(report):
        item = group.first
        number = settings_in(change.key for change in item.comparison.changes)
        worst = dict.fromkeys(
            row.subject for row in rows_of(item.comparison.changes, item.plan) if row.impact == group.impact
        )
        named = ", ".join(list(worst)[:4]) + (" ..." if len(worst) > 4 else "")
        each = " each" if len(group.devices) > 1 else ""
        shade = _shade(group.impact)
        rows.append(
            [compact(group.devices), counted(number, "setting") + each, paint(shade, impact_words(group.impact)), named]
        )
    assumed = len(_assumptions(report))
    blocks = [
        table(rows, ["devices", "", "impact up to", "by"], indent="  "),
        *(f"{paint('bad', item.device)}: could not be read: {item.error}" for item in report.failed),
        *_not_expressed(report),
        f"{counted(assumed, 'assumption')} not confirmed: see the diff." if assumed else "",
        summary(report),
    ]
    return "\n\n".join(block for block in blocks if block)


def diff_text(report: DiffReport, paint: Paint = PLAIN, verbose: bool = False) -> str:
    """The whole report for a terminal or a log, its summary last."""
    blocks = [_group_text(group, paint, verbose) for group in groups(report)]
    blocks += [f"{paint('bad', item.device)}: could not be read: {item.error}" for item in report.failed]
    blocks += [
        *_not_expressed(report),
        _titled("assumed, not confirmed:", _assumptions(report)),
        summary(report),
    ]
    return "\n\n".join(block for block in blocks if block)


def _group_text(group: Group, paint: Paint, verbose: bool) -> str:
    item = group.first
    stale = [change for change in item.comparison.changes if change.op == "remove"]
    wanted = [change for change in item.comparison.changes if change.op != "remove"]
    lines = [paint("bold", _heading(group)), "  " + _counts(group)]
    show = _native_lines if verbose else _setting_lines
    lines += show(wanted, item.plan, paint)
    if stale:
        lines.append(paint("bold", "  on managed ports or named by rocetune, not in the plan: removed after the rest"))
        lines += show(stale, item.plan, paint)
    if item.comparison.refused:
        lines.append(paint("warn", "  refused: device-wide objects that this device keeps (globals: refuse)"))
        lines += show(item.comparison.refused, item.plan, paint)
    lines += _titled("  rounded by the device:", roundings(item.comparison.changes, item.plan), "    ").splitlines()
    lines += _undo_text(item.steps, paint, verbose)
    return "\n".join(lines)


def _heading(group: Group) -> str:
    count = len(group.devices)
    names = compact(group.devices)
    return f"{names}: applies to {counted(count, 'device')}" if count > 1 else names


def _counts(group: Group) -> str:
    item = group.first
    ops: dict[str, set[Key]] = {}
    impacts: dict[Impact, set[Key]] = {}
    for change in item.comparison.changes:
        ops.setdefault(change.op, set()).add(change.key)
        impacts.setdefault(change.impact, set()).add(change.key)
    numbers = {op: settings_in(keys) for op, keys in ops.items()}
    counts = ", ".join(f"{numbers[op]} to {op}" for op in ("add", "change", "remove") if op in numbers)
    counts = f"settings: {counts}" if counts else "nothing to write"
    risk = ", ".join(
        f"{settings_in(keys)} {impact_words(impact)}" for impact, keys in sorted(impacts.items(), reverse=True)
    )
    source = "" if item.facts_source == "device" else ", facts as declared in the inventory"
    adopted = f"; {settings_in(item.comparison.adopted)} already right" if item.comparison.adopted else ""
    return f"{item.platform}{source}: {counts}{adopted}" + (f"\n  impact: {risk}" if risk else "")


def _setting_lines(changes: Sequence[Change], plan: DevicePlan | None, paint: Paint) -> list[str]:
    """The short form: one line per setting, and why what is felt is felt."""
    lines: list[str] = []
    found = rows_of(changes, plan)
    for phase in dict.fromkeys(row.phase for row in found):
        lines.append(f"  phase {int(phase)}: {PHASE_WORDS[phase]}")
        cells = [
            [
                paint(_KINDS[row.op], f"{_SIGNS[row.op]} {row.subject}"),
                _where(row),
                paint(_shade(row.impact), impact_words(row.impact)),
                row.value,
            ]
            for row in found
            if row.phase == phase
        ]
        lines += table(cells, indent="    ").splitlines()
    notes = dict.fromkeys(
        f"    * {impact_words(change.impact)}: {change.note}"
        for change in changes
        if change.note and change.impact >= Impact.BRIEF_LOSS
    )
    return lines + [paint("dim", note) for note in notes]


def _where(row: Row) -> str:
    if row.ports:
        return compact(row.ports) + (f" ({len(row.ports)})" if len(row.ports) > 2 else "")
    if row.touches:
        return f"device, with {len(row.touches)} ports not managed here"
    return "device"


def _native_lines(changes: Sequence[Change], plan: DevicePlan | None, paint: Paint) -> list[str]:
    """The long form: every native key."""
    found = sections(changes, plan)
    lines: list[str] = []
    phase = None
    told: set[str] = set()
    for section in found:
        if section.phase != phase:
            phase = section.phase
            lines.append(f"  phase {int(phase)}: {PHASE_WORDS[phase]}")
        lines.append(f"    {section.place}")
        lines += table([_row(line, paint) for line in section.lines], indent="      ").splitlines()
        lines += [paint("dim", f"      * {note}") for note in section.notes if note not in told]
        told.update(section.notes)
    return lines


def _row(line: Line, paint: Paint) -> list[str]:
    change = line.change
    return [
        paint(_KINDS[change.op], f"{_SIGNS[change.op]} {' / '.join(line.key)}"),
        line.meaning.subject,
        paint(_shade(change.impact), impact_words(change.impact)),
        paint("dim", change.why.rule if change.why else ""),
        f"{line.meaning.old} → {line.meaning.new}",
    ]


def _shade(impact: Impact) -> str:
    return "dim" if impact <= Impact.MARKING else "warn" if impact == Impact.BRIEF_LOSS else "bad"


def _undo_text(steps: Sequence[Step], paint: Paint, verbose: bool) -> list[str]:
    lines = undo_lines(steps)
    if not lines:
        return []
    if not verbose:
        return [paint("dim", f"  undo: {counted(len(lines), 'line')} (-v)")]
    return [paint("bold", "  undo (what a rollback sends):"), *(paint("dim", f"    {line}") for line in lines)]


def undo_lines(steps: Sequence[Step]) -> list[str]:
    """The inverse of all steps, last step first: what a person would type to go back."""
    return [line for step in reversed(steps) for line in step.undo.splitlines() if line.strip()]


def _titled(title: str, lines: Sequence[str], indent: str = "  ") -> str:
    return "\n".join([title, *(indent + line for line in lines)]) if lines else ""


def _not_expressed(report: DiffReport) -> list[str]:
    return [
        _titled("cannot be had here, and forbids a push:", _unsupported(report, blocking=True)),
        _titled("cannot be expressed (left as it is):", _unsupported(report, blocking=False)),
    ]


def _unsupported(report: DiffReport, blocking: bool) -> list[str]:
    found = encode.merged(
        (item.text, _place(device.device, item.where))
        for device in report.devices
        for item in device.unsupported
        if item.blocking == blocking
    )
    return [f"{compact(places, limit=8)}: {text}" for text, places in found.items()]


def _assumptions(report: DiffReport) -> list[str]:
    pairs = [(item, device.device) for device in report.devices for item in device.assumptions]
    found = encode.merged((_with_remedy(item.text, item.remedy), _place(name, item.where)) for item, name in pairs)
    return [f"{compact(places, limit=8)}: {text}" for text, places in found.items()]


def _with_remedy(text: str, remedy: str) -> str:
    return f"{text} ({remedy})" if remedy else text


def _place(device: str, where: str) -> str:
    return device if where in ("", device) or where.startswith(device + ":") else f"{device} {where}"


def diff_markdown(report: DiffReport) -> str:
    """The report for a pull request: a summary, one table per group, the undo folded away."""
    blocks = [f"**rocetune diff**: {summary(report)}"]
    blocks += [_group_markdown(group) for group in groups(report)]
    if report.failed:
        rows = [[item.device, item.error or ""] for item in report.failed]
        blocks.append("### Could not be read\n\n" + markdown_table(rows, ["device", "reason"]))
    for title, lines in (
        ("Forbids a push", _unsupported(report, blocking=True)),
        ("Cannot be expressed", _unsupported(report, blocking=False)),
        ("Assumed", _assumptions(report)),
    ):
        if lines:
            blocks.append(f"### {title}\n\n" + "\n".join(f"- {cell(line)}" for line in lines))
    return "\n\n".join(blocks) + "\n"


def _group_markdown(group: Group) -> str:
    item = group.first
    blocks = [f"### {_heading(group)}", _counts(group).replace("\n  ", "  \n")]
    rows = _markdown_rows(item.comparison.changes, group)
    if rows:
        blocks.append(markdown_table(rows, ["", "phase", "where", "key", "what", "before → after", "impact", "why"]))
    refused = _markdown_rows(item.comparison.refused, group)
    if refused:
        head = ["", "phase", "where", "key", "what", "before → after", "impact", "why"]
        blocks.append("Refused (`globals: refuse`):\n\n" + markdown_table(refused, head))
    notes = roundings(item.comparison.changes, item.plan)
    if notes:
        blocks.append("Rounded by the device:\n\n" + "\n".join(f"- {cell(note)}" for note in notes))
    undo = undo_lines(item.steps)
    if undo:
        blocks.append(
            f"<details><summary>Undo ({counted(len(undo), 'line')})</summary>\n\n{_fence(undo)}\n\n</details>"
        )
    return "\n\n".join(blocks)


def _fence(lines: Sequence[str]) -> str:
    return fenced("\n".join(lines))


def _markdown_rows(changes: Sequence[Change], group: Group) -> list[list[str]]:
    ordered = sections([change for change in changes if change.op != "remove"], group.first.plan)
    stale = sections([change for change in changes if change.op == "remove"], group.first.plan)
    rows = []
    for section in (*ordered, *stale):
        for line in section.lines:
            change = line.change
            risk = impact_words(change.impact) + (f": {change.note}" if change.note else "")
            rows.append(
                [
                    _SIGNS[change.op] + (" not in the plan" if change.op == "remove" else ""),
                    f"{int(section.phase)} {PHASE_WORDS[section.phase]}",
                    section.place,
                    " / ".join(line.key),
                    line.meaning.subject,
                    f"{line.meaning.old} → {line.meaning.new}",
                    risk,
                    change.why.rule if change.why else "",
                ]
            )
    return rows


def diff_document(report: DiffReport) -> encode.Json:
    """The report as one JSON object; see docs/json.md."""
    found = groups(report)
    member = {name: index for index, group in enumerate(found) for name in group.devices}
    worst = max((group.impact for group in found), default=Impact.NONE)
    return {
        "format": "rocetune.diff/1",
        "live": report.live,
        "changed": report.changed,
        "summary": summary(report),
        "impact": worst.name.lower(),
        "groups": [_group_json(group) for group in found],
        "devices": [
            {
                "device": item.device,
                "platform": item.platform,
                "group": member.get(item.device),
                "facts": item.facts_source,
                "adopted": len(item.comparison.adopted),
                "error": item.error,
                "unsupported": [encode.unsupported_json(entry) for entry in item.unsupported],
                "assumptions": [encode.assumption_json(entry) for entry in item.assumptions],
            }
            for item in report.devices
        ],
    }


def _group_json(group: Group) -> encode.Json:
    item = group.first
    return {
        "devices": list(group.devices),
        "platform": item.platform,
        "impact": group.impact.name.lower(),
        "changes": [encode.change_json(change, item.plan) for change in item.comparison.changes],
        "refused": [encode.change_json(change, item.plan) for change in item.comparison.refused],
        "steps": [encode.step_json(step) for step in item.steps],
        "undo": undo_lines(item.steps),
        "native": item.native,
    }


def diff_json(report: DiffReport) -> str:
    """:func:`diff_document` as text."""
    return to_json(diff_document(report))

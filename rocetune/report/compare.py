"""``rocetune plan --compare``: the plan's marking curves beside vendor presets, for the same ports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocetune.model.units import show_speed
from rocetune.planner.compare import PLAN, Compared, Line
from rocetune.report import encode, side_by_side
from rocetune.report.ranges import compact
from rocetune.report.side_by_side import Start
from rocetune.report.sizes import show_time
from rocetune.report.table import PLAIN, Paint, counted, markdown_table, table, to_json

_LEGEND = (side_by_side.LEGEND, side_by_side.ORDER_LEGEND, side_by_side.NO_SCORE)


def compare_text(found: Sequence[Compared], paint: Paint = PLAIN, *, verbose: bool = False) -> str:
    """Per class and setting: figures, then what to expect in words; ``verbose`` of each curve by itself."""
    if not found:
        return "no queue of these devices marks ECN: nothing to compare."
    blocks = []
    for item in found:
        rows, start = side_by_side.rows(item.lines, item.speed_mbps, start_of(item)), start_of(item)
        blocks.append(f"{paint('bold', item.setting)}  {_about(item)}\n{table(rows, side_by_side.HEAD, indent='  ')}")
        blocks += side_by_side.words_text(item.lines, start, every=verbose, paint=paint)
    return "\n\n".join([*blocks, *_basis(found), *_LEGEND])


def compare_markdown(found: Sequence[Compared], *, verbose: bool = False) -> str:
    """The same for a pull request."""
    blocks = []
    for item in found:
        rows, start = side_by_side.rows(item.lines, item.speed_mbps, start_of(item)), start_of(item)
        blocks += [f"### {item.setting}", _about(item) + ".", markdown_table(rows, side_by_side.HEAD)]
        blocks += side_by_side.words_markdown(item.lines, start, every=verbose)
    return "\n\n".join([*blocks, *_basis(found, "- "), *_LEGEND]) + "\n"


def compare_json(found: Sequence[Compared]) -> str:
    """``rocetune.compare/1``, see docs/json.md."""
    return to_json({"format": "rocetune.compare/1", "settings": [_json(item) for item in found]})


def start_of(item: Compared) -> Start:
    """Where PFC starts on the ports of a setting."""
    return Start(item.basis.strict_bytes, item.basis.incast_bytes)


def _about(item: Compared) -> str:
    ports = f"{counted(item.ports, 'port')} of {compact(item.devices, limit=6)}"
    return f"class {item.class_name}, priority {item.priority}, {show_speed(item.speed_mbps)}, {ports}"


def _basis(found: Sequence[Compared], bullet: str = "") -> list[str]:
    """What the predictions rest on, said once where it is the same everywhere; with ``bullet`` as Markdown lists."""
    lines = []
    for item in found:
        basis, why = item.basis, item.basis.flows_why
        senders = f"{counted(basis.flows, 'sender')} on one port" + (f" ({why})" if why else "")
        parameters = (
            "DCQCN is off: predicted as if it ran with the firmware's numbers"
            if basis.dcqcn == "off"
            else f"DCQCN parameters: {basis.dcqcn}"
        )
        lines.append(f"{bullet}{item.setting}: {senders}, round trip {show_time(basis.rtt_us)}; {parameters}.")
    assumed = dict.fromkeys(text for item in found for text in item.assumed)
    return [
        "\n".join(lines),
        *([_listed("assumed, not confirmed:", assumed, bullet)] if assumed else []),
    ]


def _listed(heading: str, lines: Iterable[str], bullet: str) -> str:
    gap = "\n\n" if bullet else "\n"  # Markdown ends a paragraph before its list
    return heading + gap + "\n".join(f"{bullet or '  '}{line}" for line in lines)


def _json(item: Compared) -> encode.Json:
    basis = item.basis
    return {
        "setting": item.setting,
        "class": item.class_name,
        "priority": item.priority,
        "speed_mbps": item.speed_mbps,
        "ports": item.ports,
        "devices": list(item.devices),
        "rtt_us": basis.rtt_us,
        "flows": basis.flows,
        "flows_why": basis.flows_why or None,
        "strict_bytes": None if basis.strict_bytes is None else round(basis.strict_bytes),
        "incast_bytes": None if basis.incast_bytes is None else round(basis.incast_bytes),
        "dcqcn": basis.dcqcn,
        "assumed": list(item.assumed),
        "curves": [_line_json(line, item.speed_mbps, start_of(item)) for line in item.lines],
    }


def _line_json(line: Line, speed_mbps: int, start: Start) -> encode.Json:
    why = encode.why_json(line.why) if line.why else None
    return {**side_by_side.line_json(line, speed_mbps, start, why), "planned": line.name == PLAN}

"""``rocetune plan --compare``: the plan's marking curves beside vendor presets, for the same ports."""

from __future__ import annotations

from collections.abc import Sequence

from rocetune.model.units import bytes_to_us, show_bytes, show_speed
from rocetune.planner.compare import PLAN, Compared, Line
from rocetune.report import encode
from rocetune.report.ranges import compact
from rocetune.report.table import PLAIN, Paint, counted, markdown_table, table, to_json

_HEAD = ("curve", "kmin", "kmax", "pmax", "p*", "q*", "CNPs")
_WORDS = ("active_bound", "goodput", "bystander", "burst", "pause")
_LEGEND = (
    "p*: share of packets marked once the senders have settled (DCQCN fluid model); q*: the queue that stands then; "
    "CNPs: sent per second by the receiving port.",
    "No single score: what helps goodput costs the bystander, a flow that shares the ingress without being the cause.",
)


def compare_text(found: Sequence[Compared], paint: Paint = PLAIN) -> str:
    """Per class and setting: figures, then what to expect of each curve in words."""
    if not found:
        return "no queue of these devices marks ECN: nothing to compare."
    blocks = []
    for item in found:
        heading = f"{paint('bold', item.setting)}  {_about(item)}"
        blocks.append(f"{heading}\n{table(_rows(item), _HEAD, indent='  ')}")
        blocks += [_expected(line, paint) for line in item.lines]
    return "\n\n".join([*blocks, *_basis(found), *_LEGEND])


def compare_markdown(found: Sequence[Compared]) -> str:
    """The same for a pull request."""
    blocks = []
    for item in found:
        words = [[line.name, *(getattr(line.outlook, name) for name in _WORDS)] for line in item.lines if line.outlook]
        blocks += [f"### {item.setting}", _about(item) + ".", markdown_table(_rows(item), _HEAD)]
        blocks.append(markdown_table(words, ("curve", *map(_title, _WORDS))))
        blocks += [f"{line.name}: {line.note}" for line in item.lines if line.note]
    return "\n\n".join([*blocks, *_basis(found), *_LEGEND]) + "\n"


def compare_json(found: Sequence[Compared]) -> str:
    """``rocetune.compare/1``, see docs/json.md."""
    return to_json({"format": "rocetune.compare/1", "settings": [_json(item) for item in found]})


def _about(item: Compared) -> str:
    ports = f"{counted(item.ports, 'port')} of {compact(item.devices, limit=6)}"
    return f"class {item.class_name}, priority {item.priority}, {show_speed(item.speed_mbps)}, {ports}"


def _basis(found: Sequence[Compared]) -> list[str]:
    """What the predictions rest on, said once where it is the same everywhere."""
    lines = []
    for item in found:
        basis = item.basis
        senders = f"{counted(basis.flows, 'sender')} on one port, round trip {basis.rtt_us:g} µs"
        parameters = (
            "DCQCN is off: predicted as if it ran with the firmware's numbers"
            if basis.dcqcn == "off"
            else (f"DCQCN parameters: {basis.dcqcn}")
        )
        lines.append(f"{item.setting}: {senders}; {parameters}.")
    assumed = dict.fromkeys(text for item in found for text in item.assumed)
    return [
        "\n".join(lines),
        *(["assumed, not confirmed:\n" + "\n".join(f"  {text}" for text in assumed)] if assumed else []),
    ]


def _rows(item: Compared) -> list[list[str]]:
    return [_row(line, item.speed_mbps) for line in item.lines]


def _row(line: Line, speed_mbps: int) -> list[str]:
    seen = line.outlook
    if line.kmin_bytes is None or line.kmax_bytes is None or seen is None:
        return [line.name, *["-"] * 6]
    pmax = "-" if line.pmax_percent is None else f"{line.pmax_percent:g} %"
    queue = "beyond kmax" if seen.q_star_bytes is None else _size(round(seen.q_star_bytes), speed_mbps)
    figures = [f"{seen.p_star * 100:.3g} %", queue, f"{seen.cnp_per_s:,.0f}/s"]
    return [line.name, _size(line.kmin_bytes, speed_mbps), _size(line.kmax_bytes, speed_mbps), pmax, *figures]


def _expected(line: Line, paint: Paint) -> str:
    """What to expect of one curve, a line for each kind of traffic."""
    if line.outlook is None:
        return f"  {paint('bold', line.name)}: {line.note}"
    rows = [(_title(name), getattr(line.outlook, name)) for name in _WORDS]
    return f"  {paint('bold', line.name)}\n{table(rows, indent='    ')}"


def _title(name: str) -> str:
    return "ECN before PFC" if name == "active_bound" else name


def _size(value: int, speed_mbps: int) -> str:
    return f"{show_bytes(value)} ({bytes_to_us(value, speed_mbps):.3g} µs)"


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
        "strict_bytes": basis.strict_bytes,
        "incast_bytes": basis.incast_bytes,
        "dcqcn": basis.dcqcn,
        "assumed": list(item.assumed),
        "curves": [_line_json(line, item.speed_mbps) for line in item.lines],
    }


def _line_json(line: Line, speed_mbps: int) -> encode.Json:
    seen = line.outlook
    return {
        "name": line.name,
        "planned": line.name == PLAN,
        "kmin_bytes": line.kmin_bytes,
        "kmax_bytes": line.kmax_bytes,
        "pmax_percent": line.pmax_percent,
        "kmin_us": None if line.kmin_bytes is None else bytes_to_us(line.kmin_bytes, speed_mbps),
        "kmax_us": None if line.kmax_bytes is None else bytes_to_us(line.kmax_bytes, speed_mbps),
        "p_star": seen.p_star if seen else None,
        "q_star_bytes": seen.q_star_bytes if seen else None,
        "cnp_per_s": seen.cnp_per_s if seen else None,
        "active_bound": (seen.active_bound or None) if seen else None,
        "expect": {name: getattr(seen, name) for name in _WORDS[1:]} if seen else None,
        "why": encode.why_json(line.why) if line.why else None,
        "note": line.note or None,
    }

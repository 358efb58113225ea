"""What the ECN and DCQCN calculators found, as text, markdown and JSON; documented in docs/calculators.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocetune.model.units import bytes_to_us, show_bytes, show_speed
from rocetune.report import encode
from rocetune.report.answers import CurveLine, DcqcnAnswer, EcnAnswer, Term
from rocetune.report.calculators import port_json, port_words, room_json, tail_blocks, tail_json, tail_markdown, us
from rocetune.report.table import PLAIN, Paint, markdown_table, table, to_json
from rocetune.tuning.dcqcn import PARAMETERS
from rocetune.tuning.ecn import Bounds
from rocetune.tuning.presets import EcnPreset, ecn_presets

_HEAD = ("term", "formula", "bytes", "µs")
_COMPARED = ("curve", "kmin", "kmax", "pmax", "p*", "q*", "CNPs", "marks before PFC")
_WORDS = ("goodput", "bystander", "burst", "pause")
_LEGEND = (
    "p*: share of packets marked once the flows have settled (fluid model); q*: the queue that stands then; CNPs: sent "
    "per second by the receiving port."
)


def ecn_text(answer: EcnAnswer, paint: Paint = PLAIN) -> str:
    """The numbers with their formulas, the bounds, what to expect, presets beside it."""
    blocks = [f"{paint('bold', 'ECN marking')}  {_ecn_about(answer)}"]
    blocks.append(table(_rows(answer.terms, answer.port.speed_mbps), _HEAD, indent="  ", right=(2, 3)))
    blocks.append("\n".join([paint("good", _result(answer.line)), *_seen_lines(answer.line, answer.flows)]))
    if answer.compared:
        blocks.append(table(_compared(answer), _COMPARED, indent="  "))
        blocks += [f"  {line.name}: {line.note}" for line in answer.compared if line.note]
        for line in (answer.line, *answer.compared):
            if line.outlook is not None:
                blocks.append("\n".join([f"expect of {line.name}", *(f"  {text}" for text in _expectations(line))]))
    else:
        blocks.append("\n".join(_expectations(answer.line)))
    blocks.append("\n".join(_sources((answer.line, *answer.compared))))
    blocks += tail_blocks(answer.assumptions, answer.problems, paint)
    return "\n\n".join([*(block for block in blocks if block), _LEGEND])


def ecn_markdown(answer: EcnAnswer) -> str:
    """The same for a review."""
    blocks = [f"### ECN marking: {_ecn_about(answer)}"]
    blocks.append(markdown_table(_rows(answer.terms, answer.port.speed_mbps), _HEAD))
    blocks.append(f"**{_result(answer.line)}**")
    lines = [*_seen_lines(answer.line, answer.flows), *([] if answer.compared else _expectations(answer.line))]
    blocks.append("\n".join(f"- {line.strip()}" for line in lines))
    if answer.compared:
        blocks.append(markdown_table(_compared(answer), _COMPARED))
        blocks += [f"{line.name}: {line.note}" for line in answer.compared if line.note]
        blocks.append(markdown_table(_expected((answer.line, *answer.compared)), ("expect of", *_WORDS)))
    blocks.append("\n".join(f"- {line}" for line in _sources((answer.line, *answer.compared))))
    return "\n\n".join([*blocks, *tail_markdown(answer.assumptions, answer.problems), _LEGEND]) + "\n"


def ecn_document(answer: EcnAnswer) -> encode.Json:
    """``rocetune.ecn/1``: thresholds at top level under the plan's names."""
    speed, bounds = answer.port.speed_mbps, answer.bounds
    return {
        "format": "rocetune.ecn/1",
        **_curve_json(answer.line, speed),
        "bdp_bytes": answer.bdp_bytes,
        "rtt_us": answer.rtt_us,
        "flows": answer.flows,
        "dcqcn": answer.dcqcn,
        "headroom_bytes": answer.headroom_bytes,
        **room_json(answer.room),
        "strict_bytes": round(bounds.strict_bytes) if bounds else None,
        "incast_bytes": round(bounds.incast_bytes) if bounds else None,
        **port_json(answer.port),
        "breakdown": _terms_json(answer.terms, speed),
        "bounds_why": encode.why_json(bounds.why) if bounds else None,
        "compare": [_curve_json(line, speed) for line in answer.compared],
        **tail_json(answer.assumptions, answer.problems, answer.next),
    }


def ecn_json(answer: EcnAnswer) -> str:
    """:func:`ecn_document` as text."""
    return to_json(ecn_document(answer))


def dcqcn_text(answer: DcqcnAnswer, paint: Paint = PLAIN) -> str:
    """Parameters, then where the flows settle."""
    about = f"{show_speed(answer.speed_mbps)}, {answer.flows} flows, preset {answer.preset}"
    blocks = [f"{paint('bold', 'DCQCN')}  {about}"]
    written = _written_rows(answer)
    if written:
        blocks.append("written to the NIC\n" + table(written, _WRITTEN, indent="  ", right=(1,)))
    else:
        blocks.append("written to the NIC: no rate or timer; it keeps its own")
    blocks.append("the prediction is made with\n" + table(_model_rows(answer), indent="  ", right=(1,)))
    blocks.append("\n".join([paint("good", _result(answer.line)), *_seen_lines(answer.line, answer.flows)]))
    blocks.append(f"published breakdown: {answer.breakdown[0]} flows per port; {answer.breakdown[1]}")
    blocks += tail_blocks(answer.assumptions, answer.problems, paint)
    return "\n\n".join([*blocks, _LEGEND])


def dcqcn_markdown(answer: DcqcnAnswer) -> str:
    """The same for a review."""
    about = f"{show_speed(answer.speed_mbps)}, {answer.flows} flows, preset {answer.preset}"
    written = _written_rows(answer)
    blocks = [f"### DCQCN: {about}"]
    blocks.append(markdown_table(written, _WRITTEN) if written else "Nothing is written: the NIC keeps its own.")
    blocks.append(markdown_table(_model_rows(answer), ("the prediction is made with", "", "")))
    blocks.append(f"**{_result(answer.line)}**")
    blocks.append("\n".join(f"- {line.strip()}" for line in _seen_lines(answer.line, answer.flows)))
    blocks.append(f"Published breakdown: {answer.breakdown[0]} flows per port; {answer.breakdown[1]}")
    return "\n\n".join([*blocks, *tail_markdown(answer.assumptions, answer.problems), _LEGEND]) + "\n"


def dcqcn_document(answer: DcqcnAnswer) -> encode.Json:
    """``rocetune.dcqcn/1``."""
    model = answer.model
    return {
        "format": "rocetune.dcqcn/1",
        "speed_mbps": answer.speed_mbps,
        "flows": answer.flows,
        "frame_bytes": answer.frame_bytes,
        "preset": answer.preset,
        "parameters": dict(answer.written.parameters),
        "parameters_why": {name: encode.why_json(why) for name, why in answer.written.why.items()},
        **_curve_json(answer.line, answer.speed_mbps),
        "model": {
            "ai_mbps": model.ai_mbps,
            "timer_us": model.timer_us,
            "byte_counter_bytes": model.byte_counter_bytes,
            "cnp_interval_us": model.cnp_interval_us,
            "alpha_timer_us": model.alpha_timer_us,
            "fast_recovery": model.fast_recovery,
            "source": model.source,
        },
        "breakdown_flows": answer.breakdown[0],
        "breakdown_source": answer.breakdown[1],
        "unconfirmed": [item.name for item in PARAMETERS.values() if not item.confirmed],
        **tail_json(answer.assumptions, answer.problems, answer.next),
    }


def dcqcn_json(answer: DcqcnAnswer) -> str:
    """:func:`dcqcn_document` as text."""
    return to_json(dcqcn_document(answer))


_PRESETS = ("preset", "kmin", "kmax", "pmax", "made for", "vendor", "confidence", "what it is")


def presets_text(found: Iterable[EcnPreset]) -> str:
    """One published curve a row."""
    return table(_preset_rows(found), _PRESETS, right=(1, 2, 3))


def presets_markdown(found: Iterable[EcnPreset]) -> str:
    """The same as a markdown table, with sources."""
    found = list(found)
    rows = [[*row, preset.source] for row, preset in zip(_preset_rows(found), found, strict=True)]
    return markdown_table(rows, (*_PRESETS, "source")) + "\n"


def presets_json(found: Iterable[EcnPreset]) -> str:
    """``rocetune.ecn-presets/1``."""
    return to_json({"format": "rocetune.ecn-presets/1", "presets": [_preset_json(item) for item in found]})


def _preset_rows(found: Iterable[EcnPreset]) -> list[list[str]]:
    return [
        [
            preset.name,
            _preset_size(preset, preset.kmin),
            _preset_size(preset, preset.kmax),
            f"{preset.pmax_percent:g} %" + (" assumed" if preset.pmax_assumed else ""),
            preset.made_for,
            preset.vendor,
            preset.confidence,
            preset.title,
        ]
        for preset in found
    ]


def _preset_size(preset: EcnPreset, value: float) -> str:
    if preset.unit != "bytes":
        return f"{value:g} {'%' if preset.unit == 'percent' else preset.unit}"
    per = f" per {show_speed(preset.per_mbps)}" if preset.per_mbps else ""
    return show_bytes(round(value)) + per


def _preset_json(preset: EcnPreset) -> encode.Json:
    return {
        "name": preset.name,
        "title": preset.title,
        "vendor": preset.vendor,
        "unit": preset.unit,
        "kmin": preset.kmin,
        "kmax": preset.kmax,
        "pmax_percent": preset.pmax_percent,
        "pmax_assumed": preset.pmax_assumed or None,
        "per_mbps": preset.per_mbps,
        "speeds_mbps": list(preset.speeds_mbps) if preset.speeds_mbps else None,
        "asics": list(preset.asics),
        "source": preset.source,
        "confidence": preset.confidence,
        "note": preset.note,
    }


_WRITTEN = ("parameter", "value", "unit", "meaning", "why")


def _written_rows(answer: DcqcnAnswer) -> list[list[str]]:
    rows = []
    for name, value in answer.written.parameters:
        known, why = PARAMETERS[name], answer.written.why[name]
        rows.append([name, str(value), known.unit, known.meaning, "; ".join(why.steps)])
    return rows


def _model_rows(answer: DcqcnAnswer) -> list[list[str]]:
    model = answer.model
    counter = "off" if model.byte_counter_bytes is None else f"{model.byte_counter_bytes:,.0f}"
    return [
        ["additive increase R_AI", f"{model.ai_mbps:g}", "Mbit/s"],
        ["increase timer T", f"{model.timer_us:g}", "us"],
        ["byte counter B", counter, "" if model.byte_counter_bytes is None else "B"],
        ["fast-recovery stages F", str(model.fast_recovery), ""],
        ["CNP interval", f"{model.cnp_interval_us:g}", "us"],
        ["alpha timer", f"{model.alpha_timer_us:g}", "us"],
    ]


def _ecn_about(answer: EcnAnswer) -> str:
    return f"{port_words(answer.port)}, RTT {answer.rtt_us:g} us, {answer.flows} flows (DCQCN {answer.dcqcn})"


def _rows(terms: Sequence[Term], speed_mbps: int) -> list[list[str]]:
    return [
        [
            term.name,
            term.formula,
            f"{term.size_bytes:,.0f}",
            f"{bytes_to_us(round(term.size_bytes), speed_mbps):,.3g}" if term.size_bytes < 10**7 else
            f"{bytes_to_us(round(term.size_bytes), speed_mbps):,.0f}",
        ]
        for term in terms
    ]  # fmt: skip


def _result(line: CurveLine) -> str:
    return f"kmin {line.kmin_bytes:,} B, kmax {line.kmax_bytes:,} B, pmax {line.pmax_percent:g} %"


def _seen_lines(line: CurveLine, flows: int) -> list[str]:
    """Where DCQCN settles on a curve, and the bound that decided it."""
    seen = line.outlook
    if seen is None:
        return []
    queue = "beyond kmax: every packet is marked" if seen.q_star_bytes is None else f"{round(seen.q_star_bytes):,} B"
    return [
        f"predicted for {flows} flows: p* {seen.p_star * 100:.3g} %, q* {queue}, {seen.cnp_per_s:,.0f} CNPs per second",
        f"active bound: {seen.active_bound or 'none'}",
    ]


def _expectations(line: CurveLine) -> list[str]:
    seen = line.outlook
    return [] if seen is None else [f"{word}: {getattr(seen, word)}" for word in _WORDS]


def _expected(lines: Iterable[CurveLine]) -> list[list[str]]:
    return [[line.name, *(getattr(line.outlook, word) for word in _WORDS)] for line in lines if line.outlook]


def _compared(answer: EcnAnswer) -> list[list[str]]:
    speed, bounds = answer.port.speed_mbps, answer.bounds
    return [_compared_row(line, speed, bounds) for line in (answer.line, *answer.compared)]


def _compared_row(line: CurveLine, speed_mbps: int, bounds: Bounds | None) -> list[str]:
    seen = line.outlook
    if seen is None or line.kmin_bytes is None or line.kmax_bytes is None:
        return [line.name, *["-"] * 7]
    queue = "beyond kmax" if seen.q_star_bytes is None else _size(round(seen.q_star_bytes), speed_mbps)
    return [
        line.name,
        _size(line.kmin_bytes, speed_mbps),
        _size(line.kmax_bytes, speed_mbps),
        f"{line.pmax_percent:g} %",
        f"{seen.p_star * 100:.3g} %",
        queue,
        f"{seen.cnp_per_s:,.0f}/s",
        _order(line.kmax_bytes, bounds),
    ]


def _order(kmax_bytes: int, bounds: Bounds | None) -> str:
    """Whether marking is certain before pause starts."""
    if bounds is None:
        return "not known"
    if kmax_bytes >= bounds.incast_bytes:
        return "no"
    return "in ordinary incast" if kmax_bytes >= bounds.strict_bytes else "always"


def _size(value: int, speed_mbps: int) -> str:
    return f"{show_bytes(value)} ({bytes_to_us(value, speed_mbps):.3g} µs)"


def _sources(lines: Sequence[CurveLine]) -> list[str]:
    found = []
    for line in lines:
        found += [f"source of {line.name}: {why.source}" for _, why in line.whys if why.source]
        if line.name in ecn_presets():  # where its source means another speed, leaves pmax out, or adds a word
            found += [f"{line.name}: {step}" for _, why in line.whys for step in why.steps[3:]]
    return list(dict.fromkeys(found))


def _terms_json(terms: Sequence[Term], speed_mbps: int) -> list[encode.Json]:
    return [
        {
            "term": term.name,
            "formula": term.formula,
            "bytes": round(term.size_bytes, 2),
            "us": us(round(term.size_bytes), speed_mbps),
        }
        for term in terms
    ]


def _curve_json(line: CurveLine, speed_mbps: int) -> encode.Json:
    seen = line.outlook
    queue = round(seen.q_star_bytes) if seen is not None and seen.q_star_bytes is not None else None
    return {
        "name": line.name,
        "kmin_bytes": line.kmin_bytes,
        "kmax_bytes": line.kmax_bytes,
        "pmax_percent": line.pmax_percent,
        "kmin_us": us(line.kmin_bytes, speed_mbps),
        "kmax_us": us(line.kmax_bytes, speed_mbps),
        "p_star": seen.p_star if seen else None,
        "q_star_bytes": queue,
        "q_star_us": us(queue, speed_mbps),
        "cnp_per_s": seen.cnp_per_s if seen else None,
        "active_bound": (seen.active_bound or None) if seen else None,
        "expect": {word: getattr(seen, word) for word in _WORDS} if seen else None,
        "why": {name: encode.why_json(why) for name, why in line.whys},
        "note": line.note or None,
    }

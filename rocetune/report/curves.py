"""What the ECN and DCQCN calculators found, as text, markdown and JSON; documented in docs/calculators.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rocetune.model.units import show_speed
from rocetune.planner.compare import Line
from rocetune.report import encode, side_by_side
from rocetune.report.answers import DcqcnAnswer, EcnAnswer, Term
from rocetune.report.calculators import port_json, port_words, room_json, tail_blocks, tail_json, tail_markdown
from rocetune.report.side_by_side import Start
from rocetune.report.sizes import show_size, show_time, us
from rocetune.report.table import PLAIN, Paint, counted, markdown_table, table, to_json
from rocetune.tuning.dcqcn import PARAMETERS
from rocetune.tuning.duration import show_us
from rocetune.tuning.presets import EcnPreset

_FEW = 3  # presets whose sources are told without being asked
_HEAD = ("term", "formula", "bytes", "us")


def start_of(answer: EcnAnswer) -> Start:
    """Where PFC starts on the asked switch."""
    bounds, fits = answer.bounds, answer.room.fits if answer.room else None
    return Start(bounds.strict_bytes, bounds.incast_bytes, fits) if bounds else Start(fits=fits)


def ecn_text(answer: EcnAnswer, paint: Paint = PLAIN, *, verbose: bool = False) -> str:
    """The numbers with their formulas, the bounds, what to expect, presets beside it."""
    start, lines = start_of(answer), (answer.line, *answer.compared)
    blocks = [f"{paint('bold', 'ECN marking')}  {_ecn_about(answer)}"]
    blocks.append(table(_rows(answer.terms, answer.port.speed_mbps), _HEAD, indent="  ", right=(2, 3)))
    about = [*_pmax_lines(answer), *_seen_lines(answer.line, answer.flows, start)]
    blocks.append("\n".join([paint("good", _result(answer.line)), *about]))
    if answer.compared:
        rows = side_by_side.rows(lines, answer.port.speed_mbps, start)
        blocks.append(table(rows, side_by_side.HEAD, indent="  "))
        blocks += side_by_side.words_text(lines, start, every=verbose, paint=paint)
    else:
        blocks.append("\n".join(_expectations(answer.line, start)))
    blocks.append("\n".join(_sources(answer, verbose)))
    blocks += tail_blocks(answer.assumptions, answer.problems, paint)
    return "\n\n".join([*(block for block in blocks if block), *_legend(answer)])


def ecn_markdown(answer: EcnAnswer, *, verbose: bool = False) -> str:
    """The same for a review."""
    start, lines = start_of(answer), (answer.line, *answer.compared)
    blocks = [f"### ECN marking: {_ecn_about(answer)}"]
    blocks.append(markdown_table(_rows(answer.terms, answer.port.speed_mbps), _HEAD))
    blocks.append(f"**{_result(answer.line)}**")
    about = [*_pmax_lines(answer), *_seen_lines(answer.line, answer.flows, start)]
    about += [] if answer.compared else _expectations(answer.line, start)
    blocks.append("\n".join(f"- {line.strip()}" for line in about))
    if answer.compared:
        blocks.append(markdown_table(side_by_side.rows(lines, answer.port.speed_mbps, start), side_by_side.HEAD))
        blocks += side_by_side.words_markdown(lines, start, every=verbose)
    blocks.append("\n".join(f"- {line}" for line in _sources(answer, verbose)))
    tail = tail_markdown(answer.assumptions, answer.problems)
    return "\n\n".join([*(block for block in blocks if block), *tail, *_legend(answer)]) + "\n"


def _legend(answer: EcnAnswer) -> list[str]:
    more = [side_by_side.ORDER_LEGEND, side_by_side.NO_SCORE] if answer.compared else []
    return [side_by_side.LEGEND, *more]


def ecn_document(answer: EcnAnswer) -> encode.Json:
    """``rocetune.ecn/1``: thresholds at top level under the plan's names."""
    speed, bounds, start = answer.port.speed_mbps, answer.bounds, start_of(answer)
    return {
        "format": "rocetune.ecn/1",
        **side_by_side.line_json(answer.line, speed, start, side_by_side.whys_json(answer.whys)),
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
        "compare": [_compared_json(line, speed, start) for line in answer.compared],
        **tail_json(answer.assumptions, answer.problems, answer.next),
    }


def _compared_json(line: Line, speed_mbps: int, start: Start) -> encode.Json:
    whys = (("thresholds", line.why),) if line.why else ()
    return side_by_side.line_json(line, speed_mbps, start, side_by_side.whys_json(whys))


def ecn_json(answer: EcnAnswer) -> str:
    """:func:`ecn_document` as text."""
    return to_json(ecn_document(answer))


def dcqcn_text(answer: DcqcnAnswer, paint: Paint = PLAIN) -> str:
    """Parameters, then where the flows settle."""
    about = f"{show_speed(answer.speed_mbps)}, {counted(answer.flows, 'flow')}, preset {answer.preset}"
    blocks = [f"{paint('bold', 'DCQCN')}  {about}"]
    written = _written_rows(answer)
    if written:
        blocks.append("written to the NIC\n" + table(written, _WRITTEN, indent="  ", right=(1,)))
    else:
        blocks.append("written to the NIC: no rate or timer; it keeps its own")
    blocks.append("the prediction is made with\n" + table(_model_rows(answer), indent="  ", right=(1,)))
    blocks.append("\n".join([paint("good", _result(answer.line)), *_seen_lines(answer.line, answer.flows, Start())]))
    blocks.append(f"published breakdown: {answer.breakdown[0]} flows per port; {answer.breakdown[1]}")
    blocks += tail_blocks(answer.assumptions, answer.problems, paint)
    return "\n\n".join([*blocks, side_by_side.LEGEND])


def dcqcn_markdown(answer: DcqcnAnswer) -> str:
    """The same for a review."""
    about = f"{show_speed(answer.speed_mbps)}, {counted(answer.flows, 'flow')}, preset {answer.preset}"
    written = _written_rows(answer)
    blocks = [f"### DCQCN: {about}"]
    blocks.append(markdown_table(written, _WRITTEN) if written else "Nothing is written: the NIC keeps its own.")
    blocks.append(markdown_table(_model_rows(answer), ("the prediction is made with", "", "")))
    blocks.append(f"**{_result(answer.line)}**")
    blocks.append("\n".join(f"- {line.strip()}" for line in _seen_lines(answer.line, answer.flows, Start())))
    blocks.append(f"Published breakdown: {answer.breakdown[0]} flows per port; {answer.breakdown[1]}")
    return "\n\n".join([*blocks, *tail_markdown(answer.assumptions, answer.problems), side_by_side.LEGEND]) + "\n"


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
        **side_by_side.line_json(answer.line, answer.speed_mbps, Start(), side_by_side.whys_json(answer.whys)),
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
    return show_size(round(value)) + per


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
    flows = f"{counted(answer.flows, 'flow')} (DCQCN {answer.dcqcn})"
    return f"{port_words(answer.port)}, round trip {show_time(answer.rtt_us)}, {flows}"


def _rows(terms: Sequence[Term], speed_mbps: int) -> list[list[str]]:
    return [
        [term.name, term.formula, f"{term.size_bytes:,.0f}", show_us(term.size_bytes, speed_mbps).removesuffix(" us")]
        for term in terms
    ]


def _result(line: Line) -> str:
    return f"kmin {line.kmin_bytes:,} B, kmax {line.kmax_bytes:,} B, pmax {line.pmax_percent:g} %"


def _pmax_lines(answer: EcnAnswer) -> list[str]:
    """Why pmax is what it is."""
    steps = [step for name, why in answer.whys if name != "kmin_bytes" for step in why.steps if _of_pmax(step)]
    steps += [bound for name, why in answer.whys if name == "pmax_percent" for bound in why.bounds]
    return [f"why: {'; '.join(steps)}"] if steps else []


def _of_pmax(step: str) -> bool:
    return step.startswith(("least pmax", "pmax"))


def _seen_lines(line: Line, flows: int, start: Start) -> list[str]:
    """Where DCQCN settles on a curve, and the bound that decided it."""
    seen, reason = line.outlook, start.withheld(line)
    if seen is None:
        return []
    if reason:
        return [f"prediction withheld: {reason}", f"active bound: {start.bound(line)}"]
    queue = "beyond kmax: every packet is marked" if seen.q_star_bytes is None else f"{round(seen.q_star_bytes):,} B"
    settled = f"p* {seen.p_star * 100:.3g} %, q* {queue}, {seen.cnp_per_s:,.0f} CNPs per second"
    return [f"predicted for {counted(flows, 'flow')}: {settled}", f"active bound: {start.bound(line)}"]


def _expectations(line: Line, start: Start) -> list[str]:
    seen = line.outlook
    if seen is None or start.fits is False:
        return []
    return [f"{word}: {getattr(seen, word)}" for word in side_by_side.WORDS]


def _sources(answer: EcnAnswer, verbose: bool) -> list[str]:
    """Where numbers are from, and what a preset's own source says of it."""
    name, found = answer.line.name, []
    for key, why in answer.whys:
        of = "" if key == "thresholds" else ", pmax and prediction" if key == "pmax_percent" else ", thresholds"
        found.append(f"source of {name}{of}: {why.source}")
        found += [f"{name}: {step}" for step in why.steps[3:] if key == "thresholds" and not _of_pmax(step)]
    if len(answer.compared) > _FEW and not verbose:
        return [*dict.fromkeys(found), "sources and remarks of the presets: add --verbose"]
    for line in answer.compared:
        if line.why is not None:
            found.append(f"source of {line.name}: {line.why.source}")
            found += [f"{line.name}: {step}" for step in line.why.steps[3:]]
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

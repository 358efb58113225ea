"""What a picture shows, sampled from the same functions that made the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import log
from pathlib import Path

from rocetune.app.asking import HeadroomAsk, compute
from rocetune.app.calculating import is_yours
from rocetune.app.errors import UseError
from rocetune.model.units import show_speed
from rocetune.planner.compare import Line
from rocetune.report.answers import EcnAnswer, HeadroomAnswer
from rocetune.report.calculators import factor, method_words, port_words
from rocetune.report.curves import start_of
from rocetune.report.plots import (
    LengthPlot,
    Level,
    Marking,
    MarkingPlot,
    PlotterMissing,
    Segment,
    draw_length,
    draw_marking,
)
from rocetune.report.side_by_side import Start
from rocetune.report.sizes import show_time, size_and_us
from rocetune.report.table import counted

_LEAST_SPAN_M = 320.0  # so that 5, 40 and 300 m, the lengths of most published tables, are in the picture
_SAMPLES = 240
_MOST_CURVES = 8  # beside the answer's own: more cannot be told apart
_JUST_BEYOND_M = 0.01  # where a table jumps to its next row


def plot_headroom(answer: HeadroomAnswer, ask: HeadroomAsk, path: Path) -> None:
    """Headroom from 0 m to beyond the asked length. Raises UseError where matplotlib is missing."""
    port = answer.port
    span = max(_LEAST_SPAN_M, 1.5 * port.cable_m)
    listed = _published(answer, span)
    steps = {at for metres, _ in listed for at in (metres, metres + _JUST_BEYOND_M) if at <= span}
    lengths = sorted({span * step / _SAMPLES for step in range(_SAMPLES + 1)} | {port.cable_m} | steps)
    samples = [(metres, compute(ask, metres)) for metres in lengths]
    segments: list[tuple[str, list[tuple[float, int]]]] = []
    for metres, result in samples:
        words = method_words(result.method, yours=is_yours(ask, result))
        if not segments or segments[-1][0] != words:
            segments.append((words, []))
        segments[-1][1].append((metres, result.headroom_bytes))
    plot = LengthPlot(
        title=f"PFC headroom over cable length: {port.asic.name if port.asic else 'by cell size'}, "
        f"{show_speed(port.speed_mbps)}",
        subtitle=port_words(port),
        speed_mbps=port.speed_mbps,
        asked=(port.cable_m, answer.result.headroom_bytes),
        segments=tuple(Segment(words, tuple(points)) for words, points in segments),
        floor=tuple((metres, result.physical_bytes) for metres, result in samples),
        published=listed,
        published_name=answer.published_name,
    )
    drawn(lambda: draw_length(plot, path), path)


def _published(answer: HeadroomAnswer, span: float) -> tuple[tuple[float, int], ...]:
    return tuple((metres, size) for metres, size in answer.published if metres <= span)


def plot_marking(answer: EcnAnswer, path: Path) -> None:
    """The marking curve with bounds, pool and compared presets. Raises UseError where matplotlib is missing."""
    port, room, bounds, start = answer.port, answer.room, answer.bounds, start_of(answer)
    words = [show_speed(port.speed_mbps), f"round trip {show_time(answer.rtt_us)}", counted(answer.flows, "flow")]
    if port.asic is not None and room is not None:
        model = f" ({port.model})" if port.model else ""
        switch = f"{counted(room.ports, 'port')} x {room.lossless} lossless, alpha {factor(room.alpha)}"
        words += [f"{port.asic.name}{model}", switch]

    def level(short: str, name: str, size: float | None) -> Level | None:
        if size is None:
            return None
        return Level(short, f"{name}: {size_and_us(round(size), port.speed_mbps)}", size)

    split = f" of one of {room.slices} slices" if room is not None and room.slices > 1 else ""
    others = [_marking(line, start) for line in answer.compared if line.kmax_bytes is not None]
    shown = nearest(answer.line.kmax_bytes or 1, merged(others))
    plot = MarkingPlot(
        title=f"ECN marking: {answer.line.name}, {show_speed(port.speed_mbps)}",
        subtitle=", ".join(words),
        speed_mbps=port.speed_mbps,
        curve=_marking(answer.line, start),
        others=shown,
        left_out=len(others) - sum(curve.name.count(", ") + 1 for curve in shown),
        strict=level("strict bound", "strict bound, every queue full", bounds.strict_bytes if bounds else None),
        xoff=level("xoff: PFC", "xoff, PFC starts (one ingress)", bounds.incast_bytes if bounds else None),
        pool=level("pool S", f"shared pool S{split}", room.shared_bytes if room else None),
    )
    drawn(lambda: draw_marking(plot, path), path)


def merged(curves: Iterable[Marking]) -> list[Marking]:
    """Curves that are the same drawn once, under all their names."""
    names: dict[Marking, list[str]] = {}
    for curve in curves:
        names.setdefault(replace(curve, name=""), []).append(curve.name)
    return [replace(curve, name=", ".join(found)) for curve, found in names.items()]


def nearest(kmax_bytes: int, curves: Sequence[Marking]) -> tuple[Marking, ...]:
    """As many curves as can be told apart, those whose kmax is nearest, in the order in which they came."""
    near = sorted(curves, key=lambda curve: abs(log(curve.kmax_bytes / kmax_bytes)))[:_MOST_CURVES]
    return tuple(curve for curve in curves if curve in near)


def _marking(line: Line, start: Start) -> Marking:
    assert line.kmin_bytes is not None and line.kmax_bytes is not None and line.pmax_percent is not None
    seen = None if start.withheld(line) else line.outlook
    settled = (seen.q_star_bytes, seen.p_star) if seen is not None and seen.q_star_bytes is not None else None
    beyond = seen is not None and settled is None
    return Marking(line.name, line.kmin_bytes, line.kmax_bytes, line.pmax_percent, settled, beyond)


def drawn(draw: Callable[[], None], path: Path) -> None:
    """Draw, or say how to get what draws, or why the file cannot be written."""
    try:
        draw()
    except OSError as error:
        raise UseError(f"--plot: {path}: {error.strerror or error}", "Choose another place.") from error
    except PlotterMissing as error:
        raise UseError(f"--plot: {error}", "Install it with: pip install 'rocetune[plot]'") from error

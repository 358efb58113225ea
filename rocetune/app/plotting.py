"""What a picture shows, sampled from the same functions that made the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rocetune.app.calculating import HeadroomAsk, compute
from rocetune.app.errors import UseError
from rocetune.model.units import bytes_to_us, show_bytes, show_speed
from rocetune.report.answers import CurveLine, EcnAnswer, HeadroomAnswer
from rocetune.report.calculators import METHODS, port_words
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

_LEAST_SPAN_M = 320.0  # so that 5, 40 and 300 m, the lengths of most published tables, are in the picture
_SAMPLES = 240
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
        if not segments or segments[-1][0] != result.method:
            segments.append((result.method, []))
        segments[-1][1].append((metres, result.headroom_bytes))
    plot = LengthPlot(
        title=f"PFC headroom over cable length: {port.asic.name if port.asic else 'by cell size'}, "
        f"{show_speed(port.speed_mbps)}",
        subtitle=port_words(port),
        speed_mbps=port.speed_mbps,
        asked=(port.cable_m, answer.result.headroom_bytes),
        segments=tuple(Segment(METHODS.get(method, method), tuple(points)) for method, points in segments),
        floor=tuple((metres, result.physical_bytes) for metres, result in samples),
        published=listed,
        published_name=answer.published_name,
    )
    drawn(lambda: draw_length(plot, path))


def _published(answer: HeadroomAnswer, span: float) -> tuple[tuple[float, int], ...]:
    return tuple((metres, size) for metres, size in answer.published if metres <= span)


def plot_marking(answer: EcnAnswer, path: Path) -> None:
    """The marking curve with bounds, pool and compared presets. Raises UseError where matplotlib is missing."""
    port, room, bounds = answer.port, answer.room, answer.bounds
    words = [show_speed(port.speed_mbps), f"RTT {answer.rtt_us:g} µs", f"{answer.flows} flows"]
    if port.asic is not None and room is not None:
        model = f" ({port.model})" if port.model else ""
        words += [f"{port.asic.name}{model}", f"{room.ports} ports x {room.lossless} lossless, alpha {room.alpha:g}"]

    def level(short: str, name: str, size: float | None) -> Level | None:
        if size is None:
            return None
        time = bytes_to_us(round(size), port.speed_mbps)
        return Level(
            short,
            f"{name}: {show_bytes(round(size))}, {time:,.0f} µs"
            if time >= 100
            else f"{name}: {show_bytes(round(size))}, {time:.3g} µs",
            size,
        )

    split = f" of one of {room.slices} slices" if room is not None and room.slices > 1 else ""
    plot = MarkingPlot(
        title=f"ECN marking: {answer.line.name}, {show_speed(port.speed_mbps)}",
        subtitle=", ".join(words),
        speed_mbps=port.speed_mbps,
        curve=_marking(answer.line),
        others=tuple(_marking(line) for line in answer.compared if line.kmin_bytes is not None),
        strict=level("strict bound", "strict bound, every queue full", bounds.strict_bytes if bounds else None),
        xoff=level("xoff: PFC", "xoff, PFC starts (one ingress)", bounds.incast_bytes if bounds else None),
        pool=level("pool S", f"shared pool S{split}", room.shared_bytes if room else None),
    )
    drawn(lambda: draw_marking(plot, path))


def _marking(line: CurveLine) -> Marking:
    assert line.kmin_bytes is not None and line.kmax_bytes is not None and line.pmax_percent is not None
    seen = line.outlook
    settled = (seen.q_star_bytes, seen.p_star) if seen is not None and seen.q_star_bytes is not None else None
    return Marking(line.name, line.kmin_bytes, line.kmax_bytes, line.pmax_percent, settled)


def drawn(draw: Callable[[], None]) -> None:
    """Draw, or say how to get what draws."""
    try:
        draw()
    except PlotterMissing as error:
        raise UseError(f"--plot: {error}", "Install it with: pip install 'rocetune[plot]'") from error

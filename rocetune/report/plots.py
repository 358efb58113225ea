"""Pictures for a review: headroom over cable length, and the marking curve among the bounds of its switch.

matplotlib is an extra and is imported only here, when a picture is asked for. No display, no global state. The same
numbers make the same bytes: no date, no random ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocetune.report.sizes import show_length, show_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png")
# Colours that differ for colour-blind eyes too (Okabe and Ito).
_BLUE, _RED, _GREEN, _ORANGE, _PURPLE, _SKY, _GREY = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#E69F00",
    "#CC79A7",
    "#56B4E9",
    "#555555",
)
_PRESETS = (_ORANGE, _PURPLE, _SKY, _GREEN, "#8B6F00", "#7A4EAB", "#A50026", "#4D7C0F")
_DASHES: tuple[Any, ...] = ("--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1, 1, 1)))
_CROWDED_DECADES = 4.3
_NEAR = 0.04  # of the axis: two labels side by side need as much
_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "rocetune",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 10,
}


class PlotterMissing(RuntimeError):
    """matplotlib is not installed."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of the headroom line that one method made: ``points`` are (metres, bytes)."""

    method: str
    points: tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True)
class LengthPlot:
    """Headroom over cable length."""

    title: str
    subtitle: str
    speed_mbps: int
    asked: tuple[float, int]
    segments: tuple[Segment, ...]
    floor: tuple[tuple[float, int], ...]
    published: tuple[tuple[float, int], ...] = ()
    published_name: str = ""


@dataclass(frozen=True, slots=True)
class Marking:
    """One marking curve. ``settled`` is (q* bytes, p*) where DCQCN settles on it; ``beyond``: that is beyond kmax."""

    name: str
    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: float
    settled: tuple[float, float] | None = None
    beyond: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """A level of the queue that matters: ``short`` stands at the line, ``words`` in the legend."""

    short: str
    words: str
    size_bytes: float


@dataclass(frozen=True, slots=True)
class MarkingPlot:
    """A marking curve over the egress queue, with bounds and with curves to compare."""

    title: str
    subtitle: str
    speed_mbps: int
    curve: Marking
    others: tuple[Marking, ...] = ()
    left_out: int = 0  # curves to compare that are not drawn
    strict: Level | None = None
    xoff: Level | None = None
    pool: Level | None = None


def draw_length(plot: LengthPlot, path: Path) -> None:
    """Write headroom over cable length. Raises PlotterMissing, OSError, and ValueError for another suffix."""
    with _figure(plot.title, plot.subtitle, path) as (figure, axes):
        for index, segment in enumerate(plot.segments):
            style = "-" if index == 0 else _DASHES[(index - 1) % len(_DASHES)]
            axes.plot(*_kb(segment.points), color=_BLUE, linestyle=style, linewidth=2, label=segment.method)
        axes.plot(*_kb(plot.floor), color=_RED, linestyle="--", label="physical floor: in flight + peer reaction")
        if plot.published:
            metres, sizes = _kb(plot.published)
            axes.plot(metres, sizes, "s", color=_GREEN, markersize=7, markerfacecolor="none", label=plot.published_name)
        length, size = plot.asked
        label = f"asked: {show_length(length)} needs {size:,} B"
        axes.plot([length], [size / 1000], "o", color="black", markersize=8, zorder=5, label=label)
        axes.set_xlim(0, max(x for segment in plot.segments for x, _ in segment.points))
        axes.set_ylim(bottom=0)
        axes.set_xlabel("cable length [m]")
        axes.set_ylabel("headroom per lossless priority [KB = 1000 B]")
        _time_axis(axes, "y", plot.speed_mbps, 1000)
        axes.grid(True, color="#DDDDDD", linewidth=0.6)
        _legend(figure)


def draw_marking(plot: MarkingPlot, path: Path) -> None:
    """Write the marking curve. Raises PlotterMissing, OSError, and ValueError for another suffix."""
    with _figure(plot.title, plot.subtitle, path) as (figure, axes):
        low, high = _range(plot)
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(0, 105)
        _draw_curve(axes, plot.curve, low, high, color=_BLUE, linestyle="-", linewidth=2.6, zorder=4)
        for index, curve in enumerate(plot.others):
            colour, style = _PRESETS[index % len(_PRESETS)], _DASHES[index % len(_DASHES)]
            _draw_curve(axes, curve, low, high, color=colour, linestyle=style, linewidth=1.6)
        _draw_levels(axes, plot, high)
        axes.set_xlabel("egress queue [bytes, logarithmic]")
        axes.set_ylabel("marked packets [%]")
        _log_ticks(axes.xaxis, low, high, lambda value: show_size(round(value)))
        _time_axis(axes, "x", plot.speed_mbps, 1)
        axes.grid(True, which="major", color="#DDDDDD", linewidth=0.6)
        if any(curve.settled for curve in (plot.curve, *plot.others)):
            axes.plot([], [], "o", color=_GREY, markersize=6, label="dots: q*, where DCQCN settles")
        if any(curve.beyond for curve in (plot.curve, *plot.others)):
            axes.plot([], [], "x", color=_GREY, markersize=7, label="crosses: q* beyond kmax, every packet is marked")
        if plot.left_out:
            axes.plot([], [], " ", label=f"{plot.left_out} more not drawn: their kmax is farther away")
        _legend(figure)


@contextmanager
def _figure(title: str, subtitle: str, path: Path) -> Iterator[tuple[Figure, Axes]]:
    """An empty figure with its title; written to the path when it is drawn."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{path}: a plot is written as {' or '.join(SUFFIXES)}, by the ending of its name")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure as NewFigure
    except ImportError as error:
        raise PlotterMissing("plots need matplotlib, which is not installed") from error
    with mpl.rc_context(_SETTINGS):
        figure = NewFigure(figsize=(10, 5.8), layout="constrained")
        axes = figure.add_subplot()
        yield figure, axes
        _headed(figure, title, subtitle)
        svg = path.suffix.lower() == ".svg"
        about = {"Date": None, "Creator": "rocetune", "Title": title} if svg else {"Software": "rocetune"}
        figure.savefig(path, format=path.suffix.lower()[1:], dpi=130, metadata=about)


def _headed(figure: Figure, title: str, subtitle: str) -> None:
    """Title and subtitle in the middle of the figure, above the axes and whatever stands at their sides."""
    height = figure.get_figheight()
    figure.text(0.5, 1 - 0.12 / height, title, ha="center", va="top", fontsize=13, fontweight="bold")
    figure.text(0.5, 1 - 0.40 / height, subtitle, ha="center", va="top", fontsize=9.5, color=_GREY)
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0, 0, 1, 1 - 0.62 / height))


def _legend(figure: Figure) -> None:
    """Below the axes, where it hides nothing; a long one makes the figure taller instead of the axes flatter."""
    labels = figure.axes[0].get_legend_handles_labels()[1]
    figure.set_figheight(5.0 + 0.2 * ((len(labels) + 1) // 2))
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)


def _kb(points: Sequence[tuple[float, int]]) -> tuple[list[float], list[float]]:
    return [metres for metres, _ in points], [size / 1000 for _, size in points]


def _time_axis(axes: Axes, which: str, speed_mbps: int, unit: int) -> None:
    """The same scale as microseconds at line rate, on the other side."""
    per_us = speed_mbps / 8 / unit
    change = (lambda size: size / per_us, lambda time: time * per_us)
    label = "microseconds at line rate"
    if which == "y":
        axes.secondary_yaxis("right", functions=change).set_ylabel(label)
        return
    other = axes.secondary_xaxis("top", functions=change)
    other.set_xlabel(label)
    low, high = axes.get_xlim()
    _log_ticks(other.xaxis, low / per_us, high / per_us, lambda value: f"{value:,.10g}")


def _log_ticks(axis: Axis, low: float, high: float, words: Callable[[float], str]) -> None:
    """Labels at 1, 2 and 5 of each decade; fewer where there are many decades."""
    from math import log10

    from matplotlib.ticker import FixedLocator, NullLocator

    steps = (1, 2, 5) if log10(high / low) < _CROWDED_DECADES else (1, 3)
    decades = range(int(log10(low)) - 2, int(log10(high)) + 2)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    axis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: words(value))


def _range(plot: MarkingPlot) -> tuple[float, float]:
    """From below the first mark to above the last level."""
    curves = (plot.curve, *plot.others)
    levels = [line.size_bytes for line in (plot.strict, plot.xoff, plot.pool) if line is not None]
    low = min(*(curve.kmin_bytes for curve in curves), *levels, plot.curve.kmin_bytes)
    high = max(*(curve.kmax_bytes for curve in curves), *levels, plot.curve.kmax_bytes)
    return low / 2, high * 1.8


def _draw_curve(axes: Axes, curve: Marking, low: float, high: float, **style: Any) -> None:
    """Nothing below kmin, a ramp to pmax at kmax, everything above; straight only in bytes, so it is sampled."""
    kmin, kmax, pmax = curve.kmin_bytes, curve.kmax_bytes, curve.pmax_percent
    ramp = [kmin * (kmax / kmin) ** (step / 60) for step in range(61)] if kmax > kmin else [kmin]
    rise = [pmax * (size - kmin) / (kmax - kmin) if kmax > kmin else 0.0 for size in ramp]
    label = f"{curve.name}: {show_size(kmin)} to {show_size(kmax)}, pmax {pmax:g} %"
    if curve.settled is not None:
        label += f"; q* {show_size(round(curve.settled[0]))}"
        axes.plot([curve.settled[0]], [100 * curve.settled[1]], "o", color=style["color"], markersize=7, zorder=5)
    if curve.beyond:
        label += "; q* beyond kmax"
        axes.plot([kmax], [100], "x", color=style["color"], markersize=8, markeredgewidth=2, zorder=5)
    axes.plot([low, *ramp, kmax, high], [0, *rise, 100, 100], label=label, **style)


def _draw_levels(axes: Axes, plot: MarkingPlot, high: float) -> None:
    """kmin and kmax, the strict bound, where PFC starts, the pool; each labelled at its line and in the legend."""
    lines: list[tuple[Level, str, Any]] = [
        (Level("kmin", "", plot.curve.kmin_bytes), _BLUE, ":"),
        (Level("kmax", "", plot.curve.kmax_bytes), _BLUE, ":"),
    ]
    for line, colour, dash in ((plot.strict, _GREY, "--"), (plot.xoff, _RED, "-"), (plot.pool, "black", "-.")):
        if line is not None:
            lines.append((line, colour, dash))
    if plot.xoff is not None:
        axes.axvspan(plot.xoff.size_bytes, high, color=_RED, alpha=0.07, linewidth=0, label="PFC pauses the senders")
    left, right = axes.get_xlim()
    lines.sort(key=lambda item: item[0].size_bytes)
    places = [_share(line.size_bytes, left, right) for line, _, _ in lines]
    heights: list[float] = []
    for index, (line, colour, dash) in enumerate(lines):
        axes.axvline(line.size_bytes, color=colour, linestyle=dash, linewidth=1.4, label=line.words or None)
        crowded = index > 0 and places[index] - places[index - 1] < _NEAR
        room_right = index + 1 == len(lines) or places[index + 1] - places[index] >= _NEAR
        heights.append(heights[-1] - 25 if crowded else 97.0)
        side = "left" if crowded and room_right else "right"
        words = axes.text(line.size_bytes, heights[-1], f" {line.short} ", color=colour, rotation=90)
        words.set(horizontalalignment=side, verticalalignment="top", fontsize=9, zorder=6)
        words.set_bbox({"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.5})


def _share(size: float, left: float, right: float) -> float:
    from math import log

    return log(size / left) / log(right / left)

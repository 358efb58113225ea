"""Pictures carry their units and labels, and the same numbers make the same bytes."""

from __future__ import annotations

import builtins
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

from rocetune.app.plotting import merged, nearest
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

LENGTH = LengthPlot(
    title="PFC headroom over cable length: Tomahawk 3, 400G",
    subtitle="400G, 30 m, Tomahawk 3",
    speed_mbps=400_000,
    asked=(30, 195_326),
    segments=(
        Segment("preset", ((0, 175_000), (300, 374_000))),
        Segment("canonical", ((300, 374_000), (320, 380_000))),
    ),
    floor=((0, 81_398), (320, 243_000)),
    published=((5, 178_816), (40, 201_676)),
    published_name="published rows: Z9332f",
)
MARKING = MarkingPlot(
    title="ECN marking: balanced, 400G",
    subtitle="round trip 8 us",
    speed_mbps=400_000,
    curve=Marking("balanced", 400_000, 1_600_000, 20, (516_900, 0.0195)),
    others=(Marking("dctcp", 300_000, 300_000, 100), Marking("paper", 5_000, 200_000, 1, beyond=True)),
    left_out=20,
    strict=Level("strict bound", "strict bound: 561.4 KB", 561_388),
    xoff=Level("xoff: PFC", "xoff, PFC starts: 26.95 MB", 26_946_606),
    pool=Level("pool S", "shared pool S: 53.89 MB", 53_893_212),
)


def _texts(path: Path) -> list[str]:
    return [
        "".join(node.itertext()).strip() for node in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
    ]


def test_headroom_over_length_is_labelled(tmp_path: Path) -> None:
    draw_length(LENGTH, tmp_path / "h.svg")
    texts = _texts(tmp_path / "h.svg")
    for words in (
        "cable length [m]",
        "microseconds at line rate",
        "asked: 30 m needs 195,326 B",
        "published rows: Z9332f",
    ):
        assert words in texts
    assert LENGTH.title in texts and "preset" in texts and "canonical" in texts


def test_marking_curve_is_labelled(tmp_path: Path) -> None:
    draw_marking(MARKING, tmp_path / "m.svg")
    texts = _texts(tmp_path / "m.svg")
    for words in (
        "kmin",
        "kmax",
        "strict bound",
        "xoff: PFC",
        "pool S",
        "marked packets [%]",
        "xoff, PFC starts: 26.95 MB",
    ):
        assert words in texts
    assert "balanced: 400 KB to 1.6 MB, pmax 20 %; q* 516.9 KB" in texts
    assert "paper: 5,000 B to 200 KB, pmax 1 %; q* beyond kmax" in texts
    assert "crosses: q* beyond kmax, every packet is marked" in texts
    assert "20 more not drawn: their kmax is farther away" in texts


def test_more_than_the_decades_are_labelled(tmp_path: Path) -> None:
    near = replace(MARKING, others=(), xoff=None, pool=None)
    draw_marking(near, tmp_path / "m.svg")
    texts = _texts(tmp_path / "m.svg")
    for size, time in (("200 KB", "5"), ("500 KB", "10"), ("1 MB", "20"), ("2 MB", "50")):
        assert size in texts and time in texts


def test_title_and_subtitle_are_in_the_middle(tmp_path: Path) -> None:
    draw_length(LENGTH, tmp_path / "h.svg")
    root = ElementTree.parse(tmp_path / "h.svg").getroot()
    width = float(root.attrib["viewBox"].split()[2])
    found = {"".join(node.itertext()).strip(): node.attrib for node in root.iter("{http://www.w3.org/2000/svg}text")}
    for words in (LENGTH.title, LENGTH.subtitle):
        assert "middle" in found[words]["style"] and float(found[words]["x"]) == pytest.approx(width / 2, abs=1)


def test_only_the_nearest_curves_are_drawn_and_twins_once() -> None:
    curves = [Marking(str(number), 1000, 1000 * 2**number, 5) for number in range(1, 12)]
    assert [curve.name for curve in nearest(16_000, curves)] == ["1", "2", "3", "4", "5", "6", "7", "8"]
    assert [curve.name for curve in nearest(2_048_000, curves)] == [str(number) for number in range(4, 12)]
    assert [curve.name for curve in merged([*curves[:2], replace(curves[0], name="twin")])] == ["1, twin", "2"]


def test_labels_do_not_lie_on_each_other(tmp_path: Path) -> None:
    """Bounds closer than a label is wide are written below or beside each other."""
    crowded = MarkingPlot(
        "crowded", "", 400_000, Marking("c", 400_000, 410_000, 20),
        strict=Level("strict bound", "s", 415_000), xoff=Level("xoff: PFC", "x", 420_000),
        pool=Level("pool S", "p", 900_000_000),
    )  # fmt: skip
    boxes: list[Any] = []
    import matplotlib.figure
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    class Spy(matplotlib.figure.Figure):
        def savefig(self, *args: Any, **kwargs: Any) -> None:
            super().savefig(*args, **kwargs)
            canvas = FigureCanvasAgg(self)
            canvas.draw()
            boxes.extend(text.get_window_extent(canvas.get_renderer()) for text in self.axes[0].texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matplotlib.figure, "Figure", Spy)
        draw_marking(crowded, tmp_path / "m.png")
    assert len(boxes) == 5
    for index, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[index + 1 :])


def test_same_numbers_same_bytes(tmp_path: Path) -> None:
    for suffix in ("svg", "png"):
        one, two = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}"
        draw_marking(MARKING, one)
        draw_marking(MARKING, two)
        assert one.read_bytes() == two.read_bytes()
    text = (tmp_path / "a.svg").read_text()
    assert "<dc:date>" not in text and "matplotlib.org" not in text.split("<metadata>")[1].split("</metadata>")[0]


def test_png_is_a_png(tmp_path: Path) -> None:
    draw_length(LENGTH, tmp_path / "h.PNG")
    assert (tmp_path / "h.PNG").read_bytes().startswith(b"\x89PNG")


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.svg or \.png"):
        draw_length(LENGTH, tmp_path / "h.gif")


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **kwargs: Any) -> ModuleType:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(PlotterMissing):
        draw_length(LENGTH, tmp_path / "h.svg")

"""Curves side by side: the order of ECN and PFC, shared words, and what is withheld; written by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from rocetune.model.plan import EcnBasis, Why
from rocetune.planner.compare import PLAN, Compared, Line
from rocetune.report.compare import compare_json, compare_markdown, compare_text
from rocetune.report.side_by_side import Start, expectations, ranged
from rocetune.tuning.outlook import Outlook

SEEN = Outlook(
    0.008,
    448_550.7,
    15_515.2,
    "kmax is below both bounds, strict 561,388 B and incast 26,946,606 B",
    "near PFC alone",
    "spared",
    "waits behind 8.97 us of standing queue",
    "rare: only while a deep incast starts",
    Why("outlook"),
)
LINES = (
    Line(PLAN, 400_000, 500_000, 20, SEEN, Why("ecn.bdp", source="paper")),
    Line("one", 1_000, 200_000, 1, replace(SEEN, burst="waits behind 3.3 us of standing queue")),
    Line("two", 2_000, 100_000, 1, replace(SEEN, burst="waits behind 36 us of standing queue", q_star_bytes=None)),
    Line("late", 1_000_000, 30_000_000, 5, replace(SEEN, pause="frequent")),
    Line("segments", None, None, None, None, note="no bytes"),
)
FOUND = Compared(
    "backend-400g-30m",
    "roce",
    3,
    400_000,
    EcnBasis(8.0, 15, "leaf1 has 16 ports", 4178, strict_bytes=561_387.6, incast_bytes=26_946_606.0),
    ("byte counter taken as off",),
    1,
    ("leaf1",),
    LINES,
)


def test_figures_with_the_order_and_words_by_group() -> None:
    text = compare_text([FOUND])
    rows = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ") and line.split()}
    assert rows["plan"].endswith("yes") and "448.6 KB (8.97 us)" in rows["plan"] and "15,515/s" in rows["plan"]
    assert rows["two"].endswith("yes") and "beyond kmax" in rows["two"]
    assert rows["late"].endswith("no") and rows["late"].count("withheld") == 3
    assert "expect of plan\n" in text and "expect of one, two\n" in text and "expect of late\n" in text
    assert "waits behind 3.3 to 36 us of standing queue" in text and "segments: no bytes" in text
    assert "1 port of leaf1" in text and "15 senders on one port (leaf1 has 16 ports), round trip 8 us" in text
    assert "µ" not in text


def test_verbose_tells_each_by_itself() -> None:
    text = compare_text([FOUND], verbose=True)
    for name in ("plan", "one", "two", "late"):
        assert f"expect of {name}\n" in text
    assert " to 36 us" not in text
    assert "| one, two |" in compare_markdown([FOUND]) and "| one |" in compare_markdown([FOUND], verbose=True)


def test_data_has_whole_bytes() -> None:
    (item,) = json.loads(compare_json([FOUND]))["settings"]
    assert (item["strict_bytes"], item["incast_bytes"], item["flows_why"]) == (
        561_388,
        26_946_606,
        "leaf1 has 16 ports",
    )
    curves: dict[str, Any] = {curve["name"]: curve for curve in item["curves"]}
    assert curves["plan"]["q_star_bytes"] == 448_551 and isinstance(curves["plan"]["q_star_bytes"], int)
    assert [curve["planned"] for curve in item["curves"]] == [True, False, False, False, False]
    assert curves["late"]["cnp_per_s"] is None and "where PFC starts" in curves["late"]["withheld"]
    assert curves["late"]["expect"]["pause"] == "frequent"
    assert curves["segments"]["ecn_before_pfc"] is None and curves["segments"]["note"] == "no bytes"


def test_nothing_to_compare() -> None:
    assert "nothing to compare" in compare_text([])


@pytest.mark.parametrize(
    ("texts", "shared"),
    [
        (["starts at 1,086 us", "starts at 9 us"], "starts at 9 to 1,086 us"),
        (["about 7 times, 2 us", "about 7 times, 2 us"], "about 7 times, 2 us"),
        (["no number"], "no number"),
    ],
)
def test_sentences_that_differ_in_numbers_alone(texts: list[str], shared: str) -> None:
    assert ranged(texts) == shared


def test_words_of_headroom_that_does_not_fit_are_not_given() -> None:
    assert expectations(LINES, Start(fits=False)) == []
    assert Start(fits=False).order(LINES[0]) == "does not fit" and Start().order(LINES[0]) == "not known"

"""Answers of the calculators as text, markdown and JSON; the answers are written here by hand."""

from __future__ import annotations

import json
from dataclasses import replace

from rocetune.model.plan import Assumption, PlanProblem, Why
from rocetune.planner.compare import Line
from rocetune.report.answers import EcnAnswer, HeadroomAnswer, Port, Room, Term
from rocetune.report.asics import asic_text, asics_json, asics_text
from rocetune.report.calculators import headroom_json, headroom_markdown, headroom_text
from rocetune.report.curves import ecn_json, ecn_markdown, ecn_text
from rocetune.tuning.asics import table
from rocetune.tuning.ecn import Bounds
from rocetune.tuning.headroom import Headroom
from rocetune.tuning.outlook import Outlook

TH3 = table().find("TH3")
PORT = Port(400_000, 30, 9216, 4178, TH3, "Z9332F")
ANSWER = HeadroomAnswer(
    port=PORT,
    result=Headroom(195_326, 96_550, "preset", Why("headroom.preset", (), ("one step",), source="a published table")),
    terms=(Term("base", "fitted", 31_900), Term("fixed time", "2.867 us x 50 GB/s", 143_350), Term("rest", "", 20_076)),
    floor=(Term("lossless frame", "", 4178), Term("port frame", "", 92_372)),
    confidence="high",
    room=Room(32, 2, 1.0, 12_500_864, 66_394_076, 53_893_212, 26_946_606, 829_126, 26_928_064, 27_200_352, 64),
    assumptions=(Assumption("somewhere", "a | b", "measure it"),),
    problems=(PlanProblem("400G", "almost full", "shorter cables", warning=True),),
    next=(("ecn --speed 400G --rtt 8us", "thresholds"),),
)
SEEN = Outlook(0.0081, 448_551.0, 96_839.4, "below both", "good", "spared", "short", "rare", Why("outlook"))
ECN = EcnAnswer(
    port=PORT,
    rtt_us=8,
    bdp_bytes=400_000,
    flows=64,
    dcqcn="firmware",
    line=Line("balanced", 400_000, 1_600_000, 20, SEEN),
    whys=(
        ("kmin_bytes", Why("ecn.bdp", source="paper")),
        (
            "pmax_percent",
            Why("ecn.pmax", steps=("p* of 64 flows", "pmax = max(20 %, 1 %) = 20 %"), source="fluid model"),
        ),
    ),
    terms=(Term("BDP", "400G x 8 us / 8", 400_000), Term("xoff", "S / 2", 26_946_606)),
    headroom_bytes=195_326,
    bounds=Bounds(561_387.6, 26_946_606.0, Why("ecn.bounds")),
    room=ANSWER.room,
    compared=(
        Line("hpcc", 1_600_000, 6_400_000, 20, replace(SEEN, q_star_bytes=None)),
        Line("huge", 1_600_000, 30_000_000, 20, SEEN),
        Line("segments", None, None, None, None, note="no bytes"),
    ),
)


def test_headroom_as_text() -> None:
    text = headroom_text(ANSWER)
    assert "  fixed time  2.867 us x 50 GB/s  143,350\n" in text
    assert "  headroom    195.3 KB, 3.91 us   195,326" in text
    assert "need: 32 ports x 2 lossless x 195,326 B = 12,500,864 B of 66,394,076 B: fits" in text
    assert "27,200,352 B; the need is 46% of it: 64 groups can pause at once, which is all" in text
    assert "26,946,606 B, 539 us, for a lone group" in text
    assert "somewhere: a | b (measure it)" in text and "warning: 400G: almost full" in text


def test_without_parts_the_derivation_stands_alone() -> None:
    assert "  one step\n" in headroom_text(replace(ANSWER, terms=()))


def test_headroom_as_json() -> None:
    found = json.loads(headroom_json(ANSWER))
    assert found["format"] == "rocetune.headroom/1"
    assert (found["headroom_bytes"], found["headroom_us"], found["physical_bytes"]) == (195_326, 3.907, 96_550)
    assert (found["xoff_bytes"], found["xon_bytes"], found["fits"]) == (26_946_606, 26_928_064, True)
    assert found["breakdown"][0] == {"term": "base", "formula": "fitted", "bytes": 31_900}
    assert found["why"]["source"] == "a published table" and found["next"] == ["ecn --speed 400G --rtt 8us"]
    alone = json.loads(headroom_json(replace(ANSWER, room=None)))
    assert "xoff_bytes" not in alone and "fits" not in alone


def test_a_pool_that_is_too_small_is_over_subscribed() -> None:
    room = replace(ANSWER.room or Room(1, 1, 1, 1), pool_bytes=6_250_432, pausing_at_once=32)
    text = headroom_text(replace(ANSWER, room=room))
    assert "6,250,432 B, over-subscribed 2.00 times: 32 of 64 groups can pause at once" in text


def test_a_users_own_table_is_not_the_vendors() -> None:
    text = headroom_text(replace(ANSWER, confidence="yours"))
    assert "method: preset of your own chip\n" in text and "confidence of the figures" not in text
    row = replace(ANSWER, confidence="yours", result=replace(ANSWER.result, method="table"))
    assert "row of your own table" in headroom_text(row) and json.loads(headroom_json(row))["confidence"] == "yours"


def test_headroom_that_does_not_fit_withholds_the_prediction() -> None:
    room = replace(ANSWER.room or Room(1, 1, 1, 1), shared_bytes=None, xoff_bytes=None)
    full = replace(ECN, room=room, bounds=None)
    text = ecn_text(full)
    assert "prediction withheld: the headroom does not fit in the buffer" in text
    assert "active bound: none: the headroom does not fit" in text
    assert "q* 448,551 B" not in text and "bystander" not in text.split("No single score")[0].split("p*: share")[0]
    found = json.loads(ecn_json(full))
    assert (found["p_star"], found["cnp_per_s"], found["expect"]) == (None, None, None)
    assert "does not fit" in found["withheld"] and found["ecn_before_pfc"] == "does not fit"


def test_a_buffer_that_is_not_known_or_too_small() -> None:
    room = replace(ANSWER.room or Room(1, 1, 1, 1), shared_bytes=None, xoff_bytes=None)
    assert "does not fit" in headroom_text(replace(ANSWER, room=room))
    unknown = headroom_text(replace(ANSWER, room=replace(room, buffer_bytes=None)))
    assert "fit" not in unknown.split("need: ")[1].splitlines()[0]


def test_markdown_cells_hold_together() -> None:
    rows = [line for line in headroom_markdown(ANSWER).splitlines() if line.startswith("|")]
    assert {line.count(" | ") for line in rows[2:]} == {2} and "**195,326**" in rows[-1]
    tables = [line for line in ecn_markdown(ECN).splitlines() if line.startswith("| ")]
    assert "| balanced | 400 KB (8 us) | 1.6 MB (32 us) | 20 % |" in "\n".join(tables)


def test_marking_beside_presets() -> None:
    text = ecn_text(ECN)
    assert "kmin 400,000 B, kmax 1,600,000 B, pmax 20 %" in text
    assert "p* 0.81 %, q* 448,551 B, 96,839 CNPs per second" in text
    row = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ") and line.split()}
    assert row["balanced"].endswith("incast only") and "beyond kmax" in row["hpcc"]
    assert row["huge"].endswith("no") and row["huge"].count("withheld") == 3
    assert row["segments:"].endswith("no bytes")
    assert "why: pmax = max(20 %, 1 %) = 20 %" in text
    assert "source of balanced, thresholds: paper" in text
    assert "source of balanced, pmax and prediction: fluid model" in text
    assert row["xoff"].split() == ["xoff", "S", "/", "2", "26,946,606", "539"]


def test_marking_as_json() -> None:
    found = json.loads(ecn_json(ECN))
    assert (found["kmin_bytes"], found["kmin_us"], found["q_star_bytes"], found["q_star_us"]) == (
        400_000,
        8,
        448_551,
        8.971,
    )
    assert (found["strict_bytes"], found["xoff_bytes"], found["headroom_bytes"]) == (561_388, 26_946_606, 195_326)
    assert [item["ecn_before_pfc"] for item in found["compare"]] == ["incast only", "no", None]
    assert found["compare"][1]["p_star"] is None and "where PFC starts" in found["compare"][1]["withheld"]
    assert found["compare"][0]["q_star_bytes"] is None and found["compare"][2]["note"] == "no bytes"


def test_chips() -> None:
    assert TH3 is not None
    assert "Tomahawk 3" in asics_text(table()) and "25.77 GB" in asics_text(table())
    assert "66,394,076" in asic_text(TH3)
    assert json.loads(asics_json([TH3]))["asics"][0]["cell_bytes"] == 254

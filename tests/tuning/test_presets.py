"""Vendor presets against the recommendations they were taken from."""

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocetune.tuning import presets

RECOMMENDATIONS = Path(__file__).resolve().parents[3] / "shared" / "data" / "ecn_recommendations.csv"

# Rows that are no curve: a bound, and two vendors that publish no figure.
NO_CURVE = ("bound, beta=8", "Huawei CloudEngine static", "Meta 400G training")

BY_SOURCE = {
    "deployed setting": "dcqcn-paper",
    "DCQCN-validation": "dcqcn-validation",
    "DCQCN+": "dcqcn-plus",
    "run.py (DCTCP mode)": "hpcc-dctcp",
    "HPCC ns-3": "hpcc",
    "files/build_templates": "sonic-default",
    "7050SX3-48C8": "sonic-7050sx3",
    "7260CX3-D96C16": "sonic-7260cx3",
    "SN4600C-C64": "sonic-sn4600c",
    "profiles/td2": "sonic-td2",
    "7060X6-16PE": "sonic-7060x6-400g",
    "7060X6-64PE-B": "sonic-7060x6-c448o16",
    "(ToR)": "sonic-sn5600-tor",
    "(leaf/spine)": "sonic-sn5600-leaf",
    "D6332": "inventec-d6332",
    "AS7116": "accton-as7116",
    "dbmvtx9180": "marvell-default",
    "100G AI/ML blueprint": "cisco-blueprint",
    "configuration generator": "cisco-400g",
    "CumulusNetworks": "cumulus-default",
    "Apstra DCQCN configlet": "juniper-apstra",
    "terraform-apstra": "juniper-jvd",
    "200G NICs": "arista-segments",
    "lab guide": "arista-lab",
    "Fluid-model study": "fluid-study",
}


def rows() -> list[dict[str, str]]:
    if not RECOMMENDATIONS.exists():
        return []
    with RECOMMENDATIONS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def name_of(row: dict[str, str]) -> str | None:
    if any(text in row["source"] for text in NO_CURVE):
        return None
    if "third-party notes" in row["source"]:
        return "arista-notes" if row["kmin_bytes"] == "500000" else "arista-notes-150k"
    return next(name for text, name in BY_SOURCE.items() if text in row["source"])


needs_data = pytest.mark.skipif(
    not RECOMMENDATIONS.exists(), reason="ecn_recommendations.csv is not beside the checkout"
)


@needs_data
@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['source'][:40]} {row['speed']}")
def test_every_row_is_a_preset_with_its_values(row: dict[str, str]) -> None:
    name = name_of(row)
    if name is None:
        assert not row["kmax_bytes"]
        return
    preset = presets.ecn_preset(name)
    assert preset.confidence == row["confidence"]
    if row["pmax_percent"]:
        assert preset.pmax_percent == float(row["pmax_percent"]) and not preset.pmax_assumed
    else:
        assert preset.pmax_assumed
    if not row["kmin_bytes"]:
        pair = re.search(r"fill-level \[(\d+) (\d+)\]|threshold (\d+) segments maximum-threshold (\d+)", row["note"])
        assert pair is not None
        assert [preset.kmin, preset.kmax] == [float(part) for part in pair.groups() if part]
        assert preset.unit == ("percent" if "percent" in row["note"] or "fill-level" in row["note"] else "segments")
        return
    speeds = [int(text) for text in re.findall(r"(\d+)G", row["speed"])] or [100, 400]
    for gbps in speeds:
        made = preset.thresholds(gbps * 1000)
        assert (made.kmin_bytes, made.kmax_bytes) == (int(row["kmin_bytes"]), int(row["kmax_bytes"]))
        assert preset.covers(gbps * 1000)
        assert preset.source in made.why.source


@needs_data
def test_no_preset_without_a_row() -> None:
    assert {name_of(row) for row in rows()} - {None} == set(presets.ecn_presets())


# Setting, rate in Gbit/s, kmin and kmax in microseconds, pmax
IN_TIME = [
    ("dcqcn-paper", 40, 1.0, 40, 1),
    ("hpcc", 25, 32, 128, 20),
    ("hpcc", 100, 32, 128, 20),
    ("hpcc", 800, 32, 128, 20),
    ("cumulus-default", 100, 12, 120, 100),
    ("cumulus-default", 400, 3, 30, 100),
    ("cisco-blueprint", 100, 12, 240, 7),
    ("sonic-default", 40, 210, 419, 5),
    ("sonic-default", 100, 84, 168, 5),
    ("sonic-default", 400, 21, 42, 5),
    ("sonic-7260cx3", 100, 160, 800, 5),
    ("sonic-sn4600c", 100, 160, 800, 5),
    ("sonic-sn5600-tor", 100, 13.4, 22.6, 5),
    ("sonic-7060x6-400g", 400, 2.6, 5.2, 5),
]


@pytest.mark.parametrize(("name", "gbps", "low", "high", "pmax"), IN_TIME)
def test_in_time(name: str, gbps: int, low: float, high: float, pmax: float) -> None:
    made = presets.ecn_preset(name).thresholds(gbps * 1000)
    assert made.kmin_bytes * 8 / (gbps * 1000) == pytest.approx(low, rel=0.01)
    assert made.kmax_bytes * 8 / (gbps * 1000) == pytest.approx(high, rel=0.01)
    assert made.pmax_percent == pmax
    assert any("us" in step and f"{made.kmax_bytes:,}" in step for step in made.why.steps)


def test_speed_it_was_not_made_for_is_said() -> None:
    made = presets.ecn_preset("dcqcn-paper").thresholds(400_000)
    text = next(step for step in made.why.steps if "not made for 400G" in step)
    assert "40 us at 40G" in text and "is 4 us here" in text
    assert not any("not made for" in step for step in presets.ecn_preset("dcqcn-paper").thresholds(40_000).why.steps)
    between = presets.ecn_preset("marvell-default")  # 100G to 800G: the nearer end is told
    for speed, near in ((50_000, "at 100G"), (1_600_000, "at 800G")):
        assert any("not made for" in step and near in step for step in between.thresholds(speed).why.steps)
    scaled = presets.ecn_preset("hpcc").thresholds(800_000)
    assert any("same rule" in step for step in scaled.why.steps)


def test_percent_of_the_queue() -> None:
    made = presets.ecn_preset("juniper-apstra").thresholds(400_000, 1_000_000)
    assert (made.kmin_bytes, made.kmax_bytes, made.pmax_percent) == (550_000, 900_000, 100)
    assert ("queue_bytes", 1_000_000) in made.why.inputs
    made = presets.ecn_preset("juniper-jvd").thresholds(100_000, 1_000_001)
    assert (made.kmin_bytes, made.kmax_bytes) == (200_000, 600_001)


@pytest.mark.parametrize(
    ("name", "speed", "queue", "words"),
    [
        ("juniper-jvd", 400_000, None, "percent of the queue"),
        ("juniper-jvd", 400_000, 0, "buffer of a queue"),
        ("arista-segments", 200_000, None, "segments"),
        ("sonic-default", 0, None, "port speed"),
    ],
)
def test_what_cannot_be_in_bytes(name: str, speed: int, queue: int | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        presets.ecn_preset(name).thresholds(speed, queue)


def test_names_are_forgiving_and_suggest() -> None:
    assert presets.ecn_preset(" SONiC_Default ").name == "sonic-default"
    with pytest.raises(ValueError, match="did you mean dcqcn-paper"):
        presets.ecn_preset("dcqcn-papr")
    with pytest.raises(ValueError, match="cisco-blueprint or cisco-400g"):
        presets.ecn_preset("cisco")
    with pytest.raises(ValueError, match="known: dcqcn-paper"):
        presets.ecn_preset("zzzzzzzz")
    with pytest.raises(ValueError, match="known"):
        presets.ecn_preset("")


def test_assumed_pmax_is_said() -> None:
    made = presets.ecn_preset("accton-as7116").thresholds(100_000)
    assert any("not stated, assumed" in step for step in made.why.steps)


def test_named_chips_are_in_the_table() -> None:
    from rocetune.tuning.asics import table

    families = {"Cloud Scale", "Spectrum"}  # of several chips
    for preset in presets.ecn_presets().values():
        for asic in preset.asics:
            assert asic in families or table().find(asic) is not None, asic


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(presets.ecn_presets())), st.sampled_from([10_000, 100_000, 400_000, 1_600_000]))
def test_order_of_every_preset(name: str, speed: int) -> None:
    preset = presets.ecn_preset(name)
    if preset.unit == "segments":
        return
    made = preset.thresholds(speed, 5_000_000)
    assert 0 < made.kmin_bytes <= made.kmax_bytes
    assert made.kmin_bytes < made.kmax_bytes or made.pmax_percent == 100
    assert 0 < made.pmax_percent <= 100

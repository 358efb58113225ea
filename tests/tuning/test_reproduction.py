"""The reproduction report: its targets, and that the committed one is what the program computes."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from rocetune.tuning.families import Lines, Parts, families
from rocetune.tuning.published import published

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LOOKUP = SCRIPTS.parent / "../shared/data/sonic_headroom_lookup.csv"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    sys.path.insert(0, str(SCRIPTS))
    try:
        return importlib.import_module("reproduction")
    finally:
        sys.path.remove(str(SCRIPTS))


@pytest.mark.parametrize("item", [item for item in published() if item.rows], ids=lambda item: item.name)
def test_targets(script: ModuleType, item: object) -> None:
    """Exact or raised to the floor by default; within 5 % by the preset alone; never below the own table."""
    for one in script.points(item):
        place = (one.speed_mbps, one.cable_m)
        assert one.default == one.published or (one.raised and one.default > one.published), place
        assert one.rule is not None and 0 <= one.error(one.rule) <= 0.05, place
        if one.default != one.published:
            assert one.off == one.default, place  # the floor decides, whatever the row or the preset is
        else:
            assert 0 <= one.error(one.off) <= 0.05, place


# Reaction limit of IEEE 802.3 31B.3.7 in bytes by Mbit/s, as SONiC's dynamic headroom design lists it; 800G doubled.
REACTION = {
    100: 64,
    1000: 128,
    10_000: 4288,
    25_000: 5120,
    40_000: 7552,
    50_000: 9408,
    100_000: 25_216,
    200_000: 28_992,
    400_000: 57_920,
    800_000: 115_840,
}


def test_no_row_is_left_out(script: ModuleType) -> None:
    """The rows that are raised are those below 2LR/v plus the reaction limit, and no others: 42 of 1186."""
    below, raised, every = set(), set(), 0
    for item in published():
        for one in script.points(item):
            place, every = (item.name, one.speed_mbps, one.cable_m), every + 1
            in_flight = 2 * one.cable_m * one.speed_mbps * 125_000 / 1.98e8 + REACTION[one.speed_mbps]
            below |= {place} if one.published < in_flight else set()
            raised |= {place} if one.default != one.published else set()
            assert one.rule is not None, place
    assert (every, len(below)) == (1186, 42)
    assert raised == below


def test_sums_of_parts_give_their_tables_to_the_byte(script: ModuleType) -> None:
    tables = {item.name: item for item in published()}
    sums = [family for family in families().values() if isinstance(family.preset, Parts)]
    every = [one for family in sums for name in family.tables for one in script.points(tables[name])]
    assert len(every) == 413
    assert [one for one in every if one.rule != one.published] == []


def test_stated_errors_of_presets_hold(script: ModuleType) -> None:
    tables = {item.name: item for item in published()}
    for family in families().values():
        stated = family.preset.error_percent if isinstance(family.preset, Lines) else 0.0
        for name in family.tables:
            if family.fallback:
                continue
            for one in script.points(tables[name]):
                cell = (script.chip(tables[name]).cell_bytes or 1) / one.published
                assert abs(one.error(one.rule)) <= stated / 100 + cell + 1e-9, (name, one.speed_mbps, one.cable_m)


def test_committed_report_is_current(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(["--check"]) == 0
    assert "up to date" in capsys.readouterr().out


def test_check_fails_on_another_report(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "REPORT", tmp_path / "reproduction.md")
    monkeypatch.setattr(script, "ROWS", tmp_path / "reproduction-rows.md")
    assert script.main(["--check"]) == 1
    (tmp_path / "reproduction.md").write_text("old", encoding="utf-8")
    assert script.main(["--check"]) == 1
    assert script.main([]) == 0
    assert script.main(["--check"]) == 0
    (tmp_path / "reproduction-rows.md").write_text("old", encoding="utf-8")
    assert script.main(["--check"]) == 1
    capsys.readouterr()


def test_other_tables(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "more.csv"
    path.write_text(
        "hwsku,asic,speed_mbps,cable_m,xoff_bytes\n"
        "DellEMC-Z9332f-O32,Broadcom Tomahawk3,400000,40,201930\n"
        "Unheard-of-32X,Broadcom Tomahawk3,400000,40,300000\n",
        encoding="utf-8",
    )
    assert script.main([str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("Z9332f" in line and "| default | 1 | 1 |" in line for line in lines)
    assert any("Unheard-of" in line and "Tomahawk 3" in line for line in lines)
    assert any("Unheard-of" in line and "| own table | 1 | 1 |" in line for line in lines)  # exact with its own row
    head = "hwsku,speed_mbps,cable_m,xoff_bytes\n"
    for text, words in (
        (head + "Z9332F,fast,40,1\n", "more.csv:2: speed 'fast' is not a number"),
        (head + "Z9332F,\u0664\u0660\u0660\u0660\u0660\u0660,40,1\n", "more.csv:2: speed"),
        (head + "Z9332F,400_000,40,1\n", "more.csv:2: speed"),
        (head + "Z9332F,400,40,1\n", "more.csv:2: 400 Mbit/s is the speed of no port"),
        (head + "Z9332F,400000,40,1\nZ9332F,400000,40,2\n", "more.csv:3: Z9332F has 400000 Mbit/s at 40 m in line 2"),
        (head, "no row"),
        (head + "Z9332F,400000,40,0\n", "more.csv:2"),
        (head + "Z,1,2,-5\n", "more.csv:2"),
    ):
        path.write_text(text, encoding="utf-8-sig")
        assert script.main([str(path)]) == 2
        assert words in capsys.readouterr().err
    path.write_bytes(b"\xff\xfe\x00")
    assert script.main([str(path)]) == 2 and "no text" in capsys.readouterr().err
    assert script.main([str(tmp_path)]) == 2 and "directory" in capsys.readouterr().err
    assert script.main([str(tmp_path / "none.csv")]) == 2


@pytest.mark.skipif(not LOOKUP.exists(), reason="reference data not present")
def test_the_reference_file_itself(script: ModuleType) -> None:
    _, rows = script.other_tables(LOOKUP)
    for mode in ("default", "own table"):
        found = [row for row in rows if row[2] == mode]
        assert len(found) == 64
        assert sum(row[4] for row in found) == 1164 - 42
        assert all(row[8] == 0 and row[9] == 0 for row in found)  # none below, none refused

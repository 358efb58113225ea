"""Odd tables, models and port counts at the calculators: told with place and remedy, exit 2, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocetune.cli import main

PORT = ("--speed", "400G", "--length", "30m", "--asic", "TH3")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("speed_mbps,cable_m,xoff_bytes\n400000,30," + "9" * 200_000 + "\n", "200010 characters"),
        ("speed_mbps,cable_m,xoff_bytes\n" + "400000,30,200000\n" * 90_000, "more than 1,000,000"),
        ("speed_mbps,cable_m,xoff_bytes\n٤٠٠٠٠٠,٣٠,٢٠٠٠٠٠\n", "not a cable length"),
        ("speed_mbps,cable_m,xoff_bytes\n400000," + "9" * 30 + ",200000\n", "not a cable length"),
        ("speed_mbps,cable_m,xoff_bytes\n400000,30,999999999999\n", "more than any chip holds"),
        ("speed_mbps,cable_m,xoff_bytes\n400000000,30,200000\n", "the speed of no port"),
        ("speed_mbps,cable_m,xoff_bytes\n7,30,200000\n", "the speed of no port"),
        ("speed_mbps,cable_m,xoff_bytes,xoff\n400000,30,200000,300000\n", "two columns mean xoff"),
        ("speed_mbps,cable_m,xoff_bytes\n", "no row"),
        ("", "no row"),
        ("\x00\x01\x02\n", "no value for cable"),
    ],
)
def test_tables_that_cannot_be(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    done = run("headroom", *PORT, "--table", str(tmp_path / "t.csv"))
    assert done.exit_code == 2 and words in done.output and "t.csv:" in done.output
    assert "Internal error" not in done.output and len(done.output) < 1000


def test_a_table_with_a_byte_order_mark_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\ufeffspeed_mbps,cable_m,xoff_bytes\n400000,30,250000\n", encoding="utf-8")
    assert "250,000" in run("headroom", *PORT, "--table", str(tmp_path / "t.csv")).output
    site = "networks: {}\ntuning: {headroom_tables: [{file: t.csv, models: [Z9332F]}]}\n"
    (tmp_path / "rocetune.yaml").write_text(site)
    named = run("--site", str(tmp_path), "headroom", *PORT[:4], "--model", "DellEMC-Z9332f-O32")
    assert named.exit_code == 0 and "250,000" in named.output


def test_a_table_and_a_delay_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("speed_mbps,cable_m,xoff_bytes\n400000,30,250000\n")
    done = run("headroom", *PORT, "--table", str(tmp_path / "t.csv"), "--delay", "200ns")
    assert done.exit_code == 2 and "--delay" in done.output


def test_a_mistyped_model_is_told_and_an_empty_one_refused() -> None:
    done = run("headroom", *PORT, "--model", "Z9323f")
    assert done.exit_code == 0 and "not listed" in done.output and "Z9332F" in done.output
    assert "confidence high" not in done.output
    assert run("headroom", *PORT, "--model", "  ").exit_code == 2


@pytest.mark.parametrize(("chip", "speed"), [("tomahawk5", "25G"), ("tomahawk5", "10G"), ("spectrum4", "10G")])
def test_slow_ports_of_a_fast_chip_have_an_answer(chip: str, speed: str) -> None:
    done = run("ecn", "--speed", speed, "--rtt", "8us", "--asic", chip)
    assert done.exit_code == 0, done.output


def test_more_ports_than_the_chip_feeds_are_refused() -> None:
    done = run("headroom", *PORT, "--ports", "33", "--lossless", "1")
    assert done.exit_code == 2 and "32 ports" in done.output
    assert run("headroom", *PORT, "--ports", "32", "--lossless", "1").exit_code == 0


def test_presets_ignore_case() -> None:
    assert run("ecn", "--speed", "400G", "--rtt", "8us", "--compare", "ALL").exit_code == 0


def test_a_picture_that_cannot_be_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = run("headroom", *PORT, "--plot", str(tmp_path / "none" / "x.svg"))
    assert done.exit_code == 2 and "x.svg" in done.output

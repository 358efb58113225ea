"""Calculators in a site folder know its chips, tables and quanta; elsewhere only the shipped ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocetune.cli import main

SITE = """networks: {}
tuning:
  quanta_800g: 905
  asics:
    house-chip: {name: House Chip, cell: 256B, buffer: 64MiB, port: 800G, models: [House-32]}
  headroom_tables:
    - {file: house.ini, models: [House-32]}
"""
TABLE = "# speed cable size xon xoff threshold\n400000 5m 9216 0 190500 0\n400000 40m 9216 0 215900 0\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "rocetune.yaml").write_text(SITE)
    (tmp_path / "house.ini").write_text(TABLE)
    return tmp_path


def run(root: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["--site", str(root), "--format", "json", *words])


def test_the_sites_table_decides(site: Path) -> None:
    done = run(site, "headroom", "--speed", "400G", "--length", "3m", "--model", "House-32")
    assert (done.exit_code, json.loads(done.output)["headroom_bytes"]) == (0, 190_500)
    other = run(site, "headroom", "--speed", "400G", "--length", "3m", "--model", "House-32", "--no-table")
    assert json.loads(other.output)["method"] == "canonical"


def test_the_sites_quanta_count_unless_told_otherwise(site: Path) -> None:
    """Canonical sum: 905 quanta fewer are 57920 B, times the factor 256/84 of the cell."""
    words = ("headroom", "--speed", "800G", "--length", "3m", "--asic", "House Chip", "--no-table")
    sonic, ieee = (json.loads(run(site, *words, *more).output) for more in ((), ("--quanta-800g", "1810")))
    assert ieee["headroom_bytes"] - sonic["headroom_bytes"] == pytest.approx(57_920 * 256 / 84, abs=256)


def test_asics_lists_the_sites_chip(site: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert "House Chip" in run(site, "asics").output
    assert "House Chip" not in run(tmp_path_factory.mktemp("empty"), "asics").output


def test_a_wrong_table_is_told_with_its_line(site: Path) -> None:
    (site / "house.ini").write_text(TABLE.replace("215900", "many"))
    done = run(site, "headroom", "--speed", "400G", "--length", "3m", "--model", "House-32")
    assert done.exit_code == 2 and "house.ini:3" in done.output and "many" in done.output


def test_ecn_takes_the_sites_table(site: Path) -> None:
    done = run(site, "ecn", "--speed", "400G", "--rtt", "8us", "--model", "House-32", "--ports", "32", "--length", "3m")
    assert json.loads(done.output)["headroom_bytes"] == 190_500


def test_a_number_of_the_sites_own_is_not_called_the_vendors(site: Path) -> None:
    words = ("headroom", "--speed", "400G", "--length", "3m", "--model", "House-32")
    for more in ((), ("--no-table",)):
        done = CliRunner().invoke(main, ["--site", str(site), *words, *more])
        assert "your own" in done.output and "vendor" not in done.output and "published row" not in done.output
        assert json.loads(run(site, *words, *more).output)["confidence"] == "yours"


def test_next_commands_stay_in_the_site(site: Path) -> None:
    done = run(site, "headroom", "--speed", "400G", "--length", "3m", "--model", "House-32", "--mtu", "9000")
    (first, *_) = json.loads(done.output)["next"]
    again = CliRunner().invoke(main, [*first.split(), "--format", "json"])
    assert json.loads(again.output)["headroom_bytes"] == json.loads(done.output)["headroom_bytes"]
    assert "--site" in first and "--model House-32" in first and "--mtu 9000" in first

"""What a switch's own headroom table means for validate, plan and render, before any device is asked."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocetune.cli import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for folder in ("inventory", "profiles"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "rocetune.yaml", tmp_path)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def run(site: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["--site", str(site), *words])


def test_a_cable_beyond_the_switchs_table_stops_all_three(site: Path) -> None:
    """The published table of leaf2's SKU ends at 2000 m: a lossless port of 3000 m would get no headroom."""
    change(site / "inventory" / "links.yaml", "medium: dac, length: 2m", "medium: lr, length: 3000m")
    for words in (("validate",), ("plan",), ("render",), ("render", "-o", str(site / "out"))):
        done = run(site, *words)
        assert done.exit_code == 2, (words, done.output)
        assert "no headroom for 3000 m" in done.output and "up to 2000 m" in done.output
    assert not (site / "out").exists()


def test_a_table_below_what_the_link_needs_is_warned_of(site: Path) -> None:
    """ACS-MSN4700 keeps 38,912 B at 400G and 5 m, less than the frames and the peer's reaction alone."""
    change(site / "inventory" / "hosts.yaml", "hwsku: DellEMC-Z9332f-O32\n    asic: Tomahawk 3", "hwsku: ACS-MSN4700")
    for words in ("validate", "plan"):
        done = run(site, words)
        assert done.exit_code == 0, done.output
        told = " ".join(done.output.split())
        assert "the switch's table reserves 38,912 B" in told and "could be lost while the peer stops" in told, told
        assert "fix pfc.headroom in the profile" in told

"""What a switch's own headroom table means for validate, plan and render, before any device is asked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocetune.cli import main
from rocetune.platforms.arista_eos.names import asic_of
from rocetune.tuning.own_table import switch_row
from rocetune.tuning.published import read_table

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


def test_render_warns_beside_the_configuration(site: Path) -> None:
    """Warnings go to stderr: what is on stdout may be piped to a switch."""
    change(site / "inventory" / "hosts.yaml", "hwsku: DellEMC-Z9332f-O32\n    asic: Tomahawk 3", "hwsku: ACS-MSN4700")
    done = run(site, "render")
    assert done.exit_code == 0
    assert "warning: leaf2: the switch's table reserves 38,912 B" in done.stderr
    assert "warning" not in done.stdout


@pytest.mark.parametrize(
    ("chip", "warned"), [("TH3", False), ("BCM56980", False), ("Spectrum-3", True), ("Silicon One G200", True)]
)
def test_an_eos_chip_whose_buffer_commands_are_not_known_is_warned_of(site: Path, chip: str, warned: bool) -> None:
    """A Tomahawk in any spelling gets its headroom; of other chips nothing is written, and that is said."""
    change(
        site / "inventory" / "hosts.yaml",
        "model: DCS-7060DX4-32\n    asic: Tomahawk 3 ",
        f"model: Box-32\n    asic: {chip} ",
    )
    for words in (("validate",), ("plan",), ("render", "-o", str(site / "out"))):
        done = run(site, *words)
        assert done.exit_code == 0, done.output
        assert ("buffer commands of" in done.output) == warned, (words, done.output)
    assert ("ingress headroom" in (site / "out" / "leaf1.cfg").read_text(encoding="utf-8")) != warned


def test_explain_shows_what_was_planned_beside_what_the_platform_takes(site: Path) -> None:
    (site / "mine.csv").write_text("speed_mbps,cable_m,xoff_bytes\n400000,5,210000\n", encoding="utf-8")
    with (site / "rocetune.yaml").open("a", encoding="utf-8") as file:
        file.write("tuning:\n  headroom_tables:\n    - {file: mine.csv, models: [DellEMC-Z9332f-O32]}\n")
    text = run(site, "plan", "--explain", "leaf2:Ethernet0").output
    assert "headroom = 178,562 B (178.6 KB, 3.57 us) on this platform, 210,000 B (210 KB, 4.2 us) planned" in text
    document = json.loads(run(site, "--format", "json", "plan", "--explain", "leaf2:Ethernet0").output)
    (setting,) = document["settings"].values()
    (entry,) = [item for item in setting["values"] if item["path"] == ["priorities", 3, "headroom_bytes"]]
    assert (entry["value"], entry["planned"]) == (178_562, 210_000)
    (mtu,) = [item for item in setting["values"] if item["path"] == ["mtu_bytes"]]
    assert "planned" not in mtu


@pytest.mark.parametrize(
    ("model", "written"), [("DCS-7050QX-32S", True), ("DCS-7050PX4-32S", True), ("DCS-7280R4-32QF-32DF", False)]
)
def test_a_model_tells_eos_the_chip_that_it_tells_the_planner(site: Path, model: str, written: bool) -> None:
    """Trident takes headroom, deep-buffer chips see to theirs: no chip of either is called unknown."""
    change(site / "inventory" / "hosts.yaml", "model: DCS-7060DX4-32\n    asic: Tomahawk 3 ", f"model: {model} ")
    change(site / "inventory" / "links.yaml", "speed: 400G", "speed: 40G")
    change(site / "inventory" / "groups.yaml", "speed: 400G", "speed: 40G")
    change(site / "inventory" / "hosts.yaml", "speeds: [100G, 200G, 400G]", "speeds: [40G, 100G, 200G, 400G]")
    change(site / "inventory" / "hosts.yaml", "hwsku: DellEMC-Z9332f-O32\n    asic: Tomahawk 3", "hwsku: Force10-Z9100")
    done = run(site, "render", "--limit", "leaf1")
    assert "buffer commands" not in done.output, done.output
    assert ("ingress headroom" in done.stdout) == written, done.output


def test_a_name_that_the_site_gives_a_chip_counts_on_eos_too(site: Path) -> None:
    change(
        site / "inventory" / "hosts.yaml",
        "model: DCS-7060DX4-32\n    asic: Tomahawk 3 ",
        "model: HC-32X\n    role: leaf ",
    )
    with (site / "rocetune.yaml").open("a", encoding="utf-8") as file:
        file.write("tuning:\n  asics: {tomahawk-3: {models: [HC-32X]}}\n")
    done = run(site, "render", "--limit", "leaf1")
    assert "ingress headroom bytes" in done.stdout and "buffer commands" not in done.output, done.output


def test_headroom_that_eos_cannot_have_is_warned_of(site: Path) -> None:
    """Where the switch-wide profile is not ours to write nothing goes out, and the bounds count on it."""
    change(site / "inventory" / "groups.yaml", "globals: extend ", "globals: refuse ")
    for words in ("validate", "plan", "render"):
        assert "the switch keeps the headroom and threshold that it has" in run(site, words).output, words


@pytest.mark.parametrize("words", ["hwsku: DellEMC-Z9332f-O32", "model: Z9332F"])
def test_the_one_table_of_a_model_is_the_switchs(site: Path, words: str) -> None:
    """By model or by SKU: 400 m is not in the table, 1000 m is; 2500 m is beyond its 2000 m."""
    change(site / "inventory" / "hosts.yaml", "hwsku: DellEMC-Z9332f-O32", words)
    change(site / "inventory" / "links.yaml", "medium: dac, length: 2m", "medium: dr, length: 400m")
    done = run(site, "render", "--limit", "leaf2")
    assert done.exit_code == 0 and '"Ethernet0": "1000m"' in done.stdout and '"400m"' not in done.stdout
    change(site / "inventory" / "links.yaml", "medium: dr, length: 400m", "medium: lr, length: 2500m")
    done = run(site, "validate")
    assert done.exit_code == 2 and "no headroom for 2500 m" in done.output


def test_a_length_that_an_unknown_table_may_lack_is_warned_of(site: Path) -> None:
    change(site / "inventory" / "hosts.yaml", "hwsku: DellEMC-Z9332f-O32", "os: sonic")
    change(site / "inventory" / "links.yaml", "medium: dac, length: 2m", "medium: dr, length: 400m")
    done = run(site, "validate")
    assert "no headroom table of this switch is known" in done.output and "state hwsku" in done.output


def test_a_chip_of_the_site_that_no_switch_has_is_warned_of(site: Path) -> None:
    with (site / "rocetune.yaml").open("a", encoding="utf-8") as file:
        file.write(
            "tuning:\n  asics:\n    tomahwk-3: {buffer: 10MB, cell: 254B}\n    house: {cell: 254B, models: [Z9332F]}\n"
        )
    done = run(site, "validate")
    assert done.exit_code == 0 and "no switch of the inventory has this chip: tomahwk-3" in done.output
    assert "did you mean Tomahawk 3?" in done.output and "this chip: house" in done.output


@pytest.mark.parametrize("name", ["", "name: Acme X, "])
def test_a_static_xoff_on_a_rack_with_eos_is_no_crash(site: Path, name: str) -> None:
    """EOS has no static threshold: it says so and keeps its headroom, also where the site renames the chip."""
    change(site / "profiles" / "ai-training.yaml", "xoff: auto", "xoff: 300KB")
    if name:
        with (site / "rocetune.yaml").open("a", encoding="utf-8") as file:
            file.write(f"tuning:\n  asics: {{tomahawk-3: {{{name}cell: 254B}}}}\n")
    for words in (("validate",), ("plan",), ("plan", "--explain", "leaf1"), ("render", "--limit", "leaf1")):
        done = run(site, *words)
        assert "Internal error" not in done.output and "Traceback" not in done.output, done.output
    assert "ingress headroom bytes" in run(site, "render", "--limit", "leaf1").stdout


@pytest.mark.parametrize(
    ("model", "chip"),
    [
        ("DCS-7060DX5-32", "Tomahawk 4"),
        ("DCS-7060PX5-32", "Tomahawk 4"),
        ("DCS-7060DX4-32", "Tomahawk 3"),
        ("DCS-7050CX3M-32S", "Trident 3"),
        ("DCS-7060CX-64S", "Tomahawk"),
        ("DCS-7060CX2-32S", "Tomahawk"),
        ("DCS-7260CX3-64", "Tomahawk 2"),
        ("DCS-7280CR3-32P4", "Jericho 2"),
        ("DCS-7280DR3A-36", "Jericho 2C+"),
    ],
)
def test_a_series_tells_the_chip(model: str, chip: str) -> None:
    assert asic_of(model) == chip


def test_a_copy_of_the_switchs_table_beats_that_of_a_sibling() -> None:
    """Mellanox-SN4700-O8V48 is not listed, its siblings are: the user's row with a threshold is nearer to it."""
    own = read_table("speed_mbps,cable_m,xoff_bytes,threshold\n400000,40,150000,-1\n", "own.csv")
    row = switch_row("Mellanox-SN4700-O8V48", None, own, 400_000, 40)
    assert row is not None and (row[0].name, row[1].threshold) == ("own.csv", -1)
    listed = switch_row("Mellanox-SN4700-C128", None, own, 400_000, 40)
    assert listed is not None and listed[0].name == "Mellanox-SN4700-C128"

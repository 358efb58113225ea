"""The calculators as they are typed: no site, units required, the answer at the top of the JSON."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from rocetune.cli import main

HEADROOM = ["headroom", "--speed", "400G", "--length", "30m"]
ECN = ["ecn", "--speed", "400G", "--rtt", "8us"]
RACK = ["--ports", "32", "--lossless", "2"]


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def _json(*arguments: str) -> dict[str, Any]:
    done = _run(*arguments, "--format", "json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_worked_example_end_to_end() -> None:
    """Tomahawk 3 in a Z9332F: the sum of tuning notes 5.2, number by number."""
    found = _json(*ECN, "--asic", "tomahawk3", "--model", "Z9332F", *RACK, "--length", "30m", "--no-table")
    assert (found["format"], found["headroom_bytes"]) == ("rocetune.ecn/1", 195_326)
    assert (found["need_bytes"], found["shared_bytes"]) == (12_500_864, 53_893_212)
    assert (found["strict_bytes"], found["incast_bytes"]) == (561_388, 26_946_606)
    assert (found["kmin_bytes"], found["kmax_bytes"], found["pmax_percent"]) == (400_000, 1_600_000, 20)
    assert (found["kmin_us"], found["kmax_us"]) == (8, 32)
    assert [item["warning"] for item in found["problems"]] == [True]  # strict bound
    strict = _json(*ECN, "--asic", "Z9332F", *RACK, "--objective", "latency", "--no-table")
    assert (strict["kmin_bytes"], strict["kmax_bytes"], strict["problems"]) == (140_208, 561_340, [])
    assert (round(strict["kmin_us"], 1), round(strict["kmax_us"], 1)) == (2.8, 11.2)


@pytest.mark.parametrize("name", ["tomahawk3", "Tomahawk 3", "TH3", "BCM56980", "broadcom-tomahawk3"])
def test_headroom_of_a_chip_in_any_spelling(name: str) -> None:
    found = _json(*HEADROOM, "--asic", name, "--no-table")
    assert (found["headroom_bytes"], found["asic"], found["method"]) == (195_326, "Tomahawk 3", "preset")
    assert round(sum(row["bytes"] for row in found["breakdown"])) == 195_326


@pytest.mark.parametrize(
    ("speed", "length", "cell", "expected"),
    [
        ("100G", "3m", "254B", 117_348),
        ("100G", "100m", "254", 154_432),
        ("400G", "30m", "254B", 283_718),
        ("800G", "30m", "254B", 534_924),
        ("400G", "0.3km", "192B", 527_040),
    ],
)
def test_canonical_sum_of_a_cell_size(speed: str, length: str, cell: str, expected: int) -> None:
    found = _json("headroom", "--speed", speed, "--length", length, "--cell", cell)
    assert (found["headroom_bytes"], found["method"]) == (expected, "canonical")
    assert round(sum(row["bytes"] for row in found["breakdown"])) == expected


def test_text_shows_breakdown_result_and_what_to_type_next() -> None:
    done = _run(*HEADROOM, "--asic", "tomahawk3", "--no-table", *RACK)
    assert done.exit_code == 0
    assert "t0 2.867 us x 50 GB/s" in done.output and "195,326" in done.output
    assert "Next: rocetune ecn --speed 400G --tiers 2" in done.output
    for line in done.output.splitlines():
        if line.lstrip().startswith(("Next: rocetune", "or: rocetune")):
            words = line.split("rocetune ", 1)[1].split("#")[0].replace("headroom.svg", "h.svg")
            assert _run(*words.split()).exit_code == 0, line


TYPED = [
    (
        [
            "headroom",
            "--speed",
            "800G",
            "--length",
            "1.50km",
            "--model",
            "SN5600",
            "--cell",
            "192B",
            "--delay",
            "0.2us",
        ],
        ["--mtu", "9000", "--priority-mtu", "1024", "--no-table", "--quanta-800g", "905"],
    ),
    (["headroom", "--speed", "400G", "--length", "30m", "--asic", "Tomahawk 3", "--table", "my table.csv"], RACK),
    (
        ["ecn", "--speed", "400G", "--tiers", "3", "--asic", "TH3", "--length", "2km", "--no-table", "--alpha", "1/3"],
        ["--objective", "latency", "--flows", "20", "--dcqcn", "scaled", "--rdma-mtu", "1024", "--ports", "8"],
    ),
    (["ecn", "--speed", "400G", "--rtt", "9.50us", "--preset", "hpcc", "--compare", "sonic-default", "cisco-400g"], []),
    (["dcqcn", "--speed", "100G", "--flows", "8", "--preset", "paper", "--rdma-mtu", "2048"], []),
]


@pytest.mark.parametrize(("arguments", "more"), TYPED, ids=lambda words: words[0] if words else "")
def test_next_commands_keep_what_was_typed(arguments: list[str], more: list[str], empty_folder: Path) -> None:
    """Every option that the next command knows is in it as it was spelled, and the command runs."""
    (empty_folder / "my table.csv").write_text("speed_mbps,cable_m,xoff_bytes\n400000,30,222222\n")
    words = [*arguments, *more]
    document = json.loads(_run(*words, "--format", "json").stdout)
    typed = [(a, b) for a, b in pairwise(words) if a.startswith("--")]
    typed = [("--rdma-mtu" if a == "--priority-mtu" else a, b) for a, b in typed]
    assert len(document["next"]) >= 1
    for line in document["next"]:
        target = shlex.split(line)
        command = main.get_command(click.Context(main), target[0])
        assert command is not None
        known = {option: item for item in command.params for option in item.opts if isinstance(item, click.Option)}
        for option, value in typed:
            renamed = option == "--preset" and target[0] != words[0]  # a curve in one, the senders' set in the other
            if option in known and not renamed:
                assert option in target, line
                assert getattr(known[option], "is_flag", False) or target[target.index(option) + 1] == value
        done = _run(*(word.replace(".svg", "-next.svg") for word in target))
        assert done.exit_code in (0, 2) and "Usage" not in done.output, (line, done.output)
    if words[0] == "headroom":
        follow = next(line for line in document["next"] if line.startswith("ecn "))
        assert "--tiers 2" in follow and "--rtt" not in follow  # 8 us is less than light takes over 1.5 km
        assert (
            json.loads(_run(*shlex.split(follow), "--format", "json").stdout)["headroom_bytes"]
            == (document["headroom_bytes"])
        )
    if "--compare" in words:
        assert document["next"][-1].endswith("--compare sonic-default cisco-400g")


def test_next_commands_of_ecn_ask_about_its_own_curve() -> None:
    """The senders' question is asked with these marks and this set: it gives the same p* and q*."""
    found = _json(*ECN, "--asic", "TH3", *RACK, "--dcqcn", "scaled", "--flows", "30", "--preset", "hpcc")
    line = next(line for line in found["next"] if line.startswith("dcqcn "))
    other = _json(*shlex.split(line))
    assert [other[key] for key in ("kmin_bytes", "kmax_bytes", "pmax_percent", "p_star", "q_star_bytes")] == [
        found[key] for key in ("kmin_bytes", "kmax_bytes", "pmax_percent", "p_star", "q_star_bytes")
    ]


def test_next_commands_name_the_site(empty_folder: Path) -> None:
    done = _run("--site", str(empty_folder), *HEADROOM, "--asic", "TH3", "--format", "json")
    assert all(line.startswith(f"--site {empty_folder} ") for line in json.loads(done.stdout)["next"])


def test_a_round_trip_cannot_beat_light() -> None:
    """2 x 2000 m / 1.98e8 m/s = 20.2 us."""
    done = _run(*ECN, "--length", "2km")
    assert done.exit_code == 2 and done.stdout == ""
    assert "8 us is less than light takes over --length 2 km and back, 20.2 us" in done.stderr
    assert _run("ecn", "--speed", "400G", "--rtt", "21us", "--length", "2km").exit_code == 0


def test_a_long_cable_is_a_term_of_the_round_trip() -> None:
    """100G: 8 us are 100,000 B; 2 x 1900 m / 1.98e8 m/s = 19.19 us are 239,899 B."""
    done = _run("ecn", "--speed", "100G", "--tiers", "2", "--length", "2km")
    assert "100G, 2 km, chip not named" in done.output and "round trip 27.2 us" in done.output
    row = {line.split()[0]: line for line in done.output.splitlines() if line.startswith("  ") and line.split()}
    assert " ".join(row["cable"].split()) == "cable 2 x (2000 - 100) m / 1.98e8 m/s 239,899 19.2"
    assert " ".join(row["BDP"].split()) == "BDP round trip + cable 339,899 27.2"
    assert "8 us over 2 switch tiers + 19.2 us for the cable beyond 100 m" in done.output
    assert "27.1919" not in done.output


def test_pmax_has_a_reason() -> None:
    assert "p* in whole percent" in _run(*ECN).output
    assert "why: pmax 5 %" in _run(*ECN, "--preset", "sonic-default").output


def test_a_curve_beyond_the_start_of_pause_has_no_prediction() -> None:
    words = ["ecn", "--speed", "100G", "--rtt", "8us", "--asic", "Tomahawk", "--ports", "32", "--preset", "sonic-td2"]
    done = _run(*words)
    assert done.exit_code == 2 and "prediction withheld: kmax is not below" in done.output
    assert "predicted for" not in done.output and "--objective" not in done.output
    found = json.loads(_run(*words, "--format", "json").stdout)
    assert (found["p_star"], found["q_star_bytes"], found["cnp_per_s"]) == (None, None, None)


def test_headroom_that_does_not_fit_is_said() -> None:
    done = _run("ecn", "--speed", "100G", "--tiers", "2", "--asic", "TH", *RACK, "--length", "2km")
    assert done.exit_code == 2 and "no buffer size" not in done.output and "predicted for" not in done.output
    assert "active bound: none: the headroom does not fit in the buffer" in done.output


@pytest.mark.parametrize("chip", ["Qumran 3D", "Jericho 2C+"])
def test_deep_buffer_is_no_pool_of_dynamic_thresholds(chip: str) -> None:
    found = _json("ecn", "--speed", "400G", "--rtt", "8us", "--asic", chip, "--ports", "12", "--lossless", "2")
    assert (found["strict_bytes"], found["incast_bytes"], found["fits"], found["xoff_bytes"]) == (None,) * 4
    assert any("deep buffer outside the chip" in item["text"] for item in found["assumptions"])


@pytest.mark.parametrize(
    ("preset", "words"),
    [("arista-segments", "Choose a preset in bytes"), ("juniper-jvd", "deep")],
)
def test_remedies_of_a_preset_can_be_used(preset: str, words: str) -> None:
    chip = "TH3" if preset == "arista-segments" else "Qumran 3D"
    done = _run(*ECN, "--asic", chip, "--preset", preset)
    assert done.exit_code == 2 and "Write kmin" not in done.output and "Name the switch" not in done.output
    assert "Choose a preset in bytes" in done.stderr


def test_a_preset_s_warning_does_not_name_an_option_that_excludes_it() -> None:
    done = _run(*ECN, "--asic", "TH3", *RACK, "--preset", "hpcc")
    assert "--objective latency instead of --preset" in done.output
    assert _run(*ECN, "--asic", "TH3", *RACK, "--objective", "latency").exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["headroom", "--speed", "800G", "--length", "40km", "--asic", "SN5600", "--ports", "1", "--lossless", "1"],
        ["headroom", "--speed", "10G", "--length", "0.5m", "--asic", "TD3", "--ports", "32"],
        ["ecn", "--speed", "10G", "--tiers", "2", "--length", "100km", "--flows", "1", "--compare", "all"],
        ["ecn", "--speed", "100G", "--rtt", "8us", "--asic", "TH", "--ports", "1", "--compare", "all"],
        ["dcqcn", "--speed", "1.6T", "--flows", "1", "--kmin", "10GB", "--kmax", "100GB"],
    ],
)
def test_one_style_of_numbers(arguments: list[str]) -> None:
    """us everywhere, no powers of ten but the speed of light, one is singular."""
    text = _run(*arguments).output
    assert "µ" not in text
    assert not re.search(r"\de\+\d", text), text
    assert not re.search(r"(?<![\d,.])1 (ports|flows|groups|senders|queues)\b", text), text
    assert not re.search(r"(?<![\d,])\d{4} B\b", text.split("next")[0]), text


def test_own_table_is_yours(empty_folder: Path) -> None:
    (empty_folder / "mine.csv").write_text("speed_mbps,cable_m,xoff_bytes\n400000,30,222222\n")
    words = [*HEADROOM, "--asic", "TH3", "--table", "mine.csv"]
    text = _run(*words, "--plot", "h.svg").output
    assert "row of your own table" in text and "vendor" not in text and "published row" not in text
    assert _json(*words)["confidence"] == "yours"
    assert "your rows: mine.csv" in (empty_folder / "h.svg").read_text()


def test_only_tables_with_rows_at_the_speed_are_counted(empty_folder: Path) -> None:
    """Tomahawk 3 at 10G: no published table has a row, so the picture shows none."""
    _run("headroom", "--speed", "10G", "--length", "30m", "--asic", "TH3", "--plot", "h.svg")
    assert "published rows" not in (empty_folder / "h.svg").read_text()


def test_dcqcn_says_whose_thresholds() -> None:
    ours, stated = _json("dcqcn", "--speed", "400G", "--flows", "8"), ["--kmin", "5KB", "--kmax", "200KB"]
    assert ours["name"] == "balanced" and ours["why"]["kmin_bytes"]["rule"] == "ecn.bdp"
    theirs = _json("dcqcn", "--speed", "400G", "--flows", "8", *stated, "--pmax", "1%")
    assert theirs["name"] == "stated" and theirs["why"]["kmax_bytes"]["source"] == "--kmax"


def test_markdown() -> None:
    for arguments in ([*HEADROOM, "--asic", "TH3"], [*ECN, "--asic", "TH3", "--compare", "hpcc"]):
        text = _run(*arguments, "--format", "markdown").output
        assert text.startswith("### ") and "| term | formula |" in text
    assert _run("dcqcn", "--speed", "400G", "--flows", "64", "--format", "markdown").output.startswith("### DCQCN")
    assert _run("asics", "th3", "--format", "markdown").output.startswith("### Tomahawk 3")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--speed", "400", "--length", "30m"], "'400' has no unit: use G or T, as in 400G"),
        (["--speed", "400G", "--length", "30"], "'30' has no unit"),
        (["--speed", "400G", "--length", "0m"], "a cable length must be greater than zero, as in 30m"),
        (["--speed", "400G", "--length", "-5m"], "a cable length cannot be negative"),
        (["--speed", "-400G", "--length", "5m"], "a port speed cannot be negative"),
        (["--speed", "0G", "--length", "5m"], "a port speed must be greater than zero"),
        (["--speed", "3000T", "--length", "5m"], "too large"),
        (["--speed", "400G", "--length", "1000km"], "too large for a cable length: 200km at most"),
        (["--speed", "nan", "--length", "5m"], "'nan' is not a speed"),
        (["--speed", "infG", "--length", "5m"], "'infG' is not a speed"),
        (["--speed", "400G", "--length", "5m", "--asic", "tomahwk3"], "Did you mean Tomahawk 3"),
        (["--speed", "400G", "--length", "5m", "--asic", "nothing-like-it"], "`rocetune asics` lists"),
        (["--speed", "400G", "--length", "5m", "--model", "Z9332X"], "Did you mean Dell Z9332F-ON"),
        (["--speed", "400G", "--length", "5m", "--asic", "TH3", "--model", "SN4700"], "has a Spectrum-3"),
        (["--speed", "400G", "--length", "5m", "--asic", "TH3", "--mtu", "1500"], "Raise --mtu to 4158"),
        (["--speed", "400G", "--length", "5m", "--asic", "TH3", "--ports", "0"], "whole number from 1"),
        (["--speed", "400G", "--length", "5m", "--asic", "TH3", "--lossless", "2"], "--lossless needs --ports"),
        (["--speed", "400G", "--length", "5m", "--asic", "TH3", "--cell", "0"], "greater than zero"),
        (["--speed", "400G", "--length", "5m", "--cell", "1MB"], "too large"),
        (["--speed", "400G", "--length", "5m", "--asic", "TH3", "--delay", "200"], "has no unit"),
        (["--speed", "400G", "--length", "5m"], "--asic"),
        (["--speed", "400G", "--length", "5m", "--asic", "TH3", "--plot", "h.pdf"], ".svg or .png"),
        (["--speed", "400G", "--length", "5m", "--asic", "TH3", "--plot", "none/h.svg"], "no folder"),
        (["--length", "5m"], "--speed"),
        (["--speed", "400G", "--length", "5m", "--asic", "Jericho 3-AI"], "--cell 254B"),
        (["--speed", "800G", "--length", "5m", "--asic", "TH3"], "ports up to 400G"),
        (["--speed", "399G", "--length", "5m", "--asic", "TH3"], "no port of Tomahawk 3 runs at 399G"),
        (["--speed", "400G", "--length", "5m", "--asic", "TH3", "--table", "none.ini"], "does not exist"),
    ],
)
def test_bad_input_is_told_on_stderr(arguments: list[str], words: str) -> None:
    done = _run("headroom", *arguments)
    assert done.exit_code == 2 and done.stdout == ""
    assert words in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--speed", "400G", "--rtt", "8"], "'8' has no unit"),
        (["--speed", "400G", "--rtt", "0us"], "greater than zero"),
        (["--speed", "400G", "--rtt", "8m"], "too large for a round trip"),
        (["--speed", "400G", "--rtt", "8us", "--tiers", "2"], "give one of them"),
        (["--speed", "400G", "--rtt", "8us", "--preset", "hpc"], "did you mean hpcc"),
        (["--speed", "400G", "--rtt", "8us", "--preset", "hpcc", "--objective", "latency"], "give one of them"),
        (["--speed", "400G", "--rtt", "8us", "--compare", "nobody"], "--list-presets"),
        (["--speed", "400G", "--rtt", "8us", "--preset", "juniper-jvd"], "--asic"),
        (["--speed", "400G", "--rtt", "8us", "--ports", "32"], "--ports needs --asic"),
        (["--speed", "400G", "--rtt", "8us", "--asic", "TH3", "--alpha", "0"], "alpha is a number"),
        (["--speed", "400G", "--rtt", "8us", "--flows", "-1"], "whole number"),
        (["--speed", "400G", "--rtt", "8us", "hpcc"], "follow --compare"),
        (["--rtt", "8us"], "--speed 400G"),
    ],
)
def test_bad_marking_input(arguments: list[str], words: str) -> None:
    done = _run("ecn", *arguments)
    assert done.exit_code == 2 and done.stdout == ""
    assert words in done.stderr and "Traceback" not in done.stderr


def test_a_buffer_too_small_is_exit_2_with_ways_out() -> None:
    done = _run("headroom", "--speed", "100G", "--length", "2km", "--asic", "TH", *RACK, "--format", "json")
    assert done.exit_code == 2
    found = json.loads(done.stdout)
    assert found["fits"] is False and found["xoff_bytes"] is None
    remedy = found["problems"][0]["remedy"]
    assert "cables of" in remedy and "1 lossless priority instead of 2" in remedy and "over-subscribed" in remedy


def test_a_preset_beyond_the_start_of_pause_is_an_error() -> None:
    """SONiC's 2 and 10 MB of the 7260CX3 on a Trident 3 with alpha 1/16: PFC starts below them."""
    done = _run(
        "ecn", "--speed", "100G", "--rtt", "8us", "--asic", "TD3", "--alpha", "1/16", "--preset", "sonic-7260cx3"
    )
    assert done.exit_code == 2 and "ECN comes too late" in done.output


def test_own_table(empty_folder: Path) -> None:
    mine = empty_folder / "mine.csv"
    mine.write_text("speed_mbps,cable_m,xoff_bytes\n400000,30,222222\n400000,300,lots\n")
    done = _run(*HEADROOM, "--asic", "TH3", "--table", "mine.csv")
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith("mine.csv:3: xoff 'lots' is not a number\n  Write a whole number of bytes")
    mine.write_text("speed_mbps,cable_m,xoff_bytes\n400000,50,222222\n")
    found = _json(*HEADROOM, "--asic", "TH3", "--table", "mine.csv")
    assert (found["headroom_bytes"], found["method"]) == (222_222, "table")
    assert found["notes"] == ["30 m is not listed: the next longer one, 50 m, is taken"]
    both = _run(*HEADROOM, "--asic", "TH3", "--table", "mine.csv", "--no-table")
    assert both.exit_code == 2 and "exclude each other" in both.stderr


def test_published_row_of_a_model() -> None:
    """Z9332f-O32 at 300 m and the next listed length for 30 m, as sonic-buildimage has them."""
    row = _json("headroom", "--speed", "400G", "--length", "300m", "--model", "DellEMC-Z9332f-O32")
    assert (row["headroom_bytes"], row["method"], row["breakdown"][0]["bytes"]) == (373_888, "table", 373_888)
    near = _json(*HEADROOM, "--model", "DellEMC-Z9332f-O32")
    assert near["breakdown"][0]["formula"] == "DellEMC-Z9332f-O32: 400G at 40 m"
    assert "30 m is not listed" in near["notes"][0]


def test_plots(empty_folder: Path) -> None:
    done = _run(*HEADROOM, "--asic", "TH3", "--plot", "h.svg", "--format", "json")
    assert done.exit_code == 0 and json.loads(done.stdout)["headroom_bytes"] and done.stderr == "Drawn: h.svg\n"
    assert "asked: 30 m needs 195,326 B" in (empty_folder / "h.svg").read_text()
    done = _run(*ECN, "--asic", "TH3", "--compare", "hpcc", "arista-segments", "--plot", "m.png")
    assert done.exit_code == 0 and (empty_folder / "m.png").read_bytes().startswith(b"\x89PNG")
    assert _run(*ECN, "--plot", "m.svg").exit_code == 0
    assert "xoff" not in (empty_folder / "m.svg").read_text()  # no chip: no bounds


def test_a_plot_without_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = _run(*HEADROOM, "--asic", "TH3", "--plot", "h.svg")
    assert done.exit_code == 2 and done.stdout == ""
    assert "matplotlib" in done.stderr and "pip install 'rocetune[plot]'" in done.stderr


def test_presets_beside_the_answer() -> None:
    found = _json(*ECN, "--asic", "TH3", *RACK, "--compare", "hpcc", "cumulus-default", "arista-segments")
    hpcc, cumulus, segments = found["compare"]
    assert (hpcc["kmin_bytes"], hpcc["kmax_bytes"], hpcc["kmax_us"]) == (1_600_000, 6_400_000, 128)
    assert (cumulus["kmin_us"], cumulus["kmax_us"], cumulus["pmax_percent"]) == (3, 30, 100)
    assert segments["kmin_bytes"] is None and "segments" in segments["note"]
    assert set(hpcc["expect"]) == {"goodput", "bystander", "burst", "pause"}


def test_a_preset_at_a_speed_it_was_not_made_for_says_so() -> None:
    """The paper's 200 KB are 40 us at 40G and 4 us at 400G."""
    text = _run(*ECN, "--asic", "TH3", "--preset", "dcqcn-paper").output
    assert "not made for 400G" in text and "kmax was 40 us at 40G and is 4 us here" in text


def test_preset_list() -> None:
    found = _json("ecn", "--list-presets")
    names = {item["name"] for item in found["presets"]}
    assert {"dcqcn-paper", "hpcc", "sonic-default", "cumulus-default", "cisco-blueprint", "juniper-jvd"} <= names
    assert all(item["source"] for item in found["presets"])
    assert "hpcc" in _run("ecn", "--list-presets").output


@pytest.mark.parametrize(("speed", "rates"), [("100G", (20, 200)), ("200G", (40, 400)), ("400G", (80, 800))])
def test_scaled_set(speed: str, rates: tuple[int, int]) -> None:
    found = _json("dcqcn", "--speed", speed, "--flows", "64", "--preset", "scaled")
    assert found["parameters"] == {"rpg_ai_rate": rates[0], "rpg_hai_rate": rates[1]}


@pytest.mark.parametrize(
    ("flows", "p_star", "q_star"), [("2", 2.39e-4, 9_700), ("10", 1.89e-3, 41_800), ("64", 1.95e-2, None)]
)
def test_fixed_point_of_the_paper(flows: str, p_star: float, q_star: int | None) -> None:
    """100G, 1000-byte packets, 5/200 KB and 1 %: the values of tuning notes 4.3, within 2 %."""
    curve = ["--kmin", "5KB", "--kmax", "200KB", "--pmax", "1%", "--rdma-mtu", "980"]
    found = _json("dcqcn", "--speed", "100G", "--flows", flows, "--preset", "paper", *curve)
    assert found["p_star"] == pytest.approx(p_star, rel=0.02)
    if q_star is None:
        assert found["q_star_bytes"] is None and any("passes kmax" in item["text"] for item in found["problems"])
    else:
        assert found["q_star_bytes"] == pytest.approx(q_star, rel=0.02)


def test_flow_counts_at_which_dcqcn_broke_down_are_a_warning() -> None:
    done = _run("dcqcn", "--speed", "40G", "--flows", "160")
    assert done.exit_code == 0 and "break down from 160" in done.output


def test_dcqcn_values_in_the_nic_s_own_unit() -> None:
    found = _json("dcqcn", "--speed", "400G", "--flows", "8", "--set", "dce_tcp_g=1019")
    assert found["parameters"] == {"dce_tcp_g": 1019}
    assert "rpg_byte_reset" in found["unconfirmed"]
    for value, words in (("rpg_ai_rat=5", "rpg_ai_rate"), ("rpg_gd=99", "outside"), ("rpg_gd", "NAME=NUMBER")):
        done = _run("dcqcn", "--speed", "400G", "--flows", "8", "--set", value)
        assert done.exit_code == 2 and words in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--kmin", "400KB"], "belong together"),
        (["--kmin", "400KB", "--kmax", "100KB"], "above --kmax"),
        (["--pmax", "20"], "'20' has no unit"),
        (["--kmin", "8us", "--kmax", "32us"], "bytes = time x speed / 8"),
    ],
)
def test_bad_curves(arguments: list[str], words: str) -> None:
    done = _run("dcqcn", "--speed", "400G", "--flows", "8", *arguments)
    assert done.exit_code == 2 and words in done.stderr


def test_asics() -> None:
    every = _json("asics")["asics"]
    assert len(every) >= 36 and all(item["source"] and item["confidence"] for item in every)
    (one,) = _json("asics", "BCM56980")["asics"]
    assert (one["name"], one["cell_bytes"], one["usable_bytes"]) == ("Tomahawk 3", 254, 67_117_468)
    assert "Tomahawk 3" in _run("asics").output
    assert "66,394,076" in _run("asics", "Z9332F").output
    wrong = _run("asics", "tomahwk3")
    assert wrong.exit_code == 2 and "Did you mean Tomahawk 3" in wrong.stderr


@pytest.mark.parametrize(
    ("words", "start", "offered"),
    [
        (["headroom", "--asic"], "tomahawk-3", "tomahawk-3"),
        (["ecn", "--preset"], "hpc", "hpcc"),
        (["ecn", "--compare"], "dcqcn-p", "dcqcn-paper"),
        (["dcqcn", "--set"], "rpg_ai", "rpg_ai_rate="),
        (["asics"], "spectrum-4", "spectrum-4"),
    ],
)
def test_completion(words: list[str], start: str, offered: str) -> None:
    found = ShellComplete(main, {}, "rocetune", "_ROCETUNE_COMPLETE").get_completions(words, start)
    assert offered in [item.value for item in found]


def test_calculators_load_no_device_library() -> None:
    code = (
        "import sys\nfrom rocetune.cli import main\n"
        f"try: main({[*HEADROOM, '--asic', 'TH3']!r}, prog_name='rocetune')\n"
        "except SystemExit as end: assert not end.code\n"
        "print([name for name in ('netmiko', 'napalm', 'nornir', 'paramiko', 'jinja2', 'matplotlib', 'numpy', "
        "'rocetune.site', 'rocetune.platforms') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.splitlines() == ["[]"]


def test_every_option_says_what_it_is() -> None:
    for name in ("headroom", "ecn", "dcqcn", "asics"):
        command = main.get_command(click.Context(main), name)
        assert command is not None
        for parameter in command.params:
            assert not isinstance(parameter, click.Option) or parameter.help, (name, parameter.name)


def test_a_hardware_sku_of_sonic_has_sonic_s_pools() -> None:
    """Z9332F: its pools leave 66394076 - 27200352 = 39193724 B, as a plan for the switch counts (489712 with alpha
    1/4: S/4 / (16 x 1.25) = 489921.55 B, 1928 cells of 254 B)."""
    rack = ("--speed", "400G", "--rtt", "8us", "--ports", "16", "--lossless", "1", "--length", "2m")
    latency = ("--alpha", "0.25", "--objective", "latency", "--flows", "15")
    sku = _json("ecn", *rack, *latency, "--model", "DellEMC-Z9332f-O32")
    assert (sku["shared_bytes"], sku["kmax_bytes"]) == (39_193_724, 489_712)
    stated = _json("ecn", *rack, *latency, "--model", "Z9332F", "--platform", "sonic")
    assert (stated["shared_bytes"], stated["kmax_bytes"]) == (39_193_724, 489_712)
    model = _json("ecn", *rack, *latency, "--model", "Z9332F")
    assert model["shared_bytes"] == 66_394_076 - 16 * 178_562
    assert any("S = 39,193,724 B" in item["text"] for item in model["assumptions"])
    eos = _json("ecn", *rack, *latency, "--model", "Z9332F", "--platform", "arista_eos")
    assert not any("39,193,724" in item["text"] for item in eos["assumptions"])


def test_another_os_is_spared_the_copied_table() -> None:
    """EOS on a 7060DX4: the chip's preset, 696 cells of 254 B; else the table that makers of SONiC boxes copy."""
    box = ("headroom", "--speed", "400G", "--length", "2m", "--model", "DCS-7060DX4-32")
    likely, eos = _json(*box), _json(*box, "--platform", "arista_eos")
    assert eos["headroom_bytes"] == 696 * 254 < likely["headroom_bytes"]
    assert any(f"{696 * 254:,} B" in note and "--platform arista_eos" in note for note in likely["notes"])
    refused = _run(*box, "--platform", "linux")
    assert refused.exit_code == 2 and "arista_eos, sonic" in refused.stderr


def test_where_a_users_table_ends_the_number_is_not_theirs(empty_folder: Path) -> None:
    (empty_folder / "mine.csv").write_text("speed_mbps,cable_m,xoff_bytes\n400000,40,201930\n", encoding="utf-8")
    ask = ("headroom", "--speed", "400G", "--model", "DellEMC-Z9332f-O32", "--table", "mine.csv", "--length")
    assert _json(*ask, "40m")["confidence"] == "yours"
    beyond = _json(*ask, "100m")
    assert (beyond["confidence"], beyond["headroom_bytes"]) != ("yours", 201_930)
    assert "row of the platform's published table" in _run(*ask, "100m").stdout


def test_what_a_delay_leaves_out_is_said() -> None:
    found = _json("headroom", "--speed", "400G", "--length", "30m", "--asic", "th3", "--delay", "1ns")
    assert found["method"] == "canonical" and any("leaves the fitted preset out" in note for note in found["notes"])


def test_quanta_of_the_site_are_said(empty_folder: Path) -> None:
    (empty_folder / "rocetune.yaml").write_text("tuning: {quanta_800g: 905}\n", encoding="utf-8")
    ask = ("headroom", "--speed", "800G", "--length", "40m", "--model", "Mellanox-SN5600-C224O8")
    assert any("rocetune.yaml here" in item["text"] for item in _json(*ask)["assumptions"])
    assert not any("rocetune.yaml" in item["text"] for item in _json(*ask, "--quanta-800g", "905")["assumptions"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("headroom", "--speed", "400G", "--length", "30m", "--cell", "254.5B"), "not a whole number of bytes"),
        (("dcqcn", "--speed", "400G", "--flows", "4", "--set", "rpg_gd=4", "--set", "rpg_gd=5"), "set twice"),
        (("ecn", "--speed", "400G", "--rtt", "8us", "--compare", ""), "a name is empty"),
        (("asics", "x" * 500), "NAME: 'xxx"),
    ],
)
def test_no_input_is_taken_for_another(arguments: tuple[str, ...], words: str) -> None:
    done = _run(*arguments)
    assert done.exit_code == 2 and words in done.stderr
    assert len(done.stderr) < 400


def test_a_misfit_is_followed_by_what_mends_it() -> None:
    done = _run(
        "ecn",
        "--speed",
        "400G",
        "--rtt",
        "30us",
        "--asic",
        "TH3",
        "--ports",
        "32",
        "--lossless",
        "8",
        "--length",
        "2km",
    )
    assert done.exit_code == 2 and "--length 3m" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("row", ["400,40,100000", "200,40,100000"])
def test_gbits_in_a_column_of_mbits_are_refused(row: str, empty_folder: Path) -> None:
    (empty_folder / "mine.csv").write_text(f"speed_mbps,cable_m,xoff_bytes\n{row}\n", encoding="utf-8")
    done = _run("headroom", "--speed", "400G", "--length", "40m", "--asic", "th3", "--table", "mine.csv")
    assert done.exit_code == 2 and "mine.csv:2" in done.stderr and "as in 400000 for 400G" in done.stderr


@pytest.mark.parametrize(("platform", "factor"), [("sonic", 0.25), ("arista_eos", 0.25)])
def test_alpha_is_counted_as_the_platform_writes_it(platform: str, factor: float) -> None:
    ask = (
        "headroom",
        "--speed",
        "400G",
        "--length",
        "40m",
        "--model",
        "Z9332F",
        "--ports",
        "8",
        "--platform",
        platform,
    )
    found, same = (_json(*ask, "--alpha", alpha) for alpha in ("0.49", "0.25"))
    assert found["xoff_bytes"] == same["xoff_bytes"] and found["alpha"] == factor
    assert any("0.49 is written as 0.25" in item["text"] for item in found["assumptions"])
    assert _json(*ask[:-2], "--alpha", "0.49")["alpha"] == 0.49  # nobody said what it runs


def test_an_empty_table_of_sonic_means_nothing_to_eos() -> None:
    ask = ("headroom", "--speed", "400G", "--length", "30m", "--model", "DCS-7060X6-64DE")
    assert _run(*ask).exit_code == 2 and "--platform arista_eos" in _run(*ask).stderr
    eos, bare = _json(*ask, "--platform", "arista_eos"), _json(*ask, "--platform", "arista_eos", "--no-table")
    assert eos["headroom_bytes"] == bare["headroom_bytes"]


def test_a_copy_of_the_switchs_table_tells_alpha_to_the_calculators_too(empty_folder: Path) -> None:
    rows = "speed_mbps,cable_m,xoff_bytes,threshold\n400000,40,201930,-2\n"
    (empty_folder / "own.csv").write_text(rows, encoding="utf-8")
    ask = ("headroom", "--speed", "400G", "--length", "40m", "--asic", "th3", "--model", "Foo-HC32", "--ports", "8")
    found = _json(*ask, "--table", "own.csv", "--platform", "sonic")
    assert found["alpha"] == 0.25
    assert not any("is not listed" in item["text"] for item in found["assumptions"])


def test_a_default_length_is_an_assumption_of_ecn() -> None:
    ask = ("ecn", "--speed", "400G", "--rtt", "8us", "--asic", "th3")
    assert any(item["where"] == "--length" for item in _json(*ask)["assumptions"])
    assert not any(item["where"] == "--length" for item in _json(*ask, "--length", "30m")["assumptions"])


def test_a_pipe_as_table_is_refused(empty_folder: Path) -> None:
    os.mkfifo(empty_folder / "pipe.csv")
    done = _run("headroom", "--speed", "400G", "--length", "40m", "--asic", "th3", "--table", "pipe.csv")
    assert done.exit_code == 2 and "is a pipe" in done.stderr


def test_what_was_drawn_is_not_offered_again(empty_folder: Path) -> None:
    pytest.importorskip("matplotlib")
    done = _run("headroom", "--speed", "400G", "--length", "40m", "--asic", "th3", "--plot", "a.svg")
    assert done.exit_code == 0 and "--plot" not in done.stdout

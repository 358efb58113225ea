"""``rocetune plan --compare`` on the shipped site, in every format, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from rocetune.cli import main

ROOT = Path(__file__).resolve().parents[2]


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["--site", str(ROOT), *words])


def test_text_holds_figures_and_words_for_each_curve() -> None:
    done = run("--limit", "leaf1", "-v", "plan", "--compare", "sonic-default", "cumulus-default")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    figures = {line.split()[0]: line for line in lines if line.startswith("  ") and "us" in line and "%" in line}
    assert "1.049 MB (21 us)" in figures["sonic-default"] and "2.097 MB (41.9 us)" in figures["sonic-default"]
    assert "150 KB (3 us)" in figures["cumulus-default"] and "1.5 MB (30 us)" in figures["cumulus-default"]
    assert "400 KB (8 us)" in figures["plan"]
    for word in ("goodput", "bystander", "burst", "pause", "active bound"):
        assert sum(line.strip().startswith(word) for line in lines) == 3


def test_like_curves_share_their_words() -> None:
    """Without --verbose: the plan by itself, then groups; every preset in bytes is in one of them."""
    done = run("--limit", "leaf1", "plan", "--compare", "all")
    assert done.exit_code == 0, done.output
    lines = [line.strip() for line in done.output.splitlines()]
    groups = [line.removeprefix("expect of ").split(", ") for line in lines if line.startswith("expect of ")]
    assert groups[0] == ["plan"] and len(groups) < 12 and len(lines) < 140
    assert len({name for group in groups for name in group}) == sum(map(len, groups)) > 20
    assert "15 senders on one port" in done.output


def test_json_names_the_curves_and_what_they_rest_on() -> None:
    done = run("--format", "json", "plan", "--compare", "hpcc,sonic-default")
    document = json.loads(done.output)
    assert document["format"] == "rocetune.compare/1"
    backend = next(item for item in document["settings"] if item["class"] == "roce")
    assert [curve["name"] for curve in backend["curves"]] == ["plan", "hpcc", "sonic-default"]
    hpcc = backend["curves"][1]
    assert (hpcc["kmin_bytes"], hpcc["kmax_bytes"], hpcc["kmin_us"], hpcc["kmax_us"]) == (1_600_000, 6_400_000, 32, 128)
    assert set(hpcc["expect"]) == {"goodput", "bystander", "burst", "pause"}
    for item in [backend["strict_bytes"], backend["incast_bytes"], *(c["q_star_bytes"] for c in backend["curves"])]:
        assert item is None or isinstance(item, int)
    assert {curve["ecn_before_pfc"] for curve in backend["curves"]} <= {"yes", "incast only", "no", "not known"}
    assert backend["rtt_us"] == 8 and backend["flows"] == 15 and backend["assumed"]


def test_markdown_is_for_a_review() -> None:
    done = run("--format", "markdown", "plan", "--compare", "hpcc")
    assert done.exit_code == 0 and "| hpcc |" in done.output and "### " in done.output


def test_an_unknown_preset_names_the_nearest() -> None:
    done = run("plan", "--compare", "sonic-defalt")
    assert done.exit_code == 2 and "sonic-default" in done.output and "Traceback" not in done.output


def test_names_without_the_option_and_two_questions_are_refused() -> None:
    assert run("plan", "hpcc").exit_code == 2
    assert run("plan", "--explain", "leaf1", "--compare", "hpcc").exit_code == 2


def test_explain_shows_what_the_platform_takes() -> None:
    done = run("plan", "--explain", "leaf1:Ethernet1/1")
    assert "rounded 9216 to 9214" in done.output

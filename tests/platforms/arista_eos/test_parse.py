"""Canonical values, and property tests against the emulated switch's own printing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocetune.model.facts import Facts
from rocetune.platforms.arista_eos import PLATFORM, keys, parse
from tests.platforms.arista_eos.rig import Rig
from tests.platforms.builders import eos_leaf

FACTS = Facts("arista_eos")


def value(text: str, *key: str) -> str | None:
    return PLATFORM.parse(text, FACTS).get(tuple(key))


def test_empty_configuration_has_the_default_map() -> None:
    """EOS's own map: 0-7 in traffic class 1, 8-15 in 0, then eight DSCPs each."""
    found = PLATFORM.parse("", FACTS)
    want = {0: "1", 7: "1", 8: "0", 15: "0", 16: "2", 24: "3", 34: "4", 46: "5", 48: "6", 56: "7", 63: "7"}
    assert {point: found[keys.dscp(point)] for point in want} == want
    assert found[keys.WATCHDOG_ACTION] == "errdisable"


@pytest.mark.parametrize(
    ("written", "canonical"), [("0.20", "0.2"), ("0.2", "0.2"), ("10.001", "10.001"), ("60", "60")]
)
def test_decimals_are_numbers(written: str, canonical: str) -> None:
    line = f"priority-flow-control pause watchdog default timeout {written}"
    assert value(line, keys.WATCHDOG, "default timeout") == canonical


def test_interfaces_queue_words_and_units_have_one_form() -> None:
    for header in ("interface Et1/1", "interface Ethernet 1/1", "interface ethernet1/1"):
        for queue in ("tx-queue 3", "uc-tx-queue 3"):
            text = f"{header}\n   {queue}\n      random-detect ecn count\n"
            assert value(text, "interface", "Ethernet1/1", "queue 3", "random-detect ecn count") == ""
    for unit in ("ingress headroom 64000", "ingress headroom bytes 64000"):
        text = f"platform trident mmu queue profile ROCETUNE-MMU\n    {unit}\n"
        assert value(text, keys.MMU, "ROCETUNE-MMU", "ingress headroom") == "bytes 64000"


def test_probability_and_weight_that_eos_may_hide() -> None:
    curve = "random-detect ecn minimum-threshold 1 bytes maximum-threshold 2 bytes"
    at = (keys.PROFILE, "ROCETUNE-X", "queue 3", "random-detect ecn")
    seen = {
        value(f"qos profile ROCETUNE-X\n   tx-queue 3\n      {curve}{tail}\n", *at)
        for tail in ("", " weight 0", " max-mark-probability 100", " max-mark-probability 100 weight 0")
    }
    assert len(seen) == 1


def test_foreign_profiles_and_lines_are_not_ours() -> None:
    text = "qos profile OTHER\n   qos trust cos\nhostname x\nrouter bgp 1\n   neighbor 1.2.3.4\nntp server a\n"
    assert PLATFORM.parse(text, FACTS) == parse.defaults()


def test_an_unknown_line_in_our_profile_is_ours_to_remove() -> None:
    text = "qos profile ROCETUNE-X\n   uc-tx-queue 3\n      shape rate 40 percent\n"
    assert value(text, keys.PROFILE, "ROCETUNE-X", "queue 3", "shape rate 40 percent") == ""


def test_trust_stated_twice_is_left_alone_and_another_trust_is_ours() -> None:
    assert value("interface Et1/1\n   qos trust dscp\n", "interface", "Ethernet1/1", "qos trust") is None
    assert value("interface Et1/1\n   qos trust cos\n", "interface", "Ethernet1/1", "qos trust") == "cos"
    assert value("interface Et1/1\n   no qos trust\n", "interface", "Ethernet1/1", "qos trust") == "none"


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    PLATFORM.parse(text, FACTS)
    PLATFORM.parse("qos profile ROCETUNE-X\n " + text, FACTS)


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.integers(0, 63), st.integers(0, 7), max_size=64))
def test_every_map_survives_the_switchs_collapsing(points: dict[int, int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(eos_leaf(1), Path(folder))
        lines = [f"qos map dscp {point} to traffic-class {tc}" for point, tc in points.items()]
        rig.driver()._run_commands(["configure", "no qos map dscp 34", *lines])
        want = {**parse.defaults(), **{keys.dscp(point): str(tc) for point, tc in points.items()}}
        found = rig.running()
        assert {key: found[key] for key in want} == want

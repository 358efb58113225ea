"""``tuning:`` and what networks know of their traffic: read with places, wrong values refused in their line."""

from __future__ import annotations

import pytest

from tests.site.conftest import SOUND, Errors, Load

HEAD = SOUND["rocetune.yaml"]


def test_without_the_section_the_shipped_tables_count(load: Load) -> None:
    tuning = load().fabric.tuning
    assert (tuning.quanta_800g, dict(tuning.asics), tuning.tables) == (1810, {}, ())


def test_chips_tables_and_quanta_reach_the_fabric(load: Load) -> None:
    text = (
        HEAD
        + """tuning:
  quanta_800g: 905
  asics:
    tomahawk-4: {cell: 254B, buffer: 113MB}
    house-chip:
      {name: House Chip, port: 400G, slices: 2, models: [HC-1], headroom: {base: 30KB, fixed: 2us, wire_factor: 2}}
  headroom_tables:
    - {file: tables/mine.ini, models: [HC-1, HC-2]}
"""
    )
    table = "# speed cable size xon xoff threshold\n400000 5m 9216 0 180000 0\n"
    tuning = load({"rocetune.yaml": text, "tables/mine.ini": table}).fabric.tuning
    assert tuning.quanta_800g == 905
    assert tuning.asics["tomahawk-4"] == {
        "cell_bytes": 254,
        "buffer_bytes": 113_000_000,
        "usable_bytes": 113_000_000,
    }
    assert tuning.asics["house-chip"] == {
        "name": "House Chip",
        "models": ["HC-1"],
        "port_gbps": 400,
        "slices": 2,
        "headroom": {"base_bytes": 30_000, "fixed_us": 2.0, "wire_factor": 2.0},
    }
    (own,) = tuning.tables
    assert (own.file, own.text, own.models) == ("tables/mine.ini", table, ("HC-1", "HC-2"))


def test_a_network_states_its_round_trip_and_flows(load: Load) -> None:
    text = HEAD.replace("profile: ai,", "profile: ai, rtt: 6.5us, flows: 12,")
    network = load({"rocetune.yaml": text}).fabric.networks["backend"]
    assert (network.rtt_us, network.flows) == (6.5, 12)


@pytest.mark.parametrize(
    ("section", "line", "words"),
    [
        ("tuning: {quanta_800g: 900}", 4, "1810 or 905"),
        ("tuning: {asics: {th4: {cel: 254B}}}", 4, "cell"),
        ("tuning: {asics: {th4: {}}}", 4, "nothing is stated"),
        ("tuning: {asics: {th4: {cell: 0B}}}", 4, "outside"),
        ("tuning: {asics: {th4: {buffer: 113}}}", 4, "outside"),
        ("tuning: {asics: {th4: {port: 400}}}", 4, "unit"),
        ("tuning: {asics: {th4: {headroom: {base: 1KB, fixed: 2, wire_factor: 1}}}}", 4, "unit"),
        ("tuning: {asics: {th4: {headroom: {base: 1KB, fixed: 2us, wire_factor: 0.5}}}}", 4, "1"),
        ("tuning: {headroom_tables: [{file: none.ini, models: [X-1]}]}", 4, "none.ini cannot be read"),
        ("tuning: {headroom_tables: [{file: inventory, models: [X-1]}]}", 4, "inventory cannot be read"),
        ("tuning: {headroom_tables: [{file: rocetune.yaml, models: []}]}", 4, "models"),
    ],
)
def test_wrong_values_are_refused_where_they_stand(errors: Errors, section: str, line: int, words: str) -> None:
    found = errors({"rocetune.yaml": HEAD + section + "\n"})
    assert [(item.file, item.line) for item in found] == [("rocetune.yaml", line)]
    assert words in f"{found[0].text} {found[0].remedy} {found[0].source_line}"


@pytest.mark.parametrize(
    ("stated", "words"), [("rtt: 8", "unit"), ("rtt: 0us", "0.1us"), ("rtt: 2s", "100ms"), ("flows: 0", "1")]
)
def test_wrong_traffic_is_refused(errors: Errors, stated: str, words: str) -> None:
    found = errors({"rocetune.yaml": HEAD.replace("profile: ai,", f"profile: ai, {stated},")})
    assert [(item.file, item.line) for item in found] == [("rocetune.yaml", 2)]
    assert words in f"{found[0].text} {found[0].remedy}"

"""Headroom against published tables and worked examples; expected values are not ours."""

import csv
import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocetune.tuning import wire
from rocetune.tuning.asics import Asic, Fit, Parts, table
from rocetune.tuning.cells import nvidia_worst, packet_factor, round_up, wire_worst
from rocetune.tuning.families import families
from rocetune.tuning.headroom import (
    EmptyTable,
    Headroom,
    canonical_bytes,
    fit_bytes,
    headroom,
    parts_bytes,
    physical_bytes,
    spread,
)
from rocetune.tuning.nic import mlx5_receive_buffer
from rocetune.tuning.published import match, published, read_table

EXAMPLES = Path(__file__).resolve().parents[2] / "../shared/data/headroom_examples.csv"
LOOKUP = EXAMPLES.with_name("sonic_headroom_lookup.csv")
SPEEDS = [10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000]


def chip(name: str) -> Asic:
    found = table().find(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("cell", "nvidia", "worst", "frame_1k", "frame_4k"),
    [
        (96, 1.979, 1.641, 1.042, 1.011),
        (144, 2.25, 1.745, 1.042, 1.000),
        (192, 3.00, 2.286, 1.042, 1.011),
        (208, 3.25, 2.476, 1.128, 0.996),
        (254, 3.97, 3.024, 1.148, 1.034),
        (256, 4.00, 3.048, 1.157, 1.042),
        (318, 4.97, 3.786, 1.150, 1.066),
        (384, 6.00, 4.571, 1.042, 1.011),
        (420, 6.56, 5.000, 1.139, 1.005),
    ],
)
def test_cell_factors(cell: int, nvidia: float, worst: float, frame_1k: float, frame_4k: float) -> None:
    assert nvidia_worst(cell) == pytest.approx(nvidia, abs=0.0051)
    assert wire_worst(cell) == pytest.approx(worst, abs=0.0006)
    assert packet_factor(cell, 1086) == pytest.approx(frame_1k, abs=0.0006)
    assert packet_factor(cell, 4158) == pytest.approx(frame_4k, abs=0.0006)


@given(st.integers(64, 512), st.integers(64, 9216))
def test_no_frame_is_worse_than_the_worst(cell: int, frame: int) -> None:
    assert packet_factor(cell, frame) <= wire_worst(cell) + 1e-12


@pytest.mark.parametrize(
    ("gbps", "quanta", "size"),
    [
        (0.1, 1, 64),
        (1, 2, 128),
        (10, 67, 4288),
        (25, 80, 5120),
        (40, 118, 7552),
        (50, 147, 9408),
        (100, 394, 25216),
        (200, 453, 28992),
        (400, 905, 57920),
    ],
)
def test_reaction_limits(gbps: float, quanta: int, size: int) -> None:
    assert wire.reaction_quanta(round(gbps * 1000)) == quanta
    assert quanta * wire.QUANTUM_BYTES == size


def test_800g_doubles_unless_sonic_is_asked_for() -> None:
    assert wire.reaction_quanta(800_000) == 1810
    assert wire.reaction_quanta(800_000, wire.QUANTA_800G_SONIC) == 905
    assert wire.reaction_quanta(1_600_000) == 3620


@pytest.mark.parametrize(("gbps", "per_metre"), [(100, 126.3), (400, 505), (800, 1010)])
def test_cable_rule_of_thumb(gbps: int, per_metre: float) -> None:
    assert wire.cable_round_trip_bytes(gbps * 1000, 1) == pytest.approx(per_metre, rel=0.001)


@pytest.mark.parametrize(
    ("gbps", "metres", "wide", "roce", "narrow"),
    [
        (100, 3, 117348, 42926, 89664),
        (100, 100, 154432, 55626, 117696),
        (200, 30, 158242, 56896, 120576),
        (400, 30, 283718, 99822, 215424),
        (400, 300, 695960, 240792, 527040),
        (800, 30, 534924, 185674, 405312),
    ],
)
def test_canonical_examples(gbps: int, metres: int, wide: int, roce: int, narrow: int) -> None:
    for cell, factor, expected in (
        (254, wire_worst(254), wide),
        (254, packet_factor(254, 4158), roce),
        (192, wire_worst(192), narrow),
    ):
        assert round_up(canonical_bytes(gbps * 1000, metres, factor=factor), cell) == expected


M1 = [
    ("Spectrum-1", 0, 100, 5, 30720, 29696),
    ("Spectrum-1", 0, 100, 40, 38912, 38912),
    ("Spectrum-1", 0, 100, 300, 104448, 103424),
    ("Spectrum-1", 0, 25, 300, 48128, 48128),
    ("Spectrum-2", 400, 100, 5, 56320, 56320),
    ("Spectrum-2", 400, 100, 300, 140288, 140288),
    ("Spectrum-3", 0, 100, 300, 117760, 117760),
    ("Spectrum-3", 0, 200, 300, 203776, 202752),
    ("Spectrum-3", 0, 400, 5, 38912, 37888),
    ("Spectrum-3", 0, 400, 300, 373760, 373760),
    ("Spectrum-4", 0, 100, 300, 225280, 225280),
    ("Spectrum-4", 0, 200, 40, 157696, 157696),
    ("Spectrum-4", 0, 400, 5, 231424, 230400),
    ("Spectrum-4", 0, 400, 300, 677888, 677888),
    ("Spectrum-4", 0, 800, 5, 257024, 256000),
    ("Spectrum-4", 0, 800, 40, 362496, 362496),
    ("Spectrum-4", 0, 800, 300, 1150976, 1149952),
]


@pytest.mark.parametrize(("name", "gearbox", "gbps", "metres", "published", "model"), M1)
def test_nvidia_sum(name: str, gearbox: int, gbps: int, metres: int, published: int, model: int) -> None:
    asic = chip(name)
    assert isinstance(asic.preset, Parts) and asic.cell_bytes
    quanta = wire.reaction_quanta(gbps * 1000, wire.QUANTA_800G_SONIC)
    value = parts_bytes(gbps * 1000, metres, asic.preset, asic.cell_bytes, gearbox_ns=gearbox, quanta=quanta)
    assert value == model
    assert value == pytest.approx(published, rel=0.035)


@pytest.mark.parametrize(
    ("name", "gbps", "metres", "published", "tolerance"),
    [
        ("Tomahawk 3", 100, 40, 74422, 0.001),
        ("Tomahawk 3", 400, 40, 201930, 0.0011),
        ("Tomahawk 3", 400, 2000, 1498092, 0.001),
        ("Tomahawk 3", 100, 1000, 233172, 0.001),
        ("Teralynx 10", 200, 5, 70272, 0.0062),
        ("Teralynx 10", 400, 300, 280960, 0.0062),
        ("Teralynx 7", 200, 5, 62368, 0.005),
        ("Teralynx 7", 25, 300, 25184, 0.074),
        ("Jericho 2C+", 400, 1000, 778240, 0.004),
        ("Jericho 2C+", 400, 120_000, 79900672, 0.004),
        ("Tomahawk 2", 40, 40, 31616, 0.0043),
        ("Tomahawk 5", 400, 40, 446024, 0.008),
        ("Tomahawk 5", 200, 5, 229362, 0.008),
        ("Tomahawk 4", 200, 40, 240792, 0.019),
        ("Tomahawk", 100, 40, 177632, 0.10),
        ("Tomahawk 6", 400, 40, 490980, 0.10),
    ],
)
def test_fitted_presets_on_held_out_rows(name: str, gbps: int, metres: int, published: int, tolerance: float) -> None:
    preset = chip(name).preset
    assert isinstance(preset, Fit)
    assert fit_bytes(gbps * 1000, metres, preset) == pytest.approx(published, rel=tolerance)
    assert headroom(gbps * 1000, metres, chip(name)).headroom_bytes >= published


@pytest.mark.skipif(not EXAMPLES.exists(), reason="reference data not present")
def test_planned_value_is_not_below_the_published_row() -> None:
    """Every row of the public examples that belongs to a chip with a preset."""
    checked = 0
    for row in csv.DictReader(EXAMPLES.open(encoding="utf-8")):
        name = row["asic"].replace(" + gearbox", "")
        asic = table().find(name)
        if asic is None or asic.preset is None or not row["model"].startswith(("M1", "M2")):
            continue
        model = "SN3800" if "gearbox" in row["asic"] else None
        planned = headroom(int(row["speed_gbps"]) * 1000, float(row["cable_m"]), asic, model=model)
        assert planned.headroom_bytes >= int(row["expected_bytes"]), row
        checked += 1
    assert checked > 80


def test_worked_example() -> None:
    """32x400G Tomahawk 3, 30 m: 195098.5 B, 769 cells."""
    asic = chip("Tomahawk 3")
    assert isinstance(asic.preset, Fit)
    assert fit_bytes(400_000, 30, asic.preset) == pytest.approx(195098.5, abs=0.1)
    result = headroom(400_000, 30, asic)
    assert result.headroom_bytes == 195326 == 769 * 254
    assert result.method == "preset"
    assert "769 cells" in result.why.rounding


@pytest.mark.parametrize(
    ("gbps", "metres", "mtu", "expected"),
    [
        (100, 7, 1500, 35680),
        (200, 30, 4200, 84424),
        (400, 30, 4200, 157424),
        (400, 100, 9000, 231280),
        (200, 30, 9000, 97480),
        (400, 7, 9000, 150880),
        (400, 50, 9000, 188080),
    ],
)
def test_mlx5_receive_buffer(gbps: int, metres: int, mtu: int, expected: int) -> None:
    assert mlx5_receive_buffer(gbps * 1000, metres, mtu).headroom_bytes == expected


@pytest.mark.parametrize(
    ("gbps", "microseconds"), [(10, 3355), (40, 838.8), (100, 335.5), (200, 167.8), (400, 83.9), (800, 41.9)]
)
def test_longest_pause(gbps: int, microseconds: float) -> None:
    assert wire.pause_time_us(gbps * 1000) == pytest.approx(microseconds, rel=0.0011)


@pytest.mark.parametrize(
    ("mtu", "plain", "vlan", "ipv6"),
    [(1024, 92.586, 92.252, 90.941), (2048, 96.150, 95.970, 95.256), (4096, 98.037, 97.944, 97.570)],
)
def test_wire_efficiency(mtu: int, plain: float, vlan: float, ipv6: float) -> None:
    assert round(wire.wire_efficiency(mtu) * 100, 3) == plain
    assert round(wire.wire_efficiency(mtu, vlan=True) * 100, 3) == vlan
    assert round(wire.wire_efficiency(mtu, ipv6=True) * 100, 3) == ipv6


ASICS = st.sampled_from([None, *table()])
MODELS = st.sampled_from(
    [None, "a box of nobody", "Dell unheard-of", "Z9332F-ON", "SN2700", "DCS-7060X6-64PE-B", "ACS-SN5600", "S5448F-ON"]
    + [item.name for item in published() if item.rows]
)
METRES = st.floats(0, 10_000)
# Tables in which a longer cable or a faster port has a smaller row; their listed rows are taken as they stand.
UNEVEN = {"NH-5010-F-O64", "Nokia-IXR7220-H6-O256", "Mellanox-SN4700-C128", "Mellanox-SN5600-C224O8"}
FAMILIES = [family for family in families().values() if family.apart]


def follows_a_second_rule(model: str, place: tuple[int, float]) -> bool:
    """With lookup off a preset may have less, or more, at such places than its rule for others says."""
    return any(family.second_rule(model, *place) is not None for family in FAMILIES)


def value(asic: Asic | None, speed: int, metres: float, mtu: int = 9216, model: str | None = None) -> Headroom:
    return headroom(speed, metres, asic, mtu_bytes=mtu, model=model, assume_worst=True)


@given(ASICS, st.sampled_from(SPEEDS), METRES, st.integers(1500, 9216))
def test_never_below_physics_and_whole_cells(asic: Asic | None, speed: int, metres: float, mtu: int) -> None:
    result = value(asic, speed, metres, mtu)
    in_flight = wire.cable_round_trip_bytes(speed, metres) + 64 * wire.reaction_quanta(speed)
    assert result.headroom_bytes >= max(in_flight, mtu + 4178)
    assert result.headroom_bytes >= result.physical_bytes >= in_flight - 1e-6
    cell = table().widest_cell() if asic is None else asic.cell_bytes
    assert cell is None or result.headroom_bytes % cell == 0


@given(MODELS, st.sampled_from(SPEEDS), METRES)
def test_no_model_gets_less_than_physics(model: str | None, speed: int, metres: float) -> None:
    result = value(None, speed, metres, model=model)
    assert result.headroom_bytes >= wire.cable_round_trip_bytes(speed, metres) + 64 * wire.reaction_quanta(speed)


@given(ASICS, st.sampled_from(SPEEDS), st.sampled_from(SPEEDS), METRES, METRES, st.integers(1500, 10_240))
def test_monotonic(asic: Asic | None, speed: int, other: int, metres: float, more: float, mtu: int) -> None:
    slow, fast = sorted((speed, other))
    short, long = sorted((metres, more))
    base = value(asic, slow, short, mtu).headroom_bytes
    assert value(asic, fast, short, mtu).headroom_bytes >= base
    assert value(asic, slow, long, mtu).headroom_bytes >= base
    assert value(asic, slow, short, 10_240).headroom_bytes >= base


ODD = [1000, 60_000, 150_000, 300_000]  # no Ethernet speeds, or slower than the tables list


def every_model() -> list[str | None]:
    """One spelling per set of tables that a model can have, and models that have none."""
    named = [name for item in published() for name in item.models]
    named += ["ACS-MSN3700", "Quanta-IX9-32X", "S5448F-ON", "NH-4010", "Mellanox-SN5600-V256", "SN5600", "SN3700"]
    chosen: dict[object, str | None] = {}
    for name in named:
        chosen.setdefault(match(name), name)
    others = ["a box of nobody", "Dell unheard-of", *(asic.models[0] for asic in table() if asic.models)]
    return [None, *chosen.values(), *(name for name in others if match(name) is None)]


def lengths_of(model: str | None) -> list[float]:
    found = match(model)
    listed = {row.cable_m for item in (found.tables if found else ()) for row in item.rows}
    return sorted({0.5, 20.0, 250.0, 2500.0, *listed, *([max(listed) + 1] if listed else [])})


def falls(grid: dict[tuple[int, float], int]) -> list[tuple[tuple[int, float], tuple[int, float]]]:
    """Neighbours of which the one with more speed or length has less."""
    speeds, lengths = sorted({at[0] for at in grid}), sorted({at[1] for at in grid})
    pairs = [((a, x), (b, x)) for a, b in itertools.pairwise(speeds) for x in lengths]
    pairs += [((s, x), (s, y)) for x, y in itertools.pairwise(lengths) for s in speeds]
    return [(less, more) for less, more in pairs if grid[less] > grid[more]]


@pytest.mark.parametrize("model", every_model(), ids=str)
@pytest.mark.parametrize("lookup", [True, False])
def test_monotonic_for_every_model(model: str | None, lookup: bool) -> None:
    """All speeds and lengths that its tables list, what lies between, and what lies beyond them.

    The rows of a table that is not monotonic itself are the exception, where it is the only table of the model.
    """
    found = match(model)
    if lookup and found is not None and found.own and not any(item.rows for item in found.tables):
        with pytest.raises(EmptyTable):
            value(None, 400_000, 5, model=model)
        return
    grid = {
        (speed, metres): headroom(speed, metres, model=model, lookup=lookup, assume_worst=True).headroom_bytes
        for speed in [*SPEEDS, *ODD]
        for metres in lengths_of(model)
    }
    wrong = falls(grid)
    alone = found.tables[0] if found is not None and found.own and len(found.tables) == 1 else None
    if alone is not None:
        listed = {(row.speed_mbps, row.cable_m) for row in alone.rows if not lookup or alone.name in UNEVEN}
        apart = {place for place in listed if lookup or follows_a_second_rule(alone.name, place)}
        wrong = [pair for pair in wrong if not apart & set(pair)]
    assert not wrong


@pytest.mark.parametrize("asic", list(table()), ids=lambda item: item.key)
@pytest.mark.parametrize("model", [None, "a box of nobody", "DCS-9999"])
def test_monotonic_for_every_chip(asic: Asic, model: str | None) -> None:
    for mtu in (1500, 9216, 10_240):
        grid = {
            (speed, metres): headroom(speed, metres, asic, model=model, mtu_bytes=mtu, assume_worst=True).headroom_bytes
            for speed in [*SPEEDS, *ODD]
            for metres in (0.5, 5, 40, 300, 301, 2001)
        }
        assert not falls(grid)


@pytest.mark.parametrize(
    "options",
    [
        {"at_800g": 905},
        {"copied": False},
        {"mtu_bytes": 1500, "frame_bytes": 1106},
        {"mtu_bytes": 10_240, "frame_bytes": 9300},
        {"delay_ns": 500.0},
        {"cell_bytes": 254},
    ],
    ids=str,
)
def test_monotonic_with_what_a_user_states(options: dict[str, Any]) -> None:
    models = ["SN2700", "SN4700", "7060X6-64PE", "DCS-7060X6-64PE-B", "newport", "Dell-E3224F", "ACS-SN5600", "NH-4010"]
    for model in models:
        if model == "Dell-E3224F" and "delay_ns" in options:
            continue  # neither its cell nor a sum of parts is known: refused
        grid = {
            (speed, metres): headroom(speed, metres, model=model, assume_worst=True, **options).headroom_bytes
            for speed in [*SPEEDS, *ODD]
            for metres in lengths_of(model)
        }
        assert not falls(grid), model


@pytest.mark.parametrize("name", ["mtu_bytes", "frame_bytes"])
def test_larger_frames_never_need_less(name: str) -> None:
    for model in every_model()[1:]:
        found = match(model)
        if found is not None and found.own and not any(item.rows for item in found.tables):
            continue
        for speed, metres in ((25_000, 20), (100_000, 300), (400_000, 40), (400_000, 2001)):
            sizes = [
                headroom(speed, metres, model=model, assume_worst=True, **{name: size}).headroom_bytes
                for size in (1106, 4178, 9216, 9300, 10_240)
            ]
            assert sizes == sorted(sizes), (model, speed, metres)


@pytest.mark.parametrize("model", [name for name in every_model() if (found := match(name)) and len(found.tables) > 1])
def test_a_model_gets_no_less_than_any_of_its_skus(model: str) -> None:
    """At every speed that the SKU lists, with any length; empty tables have none."""
    found = match(model)
    assert found is not None
    for item in found.tables:
        for speed in {row.speed_mbps for row in item.rows}:
            for metres in lengths_of(model):
                mine = headroom(speed, metres, model=model).headroom_bytes
                assert mine >= headroom(speed, metres, model=item.name).headroom_bytes, (item.name, speed, metres)
                row = item.row(speed, metres)
                if row is not None and row.cable_m == metres:
                    assert mine >= row.xoff_bytes


def test_uneven_tables_are_the_only_ones() -> None:
    found = {
        item.name
        for item in published()
        for row in item.rows
        if (least := item.dominated(row.speed_mbps, row.cable_m)) and least.xoff_bytes > row.xoff_bytes
    }
    assert found == UNEVEN


@pytest.mark.parametrize("asic", [item for item in table() if isinstance(item.preset, Fit)], ids=lambda item: item.key)
@pytest.mark.parametrize("speed", [100_000, 200_000, 400_000])
@pytest.mark.parametrize("metres", [2, 40, 300])
def test_unknown_chip_gets_at_least_what_any_known_one_does(asic: Asic, speed: int, metres: int) -> None:
    if asic.port_gbps is None or speed <= asic.port_gbps * 1000:
        assert value(None, speed, metres).headroom_bytes >= headroom(speed, metres, asic).headroom_bytes


def test_nothing_known_is_refused_with_what_is_missing() -> None:
    with pytest.raises(ValueError, match="name the ASIC, as in Tomahawk 3, or give the size of its buffer cells"):
        headroom(400_000, 30)
    with pytest.raises(ValueError, match="model 'Box 9000' belongs to no known chip"):
        headroom(400_000, 30, model="Box 9000")
    with pytest.raises(ValueError, match="Jericho 3-AI: no table or preset, and the size of its buffer cells"):
        headroom(400_000, 30, chip("Jericho 3-AI"))
    assert headroom(400_000, 30, cell_bytes=254).headroom_bytes == 283718  # the canonical example of tuning.md
    assert headroom(400_000, 30, cell_bytes=192).method == "canonical"


def test_delay_of_the_users_replaces_that_of_the_sum() -> None:
    asic = chip("Spectrum-4")
    plain = headroom(400_000, 40, asic).headroom_bytes  # 120 ns inside
    same = headroom(400_000, 40, asic, delay_ns=120).headroom_bytes
    more = headroom(400_000, 40, asic, delay_ns=1120).headroom_bytes
    assert plain == same
    assert more - plain == pytest.approx(3 * 1e-6 * 5e10, abs=1024 + 192)  # F = 3 x 1 us x 50 GB/s
    fitted = headroom(400_000, 30, chip("TH3"), delay_ns=200)
    assert (fitted.method, fitted.headroom_bytes) == ("canonical", 283718)  # its t0 holds a share that nobody knows


def test_own_row_is_a_lower_bound_whatever_the_delay() -> None:
    assert headroom(400_000, 300, model="DellEMC-Z9664f-O64", delay_ns=0).headroom_bytes >= 817372


@pytest.mark.parametrize("value", [16, 0, -254, 100_000])
def test_cell_that_cannot_be(value: int) -> None:
    with pytest.raises(ValueError, match="32 to 16384"):
        headroom(400_000, 30, cell_bytes=value)


def test_800g_is_never_without_its_doubt() -> None:
    for model in ("Z9864F-ON", "ACS-SN5600", None):
        result = headroom(800_000, 5, chip("Tomahawk 5") if model is None else None, model=model)
        assert any("1810" in step and "905" in step for step in result.why.steps)
    assert any("905 quanta" in step for step in headroom(800_000, 5, model="ACS-SN5600").why.steps)
    asic = chip("Spectrum-4")
    assert headroom(800_000, 5, asic).headroom_bytes > headroom(800_000, 5, asic, at_800g=905).headroom_bytes


@pytest.mark.parametrize(
    ("speed", "metres", "mtu"),
    [
        (0, 1, 9216),
        (-400_000, 1, 9216),
        (400_000, -1, 9216),
        (400_000, float("nan"), 9216),
        (400_000, float("inf"), 9216),
        (400_000, 1, 0),
    ],
)
def test_impossible_inputs(speed: int, metres: float, mtu: int) -> None:
    with pytest.raises(ValueError, match="as in"):
        headroom(speed, metres, mtu_bytes=mtu)


def test_floor_is_named_when_it_decides() -> None:
    """Spectrum-3's own table has 38912 B at 400G and 5 m, less than the peer may take to react.

    2 x 5 m x 5e10 B/s / 1.98e8 m/s = 2525.3, 905 x 64 B = 57920: 60446 B, the floor of a row. Each byte once, frames
    included: 4178 + 9216 + 84 + 2525.3 + 200 ns x 50 GB/s 10000 + 57920 = 83923.3, the floor of everything else.
    """
    row = headroom(400_000, 5, model="ACS-MSN4700")
    assert row.method == "table" and row.headroom_bytes == round_up(60446, 144)
    assert any("38,912 B is raised to the physical floor" in text for text in row.why.bounds)
    assert "physical floor: cable 2,525 + peer reaction 57,920 (905 quanta x 64 B) = 60,446 B" in row.why.steps
    assert "= 60,446 B ->" in row.why.steps[-1] and row.confidence == "low" and row.reacts
    bare = headroom(400_000, 5, chip("Spectrum-3"))
    assert bare.physical_bytes == 60446
    assert bare.headroom_bytes == round_up(83924, 144) and bare.confidence == "low"
    assert any("wire floor of 83,924 B" in text for text in bare.why.bounds)
    parts = "lossless frame 4,178 + port frame 9,216 + pause frame 84 + cable 2,525 + local delay 10,000"
    assert any(parts in step and step.endswith("= 83,924 B") for step in bare.why.steps)


def test_floor_is_at_least_two_frames() -> None:
    """tuning.md 8.10: never below M_ll + M_port."""
    assert physical_bytes(100, 1) == 9216 + 4178
    assert physical_bytes(400_000, 30) == round_up(15151.5 + 57920, 1)


def test_canonical_sum_beside_a_published_buffer() -> None:
    """tuning.md 1.4: F = 1, 100G, 100 m, M_ll 4178, D 200 ns gives 53820 B, against 55120 B of a published buffer."""
    assert canonical_bytes(100_000, 100, factor=1.0) == pytest.approx(53820, abs=1)


def test_own_row_comes_first_and_says_so() -> None:
    result = headroom(400_000, 40, model="DellEMC-Z9332f-O32")
    assert (result.headroom_bytes, result.method) == (201930, "table")
    assert "none" in result.why.rounding and "Z9332f" in result.why.source
    rounded = headroom(400_000, 6, model="Z9332F-ON")
    assert rounded.headroom_bytes == 201930
    assert any("6 m is not listed: the next longer one is 40 m" in step for step in rounded.why.steps)
    between = headroom(200_000, 40, model="Z9332F")
    assert between.method == "preset" and 74422 <= between.headroom_bytes <= 201930
    beyond = headroom(400_000, 10_000, model="Z9332F")
    assert beyond.method == "preset" and beyond.headroom_bytes > 1498092


def test_model_with_several_tables_gets_the_largest_row() -> None:
    result = headroom(100_000, 300, model="SN2700")
    assert result.headroom_bytes == 104448  # ACS-MSN2700; the others have 78848
    assert any("the hardware SKU is not known" in step for step in result.why.steps)


def test_users_table_comes_before_the_published_one() -> None:
    mine = read_table("400000 40m 2540 2540 300000 0", "mine.ini")
    result = headroom(400_000, 30, model="Z9332F", table=mine)
    assert (result.headroom_bytes, result.method) == (300000, "table")
    assert "mine.ini" in result.why.source
    assert headroom(100_000, 40, model="Z9332F", table=mine).headroom_bytes == 74422


def test_table_of_another_chip_is_never_used() -> None:
    assert headroom(400_000, 40, chip("Tomahawk 5"), model="Z9332F").headroom_bytes >= 446024


def test_empty_table_is_an_error_and_not_a_default() -> None:
    with pytest.raises(EmptyTable, match="ships an empty table"):
        headroom(400_000, 5, model="Arista-7060X6-64DE")
    assert headroom(400_000, 5, model="Arista-7060X6-64DE", lookup=False).headroom_bytes >= 393192
    assert headroom(400_000, 5, model="Arista-7060X6-64PE").headroom_bytes == 612140


@pytest.mark.parametrize(
    ("model", "asic"),
    [("Quanta-IX9-32X", "TH3"), ("Silverstone_v2", "TH3"), ("Nokia-IXR7220-H4-64D", "TH4"), ("DS3000", "Trident 3")],
)
def test_model_without_a_table_is_safe_against_the_copied_one(model: str, asic: str) -> None:
    """The Tomahawk 1 table (10G to 100G) is in use on many chips."""
    generic = next(item for item in published() if item.name == "Force10-Z9100")
    for row in generic.rows:
        got = headroom(row.speed_mbps, row.cable_m, chip(asic), model=model)
        assert got.headroom_bytes >= row.xoff_bytes


def test_sibling_of_a_sku_without_a_table_is_a_lower_bound() -> None:
    result = headroom(100_000, 300, model="NH-4010")
    assert result.headroom_bytes >= 612140
    assert any("not among ours" in step for step in result.why.steps)


@pytest.mark.skipif(not LOOKUP.exists(), reason="reference data not present")
@pytest.mark.parametrize(
    ("name", "text", "speed", "metres"),
    [
        ("Tomahawk 5", "Broadcom Tomahawk5", 400_000, 40),
        ("Tomahawk 5", "Broadcom Tomahawk5", 800_000, 100),
        ("Tomahawk 6", "Broadcom Tomahawk6", 100_000, 5),
        ("Spectrum-2", "Spectrum-2", 100_000, 40),
        ("Spectrum-3", "Spectrum-3", 400_000, 5),
    ],
)
def test_bare_chip_shows_the_range_of_its_tables(name: str, text: str, speed: int, metres: float) -> None:
    """Each table with its own next listed length, from the reference file."""
    nearest: dict[str, tuple[float, int]] = {}
    for cells in csv.DictReader(LOOKUP.open(encoding="utf-8")):
        at = float(cells["cable_m"])
        if text in cells["asic"] and int(cells["speed_mbps"]) == speed and at >= metres:
            nearest[cells["hwsku"]] = min(nearest.get(cells["hwsku"], (at, 0)), (at, int(cells["xoff_bytes"])))
            if nearest[cells["hwsku"]][1] == 0:
                nearest[cells["hwsku"]] = (at, int(cells["xoff_bytes"]))
    sizes = [size for _, size in nearest.values()]
    assert len(sizes) > 1
    assert spread(chip(name), speed, metres) == (min(sizes), max(sizes))
    steps = headroom(speed, metres, chip(name)).why.steps
    assert any(f"{min(sizes):,} B" in step and f"{max(sizes):,} B" in step for step in steps)


def test_spread_where_no_table_has_a_row() -> None:
    assert spread(chip("Tomahawk 3"), 400_000, 2001) is None and spread(chip("Trident 4 X9"), 100_000, 5) is None


def test_models_of_several_skus_that_reviewers_found() -> None:
    """DCS-7060X6-64PE-B: 445770 B for 400G at 30 m, 452374 B for 200G at up to 300 m (P32V128); no 1136396 at 20 m."""
    assert headroom(400_000, 20, model="DCS-7060X6-64PE-B").headroom_bytes == 452374
    assert headroom(400_000, 30, model="DCS-7060X6-64PE-B").headroom_bytes == 452374
    assert headroom(400_000, 2000, model="SN4700").headroom_bytes == 2309184  # ACS-MSN4700 by NVIDIA's sum
    text = " ".join(headroom(400_000, 2000, model="SN4700").why.steps)
    assert "ACS-MSN4700 has no row for 400G beyond 300 m" in text
    longest = headroom(10_000, 2000, model="SN2700").headroom_bytes
    assert longest >= headroom(10_000, 1500, model="SN2700").headroom_bytes >= 36864


def test_a_faster_port_than_its_table_lists_follows_the_makers_other_tables() -> None:
    """64PE-O128S2 lists 400G alone; Arista's -B SKUs have 724662, 833536 and 1621536 B for 800G at 5, 40 and 300 m."""
    for metres, size in ((5, 724662), (40, 833536), (300, 1621536)):
        for model in ("Arista-7060X6-64PE-O128S2", "7060X6-64PE"):
            made = headroom(800_000, metres, model=model)
            assert size <= made.headroom_bytes < 1.15 * size  # P32V128 has 830580 B for up to 40 m
            assert made.headroom_bytes >= headroom(800_000, metres, chip("TH5")).headroom_bytes
            assert made.confidence != "high" and not any("extrapolated" in step for step in made.why.steps)
            assert "O128S2" not in made.why.source
    assert headroom(800_000, 2000, model="7060X6-64PE").headroom_bytes >= 1621790


def test_what_is_extrapolated_says_so() -> None:
    """wistron_6512_32r lists up to 400G, and no other table of its maker has 800G."""
    made = headroom(800_000, 40, model="wistron_6512_32r")
    assert made.confidence == "low" and "extrapolated" in made.why.source
    assert any("extrapolated" in step and "400G" in step for step in made.why.steps)
    assert any("extrapolated" in term.formula for term in made.terms)


@pytest.mark.parametrize(
    ("model", "asic", "speed", "metres", "lookup", "level"),
    [
        ("DellEMC-Z9332f-O32", None, 400_000, 40, True, "high"),  # its row
        ("DellEMC-Z9332f-O32", None, 400_000, 6, True, "high"),  # the next listed length
        ("DellEMC-Z9664f-O64", None, 400_000, 40, False, "high"),  # its preset inside the table
        ("DellEMC-Z9664f-O64", None, 400_000, 5000, False, "medium"),  # beyond it
        ("DellEMC-Z9332f-O32", None, 200_000, 40, True, "medium"),  # between speeds that it lists
        (None, "TH3", 400_000, 30, True, "medium"),  # the chip's preset
        (None, "Trident 4 X9", 100_000, 30, True, "medium"),  # canonical
        ("AS9716-32D", "TH3", 400_000, 5, True, "low"),  # copied
        ("ACS-MSN4700", None, 400_000, 5, True, "low"),  # a floor
        (None, None, 400_000, 30, True, "low"),  # generic
    ],
)
def test_how_sure_a_number_is(
    model: str | None, asic: str | None, speed: int, metres: float, lookup: bool, level: str
) -> None:
    of = chip(asic) if asic else None
    made = headroom(speed, metres, of, model=model, lookup=lookup, assume_worst=True)
    assert made.confidence == level, made.why


def test_the_copied_table_is_named_as_what_it_is_and_can_be_left_out() -> None:
    """Edgecore's AS9716-32D runs SONiC; Nokia's 7220 H5 has 307848 B for 400G at 5 m, the Z9332F 178562 B."""
    made = headroom(400_000, 5, chip("TH3"), model="AS9716-32D")
    assert made.headroom_bytes >= 307848
    text = " ".join(made.why.steps)
    assert "the table that makers copy most (Tomahawk 1's" in text and "broadcom-generic" not in text
    assert "makers copy" in made.why.source and any("copied" in term.formula for term in made.terms)
    spared = headroom(400_000, 5, chip("TH3"), model="AS9716-32D", copied=False)
    assert spared.headroom_bytes == headroom(400_000, 5, chip("TH3")).headroom_bytes
    assert 178562 <= spared.headroom_bytes < 1.01 * 178562


def test_a_users_own_is_never_the_vendors() -> None:
    mine = read_table("400000 40m 2540 2540 300000 0", "mine.ini")
    made = headroom(400_000, 30, model="Z9332F", table=mine)
    assert (made.confidence, made.why.source) == ("high", "stated by the user: mine.ini")
    assert "published" not in " ".join((*made.why.steps, made.why.rounding, made.terms[0].name))
    beyond = headroom(400_000, 100, model="Z9332F", table=mine)
    assert beyond.headroom_bytes == 373888  # sonic-buildimage, 400G at 300 m
    assert "mine.ini has no row for 400G beyond 40 m: the published row is taken instead" in beyond.why.steps
    other = headroom(200_000, 10, model="Z9332F", table=mine)
    assert "mine.ini has no row for 200G: the preset is taken instead" in other.why.steps
    fit = table().extended({"TH4": {"headroom": {"base_bytes": 40_000, "fixed_us": 3, "wire_factor": 1.3}}})
    asic = fit.find("TH4")
    assert asic is not None
    stated = headroom(400_000, 30, asic)
    assert (stated.why.source, stated.confidence, stated.yours) == ("a fit stated in the site", "high", True)
    assert made.yours and not beyond.yours and not other.yours


def test_raised_to_a_row_names_the_table_and_its_true_place() -> None:
    """ACS-SN5600 has 1150976 B for 800G at 300 m and none at 250 m; 1 Tbit/s lies beyond the table."""
    made = headroom(800_000, 250, model="ACS-SN5600", delay_ns=0, at_800g=905)
    assert made.headroom_bytes >= 362496
    text = " ".join((*made.why.bounds, *made.why.steps))
    assert "800G at 250 m has" not in text
    row = headroom(800_000, 250, model="ACS-SN5600")
    assert row.headroom_bytes == 1150976
    assert "ACS-SN5600: 800G at 300 m has xoff 1,150,976 B" in row.why.steps


def test_frames_that_change_nothing_and_frames_that_do() -> None:
    small = headroom(400_000, 40, model="DellEMC-Z9332f-O32", mtu_bytes=1500, frame_bytes=1106)
    assert small.headroom_bytes == 201930
    assert any("port MTU 1,500 B: less than the 9,216 B" in step and "nothing" in step for step in small.why.steps)
    assert any("lossless frame 1,106 B: less than the 4,178 B" in step for step in small.why.steps)
    large = headroom(400_000, 40, model="DellEMC-Z9332f-O32", frame_bytes=9020)
    assert large.headroom_bytes == 201930 + 9020 - 4178
    assert any("larger lossless frame: 9,020 - 4,178 B = + 4,842 B" in step for step in large.why.steps)


def test_parts_add_up() -> None:
    for model in every_model():
        for speed, metres in ((25_000, 7), (100_000, 300), (400_000, 5), (800_000, 2001), (150_000, 40)):
            try:
                made = headroom(speed, metres, model=model, mtu_bytes=9300, assume_worst=True)
            except EmptyTable:
                continue
            assert sum(term.size_bytes for term in made.terms) == pytest.approx(made.headroom_bytes, abs=1e-3), model
            assert sum(term.size_bytes for term in made.floor) <= made.headroom_bytes + 1e-6


@pytest.mark.parametrize(
    ("model", "speed", "metres", "row", "words"),
    [
        # xoff of sonic-buildimage's pg_profile_lookup.ini at the places where a table leaves its rule
        ("Mellanox-SN5600-C224O8", 200_000, 250, 107_520, "port frame"),
        ("Mellanox-SN2700-D48C8", 10_000, 2000, 29_696, "share of the sum"),
        ("Mellanox-SN4280-C48", 400_000, 30, 91_136, "cable"),
        ("NH-5010-F-O64", 800_000, 300, 564_000, "base"),
        ("Nokia-IXR7220-H6-O256", 100_000, 500, 217_560, "base"),
        ("Arista-7060X6-16PE-384C-O128S2", 400_000, 5, 393_192, "base"),
    ],
)
def test_a_second_rule_is_that_of_its_own_table_at_places_that_it_lists(
    model: str, speed: int, metres: float, row: int, words: str
) -> None:
    made = headroom(speed, metres, model=model, lookup=False)
    assert row <= made.headroom_bytes <= 1.01 * row
    assert any(f"{model} follows another rule" in note for note in made.notes)
    assert any(words in term.name for term in made.terms)
    assert sum(term.size_bytes for term in made.terms) == pytest.approx(made.headroom_bytes)
    near = headroom(speed, metres - 0.5, model=model, lookup=False)
    assert not any("another rule" in note for note in near.notes)
    if "SN4280" not in model:  # its second rule gives more, not less
        assert near.headroom_bytes > made.headroom_bytes


def test_a_preset_in_place_of_its_table_counts_what_the_table_counts() -> None:
    """ACS-SN5600 has 1024 B frames and 905 quanta: 800G at 300 m 1,150,976 B, 400G at 40 m 283,648 B."""
    rows = {(800_000, 300): 1_150_976, (400_000, 40): 283_648}
    for (speed, metres), row in rows.items():
        made = headroom(speed, metres, model="ACS-SN5600", lookup=False)
        assert row <= made.headroom_bytes < row + 192
        larger = headroom(speed, metres, model="ACS-SN5600", lookup=False, frame_bytes=9000)
        assert larger.headroom_bytes - made.headroom_bytes >= 9000 - 4178 - 1024
        smaller = headroom(speed, metres, model="ACS-SN5600", lookup=False, frame_bytes=1106)
        assert smaller.headroom_bytes == made.headroom_bytes
    beyond = headroom(400_000, 301, model="ACS-SN5600", lookup=False)
    assert (
        beyond.headroom_bytes >= headroom(400_000, 300, model="ACS-SN5600", lookup=False).headroom_bytes + 4178 - 1024
    )


@pytest.mark.parametrize("options", [{"cell_bytes": 192}, {"delay_ns": 120}])
def test_stating_what_is_known_anyway_changes_nothing(options: dict[str, Any]) -> None:
    """The cell of Spectrum-4 is 192 B, the delay in ACS-SN5600's table 120 ns."""
    plain = headroom(800_000, 40, model="ACS-SN5600", lookup=False)
    assert headroom(800_000, 40, model="ACS-SN5600", lookup=False, **options).headroom_bytes == plain.headroom_bytes


def test_a_chip_whose_cells_hold_several_packets_is_no_crash() -> None:
    """A site may say so of any chip; NVIDIA's sum then has no factor, and the reason is told."""
    asic = table().extended({"spectrum-4": {"cell_bytes": 2048}}).get("spectrum-4")
    with pytest.raises(ValueError, match="blocks of 2048 B for several packets"):
        headroom(400_000, 40, asic, model="ACS-SN5600", lookup=False)
    with pytest.raises(ValueError, match="blocks of 2048 B for several packets"):
        headroom(400_000, 40, asic, delay_ns=200)


@pytest.mark.parametrize("model", ["ACS-SN6600_LD", "ACS-SN5600", "Mellanox-SN5600-C256S1"])
@pytest.mark.parametrize("at_800g", [905, 1810])
def test_a_longer_cable_never_needs_less_where_the_table_ends(model: str, at_800g: int) -> None:
    sizes = [
        headroom(800_000, metres, model=model, lookup=False, at_800g=at_800g).headroom_bytes
        for metres in (5, 40, 299, 300, 301, 999, 1001)
    ]
    assert sizes == sorted(sizes)


def test_every_way_to_a_number_is_named_where_a_sku_is_not_known() -> None:
    """SN5600 may be a V256, whose table is not among ours: the chip without a table decides, and is in the list."""
    made = headroom(800_000, 40, model="SN5600", lookup=False)
    (note,) = [note for note in made.notes if "V256" in note]
    assert f"the chip without a table {made.headroom_bytes:,} B" in note and made.confidence == "low"


def test_registers_of_1_kib_and_cells_are_two_roundings() -> None:
    """547074 B of parts are 535 KiB = 547840 B in NVIDIA's registers, then 2854 cells of 192 B."""
    made = headroom(800_000, 100, table().find("spectrum-4"), at_800g=905)
    rounds = {term.name: round(term.size_bytes) for term in made.terms if term.name in ("register step", "rounding")}
    assert made.headroom_bytes == 2854 * 192
    assert rounds == {"register step": 766, "rounding": 128}

"""Headroom against published tables and worked examples; expected values are not ours."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocetune.tuning import wire
from rocetune.tuning.asics import Asic, Fit, Parts, table
from rocetune.tuning.cells import nvidia_worst, packet_factor, round_up, wire_worst
from rocetune.tuning.headroom import canonical_bytes, fit_bytes, headroom, parts_bytes, physical_bytes
from rocetune.tuning.nic import mlx5_receive_buffer

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
METRES = st.floats(0, 10_000)


@given(ASICS, st.sampled_from(SPEEDS), METRES, st.integers(1500, 9216))
def test_never_below_physics_and_whole_cells(asic: Asic | None, speed: int, metres: float, mtu: int) -> None:
    result = headroom(speed, metres, asic, mtu_bytes=mtu)
    assert result.headroom_bytes >= physical_bytes(speed, metres, mtu_bytes=mtu) == result.physical_bytes
    assert result.physical_bytes >= mtu + 4178 + wire.cable_round_trip_bytes(speed, metres)
    cell = table().widest_cell() if asic is None else asic.cell_bytes
    assert cell is None or result.headroom_bytes % cell == 0


@given(ASICS, st.sampled_from(SPEEDS), st.sampled_from(SPEEDS), METRES, METRES, st.integers(1500, 9216))
def test_monotonic(asic: Asic | None, speed: int, other: int, metres: float, more: float, mtu: int) -> None:
    slow, fast = sorted((speed, other))
    short, long = sorted((metres, more))
    base = headroom(slow, short, asic, mtu_bytes=mtu).headroom_bytes
    assert headroom(fast, short, asic, mtu_bytes=mtu).headroom_bytes >= base
    assert headroom(slow, long, asic, mtu_bytes=mtu).headroom_bytes >= base
    assert headroom(slow, short, asic, mtu_bytes=9216).headroom_bytes >= base


@pytest.mark.parametrize("asic", [item for item in table() if isinstance(item.preset, Fit)], ids=lambda item: item.key)
@pytest.mark.parametrize("speed", [100_000, 200_000, 400_000])
@pytest.mark.parametrize("metres", [2, 40, 300])
def test_unknown_chip_gets_at_least_what_any_known_one_does(asic: Asic, speed: int, metres: int) -> None:
    if asic.port_gbps is None or speed <= asic.port_gbps * 1000:
        assert headroom(speed, metres).headroom_bytes >= headroom(speed, metres, asic).headroom_bytes


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
    """Spectrum-3's own table has 38912 B at 400G and 5 m, less than the peer may take to react."""
    result = headroom(400_000, 5, chip("Spectrum-3"))
    assert result.headroom_bytes == round_up(max(result.physical_bytes, 44032), 144)
    assert any("physical floor" in text for text in result.why.bounds)
    # M_ll 4178 + M_port 9216 + P 84 + 2 x 5 m x 5e10 B/s / 1.98e8 m/s + 200 ns x 5e10 B/s + 905 x 64 B
    assert result.physical_bytes == 4178 + 9216 + 84 + 2526 + 10_000 + 57_920
    shown = next(number for number, step in enumerate(result.why.steps) if "local delay 200 ns 10,000" in step)
    assert "= 83,924 B" in result.why.steps[shown] and "= 83,924 B ->" in result.why.steps[shown + 1]


def test_floor_is_the_canonical_sum_without_inflation() -> None:
    """tuning.md 1.4: F = 1, 100G, 100 m, M_ll 4178, D 200 ns gives 53820 B, against 55120 B of a published buffer."""
    exact = canonical_bytes(100_000, 100, factor=1.0)
    assert physical_bytes(100_000, 100) == round_up(exact, 1)
    assert exact == pytest.approx(53820, abs=1)

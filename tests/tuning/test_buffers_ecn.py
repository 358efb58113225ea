"""Buffer arithmetic and marking curves against worked examples of papers and vendor files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocetune.tuning import buffers, ecn
from rocetune.tuning.ecn import Objective


@pytest.mark.parametrize(
    ("headroom", "ports", "pool", "need", "ratio", "at_once"),
    [
        (160000, 32, 1622016, 10240000, 6.31, 10),
        (268736, 32, 4194112, 17199104, 4.10, 15),
        (177632, 32, 4194112, 11368448, 2.71, 23),
        (101088, 64, 8965632, 12939264, 1.44, 88),
        (373888, 32, 27200352, 23928832, 0.88, 72),
        (1498092, 32, 27200352, 95877888, 3.52, 18),
        (424434, 64, 50653696, 54327552, 1.07, 119),
        (835406, 64, 33374584, 106931968, 3.20, 39),
        (550528, 64, 72581120, 70467584, 0.97, 131),
    ],
)
def test_headroom_pools(headroom: int, ports: int, pool: int, need: int, ratio: float, at_once: int) -> None:
    result = buffers.headroom_pool(headroom, ports * 2, pool)
    assert result.need_bytes == need
    assert round(result.oversubscription, 2) == ratio
    assert result.pausing_at_once == at_once


def test_alpha_law() -> None:
    assert buffers.steady_bytes(900, 1.0) == 450
    assert buffers.steady_bytes(900, 8.0, 1) == 800
    assert buffers.steady_bytes(1100, 1.0, 10) == 100
    assert buffers.alpha_of_sonic(-2) == 0.25 and buffers.alpha_of_sonic(3) == 8
    assert buffers.sonic_of_alpha(1 / 16) == -4 and buffers.sonic_of_alpha(1) == 0


def test_worked_example() -> None:
    """32x400G Tomahawk 3 of a Z9332F, 30 m, two lossless priorities, alpha 1."""
    fit = buffers.fit(66394076, [buffers.Need(32, 2, 195326, 9216)])
    assert fit.need_bytes == 12500864
    assert fit.shared_bytes == 53893212
    assert fit.feasible
    bounds = ecn.bounds(fit.shared_bytes, 32, 64, 1.0)
    assert bounds.strict_bytes == pytest.approx(ecn.strict_bound(fit.shared_bytes, 32, 2, 1.0))
    assert round(bounds.strict_bytes) == 561388
    assert bounds.incast_bytes == 26946606
    free = ecn.curve(400_000, 8.0, "balanced", bound_bytes=bounds.incast_bytes, cell_bytes=254)
    assert (free.kmin_bytes, free.kmax_bytes, free.pmax_percent) == (400000, 1600000, 20)
    assert free.kmax_bytes > bounds.strict_bytes
    strict = ecn.curve(400_000, 8.0, "balanced", bound_bytes=bounds.strict_bytes, cell_bytes=254)
    assert (strict.kmin_bytes, strict.kmax_bytes) == (140208, 561340)
    assert strict.bounded and "561,388" in strict.kmax_why.bounds[0]


def test_dcqcn_paper_bounds() -> None:
    shared = 12_000_000 - 256 * 22400
    assert shared == 6265600
    assert ecn.strict_bound(shared, 32, 8, 1.0) == pytest.approx(21755.56, abs=0.01)
    threshold = ecn.static_pause_threshold(shared, 32, 8)
    assert threshold == 24475
    assert threshold / 32 == pytest.approx(764.84, abs=0.01)


def test_more_bounds() -> None:
    assert (
        int(ecn.strict_bound(66394076, 32, 2, 1.0)) == 691604 or round(ecn.strict_bound(66394076, 32, 2, 1)) == 691605
    )
    assert round(ecn.strict_bound(34503040, 64, 2, 1.0)) == 179703
    assert ecn.incast_bound(34503040, 1.0) == 17251520
    assert round(ecn.incast_bound(34503040, 1.0, 8)) == 30669369
    assert ecn.incast_bound(900, 1 / 8) == pytest.approx(100)


@pytest.mark.parametrize(
    ("gbps", "size"), [(25, 25000), (40, 40000), (100, 100000), (200, 200000), (400, 400000), (800, 800000)]
)
def test_bdp(gbps: int, size: int) -> None:
    assert ecn.bdp_bytes(gbps * 1000, 8.0) == size
    assert ecn.bdp_bytes(gbps * 1000, 4.0) == size // 2


def test_round_trip_by_tier_and_long_cables() -> None:
    assert ecn.round_trip(1).rtt_us == ecn.round_trip(2, 30, 100).rtt_us == 8.0
    assert ecn.round_trip(3).rtt_us == 12.0
    # 1.9 km beyond the ordinary 100 m, crossed up and down, there and back, at 1.98e8 m/s
    assert ecn.round_trip(2, 2, 2000).rtt_us == pytest.approx(8 + 4 * 1900 / 198)


def test_small_ports_keep_some_frames() -> None:
    curve = ecn.curve(10_000, 8.0, "latency")
    assert curve.kmin_bytes == 8 * 4178
    assert "8 frames" in curve.kmin_why.bounds[0]


@given(
    st.sampled_from([10_000, 25_000, 100_000, 400_000, 800_000]),
    st.floats(1, 100),
    st.sampled_from(["latency", "balanced", "throughput"]),
    st.floats(20_000, 1e9),
    st.sampled_from([1, 144, 254, 420]),
)
def test_order_holds(speed: int, rtt: float, objective: Objective, bound: float, cell: int) -> None:
    curve = ecn.curve(speed, rtt, objective, bound_bytes=bound, cell_bytes=cell)
    assert 0 < curve.kmin_bytes < curve.kmax_bytes <= bound
    assert not curve.bounded or curve.kmax_bytes % cell == 0


def test_no_room_for_a_curve() -> None:
    with pytest.raises(ValueError, match="too little"):
        ecn.curve(400_000, 8.0, bound_bytes=500, cell_bytes=254)


@given(st.integers(1, 128), st.integers(1, 4), st.integers(1000, 1_000_000), st.integers(1_000_000, 200_000_000))
def test_feasible_stays_within_the_chip(ports: int, priorities: int, headroom: int, size: int) -> None:
    fit = buffers.fit(size, [buffers.Need(ports, priorities, headroom, 9216)])
    if fit.feasible:
        assert fit.need_bytes + fit.minimum_bytes <= size
        assert fit.shared_bytes > 0


def test_slices_do_not_lend() -> None:
    fit = buffers.fit(16_000_000, [buffers.Need(32, 1, 100_000, 9216)], slices=4)
    assert fit.shared_bytes == (16_000_000 - 3_200_000) // 4
    assert fit.ports_per_slice == 8


def test_static_bounds_of_the_dcqcn_paper() -> None:
    """t_PFC = 24475 B on 32 ports with 8 priorities, and ECN a 32nd of it: 764.8 B."""
    pause = ecn.static_pause_threshold(6_265_600, 32, 8)
    made = ecn.static_bounds(round(pause), 32)
    assert made.incast_bytes == pytest.approx(24_475, abs=1)
    assert made.strict_bytes == pytest.approx(764.8, abs=0.1)

"""Buffer arithmetic and marking curves against worked examples of papers and vendor files."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocetune.tuning import buffers, ecn, fluid
from rocetune.tuning.asics import table
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


def test_worked_example() -> None:
    """32x400G Tomahawk 3 of a Z9332F, 30 m, two lossless priorities, alpha 1."""
    fit = buffers.fit(66394076, [buffers.Need(32, 2, 195326, 9216)])
    assert fit.need_bytes == 12500864
    assert fit.shared_bytes == 53893212
    assert fit.feasible
    bounds = ecn.bounds(fit.shared_bytes, 32, 64, 1.0)
    assert round(bounds.strict_bytes) == 561388
    assert bounds.incast_bytes == 26946606
    free = ecn.curve(400_000, 8.0, "balanced", bound_bytes=bounds.incast_bytes, cell_bytes=254)
    assert (free.kmin_bytes, free.kmax_bytes, free.pmax_percent) == (400000, 1600000, 20)
    assert free.kmax_bytes > bounds.strict_bytes
    strict = ecn.curve(400_000, 8.0, "balanced", bound_bytes=bounds.strict_bytes, cell_bytes=254)
    assert (strict.kmin_bytes, strict.kmax_bytes) == (140208, 561340)
    assert strict.bounded and "561,388" in strict.kmax_why.bounds[0]


def test_dcqcn_paper_bounds() -> None:
    """B = 12e6, n = 32, P = 8, H = 22400, beta 8. The 0.85 KB that the paper prints for t_ECN does not follow."""
    fit = buffers.fit(12_000_000, [buffers.Need(32, 8, 22_400, 1500)])
    assert fit.shared_bytes == 6_265_600
    assert ecn.bounds(fit.shared_bytes, 32, 32 * 8, 1.0).strict_bytes == pytest.approx(21755.56, abs=0.01)
    threshold = ecn.static_pause_threshold(fit.shared_bytes, 32, 8)
    assert threshold == 24475
    made = ecn.static_bounds(round(threshold), 32)
    assert made.incast_bytes == 24475
    assert made.strict_bytes == pytest.approx(764.84, abs=0.01)


def test_strict_bound_of_whole_switches() -> None:
    """tuning.md 3.4; SONiC's default kmax of 2 MiB breaks both."""
    for shared, ports, strict in ((66394076, 32, 691605), (34503040, 64, 179703)):
        found = ecn.bounds(shared, ports, 2 * ports, 1.0).strict_bytes
        assert found == pytest.approx(strict, abs=0.5) and found < 2_097_152


@pytest.mark.parametrize(
    ("alpha", "strict", "incast"),
    [
        (1 / 8, 100.0, 400.0),  # 3600/8 = 450; n (1 + P/8) = 4 x 1.125 = 4.5; incast 450 / 1.125 = S/9
        (1, 450.0, 1800.0),  # 3600 / (4 x 2), 3600 / 2
        (2, 600.0, 2400.0),  # 7200 / (4 x 3), 7200 / 3
    ],
)
def test_bounds_at_other_alphas(alpha: float, strict: float, incast: float) -> None:
    """alpha S / (n (1 + alpha P)) and alpha S / (1 + alpha) by hand: S = 3600, n = 4 ports, P = 1."""
    made = ecn.bounds(3600, 4, 4, alpha)
    assert made.strict_bytes == pytest.approx(strict)
    assert made.incast_bytes == pytest.approx(incast)
    assert ("alpha", alpha) in made.why.inputs


def test_bounds_where_not_every_port_has_every_priority() -> None:
    """S = 3600, 4 ports of this priority, 10 lossless queues in all, alpha 2: 7200 / (4 + 20)."""
    assert ecn.bounds(3600, 4, 10, 2).strict_bytes == pytest.approx(300)


def test_incast_bounds() -> None:
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
    assert ecn.round_trip(1).rtt_us == ecn.round_trip(2, {"host": 30.0, "spine": 100.0}).rtt_us == 8.0
    assert [ecn.round_trip(tiers).rtt_us for tiers in (0, 3, 4)] == [8.0, 12.0, 12.0]
    # three tiers of 150, 600 and 150 m: 50 + 500 + 50 m beyond 100 m each, there and back
    far = ecn.round_trip(3, {"host": 150.0, "spine": 600.0, "rack": 99.0, "last": 150.0})
    assert far.rtt_us == pytest.approx(12 + 2 * 600 / 198)
    assert "over 3 switch tiers: 12 us" in far.why.steps[0] and "rack" not in far.why.steps[1]
    # 1.9 km beyond the ordinary 100 m, crossed up and down, there and back, at 1.98e8 m/s
    assert ecn.round_trip(2, {"up": 2000.0, "down": 2000.0}).rtt_us == pytest.approx(8 + 4 * 1900 / 198)


@pytest.mark.parametrize(("objective", "kmin", "kmax"), [("latency", 50_000, 200_000), ("balanced", 100_000, 400_000)])
def test_objectives(objective: Objective, kmin: int, kmax: int) -> None:
    """tuning.md 3.3 at 100G and 8 us, BDP 100000: half a BDP, one; kmax four times kmin."""
    curve = ecn.curve(100_000, 8.0, objective)
    assert (curve.kmin_bytes, curve.kmax_bytes) == (kmin, kmax)


def test_throughput_is_hpcc_at_its_round_trip() -> None:
    """HPCC marks from 100 to 400 KB per 25G, 32 us and 128 us: 2.5 times a round trip of 12.8 us."""
    curve = ecn.curve(25_000, 12.8, "throughput")
    assert (curve.kmin_bytes, curve.kmax_bytes) == (100_000, 400_000)


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
    assert 0 < curve.kmin_bytes < curve.kmax_bytes < bound
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


def test_one_frame_per_port_must_remain() -> None:
    """8 ports x 1000 B of headroom and 8 frames of 9216 B: 81,728 B."""
    needs = [buffers.Need(8, 1, 1000, 9216)]
    assert buffers.fit(81_728, needs).feasible and not buffers.fit(81_727, needs).feasible


def test_ports_of_a_slice_are_rounded_up() -> None:
    assert buffers.fit(16_000_000, [buffers.Need(33, 1, 100, 9216)], slices=4).ports_per_slice == 9


def test_slices_do_not_lend() -> None:
    fit = buffers.fit(16_000_000, [buffers.Need(32, 1, 100_000, 9216)], slices=4)
    assert fit.shared_bytes == 3_200_000  # (16,000,000 - 3,200,000) / 4
    assert fit.ports_per_slice == 8
    assert "3,200,000 B each" in fit.why.steps[-1]


def test_tomahawk_1_has_four_slices() -> None:
    """7060CX-32S, 32x100G and two priorities at 40 m (177632): of 16 MiB nothing is left; at 100,000 B it is."""
    chip = table().find("Tomahawk")
    assert chip is not None and chip.slices == 4
    needs = [buffers.Need(32, 2, 177_632, 9216)]
    assert buffers.fit(16_777_216, needs, slices=4).shared_bytes == 1_352_192  # (16777216 - 11368448) / 4
    # 8 ports and 16 queues in a slice, alpha 1/8: 1352192/8 / (8 + 16/8) and 1352192 / 9
    bounds = ecn.bounds(1_352_192, 8, 16, 1 / 8)
    assert bounds.strict_bytes == pytest.approx(16_902.4)
    assert bounds.incast_bytes == 150_243  # of 150243.56: pause starts at whole bytes


def test_over_subscribed_headroom() -> None:
    """The worked example with its headroom over-subscribed twice: 6,250,432 B hold 32 of 64 groups of 195,326 B."""
    fit = buffers.fit(66394076, [buffers.Need(32, 2, 195326, 9216)], oversubscription=2)
    assert (fit.need_bytes, fit.pool_bytes, fit.shared_bytes) == (12500864, 6250432, 60143644)
    assert fit.feasible and fit.oversubscription == 2
    text = "\n".join(fit.why.steps)
    assert "12,500,864 / 2 = 6,250,432 B; 32 of 64 groups of 195,326 B can pause at once" in text
    assert ("oversubscription", 2) in fit.why.inputs
    assert not any("synchronised" in item for item in fit.why.bounds)
    much = buffers.fit(66394076, [buffers.Need(32, 2, 195326, 9216)], oversubscription=2.5)
    assert any("synchronised incast" in item for item in much.why.bounds)


def test_over_subscription_makes_room_where_there_is_none() -> None:
    """7050CX3-32S, 32x100G at 300 m with 160000 B each: 10240000 B against a pool of 1622016 B, 6.31 times."""
    needs = [buffers.Need(32, 2, 160_000, 9216)]
    assert not buffers.fit(10_000_000, needs).feasible
    fit = buffers.fit(10_000_000, needs, oversubscription=10_240_000 / 1_622_016)
    assert fit.feasible and fit.pool_bytes == 1_622_016 and "10 of 64 groups" in fit.why.steps[1]


def test_over_subscription_is_counted_by_slice() -> None:
    fit = buffers.fit(20_000_000, [buffers.Need(32, 2, 177_632, 9216)], slices=4, oversubscription=2)
    assert fit.shared_bytes == 3_578_944  # (20,000,000 - 5,684,224) / 4
    assert "8 of 64 groups" in fit.why.steps[1] and "each of 4 slices" in fit.why.steps[1]


@pytest.mark.parametrize(("ratio", "words"), [(0.5, "1 or more"), (float("nan"), "1 or more"), (65, "64 times")])
def test_over_subscription_that_cannot_be(ratio: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        buffers.fit(66394076, [buffers.Need(32, 2, 195326, 9216)], oversubscription=ratio)


def test_kmax_is_below_a_bound_of_whole_cells() -> None:
    curve = ecn.curve(400_000, 8.0, bound_bytes=2540, cell_bytes=254)
    assert curve.kmax_bytes == 2286 and curve.bounded
    assert any("leaves no more" in text for text in curve.kmin_why.bounds)
    exact = ecn.curve(400_000, 8.0, bound_bytes=1_600_000)
    assert exact.kmax_bytes == 1_599_999


def test_worked_example_in_time() -> None:
    """Kmin 140208 and Kmax 561340 of the strict profile are 2.8 and 11.2 us at 400G."""
    strict = ecn.curve(400_000, 8.0, bound_bytes=561_388, cell_bytes=254)
    assert "140,208 B = 2.8 us" in strict.kmin_why.steps[-1]
    assert "561,340 B = 11.2 us" in strict.kmax_why.steps[-1]
    free = ecn.curve(400_000, 8.0)
    assert any("= 8 us" in step for step in free.kmin_why.steps)
    assert "= 32 us" in free.kmax_why.steps[-1]


def test_pmax_is_twenty_percent_where_that_is_enough() -> None:
    """64 flows at 100G with the paper's parameters: p* 1.95 %."""
    curve = ecn.curve(100_000, 8.0, flows=64, dcqcn=fluid.params("paper", 100_000), frame_bytes=1000)
    assert curve.pmax_percent == 20
    text = "\n".join(curve.pmax_why.steps)
    assert "p* = 0.0195" in text and "least pmax = p* in whole percent, 1 % or more: 2 %" in text
    assert "q* = kmin" in text and not curve.pmax_why.bounds


def test_pmax_rises_with_the_flows() -> None:
    few, many = (ecn.curve(100_000, 8.0, flows=flows) for flows in (8, 1000))
    assert few.pmax_percent == 20 < many.pmax_percent <= 100
    assert "raised from 20 %" in many.pmax_why.bounds[0]
    lost = ecn.curve(10_000, 8.0, flows=100_000)
    assert lost.pmax_percent == 100 and "every packet is marked" in lost.pmax_why.bounds[0]


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([10_000, 25_000, 100_000, 400_000, 800_000, 1_600_000]),
    st.integers(1, 5000),
    st.sampled_from(["firmware", "scaled", "paper"]),
    st.sampled_from(["latency", "balanced", "throughput"]),
)
def test_pmax_keeps_the_queue_at_or_below_kmax(
    speed: int, flows: int, preset: fluid.Preset, objective: Objective
) -> None:
    parameters = fluid.params(preset, speed)
    curve = ecn.curve(speed, 8.0, objective, flows=flows, dcqcn=parameters)
    assert 20 <= curve.pmax_percent <= 100 and curve.pmax_percent == int(curve.pmax_percent)
    p = fluid.marking_probability(speed, flows, parameters, 4178)
    queue = fluid.queue_bytes(p, curve.kmin_bytes, curve.kmax_bytes, curve.pmax_percent)
    if p < 1:
        assert queue is not None and curve.kmin_bytes <= queue <= curve.kmax_bytes


@given(st.sampled_from(["latency", "balanced", "throughput"]), st.floats(1, 50))
def test_thresholds_grow_with_speed(objective: Objective, rtt: float) -> None:
    speeds = (10_000, 25_000, 40_000, 100_000, 200_000, 400_000, 800_000, 1_600_000)
    curves = [ecn.curve(speed, rtt, objective) for speed in speeds]
    assert [item.kmin_bytes for item in curves] == sorted(item.kmin_bytes for item in curves)
    assert [item.kmax_bytes for item in curves] == sorted(item.kmax_bytes for item in curves)


def test_deep_incast() -> None:
    """Seven more senders at 400G and 8 us add 7 x 400,000 B."""
    made = ecn.incast(34_503_040, 1.0, 8, 400_000, 8.0)
    assert round(made.starts_bytes) == 30_669_369 and made.growth_bytes == 2_800_000
    assert not made.why.bounds
    deep = ecn.incast(34_503_040, 1.0, 128, 400_000, 8.0)
    assert deep.growth_bytes > deep.starts_bytes and "PFC fires first" in deep.why.bounds[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ecn.curve(400_000, 8.0, "fast"), "no objective"),  # type: ignore[arg-type]
        (lambda: ecn.curve(0, 8.0), "port speed"),
        (lambda: ecn.curve(400_000, 0), "round trip"),
        (lambda: ecn.curve(400_000, float("nan")), "round trip"),
        (lambda: ecn.curve(400_000, 8, frame_bytes=0), "frame size"),
        (lambda: ecn.curve(400_000, 8, bound_bytes=100_000, cell_bytes=0), "cell size"),
        (lambda: ecn.curve(400_000, 8, flows=0), "number of flows"),
        (lambda: ecn.incast_bound(100, 1, 0), "ingress ports"),
    ],
)
def test_what_cannot_be(call, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("asic", "size", "xoff", "shared"),
    [
        ("tomahawk-2", 34_503_040, 8_965_632, 34_503_040),  # beside: the sum is the egress pool 43468672
        ("tomahawk-3", 66_394_076, 27_200_352, 39_193_724),  # inside: the sum would exceed 64 MiB
        ("trident-3", 32_822_528, 1_622_016, 31_200_512),
    ],
)
def test_does_the_pool_contain_headroom(asic: str, size: int, xoff: int, shared: int) -> None:
    made = buffers.pool_shared(asic, size, xoff)
    assert made.shared_bytes == shared and made.confirmed


def test_pool_of_a_platform_nobody_listed() -> None:
    inside = buffers.pool_shared("new-chip", 60_000_000, 20_000_000, chip_bytes=64_000_000)
    assert inside.shared_bytes == 40_000_000 and inside.confirmed
    unsure = buffers.pool_shared("new-chip", 40_000_000, 20_000_000, chip_bytes=64_000_000)
    assert unsure.shared_bytes == 20_000_000 and not unsure.confirmed and "assumed" in unsure.why.source
    with pytest.raises(ValueError, match="shares nothing"):
        buffers.pool_shared("tomahawk-3", 100, 200)


def test_listed_pools_are_chips() -> None:
    assert set(buffers.POOL_CONTAINS_HEADROOM) <= {asic.key for asic in table()}


def test_ways_out_of_a_buffer_that_is_too_small() -> None:
    """32 x 2 groups of 1,000,000 B in 64 MB: 40 m cables at 900,000 B fit, one priority fits, a pool fits."""
    needs = [buffers.Need(32, 2, 1_000_000, 9216)]
    fit = buffers.fit(60_000_000, needs)
    assert not fit.feasible
    ways = {
        item.kind: item
        for item in buffers.ways_out(fit, needs, cable_m=300, headroom_at=lambda length: 700_000 + round(length * 3000))
    }
    short = ways["shorter_cable"]
    assert short.value == 50 and short.need_bytes == 64 * 850_000 and short.fits
    fewer = ways["fewer_priorities"]
    assert fewer.value == 1 and fewer.need_bytes == 32_000_000 and fewer.fits
    pool = ways["oversubscribe"]
    assert pool.value == 1.08 and pool.fits and pool.need_bytes <= 60_000_000 - 32 * 9216


def test_ways_out_that_are_not_enough_say_so() -> None:
    needs = [buffers.Need(64, 3, 1_000_000, 9216)]
    fit = buffers.fit(10_000_000, needs)
    ways = buffers.ways_out(fit, needs, cable_m=5, headroom_at=lambda length: 500_000)
    assert [item.kind for item in ways] == ["shorter_cable", "fewer_priorities", "oversubscribe"]
    assert not any(item.fits for item in ways)
    assert ways[0].value == 1 and "still too much" in ways[0].text and "still too much" in ways[1].text
    assert ways[2].value > 2 and "synchronised incast" in ways[2].text


def test_no_way_out_where_there_is_none() -> None:
    needs = [buffers.Need(64, 1, 1000, 9216)]
    fit = buffers.fit(500_000, needs)  # not even one frame per port
    assert buffers.ways_out(fit, needs, cable_m=1, headroom_at=lambda length: 900) == ()


@settings(deadline=None, max_examples=80)
@given(st.integers(1, 128), st.integers(1, 8), st.integers(10_000, 2_000_000), st.integers(1_000_000, 200_000_000))
def test_a_way_that_fits_does(ports: int, priorities: int, headroom: int, size: int) -> None:
    needs = [buffers.Need(ports, priorities, headroom, 9216)]
    fit = buffers.fit(size, needs)
    for way in buffers.ways_out(fit, needs, cable_m=300, headroom_at=lambda length: round(headroom * length / 300)):
        if way.fits:
            assert way.need_bytes + fit.minimum_bytes <= size
        if way.kind == "fewer_priorities" and way.fits and not fit.feasible:
            assert buffers.fit(size, [buffers.Need(ports, int(way.value), headroom, 9216)]).feasible
            assert int(way.value) < priorities


def test_ways_out_of_an_over_subscribed_buffer() -> None:
    """64 x 3 groups of 1,000,000 B at 2:1 need 96 MB; 80 MB hold two priorities (64 MB), or 3 at 2.42:1."""
    needs = [buffers.Need(64, 3, 1_000_000, 9216)]
    fit = buffers.fit(80_000_000, needs, oversubscription=2)
    assert not fit.feasible and fit.pool_bytes == 96_000_000 and fit.room_bytes == 79_410_176
    ways = {item.kind: item for item in buffers.ways_out(fit, needs, cable_m=300, headroom_at=lambda length: 820_000)}
    assert ways["shorter_cable"].fits and ways["shorter_cable"].value == 150  # 157.44 MB / 2
    assert ways["fewer_priorities"].fits and ways["fewer_priorities"].value == 2
    assert ways["oversubscribe"].value == 2.42
    assert buffers.ratio_needed(fit) == pytest.approx(192_000_000 / 79_410_176)


def test_ways_out_that_just_fit() -> None:
    """2 x 3 groups of 1000 B, 2 frames of 1000 B; ports with short cables keep their 100 B."""
    needs = [buffers.Need(2, 3, 1000, 1000)]
    (fewer, _) = buffers.ways_out(buffers.fit(6_000, needs), needs)
    assert fewer.value == 2 and fewer.fits
    (fewer, _) = buffers.ways_out(buffers.fit(5_999, needs), needs)
    assert fewer.value == 1 and fewer.fits
    mixed = [buffers.Need(2, 1, 1000, 1000), buffers.Need(4, 1, 100, 1000)]
    ways = buffers.ways_out(buffers.fit(7_000, mixed), mixed, cable_m=40, headroom_at=lambda length: 300)
    assert (ways[0].kind, ways[0].value, ways[0].need_bytes, ways[0].fits) == ("shorter_cable", 30, 1000, True)


def test_no_more_priorities_are_given_up_than_needed() -> None:
    """32 x 3 groups of 1,000,000 B in 70 MB: two priorities need 64 MB and fit."""
    needs = [buffers.Need(32, 3, 1_000_000, 9216)]
    (fewer, _) = buffers.ways_out(buffers.fit(70_000_000, needs), needs)
    assert fewer.kind == "fewer_priorities" and fewer.value == 2 and fewer.need_bytes == 64_000_000 and fewer.fits


@settings(deadline=None)
@given(
    strict=st.floats(1, 1e6),
    over=st.floats(1.1, 200),
    cell=st.sampled_from([1, 144, 208, 254, 318, 4096]),
    frame=st.sampled_from([1106, 4178]),
)
def test_latency_keeps_below_the_strict_bound_as_far_as_two_frames_allow(
    strict: float, over: float, cell: int, frame: int
) -> None:
    """Only where no two frames fit below kmax / 4 does the strict bound yield, and never the incast one."""
    limits = ecn.Bounds(strict, strict * over, ecn.static_bounds(1, 1).why)
    limit = limits.limit("latency", frame, cell)
    assert limit <= limits.incast_bytes and limits.limit("balanced", frame, cell) == limits.incast_bytes
    try:
        curve = ecn.curve(400_000, 8.0, "latency", frame_bytes=frame, bound_bytes=limit, cell_bytes=cell)
    except ValueError:
        assert limits.incast_bytes <= 4 * (2 * frame + 2 * cell)
        return
    assert curve.kmax_bytes < limits.incast_bytes
    if curve.kmin_bytes < 2 * frame:
        assert limits.incast_bytes < 4 * (2 * frame + 2 * cell)
    elif curve.kmax_bytes >= strict:
        assert strict < 4 * (2 * frame + 2 * cell)


def test_a_strict_bound_below_one_frame_does_not_mark_every_packet() -> None:
    """A full 25G switch with a sixteenth of 2 MB: strict 7957 B would put kmin at 1989 B, half a frame."""
    limits = ecn.Bounds(7_957.0, 400_000.0, ecn.static_bounds(1, 1).why)
    curve = ecn.curve(25_000, 8.0, "latency", bound_bytes=limits.limit("latency", 4178, 208), cell_bytes=208)
    assert 2 * 4178 <= curve.kmin_bytes <= 3 * 4178 and curve.kmax_bytes < 400_000

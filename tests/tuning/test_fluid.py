"""The fixed point of DCQCN's fluid model against the published table and against the equations themselves."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocetune.tuning import fluid

PAPER = fluid.params("paper", 40_000)

# C in Gbit/s, N, p* exact, p* by cube root, q* with 5/200 KB at 1 %, q* with 400/1600 KB at 20 %; 1000 B packets
TABLE = [
    (40, 2, 7.77e-4, 9.25e-4, 20.2, None),
    (40, 10, 6.03e-3, 7.85e-3, 122.6, None),
    (40, 16, 1.09e-2, 1.47e-2, math.inf, None),
    (100, 2, 2.39e-4, 2.76e-4, 9.7, 401.4),
    (100, 10, 1.89e-3, 2.32e-3, 41.8, 411.3),
    (100, 64, 1.95e-2, 2.75e-2, math.inf, 516.9),
]


@pytest.mark.parametrize(("gbps", "flows", "exact", "root", "narrow", "wide"), TABLE)
def test_published_table(gbps: int, flows: int, exact: float, root: float, narrow: float, wide: float | None) -> None:
    p = fluid.marking_probability(gbps * 1000, flows, PAPER)
    assert p == pytest.approx(exact, rel=0.02)
    assert fluid.cube_root(gbps * 1000, flows, PAPER) == pytest.approx(root, rel=0.02)
    assert 1.15 < fluid.cube_root(gbps * 1000, flows, PAPER) / p < 1.42
    queue = fluid.queue_bytes(p, 5_000, 200_000, 1)
    if math.isinf(narrow):
        assert queue is None
    else:
        assert queue == pytest.approx(narrow * 1000, rel=0.02)
    if wide is not None:
        assert fluid.queue_bytes(p, 400_000, 1_600_000, 20) == pytest.approx(wide * 1000, rel=0.02)


def test_fifteen_flows_are_the_most_at_40g_and_one_percent() -> None:
    """With pmax 1 % more than about 15 flows push the queue past kmax."""
    last = max(n for n in range(1, 40) if fluid.marking_probability(40_000, n, PAPER) <= 0.01)
    assert last in (14, 15)


def derivatives(gbps: float, flows: int, p: float, parameters: fluid.Params, packet: int) -> tuple[float, float]:
    """The two rate equations as the papers print them, with R_T from one and the rest of the other; both relative."""
    r = gbps * 1e9 / 8 / packet / flows
    tau, tau_alpha = parameters.cnp_interval_us * 1e-6, parameters.alpha_timer_us * 1e-6
    timer, ai = parameters.timer_us * 1e-6 * r, parameters.ai_mbps * 1e6 / 8 / packet
    cut = 1 - (1 - p) ** (tau * r)
    alpha = 1 - (1 - p) ** (tau_alpha * r)
    by_timer = p / ((1 - p) ** -timer - 1)
    by_bytes = 0.0
    additive = by_timer * (1 - p) ** (parameters.fast_recovery * timer)
    if parameters.byte_counter_bytes is not None:
        count = parameters.byte_counter_bytes / packet
        by_bytes = p / ((1 - p) ** -count - 1)
        additive += by_bytes * (1 - p) ** (parameters.fast_recovery * count)
    target = r + tau * ai * r * additive / cut
    down = r * alpha / (2 * tau) * cut
    up = (target - r) / 2 * r * (by_bytes + by_timer)
    return down, up


@pytest.mark.parametrize("preset", ["paper", "firmware", "scaled"])
@pytest.mark.parametrize(("gbps", "flows"), [(25, 4), (100, 10), (100, 64), (400, 64), (400, 256), (800, 128)])
def test_rates_stand_still_at_the_fixed_point(preset: fluid.Preset, gbps: int, flows: int) -> None:
    parameters = fluid.params(preset, gbps * 1000)
    p = fluid.marking_probability(gbps * 1000, flows, parameters, 4178)
    down, up = derivatives(gbps, flows, p, parameters, 4178)
    assert up == pytest.approx(down, rel=1e-6)


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(["paper", "firmware", "scaled"]),
    st.sampled_from([10_000, 25_000, 40_000, 100_000, 200_000, 400_000, 800_000, 1_600_000]),
    st.integers(1, 100_000),
    st.integers(64, 9216),
)
def test_always_an_answer_and_monotonic_in_flows(preset: fluid.Preset, speed: int, flows: int, packet: int) -> None:
    parameters = fluid.params(preset, speed)
    point = fluid.fixed_point(speed, flows, parameters, packet)
    assert 0 < point.p <= 1
    assert point.exists == (point.p < 1)
    assert fluid.marking_probability(speed, flows + 1 + flows // 10, parameters, packet) >= point.p
    rate = fluid.cnp_per_s(speed, flows, point.p, parameters, packet)
    assert 0 < rate <= speed * 1e6 / 8 / packet * (1 + 1e-9)
    assert rate <= flows / (parameters.cnp_interval_us * 1e-6) * (1 + 1e-9)


def test_no_fixed_point_is_said_in_words() -> None:
    point = fluid.fixed_point(10_000, 100_000, fluid.params("firmware", 10_000), 4178)
    assert not point.exists and point.p == 1.0
    assert any("no fixed point" in step for step in point.why.steps)
    assert fluid.queue_bytes(point.p, 5_000, 200_000, 100) is None


def test_one_flow_hardly_needs_marks() -> None:
    assert 0 < fluid.marking_probability(1_600_000, 1, fluid.params("firmware", 1_600_000), 9216) < 1e-4


def test_without_additive_increase_nothing_is_marked() -> None:
    parameters = fluid.params("firmware", 100_000, {"rpg_ai_rate": 0})
    assert fluid.marking_probability(100_000, 10, parameters) == 0
    assert fluid.cube_root(100_000, 10, parameters) == 0
    assert fluid.queue_bytes(0.0, 100, 400, 20) == 100


def test_presets() -> None:
    firmware, scaled = fluid.params("firmware", 400_000), fluid.params("scaled", 400_000)
    assert (firmware.ai_mbps, firmware.timer_us, firmware.alpha_timer_us, firmware.fast_recovery) == (5, 300, 1, 1)
    assert firmware.byte_counter_bytes is None and "byte counter" in firmware.assumed[0]
    assert scaled.ai_mbps == 80 and scaled.timer_us == 300
    assert (PAPER.ai_mbps, PAPER.timer_us, PAPER.cnp_interval_us, PAPER.alpha_timer_us) == (40, 55, 50, 55)
    assert PAPER.byte_counter_bytes == 10_000_000 and PAPER.fast_recovery == 5


def test_fixed_values_reach_the_model() -> None:
    made = fluid.params(
        "firmware",
        100_000,
        {"rpg_ai_rate": 40, "rpg_time_reset": 55, "dce_tcp_rtt": 55, "min_time_between_cnps": 50, "rpg_threshold": 5},
    )
    assert (made.ai_mbps, made.timer_us, made.alpha_timer_us, made.cnp_interval_us) == (40, 55, 55, 50)
    assert made.fast_recovery == 5 and "rpg_ai_rate" in made.source
    assert not any("spacing" in item for item in made.assumed)


def test_least_time_between_cuts_counts_where_cnps_are_closer() -> None:
    made = fluid.params("firmware", 100_000, {"min_time_between_cnps": 0, "rate_reduce_monitor_period": 10})
    assert made.cnp_interval_us == 10


def test_byte_counter_of_unconfirmed_unit_is_not_converted() -> None:
    made = fluid.params("paper", 100_000, {"rpg_byte_reset": 32767})
    assert made.byte_counter_bytes is None and "32767" in made.assumed[0]
    off = fluid.params("paper", 100_000, {"rpg_byte_reset": 0})
    assert off.byte_counter_bytes is None and not any("byte counter" in item for item in off.assumed)


@pytest.mark.parametrize(
    ("speed", "flows", "words"),
    [(10_000, 80, "10G"), (40_000, 160, "40G"), (100_000, 480, "ConnectX-4"), (400_000, 480, "nothing is published")],
)
def test_published_breakdown(speed: int, flows: int, words: str) -> None:
    found, source = fluid.breakdown_flows(speed)
    assert found == flows and words in source and "DCQCN+" in source


def test_breakdown_between_published_speeds_is_the_lower_one() -> None:
    assert fluid.breakdown_flows(25_000)[0] == 80
    assert fluid.breakdown_flows(50_000)[0] == 160


def test_cnps_of_rare_marks_are_as_many_as_marks() -> None:
    """100G of 1000 B packets, one in a million marked: 12.5 per second."""
    assert fluid.cnp_per_s(100_000, 10, 1e-6, PAPER) == pytest.approx(12.5, rel=0.01)


def test_cnps_are_capped_by_the_interval() -> None:
    """Ten flows, every packet marked, one CNP per flow and 50 us: 200,000 per second."""
    assert fluid.cnp_per_s(100_000, 10, 1.0, PAPER) == pytest.approx(200_000)


def test_steps_hold_the_queue_where_they_are() -> None:
    assert fluid.queue_bytes(0.3, 30_000, 30_000, 100) == 30_000
    assert fluid.queue_bytes(0.3, 30_000, 30_000, 20) == 30_000
    assert fluid.queue_bytes(1.0, 30_000, 30_000, 100) is None


def test_queue_stands_at_kmax_where_p_is_pmax() -> None:
    assert fluid.queue_bytes(0.2, 400_000, 1_600_000, 20) == 1_600_000
    assert fluid.queue_bytes(0.2001, 400_000, 1_600_000, 20) is None
    assert fluid.queue_bytes(0.1, 400_000, 1_600_000, 20) == 1_000_000


def test_cnps_are_never_more_than_packets() -> None:
    """10G of 1250 B packets is a million per second; 100,000 flows at 4 us could ask for 25 thousand million."""
    assert fluid.cnp_per_s(10_000, 100_000, 1.0, fluid.params("firmware", 10_000), 1250) == pytest.approx(1e6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fluid.params("fast", 100_000), "firmware, scaled or paper"),  # type: ignore[arg-type]
        (lambda: fluid.params("paper", 0), "port speed"),
        (lambda: fluid.params("paper", 100_000, {"rpg_time_reset": 0}), "increase timer"),
        (lambda: fluid.marking_probability(100_000, 0, PAPER), "number of flows"),
        (lambda: fluid.marking_probability(100_000, 4, PAPER, -1), "packet size"),
        (lambda: fluid.marking_probability(-1, 4, PAPER), "port speed"),
        (lambda: fluid.queue_bytes(1.5, 1, 2, 20), "between 0 and 1"),
        (lambda: fluid.queue_bytes(0.5, 1, 2, 0), "pmax"),
        (lambda: fluid.breakdown_flows(0), "port speed"),
    ],
)
def test_what_cannot_be(call, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=words):
        call()

"""Where pause starts and ends: encodings of alpha, XOFF, XON and the time a pause lasts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocetune.tuning import thresholds
from rocetune.tuning.thresholds import encodings


@pytest.mark.parametrize(
    ("name", "index", "alpha"),
    [
        ("sonic", 0, 1),
        ("sonic", -2, 1 / 4),
        ("sonic", 3, 8),
        ("sonic", -3, 1 / 8),
        ("spectrum", 13, 32),
        ("spectrum", 8, 1),
        ("spectrum", 1, 1 / 128),
        ("spectrum", 14, 64),
        ("junos", 7, 1),
        ("junos", 10, 8),
        ("dcqcn-beta", 8, 1),
        ("dcqcn-beta", 1, 1 / 8),
        ("h3c", 6, 1 / 8),
        ("h3c", 0, 1 / 128),
        ("h3c", 50, 1),
        ("h3c", 51, 2),
        ("h3c", 100, 8),
    ],
)
def test_encodings(name: str, index: int, alpha: float) -> None:
    assert encodings()[name].decode(index) == alpha


def test_unconfirmed_encodings_say_so() -> None:
    assert {name for name, item in encodings().items() if not item.confirmed} == {"junos", "h3c"}


@pytest.mark.parametrize(
    ("name", "index"), [("sonic", 8), ("sonic", -9), ("spectrum", 0), ("spectrum", 15), ("junos", 11)]
)
def test_outside_the_range(name: str, index: int) -> None:
    with pytest.raises(ValueError, match="goes from"):
        encodings()[name].decode(index)


@given(st.sampled_from(sorted(encodings())), st.floats(1e-3, 1e3))
def test_encoding_never_gives_more_than_asked(name: str, alpha: float) -> None:
    encoding = encodings()[name]
    index = encoding.encode(alpha)
    assert encoding.low <= index <= encoding.high
    assert encoding.decode(index) <= alpha * 1.000001 or index == encoding.low
    assert index == encoding.high or encoding.decode(index + 1) > alpha or encoding.name == "h3c"


@pytest.mark.parametrize(
    ("alpha", "power"), [(1, 0), (1 / 16, -4), (1 / 4, -2), (8, 3), (0.3, -2), (0.99, -1), (1.9, 0), (1000, 7)]
)
def test_sonic_powers_are_rounded_down(alpha: float, power: int) -> None:
    assert thresholds.sonic_power(alpha) == power


def test_sonic_has_no_alpha_below_its_least() -> None:
    assert thresholds.sonic_power(1 / 1000) == -8
    for nothing in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="alpha must be greater than zero"):
            thresholds.sonic_power(nothing)


def test_steady_states() -> None:
    """alpha*S/(1+n*alpha), by hand: half of 900 for one; a ninth of it free at alpha 8; 1100 over 11 for ten."""
    assert thresholds.steady_bytes(900, 1.0) == 450
    assert thresholds.steady_bytes(900, 8.0) == 800
    assert thresholds.steady_bytes(1100, 1.0, 10) == 100


@pytest.mark.parametrize(("users", "share"), [(1, 32 / 33), (2, 32 / 65), (8, 32 / 257)])
def test_law_of_the_mlx5_driver(users: int, share: float) -> None:
    """Its default alpha 32 gives each of n users 32/(1+32n) of the pool."""
    assert thresholds.steady_bytes(1.0, 32, users) == pytest.approx(share)


def test_dynamic_xoff() -> None:
    made = thresholds.dynamic_xoff(53_893_212, 1.0, 64)
    assert made.alone_bytes == 26_946_606
    assert made.crowded_bytes == 53_893_212 // 65
    assert made.crowded_bytes * 64 <= 53_893_212


def test_hysteresis_at_400g() -> None:
    """30 m: 15,152 B of cable and 905 quanta of 64 B; two frames of 9216 B are 73 cells of 254 B."""
    made = thresholds.hysteresis(400_000, 30, 9216, cell_bytes=254)
    assert made.flapping_bytes == 18_432
    assert made.gap_bytes == 73 * 254
    assert made.starvation_bytes == pytest.approx(57_920 + 15_152, abs=1)
    assert made.xon_bytes is None and not made.runs_dry
    assert "cells of 254" in made.why.rounding


def test_bounds_that_cross_are_said() -> None:
    made = thresholds.hysteresis(10_000, 1)
    assert made.gap_bytes == 18_432 > made.starvation_bytes
    assert made.runs_dry and "cross" in made.why.bounds[0]


def test_xon_level_that_drains_too_soon() -> None:
    low = thresholds.hysteresis(400_000, 300, xoff_bytes=100_000)
    assert low.xon_bytes == 100_000 - 18_432 and low.runs_dry
    high = thresholds.hysteresis(400_000, 300, xoff_bytes=1_000_000)
    assert high.xon_bytes == 1_000_000 - 18_432 and not high.runs_dry
    with pytest.raises(ValueError, match="no room for XON"):
        thresholds.hysteresis(400_000, 300, xoff_bytes=18_432)


def test_bounds_that_just_meet_leave_nothing_idle() -> None:
    """A cable of no length at 100G: 394 quanta, 25,216 B, drain; two frames of 12,608 B are as much."""
    met = thresholds.hysteresis(100_000, 0, 12_608)
    assert not met.runs_dry and not met.why.bounds
    assert thresholds.hysteresis(100_000, 0, 12_609).runs_dry
    # XON of 25,216 B just outlasts them, one byte less does not
    assert not thresholds.hysteresis(100_000, 0, 1500, xoff_bytes=25_216 + 3000).runs_dry
    assert thresholds.hysteresis(100_000, 0, 1500, xoff_bytes=25_215 + 3000).runs_dry


def test_reaction_of_sonic_at_800g() -> None:
    ours, theirs = (thresholds.hysteresis(800_000, 2, at_800g=quanta).starvation_bytes for quanta in (1810, 905))
    assert ours - theirs == 905 * 64


@pytest.mark.parametrize(
    ("gbps", "cable", "mtu", "cell", "gap", "drains", "dry"),
    [
        (25, 2, 1500, 208, 15 * 208, 5_183, False),  # 80 quanta are 5,120 B, the cable holds 63
        (100, 5, 9216, 96, 192 * 96, 25_847, False),  # 394 quanta are 25,216 B, the cable 631; 18,432 is 192 cells
        (40, 100, 9216, 1, 18_432, 12_603, True),  # 118 quanta are 7,552 B, the cable 5,051
        (100, 300, 1500, 254, 12 * 254, 63_095, False),
    ],
)
def test_gap_and_what_drains_by_hand(
    gbps: int, cable: float, mtu: int, cell: int, gap: int, drains: int, dry: bool
) -> None:
    made = thresholds.hysteresis(gbps * 1000, cable, mtu, cell_bytes=cell)
    assert (made.gap_bytes, made.runs_dry) == (gap, dry)
    assert made.starvation_bytes == pytest.approx(drains, abs=1)


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from([10_000, 25_000, 100_000, 400_000, 800_000]),
    st.floats(0.5, 120_000),
    st.floats(0.5, 120_000),
    st.integers(1500, 9216),
    st.sampled_from([1, 96, 144, 192, 208, 254, 256, 318, 420]),
)
def test_more_cable_or_speed_never_makes_the_gap_dry(speed: int, one: float, two: float, mtu: int, cell: int) -> None:
    short, long = sorted((one, two))
    near, far = (thresholds.hysteresis(speed, length, mtu, cell_bytes=cell) for length in (short, long))
    fast = thresholds.hysteresis(2 * speed, short, mtu, cell_bytes=cell)
    assert near.gap_bytes == far.gap_bytes == fast.gap_bytes
    assert near.runs_dry or not (far.runs_dry or fast.runs_dry)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: thresholds.hysteresis(0, 1), "port speed"),
        (lambda: thresholds.hysteresis(100_000, -1), "cable length"),
        (lambda: thresholds.hysteresis(100_000, 1, 0), "MTU"),
        (lambda: thresholds.hysteresis(100_000, 1, cell_bytes=0), "cell size"),
        (lambda: thresholds.dynamic_xoff(0, 1, 1), "shared pool"),
        (lambda: thresholds.dynamic_xoff(100, 0, 1), "alpha"),
        (lambda: thresholds.dynamic_xoff(100, 1, 0), "priority groups"),
    ],
)
def test_what_cannot_be(call, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=words):
        call()

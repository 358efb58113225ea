"""Where pause starts and ends: encodings of alpha, XOFF, XON and the time a pause lasts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocetune.tuning import thresholds, wire
from rocetune.tuning.thresholds import ENCODINGS, XOFF_MODELS


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
    assert ENCODINGS[name].decode(index) == alpha


def test_unconfirmed_encodings_say_so() -> None:
    assert {name for name, item in ENCODINGS.items() if not item.confirmed} == {"junos", "h3c"}


@pytest.mark.parametrize(
    ("name", "index"), [("sonic", 8), ("sonic", -9), ("spectrum", 0), ("spectrum", 15), ("junos", 11)]
)
def test_outside_the_range(name: str, index: int) -> None:
    with pytest.raises(ValueError, match="goes from"):
        ENCODINGS[name].decode(index)


@given(st.sampled_from(sorted(ENCODINGS)), st.floats(1e-3, 1e3))
def test_encoding_never_gives_more_than_asked(name: str, alpha: float) -> None:
    encoding = ENCODINGS[name]
    index = encoding.encode(alpha)
    assert encoding.low <= index <= encoding.high
    assert encoding.decode(index) <= alpha * 1.000001 or index == encoding.low
    assert index == encoding.high or encoding.decode(index + 1) > alpha or encoding.name == "h3c"


def test_models_name_known_encodings() -> None:
    for model in XOFF_MODELS.values():
        assert model.encoding == "" or model.encoding in ENCODINGS
        assert model.threshold and model.source


def test_law_of_the_mlx5_driver() -> None:
    """Its default alpha 32 gives each of n users 32/(1+32n) of the pool."""
    for users in (1, 2, 8):
        assert thresholds.steady_bytes(1.0, 32, users) == pytest.approx(32 / (1 + 32 * users))


def test_dynamic_xoff() -> None:
    made = thresholds.dynamic_xoff(53_893_212, 1.0, 64)
    assert made.alone_bytes == 26_946_606
    assert made.crowded_bytes == 53_893_212 // 65
    assert made.crowded_bytes * 64 <= 53_893_212


def test_static_xoff_of_the_dcqcn_paper() -> None:
    assert thresholds.static_xoff(6_265_600, 256).alone_bytes == 24_475
    assert thresholds.static_xoff(6_265_600, 256, 208).alone_bytes == 117 * 208
    with pytest.raises(ValueError, match="less than one cell"):
        thresholds.static_xoff(1000, 256, 208)


@pytest.mark.parametrize(
    ("gbps", "us"), [(10, 3355), (40, 838.8), (100, 335.5), (200, 167.8), (400, 83.9), (800, 41.9)]
)
def test_how_long_a_pause_lasts(gbps: int, us: float) -> None:
    assert wire.pause_time_us(gbps * 1000) == pytest.approx(us, abs=0.5 if us > 1000 else 0.05)


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


def test_reaction_of_sonic_at_800g() -> None:
    ours, theirs = (thresholds.hysteresis(800_000, 2, at_800g=quanta).starvation_bytes for quanta in (1810, 905))
    assert ours - theirs == 905 * 64


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from([10_000, 25_000, 100_000, 400_000, 800_000, 1_600_000]),
    st.floats(0.5, 120_000),
    st.integers(1500, 9216),
    st.sampled_from([1, 96, 144, 192, 208, 254, 256, 318, 420]),
)
def test_gap_never_flaps(speed: int, cable: float, mtu: int, cell: int) -> None:
    made = thresholds.hysteresis(speed, cable, mtu, cell_bytes=cell)
    assert made.gap_bytes >= 2 * mtu and made.gap_bytes % cell == 0 and made.gap_bytes < 2 * mtu + cell
    assert made.runs_dry == (made.gap_bytes > made.starvation_bytes)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: thresholds.hysteresis(0, 1), "port speed"),
        (lambda: thresholds.hysteresis(100_000, -1), "cable length"),
        (lambda: thresholds.hysteresis(100_000, 1, 0), "MTU"),
        (lambda: thresholds.hysteresis(100_000, 1, cell_bytes=0), "cell size"),
        (lambda: thresholds.dynamic_xoff(0, 1, 1), "shared pool"),
        (lambda: thresholds.dynamic_xoff(100, 0, 1), "alpha"),
        (lambda: thresholds.static_xoff(100, 0), "priority groups"),
    ],
)
def test_what_cannot_be(call, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=words):
        call()

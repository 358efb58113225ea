"""Words about a curve follow its numbers, and the four aspects stay apart."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocetune.model.plan import Why
from rocetune.tuning import ecn, fluid
from rocetune.tuning.outlook import Outlook, outlook, warnings

# 32x400G Tomahawk 3 of the worked example: S = 53,893,212 B, 32 ports with two lossless priorities, alpha 1
BOUNDS = ecn.bounds(53_893_212, 32, 64, 1.0)
FIRMWARE = fluid.params("firmware", 400_000)


def of(
    kmin: int | None, kmax: int | None, pmax: float = 20, flows: int = 16, bounds: ecn.Bounds | None = BOUNDS
) -> Outlook:
    return outlook(400_000, kmin, kmax, pmax, flows, FIRMWARE, bounds, 4178)


def test_without_ecn() -> None:
    """PFC alone: best goodput, a bystander about 7 times as long, bursts 2 to 3 times."""
    made = of(None, None)
    assert made.goodput.startswith("best") and "7 times" in made.bystander and "2 to 3 times" in made.burst
    assert "all the work" in made.pause and "ECN is off" in made.active_bound
    assert made.p_star == 0 and made.q_star_bytes is None and made.cnp_per_s == 0


def test_balanced_curve_between_the_bounds() -> None:
    made = of(400_000, 1_600_000)
    assert made.goodput.startswith("near PFC alone")
    assert "ordinary incast" in made.bystander and "all egress queues" in made.pause
    assert "561,388" in made.active_bound and "26,946,606" in made.active_bound
    assert made.q_star_bytes is not None and 400_000 < made.q_star_bytes < 1_600_000


def test_strict_curve() -> None:
    made = of(140_208, 561_340)
    assert "below both bounds" in made.active_bound
    assert made.bystander.startswith("spared: ") and made.pause.startswith("rare: ")
    assert made.goodput.startswith("at risk") and "2.8 us" in made.goodput  # less than half of 8 us


def test_marks_before_a_round_trip_is_queued() -> None:
    assert "before one round trip" in of(240_000, 560_000).goodput


def test_marking_that_jumps() -> None:
    assert "from none to all" in of(300_000, 400_000).goodput


def test_curve_that_pfc_cuts_off() -> None:
    made = of(1_000_000, 40_000_000)
    assert "above the incast bound" in made.active_bound and "certain marking" in made.active_bound
    assert "held up" in made.bystander and "frequent" in made.pause


def test_pause_before_any_mark_is_pfc_alone() -> None:
    made = of(30_000_000, 60_000_000)
    assert "before any mark" in made.active_bound
    assert made.goodput.startswith("best") and "7 times" in made.bystander and "most of the work" in made.pause


@pytest.mark.parametrize(
    ("kmin", "kmax", "words"),
    [
        (100_000, 499_999, "below both bounds"),
        (100_000, 500_000, "above the strict bound 500,000 B, below"),
        (100_000, 1_999_999, "above the strict bound 500,000 B, below"),
        (100_000, 2_000_000, "certain marking"),  # PFC starts as soon as the queue is at kmax
        (1_999_999, 2_000_000, "certain marking"),
        (2_000_000, 2_000_000, "before any mark"),
    ],
)
def test_a_threshold_on_a_bound_is_not_below_it(kmin: int, kmax: int, words: str) -> None:
    assert words in of(kmin, kmax, bounds=ecn.Bounds(500_000, 2_000_000, Why("test"))).active_bound


def test_a_queue_that_stands_where_pfc_starts_is_held_by_pfc() -> None:
    bounds = ecn.Bounds(500_000, 2_000_000, Why("test"))
    assert of(2_000_000, 2_000_000, bounds=bounds).goodput.startswith("best")
    assert not of(1_999_999, 1_999_999, bounds=bounds).goodput.startswith("best")


def test_queue_beyond_kmax() -> None:
    made = of(400_000, 1_600_000, pmax=1, flows=256)
    assert made.q_star_bytes is None
    assert made.goodput.startswith("uneven") and "beyond kmax" in made.bystander and made.pause.startswith("likely")
    assert "more than 32 us" in made.burst


def test_published_breakdown() -> None:
    made = of(400_000, 1_600_000, pmax=100, flows=600)
    assert made.goodput.startswith("unsure") and "480" in made.goodput
    assert any("break down from 480" in text for text in made.why.bounds)


def test_standing_queue_is_slow_for_bursts() -> None:
    """SONiC's default at 400G: kmin 21 us against a round trip of 8 us."""
    made = of(1_048_576, 2_097_152, pmax=5)
    assert made.burst.startswith("slow") and "standing queue" in made.burst
    assert not of(400_000, 1_600_000).burst.startswith("slow")


# At 400G and 8 us one round trip is 400,000 B; where kmin = kmax the queue stands at the step.
@pytest.mark.parametrize(
    ("aspect", "words", "without", "with_it"),
    [
        ("burst", "slow", (800_000, 800_000), (800_001, 800_001)),  # two round trips of standing queue
        ("goodput", "at risk", (200_000, 800_000), (199_999, 800_000)),  # kmin of half a round trip
        ("goodput", "from none to all", (300_000, 600_000), (300_000, 599_999)),  # kmax of two kmin
        ("goodput", "before one round trip", (400_000, 800_000), (399_999, 800_000)),
    ],
)
def test_words_change_where_the_limits_are(
    aspect: str, words: str, without: tuple[int, int], with_it: tuple[int, int]
) -> None:
    assert words not in getattr(of(*without), aspect)
    assert words in getattr(of(*with_it), aspect)


def test_warns_of_a_queue_beyond_kmax() -> None:
    """tuning.md 4.3: at 40G with 5/200 KB at 1 % the queue of 10 flows stands at 122.6 KB, that of 16 beyond kmax."""
    paper = fluid.params("paper", 40_000)
    assert warnings(40_000, 10, paper, 5_000, 200_000, 1, 1000) == ()
    (found,) = warnings(40_000, 16, paper, 5_000, 200_000, 1, 1000)
    assert found.kind == "beyond kmax" and "16 flows settle where 1.0" in found.text and "200 KB" in found.text
    assert "pmax above 1.0" in found.remedy
    assert found.text in outlook(40_000, 5_000, 200_000, 1, 16, paper, None, 1000).why.bounds


def test_warns_of_the_published_breakdown() -> None:
    """DCQCN+: near 160 flows at 40G."""
    paper = fluid.params("paper", 40_000)
    assert warnings(40_000, 159, paper, 40_000, 160_000, 100) == ()
    (found,) = warnings(40_000, 160, paper, 40_000, 160_000, 100)
    assert found.kind == "breakdown" and "160 flows" in found.text and "DCQCN+" in found.text


def test_warns_of_flows_that_cannot_be_slowed() -> None:
    found = warnings(10_000, 100_000, FIRMWARE, 100_000, 400_000, 100)
    assert [item.kind for item in found] == ["beyond kmax", "breakdown"]
    assert "cannot be slowed" in found[0].text


def test_growth_before_the_first_cut_is_always_told() -> None:
    for made in (of(None, None), of(400_000, 1_600_000), of(400_000, 1_600_000, pmax=1, flows=256)):
        assert "8 us for each further sender" in made.burst


def test_unknown_buffer() -> None:
    made = of(400_000, 1_600_000, bounds=None)
    assert "not known" in made.active_bound and "not known" in made.pause and "not known" in made.bystander


def test_sizes_are_shown_in_time() -> None:
    steps = "\n".join(of(400_000, 1_600_000).why.steps)
    assert "kmin 400,000 B = 8 us = 1 BDP" in steps and "kmax 1,600,000 B = 32 us = 4 BDP" in steps


def test_no_single_score() -> None:
    names = {field.name for field in dataclasses.fields(Outlook)}
    assert {"goodput", "bystander", "burst", "pause"} <= names
    assert not names & {"score", "total", "rank"}


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from([25_000, 100_000, 400_000, 800_000, 1_600_000]),
    st.integers(1, 40_000_000),
    st.integers(0, 40_000_000),
    st.floats(0.5, 100),
    st.integers(1, 2000),
    st.booleans(),
)
def test_always_words_and_a_queue_on_the_curve(
    speed: int, kmin: int, more: int, pmax: float, flows: int, known: bool
) -> None:
    made = outlook(
        speed, kmin, kmin + more, pmax, flows, fluid.params("scaled", speed), BOUNDS if known else None, 4178
    )
    assert all((made.goodput, made.bystander, made.burst, made.pause, made.active_bound))
    assert made.q_star_bytes is None or kmin <= made.q_star_bytes <= kmin + more


@pytest.mark.parametrize(("kmin", "kmax"), [(1, None), (None, 1), (500, 100), (0, 100), (-5, 100)])
def test_curves_that_cannot_be(kmin: int | None, kmax: int | None) -> None:
    with pytest.raises(ValueError, match="kmin"):
        of(kmin, kmax)

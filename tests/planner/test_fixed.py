"""Numbers that a profile fixes: what cannot be is an error, what is a risk needs a reason, each with its place."""

from __future__ import annotations

from typing import Any

import pytest

from rocetune.model.plan import Plan, PlanProblem
from rocetune.planner import plan

from . import rack as lab

GB, TOMAHAWK3 = 10**9, 66_394_076  # the Z9332F's pool as the reference's worked example has it


def problems(part: str, given: dict[str, Any], **rack: Any) -> list[PlanProblem]:
    """Problems at the given part of the class roce."""
    profile = lab.profile(lab.TRAINING, classes={"roce": {part: given}})
    return [item for item in plan(lab.rack(profile, **rack)).problems if item.profile == "training"]


@pytest.mark.parametrize(
    ("part", "given", "key", "text", "remedy"),
    [
        ("pfc", {"headroom": 900 * GB}, "headroom", "more than the whole buffer of Tomahawk 3", "headroom: auto"),
        ("pfc", {"xoff": 999 * GB}, "xoff", "999,000,000,000 B of roce is more than the whole buffer", "xoff: auto"),
        ("pfc", {"xon": 999 * GB}, "xon", "more than the whole buffer", "xon: auto"),
        ("pfc", {"xoff": 65_000_000}, "xoff", "the buffer is full before pause starts", "or less"),
        ("pfc", {"xoff": 0}, "xoff", "before one packet of 4,158 B is held", "above 18,542 B"),
        ("pfc", {"xoff": 4_000}, "xoff", "so nothing passes", "xoff: auto"),
        ("pfc", {"xon": 40_000_000}, "xon", "not below the level where pause starts (alpha 0.25 of", "xon: auto"),
        ("ecn", {"kmin": 1}, "kmin", "marking starts at 1 B, before one packet of 4,178 B", "kmin: 33424"),
        ("ecn", {"kmax": 4}, "kmax", "marking starts at 1 B, before one packet", "auto"),
        ("ecn", {"kmin": 0, "kmax": 100_000}, "kmin", "marking starts at 0 B", "auto"),
        ("ecn", {"kmax": 999 * GB}, "kmax", "more than the whole buffer of Tomahawk 3", "auto"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_an_error_that_no_reason_lifts(
    part: str, given: dict[str, Any], key: str, text: str, remedy: str
) -> None:
    reason = {"accept_risk": "we know better"} if part == "pfc" else {}
    for extra in ({}, reason):
        hits = [item for item in problems(part, given | extra, declared={"model": "Z9332F-ON"}) if text in item.text]
        assert {item.warning for item in hits} == {False}, problems(part, given)
        assert hits[0].field == ("classes", "roce", part, key)
        assert remedy in hits[0].remedy


@pytest.mark.parametrize(
    ("given", "key", "text"),
    [
        ({"xoff": 18_000}, "xoff", "two frames (18,542 B) below it, so pause flaps"),
        # 16 rails on the first leaf, and on the second four storage ports more
        ({"xoff": 5_000_000}, "xoff", "20 lossless queues need 100,000,000 B"),
        ({"xoff": 300_000, "xon": 290_000}, "xon", "10,000 B below the level where pause starts (xoff 300,000 B)"),
        ({"alpha": 0.001}, "alpha", "alpha 0.001 of roce is outside 1/128 to 8"),
        ({"alpha": 64.0}, "alpha", "alpha 64 of roce is outside 1/128 to 8"),
    ],
)  # fmt: skip
def test_a_risk_is_an_error_until_it_is_accepted(given: dict[str, Any], key: str, text: str) -> None:
    found = [item for item in problems("pfc", given) if text in item.text]
    assert {item.warning for item in found} == {False}, problems("pfc", given)
    assert found[0].field == ("classes", "roce", "pfc", key)
    assert "accept_risk" in found[0].remedy
    accepted = [item for item in problems("pfc", given | {"accept_risk": "measured"}) if text in item.text]
    assert {item.warning for item in accepted} == {True}
    assert "accepted: measured" in accepted[0].text


def test_ecn_must_end_before_a_fixed_xoff() -> None:
    found = problems("pfc", {"xoff": 300_000})
    assert not [item for item in found if not item.warning]  # an automatic curve stays below it
    profile = lab.profile(lab.TRAINING, classes={"roce": {"pfc": {"xoff": 300_000}, "ecn": {"kmax": 400_000}}})
    late = [item for item in plan(lab.rack(profile)).problems if not item.warning]
    assert [item.field for item in late] == [("classes", "roce", "ecn", "kmax")] * len(late)
    assert "not below 300,000 B, where PFC starts" in late[0].text and "pfc.xoff" in late[0].remedy


@pytest.mark.parametrize(("kmax", "error"), [(299_999, False), (300_000, True)])
def test_kmax_must_be_below_the_bound_and_not_at_it(kmax: int, error: bool) -> None:
    profile = lab.profile(lab.TRAINING, classes={"roce": {"pfc": {"xoff": 300_000}, "ecn": {"kmax": kmax}}})
    late = [item for item in plan(lab.rack(profile)).problems if not item.warning]
    assert bool(late) == error
    if late:
        assert "299999" in late[0].remedy


def test_a_curve_that_pfc_presses_below_half_a_round_trip_is_told() -> None:
    """xoff 300 KB leaves kmin about 75 KB; 400G and 8 us are 400 KB under way. 900 KB leave 225 KB."""
    assert any("may idle" in item.text and item.warning for item in problems("pfc", {"xoff": 300_000}))
    assert not any("may idle" in item.text for item in problems("pfc", {"xoff": 900_000}))


def test_an_unknown_chip_does_not_hide_what_no_chip_can_do() -> None:
    found = problems("pfc", {"xoff": 999 * GB}, asic=None)
    assert any("more than the buffer of every known chip" in item.text for item in found if not item.warning)
    assert any("nothing passes" in item.text for item in problems("pfc", {"xoff": 100}, asic=None) if not item.warning)


@pytest.mark.parametrize(
    ("part", "given", "text"),
    [
        ("ecn", {"kmin": 20_000, "kmax": 400_000}, "below 8 packets (33,424 B)"),
        ("ecn", {"kmin": 100_000, "kmax": 110_000}, "10,000 B above kmin, less than 8 packets"),
        ("pfc", {"xoff": 300_000, "xon": 100_000}, "the link can run dry"),
        ("pfc", {"xoff": 300_000, "alpha": 1.0}, "has no effect"),
    ],
)
def test_what_only_costs_throughput_is_a_warning(part: str, given: dict[str, Any], text: str) -> None:
    found = [item for item in problems(part, given) if text in item.text]
    assert found and all(item.warning for item in found), problems(part, given)


@pytest.mark.parametrize(
    ("part", "given"),
    [
        ("pfc", {"xoff": 2_000_000, "xon": 1_970_000}),
        ("pfc", {"alpha": 0.0625, "xon": 18_432}),
        ("ecn", {"kmin": 150_000, "kmax": 1_500_000}),
        ("ecn", {"kmin": 200_000, "kmax": 200_000, "pmax": 100.0}),  # a step, as DCTCP marks
    ],
)
def test_sound_numbers_are_no_problem(part: str, given: dict[str, Any]) -> None:
    assert [item.text for item in problems(part, given) if "strict" not in item.text] == []


def test_headroom_that_leaves_no_room_for_frames_cannot_be_accepted() -> None:
    found = problems("pfc", {"headroom": 66_000_000, "accept_risk": "we know better"}, declared={"model": "Z9332F-ON"})
    assert any("headroom needs" in item.text for item in found)
    assert TOMAHAWK3 == 66_394_076


def test_a_lossy_class_is_checked_too() -> None:
    roce = {"lossless": False, "pfc": None, "ecn": {"kmin": 1}}
    found = plan(lab.rack(lab.profile(lab.TRAINING, classes={"roce": roce}))).problems
    assert [item.field for item in found if not item.warning] == [("classes", "roce", "ecn", "kmin")]


def test_over_subscription_is_accepted_with_its_number() -> None:
    """Tomahawk 3, 32 ports at 10 km: 218 MB of headroom for 67 MB of buffer, 3.27 times. Four times are accepted:
    54.5 MB of pool hold 8 of the 36 groups at a time, and 12.6 MB remain for sharing."""

    def made(ratio: float) -> Plan:
        training = lab.profile(lab.TRAINING, oversubscription=ratio)
        return plan(lab.rack(training, servers=8, leaves=1, rails=4, cable_m=10_000.0, medium="lr"))

    for refused in (1.0, 3.0):
        errors = [item for item in made(refused).problems if not item.warning]
        assert any("oversubscription: 3.27" in item.remedy for item in errors)
    accepted = made(4.0)
    assert not [item for item in accepted.problems if not item.warning and "headroom needs" in item.text]
    steps = accepted.devices["leaf1"].why[("buffer",)].steps
    assert any("54,529,228 B; 8 of" in step for step in steps)
    assert any("over-subscribed 4 times" in item.text for item in accepted.devices["leaf1"].assumptions)


def test_an_xoff_just_above_two_frames_is_one_located_problem() -> None:
    """73 cells of 254 B are 18542 B: what no whole cells of two frames leave room for is told at its place."""
    for xoff in (18_433, 18_542):
        found = [item for item in problems("pfc", {"xoff": xoff}) if not item.warning]
        assert [item.field for item in found if "no room for XON" in item.text] == [("classes", "roce", "pfc", "xoff")]
    assert not [item for item in problems("pfc", {"xoff": 18_543}) if "no room for XON" in item.text]

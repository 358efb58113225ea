"""Headroom of the lossless classes of one kind of port, and what a fixed number or a missing model means for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rocetune.model.profile import Pfc
from rocetune.model.units import show_speed
from rocetune.planner.classes import Reasons, lossless
from rocetune.planner.combination import Combination
from rocetune.planner.notes import Believed, Problem
from rocetune.tuning import wire
from rocetune.tuning.headroom import EmptyTable, Headroom, headroom
from rocetune.tuning.knowledge import Knowledge
from rocetune.tuning.own_table import spread, switch_row
from rocetune.tuning.published import PublishedTable, Row

_APART = 1.25  # a published row this many times the chip's preset is worth a word


def fill_headroom(combination: Combination, knowledge: Knowledge) -> None:
    """Headroom of each lossless class, with the problems that a fixed value has. Done once per combination."""
    if combination.filled:
        return
    combination.filled = True
    speed, profile = combination.speed_mbps, combination.profile
    combination.own_row = _own_row(combination, knowledge)
    reasons = Reasons(profile, combination.winners)
    combination.problems += _speed_problems(combination)
    for name, intent in lossless(profile):
        dotted = f"classes.{name}.pfc.headroom"
        if speed is None:
            remedy = "state speed in links.yaml"
            text = f"port speed of network {combination.network} is not known: no headroom for {name}"
            combination.problems.append(
                Problem(text, remedy, profile.name, combination.at("classes", name, "pfc", "headroom"))
            )
            continue
        chip = combination.chip
        floor = headroom_of(combination, knowledge, combination.cable.length_m)
        _doubt_model(combination, speed, floor.headroom_bytes)
        fixed = intent.pfc.headroom
        if fixed == "auto":
            combination.headrooms[name] = (floor.headroom_bytes, floor.why)
            continue
        note = f"the computed floor is {floor.headroom_bytes:,} B ({floor.why.source})"
        combination.headrooms[name] = (fixed, reasons.profile_why(dotted, fixed, note))
        mistyped = chip is not None and chip.asic is None and any(not item.warning for item in chip.problems)
        if fixed < floor.headroom_bytes and not mistyped:  # what a chip needs that nobody knows is no news
            combination.problems.append(_too_small(combination, name, intent.pfc, fixed, floor.headroom_bytes))


def _own_row(combination: Combination, knowledge: Knowledge) -> tuple[PublishedTable, Row] | None:
    """The row of its own headroom table that a SONiC switch gives this port; no other system runs such a table."""
    chip, speed = combination.chip, combination.speed_mbps
    if chip is None or chip.asic is None or not chip.copied or speed is None:
        return None
    users = knowledge.own_table(chip.model)
    return switch_row(chip.model, chip.asic, users, speed, combination.cable.length_m)


def _doubt_model(combination: Combination, speed_mbps: int, size_bytes: int) -> None:
    """The chip alone does not tell how much a board of it is given: tables of one chip differ by a factor of two."""
    chip, cable_m = combination.chip, combination.cable.length_m
    if chip is None or chip.asic is None or chip.model is not None:
        return
    found = spread(chip.asic, speed_mbps, cable_m)
    if found is not None and found[1] > _APART * size_bytes:
        text = (
            f"model not stated: {size_bytes:,} B of headroom is the preset of {chip.asic.name}; published tables of "
            f"its boards have {found[0]:,} to {found[1]:,} B for {show_speed(speed_mbps)} and {cable_m:g} m"
        )
        note = Believed(text, "state model or hwsku in the inventory")
        if note not in combination.believed:
            combination.believed.append(note)


def _speed_problems(combination: Combination) -> Iterator[Problem]:
    """A speed that no port of the chip has: one of the two is mistyped."""
    asic = combination.chip.asic if combination.chip else None
    if asic is not None and combination.speed_mbps is not None:
        try:
            asic.check_speed(combination.speed_mbps)
        except ValueError as error:
            yield Problem(str(error), "correct speed in links.yaml, or asic or model in the inventory")


def headroom_of(combination: Combination, knowledge: Knowledge, cable_m: float) -> Headroom:
    """What a lossless class of this combination needs with a cable of this length. The speed must be known."""
    chip, profile, speed = combination.chip, combination.profile, combination.speed_mbps
    assert speed is not None
    model = chip.model if chip else None
    ask = partial(
        headroom,
        speed,
        cable_m,
        chip.asic if chip else None,
        mtu_bytes=profile.mtu,
        frame_bytes=wire.roce_frame_bytes(profile.rdma_mtu),
        model=model,
        table=knowledge.own_table(model),
        at_800g=knowledge.quanta_800g,
        assume_worst=True,
        copied=chip.copied if chip else True,
    )
    try:
        return ask()
    except EmptyTable:  # no row to go by; a platform that cannot do without says so itself
        return ask(lookup=False)


def computes_headroom(combination: Combination) -> bool:
    """True where a lossless class of ours leaves its headroom to us."""
    return any(
        intent.owner == "rocetune" and intent.pfc.headroom == "auto" for _, intent in lossless(combination.profile)
    )


def _too_small(combination: Combination, name: str, pfc: Pfc, fixed: int, floor: int) -> Problem:
    asic = combination.chip.asic.name if combination.chip and combination.chip.asic else "an unknown ASIC"
    text = (
        f"headroom {fixed:,} B of {name} is below the {floor:,} B that {combination.label} needs on {asic}: "
        f"{floor - fixed:,} B could be lost while the peer stops"
    )
    if pfc.accept_risk:
        text, remedy = f"{text}; accepted: {pfc.accept_risk}", "write headroom: auto to be safe"
    else:
        remedy = f"write headroom: auto, or {floor} or more, or accept_risk: with the reason beside it"
    at = combination.at("classes", name, "pfc", "headroom")
    return Problem(text, remedy, combination.profile.name, at, bool(pfc.accept_risk))

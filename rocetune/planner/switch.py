"""The QoS of a switch port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from rocetune.model.plan import EcnBasis, Why
from rocetune.model.profile import ClassIntent, Ecn, Pfc
from rocetune.model.qos import Path, PortQos, PriorityQos, Watchdog
from rocetune.model.units import show_speed
from rocetune.planner.classes import Reasons, by_priority, class_leaves, dscp_map, ecn_of, lossless, watchdog_of
from rocetune.planner.combination import Combination
from rocetune.planner.fixed import Buffer, curve_problems
from rocetune.planner.notes import Believed, Problem
from rocetune.tuning import ecn, fluid, thresholds, wire
from rocetune.tuning.headroom import EmptyTable, Headroom, headroom
from rocetune.tuning.knowledge import Knowledge
from rocetune.tuning.own_table import spread
from rocetune.tuning.presets import ecn_preset
from rocetune.tuning.thresholds import Hysteresis, hysteresis

Curves = Mapping[str, ecn.Curve]  # by class name
_APART = 1.25  # a published row this many times the chip's preset is worth a word


def fill_headroom(combination: Combination, knowledge: Knowledge) -> None:
    """Headroom of each lossless class, with the problems that a fixed value has. Done once per combination."""
    if combination.filled:
        return
    combination.filled = True
    speed, profile = combination.speed_mbps, combination.profile
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
        note = f"the computed floor is {floor.headroom_bytes:,} B: {floor.why.steps[-2]}"
        combination.headrooms[name] = (fixed, reasons.profile_why(dotted, fixed, note))
        mistyped = chip is not None and chip.asic is None and any(not item.warning for item in chip.problems)
        if fixed < floor.headroom_bytes and not mistyped:  # what a chip needs that nobody knows is no news
            combination.problems.append(_too_small(combination, name, intent.pfc, fixed, floor.headroom_bytes))


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


def alpha_of(pfc: Pfc) -> float:
    """The dynamic threshold factor of a class."""
    return thresholds.DEFAULT_ALPHA if pfc.alpha == "auto" else pfc.alpha


def curve_of(
    combination: Combination, name: str, want: Ecn, bounds: ecn.Bounds | None, cell_bytes: int, buffer: Buffer
) -> tuple[ecn.Curve | None, list[Problem]]:
    """The marking curve of a class under the PFC bounds of its switch (None: the queue is not paused)."""
    profile, where = combination.profile, ("classes", name, "ecn")
    at = combination.at
    if combination.speed_mbps is None:
        if want.preset is not None or "auto" in (want.kmin, want.kmax):
            text = f"port speed of network {combination.network} is not known: no ECN thresholds for {name}"
            return None, [Problem(text, "state speed in links.yaml", profile.name, at(*where, "kmin"))]
        made = ecn.curve(100_000, combination.rtt_us)  # every threshold is replaced below
    elif want.preset is not None:
        try:
            made = _preset_curve(want.preset, combination.speed_mbps, bounds)
        except ValueError as error:
            remedy = "write kmin, kmax and pmax, or choose an objective; every preset: rocetune ecn --list-presets"
            return None, [Problem(f"{name}: {error}", remedy, profile.name, at(*where, "preset"))]
    else:
        try:
            made = _computed_curve(combination, want, combination.speed_mbps, bounds, cell_bytes)
        except ValueError as error:
            static = profile.classes[name].pfc.xoff != "auto"
            remedy = "fewer lossless priorities, shorter cables or a larger alpha leave more buffer"
            remedy = "write pfc.xoff: auto, or a larger one" if static else remedy
            return None, [Problem(f"{name}: {error}", remedy, profile.name, at(*where, "kmax"))]
    made = _with_fixed(made, want, name, Reasons(profile, combination.winners))
    return made, list(curve_problems(made, want, name, combination, bounds, buffer))


def _computed_curve(
    combination: Combination, want: Ecn, speed_mbps: int, bounds: ecn.Bounds | None, cell_bytes: int
) -> ecn.Curve:
    """By objective. pmax is made for the flows that meet here, where DCQCN listens to the marks."""
    wanted = combination.profile.dcqcn
    made = ecn.curve(
        speed_mbps,
        combination.rtt_us,
        want.objective,
        frame_bytes=wire.roce_frame_bytes(combination.profile.rdma_mtu),
        bound_bytes=_limit(want, bounds),
        cell_bytes=cell_bytes,
        rtt_why=combination.traffic.round_trip.why,
        flows=combination.senders if wanted.enabled else None,
        dcqcn=fluid.params(wanted.preset, speed_mbps, wanted.parameters) if wanted.enabled else None,
    )
    if not wanted.enabled:
        return made
    flows = combination.traffic.flows.why
    steps = (f"{flows.steps[0]} ({flows.source})", *made.pmax_why.steps)
    return replace(made, pmax_why=replace(made.pmax_why, steps=steps))


def _preset_curve(name: str, speed_mbps: int, bounds: ecn.Bounds | None) -> ecn.Curve:
    """A published curve; a percentage is of what one queue may hold before it is paused."""
    made = ecn_preset(name).thresholds(speed_mbps, int(bounds.incast_bytes) if bounds else None)
    return ecn.Curve(made.kmin_bytes, made.kmax_bytes, made.pmax_percent, False, made.why, made.why, made.why)


def basis_of(combination: Combination, bounds: ecn.Bounds | None) -> EcnBasis:
    """What the curve of a class was made for, under the bounds of one kind of switch."""
    wanted = combination.profile.dcqcn
    return EcnBasis(
        combination.rtt_us,
        combination.senders,
        combination.traffic.flows.why.steps[0],
        wire.roce_frame_bytes(combination.profile.rdma_mtu),
        bounds.strict_bytes if bounds else None,
        bounds.incast_bytes if bounds else None,
        wanted.preset if wanted.enabled else "off",
        tuple(sorted(wanted.parameters.items())) if wanted.enabled else (),
    )


def tighter(one: EcnBasis | None, other: EcnBasis) -> EcnBasis:
    """Of two kinds of switch with the same setting the one whose bound is lower."""
    if one is None or one.incast_bytes is None:
        return other
    return other if other.incast_bytes is not None and other.incast_bytes < one.incast_bytes else one


def _limit(want: Ecn, bounds: ecn.Bounds | None) -> float | None:
    if bounds is None:
        return None
    return min(bounds.strict_bytes, bounds.incast_bytes) if want.objective == "latency" else bounds.incast_bytes


def _with_fixed(made: ecn.Curve, want: Ecn, name: str, reasons: Reasons) -> ecn.Curve:
    """The user's fixed values in place of computed ones; a computed partner keeps the ratio of the two."""
    kmin, kmax, pmax = made.kmin_bytes, made.kmax_bytes, made.pmax_percent
    kmin_why, kmax_why, pmax_why = made.kmin_why, made.kmax_why, made.pmax_why
    dotted = f"classes.{name}.ecn"
    if isinstance(want.kmax, int):
        kmax, kmax_why = want.kmax, reasons.profile_why(f"{dotted}.kmax", want.kmax)
        if want.kmin == "auto" and kmin > kmax // ecn.RATIO:
            kmin = max(1, kmax // ecn.RATIO)
            kmin_why = _partner(made.kmin_why, f"kmin = fixed kmax / {ecn.RATIO} = {kmin:,} B")
    if isinstance(want.kmin, int):
        kmin, kmin_why = want.kmin, reasons.profile_why(f"{dotted}.kmin", want.kmin)
        if want.kmax == "auto" and not made.bounded:
            kmax = max(kmax, ecn.RATIO * kmin) if kmin > made.kmin_bytes else ecn.RATIO * kmin
            kmax_why = _partner(made.kmax_why, f"kmax = {ecn.RATIO} x fixed kmin = {kmax:,} B")
    if want.pmax != "auto":
        pmax, pmax_why = want.pmax, reasons.profile_why(f"{dotted}.pmax", f"{want.pmax:g}%")
    return ecn.Curve(kmin, kmax, pmax, made.bounded, kmin_why, kmax_why, pmax_why)


def _partner(why: Why, step: str) -> Why:
    return Why("ecn.ratio", why.inputs, (step,), (), "", why.source)


def switch_qos(combination: Combination, curves: Curves) -> tuple[PortQos, Mapping[Path, Why]]:
    """Everything a switch port of this combination should have."""
    profile = combination.profile
    reasons = Reasons(profile, combination.winners)
    reasons.from_profile(("trust",), "trust", profile.trust)
    reasons.from_profile(("mtu_bytes",), "mtu", profile.mtu)
    reasons.from_profile(("dcbx",), "dcbx", profile.dcbx)
    reasons.why[("cable_m",)] = combination.cable.why
    reasons.plain(("link_pause",), "lossless", "global pause would stop all priorities")
    reasons.plain(("speed_mbps",), "link", "links.yaml: speed")
    dcbx: Literal["off", "ieee"] = profile.dcbx
    return PortQos(
        trust=profile.trust,
        mtu_bytes=profile.mtu,
        speed_mbps=combination.speed_mbps,
        cable_m=combination.cable.length_m,
        link_pause=False,
        dcbx=dcbx,
        dscp_to_priority=dscp_map(reasons),
        priorities=tuple(_priority(combination, reasons, name, item, curves) for name, item in by_priority(profile)),
        watchdog=_watchdog(combination, reasons),
    ), reasons.why


def _priority(
    combination: Combination, reasons: Reasons, name: str, intent: ClassIntent, curves: Curves
) -> PriorityQos:
    values: dict[str, Any] = class_leaves(reasons, name, intent)
    at = ("priorities", intent.priority)
    for index in ("traffic_class", "queue", "priority_group"):
        values[index] = intent.priority
        reasons.plain((*at, index), "neutral", "same index as the priority; a platform may have another")
    if intent.owner == "rocetune":
        values |= _buffer(combination, reasons, name, intent) | _marking(reasons, name, intent, curves.get(name))
        if intent.lossless:
            values["watchdog"] = watchdog_of(intent) is not None
            reasons.from_profile((*at, "watchdog"), f"classes.{name}.pfc.watchdog", values["watchdog"])
    return PriorityQos(priority=intent.priority, **values)


def _buffer(combination: Combination, reasons: Reasons, name: str, intent: ClassIntent) -> dict[str, Any]:
    if name not in combination.headrooms:
        return {}
    at, pfc, dotted = ("priorities", intent.priority), intent.pfc, f"classes.{name}.pfc"
    size, reasons.why[(*at, "headroom_bytes")] = combination.headrooms[name]
    values: dict[str, Any] = {"headroom_bytes": size}
    if isinstance(pfc.xoff, int):
        values["xoff_bytes"] = pfc.xoff
        reasons.from_profile((*at, "xoff_bytes"), f"{dotted}.xoff", pfc.xoff)
        if pfc.xon == "auto" and pfc.xoff > thresholds.xon_gap_bytes(combination.profile.mtu):
            made = _hysteresis(combination, pfc.xoff)
            values["xon_bytes"], reasons.why[(*at, "xon_bytes")] = made.xon_bytes, made.why
    else:
        values["alpha"] = alpha_of(pfc)
        if pfc.alpha == "auto":
            step = f"alpha = {thresholds.DEFAULT_ALPHA:g}: one congested group may take half of the shared pool"
            source = "SONiC's lossless default (dynamic_th 0); EOS recipes (ingress threshold 1)"
            reasons.rule((*at, "alpha"), "alpha.default", step, source)
        else:
            reasons.from_profile((*at, "alpha"), f"{dotted}.alpha", pfc.alpha)
        if pfc.xon == "auto":
            gap = _hysteresis(combination)
            values["xon_offset_bytes"], reasons.why[(*at, "xon_offset_bytes")] = gap.gap_bytes, gap.why
    if isinstance(pfc.xon, int):
        values["xon_bytes"] = pfc.xon
        reasons.from_profile((*at, "xon_bytes"), f"{dotted}.xon", pfc.xon)
    return values


def _hysteresis(combination: Combination, xoff_bytes: int | None = None) -> Hysteresis:
    """How far XON lies below XOFF on a port whose speed is known; else what flapping alone asks, as at 10G."""
    speed, mtu = combination.speed_mbps or 10_000, combination.profile.mtu
    asic = combination.chip.asic if combination.chip else None
    cell = (asic.cell_bytes or 1) if asic is not None and asic.layout != "voq" else 1
    return hysteresis(speed, combination.cable.length_m, mtu, cell_bytes=cell, xoff_bytes=xoff_bytes)


def _marking(reasons: Reasons, name: str, intent: ClassIntent, curve: ecn.Curve | None) -> dict[str, Any]:
    at = ("priorities", intent.priority)
    wanted = ecn_of(intent)
    reasons.from_profile((*at, "ecn"), f"classes.{name}.ecn", wanted is not None)
    if wanted is None or curve is None:
        return {"ecn": wanted is not None}
    reasons.why[(*at, "kmin_bytes")] = curve.kmin_why
    reasons.why[(*at, "kmax_bytes")] = curve.kmax_why
    reasons.why[(*at, "pmax_percent")] = curve.pmax_why
    return {
        "ecn": True,
        "kmin_bytes": curve.kmin_bytes,
        "kmax_bytes": curve.kmax_bytes,
        "pmax_percent": curve.pmax_percent,
    }


def _watchdog(combination: Combination, reasons: Reasons) -> Watchdog | None:
    """Timers of the port: those of the first lossless class that has them; SONiC and EOS keep one set per port."""
    found = [(name, watchdog_of(intent)) for name, intent in lossless(combination.profile)]
    kept = [(name, item) for name, item in found if item is not None]
    if not kept:
        return None
    name, timers = kept[0]
    for other, item in kept[1:]:
        if item != timers:
            text = f"classes {name} and {other} ask for different watchdog timers: a port has one set"
            at = combination.at("classes", other, "pfc", "watchdog")
            problem = Problem(text, "make them equal", combination.profile.name, at)
            if problem not in combination.problems:
                combination.problems.append(problem)
    poll = max(1, int(min(timers.detect, timers.restore) // 2))
    dotted = f"classes.{name}.pfc.watchdog"
    reasons.from_profile(("watchdog", "detect_ms"), f"{dotted}.detect", timers.detect)
    reasons.from_profile(("watchdog", "restore_ms"), f"{dotted}.restore", timers.restore)
    reasons.from_profile(("watchdog", "action"), f"{dotted}.action", timers.action)
    step = f"min({timers.detect:g}, {timers.restore:g}) / 2 = {poll} ms: two looks within each timer"
    reasons.rule(
        ("watchdog", "poll_ms"), "watchdog.poll", step, "detection >= 2 x poll; SONiC refuses poll > detection"
    )
    return Watchdog(round(timers.detect), round(timers.restore), poll, timers.action)

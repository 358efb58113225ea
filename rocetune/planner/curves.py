"""Marking curves of the classes of one kind of port: computed, published or fixed, and what they were made for."""

from __future__ import annotations

from dataclasses import replace

from rocetune.model.plan import EcnBasis, Why
from rocetune.model.profile import Ecn
from rocetune.planner.classes import Reasons
from rocetune.planner.combination import Combination
from rocetune.planner.fixed import Buffer, curve_problems
from rocetune.planner.notes import Problem
from rocetune.tuning import ecn, fluid, wire
from rocetune.tuning.presets import ecn_preset


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
    frame = wire.roce_frame_bytes(combination.profile.rdma_mtu)
    made = ecn.curve(
        speed_mbps,
        combination.rtt_us,
        want.objective,
        frame_bytes=frame,
        bound_bytes=bounds.limit(want.objective, frame, cell_bytes) if bounds is not None else None,
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

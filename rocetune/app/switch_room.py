"""All lossless ports of a switch against its buffer, for the calculators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rocetune.app.asking import Chip, HeadroomAsk, compute, runs_sonic
from rocetune.model.plan import Assumption, PlanProblem
from rocetune.model.units import show_speed
from rocetune.report.answers import Room
from rocetune.report.sizes import show_length
from rocetune.report.table import counted
from rocetune.tuning import buffers, thresholds
from rocetune.tuning.asics import Asic


def _with_pools(
    ask: HeadroomAsk, asic: Asic, fit: buffers.Fit, room: Room
) -> tuple[buffers.Fit, Room, tuple[PlanProblem, ...], tuple[Assumption, ...]]:
    """What the pools that SONiC configures on the model say: S where it runs SONiC, else beside it."""
    sonic = runs_sonic(ask)
    pool = asic.pool(ask.chip.model) if sonic is not False else None
    if pool is None or not pool.headroom_bytes:
        return fit, replace(room, whys=(fit.why,)), (), ()
    pooled = buffers.with_own_pools(asic, pool, fit)
    groups = room.ports * room.lossless
    held = buffers.headroom_pool(room.need_bytes // groups, groups, pool.headroom_bytes)
    at_once = min(held.pausing_at_once, groups)
    room = replace(room, pool_bytes=pool.headroom_bytes, pausing_at_once=at_once)
    crowded = _crowded(ask, pool.model, held.oversubscription, at_once, groups)
    if sonic or pooled is fit:
        return pooled, replace(room, own_pools=pooled is not fit, whys=(pooled.why,)), crowded, ()
    text = (
        f"every group has headroom of its own; SONiC on {pool.model} has a pool for it, which leaves "
        f"S = {pooled.shared_bytes:,} B"
    )
    doubt = Assumption("--platform", text, "name what the switch runs: --platform sonic, or arista_eos")
    return fit, replace(room, whys=(fit.why,)), crowded, (doubt,)


def room_of(
    chip: Chip, ports: int, lossless: int, headroom_bytes: int, ask: HeadroomAsk
) -> tuple[Room, tuple[PlanProblem, ...], tuple[Assumption, ...]]:
    """``ports`` equal ports with ``lossless`` priorities each, against the chip's buffer."""
    need = ports * lossless * headroom_bytes
    room = Room(ports, lossless, ask.factor, need)
    asic = chip.asic
    size = asic.packet_bytes(chip.model) if asic else None
    if asic is not None and asic.layout == "voq":
        text = (
            f"{asic.name} queues packets in deep buffer outside the chip: no dynamic threshold of a shared pool says "
            "where PFC starts; fit and bounds are not checked"
        )
        return room, (), (Assumption("buffer", text),)
    if asic is None or size is None:
        whose = f"of {asic.name} is not published" if asic else "is not known: name the chip with --asic"
        return room, (), (Assumption("buffer", f"buffer size {whose}; fit and PFC start are not checked"),)
    needs = [buffers.Need(ports, lossless, headroom_bytes, ask.mtu_bytes)]
    fit = buffers.fit(size, needs, slices=asic.slices)
    fit, room, crowded, believed = _with_pools(ask, asic, fit, replace(room, buffer_bytes=size, slices=asic.slices))
    if not fit.feasible:
        return room, (_too_much(asic, fit, ask, needs),), ()
    groups = -(-ports * lossless // asic.slices)
    start = thresholds.dynamic_xoff(fit.shared_bytes, ask.factor, groups)
    try:
        gap = thresholds.hysteresis(
            ask.speed_mbps,
            ask.cable_m,
            ask.mtu_bytes,
            cell_bytes=asic.threshold_cell,
            xoff_bytes=start.alone_bytes,
            at_800g=ask.at_800g,
        )
    except ValueError as error:
        text = f"pause starts at {start.alone_bytes:,} B: {error}"
        problem = PlanProblem(_where(ask), text, "a larger --alpha, shorter cables, fewer lossless priorities")
        return replace(room, shared_bytes=fit.shared_bytes, xoff_bytes=start.alone_bytes), (problem,), believed
    room = replace(room, whys=(fit.why, start.why, gap.why))
    return (
        replace(
            room,
            shared_bytes=fit.shared_bytes,
            xoff_bytes=start.alone_bytes,
            crowded_bytes=start.crowded_bytes,
            xon_bytes=gap.xon_bytes,
        ),
        crowded,
        believed,
    )


def _crowded(ask: HeadroomAsk, model: str, ratio: float, at_once: int, groups: int) -> tuple[PlanProblem, ...]:
    """A warning where the shared headroom pool is shared among too many."""
    if ratio <= buffers.AI_OVERSUBSCRIPTION:
        return ()
    text = (
        f"the shared headroom pool of {model} is over-subscribed {ratio:.2f} times, more than "
        f"{buffers.AI_OVERSUBSCRIPTION:g}: {at_once} of {groups} groups can pause at once, and a synchronised incast "
        "may run out of it"
    )
    return (PlanProblem(_where(ask), text, "shorter cables, or fewer lossless priorities", warning=True),)


def _where(ask: HeadroomAsk) -> str:
    return f"{show_speed(ask.speed_mbps)}, {show_length(ask.cable_m)}"


def _too_much(asic: Asic, fit: buffers.Fit, ask: HeadroomAsk, needs: Sequence[buffers.Need]) -> PlanProblem:
    """Which ports need too much, and the ways out with their numbers."""
    (need,) = needs
    text = (
        f"{counted(need.ports, 'port')} x {need.priorities} lossless x {need.headroom_bytes:,} B = "
        f"{fit.need_bytes:,} B of headroom and {fit.minimum_bytes:,} B for one frame per port do not fit in the "
        f"{fit.buffer_bytes:,} B of {asic.name}"
    )
    ways = buffers.ways_out(
        fit, needs, cable_m=ask.cable_m, headroom_at=lambda length: compute(ask, length).headroom_bytes
    )
    return PlanProblem(_where(ask), text, "; or ".join(way.text for way in ways) or "fewer ports")

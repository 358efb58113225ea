"""The headroom calculator: one port's headroom with its parts, and what all ports of a switch need together."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace

from rocetune.app.breakdown import floor_terms, terms_of
from rocetune.app.errors import UseError
from rocetune.model.plan import Assumption, PlanProblem
from rocetune.model.units import show_speed
from rocetune.report.answers import HeadroomAnswer, Port, Room
from rocetune.tuning import buffers, ecn, wire
from rocetune.tuning.asics import Asic, table
from rocetune.tuning.headroom import Headroom, headroom

IB_MTUS = (256, 512, 1024, 2048, 4096)
HOST_CABLE_M = 30.0  # an ordinary long cable to a server, where none is stated


@dataclass(frozen=True, slots=True)
class Chip:
    """Whose buffer it is. None: not said."""

    asic: Asic | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadroomAsk:
    """The options of ``rocetune headroom``. None: not said."""

    speed_mbps: int
    cable_m: float
    chip: Chip = field(default_factory=Chip)
    mtu_bytes: int = 9216
    rdma_mtu: int = 4096
    at_800g: int = wire.QUANTA_800G
    ports: int | None = None
    lossless: int | None = None
    alpha: float = buffers.DEFAULT_ALPHA


def chip_named(asic: str | None, model: str | None) -> Chip:
    """A chip by its own name, or by a switch model under either option. Raises UseError with a suggestion."""
    known = table()
    by_model = known.by_model(model) if model else None
    if asic is None:
        if model is not None and by_model is None:
            near = known.near_models(model)
            hint = f"Did you mean {' or '.join(near)}? Else name" if near else "Name"
            raise UseError(f"--model: {model!r} belongs to no known chip", f"{hint} its chip with --asic.")
        return Chip(by_model, model)
    found = known.find(asic)
    if found is None:
        near = known.suggest(asic) or known.near_models(asic)
        hint = f"Did you mean {' or '.join(near)}?" if near else "`rocetune asics` lists the known ones."
        raise UseError(f"--asic: {asic!r} is not a known chip or switch model", hint)
    if by_model is not None and by_model is not found:
        raise UseError(f"--asic is {found.name}, but --model {model!r} has a {by_model.name}", "Leave one of them out.")
    return Chip(found, model or (asic if known.by_model(asic) is found else None))


def frame_of(rdma_mtu: int, mtu_bytes: int) -> tuple[int, tuple[Assumption, ...]]:
    """Lossless frame with its gap. An IB MTU gets RoCE's headers; any other number is the frame itself.

    Raises UseError when the frame is larger than the port's MTU.
    """
    whole = rdma_mtu not in IB_MTUS
    frame = rdma_mtu + wire.GAP_BYTES if whole else wire.roce_frame_bytes(rdma_mtu)
    if frame - wire.GAP_BYTES > mtu_bytes:
        size = f"a frame of {frame - wire.GAP_BYTES:,} B"
        remedy = f"Raise --mtu to {frame - wire.GAP_BYTES} or more, or lower --rdma-mtu."
        raise UseError(f"--rdma-mtu {rdma_mtu} makes {size}: it does not fit in --mtu {mtu_bytes}", remedy)
    if not whole:
        return frame, ()
    text = f"{rdma_mtu} is no RDMA MTU ({', '.join(map(str, IB_MTUS))}): taken as the whole lossless frame"
    return frame, (Assumption("--rdma-mtu", text),)


def calculate_headroom(ask: HeadroomAsk) -> HeadroomAnswer:
    """One port, and with ``ports`` the whole switch. Raises UseError or ValueError where an input cannot be."""
    frame, assumed = frame_of(ask.rdma_mtu, ask.mtu_bytes)
    asic, model = ask.chip.asic, ask.chip.model
    port = Port(ask.speed_mbps, ask.cable_m, ask.mtu_bytes, frame, asic, model)
    result = compute(ask, ask.cable_m)
    quanta = wire.reaction_quanta(ask.speed_mbps, ask.at_800g)
    answer = HeadroomAnswer(
        port=port,
        result=result,
        terms=tuple(terms_of(port, result, quanta, None, None)),
        floor=tuple(floor_terms(port, quanta)),
        confidence=asic.confidence if asic else "low",
        assumptions=(*assumed, *doubts(asic), *_reaction_doubts(ask)),
    )
    if ask.ports is not None:
        room, problems, believed = room_of(ask.chip, ask.ports, ask.lossless or 1, result.headroom_bytes, ask)
        answer = replace(
            answer, room=room, problems=problems, assumptions=(*answer.assumptions, *believed, *_lossless_doubt(ask))
        )
    return replace(answer, next=_next(ask))


def compute(ask: HeadroomAsk, cable_m: float) -> Headroom:
    """Headroom of the asked port with another cable."""
    frame, _ = frame_of(ask.rdma_mtu, ask.mtu_bytes)
    return headroom(
        ask.speed_mbps,
        cable_m,
        ask.chip.asic,
        mtu_bytes=ask.mtu_bytes,
        frame_bytes=frame,
        model=ask.chip.model,
        at_800g=ask.at_800g,
    )


def room_of(
    chip: Chip, ports: int, lossless: int, headroom_bytes: int, ask: HeadroomAsk
) -> tuple[Room, tuple[PlanProblem, ...], tuple[Assumption, ...]]:
    """``ports`` equal ports with ``lossless`` priorities each, against the chip's buffer."""
    need = ports * lossless * headroom_bytes
    room = Room(ports, lossless, ask.alpha, need)
    asic = chip.asic
    size = asic.packet_bytes(chip.model) if asic else None
    if asic is None or size is None:
        whose = f"of {asic.name} is not published" if asic else "is not known: name the chip with --asic"
        return room, (), (Assumption("buffer", f"buffer size {whose}; fit and PFC start are not checked"),)
    fit = buffers.fit(size, [buffers.Need(ports, lossless, headroom_bytes, ask.mtu_bytes)], slices=asic.slices)
    room = replace(room, buffer_bytes=size, slices=asic.slices, whys=(fit.why,))
    pool = asic.pool(chip.model)
    if pool is not None and pool.headroom_bytes:
        shared = buffers.headroom_pool(headroom_bytes, ports * lossless, pool.headroom_bytes)
        room = replace(room, pool_bytes=pool.headroom_bytes, pausing_at_once=shared.pausing_at_once)
    if not fit.feasible:
        return room, (_too_much(asic, fit, ask, ports, lossless),), ()
    start = int(ecn.incast_bound(fit.shared_bytes, ask.alpha))
    gap = buffers.xon_gap_bytes(ask.mtu_bytes)
    room = replace(room, shared_bytes=fit.shared_bytes, xoff_bytes=start, xon_bytes=max(0, start - gap))
    return room, (), ()


def _too_much(asic: Asic, fit: buffers.Fit, ask: HeadroomAsk, ports: int, lossless: int) -> PlanProblem:
    """Which ports need too much, and the ways out with their numbers."""
    each = fit.need_bytes // (ports * lossless)
    text = (
        f"{ports} ports x {lossless} lossless x {each:,} B = {fit.need_bytes:,} B of headroom and "
        f"{fit.minimum_bytes:,} B for one frame per port do not fit in the {fit.buffer_bytes:,} B of {asic.name}"
    )
    ways = []
    if ask.cable_m > 5:
        ways.append(f"cables of 5 m need {compute(ask, 5).headroom_bytes:,} B each")
    if lossless > 1:
        fewer = fit.need_bytes * (lossless - 1) // lossless
        ways.append(f"{lossless - 1} lossless priorities instead of {lossless} need {fewer:,} B")
    ratio = buffers.ratio_needed(fit)
    if ratio is not None:
        ways.append(f"a shared headroom pool over-subscribed {ratio:.2f} times")
    return PlanProblem(f"{show_speed(ask.speed_mbps)}, {ask.cable_m:g} m", text, "; or ".join(ways) or "fewer ports")


def doubts(asic: Asic | None) -> tuple[Assumption, ...]:
    """What is not sure about a chip and matters to a number."""
    if asic is None:
        return ()
    if asic.confidence == "low":
        return (Assumption(asic.name, "its buffer figures are general knowledge", "check its data sheet"),)
    unsure = [name for name in asic.unsure if name in ("cell", "headroom", "buffer")]
    return (Assumption(asic.name, f"{', '.join(unsure)} not confirmed", f"source: {asic.source}"),) if unsure else ()


def _reaction_doubts(ask: HeadroomAsk) -> tuple[Assumption, ...]:
    """Above 400G no text of the standard was at hand."""
    if ask.speed_mbps <= 400_000:
        return ()
    quanta = wire.reaction_quanta(ask.speed_mbps, ask.at_800g)
    if ask.at_800g == wire.QUANTA_800G_SONIC:
        text = "as SONiC has it: half the time that a peer has at 400G"
        return (Assumption("peer reaction", f"{quanta} quanta, {text}", "leave --quanta-800g out to be safe"),)
    text = f"{quanta} quanta: 400G's limit scaled, 802.3df was not at hand"
    return (Assumption("peer reaction", text, "--quanta-800g 905 reproduces SONiC"),)


def _lossless_doubt(ask: HeadroomAsk) -> tuple[Assumption, ...]:
    return () if ask.lossless else (Assumption("--lossless", "one lossless priority per port"),)


def _next(ask: HeadroomAsk) -> tuple[tuple[str, str], ...]:
    """What to type next, with the same port."""
    port = f"--speed {show_speed(ask.speed_mbps)} --length {shown_length(ask.cable_m)}{chip_words(ask.chip)}"
    fleet = f" --ports {ask.ports or 32} --lossless {ask.lossless or 1}"
    marking = (f"ecn {port.replace(' --length', ' --rtt 8us --length')}{fleet}", "marking thresholds for this port")
    plot = (f"headroom {port} --plot headroom.svg", "headroom over cable length")
    if ask.ports is None and ask.chip.asic is not None:
        return ((f"headroom {port}{fleet}", "does it fit on the whole switch?"), marking, plot)
    return (marking, plot)


def chip_words(chip: Chip) -> str:
    """The options that name a chip again."""
    asic = f" --asic {shlex.quote(chip.asic.key)}" if chip.asic else ""
    return asic + (f" --model {shlex.quote(chip.model)}" if chip.model else "")


def shown_length(cable_m: float) -> str:
    """``30m``, ``2km``: as the options take it."""
    return f"{cable_m / 1000:g}km" if cable_m >= 1000 else f"{cable_m:g}m"

"""The headroom calculator: one port's headroom with its parts, and what all ports of a switch need together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocetune.app.errors import UseError
from rocetune.model.plan import Assumption, PlanProblem
from rocetune.model.units import show_speed
from rocetune.report.answers import Follow, HeadroomAnswer, Port, Room
from rocetune.report.sizes import show_length
from rocetune.report.table import counted
from rocetune.tuning import buffers, published, thresholds, wire
from rocetune.tuning.asics import Asic, AsicTable, Parts, table
from rocetune.tuning.headroom import Headroom, floor_parts, headroom
from rocetune.tuning.headroom_rules import COPIED
from rocetune.tuning.own_table import look_up
from rocetune.tuning.published import PublishedTable
from rocetune.tuning.table_text import MOST_BYTES

MOST_PORTS = 256  # of one speed on one chip: MACs and lanes, not the capacity, end there
_MOST_SHOWN = 60  # letters of a wrong name that are repeated
IB_MTUS = (256, 512, 1024, 2048, 4096)
IN_RACK_M = 3.0  # what a cable within the rack may need


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
    cell_bytes: int | None = None
    delay_ns: float | None = None
    table: PublishedTable | None = None  # the user's own, before the shipped one
    lookup: bool = True
    at_800g: int = wire.QUANTA_800G
    site_quanta: bool = False  # at_800g is what tuning: of a site says
    sonic: bool | None = None  # the switch runs SONiC; None: not said, and a hardware SKU of SONiC says it
    ports: int | None = None
    lossless: int | None = None
    alpha: float = thresholds.DEFAULT_ALPHA


def chip_named(asic: str | None, model: str | None, known: AsicTable | None = None, *, option: str = "--asic") -> Chip:
    """A chip by its own name, or by a switch model under either option. Raises UseError with a suggestion.

    ``option`` is where the name was given.
    """
    known = known or table()
    if model is not None and not model.strip():
        raise UseError("--model is empty", "Name a switch model or hardware SKU, or leave it out.")
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
        shown = asic if len(asic) <= _MOST_SHOWN else f"{asic[:_MOST_SHOWN]}..."
        raise UseError(f"{option}: {shown!r} is not a known chip or switch model", hint)
    if by_model is not None and by_model is not found:
        raise UseError(f"--asic is {found.name}, but --model {model!r} has a {by_model.name}", "Leave one of them out.")
    return Chip(found, model or (asic if known.by_model(asic) is found else None))


def unknown_model(chip: Chip, known: AsicTable) -> tuple[Assumption, ...]:
    """What to say of a model that nobody lists: it may be a new one, or mistyped."""
    if chip.model is None or known.by_model(chip.model) is not None or published.match(chip.model) is not None:
        return ()
    near = known.near_models(chip.model)
    hint = f"did you mean {' or '.join(near)}?" if near else "without --model the chip's own preset counts"
    return (Assumption("--model", f"{chip.model!r} is not listed: the largest number that is likely for it", hint),)


def table_file(path: Path) -> PublishedTable:
    """A user's own headroom table. Raises UseError with file, line and remedy."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            return published.read_table(file.read(MOST_BYTES + 1), path.name)
    except published.TableError as error:
        raise UseError(
            f"{path}:{error.line}: {error.text}", f"{error.remedy[:1].upper()}{error.remedy[1:]}."
        ) from error
    except UnicodeDecodeError as error:
        raise UseError(f"{path} is not a text file", "Give a pg_profile_lookup.ini or a CSV file.") from error
    except OSError as error:
        raise UseError(f"{path}: {error.strerror or error}", "Give a pg_profile_lookup.ini or a CSV file.") from error


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
    check_speed(asic, ask.speed_mbps)
    check_ports(asic, ask.ports, ask.speed_mbps)
    port = Port(ask.speed_mbps, ask.cable_m, ask.mtu_bytes, frame, asic, model, ask.cell_bytes)
    result = compute(ask, ask.cable_m)
    found = look_up(model, asic, ask.table, ask.lookup)
    row = found.row(ask.speed_mbps, ask.cable_m) if result.method == "table" else None
    quanta = wire.reaction_quanta(ask.speed_mbps, ask.at_800g)
    rows, name = published_rows(ask)
    answer = HeadroomAnswer(
        port=port,
        result=result,
        terms=tuple(term for term in result.terms if term.size_bytes),
        floor=floor_parts(port.speed_mbps, port.cable_m, port.mtu_bytes, port.frame_bytes, quanta),
        confidence="yours" if is_yours(ask, result) else result.confidence,
        published=rows,
        published_name=name,
        notes=_notes(ask, result, row),
        assumptions=(
            *assumed,
            *unknown_model(ask.chip, table()),
            *doubts(asic),
            *(_reaction_doubts(ask) if result.reacts else ()),
            *_site_quanta(ask),
        ),
    )
    if ask.ports is not None:
        room, problems, believed = room_of(ask.chip, ask.ports, ask.lossless or 1, result.headroom_bytes, ask)
        unsure = (*believed, *_lossless_doubt(ask), *(_alpha_doubt(ask) if room.buffer_bytes else ()))
        answer = replace(answer, room=room, problems=problems, assumptions=(*answer.assumptions, *unsure))
    return replace(answer, follow=_follow(ask, answer))


def is_yours(ask: HeadroomAsk, result: Headroom) -> bool:
    """True where the number rests on a table or a chip of the user's own."""
    asic = ask.chip.asic
    cell = result.method == "canonical" and asic is not None and "cell_bytes" in asic.user
    return result.yours or cell


def compute(ask: HeadroomAsk, cable_m: float) -> Headroom:
    """Headroom of the asked port with another cable. Raises UseError where nothing is known to compute it from."""
    if ask.chip.asic is None and ask.cell_bytes is None and ask.table is None:
        remedy = "Name one: --asic tomahawk3 (`rocetune asics` lists them), or --cell 254B for the canonical sum."
        raise UseError("neither the chip nor its cell size is known: headroom differs threefold between chips", remedy)
    frame, _ = frame_of(ask.rdma_mtu, ask.mtu_bytes)
    try:
        return headroom(
            ask.speed_mbps,
            cable_m,
            ask.chip.asic,
            mtu_bytes=ask.mtu_bytes,
            frame_bytes=frame,
            model=ask.chip.model,
            table=ask.table,
            lookup=ask.lookup,
            at_800g=ask.at_800g,
            cell_bytes=ask.cell_bytes,
            delay_ns=ask.delay_ns,
            copied=ask.sonic is not False,
        )
    except ValueError as error:
        cells = ask.cell_bytes is None and "cell" in str(error)
        raise UseError(str(error), "Give it with --cell, as in --cell 254B." if cells else "") from error


def check_speed(asic: Asic | None, speed_mbps: int) -> None:
    """Raises UseError for a speed that the chip has not."""
    if asic is None:
        return
    try:
        asic.check_speed(speed_mbps)
    except ValueError as error:
        raise UseError(f"--speed: {error}", f"`rocetune asics {asic.key}` shows what is known of it.") from error


def _notes(ask: HeadroomAsk, result: Headroom, row: tuple[PublishedTable, published.Row] | None) -> tuple[str, ...]:
    """How a row was chosen, and what the number should be read with; the peer's reaction is told as assumed."""
    notes = [note for note in result.notes if not (result.reacts and note.startswith("peer reaction"))]
    if row is not None and row[1].cable_m != ask.cable_m:
        notes.append(
            f"{show_length(ask.cable_m)} is not listed: the next longer one, {show_length(row[1].cable_m)}, is taken"
        )
    if row is not None and row[0].note:
        notes.append(f"{row[0].name}: {row[0].note}")
    if result.why.source == COPIED and _sonic(ask) is None:
        other = compute(replace(ask, sonic=False), ask.cable_m).headroom_bytes
        notes.append(
            f"that table is what SONiC of this maker may have; on another OS {other:,} B, as --platform arista_eos says"
        )
    if ask.delay_ns is not None and result.method == "canonical" and _preset_left_out(ask):
        notes.append("--delay leaves the fitted preset out, whose fixed time has a delay of its own in it")
    return tuple(dict.fromkeys(notes))


def _with_pools(
    ask: HeadroomAsk, asic: Asic, fit: buffers.Fit, room: Room
) -> tuple[buffers.Fit, Room, tuple[PlanProblem, ...], tuple[Assumption, ...]]:
    """What the pools that SONiC configures on the model say: S where it runs SONiC, else beside it."""
    sonic = _sonic(ask)
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


def _sonic(ask: HeadroomAsk) -> bool | None:
    """Whether SONiC's own pools count: as stated, or because the model is spelled as a hardware SKU of SONiC."""
    if ask.sonic is not None:
        return ask.sonic
    found = published.match(ask.chip.model)
    return True if found is not None and found.exact else None


def _preset_left_out(ask: HeadroomAsk) -> bool:
    """True where the preset is a fit or a line, in which no part is the delay."""
    asic = ask.chip.asic
    reference = asic.reference if asic is not None else None
    return reference is not None and not isinstance(reference.preset, Parts)


def published_rows(ask: HeadroomAsk) -> tuple[tuple[tuple[float, int], ...], str]:
    """Rows at the asked speed for the picture: of the user's table, the model's, or every table of the chip."""
    asic, own = ask.chip.asic, ask.table or published.table_of(ask.chip.model)
    tables = [own] if own else [item for item in published.published() if asic and asic.key in (item.asic, *item.also)]
    found = {item.name: [row for row in item.rows if row.speed_mbps == ask.speed_mbps] for item in tables}
    listed = [name for name, rows in found.items() if rows]
    if not listed:
        return (), ""
    rows = {(row.cable_m, row.xoff_bytes) for name in listed for row in found[name]}
    name = listed[0] if len(listed) == 1 else f"{len(listed)} tables of {asic.name if asic else 'the chip'}"
    return tuple(sorted(rows)), f"{'your' if ask.table else 'published'} rows: {name}"


def room_of(
    chip: Chip, ports: int, lossless: int, headroom_bytes: int, ask: HeadroomAsk
) -> tuple[Room, tuple[PlanProblem, ...], tuple[Assumption, ...]]:
    """``ports`` equal ports with ``lossless`` priorities each, against the chip's buffer."""
    need = ports * lossless * headroom_bytes
    room = Room(ports, lossless, ask.alpha, need)
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
    start = thresholds.dynamic_xoff(fit.shared_bytes, ask.alpha, groups)
    try:
        gap = thresholds.hysteresis(
            ask.speed_mbps,
            ask.cable_m,
            ask.mtu_bytes,
            cell_bytes=_cell(asic),
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


def _cell(asic: Asic) -> int:
    return (asic.cell_bytes or 1) if asic.layout != "voq" else 1


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


def doubts(asic: Asic | None) -> tuple[Assumption, ...]:
    """What is not sure and matters to a number: a nominal size does not where a configured pool is known."""
    if asic is None:
        return ()
    found = []
    matters = {"cell", "headroom"} if asic.usable_bytes is not None else {"cell", "headroom", "buffer"}
    unsure = [name for name in asic.unsure if name in matters]
    if asic.confidence == "low":
        found.append(Assumption(asic.name, "its buffer figures are general knowledge", "check its data sheet"))
    elif unsure:
        found.append(Assumption(asic.name, f"{', '.join(unsure)} not confirmed", f"source: {asic.source}"))
    return tuple(found)


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


def _site_quanta(ask: HeadroomAsk) -> tuple[Assumption, ...]:
    """A site that is at hand decides the quanta where no option does."""
    if not ask.site_quanta or ask.speed_mbps <= 400_000:
        return ()
    text = f"{ask.at_800g} quanta at 800G: tuning.quanta_800g of the rocetune.yaml here"
    return (Assumption("--quanta-800g", text, "state it to have another"),)


def _lossless_doubt(ask: HeadroomAsk) -> tuple[Assumption, ...]:
    return () if ask.lossless else (Assumption("--lossless", "one lossless priority per port"),)


def _alpha_doubt(ask: HeadroomAsk) -> tuple[Assumption, ...]:
    """The default alpha, where SONiC's table of the model has another: a plan for a SONiC switch counts with that."""
    if _sonic(ask) is False:
        return ()
    encoding = thresholds.encodings()["sonic"]
    row = look_up(ask.chip.model, ask.chip.asic, None, True).row(ask.speed_mbps, ask.cable_m)
    threshold = row[1].threshold if row is not None else None
    if row is None or threshold is None or not encoding.low <= threshold <= encoding.high:
        return ()
    own = encoding.decode(threshold)
    if ask.alpha != thresholds.DEFAULT_ALPHA or own == ask.alpha:
        return ()
    text = f"alpha {ask.alpha:g}; SONiC's row in {row[0].name} has dynamic_th {threshold}, which is alpha {own:g}"
    return (Assumption("--alpha", text, f"on a SONiC switch add --alpha {own:g}"),)


def _follow(ask: HeadroomAsk, answer: HeadroomAnswer) -> tuple[Follow, ...]:
    """What to type next, about the same port."""
    plot = Follow("headroom", "headroom over cable length", (("--plot", "headroom.svg"),))
    if ask.chip.asic is None:
        known = Follow("asics", "the chips whose buffers are known")
        return (known, plot) if ask.cell_bytes is not None else (known,)
    if any(not problem.warning for problem in answer.problems):
        if ask.cable_m <= IN_RACK_M:
            return (plot,)
        return (Follow("headroom", "with short cables", (("--length", f"{IN_RACK_M:g}m"),)), plot)
    marking = Follow("ecn", "marking thresholds for it", (("--tiers", "2"),))
    if ask.ports is None:
        fleet = (("--ports", str(all_ports(ask.chip.asic, ask.speed_mbps))), ("--lossless", "1"))
        return (Follow("headroom", "does it fit on the whole switch?", fleet), marking, plot)
    return (marking, plot)


def all_ports(asic: Asic, speed_mbps: int) -> int:
    """Ports of a speed that the chip's capacity is enough for, no box has more than 256; 32 where it is not known."""
    return max(1, min(MOST_PORTS, asic.capacity_gbps * 1000 // speed_mbps)) if asic.capacity_gbps else 32


def check_ports(asic: Asic | None, ports: int | None, speed_mbps: int) -> None:
    """Raises UseError for more ports than the chip can feed."""
    if asic is None or ports is None or not asic.capacity_gbps or ports * speed_mbps <= asic.capacity_gbps * 1000:
        return
    most = asic.capacity_gbps * 1000 // speed_mbps
    text = f"--ports: {asic.name} switches {show_speed(asic.capacity_gbps * 1000)}, enough for {most} ports of "
    raise UseError(f"{text}{show_speed(speed_mbps)}: got {ports}", f"Give {most} or fewer, or another --speed.")

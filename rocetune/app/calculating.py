"""The headroom calculator: one port's headroom with its parts, and what all ports of a switch need together."""

from __future__ import annotations

from dataclasses import replace

from rocetune.app.asking import (
    HeadroomAsk,
    all_ports,
    check_ports,
    check_speed,
    chosen_alpha,
    compute,
    frame_of,
    runs_sonic,
    unknown_model,
)
from rocetune.app.switch_room import room_of
from rocetune.model.plan import Assumption
from rocetune.report.answers import Follow, HeadroomAnswer, Port
from rocetune.report.sizes import show_length
from rocetune.tuning import published, wire
from rocetune.tuning.asics import Asic, Parts, table
from rocetune.tuning.headroom import Headroom, floor_parts
from rocetune.tuning.headroom_presets import COPIED
from rocetune.tuning.own_table import look_up
from rocetune.tuning.published import PublishedTable

IN_RACK_M = 3.0  # what a cable within the rack may need


def calculate_headroom(ask: HeadroomAsk) -> HeadroomAnswer:
    """One port, and with ``ports`` the whole switch. Raises UseError or ValueError where an input cannot be."""
    frame, assumed = frame_of(ask.rdma_mtu, ask.mtu_bytes)
    asic, model = ask.chip.asic, ask.chip.model
    check_speed(asic, ask.speed_mbps)
    check_ports(asic, ask.ports, ask.speed_mbps)
    alpha, believed_alpha = chosen_alpha(ask)
    ask = replace(ask, alpha=alpha)
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
            *unknown_model(ask.chip, table(), ask.table is not None),
            *doubts(asic),
            *(_reaction_doubts(ask) if result.reacts else ()),
            *_site_quanta(ask),
        ),
    )
    if ask.ports is not None:
        room, problems, believed = room_of(ask.chip, ask.ports, ask.lossless or 1, result.headroom_bytes, ask)
        unsure = (*believed, *_lossless_doubt(ask), *(believed_alpha if room.buffer_bytes else ()))
        answer = replace(answer, room=room, problems=problems, assumptions=(*answer.assumptions, *unsure))
    return replace(answer, follow=_follow(ask, answer))


def is_yours(ask: HeadroomAsk, result: Headroom) -> bool:
    """True where the number rests on a table or a chip of the user's own."""
    asic = ask.chip.asic
    cell = result.method == "canonical" and asic is not None and "cell_bytes" in asic.user
    return result.yours or cell


def _notes(ask: HeadroomAsk, result: Headroom, row: tuple[PublishedTable, published.Row] | None) -> tuple[str, ...]:
    """How a row was chosen, and what the number should be read with; the peer's reaction is told as assumed."""
    notes = [note for note in result.notes if not (result.reacts and note.startswith("peer reaction"))]
    if row is not None and row[1].cable_m != ask.cable_m:
        notes.append(
            f"{show_length(ask.cable_m)} is not listed: the next longer one, {show_length(row[1].cable_m)}, is taken"
        )
    if row is not None and row[0].note:
        notes.append(f"{row[0].name}: {row[0].note}")
    if result.why.source == COPIED and runs_sonic(ask) is None:
        other = compute(replace(ask, sonic=False), ask.cable_m).headroom_bytes
        notes.append(
            f"that table is what SONiC of this maker may have; on another OS {other:,} B, as --platform arista_eos says"
        )
    if ask.delay_ns is not None and result.method == "canonical" and _preset_left_out(ask):
        notes.append("--delay leaves the fitted preset out, whose fixed time has a delay of its own in it")
    return tuple(dict.fromkeys(notes))


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

"""Headroom by preset: lines per speed, a fit, or NVIDIA's sum; of a chip, of other boards, or in place of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from rocetune.model.units import show_speed
from rocetune.tuning import wire
from rocetune.tuning.asics import Asic, Fit, Parts
from rocetune.tuning.cells import nvidia_worst
from rocetune.tuning.families import Apart, Family, Lines
from rocetune.tuning.headroom_case import (
    Case,
    Level,
    Made,
    Term,
    inflated,
    least,
    per_s,
    total,
)
from rocetune.tuning.headroom_sums import fit_bytes, parts_bytes
from rocetune.tuning.published import PublishedTable, published

COPIED = "the table that makers copy most (Tomahawk 1's up to 100G, the one of Nokia's 7220 H5 line above)"


def top_of(family: Family) -> float:
    """The fastest port (Mbit/s) that a preset says something of without being extrapolated."""
    preset = family.preset
    return preset.lines[-1].speed_mbps if isinstance(preset, Lines) else float("inf")


@cache
def _corners(tables: tuple[str, ...], asic: str) -> tuple[tuple[int, float], ...]:
    """Places that the tables of a preset list; those of all tables of the chip where it names none."""
    chosen = [item for item in published() if item.name in tables]
    chosen = chosen or [item for item in published() if asic in (item.asic, *item.also)]
    return tuple({(row.speed_mbps, row.cable_m) for item in chosen for row in item.rows})


def inside(case: Case, family: Family) -> bool:
    """True where the tables of a preset list a port as fast with a cable as long."""
    asic = case.asic.key if case.asic is not None else ""
    return any(
        speed >= case.speed_mbps and cable >= case.cable_m - 1e-9 for speed, cable in _corners(family.tables, asic)
    )


def from_presets(case: Case, families: Iterable[Family], own: Family | None, *, extrapolate: bool) -> Iterator[Made]:
    """Presets, of which ``own`` is the one fitted to the platform's own table.

    A preset of lines that ends below the asked speed counts with its fastest line, or extrapolated.
    """
    asic = case.asic
    assert asic is not None
    for family in families:
        preset = family.preset
        level = _level(case, asic, family, own)
        if isinstance(preset, Parts):
            if case.small_cell is not None:
                yield replace(_from_parts(case, asic, family, preset, case.small_cell), confidence=level)
        elif case.delay_ns is not None:
            continue  # its fixed time holds a share of the delay that nobody knows
        elif isinstance(preset, Fit):
            yield replace(_from_fit(case, asic, preset), confidence=level)
        else:
            yield replace(_from_lines(case, asic, family, preset, extrapolate, level))


def from_own(case: Case, family: Family, sku: PublishedTable) -> Made:
    """A preset in place of the table that it was fitted to, by the frames and quanta that the table was built with.

    Where a row follows another rule than the rest of its table, so does the preset at that place, and only there.
    """
    asic = case.asic
    assert asic is not None
    listed = any((row.speed_mbps, row.cable_m) == (case.speed_mbps, case.cable_m) for row in sku.rows)
    second = family.second_rule(sku.name, case.speed_mbps, case.cable_m) if listed else None
    rule = second or Apart(sku.name, family.preset)
    near = replace(
        case,
        cable_m=rule.as_m or case.cable_m,
        speed_mbps=min(case.speed_mbps, rule.most_mbps or case.speed_mbps),
    )
    near = replace(near, quanta=wire.reaction_quanta(near.speed_mbps, case.at_800g))
    level = _level(case, asic, family, family)
    if isinstance(rule.preset, Parts):
        assert case.small_cell is not None  # NVIDIA's chips have cells
        made = _from_parts(near, asic, family, rule.preset, case.small_cell, built=True)
    else:
        assert isinstance(rule.preset, Lines)
        made = _from_lines(near, asic, family, rule.preset, False, level)
    notes = []
    if isinstance(rule.preset, Parts):
        parts = rule.preset
        reaction = ""
        if parts.quanta_800g and near.speed_mbps > 400_000:
            reaction = f" and {parts.quanta_800g} quanta"
            reaction += f", but {case.at_800g} as asked" if case.at_800g < parts.quanta_800g else ""
        notes.append(f"as the table of {sku.name} was built: lossless frame of {parts.frame_bytes:,} B{reaction}")
    if second:
        other = f": that of {near.place()}" if rule.as_m or rule.most_mbps else ""
        notes.append(f"{sku.name} follows another rule for {case.place()} than elsewhere{other}")
    return replace(made, notes=(*notes, *made.notes), confidence=level)


def _level(case: Case, asic: Asic, family: Family, own: Family | None) -> Level:
    listed = inside(case, family)
    if "headroom" in asic.user:
        return "high"
    if own is not None and family is own:
        named = any(speed == case.speed_mbps for speed, _ in _corners(family.tables, asic.key))
        return least(family.confidence, "high" if listed and named else "medium")  # no row confirms another speed
    reference = asic.reference
    if reference is not None and family.name == reference.name:
        return least(family.confidence, "medium" if listed else "low")
    return "low"


@cache
def _shortest_m(tables: tuple[str, ...]) -> float:
    """The shortest cable that tables list: below it their lines say nothing, and switches round up to it."""
    return min((row.cable_m for item in published() if item.name in tables for row in item.rows), default=0.0)


def _from_lines(case: Case, asic: Asic, family: Family, preset: Lines, extrapolate: bool, level: Level) -> Made:
    asked, shortest = case.cable_m, _shortest_m(family.tables)
    case = replace(case, cable_m=max(asked, shortest))
    # A preset that is borrowed from another chip says nothing of speeds which that chip does not have.
    borrowed = asic.reference is None and not family.fallback
    top = preset.lines[-1].speed_mbps
    beyond = case.speed_mbps > top
    grows = beyond and extrapolate and not borrowed
    exact, line = preset.bytes_at(case.speed_mbps if grows else min(case.speed_mbps, top), case.cable_m)
    grown = max(1.0, asic.lent(family, case.model)) if borrowed else 1.0
    own = wire.cable_round_trip_bytes(line.speed_mbps, case.cable_m)
    _, factor = max(line.pieces, key=lambda piece: piece[0] + piece[1] * own)
    pieces = " or ".join(f"{base:,.0f} + {slope:g} x cable" for base, slope in line.pieces)
    name = COPIED if family.fallback else f"{asic.name} preset {family.name}"
    if borrowed:
        name = f"preset {family.name} of another chip of the same maker"
    steps = [
        f"{name}, line of {show_speed(line.speed_mbps)}: {pieces}",
        replace(case, speed_mbps=line.speed_mbps).cable_step(),
    ]
    notes: tuple[str, ...] = ()
    if asked < shortest:
        notes = (f"{asked:g} m is shorter than any cable that the table lists: {shortest:g} m is taken",)
    at = f"line of {show_speed(line.speed_mbps)}"
    if grows:
        steps.append(
            f"extrapolated: {', '.join(family.tables)} ends at {show_speed(top)}; the fixed part grows with the speed"
        )
        at, level = f"{at}, extrapolated from {show_speed(top)}", "low"
    if grown > 1:
        steps.append(f"lent by a chip with smaller cells: x {grown:.4g}")
    partial = not preset.covers(case.cable_m)
    if partial:
        steps.append(f"{', '.join(family.tables)} has one value for all lengths and ends at {preset.most_m:g} m")
        level = "low"
    steps.append(f"the largest line up to this speed gives {exact * grown:,.1f} B")
    terms = [
        Term("base", f"{at}, {'copied' if family.fallback else 'fitted'}", exact - factor * own),
        replace(case, speed_mbps=line.speed_mbps).cable_term(factor),
        *([Term("larger cells", f"({grown:.4g} - 1) x {exact:,.0f} B", (grown - 1) * exact)] if grown > 1 else []),
        *case.larger(),
    ]
    source = COPIED if family.fallback else f"fitted to {', '.join(family.tables)}"
    if grows:
        source = f"extrapolated from {', '.join(family.tables)}"
    return Made(
        exact * grown + case.extra,
        "preset",
        tuple(steps),
        source,
        level,
        tuple(terms),
        notes=notes,
        partial=partial,
        fixed=True,
    )


def _from_fit(case: Case, asic: Asic, fit: Fit) -> Made:
    bare = fit_bytes(case.speed_mbps, case.cable_m, fit)
    share = 1 - fit.error_percent / 100
    exact = bare / share
    fixed = fit.fixed_us * 1e-6 * case.rate
    steps = (
        f"{asic.name} preset: xoff = base + t0 x R + f x cable",
        f"t0: {fit.fixed_us:g} us x {case.rate:.4g} B/s = {fixed:,.0f} B",
        case.cable_step(),
        f"{fit.base_bytes:,.0f} + {fixed:,.0f} + {fit.wire_factor:g} x {case.flight:,.0f} = {bare:,.1f} B",
        f"fit error up to {fit.error_percent:g} %: / {share:g} = {exact:,.1f} B",
    )
    words = f"f {fit.wire_factor:g} x {case.cable_term().formula}"
    terms = [
        Term("base", "frames and pipeline, fitted", fit.base_bytes),
        Term("fixed time", f"t0 {fit.fixed_us:g} us x {per_s(case.rate)}", fixed),
        Term("cable, both ways", words, fit.wire_factor * case.flight),
    ]
    if fit.error_percent:
        terms.append(Term("error of the fit", f"up to {fit.error_percent:g} %: / {share:g}", exact - bare))
    yours = "headroom" in asic.user
    source = "a fit stated in the site" if yours else f"fitted to {asic.preset_table}"
    return Made(
        exact + case.extra, "preset", steps, source, "medium", (*terms, *case.larger()), yours=yours, fixed=True
    )


def _from_parts(case: Case, asic: Asic, family: Family, parts: Parts, cell: int, built: bool = False) -> Made:
    """NVIDIA's sum; ``built``: with the frames and the 800G quanta that its tables were built with, as their rows.

    905 quanta on request count even where a table was built with 1810.
    """
    gearbox = asic.gearbox(case.model)
    delay_ns = parts.delay_ns + 2 * gearbox if case.delay_ns is None else case.delay_ns
    worst = case.cell_bytes is not None or parts.factor is None
    factor = nvidia_worst(cell) if worst or parts.factor is None else parts.factor
    because = f"cell {cell} B, all packets small" if worst else family.note or family.name
    frame, mtu, quanta = max(case.frame_bytes, parts.frame_bytes), case.mtu_bytes, case.quanta
    if built:
        frame, mtu = parts.frame_bytes, parts.port_frame_bytes
        quanta = wire.reaction_quanta(case.speed_mbps, min(parts.quanta_800g or case.at_800g, case.at_800g))
    used = replace(parts, delay_ns=delay_ns, factor=factor)
    exact = parts_bytes(case.speed_mbps, case.cable_m, used, cell, mtu_bytes=mtu, frame_bytes=frame, quanta=quanta)
    limit = parts.response_bytes is None
    response = float(quanta * wire.QUANTUM_BYTES if parts.response_bytes is None else parts.response_bytes)
    delay = delay_ns * 1e-9 * case.rate
    steps = (
        "xoff = lossless frame + F x (port MTU + cable + local delay + MAC/PHY + peer response), up to 1 KiB",
        f"F: {because}: {factor:.4g}",
        case.cable_step(),
        f"local delay: {delay_ns:g} ns = {delay:,.0f} B; MAC/PHY {parts.mac_phy_bytes:g} B; peer {response:,.1f} B",
        f"{f'{parts.share:g} x (' if parts.share != 1 else ''}{frame} + {factor:.4g} x ({mtu} + {case.flight:,.0f} + "
        f"{delay:,.0f} + {parts.mac_phy_bytes:g} + {response:,.1f}){')' if parts.share != 1 else ''} -> {exact:,} B",
    )
    waits = (
        Term("port frame", f"{mtu:,} B", float(mtu)),
        case.cable_term(),
        case.delay_term(delay_ns),
        Term("MAC and PHY", f"{parts.mac_phy_bytes:g} B", parts.mac_phy_bytes),
        Term("peer reaction", f"{quanta} quanta x 64 B" if limit else f"{response:,.1f} B", response),
    )
    because = because if worst else "as the table's small-packet share has it"
    terms: tuple[Term, ...] = (case.frame_term(frame), *inflated(factor, because, waits))
    if parts.share != 1:
        whole = total(terms)
        terms = (*terms, Term("share of the sum", f"({parts.share:g} - 1) x {whole:,.0f} B", (parts.share - 1) * whole))
    terms = (*terms, Term("register step", f"up to {exact // 1024} KiB", exact - total(terms)))
    tables = ", ".join(family.tables) or asic.preset_table
    reacts = limit and quanta == case.quanta
    more = case.larger() if built else ()
    source = f"SONiC's NVIDIA formula; {tables}"
    size = exact + total(more)
    return Made(size, "preset", steps, source, "medium", (*terms, *more), reacts=reacts, fixed=built)

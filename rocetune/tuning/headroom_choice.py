"""Which rule decides: a user's row, else the most that a hardware SKU of the model gets, else a bare chip's number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rocetune.model.units import show_speed
from rocetune.tuning import wire
from rocetune.tuning.asics import Asic
from rocetune.tuning.cells import round_up
from rocetune.tuning.families import Family, Parts, family_of
from rocetune.tuning.headroom_case import Case, Made, least, rounding_of, sum_step, total
from rocetune.tuning.headroom_presets import from_own, from_presets, top_of
from rocetune.tuning.headroom_rules import from_row, from_sum, from_worst, lacks, place
from rocetune.tuning.own_table import LookUp
from rocetune.tuning.published import PublishedTable, published


def decided(case: Case, known: LookUp, assume_worst: bool) -> Made:
    """A user's row, else the most that a hardware SKU of the model gets, between the rows of a user's table."""
    users = known.users
    row = users.fitting(case.speed_mbps, case.cable_m) if users is not None and case.delay_ns is None else None
    if users is not None and row is not None:
        return from_row(case, users, row, yours=True, alone=True)
    skus = tuple(item for item in known.match.tables if item.rows) if known.match is not None else ()
    own = known.match is not None and known.match.own
    found = [
        (
            item.name if speed == case.speed_mbps else f"{item.name} at {show_speed(speed)}",
            _of_sku(_at(case, speed), item, alone=own and len(skus) == 1),
        )
        for item, speed in _each_at(skus, case.speed_mbps, case.speed_mbps)
    ]
    if not found or not own:
        found.insert(0, ("", _stranger(case, assume_worst)))
    name, made = max(found, key=lambda item: item[1].value)
    if len(found) > 1:
        made = _largest_of(case, known, found, name, made)
    elif known.absent:
        made = replace(made, notes=(f"{known.absent} has a table upstream that is not among ours: the preset counts",))
    if users is None:
        return made
    made = _between(case, made, users, "your table", clamp=made.method != "table")
    instead = {"table": "the published row", "preset": "the preset"}.get(made.method, "the sum")
    return replace(made, notes=(f"{lacks(users, case)}: {instead} is taken instead", *made.notes))


def _largest_of(case: Case, known: LookUp, found: Sequence[tuple[str, Made]], name: str, made: Made) -> Made:
    """The largest of several, and what each of them would get."""
    each = "; ".join(
        f"{item or 'the chip without a table'} {one.value:,} B"
        for item, one in found
        if " at " not in item or one is made
    )
    if known.absent:
        first = f"{known.absent} has a table upstream that is not among ours"
        what = "the presets count" if not name else f"its sibling {name} counts, as the presets give less"
        return replace(made, confidence="low", notes=(f"{first}: {what} ({each})", *made.notes))
    level = made.confidence if len({one.value for _, one in found}) == 1 else least(made.confidence, "medium")
    tables = known.match.tables if known.match is not None else ()
    if any(_top(item) >= case.speed_mbps for item in tables if item.rows):
        note = f"{case.model}: the hardware SKU is not known: the largest of {each}"
        return replace(made, confidence=level, notes=(note, *made.notes))
    speed = show_speed(case.speed_mbps)
    note = f"{case.model}: its tables list no port of {speed}: presets and other tables of the maker count"
    return replace(made, confidence=level, notes=(note,))


def _of_sku(case: Case, sku: PublishedTable, *, alone: bool, lend: bool = True) -> Made:
    """What a hardware SKU gets: its row, else a preset or sum between its rows.

    ``alone`` False: one of several that the port may have, whose rows are kept monotonic. Where the SKU's preset ends
    (a faster port, a longer cable of a flat table) what its maker publishes for the chip counts, unless not ``lend``.
    """
    row = sku.fitting(case.speed_mbps, case.cable_m) if case.lookup and case.delay_ns is None else None
    if row is not None:
        return from_row(case, sku, row, yours=False, alone=alone)
    asic = case.asic
    assert asic is not None  # a table has a chip
    own = None if "headroom" in asic.user else family_of(sku.name)
    # Without lookup the preset stands for the table that it was fitted to, whose rows keep to the physical floor.
    as_row = not case.lookup and own is not None and bool(sku.dominating(case.speed_mbps, case.cable_m))
    if as_row and own is not None and _stands(case, own):
        return _finished(case, from_own(case, own, sku), as_row)
    families = (own,) if own is not None else asic.presets_for(sku.name, case.copied)
    found = (
        _with_others(case, asic, sku, families, own) if lend and case.delay_ns is None else _plain(case, families, own)
    )
    made = max(_with_sum(case, found), key=lambda item: item.exact)
    made = _finished(case, made, as_row)
    if case.lookup:
        made = _between(case, made, sku, sku.name, clamp=case.delay_ns is None)
        if case.delay_ns is None:
            made = replace(made, notes=(lacks(sku, case), *made.notes))
    return made


def _stands(case: Case, own: Family) -> bool:
    """True where a preset can stand for its table: nothing is stated that the table was not built with."""
    if isinstance(own.preset, Parts):  # a delay is one of its parts
        return case.cell_bytes is None and case.small_cell is not None
    return case.cell_bytes is None and case.delay_ns is None


def _plain(case: Case, families: Sequence[Family], own: Family | None) -> list[Made]:
    reach = any(top_of(family) >= case.speed_mbps for family in families)
    return list(from_presets(case, families, own, extrapolate=not reach))


def _with_others(
    case: Case, asic: Asic, sku: PublishedTable, families: Sequence[Family], own: Family | None
) -> list[Made]:
    """The presets of a SKU, and where they end those of the chip and of the maker's other tables of the chip."""
    top = max((top_of(family) for family in families), default=0.0)
    partial = any(made.partial for made in _plain(case, families, own))
    if case.speed_mbps <= top and not partial:
        return _plain(case, families, own)
    others = [
        item
        for item in published()
        if item.maker == sku.maker and item.rows and item is not sku and asic.key in (item.asic, *item.also)
    ]
    lenders = [item for item in others if partial or _top(item) > top]
    more = (asic.reference,) if asic.reference is not None and asic.reference not in families else ()
    reach = any(top_of(family) >= case.speed_mbps for family in (*families, *more))
    reach = reach or any(_top(item) >= case.speed_mbps for item in lenders)
    found = list(from_presets(case, (*families, *more), own, extrapolate=not reach))
    for item, speed in _each_at(lenders, case.speed_mbps, None):
        near = _at(case, speed)
        made = _of_sku(near, item, alone=False, lend=False)
        steps = (f"{item.name}, of the same maker and chip, at {near.place()}:", *made.notes, *made.steps)
        found.append(replace(made, exact=float(made.value), method="preset", steps=steps, notes=(), confidence="low"))
    return found


def _each_at(
    items: Sequence[PublishedTable], speed_mbps: int, beyond: int | None
) -> Iterator[tuple[PublishedTable, int]]:
    """Tables of which one is that of the port, each with the speed to ask it for.

    A table without ports of this speed is not the one where another has them: it counts with its fastest port that is
    not faster, so that more speed never needs less. Where none has ports as fast, each is asked for ``beyond``, or
    for its fastest (None).
    """
    listed = {row.speed_mbps for item in items for row in item.rows}
    reached = min((speed for speed in listed if speed >= speed_mbps), default=None)
    for item in items:
        speeds = {row.speed_mbps for row in item.rows}
        if reached in speeds:
            yield item, speed_mbps
        elif reached is None and beyond is not None:
            yield item, beyond
        elif slower := [speed for speed in speeds if speed <= speed_mbps]:
            yield item, max(slower)


def _at(case: Case, speed_mbps: int) -> Case:
    """The same port at another speed."""
    if speed_mbps == case.speed_mbps:
        return case
    return replace(case, speed_mbps=speed_mbps, quanta=wire.reaction_quanta(speed_mbps, case.at_800g))


def _top(item: PublishedTable) -> int:
    return max(row.speed_mbps for row in item.rows)


def _stranger(case: Case, assume_worst: bool) -> Made:
    """A bare chip, or a model without a table. Raises ValueError where nothing is known that could give a number."""
    asic = case.asic
    if asic is not None:
        families = asic.presets_for(case.model, case.copied)
        found = _with_sum(case, _plain(case, families, None), refuse=not assume_worst)
    elif case.small_cell is not None:
        found = [from_sum(case, case.small_cell, "stated by the user")]
    else:
        found = []
    if not found and not assume_worst:
        what = f"model {case.model!r} belongs to no known chip" if case.model else "neither chip nor cell size is known"
        raise ValueError(
            f"{what}: name the ASIC, as in Tomahawk 3, or give the size of its buffer cells, as in 254 bytes"
        )
    return _finished(case, max(found or from_worst(case), key=lambda item: item.exact), as_row=False)


def _with_sum(case: Case, found: list[Made], *, refuse: bool = True) -> list[Made]:
    """The canonical sum beside presets that do not say all; alone where there is none."""
    asic = case.asic
    assert asic is not None
    sure = asic.reference is not None and any(not item.partial for item in found)
    if not sure and case.small_cell is not None:
        whose = "stated by the user" if case.cell_bytes is not None or "cell_bytes" in asic.user else "of this chip"
        return [*found, from_sum(case, case.small_cell, whose)]
    if found or not refuse:
        return found
    reason = "a local delay needs the canonical sum" if case.delay_ns is not None else "no table or preset"
    if asic.cell_bytes is not None:
        lacking = f"its buffer has blocks of {asic.cell_bytes} B for several packets, not cells"
    else:
        lacking = "the size of its buffer cells is not known"
    raise ValueError(f"{asic.name}: {reason}, and {lacking}: give a cell size, as in 254 bytes")


def _finished(case: Case, made: Made, as_row: bool) -> Made:
    """Not below its floor, and in whole cells."""
    cell = case.whole_cell
    terms = case.physical_terms() if as_row else case.wire_terms()
    floor = case.physical() if as_row else round_up(total(terms), 1)
    name = "physical floor" if as_row else "wire floor"
    if made.exact < floor:
        made = replace(
            made,
            exact=float(floor),
            steps=(*made.steps, sum_step(name, terms, floor)),
            bounds=(*made.bounds, f"raised to the {name} of {floor:,} B{'' if as_row else ': every byte once, F = 1'}"),
            lifted=True,
            confidence="low",
            reacts=True,
        )
    return replace(made, value=round_up(made.exact, cell), rounding=rounding_of(cell, made.exact))


def _between(case: Case, made: Made, item: PublishedTable, whose: str, *, clamp: bool) -> Made:
    """A computed number between the rows of a table: not above one for more, not below one for less.

    From above the nearest listed speed with so long a cable counts as it is planned: with its own physical floor.
    """
    highs = item.dominating(case.speed_mbps, case.cable_m) if clamp else ()
    extra = round_up(case.extra, 1)
    rounding = f"none: a row of {whose} is taken as it stands"
    if highs:
        row = min(highs, key=lambda high: high.xoff_bytes)
        most, floor = row.xoff_bytes + extra, case.physical(min(high.speed_mbps for high in highs))
        lifted = most < floor
        most = round_up(floor, case.whole_cell) if lifted else most
        if made.value > most:
            text = f"not above {most:,} B, what {whose} has for {place(row)}"
            if lifted:
                text = f"not above {most:,} B, to which the row of {whose} for {place(row)} is raised"
            made = replace(
                made, value=most, exact=float(most), bounds=(*made.bounds, text), lifted=True, rounding=rounding
            )
    low = item.dominated(case.speed_mbps, case.cable_m)
    if low is not None and made.value < low.xoff_bytes + extra:
        value = low.xoff_bytes + extra
        text = f"raised to {value:,} B, what {whose} has for {place(low)}"
        made = replace(
            made, value=value, exact=float(value), bounds=(*made.bounds, text), lifted=True, rounding=rounding
        )
    return made

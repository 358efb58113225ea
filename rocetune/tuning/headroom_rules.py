"""The rules that give a headroom without a preset: a table's row, the canonical sum, the most demanding known chip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rocetune.model.units import show_speed
from rocetune.tuning import wire
from rocetune.tuning.asics import table
from rocetune.tuning.cells import packet_factor, round_up, wire_worst
from rocetune.tuning.headroom_case import (
    Case,
    Level,
    Made,
    Method,
    Term,
    inflated,
    least,
    rounding_of,
    sum_step,
)
from rocetune.tuning.headroom_presets import from_presets
from rocetune.tuning.published import PublishedTable, Row

_REACTION = "IEEE 802.3 31B.3.7, as listed in SONiC's dynamic headroom design"


def place(row: Row) -> str:
    return f"{show_speed(row.speed_mbps)} at {row.cable_m:g} m"


def lacks(item: PublishedTable, case: Case) -> str:
    """``mine.csv has no row for 400G beyond 40 m``."""
    longest = max((row.cable_m for row in item.rows if row.speed_mbps == case.speed_mbps), default=None)
    beyond = f" beyond {longest:g} m" if longest is not None else ""
    return f"{item.name} has no row for {show_speed(case.speed_mbps)}{beyond}"


def from_row(case: Case, own: PublishedTable, row: Row, *, yours: bool, alone: bool) -> Made:
    """A row, as it stands where it is the only table's and exactly asked for; never below the physical floor."""
    steps = [f"{own.name}: {place(row)} has xoff {row.xoff_bytes:,} B"]
    bounds: list[str] = []
    if row.speed_mbps != case.speed_mbps:
        steps.insert(0, f"{case.cable_m:g} m is not listed, and a faster port has less than the next longer cable")
    elif row.cable_m != case.cable_m:
        steps.insert(0, f"{case.cable_m:g} m is not listed: the next longer one is {row.cable_m:g} m")
    if own.note:
        steps.insert(0, f"note on {own.name}: {own.note}")
    whose = "your row" if yours else "published row"
    terms = [Term(whose, f"{own.name}: {place(row)}", float(row.xoff_bytes)), *case.larger()]
    decides = own.dominated(case.speed_mbps, case.cable_m)
    lifted = False
    exact = float(row.xoff_bytes)
    if decides is not None and decides.xoff_bytes > exact:
        text = f"{place(decides)} has {decides.xoff_bytes:,} B in {own.name}"
        if row.cable_m == case.cable_m and alone:
            bounds.append(f"{text}: this row is smaller, and is taken as it stands")
        else:
            bounds.append(f"raised: {text}, and more speed or length cannot need less")
            exact, lifted = float(decides.xoff_bytes), True
    exact += case.extra
    rounding = f"none: {'a row of your table' if yours else 'a published row'} is taken as it stands"
    value, floor = round_up(exact, 1), case.physical()
    confidence: Level = least("high" if yours else own.confidence)
    reacts = value < floor
    if reacts:
        steps.append(sum_step("physical floor", case.physical_terms(), floor))
        bounds.append(f"the row of {row.xoff_bytes:,} B is raised to the physical floor of {floor:,} B")
        exact, value, lifted = float(floor), round_up(floor, case.whole_cell), True
        rounding, confidence = rounding_of(case.whole_cell, floor), "low"
    source = f"stated by the user: {own.name}" if yours else own.source
    return Made(
        exact,
        "table",
        tuple(steps),
        source,
        confidence,
        tuple(terms),
        value,
        tuple(bounds),
        lifted,
        rounding,
        reacts=reacts,
        yours=yours,
        fixed=True,
    )


def _factor_words(cell: int, factor: float) -> str:
    """How the worst factor comes about: mostly by frames of 64 B, which with their gap are 84 B on the wire."""
    if abs(packet_factor(cell, 64) - factor) > 1e-9:
        return f"the worst frame that starts a new cell: {factor:.4g}"
    return f"frames of 64 + 20 B that fill {-(-64 // cell) * cell} B of it: {factor:.4g}"


def from_sum(case: Case, cell: int, of_what: str = "of this chip", method: Method = "canonical") -> Made:
    """The canonical sum with the worst factor that cells can have."""
    factor = wire_worst(cell)
    exact = case.sum_bytes(factor)
    delay = case.delay * 1e-9 * case.rate
    reaction = case.quanta * wire.QUANTUM_BYTES
    steps = (
        "H = M_ll + F x (M_port + pause frame + cable + local delay + peer reaction)",
        f"F: cell {cell} B ({of_what}), {_factor_words(cell, factor)}",
        case.cable_step(),
        f"local delay: {case.delay:g} ns = {delay:,.0f} B",
        f"peer reaction at {show_speed(case.speed_mbps)}: {case.quanta} quanta x 64 B = {reaction:,} B",
        f"{case.frame_bytes} + {factor:.4g} x ({case.mtu_bytes} + {wire.PAUSE_BYTES} + {case.flight:,.0f} + "
        f"{delay:,.0f} + {reaction:,}) = {exact:,.0f} B",
    )
    waits = (*case.port_terms(), case.cable_term(), case.delay_term(case.delay), case.reaction_term())
    terms = (case.frame_term(), *inflated(factor, f"64 B frames in {cell} B cells", waits))
    level = least("medium", *((case.asic.confidence,) if case.asic is not None and case.cell_bytes is None else ()))
    level = "low" if method == "generic" else level
    stated = f", cell of {cell} B stated by the user" if of_what.startswith("stated") else ""
    return Made(exact, method, steps, f"canonical sum{stated}; {_REACTION}", level, terms, reacts=True)


def from_worst(case: Case) -> Iterator[Made]:
    """An unknown chip: the canonical sum with the widest cell, or the most that any known chip of the speed needs."""
    yield from_sum(case, table().widest_cell(), "the largest of any chip in the table", "generic")
    for asic in table():
        fast_enough = asic.port_gbps is None or asic.port_gbps * 1000 >= case.speed_mbps
        if not fast_enough or asic.reference is None:
            continue
        for made in from_presets(replace(case, asic=asic), (asic.reference,), None, extrapolate=True):
            first = "unknown chip: the most demanding known one of this speed is taken"
            whole = float(round_up(made.exact, asic.cell_bytes or 1))
            rounded = Term("cells of that chip", f"{asic.cell_bytes} B each", whole - made.exact)
            terms = (*made.terms, *([rounded] if rounded.size_bytes else []))
            steps = (first, *made.steps)
            yield replace(made, exact=whole, method="generic", steps=steps, terms=terms, confidence="low")

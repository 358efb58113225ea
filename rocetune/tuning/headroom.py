"""PFC headroom of one (port, priority): the bytes that still arrive after XOFF was sent.

In this order: the platform's own table (a user's before the published one); the preset of its family; that of its
chip; the canonical sum with the worst factor that the chip's cells can have; else a refusal. A model of which several
hardware SKUs exist gets the most that any of them would get.

Two floors: a row of the platform's own table is never taken below what the cable holds plus the reaction time that
IEEE 802.3 allows the peer (the physical floor; the frames stay out of it, as in many published rows). Every other
number is never below the canonical sum with each byte once (F = 1), frames included (the wire floor).
"""

from __future__ import annotations

from dataclasses import dataclass

from rocetune.model.plan import Why
from rocetune.model.units import show_speed
from rocetune.tuning import wire
from rocetune.tuning.asics import Asic
from rocetune.tuning.headroom_case import (
    TABLE_FRAME,
    TABLE_MTU,
    VOQ_CELL_BYTES,
    Case,
    Level,
    Made,
    Method,
    Term,
    floor_parts,
    total,
)
from rocetune.tuning.headroom_choice import decided
from rocetune.tuning.headroom_sums import LOCAL_DELAY_NS, canonical_bytes, fit_bytes, parts_bytes, physical_bytes
from rocetune.tuning.own_table import LookUp, look_up, range_of, spread
from rocetune.tuning.published import EmptyTable, PublishedTable

__all__ = [
    "LOCAL_DELAY_NS",
    "VOQ_CELL_BYTES",
    "EmptyTable",
    "Headroom",
    "Term",
    "canonical_bytes",
    "fit_bytes",
    "floor_parts",
    "headroom",
    "parts_bytes",
    "physical_bytes",
    "spread",
]


@dataclass(frozen=True, slots=True)
class Headroom:
    """``headroom_bytes``; ``physical_bytes``: cable and the peer's reaction, which no number is below.

    A computed value is in whole cells where the chip's cell is known; a table's row is as its vendor wrote it.
    ``confidence`` says how sure the number is: high for a row of the platform's own table and its fitted preset at the
    speeds that it lists; medium between them, for the chip's preset and the canonical sum; low where it is
    extrapolated, borrowed, copied, or only a floor. ``terms`` add up to ``headroom_bytes``, ``floor`` to the floor of
    this kind of number.
    """

    headroom_bytes: int
    physical_bytes: int
    method: Method
    why: Why
    confidence: Level = "medium"
    terms: tuple[Term, ...] = ()
    floor: tuple[Term, ...] = ()
    notes: tuple[str, ...] = ()  # what the number should be read with: the first steps of its Why
    yours: bool = False  # it is a row of a table, or a fit, that the user stated
    reacts: bool = True  # the peer's reaction time (its quanta) is part of the number


def headroom(
    speed_mbps: int,
    cable_m: float,
    asic: Asic | None = None,
    *,
    mtu_bytes: int = 9216,
    frame_bytes: int = 4178,
    model: str | None = None,
    table: PublishedTable | None = None,
    lookup: bool = True,
    at_800g: int = wire.QUANTA_800G,
    cell_bytes: int | None = None,
    delay_ns: float | None = None,
    assume_worst: bool = False,
    copied: bool = True,
) -> Headroom:
    """The headroom a port should have.

    ``model`` is the switch model or SONiC hardware SKU, ``table`` a user's own table; ``lookup=False`` leaves the
    published tables out (their presets stay). ``at_800g`` 905 reproduces SONiC at 800G. ``cell_bytes`` overrides the
    chip's cell, ``delay_ns`` the MAC, PHY, FEC and gearbox delay of both directions. ``assume_worst`` gives the most
    demanding known chip where nothing is known of the chip. ``copied=False`` is for a platform that runs no SONiC: it
    leaves out the table that makers of SONiC platforms copy. Raises ValueError for a value that cannot be, and where
    something is missing; EmptyTable (a ValueError) where the platform ships a table without rows.
    """
    wire.positive(mtu_bytes, "an MTU", "9216")
    wire.positive(frame_bytes, "a frame size", "4178")
    if cell_bytes is not None and not 32 <= cell_bytes <= 16384:
        raise ValueError(f"a buffer cell has 32 to 16384 bytes, as in 254: got {cell_bytes}")
    if delay_ns is not None and not 0 <= delay_ns <= 1e6:
        raise ValueError(f"a local delay is between 0 and 1,000,000 ns, as in 200: got {delay_ns}")
    quanta = wire.reaction_quanta(speed_mbps, at_800g)
    floor = physical_bytes(speed_mbps, cable_m, mtu_bytes=mtu_bytes, frame_bytes=frame_bytes, quanta=quanta)
    known = look_up(model, asic, table, lookup)
    asic = asic or known.asic
    if asic is not None and cell_bytes == asic.cell_bytes and cell_bytes is not None and cell_bytes < VOQ_CELL_BYTES:
        cell_bytes = None  # what is known anyway is not stated
    case = Case(
        speed_mbps,
        cable_m,
        mtu_bytes,
        frame_bytes,
        quanta,
        at_800g,
        asic,
        model,
        cell_bytes,
        delay_ns,
        lookup,
        copied,
    )
    if known.empty is not None and delay_ns is None:
        raise EmptyTable(
            f"{model}: the platform ships an empty table ({known.empty.source}), so SONiC creates no lossless priority "
            f"group there: give a table or a headroom of yours, or leave the published tables out"
        )
    made = decided(case, known, assume_worst)
    inputs = (
        ("speed_mbps", speed_mbps),
        ("cable_m", cable_m),
        ("mtu_bytes", mtu_bytes),
        ("frame_bytes", frame_bytes),
        ("reaction_quanta", quanta),
        ("asic", asic.name if asic else "unknown"),
        *((("model", model),) if model else ()),
    )
    notes = (*_notes(case, known, made), *made.notes)
    steps = (*notes, *made.steps, f"= {made.exact:,.0f} B -> {made.value:,} B")
    why = Why(f"headroom.{made.method}", inputs, steps, made.bounds, made.rounding, made.source)
    floors = case.wire_terms()
    if made.method == "table" or total(floors) > made.value:  # a row, or what lies between rows
        floors = case.physical_terms()
    return Headroom(
        made.value, floor, made.method, why, made.confidence, _closed(made), floors, notes, made.yours, made.reacts
    )


def _closed(made: Made) -> tuple[Term, ...]:
    """The parts with what leads from their sum to the result: a bound that decided, else the rounding."""
    rest = made.value - total(made.terms)
    if abs(rest) < 1e-6:
        return made.terms
    if made.lifted:
        return (*made.terms, Term("bound", made.bounds[-1], rest))
    return (*made.terms, Term("rounding", made.rounding, rest))


def _notes(case: Case, known: LookUp, made: Made) -> tuple[str, ...]:
    """What every number of this speed or chip should be read with."""
    found: list[str] = []
    if case.speed_mbps > 400_000:
        where = "" if made.reacts else ", which counts for the floor of this number alone"
        sonic = ""
        if case.speed_mbps <= 800_000:
            sonic = "; 1810 keeps the time of 400G, SONiC's formula has 905 (NVIDIA's table for SN6600 1810)"
        found.append(
            f"peer reaction at {show_speed(case.speed_mbps)}, not confirmed by a text of IEEE 802.3df: {case.quanta} "
            f"quanta{where}{sonic}"
        )
    if made.fixed:
        found += [
            f"{term.name}: {term.formula} = + {term.size_bytes:,.0f} B above the tables" for term in case.larger()
        ]
        found += [
            f"{name} {asked:,} B: less than the {usual:,} B that tables are made for, which changes nothing here"
            for name, asked, usual in (
                ("port MTU", case.mtu_bytes, TABLE_MTU),
                ("lossless frame", case.frame_bytes, TABLE_FRAME),
            )
            if asked < usual
        ]
    if case.asic is not None and not known.own:
        words = range_of(case.asic.key, case.speed_mbps, case.cable_m)
        found += [words] if words else []
    return tuple(found)

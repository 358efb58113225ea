"""The parts of a headroom as the calculator shows them: term, formula, bytes. They come with the number itself."""

from __future__ import annotations

from dataclasses import dataclass

from rocetune.report.answers import Port, Term
from rocetune.tuning.headroom import Headroom, floor_parts
from rocetune.tuning.published import PublishedTable, Row


@dataclass(frozen=True, slots=True)
class Basis:
    """What a headroom was computed from, beside the port. None: not said."""

    quanta: int
    cell_bytes: int | None = None
    delay_ns: float | None = None
    row: tuple[PublishedTable, Row] | None = None  # of the table that decided


def terms_of(port: Port, result: Headroom, basis: Basis) -> list[Term]:
    """The parts of a result, bounds and rounding included; they add up to it."""
    return [Term(term.name, term.formula, term.size_bytes) for term in result.terms]


def floor_terms(port: Port, quanta: int) -> list[Term]:
    """What no number may go below: the cable and the peer's reaction, at least two frames."""
    parts = floor_parts(port.speed_mbps, port.cable_m, port.mtu_bytes, port.frame_bytes, quanta)
    return [Term(term.name, term.formula, term.size_bytes) for term in parts]

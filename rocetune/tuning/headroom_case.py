"""What a headroom is computed for, and what a rule makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rocetune.model.units import show_speed
from rocetune.tuning import wire
from rocetune.tuning.asics import Asic, table
from rocetune.tuning.cells import round_up, wire_worst
from rocetune.tuning.headroom_sums import LOCAL_DELAY_NS, canonical_bytes, physical_bytes

Method = Literal["table", "preset", "canonical", "generic"]
Level = Literal["high", "medium", "low"]

VOQ_CELL_BYTES = 1024  # larger "cells" are blocks of deep-buffer chips that hold several packets
TABLE_MTU = 9216  # the port MTU that tables and presets were made for
TABLE_FRAME = 4178  # the largest lossless frame that they are taken to hold: an RDMA MTU of 4096
_LIGHT = f"{wire.LIGHT_M_PER_S / 1e8:g}e8 m/s"
_LEVELS: tuple[Level, ...] = ("low", "medium", "high")


def least(*levels: str) -> Level:
    """The least sure of several."""
    return min((level for level in _LEVELS if level in levels), key=_LEVELS.index)


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a headroom: ``formula`` is what an engineer would type into a pocket calculator."""

    name: str
    formula: str
    size_bytes: float


@dataclass(frozen=True, slots=True)
class Made:
    """What one rule gives. ``terms`` add up to ``exact``, but for the rounding that the rule itself does."""

    exact: float
    method: Method
    steps: tuple[str, ...]
    source: str
    confidence: Level
    terms: tuple[Term, ...]
    value: int = 0
    bounds: tuple[str, ...] = ()
    lifted: bool = False  # a bound decided
    rounding: str = ""
    notes: tuple[str, ...] = ()
    reacts: bool = False  # the peer's reaction in quanta is part of the number
    yours: bool = False  # the user stated the row or the fit
    partial: bool = False  # a flat table, asked beyond its longest cable
    fixed: bool = False  # made for certain frames: smaller ones change nothing


@dataclass(frozen=True, slots=True)
class Case:
    """One port as asked. ``lookup`` False leaves the rows of published tables out."""

    speed_mbps: int
    cable_m: float
    mtu_bytes: int
    frame_bytes: int
    quanta: int
    at_800g: int
    asic: Asic | None
    model: str | None
    cell_bytes: int | None  # the user's
    delay_ns: float | None  # the user's
    lookup: bool
    copied: bool

    @property
    def rate(self) -> float:
        return wire.rate_bytes_per_s(self.speed_mbps)

    @property
    def flight(self) -> float:
        return wire.cable_round_trip_bytes(self.speed_mbps, self.cable_m)

    @property
    def small_cell(self) -> int | None:
        """Cell of a buffer in which one packet fills whole cells; None where it is not known."""
        cell = self.cell_bytes or (self.asic.cell_bytes if self.asic else None)
        return cell if cell is not None and (self.cell_bytes or cell < VOQ_CELL_BYTES) else None

    @property
    def whole_cell(self) -> int:
        """What a computed number is rounded up to."""
        if self.cell_bytes is not None:
            return self.cell_bytes
        return table().widest_cell() if self.asic is None else self.asic.cell_bytes or 1

    def larger(self) -> tuple[Term, ...]:
        """What frames above those of the tables add to a row, a fit or a line."""
        found: list[Term] = []
        more = self.mtu_bytes - TABLE_MTU
        if more > 0:
            factor = wire_worst(self.small_cell or table().widest_cell())
            words = f"{factor:.4g} x ({self.mtu_bytes:,} - {TABLE_MTU:,}) B"
            found.append(Term("larger frames", words, factor * more))
        longer = self.frame_bytes - TABLE_FRAME
        if longer > 0:
            found.append(Term("larger lossless frame", f"{self.frame_bytes:,} - {TABLE_FRAME:,} B", float(longer)))
        return tuple(found)

    @property
    def extra(self) -> float:
        return sum(term.size_bytes for term in self.larger())

    def physical(self, speed_mbps: int | None = None) -> int:
        """The floor of a platform's own row, for this or another speed: see :func:`physical_bytes`."""
        speed = self.speed_mbps if speed_mbps is None else speed_mbps
        quanta = wire.reaction_quanta(speed, self.at_800g)
        return physical_bytes(
            speed, self.cable_m, mtu_bytes=self.mtu_bytes, frame_bytes=self.frame_bytes, quanta=quanta
        )

    @property
    def delay(self) -> float:
        """Local delay of the canonical sum, nanoseconds."""
        return LOCAL_DELAY_NS if self.delay_ns is None else self.delay_ns

    def sum_bytes(self, factor: float) -> float:
        """The canonical sum."""
        return canonical_bytes(
            self.speed_mbps,
            self.cable_m,
            factor=factor,
            mtu_bytes=self.mtu_bytes,
            frame_bytes=self.frame_bytes,
            delay_ns=self.delay,
            quanta=self.quanta,
        )

    def cable_term(self, factor: float = 1.0) -> Term:
        """The bytes of the cable, ``factor`` times."""
        return cable_part(self.speed_mbps, self.cable_m, factor)

    def frame_term(self, frame_bytes: int | None = None) -> Term:
        size = self.frame_bytes if frame_bytes is None else frame_bytes
        return Term("lossless frame", f"{size:,} B: the peer had begun it", float(size))

    def delay_term(self, delay_ns: float) -> Term:
        return Term("local delay", f"{delay_ns:g} ns x {per_s(self.rate)}", delay_ns * 1e-9 * self.rate)

    def reaction_term(self) -> Term:
        return _reaction_part(self.quanta)

    def port_terms(self) -> tuple[Term, ...]:
        """Port frame and pause frame: what goes out before the peer can know."""
        return (
            Term("port frame", f"{self.mtu_bytes:,} B: XOFF waits behind it", float(self.mtu_bytes)),
            Term("pause frame", "64 B + preamble 8 + gap 12", float(wire.PAUSE_BYTES)),
        )

    def physical_terms(self) -> tuple[Term, ...]:
        """The parts of the physical floor: cable and reaction, or the two frames where they are more."""
        return floor_parts(self.speed_mbps, self.cable_m, self.mtu_bytes, self.frame_bytes, self.quanta)

    def wire_terms(self) -> tuple[Term, ...]:
        """The parts of the wire floor: the canonical sum with every byte once."""
        return (
            self.frame_term(),
            *self.port_terms(),
            self.cable_term(),
            self.delay_term(self.delay),
            self.reaction_term(),
        )

    def cable_step(self) -> str:
        return (
            f"cable: 2 x {self.cable_m:g} m x {self.rate:.4g} B/s / {wire.LIGHT_M_PER_S:.3g} m/s = {self.flight:,.0f} B"
        )

    def place(self) -> str:
        return f"{show_speed(self.speed_mbps)} at {self.cable_m:g} m"


def cable_part(speed_mbps: int, cable_m: float, factor: float = 1.0) -> Term:
    times = f"f {factor:g} x " if factor != 1 else ""
    words = f"{times}2 x {cable_m:g} m x {per_s(wire.rate_bytes_per_s(speed_mbps))} / {_LIGHT}"
    return Term("cable, both ways", words, factor * wire.cable_round_trip_bytes(speed_mbps, cable_m))


def _reaction_part(quanta: int) -> Term:
    return Term("peer reaction", f"{quanta} quanta x 64 B (802.3 31B.3.7)", float(quanta * wire.QUANTUM_BYTES))


def floor_parts(speed_mbps: int, cable_m: float, mtu_bytes: int, frame_bytes: int, quanta: int) -> tuple[Term, ...]:
    """The parts of :func:`physical_bytes`: cable and reaction, or the two frames where they are more."""
    waiting = (cable_part(speed_mbps, cable_m), _reaction_part(quanta))
    frames = (
        Term("port frame", f"{mtu_bytes:,} B", float(mtu_bytes)),
        Term("lossless frame", f"{frame_bytes:,} B", float(frame_bytes)),
    )
    return max(waiting, frames, key=total)


def total(terms: tuple[Term, ...]) -> float:
    return sum(term.size_bytes for term in terms)


def sum_step(name: str, terms: tuple[Term, ...], value: int) -> str:
    """``floor: cable 2,525 + peer reaction 57,920 (905 quanta x 64 B) = 60,446 B``."""
    parts = " + ".join(
        f"{term.name.removesuffix(', both ways')} {term.size_bytes:,.0f}"
        + (f" ({term.formula.split(' (')[0]})" if "quanta" in term.formula else "")
        for term in terms
    )
    return f"{name}: {parts} = {value:,} B"


def per_s(rate: float) -> str:
    return f"{rate / 1e9:g} GB/s"


def inflated(factor: float, because: str, waits: tuple[Term, ...]) -> tuple[Term, ...]:
    """Wire bytes as they are, then in one line what cells add to them."""
    waits = tuple(term for term in waits if term.size_bytes)
    size = total(waits)
    words = f"({_enough(factor, size)} - 1) x {size:,.0f} B: {because}"
    return (*waits, Term("cell inflation", words, (factor - 1) * size))


def _enough(factor: float, size: float) -> str:
    """The factor with as many digits as give the same whole bytes when the product is made by hand."""
    shown = (f"{factor:.{digits}g}" for digits in range(4, 16))
    return next((text for text in shown if abs(float(text) - factor) * size < 0.5), f"{factor:.15g}")


def rounding_of(cell: int, exact: float) -> str:
    value = round_up(exact, cell)
    return f"up to {value // cell} cells of {cell} B" if cell > 1 else "up to whole bytes: cell size not published"

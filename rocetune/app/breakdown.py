"""The parts of a headroom, line by line: term, formula, bytes.

The number itself comes from :mod:`rocetune.tuning.headroom`; here its parts are laid out so that they add up to it.
Should they not (a rule this page does not know), the derivation of the number stands alone: nothing is invented.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocetune.model.units import show_speed
from rocetune.report.answers import Port, Term
from rocetune.tuning import wire
from rocetune.tuning.asics import Fit, Parts
from rocetune.tuning.cells import nvidia_worst, wire_worst
from rocetune.tuning.families import Lines
from rocetune.tuning.headroom import LOCAL_DELAY_NS, VOQ_CELL_BYTES, Headroom
from rocetune.tuning.published import PublishedTable, Row

_KIB = 1024
TABLE_MTU = 9216  # what published tables and presets were made for


@dataclass(frozen=True, slots=True)
class Basis:
    """What a headroom was computed from, beside the port. None: not said."""

    quanta: int
    cell_bytes: int | None = None
    delay_ns: float | None = None
    row: tuple[PublishedTable, Row] | None = None  # of the table that decided


def terms_of(port: Port, result: Headroom, basis: Basis) -> list[Term]:
    """The parts of a result, bounds and rounding included. Empty where they do not add up to it."""
    if result.method == "table":
        return _closed([_of_row(*basis.row)], port, result) if basis.row is not None else []
    found = [parts for parts in _candidates(port, basis, result.method) if parts]
    parts = max(found, key=lambda item: sum(term.size_bytes for term in item), default=[])
    return _closed(parts, port, result) if parts else []


def floor_terms(port: Port, quanta: int) -> list[Term]:
    """What no rule may go below: the cable and the peer's reaction, at least two frames."""
    reaction = quanta * wire.QUANTUM_BYTES
    waiting = [_cable(port), Term("peer reaction", f"{quanta} quanta x 64 B", float(reaction))]
    frames = [
        Term("port frame", f"{port.mtu_bytes:,} B", float(port.mtu_bytes)),
        Term("lossless frame", f"{port.frame_bytes:,} B", float(port.frame_bytes)),
    ]
    return max(waiting, frames, key=lambda terms: sum(term.size_bytes for term in terms))


def _closed(parts: list[Term], port: Port, result: Headroom) -> list[Term]:
    """The parts with what leads from their sum to the result: a bound that was active, then whole cells."""
    rest = result.headroom_bytes - sum(part.size_bytes for part in parts)
    cell = (port.asic.cell_bytes if port.asic else None) or 1
    if abs(rest) < 0.5:
        return parts
    if result.why.bounds and (rest > cell or rest < 0):
        return [*parts, Term("bound", result.why.bounds[-1], rest)]
    if not 0 <= rest <= _KIB + max(cell, VOQ_CELL_BYTES):
        return []
    return [*parts, Term("rounding", result.why.rounding or "up to whole bytes", rest)]


def _of_row(table: PublishedTable, row: Row) -> Term:
    return Term("published row", f"{table.name}: {show_speed(row.speed_mbps)} at {row.cable_m:g} m", row.xoff_bytes)


def _candidates(port: Port, basis: Basis, method: str) -> Iterator[list[Term]]:
    """Each rule that may have decided; the largest does."""
    cell = basis.cell_bytes or (port.asic.cell_bytes if port.asic else None)
    small = cell if cell and (basis.cell_bytes or cell < VOQ_CELL_BYTES) else None
    if method == "canonical":
        if small:
            yield _of_sum(port, small, basis.quanta, LOCAL_DELAY_NS if basis.delay_ns is None else basis.delay_ns)
        return
    for family in port.asic.presets_for(port.model) if port.asic is not None else ():
        preset = family.preset
        if isinstance(preset, Fit):
            yield [*_of_fit(port, preset), *_jumbo(port, small)]
        elif isinstance(preset, Lines):
            yield [*_of_lines(port, preset), *_jumbo(port, small)]
        elif small:
            yield _of_parts(port, preset, small, basis)


def _of_fit(port: Port, fit: Fit) -> list[Term]:
    rate, flight = _rate(port), _flight(port)
    fixed, cable = fit.fixed_us * 1e-6 * rate, fit.wire_factor * flight
    bare = fit.base_bytes + fixed + cable
    parts = [
        Term("base", "frames and pipeline, fitted", fit.base_bytes),
        Term("fixed time", f"t0 {fit.fixed_us:g} us x {_per_s(rate)}", fixed),
        Term("cable, both ways", f"f {fit.wire_factor:g} x {_cable(port).formula}", cable),
    ]
    if fit.error_percent:
        share = 1 - fit.error_percent / 100
        parts.append(Term("error of the fit", f"up to {fit.error_percent:g} %: / {share:g}", bare / share - bare))
    return parts


def _of_lines(port: Port, lines: Lines) -> list[Term]:
    exact, line = lines.bytes_at(port.speed_mbps, port.cable_m)
    own = wire.cable_round_trip_bytes(line.speed_mbps, port.cable_m)
    _, factor = max(line.pieces, key=lambda piece: piece[0] + piece[1] * own)
    at = f"2 x {port.cable_m:g} m x {_per_s(wire.rate_bytes_per_s(line.speed_mbps))} / {_LIGHT}"
    return [
        Term("base", f"line of {show_speed(line.speed_mbps)}, fitted", exact - factor * own),
        Term("cable, both ways", f"f {factor:g} x {at}", factor * own),
    ]


def _of_parts(port: Port, parts: Parts, cell: int, basis: Basis) -> list[Term]:
    gearbox = port.asic.gearbox(port.model) if port.asic else 0.0
    delay_ns = parts.delay_ns + 2 * gearbox if basis.delay_ns is None else basis.delay_ns
    worst = basis.cell_bytes is not None or parts.factor is None
    factor = nvidia_worst(cell) if worst or parts.factor is None else parts.factor
    because = f"cell {cell} B, all packets small" if worst else "as the table's small-packet share has it"
    limit = basis.quanta * wire.QUANTUM_BYTES
    response = limit if parts.response_bytes is None else parts.response_bytes
    reply = f"{basis.quanta} quanta x 64 B" if parts.response_bytes is None else f"{response:,.1f} B"
    frame = max(port.frame_bytes, parts.frame_bytes)
    inside = [
        Term("port frame", f"{port.mtu_bytes:,} B", float(port.mtu_bytes)),
        _cable(port),
        Term("local delay", f"{delay_ns:g} ns x {_per_s(_rate(port))}", delay_ns * 1e-9 * _rate(port)),
        Term("MAC and PHY", f"{parts.mac_phy_bytes:g} B", parts.mac_phy_bytes),
        Term("peer reaction", reply, float(response)),
    ]
    return [_frame(frame), *_inflated(factor, because, inside)]


def _of_sum(port: Port, cell: int, quanta: int, delay_ns: float) -> list[Term]:
    rate = _rate(port)
    inside = [
        Term("port frame", f"{port.mtu_bytes:,} B: XOFF waits behind it", float(port.mtu_bytes)),
        Term("pause frame", "64 B + preamble 8 + gap 12", float(wire.PAUSE_BYTES)),
        _cable(port),
        Term("local delay", f"{delay_ns:g} ns x {_per_s(rate)}", delay_ns * 1e-9 * rate),
        Term("peer reaction", f"{quanta} quanta x 64 B (802.3 31B.3.7)", float(quanta * wire.QUANTUM_BYTES)),
    ]
    return [_frame(port.frame_bytes), *_inflated(wire_worst(cell), f"64 B frames in {cell} B cells", inside)]


def _inflated(factor: float, because: str, inside: Iterable[Term]) -> list[Term]:
    """Wire bytes as they are, then in one line what cells add to them."""
    inside = [term for term in inside if term.size_bytes]
    total = sum(term.size_bytes for term in inside)
    return [*inside, Term("cell inflation", f"({factor:.4g} - 1) x {total:,.0f} B: {because}", (factor - 1) * total)]


def _jumbo(port: Port, cell: int | None) -> list[Term]:
    """What a port MTU above that of the tables adds."""
    more = port.mtu_bytes - TABLE_MTU
    if more <= 0 or cell is None:
        return []
    factor = wire_worst(cell)
    return [Term("larger frames", f"{factor:.4g} x ({port.mtu_bytes:,} - {TABLE_MTU:,}) B", factor * more)]


def _frame(frame_bytes: int) -> Term:
    return Term("lossless frame", f"{frame_bytes:,} B: the peer had begun it", float(frame_bytes))


_LIGHT = f"{wire.LIGHT_M_PER_S / 1e8:g}e8 m/s"


def _cable(port: Port) -> Term:
    return Term("cable, both ways", f"2 x {port.cable_m:g} m x {_per_s(_rate(port))} / {_LIGHT}", _flight(port))


def _rate(port: Port) -> float:
    return wire.rate_bytes_per_s(port.speed_mbps)


def _flight(port: Port) -> float:
    return wire.cable_round_trip_bytes(port.speed_mbps, port.cable_m)


def _per_s(rate: float) -> str:
    return f"{rate / 1e9:g} GB/s"

"""The parts of a headroom, line by line: term, formula, bytes.

The number itself comes from :mod:`rocetune.tuning.headroom`; here its parts are laid out so that they add up to it.
Should they not (a rule this page does not know), the derivation of the number stands alone: nothing is invented.
"""

from __future__ import annotations

from collections.abc import Iterable

from rocetune.report.answers import Port, Term
from rocetune.tuning import wire
from rocetune.tuning.asics import Fit, Parts
from rocetune.tuning.cells import nvidia_worst, wire_worst
from rocetune.tuning.headroom import LOCAL_DELAY_NS, VOQ_CELL_BYTES, Headroom

_KIB = 1024


def terms_of(port: Port, result: Headroom, quanta: int, cell_bytes: int | None, delay_ns: float | None) -> list[Term]:
    """The parts of a result, rounding and floor included. Empty where the parts do not add up to it."""
    cell = cell_bytes or (port.asic.cell_bytes if port.asic else None)
    if result.method == "preset" and port.asic is not None:
        preset = port.asic.preset
        parts = _of_fit(port, preset) if isinstance(preset, Fit) else None
        if isinstance(preset, Parts) and cell:
            parts = _of_parts(port, preset, cell, quanta)
    elif result.method == "canonical" and cell and cell < VOQ_CELL_BYTES:
        parts = _of_sum(port, cell, quanta, LOCAL_DELAY_NS if delay_ns is None else delay_ns)
    else:
        parts = None
    return _closed(parts or [], result, cell or 1)


def floor_terms(port: Port, quanta: int) -> list[Term]:
    """What physics puts on the wire after XOFF, each byte taking one byte of buffer."""
    return _wire_terms(port, quanta, LOCAL_DELAY_NS)


def _closed(parts: list[Term], result: Headroom, cell: int) -> list[Term]:
    """The parts with what lifts them to the result: the physical floor, then whole cells."""
    if not parts:
        return []
    total = sum(part.size_bytes for part in parts)
    floor = result.physical_bytes
    if total < floor:
        parts.append(Term("raised to the floor", f"{floor:,} B that can be on the wire", floor - total))
        total = floor
    rest = result.headroom_bytes - total
    if not -0.5 <= rest <= _KIB + cell:
        return []
    if rest > 1e-6:
        parts.append(Term("rounding", result.why.rounding or "up to whole bytes", rest))
    return parts


def _of_fit(port: Port, fit: Fit) -> list[Term]:
    rate, flight = _rate(port), _flight(port)
    fixed, cable = fit.fixed_us * 1e-6 * rate, fit.wire_factor * flight
    bare = fit.base_bytes + fixed + cable
    parts = [
        Term("base", "frames and pipeline, fitted", fit.base_bytes),
        Term("fixed time", f"t0 {fit.fixed_us:g} us x {_per_s(rate)}", fixed),
        Term("cable, both ways", f"f {fit.wire_factor:g} x {_cable_words(port)}", cable),
    ]
    if fit.error_percent:
        share = 1 - fit.error_percent / 100
        parts.append(Term("error of the fit", f"up to {fit.error_percent:g} %: / {share:g}", bare / share - bare))
    return parts


def _of_parts(port: Port, parts: Parts, cell: int, quanta: int) -> list[Term]:
    factor = nvidia_worst(cell)
    gearbox = port.asic.gearbox(port.model) if port.asic else 0.0
    delay_ns = parts.delay_ns + 2 * gearbox
    limit = quanta * wire.QUANTUM_BYTES
    response = limit if parts.response_bytes is None else parts.response_bytes
    reply = f"{quanta} quanta x 64 B" if parts.response_bytes is None else f"{response:,.1f} B"
    inside = [
        ("port frame", f"{port.mtu_bytes:,} B", float(port.mtu_bytes)),
        ("cable, both ways", _cable_words(port), _flight(port)),
        ("local delay", f"{delay_ns:g} ns x {_per_s(_rate(port))}", delay_ns * 1e-9 * _rate(port)),
        ("MAC and PHY", f"{parts.mac_phy_bytes:g} B", parts.mac_phy_bytes),
        ("peer reaction", reply, float(response)),
    ]
    return [_frame(port), *_inflated(factor, f"cell {cell} B / 64", inside)]


def _of_sum(port: Port, cell: int, quanta: int, delay_ns: float) -> list[Term]:
    first, *rest = _wire_terms(port, quanta, delay_ns)
    return [first, *_inflated(wire_worst(cell), f"64 B frames in {cell} B cells", _bare(rest))]


def _wire_terms(port: Port, quanta: int, delay_ns: float) -> list[Term]:
    rate = _rate(port)
    return [
        _frame(port),
        Term("port frame", f"{port.mtu_bytes:,} B: XOFF waits behind it", float(port.mtu_bytes)),
        Term("pause frame", "64 B + preamble 8 + gap 12", float(wire.PAUSE_BYTES)),
        Term("cable, both ways", _cable_words(port), _flight(port)),
        Term("local delay", f"{delay_ns:g} ns x {_per_s(rate)}", delay_ns * 1e-9 * rate),
        Term("peer reaction", f"{quanta} quanta x 64 B (802.3 31B.3.7)", float(quanta * wire.QUANTUM_BYTES)),
    ]


def _bare(terms: Iterable[Term]) -> list[tuple[str, str, float]]:
    return [(term.name, term.formula, term.size_bytes) for term in terms]


def _inflated(factor: float, because: str, inside: Iterable[tuple[str, str, float]]) -> list[Term]:
    """Wire bytes as they are, then in one line what cells add to them."""
    inside = [item for item in inside if item[2]]
    total = sum(size for _, _, size in inside)
    added = Term("cell inflation", f"({factor:.4g} - 1) x {total:,.0f} B: {because}", (factor - 1) * total)
    return [*(Term(*item) for item in inside), added]


def _frame(port: Port) -> Term:
    return Term("lossless frame", f"{port.frame_bytes:,} B: the peer had begun it", float(port.frame_bytes))


def _cable_words(port: Port) -> str:
    return f"2 x {port.cable_m:g} m x {_per_s(_rate(port))} / {wire.LIGHT_M_PER_S / 1e8:g}e8 m/s"


def _rate(port: Port) -> float:
    return wire.rate_bytes_per_s(port.speed_mbps)


def _flight(port: Port) -> float:
    return wire.cable_round_trip_bytes(port.speed_mbps, port.cable_m)


def _per_s(rate: float) -> str:
    return f"{rate / 1e9:g} GB/s"

"""PFC headroom of one (port, priority): the bytes that still arrive after XOFF was sent.

In this order: the platform's own table (a user's before the published one); the preset of its family; that of its
chip; the canonical sum with the worst factor that the chip's cells can have; else a refusal. Whichever is used, the
result is never less than what the cable holds plus the reaction time that IEEE 802.3 allows the peer, nor less than
the platform's own table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rocetune.model.plan import Why
from rocetune.model.units import show_speed
from rocetune.tuning import wire
from rocetune.tuning.asics import Asic, Fit, Parts, table
from rocetune.tuning.cells import nvidia_worst, round_up, wire_worst
from rocetune.tuning.families import Family
from rocetune.tuning.headroom_sums import LOCAL_DELAY_NS, canonical_bytes, fit_bytes, parts_bytes, physical_bytes
from rocetune.tuning.own_table import LookUp, look_up, range_of
from rocetune.tuning.published import EmptyTable, PublishedTable

__all__ = [
    "LOCAL_DELAY_NS",
    "EmptyTable",
    "Headroom",
    "canonical_bytes",
    "fit_bytes",
    "headroom",
    "parts_bytes",
    "physical_bytes",
]

Method = Literal["table", "preset", "canonical", "generic"]

VOQ_CELL_BYTES = 1024  # larger "cells" are blocks of deep-buffer chips that hold several packets
_TABLE_MTU = 9216  # the port MTU that tables and presets were made for
_REACTION = "IEEE 802.3 31B.3.7, as listed in SONiC's dynamic headroom design"


@dataclass(frozen=True, slots=True)
class Headroom:
    """``headroom_bytes``, and ``physical_bytes``, the floor that no rule may go below (see :func:`physical_bytes`).

    A computed value is in whole cells where the chip's cell is known; a table's row is as its vendor wrote it.
    """

    headroom_bytes: int
    physical_bytes: int
    method: Method
    why: Why


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
) -> Headroom:
    """The headroom a port should have.

    ``model`` is the switch model or SONiC hardware SKU, ``table`` a user's own table; ``lookup=False`` leaves the
    published tables out (their presets stay). ``at_800g`` 905 reproduces SONiC at 800G. ``cell_bytes`` overrides the
    chip's cell, ``delay_ns`` the MAC, PHY, FEC and gearbox delay of both directions. ``assume_worst`` gives the most
    demanding known chip where nothing is known of the chip. Raises ValueError for a value that cannot be, and where
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
    work = _Work(speed_mbps, cable_m, mtu_bytes, frame_bytes, quanta, at_800g, asic, model, cell_bytes, delay_ns, known)
    if known.empty is not None and delay_ns is None:
        raise EmptyTable(
            f"{model}: the platform ships an empty table ({known.empty.source}), so SONiC creates no lossless priority "
            f"group there: give a table or a headroom of yours, or leave the published tables out"
        )
    made = None if delay_ns is not None else _from_table(work)
    made = made or _computed(work, floor, assume_worst)
    inputs = (
        ("speed_mbps", speed_mbps),
        ("cable_m", cable_m),
        ("mtu_bytes", mtu_bytes),
        ("frame_bytes", frame_bytes),
        ("reaction_quanta", quanta),
        ("asic", asic.name if asic else "unknown"),
        *((("model", model),) if model else ()),
    )
    notes = (*work.notes(), *made.notes)
    steps = (*notes, *made.steps, f"= {made.exact:,.0f} B -> {made.value:,} B")
    why = Why(f"headroom.{made.method}", inputs, steps, made.bounds, made.rounding, made.source)
    return Headroom(made.value, floor, made.method, why)


@dataclass(frozen=True, slots=True)
class _Made:
    exact: float
    method: Method
    steps: tuple[str, ...]
    source: str
    value: int = 0
    bounds: tuple[str, ...] = ()
    rounding: str = ""
    notes: tuple[str, ...] = ()
    partial: bool = False  # a flat table, asked beyond its longest cable


@dataclass(frozen=True, slots=True)
class _Work:
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
    known: LookUp

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
    def jumbo(self) -> float:
        """What a port MTU above that of the tables adds to them."""
        more = max(0, self.mtu_bytes - _TABLE_MTU)
        return more * wire_worst(self.small_cell or table().widest_cell()) if more else 0.0

    def floor_of(self, speed_mbps: int, cable_m: float) -> int:
        quanta = wire.reaction_quanta(speed_mbps, self.at_800g)
        return physical_bytes(
            speed_mbps, cable_m, mtu_bytes=self.mtu_bytes, frame_bytes=self.frame_bytes, quanta=quanta
        )

    def cable_step(self) -> str:
        return (
            f"cable: 2 x {self.cable_m:g} m x {self.rate:.4g} B/s / {wire.LIGHT_M_PER_S:.3g} m/s = {self.flight:,.0f} B"
        )

    def floor_step(self, floor: int) -> str:
        reaction = self.quanta * wire.QUANTUM_BYTES
        return (
            f"floor: cable {self.flight:,.0f} + peer reaction {self.quanta} quanta x 64 B {reaction:,} = "
            f"{self.flight + reaction:,.0f} B, and at least two frames {self.mtu_bytes:,} + {self.frame_bytes:,}: "
            f"{floor:,} B"
        )

    def notes(self) -> tuple[str, ...]:
        """What every number of this speed or chip should be read with."""
        found: list[str] = []
        if self.speed_mbps >= 800_000:
            found.append(
                f"peer reaction at {show_speed(self.speed_mbps)}: {self.quanta} quanta. IEEE 802.3df was not at hand: "
                f"1810 at 800G keeps the time of 400G, SONiC's formula uses 905 (NVIDIA's table for SN6600 1810)"
            )
        if self.jumbo:
            found.append(
                f"port MTU {self.mtu_bytes:,} B is above the {_TABLE_MTU:,} B of tables: + {self.jumbo:,.0f} B"
            )
        if self.asic is not None and not self.known.own:
            spread = range_of(self.asic.key, self.speed_mbps, self.cable_m)
            if spread:
                found.append(spread)
        return tuple(found)


def _from_table(work: _Work) -> _Made | None:
    """The platform's own row, or None where its table ends or it has none."""
    found = work.known.row(work.speed_mbps, work.cable_m)
    if found is None:
        return None
    own, row = found
    steps = [f"{own.name}: {show_speed(row.speed_mbps)} at {row.cable_m:g} m has xoff {row.xoff_bytes:,} B"]
    bounds: list[str] = []
    if row.speed_mbps != work.speed_mbps:
        steps.insert(0, f"{work.cable_m:g} m is not listed, and a faster port has less than the next longer cable")
    elif row.cable_m != work.cable_m:
        steps.insert(0, f"{work.cable_m:g} m is not listed: the next longer one is {row.cable_m:g} m")
    steps = [*work.known.steps(), *steps]
    exact = float(row.xoff_bytes)
    least = work.known.dominated(work.speed_mbps, work.cable_m)
    if least is not None and least.xoff_bytes > exact:
        text = f"{show_speed(least.speed_mbps)} at {least.cable_m:g} m has {least.xoff_bytes:,} B in the same table"
        if row.cable_m == work.cable_m:
            bounds.append(f"{text}: this row is smaller, and is taken as it stands")
        else:
            bounds.append(f"raised: {text}")
            exact = float(least.xoff_bytes)
    exact += work.jumbo
    floor = work.floor_of(work.speed_mbps, work.cable_m)
    rounding = "none: a published row is taken as it stands"
    value = round_up(exact, 1)
    if value < floor:
        cell = _rounding_cell(work)
        steps.append(work.floor_step(floor))
        bounds.append(f"the row of {row.xoff_bytes:,} B is raised to the physical floor of {floor:,} B")
        exact, value, rounding = float(floor), round_up(floor, cell), _rounding(cell, floor)
    if own.note and not work.known.steps():
        steps.insert(0, f"note: {own.note}")
    return _Made(exact, "table", tuple(steps), own.source, value, tuple(bounds), rounding)


def _computed(work: _Work, floor: int, assume_worst: bool) -> _Made:
    """A preset or a sum, rounded to cells, not below the floor, and between the rows of the platform's own table."""
    made = max(_candidates(work, assume_worst), key=lambda item: item.exact)
    steps, exact = made.steps, made.exact
    bounds: tuple[str, ...] = ()
    if exact < floor:
        steps = (*steps, work.floor_step(floor))
        bounds = (f"raised to the physical floor of {floor:,} B",)
        exact = float(floor)
    cell = _rounding_cell(work)
    value, rounding = round_up(exact, cell), _rounding(cell, exact)
    low = work.known.dominated(work.speed_mbps, work.cable_m)
    highs = work.known.dominating(work.speed_mbps, work.cable_m)
    most = min(
        (max(row.xoff_bytes, round_up(work.floor_of(row.speed_mbps, row.cable_m), cell)) for row in highs), default=None
    )
    if most is not None and work.delay_ns is None and value > most + round_up(work.jumbo, 1):
        value = round_up(most + work.jumbo, 1)
        bounds = (*bounds, f"not above {most:,} B, a row of the platform's own table for more speed or length")
        rounding, exact = "none: a published row is taken as it stands", float(value)
    if low is not None:
        least = round_up(low.xoff_bytes + work.jumbo, 1)
        if value < least:
            where = f"{show_speed(low.speed_mbps)} at {low.cable_m:g} m"
            bounds = (*bounds, f"raised to {least:,} B, the row of the table for {where}")
            value, rounding, exact = least, "none: a published row is taken as it stands", float(least)
    return _Made(exact, made.method, steps, made.source, value, bounds, rounding, work.known.steps())


def _rounding(cell: int, exact: float) -> str:
    value = round_up(exact, cell)
    return f"up to {value // cell} cells of {cell} B" if cell > 1 else "up to whole bytes: cell size not published"


def _candidates(work: _Work, assume_worst: bool) -> list[_Made]:
    """All values of which the largest counts. Raises ValueError where nothing is known that could give one."""
    asic = work.asic
    found = list(_from_presets(work, asic)) if asic is not None else []
    sure = asic is not None and asic.reference is not None and any(not item.partial for item in found)
    if not sure and work.small_cell is not None:
        found.append(_from_sum(work, work.small_cell))
    if found:
        return found
    if assume_worst:
        return _from_worst(work)
    if asic is None:
        what = f"model {work.model!r} belongs to no known chip" if work.model else "neither chip nor cell size is known"
        raise ValueError(
            f"{what}: name the ASIC, as in Tomahawk 3, or give the size of its buffer cells, as in 254 bytes"
        )
    reason = (
        "a local delay needs the canonical sum, and the" if work.delay_ns is not None else "no table or preset; the"
    )
    raise ValueError(f"{asic.name}: {reason} size of its buffer cells is not known: give it, as in 254 bytes")


def _from_presets(work: _Work, asic: Asic) -> Iterator[_Made]:
    """Presets of the family, or the chip's."""
    for family in asic.presets_for(work.model):
        preset = family.preset
        if isinstance(preset, Parts):
            if work.small_cell is not None:
                yield _from_parts(work, asic, family, preset, work.small_cell)
        elif work.delay_ns is not None:
            continue  # its fixed time holds a share of the delay that nobody knows
        elif isinstance(preset, Fit):
            yield _from_fit(work, asic, preset)
        else:
            # A preset that is borrowed from another chip says nothing of speeds which that chip does not have.
            borrowed = asic.reference is None and not family.fallback
            most = preset.lines[-1].speed_mbps if borrowed else work.speed_mbps
            exact, line = preset.bytes_at(min(work.speed_mbps, most), work.cable_m)
            pieces = " or ".join(f"{base:,.0f} + {factor:g} x cable" for base, factor in line.pieces)
            grown = max(1.0, asic.lent(family, work.model)) if borrowed else 1.0
            exact *= grown
            steps = (
                f"{asic.name} preset {family.name}, line of {show_speed(line.speed_mbps)}: {pieces}",
                work.cable_step(),
                *((f"lent by a chip with smaller cells: x {grown:.4g}",) if grown > 1 else ()),
                f"{family.name}: the largest line up to this speed gives {exact:,.1f} B",
            )
            source = f"fitted to {', '.join(family.tables)}"
            beyond = not preset.covers(work.cable_m)
            yield _Made(exact + work.jumbo, "preset", steps, source, partial=beyond)


def _from_fit(work: _Work, asic: Asic, fit: Fit) -> _Made:
    bare = fit_bytes(work.speed_mbps, work.cable_m, fit)
    exact = bare / (1 - fit.error_percent / 100)
    fixed = fit.fixed_us * 1e-6 * work.rate
    steps = (
        f"{asic.name} preset: xoff = base + t0 x R + f x cable",
        f"t0: {fit.fixed_us:g} us x {work.rate:.4g} B/s = {fixed:,.0f} B",
        work.cable_step(),
        f"{fit.base_bytes:,.0f} + {fixed:,.0f} + {fit.wire_factor:g} x {work.flight:,.0f} = {bare:,.1f} B",
        f"fit error up to {fit.error_percent:g} %: / {1 - fit.error_percent / 100:g} = {exact:,.1f} B",
    )
    return _Made(exact + work.jumbo, "preset", steps, f"fitted to {asic.preset_table}")


def _from_parts(work: _Work, asic: Asic, family: Family, parts: Parts, cell: int) -> _Made:
    gearbox = asic.gearbox(work.model)
    delay_ns = parts.delay_ns + 2 * gearbox if work.delay_ns is None else work.delay_ns
    if work.cell_bytes is not None or parts.factor is None:
        factor, because = nvidia_worst(cell), f"cell {cell} B, all packets small"
    else:
        factor, because = parts.factor, family.note or family.name
    frame, mtu = max(work.frame_bytes, parts.frame_bytes), work.mtu_bytes
    used = Parts(parts.mac_phy_bytes, parts.response_bytes, delay_ns, factor)
    exact = parts_bytes(work.speed_mbps, work.cable_m, used, cell, mtu_bytes=mtu, frame_bytes=frame, quanta=work.quanta)
    response = work.quanta * wire.QUANTUM_BYTES if parts.response_bytes is None else parts.response_bytes
    delay = delay_ns * 1e-9 * work.rate
    steps = (
        "xoff = lossless frame + F x (port MTU + cable + local delay + MAC/PHY + peer response), up to 1 KiB",
        f"F: {because}: {factor:.4g}",
        work.cable_step(),
        f"local delay: {delay_ns:g} ns = {delay:,.0f} B; MAC/PHY {parts.mac_phy_bytes:g} B; peer {response:,.1f} B",
        f"{frame} + {factor:.4g} x ({mtu} + {work.flight:,.0f} + {delay:,.0f} + {parts.mac_phy_bytes:g} + "
        f"{response:,.1f}) -> {exact:,} B",
    )
    tables = ", ".join(family.tables) or asic.preset_table
    return _Made(float(exact), "preset", steps, f"SONiC's NVIDIA formula; {tables}")


def _from_sum(work: _Work, cell: int, of_what: str = "of this chip", method: Method = "canonical") -> _Made:
    factor = wire_worst(cell)
    delay_ns = LOCAL_DELAY_NS if work.delay_ns is None else work.delay_ns
    exact = canonical_bytes(
        work.speed_mbps,
        work.cable_m,
        factor=factor,
        mtu_bytes=work.mtu_bytes,
        frame_bytes=work.frame_bytes,
        delay_ns=delay_ns,
        quanta=work.quanta,
    )
    delay = delay_ns * 1e-9 * work.rate
    reaction = work.quanta * wire.QUANTUM_BYTES
    steps = (
        "H = M_ll + F x (M_port + pause frame + cable + local delay + peer reaction)",
        f"F: cell {cell} B ({of_what}), 64 B frames: {factor:.4g}",
        work.cable_step(),
        f"local delay: {delay_ns:g} ns = {delay:,.0f} B",
        f"peer reaction at {show_speed(work.speed_mbps)}: {work.quanta} quanta x 64 B = {reaction:,} B",
        f"{work.frame_bytes} + {factor:.4g} x ({work.mtu_bytes} + {wire.PAUSE_BYTES} + {work.flight:,.0f} + "
        f"{delay:,.0f} + {reaction:,}) = {exact:,.0f} B",
    )
    return _Made(exact, method, steps, f"canonical sum; {_REACTION}")


def _from_worst(work: _Work) -> list[_Made]:
    """An unknown chip: the canonical sum with the widest cell, or the most that any known chip of the speed needs."""
    found = [_from_sum(work, table().widest_cell(), "the largest of any chip in the table", "generic")]
    for asic in table():
        fast_enough = asic.port_gbps is None or asic.port_gbps * 1000 >= work.speed_mbps
        if not fast_enough or not asic.presets_for(None):
            continue
        for made in _from_presets(work, asic):
            steps = ("unknown chip: the most demanding known one of this speed is taken", *made.steps)
            found.append(_Made(made.exact, "generic", steps, made.source))
    return found


def _rounding_cell(work: _Work) -> int:
    if work.cell_bytes is not None:
        return work.cell_bytes
    return table().widest_cell() if work.asic is None else work.asic.cell_bytes or 1

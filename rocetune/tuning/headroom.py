"""PFC headroom of one (port, priority): the bytes that still arrive after XOFF was sent.

Two ways lead to the number: a preset fitted to the table that the platform's vendor publishes, or the canonical
sum with the worst factor that cells can have. Whichever is used, the result is never less than what physics puts on
the cable plus the reaction time that IEEE 802.3 allows the peer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rocetune.model.plan import Why
from rocetune.model.units import show_speed
from rocetune.tuning import wire
from rocetune.tuning.asics import Asic, Fit, Parts, table
from rocetune.tuning.cells import nvidia_worst, round_up, wire_worst

Method = Literal["preset", "canonical", "generic"]

LOCAL_DELAY_NS = 200.0  # D: MAC, PHY and FEC of both directions where no preset says more
VOQ_CELL_BYTES = 1024  # larger "cells" are blocks of deep-buffer chips that hold several packets
_REGISTER_BYTES = 1024  # granularity of NVIDIA's calculation
_REACTION = "IEEE 802.3 31B.3.7, as listed in SONiC's dynamic headroom design"


@dataclass(frozen=True, slots=True)
class Headroom:
    """``headroom_bytes`` is in whole cells; ``physical_bytes`` is the floor that no rule may go below."""

    headroom_bytes: int
    physical_bytes: int
    method: Method
    why: Why


def canonical_bytes(
    speed_mbps: int,
    cable_m: float,
    *,
    factor: float,
    mtu_bytes: int = 9216,
    frame_bytes: int = 4178,
    delay_ns: float = LOCAL_DELAY_NS,
    quanta: int | None = None,
) -> float:
    """``M_ll + F * (M_port + P + 2LR/v + D*R + Q*64)`` in bytes, not rounded.

    ``factor`` F is the cell inflation, ``frame_bytes`` M_ll one lossless frame with its gap, ``mtu_bytes`` M_port
    the largest frame of any class, D the local delay, Q the peer's reaction (default: the limit of the speed).
    """
    rate = wire.rate_bytes_per_s(speed_mbps)
    reaction = (wire.reaction_quanta(speed_mbps) if quanta is None else quanta) * wire.QUANTUM_BYTES
    flight = wire.cable_round_trip_bytes(speed_mbps, cable_m)
    return frame_bytes + factor * (mtu_bytes + wire.PAUSE_BYTES + flight + delay_ns * 1e-9 * rate + reaction)


def parts_bytes(
    speed_mbps: int,
    cable_m: float,
    parts: Parts,
    cell_bytes: int,
    *,
    mtu_bytes: int = 9100,
    frame_bytes: int = 1024,
    gearbox_ns: float = 0.0,
    quanta: int | None = None,
) -> int:
    """NVIDIA's sum, rounded up to 1 KiB. The defaults are those with which the published tables were made."""
    rate = wire.rate_bytes_per_s(speed_mbps)
    limit = (wire.reaction_quanta(speed_mbps) if quanta is None else quanta) * wire.QUANTUM_BYTES
    response = limit if parts.response_bytes is None else parts.response_bytes
    delay = (parts.delay_ns + 2 * gearbox_ns) * 1e-9 * rate
    flight = wire.cable_round_trip_bytes(speed_mbps, cable_m)
    inside = mtu_bytes + flight + delay + parts.mac_phy_bytes + response
    return round_up(frame_bytes + nvidia_worst(cell_bytes) * inside, _REGISTER_BYTES)


def fit_bytes(speed_mbps: int, cable_m: float, fit: Fit) -> float:
    """A fitted preset, not rounded: ``base + fixed_us * R + wire_factor * 2LR/v``."""
    rate = wire.rate_bytes_per_s(speed_mbps)
    flight = wire.cable_round_trip_bytes(speed_mbps, cable_m)
    return fit.base_bytes + fit.fixed_us * 1e-6 * rate + fit.wire_factor * flight


def physical_bytes(
    speed_mbps: int, cable_m: float, *, mtu_bytes: int = 9216, frame_bytes: int = 4178, quanta: int | None = None
) -> int:
    """Wire bytes that can arrive after XOFF even with an ideal buffer: the canonical sum with F = 1."""
    exact = canonical_bytes(
        speed_mbps, cable_m, factor=1.0, mtu_bytes=mtu_bytes, frame_bytes=frame_bytes, quanta=quanta
    )
    return round_up(exact, 1)


def headroom(
    speed_mbps: int,
    cable_m: float,
    asic: Asic | None = None,
    *,
    mtu_bytes: int = 9216,
    frame_bytes: int = 4178,
    model: str | None = None,
    at_800g: int = wire.QUANTA_800G,
) -> Headroom:
    """The headroom a port should have. ``asic`` None: the worst cell of the table is assumed.

    ``model`` is the switch model, for gearbox delays. ``at_800g`` 905 reproduces SONiC at 800G. Raises ValueError
    for a speed, length or MTU that cannot be.
    """
    wire.positive(mtu_bytes, "an MTU", "9216")
    wire.positive(frame_bytes, "a frame size", "4178")
    quanta = wire.reaction_quanta(speed_mbps, at_800g)
    floor = physical_bytes(speed_mbps, cable_m, mtu_bytes=mtu_bytes, frame_bytes=frame_bytes, quanta=quanta)
    work = _Work(speed_mbps, cable_m, mtu_bytes, frame_bytes, quanta)
    if asic is not None and isinstance(asic.preset, Fit):
        exact, method, steps, source = _from_fit(work, asic, asic.preset)
    elif asic is not None and isinstance(asic.preset, Parts) and asic.cell_bytes:
        exact, method, steps, source = _from_parts(work, asic, asic.preset, asic.cell_bytes, model)
    elif asic is not None and asic.cell_bytes is not None and asic.cell_bytes < VOQ_CELL_BYTES:
        exact, method, steps, source = _from_sum(work, asic)
    else:
        exact, method, steps, source = _from_nothing(work)
    bounds: tuple[str, ...] = ()
    if exact < floor:
        steps = (*steps, work.floor_step(floor))
        bounds = (f"raised to the physical floor of {floor:,} B",)
        exact = float(floor)
    cell = _rounding_cell(asic)
    value = round_up(exact, cell)
    rounding = f"up to {value // cell} cells of {cell} B" if cell > 1 else "up to whole bytes: cell size not published"
    inputs = (
        ("speed_mbps", speed_mbps),
        ("cable_m", cable_m),
        ("mtu_bytes", mtu_bytes),
        ("frame_bytes", frame_bytes),
        ("reaction_quanta", quanta),
        ("asic", asic.name if asic else "unknown"),
    )
    steps = (*steps, f"= {exact:,.0f} B -> {value:,} B")
    return Headroom(value, floor, method, Why(f"headroom.{method}", inputs, steps, bounds, rounding, source))


@dataclass(frozen=True, slots=True)
class _Work:
    speed_mbps: int
    cable_m: float
    mtu_bytes: int
    frame_bytes: int
    quanta: int

    @property
    def rate(self) -> float:
        return wire.rate_bytes_per_s(self.speed_mbps)

    @property
    def flight(self) -> float:
        return wire.cable_round_trip_bytes(self.speed_mbps, self.cable_m)

    def cable_step(self) -> str:
        return (
            f"cable: 2 x {self.cable_m:g} m x {self.rate:.4g} B/s / {wire.LIGHT_M_PER_S:.3g} m/s = {self.flight:,.0f} B"
        )

    def floor_step(self, floor: int) -> str:
        """What no preset may go below, with every part of the sum."""
        delay, reaction = LOCAL_DELAY_NS * 1e-9 * self.rate, self.quanta * wire.QUANTUM_BYTES
        return (
            f"less than can be on the wire: lossless frame {self.frame_bytes:,} + port MTU {self.mtu_bytes:,} + pause "
            f"frame {wire.PAUSE_BYTES} + cable {self.flight:,.0f} + local delay {LOCAL_DELAY_NS:g} ns {delay:,.0f} + "
            f"peer reaction {self.quanta} quanta {reaction:,} = {floor:,} B"
        )


_Derived = tuple[float, Method, tuple[str, ...], str]


def _from_fit(work: _Work, asic: Asic, fit: Fit) -> _Derived:
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
    return exact, "preset", steps, f"fitted to {asic.preset_table}"


def _from_parts(work: _Work, asic: Asic, parts: Parts, cell: int, model: str | None) -> _Derived:
    gearbox = asic.gearbox(model)
    frame, mtu = work.frame_bytes, work.mtu_bytes
    exact = parts_bytes(
        work.speed_mbps,
        work.cable_m,
        parts,
        cell,
        mtu_bytes=mtu,
        frame_bytes=frame,
        gearbox_ns=gearbox,
        quanta=work.quanta,
    )
    factor = nvidia_worst(cell)
    response = work.quanta * wire.QUANTUM_BYTES if parts.response_bytes is None else parts.response_bytes
    delay_ns = parts.delay_ns + 2 * gearbox
    delay = delay_ns * 1e-9 * work.rate
    steps = (
        "xoff = lossless frame + F x (port MTU + cable + local delay + MAC/PHY + peer response), up to 1 KiB",
        f"F: cell {cell} B, all packets small: {factor:.4g}",
        work.cable_step(),
        f"local delay: {delay_ns:g} ns = {delay:,.0f} B; MAC/PHY {parts.mac_phy_bytes:g} B; peer {response:,.1f} B",
        f"{frame} + {factor:.4g} x ({mtu} + {work.flight:,.0f} + {delay:,.0f} + {parts.mac_phy_bytes:g} + "
        f"{response:,.1f}) -> {exact:,} B",
    )
    return float(exact), "preset", steps, f"SONiC's NVIDIA formula with worst-case cells; {asic.preset_table}"


def _from_sum(work: _Work, asic: Asic | None) -> _Derived:
    known = asic is not None and asic.cell_bytes is not None and asic.cell_bytes < VOQ_CELL_BYTES
    cell = asic.cell_bytes if asic is not None and asic.cell_bytes and known else table().widest_cell()
    factor = wire_worst(cell)
    exact = canonical_bytes(
        work.speed_mbps,
        work.cable_m,
        factor=factor,
        mtu_bytes=work.mtu_bytes,
        frame_bytes=work.frame_bytes,
        quanta=work.quanta,
    )
    delay = LOCAL_DELAY_NS * 1e-9 * work.rate
    reaction = work.quanta * wire.QUANTUM_BYTES
    of_what = "of this chip" if known else "the largest of any chip in the table"
    steps = (
        "H = M_ll + F x (M_port + pause frame + cable + local delay + peer reaction)",
        f"F: cell {cell} B ({of_what}), 64 B frames: {factor:.4g}",
        work.cable_step(),
        f"local delay: {LOCAL_DELAY_NS:g} ns = {delay:,.0f} B",
        f"peer reaction at {show_speed(work.speed_mbps)}: {work.quanta} quanta x 64 B = {reaction:,} B",
        f"{work.frame_bytes} + {factor:.4g} x ({work.mtu_bytes} + {wire.PAUSE_BYTES} + {work.flight:,.0f} + "
        f"{delay:,.0f} + {reaction:,}) = {exact:,.0f} B",
    )
    return exact, ("canonical" if known else "generic"), steps, f"canonical sum; {_REACTION}"


def _from_nothing(work: _Work) -> _Derived:
    """An unknown chip: the canonical sum with the widest cell, or the most that any known chip of the speed needs."""
    exact, method, steps, source = _from_sum(work, None)
    for asic in table():
        fast_enough = asic.port_gbps is None or asic.port_gbps * 1000 >= work.speed_mbps
        if not fast_enough or not isinstance(asic.preset, Fit):
            continue
        other, _, other_steps, other_source = _from_fit(work, asic, asic.preset)
        if other > exact:
            exact, source = other, other_source
            steps = ("unknown chip: the most demanding known one of this speed is taken", *other_steps)
    return exact, method, steps, source


def _rounding_cell(asic: Asic | None) -> int:
    if asic is None:
        return table().widest_cell()
    return asic.cell_bytes or 1

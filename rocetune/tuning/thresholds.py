"""Where pause starts and ends: XOFF by dynamic threshold, XON below it, and how each platform writes alpha.

Headroom lies above XOFF. Under a dynamic threshold a priority group may hold ``alpha`` times the free part of the
shared pool, so XOFF moves: one congested group stops at ``alpha*S/(1+alpha)``, n equal ones at ``alpha*S/(1+n*alpha)``
each. XON lies a gap below XOFF (hysteresis): wide enough that pause does not flap, narrow enough that the queue is not
empty before the peer sends again.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

import yaml

from rocetune.model.plan import Why
from rocetune.model.units import show_speed
from rocetune.tuning import wire
from rocetune.tuning.cells import round_up
from rocetune.tuning.duration import show_us
from rocetune.tuning.wire import positive

DEFAULT_ALPHA = 1.0  # dynamic_th 0 of SONiC's lossless default, "ingress threshold 1" of EOS recipes
_FLAP_SOURCE = "DCQCN's test bed resumes two MTU below XOFF (SIGCOMM 2015); peer reaction IEEE 802.3 31B.3.7"


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a platform writes alpha: an integer from ``low`` to ``high``, whose alphas are in ``alphas``, ascending."""

    name: str
    field: str
    low: int
    high: int
    alphas: tuple[float, ...]
    confirmed: bool
    source: str
    note: str = ""

    def decode(self, index: int) -> float:
        """Alpha of an index. Raises ValueError outside the platform's range."""
        if not self.low <= index <= self.high:
            raise ValueError(f"{self.field} of {self.name} goes from {self.low} to {self.high}: got {index}")
        return self.alphas[index - self.low]

    def encode(self, alpha: float) -> int:
        """The index whose alpha is nearest at or below; the lowest where even that is above."""
        wanted = positive(alpha, "alpha", "1") * (1 + 1e-9)
        return self.low + max(0, bisect_right(self.alphas, wanted) - 1)

    def written(self, alpha: float) -> float:
        """What a switch has after ``alpha`` was written to it."""
        return self.decode(self.encode(alpha))


@cache
def encodings() -> Mapping[str, Encoding]:
    """The known ways to write alpha, by platform; read once."""
    text = resources.files("rocetune.tuning").joinpath("data/alpha_encodings.yaml").read_text(encoding="utf-8")
    rows = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))["encodings"]
    return MappingProxyType({name: _encoding(name, row) for name, row in rows.items()})


def _encoding(name: str, row: Mapping[str, Any]) -> Encoding:
    low, high = row["low"], row["high"]
    alphas = tuple(_alpha(row, index) for index in range(low, high + 1))
    return Encoding(name, row["field"], low, high, alphas, row["confirmed"], row["source"], row.get("note", ""))


def _alpha(row: Mapping[str, Any], index: int) -> float:
    if row["law"] == "powers":
        return math.ldexp(1.0, index - row["one_at"])
    if row["law"] == "eighths":
        return index / 8
    return next(float(alpha) for most, alpha in row["steps"] if index <= most)


def sonic_power(alpha: float) -> int:
    """SONiC's ``dynamic_th`` for an alpha, rounded down: a group is never allowed more than was asked for.

    Below 1/256 it is -8, SONiC's least. Raises ValueError for an alpha that is not above zero.
    """
    return encodings()["sonic"].encode(alpha)


def steady_bytes(pool_bytes: float, alpha: float, congested: int = 1) -> float:
    """Where n equal congested users of a pool settle: ``alpha*S/(1+n*alpha)`` each."""
    return alpha * pool_bytes / (1 + congested * alpha)


@dataclass(frozen=True, slots=True)
class Xoff:
    """Occupancy of a priority group that starts pause, bytes: alone, and with all groups congested."""

    alone_bytes: int
    crowded_bytes: int
    why: Why


def dynamic_xoff(shared_bytes: int, alpha: float, groups: int) -> Xoff:
    """XOFF under a dynamic threshold of a shared pool S; whole bytes, down."""
    positive(shared_bytes, "a shared pool", "53893212 bytes")
    positive(alpha, "alpha", "1")
    positive(groups, "a number of priority groups", "64")
    alone, crowded = int(steady_bytes(shared_bytes, alpha)), int(steady_bytes(shared_bytes, alpha, groups))
    steps = (
        f"one congested group: {alpha:g} x {shared_bytes:,} / (1 + {alpha:g}) = {alone:,} B",
        f"all {groups} groups: {alpha:g} x {shared_bytes:,} / (1 + {groups} x {alpha:g}) = {crowded:,} B each",
    )
    inputs = (("shared_bytes", shared_bytes), ("alpha", alpha), ("groups", groups))
    source = "dynamic threshold T = alpha x (S - used)"
    return Xoff(alone, crowded, Why("xoff.dynamic", inputs, steps, rounding="down to whole bytes", source=source))


def xon_gap_bytes(mtu_bytes: int) -> int:
    """How far XON lies below XOFF so that pause does not flap: two full frames (DCQCN's test bed)."""
    return 2 * mtu_bytes


def starvation_bytes(speed_mbps: int, cable_m: float, at_800g: int = wire.QUANTA_800G) -> int:
    """Bytes an egress drains during one pause round trip; a wider XON gap than this can leave it idle."""
    reaction = wire.reaction_quanta(speed_mbps, at_800g) * wire.QUANTUM_BYTES
    return round(wire.cable_round_trip_bytes(speed_mbps, cable_m) + reaction)


@dataclass(frozen=True, slots=True)
class Hysteresis:
    """XON lies ``gap_bytes`` below XOFF. ``flapping_bytes`` is its least, ``starvation_bytes`` its most.

    ``xon_bytes`` is known where XOFF is static. ``runs_dry``: while a paused peer starts again the egress can go idle.
    """

    gap_bytes: int
    flapping_bytes: int
    starvation_bytes: int
    xon_bytes: int | None
    runs_dry: bool
    why: Why


def hysteresis(
    speed_mbps: int,
    cable_m: float,
    mtu_bytes: int = 9216,
    *,
    cell_bytes: int = 1,
    xoff_bytes: int | None = None,
    at_800g: int = wire.QUANTA_800G,
) -> Hysteresis:
    """The XON gap of a port: two full frames in whole cells, and whether one pause round trip drains more than that.

    Where the two bounds cross (slow port, short cable) flapping decides, because an idle microsecond costs less than a
    pause storm of short ones. With a static ``xoff_bytes`` the level of XON is known too, and must itself outlast the
    round trip. Raises ValueError for values that cannot be, or an XOFF that leaves no room below it.
    """
    positive(mtu_bytes, "an MTU", "9216")
    cell = int(positive(cell_bytes, "a cell size", "254"))
    least = xon_gap_bytes(mtu_bytes)
    most = starvation_bytes(speed_mbps, cable_m, at_800g)
    gap = round_up(least, cell)
    xon = None if xoff_bytes is None else xoff_bytes - gap
    if xon is not None and xon <= 0:
        raise ValueError(f"xoff {xoff_bytes:,} B leaves no room for XON {gap:,} B below it: write more than {gap:,} B")
    steps = [
        f"no flapping: gap >= 2 frames of {mtu_bytes:,} B = {least:,} B",
        f"no starvation: gap <= cable there and back + peer reaction at {show_speed(speed_mbps)} = {most:,} B = "
        f"{show_us(most, speed_mbps)}",
        f"gap = {gap:,} B = {show_us(gap, speed_mbps)}",
    ]
    active = []
    if gap > most:
        active.append(
            f"the bounds cross: two frames take longer than the round trip, the link may idle for "
            f"{show_us(gap - most, speed_mbps)} after a pause"
        )
    dry = gap > most
    if xon is not None:
        steps.append(f"xon = xoff {xoff_bytes:,} - {gap:,} = {xon:,} B = {show_us(xon, speed_mbps)}")
        if xon < most:
            dry = True
            active.append(
                f"xon holds less than the {most:,} B that drain before the peer's data is back: the link may idle"
            )
    inputs = (("speed_mbps", speed_mbps), ("cable_m", cable_m), ("mtu_bytes", mtu_bytes), ("cell_bytes", cell))
    rounding = f"up to whole cells of {cell} B" if cell > 1 else ""
    why = Why("xon.hysteresis", inputs, tuple(steps), tuple(active), rounding, _FLAP_SOURCE)
    return Hysteresis(gap, least, most, xon, dry, why)

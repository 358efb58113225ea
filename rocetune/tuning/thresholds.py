"""Where pause starts and ends: XOFF by static or dynamic threshold, XON below it, and how each platform writes alpha.

Headroom lies above XOFF. Under a dynamic threshold a priority group may hold ``alpha`` times the free part of the
shared pool, so XOFF moves: one congested group stops at ``alpha*S/(1+alpha)``, n equal ones at ``alpha*S/(1+n*alpha)``
each. XON lies a gap below XOFF (hysteresis): wide enough that pause does not flap, narrow enough that the queue is not
empty before the peer sends again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

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
    """How a platform writes alpha: an integer from ``low`` to ``high``."""

    name: str
    field: str
    low: int
    high: int
    alpha: Callable[[int], float]
    confirmed: bool
    source: str
    note: str = ""

    def decode(self, index: int) -> float:
        """Alpha of an index. Raises ValueError outside the platform's range."""
        if not self.low <= index <= self.high:
            raise ValueError(f"{self.field} of {self.name} goes from {self.low} to {self.high}: got {index}")
        return self.alpha(index)

    def encode(self, alpha: float) -> int:
        """The index whose alpha is nearest at or below; the lowest where even that is above."""
        positive(alpha, "alpha", "1")
        fits = [index for index in range(self.low, self.high + 1) if self.alpha(index) <= alpha * (1 + 1e-9)]
        return max(fits, default=self.low)


def _h3c(percent: int) -> float:
    """Comware takes a percentage and picks the alpha whose share alpha/(1+alpha) is near it."""
    steps = ((0, -7), (1, -6), (3, -5), (5, -4), (11, -3), (20, -2), (33, -1), (50, 0), (66, 1), (80, 2), (100, 3))
    return next(2.0**exponent for most, exponent in steps if percent <= most)


ENCODINGS: Mapping[str, Encoding] = {
    item.name: item
    for item in (
        Encoding(
            "sonic",
            "dynamic_th",
            -8,
            7,
            lambda x: 2.0**x,
            True,
            "SONiC BUFFER_PROFILE (sonic-buffer-profile.yang, pg_profile_lookup.ini)",
            "NVIDIA's SAI takes -8 and less as 0, 7 and more as no limit (mlnx_sai_buffer.c)",
        ),
        Encoding(
            "spectrum",
            "index",
            1,
            14,
            lambda a: 2.0 ** (a - 1) / 128,
            True,
            "Linux mlxsw spectrum_buffers.c and mlx5 en/port_buffer.c (13 is 32)",
        ),
        Encoding(
            "junos",
            "dynamic-threshold",
            0,
            10,
            lambda x: 2.0 ** (x - 7),
            False,
            "7 is 1 and 10 is 8 by common reading; no Juniper page states the mapping",
        ),
        Encoding(
            "dcqcn-beta",
            "beta",
            1,
            64,
            lambda beta: beta / 8,
            True,
            "DCQCN, SIGCOMM 2015: T = beta (B - 8 n t - s) / 8",
        ),
        Encoding(
            "h3c",
            "ingress-buffer dynamic",
            0,
            100,
            _h3c,
            False,
            "Comware RDMA configuration note, read second-hand",
            "a percentage that the chip rounds to a power of two",
        ),
    )
}


def steady_bytes(pool_bytes: float, alpha: float, congested: int = 1) -> float:
    """Where n equal congested users of a pool settle: ``alpha*S/(1+n*alpha)`` each."""
    return alpha * pool_bytes / (1 + congested * alpha)


def alpha_of_sonic(dynamic_th: int) -> float:
    """SONiC's ``dynamic_th`` x means alpha = 2^x."""
    return 2.0**dynamic_th


def sonic_of_alpha(alpha: float) -> int:
    """The ``dynamic_th`` whose alpha is nearest at or below; SONiC takes -8..7."""
    positive(alpha, "alpha", "1")
    return max(-8, min(7, math.floor(math.log2(alpha) + 1e-9)))


@dataclass(frozen=True, slots=True)
class XoffModel:
    """How a platform decides to pause, and where the bytes after XOFF go."""

    platform: str
    threshold: tuple[Literal["static", "dynamic"], ...]
    headroom: Literal["private", "shared pool", "private or shared pool"]
    xon: str
    encoding: str  # key of ENCODINGS; empty: alpha is written as it is, or there is none
    source: str


XOFF_MODELS: Mapping[str, XoffModel] = {
    item.platform: item
    for item in (
        XoffModel(
            "sonic-broadcom",
            ("dynamic",),
            "shared pool",
            "resume at max(xon, limit - xon_offset)",
            "sonic",
            "sonic-buildimage pg_profile_lookup.ini of Broadcom and Teralynx; Nephos alone is static",
        ),
        XoffModel(
            "sonic-nvidia",
            ("dynamic",),
            "private or shared pool",
            "xon is the occupancy that resumes (pipeline latency)",
            "sonic",
            "sonic-buildimage ACS-* tables (size = xon + xoff), Mellanox-* tables (shared)",
        ),
        XoffModel(
            "arista_eos",
            ("dynamic",),
            "private",
            "no command known",
            "",
            "EOS platform trident buffer profiles (1/64 to 8)",
        ),
        XoffModel(
            "cumulus",
            ("static",),
            "private or shared pool",
            "xon is a distance below xoff",
            "",
            "NVIDIA Cumulus QoS pages",
        ),
        XoffModel(
            "junos",
            ("dynamic",),
            "shared pool",
            "xon in the CNP, newer QFX only",
            "junos",
            "Junos shared-buffer partitions",
        ),
        XoffModel(
            "nxos",
            ("static",),
            "private",
            "resume-threshold; headroom = buffer-size - pause-threshold",
            "",
            "NX-OS pause buffer-size examples",
        ),
        XoffModel("os10", ("static",), "private", "resume-threshold", "", "Dell OS10 pause buffer-size examples"),
        XoffModel(
            "huawei_ce",
            ("static", "dynamic"),
            "shared pool",
            "xon offset below xoff, 6 KB by default",
            "",
            "CloudEngine dcb pfc buffer",
        ),
        XoffModel(
            "h3c",
            ("static", "dynamic"),
            "shared pool",
            "ingress-threshold-offset in cells",
            "h3c",
            "Comware priority-flow-control commands",
        ),
        XoffModel(
            "mlx5",
            ("static",),
            "private",
            "one largest MTU, at least 9216 B, below xoff",
            "",
            "Linux mlx5 port_buffer.c",
        ),
    )
}


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


def static_xoff(shared_bytes: int, groups: int, cell_bytes: int = 1) -> Xoff:
    """The largest static XOFF that all groups can reach at once, ``S / (P*n)``, in whole cells (DCQCN paper)."""
    positive(shared_bytes, "a shared pool", "6265600 bytes")
    positive(groups, "a number of priority groups", "256")
    size = int(shared_bytes / groups // positive(cell_bytes, "a cell size", "254") * cell_bytes)
    if size <= 0:
        raise ValueError(f"{shared_bytes:,} B for {groups} groups leave less than one cell of {cell_bytes} B each")
    steps = (f"t_PFC = S / groups = {shared_bytes:,} / {groups} = {size:,} B",)
    inputs = (("shared_bytes", shared_bytes), ("groups", groups), ("cell_bytes", cell_bytes))
    rounding = f"down to whole cells of {cell_bytes} B" if cell_bytes > 1 else "down to whole bytes"
    return Xoff(size, size, Why("xoff.static", inputs, steps, rounding=rounding, source="DCQCN, SIGCOMM 2015"))


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

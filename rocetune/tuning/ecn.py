"""ECN marking curve of a queue, and the bounds that keep marking ahead of PFC.

The curve comes from the bandwidth-delay product, so it means the same time at every speed. Two bounds order ECN
and PFC: the strict one holds for the worst case of every egress queue fed by one ingress, the incast one for traffic
from k ingress ports to one egress. The incast bound with k = 1 must hold; the strict one is worth a warning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rocetune.model.plan import Why
from rocetune.model.units import show_speed
from rocetune.tuning import wire
from rocetune.tuning.cells import round_down
from rocetune.tuning.wire import positive

Objective = Literal["latency", "balanced", "throughput"]

LAMBDA = {"latency": 0.5, "balanced": 1.0, "throughput": 2.5}  # kmin in BDPs; 2.5 is what HPCC simulates with
RATIO = 4  # kmax / kmin, as HPCC; Cisco uses 20, NVIDIA 10
FLOOR_FRAMES = 8  # kmin holds at least these many frames, and kmax that many more
PMAX_PERCENT = 20.0
RTT_US = {1: 8.0, 2: 8.0, 3: 12.0}  # unloaded round trip by switch tiers, NICs and ordinary cables included
RTT_SOURCE = "our default, NICs included: 8 us over one or two switch tiers, 12 us over three; not measured here"
ORDINARY_CABLE_M = 100.0  # up to here a cable is part of RTT_US
_SOURCE = (
    "bandwidth-delay product; marking comes before PFC as in DCQCN (SIGCOMM 2015); how many BDPs, and four times kmin "
    "for kmax, as in HPCC's simulations"
)


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """Unloaded round trip through a network, microseconds."""

    rtt_us: float
    why: Why


@dataclass(frozen=True, slots=True)
class Bounds:
    """Upper bounds on kmax in bytes; ``incast`` for one ingress port."""

    strict_bytes: float
    incast_bytes: float
    why: Why


@dataclass(frozen=True, slots=True)
class Curve:
    """No mark below kmin, certain mark above kmax, linear up to pmax between."""

    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: float
    bounded: bool  # a PFC bound decided kmax
    kmin_why: Why
    kmax_why: Why
    pmax_why: Why


def round_trip(tiers: int, host_cable_m: float = 0.0, fabric_cable_m: float = 0.0) -> RoundTrip:
    """Round trip by number of switch tiers, plus the light time of cables beyond 100 m on the path and back."""
    base = RTT_US[max(1, min(3, tiers))]
    extra = 2 * max(0.0, host_cable_m - ORDINARY_CABLE_M)
    if tiers > 1:
        extra += 2 * (tiers - 1) * max(0.0, fabric_cable_m - ORDINARY_CABLE_M)
    propagation = 2 * extra / wire.LIGHT_M_PER_S * 1e6
    rtt = base + propagation
    steps = [f"round trip without load, over {tiers} switch tier{'s' if tiers > 1 else ''}: {base:g} us, assumed"]
    if extra:
        steps.append(f"cables beyond {ORDINARY_CABLE_M:g} m: {extra:g} m each way = {propagation:.2f} us")
    inputs = (("tiers", tiers), ("host_cable_m", host_cable_m), ("fabric_cable_m", fabric_cable_m))
    return RoundTrip(rtt, Why("ecn.rtt", inputs, tuple(steps), source=RTT_SOURCE))


def bdp_bytes(speed_mbps: int, rtt_us: float) -> int:
    """Bandwidth-delay product: 400G and 8 us give 400000 bytes."""
    return round(positive(speed_mbps, "a port speed", "400000 Mbit/s") * positive(rtt_us, "a round trip", "8 us") / 8)


def strict_bound(shared_bytes: float, ports: int, priorities: int, alpha: float) -> float:
    """``alpha*S / (n*(1+alpha*P))``: every queue of every priority sits at K, all fed by one ingress group."""
    return alpha * shared_bytes / (positive(ports, "a port count", "32") * (1 + alpha * priorities))


def incast_bound(shared_bytes: float, alpha: float, ingress_ports: int = 1) -> float:
    """``k*alpha*S/(1+k*alpha)``: the egress queue at which PFC starts when k ingress ports feed it."""
    share = positive(ingress_ports, "a number of ingress ports", "1") * alpha
    return share * shared_bytes / (1 + share)


def static_pause_threshold(shared_bytes: float, ports: int, priorities: int) -> float:
    """Pause threshold without sharing, ``S/(P*n)``; ECN must then stay below a further n-th of it."""
    return shared_bytes / (priorities * ports)


def bounds(shared_bytes: int, ports: int, queues: int, alpha: float) -> Bounds:
    """Both bounds with their arithmetic. ``queues`` counts the lossless queues of all ports and priorities.

    Where every port has the same P lossless priorities, queues = ports * P and the strict bound is that of
    :func:`strict_bound`; where networks differ, an ingress group only feeds the ports of its own priority.
    """
    strict = alpha * shared_bytes / (positive(ports, "a port count", "32") + alpha * queues)
    incast = incast_bound(shared_bytes, alpha)
    steps = (
        f"strict: {alpha:g} x {shared_bytes:,} / ({ports} ports + {alpha:g} x {queues} queues) = {strict:,.0f} B",
        f"incast, one ingress: {alpha:g} x {shared_bytes:,} / (1 + {alpha:g}) = {incast:,.0f} B",
    )
    inputs = (("shared_bytes", shared_bytes), ("ports", ports), ("lossless_queues", queues), ("alpha", alpha))
    return Bounds(strict, incast, Why("ecn.bounds", inputs, steps, source="DCQCN, SIGCOMM 2015, generalised"))


def static_bounds(xoff_bytes: int, ports: int) -> Bounds:
    """Bounds under a static pause threshold, by which one ingress group may feed one queue or those of all ports.

    ``t_ECN = t_PFC / n`` of the DCQCN paper (SIGCOMM 2015) is the strict one.
    """
    strict = xoff_bytes / positive(ports, "a port count", "32")
    steps = (
        f"strict: xoff {xoff_bytes:,} / {ports} ports = {strict:,.0f} B",
        f"incast, one ingress: PFC starts at xoff = {xoff_bytes:,} B",
    )
    inputs = (("xoff_bytes", xoff_bytes), ("ports", ports))
    return Bounds(strict, float(xoff_bytes), Why("ecn.bounds", inputs, steps, source="DCQCN, SIGCOMM 2015"))


def curve(
    speed_mbps: int,
    rtt_us: float,
    objective: Objective = "balanced",
    *,
    frame_bytes: int = 4178,
    bound_bytes: float | None = None,
    cell_bytes: int = 1,
    rtt_why: Why | None = None,
) -> Curve:
    """kmin, kmax and pmax by objective; ``bound_bytes`` is what kmax may not pass (None: no PFC on the queue).

    A value that the bound decides is rounded down to whole cells and keeps kmax/kmin = 4. Raises ValueError when the
    bound leaves no room for a curve. ``rtt_why`` tells where the round trip is from.
    """
    bdp = bdp_bytes(speed_mbps, rtt_us)
    floor = FLOOR_FRAMES * frame_bytes
    kmin = max(round(LAMBDA[objective] * bdp), floor)
    kmax = max(RATIO * kmin, kmin + floor)
    bdp_step = f"BDP: {show_speed(speed_mbps)} x {rtt_us:g} us / 8 = {bdp:,} B"
    rtt_steps = (
        [f"{step} ({rtt_why.source})" if n == 0 else step for n, step in enumerate(rtt_why.steps)] if rtt_why else []
    )
    kmin_steps = [
        *rtt_steps,
        bdp_step,
        f"{objective}: kmin = {LAMBDA[objective]:g} x BDP = {LAMBDA[objective] * bdp:,.0f} B",
    ]
    kmax_steps = [f"kmax = {RATIO} x kmin = {kmax:,} B"]
    active: tuple[str, ...] = ()
    kmin_active: tuple[str, ...] = ()
    if kmin == floor and LAMBDA[objective] * bdp < floor:
        kmin_active = (f"raised to {FLOOR_FRAMES} frames of {frame_bytes} B = {floor:,} B",)
    bounded = bound_bytes is not None and kmax > bound_bytes
    rounding = ""
    if bound_bytes is not None and bounded:
        kmax = round_down(bound_bytes, cell_bytes)
        kmin = min(kmin, round_down(kmax / RATIO, cell_bytes))
        if not 0 < kmin < kmax:
            raise ValueError(
                f"the buffer leaves {bound_bytes:,.0f} B before PFC starts: too little for a marking curve"
            )
        active = (f"lowered to the PFC bound {bound_bytes:,.0f} B",)
        kmin_active = (*kmin_active, f"kmin <= kmax / {RATIO} = {kmax // RATIO:,} B")
        rounding = f"down to whole cells of {cell_bytes} B" if cell_bytes > 1 else "down to whole bytes"
        kmin_steps.append(f"kmin = {kmin:,} B")
        kmax_steps.append(f"kmax = {kmax:,} B")
    inputs = (
        ("speed_mbps", speed_mbps),
        ("rtt_us", rtt_us),
        ("objective", objective),
        ("frame_bytes", frame_bytes),
    )
    pmax_why = Why(
        "ecn.pmax",
        (("objective", objective),),
        (f"pmax = {PMAX_PERCENT:g} %: marks reach the sender before the queue reaches kmax",),
        source="HPCC's simulations; vendors use 5 to 100 %",
    )
    return Curve(
        kmin,
        kmax,
        PMAX_PERCENT,
        bounded,
        Why("ecn.bdp", inputs, tuple(kmin_steps), kmin_active, rounding, _SOURCE),
        Why("ecn.bdp", inputs, tuple(kmax_steps), active, rounding, _SOURCE),
        pmax_why,
    )

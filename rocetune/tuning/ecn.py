"""ECN marking curve of a queue, and the bounds that keep marking ahead of PFC.

The curve comes from the bandwidth-delay product, so it means the same time at every speed. Two bounds order ECN
and PFC: the strict one holds for the worst case of every egress queue fed by one ingress, the incast one for traffic
from k ingress ports to one egress. The incast bound with k = 1 must hold; the strict one is worth a warning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rocetune.model.plan import Why
from rocetune.model.units import show_speed
from rocetune.tuning import fluid, wire
from rocetune.tuning.cells import round_down
from rocetune.tuning.duration import show_us
from rocetune.tuning.wire import positive

Objective = Literal["latency", "balanced", "throughput"]

LAMBDA = {"latency": 0.5, "balanced": 1.0, "throughput": 2.5}  # kmin in BDPs; 2.5 is what HPCC simulates with
RATIO = 4  # kmax / kmin, as HPCC; Cisco uses 20, NVIDIA 10
FLOOR_FRAMES = 8  # kmin holds at least these many frames, and kmax that many more
PRESSED_FRAMES = 2  # under the strict bound of PFC kmin still holds these many: one alone would be marked as it arrives
PMAX_PERCENT = 20.0  # AI default; raised where many flows need more
PMAX_FLOOR_PERCENT = 1.0
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
    """Upper bounds on kmax in bytes; ``incast`` for one ingress port, in whole bytes as pause starts there."""

    strict_bytes: float
    incast_bytes: float
    why: Why

    def limit(self, objective: Objective, frame_bytes: int, cell_bytes: int) -> float:
        """What a computed kmax stays below: the incast bound, and for latency the strict one as far as frames allow."""
        if objective != "latency":
            return self.incast_bytes
        return min(max(self.strict_bytes, RATIO * (PRESSED_FRAMES * frame_bytes + 2 * cell_bytes)), self.incast_bytes)


@dataclass(frozen=True, slots=True)
class Incast:
    """An incast of k ingress ports: where PFC starts, and how far the queue grows before marks can act, bytes."""

    starts_bytes: float
    growth_bytes: int
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


def round_trip(tiers: int, cables_m: Mapping[str, float] | None = None) -> RoundTrip:
    """Round trip by number of switch tiers, plus the light time of what cables on the path are longer than 100 m.

    ``cables_m`` are the cables of the longest path, each once, by a name that the reader knows.
    """
    base = RTT_US[max(1, min(3, tiers))]
    long = {name: length for name, length in (cables_m or {}).items() if length > ORDINARY_CABLE_M}
    extra = sum(length - ORDINARY_CABLE_M for length in long.values())
    propagation = wire.light_us(extra)
    steps = [f"round trip without load, over {tiers} switch tier{'s' if tiers > 1 else ''}: {base:g} us, assumed"]
    if long:
        named = ", ".join(f"{name} {length:g} m" for name, length in long.items())
        steps.append(
            f"cables beyond {ORDINARY_CABLE_M:g} m ({named}): 2 x {extra:g} m / {wire.LIGHT_M_PER_S:.3g} m/s = "
            f"{propagation:.2f} us"
        )
    inputs = (("tiers", tiers), ("cables_m", sum(long.values())))
    return RoundTrip(base + propagation, Why("ecn.rtt", inputs, tuple(steps), source=RTT_SOURCE))


def bdp_bytes(speed_mbps: int, rtt_us: float) -> int:
    """Bandwidth-delay product: 400G and 8 us give 400000 bytes."""
    return round(positive(speed_mbps, "a port speed", "400000 Mbit/s") * positive(rtt_us, "a round trip", "8 us") / 8)


def incast_bound(shared_bytes: float, alpha: float, ingress_ports: int = 1) -> float:
    """``k*alpha*S/(1+k*alpha)``: the egress queue at which PFC starts when k ingress ports feed it."""
    share = positive(ingress_ports, "a number of ingress ports", "1") * alpha
    return share * shared_bytes / (1 + share)


def static_pause_threshold(shared_bytes: float, ports: int, priorities: int) -> float:
    """Pause threshold without sharing, ``S/(P*n)``; ECN must then stay below a further n-th of it.

    The DCQCN paper's switch: 24475 B, and 764.8 B for ECN. The paper prints 0.85 KB, which its numbers do not give.
    """
    return shared_bytes / (priorities * ports)


def bounds(shared_bytes: int, ports: int, queues: int, alpha: float) -> Bounds:
    """Both bounds with their arithmetic. ``queues`` counts the lossless queues of all ports and priorities.

    Strict, ``alpha*S / (n + alpha*queues)``: every queue of every priority sits at kmax, and those of one priority's
    n ports are fed by one ingress group. With P priorities on every port that is ``alpha*S / (n*(1+alpha*P))``.
    """
    strict = alpha * shared_bytes / (positive(ports, "a port count", "32") + alpha * queues)
    incast = float(math.floor(incast_bound(shared_bytes, alpha)))
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


def incast(shared_bytes: float, alpha: float, ingress_ports: int, speed_mbps: int, rtt_us: float) -> Incast:
    """Egress queue at which PFC starts when k ingress ports at line rate feed one, and what one round trip adds to it.

    The growth ``(k-1) * C * RTT`` comes on top of any threshold: the bounds order ECN and PFC, they do not keep a deep
    incast from pausing, which the DCQCN paper (SIGCOMM 2015) accepts.
    """
    starts = incast_bound(shared_bytes, alpha, ingress_ports)
    growth = (ingress_ports - 1) * bdp_bytes(speed_mbps, rtt_us)
    ports = f"{ingress_ports} ingress ports, each holds a share"
    if ingress_ports == 1:
        starts, ports = math.floor(starts), "1 ingress port"  # the incast bound, in whole bytes as there
    steps = (
        f"{ports}: PFC starts at k x alpha x S / (1 + k x alpha) = {starts:,.0f} B = {show_us(starts, speed_mbps)}",
        f"before a mark can slow the senders, the queue grows by (k-1) x C x RTT = {growth:,} B = "
        f"{show_us(growth, speed_mbps)}",
    )
    active = (f"at line rate the queue passes {starts:,.0f} B within one round trip: PFC fires first",)
    inputs = (
        ("shared_bytes", round(shared_bytes)),
        ("alpha", alpha),
        ("ingress_ports", ingress_ports),
        ("speed_mbps", speed_mbps),
        ("rtt_us", rtt_us),
    )
    source = "dynamic threshold shared by the ingress groups; DCQCN, SIGCOMM 2015"
    return Incast(starts, growth, Why("ecn.incast", inputs, steps, active if growth > starts else (), source=source))


def pmax(
    speed_mbps: int,
    kmin_bytes: int,
    kmax_bytes: int,
    flows: int | None = None,
    dcqcn: fluid.Params | None = None,
    *,
    frame_bytes: int = 4178,
    objective: str = "balanced",
) -> tuple[float, Why]:
    """20 %, or more in whole percent where ``flows`` equal flows need it to hold their queue at or below kmax.

    Marking settles at p*; the curve reaches p* before kmax while pmax >= p*. ``dcqcn`` None: the NICs' own defaults.
    """
    if flows is None:
        step = f"pmax = {PMAX_PERCENT:g} %: marks reach the sender before the queue reaches kmax"
        source = "HPCC's simulations; vendors use 5 to 100 %"
        return PMAX_PERCENT, Why("ecn.pmax", (("objective", objective),), (step,), source=source)
    point = fluid.fixed_point(speed_mbps, flows, dcqcn or fluid.params("firmware", speed_mbps), frame_bytes)
    least = max(PMAX_FLOOR_PERCENT, math.ceil(point.p * 100 - 1e-9))
    chosen = max(PMAX_PERCENT, least)
    queue = fluid.queue_bytes(point.p, kmin_bytes, kmax_bytes, chosen)
    steps = [*point.why.steps, f"least pmax = p* in whole percent, {PMAX_FLOOR_PERCENT:g} % or more: {least:g} %"]
    steps.append(f"pmax = max({PMAX_PERCENT:g} %, {least:g} %) = {chosen:g} %")
    active: tuple[str, ...] = ()
    if queue is None:
        active = (f"even at 100 % the queue of {flows} flows stays beyond kmax: every packet is marked, PFC holds it",)
    else:
        share = f"{point.p * 100:.6g} / {chosen:g}"
        steps.append(f"q* = kmin + {share} x (kmax - kmin) = {queue:,.0f} B = {show_us(queue, speed_mbps)}")
    if chosen > PMAX_PERCENT and queue is not None:
        active = (f"raised from {PMAX_PERCENT:g} % so that {flows} flows keep their queue at or below kmax",)
    inputs = (("objective", objective), ("flows", flows), ("frame_bytes", frame_bytes))
    return chosen, Why("ecn.pmax", inputs, tuple(steps), active, "up to whole percent", point.why.source)


def curve(
    speed_mbps: int,
    rtt_us: float,
    objective: Objective = "balanced",
    *,
    frame_bytes: int = 4178,
    bound_bytes: float | None = None,
    cell_bytes: int = 1,
    rtt_why: Why | None = None,
    flows: int | None = None,
    dcqcn: fluid.Params | None = None,
) -> Curve:
    """kmin, kmax and pmax by objective; kmax stays below ``bound_bytes`` (None: no PFC on the queue).

    A value that the bound decides is rounded down to whole cells and keeps kmax/kmin = 4. ``rtt_why`` tells where the
    round trip is from. ``flows`` share the port, and pmax holds their queue at or below kmax; ``dcqcn`` are their
    parameters. Raises ValueError when the bound leaves no room for a curve.
    """
    if objective not in LAMBDA:
        raise ValueError(f"{objective!r} is no objective: latency, balanced or throughput")
    positive(frame_bytes, "a frame size", "4178")
    kmin, kmax = _wanted(speed_mbps, rtt_us, objective, frame_bytes, rtt_why)
    bounded = bound_bytes is not None and kmax.size >= bound_bytes
    rounding = ""
    if bound_bytes is not None and bounded:
        _lower(kmin, kmax, bound_bytes, positive(cell_bytes, "a cell size", "254"), FLOOR_FRAMES * frame_bytes)
        rounding = f"down to whole cells of {cell_bytes} B" if cell_bytes > 1 else "down to whole bytes"
    inputs = (
        ("speed_mbps", speed_mbps),
        ("rtt_us", rtt_us),
        ("objective", objective),
        ("frame_bytes", frame_bytes),
    )
    most, pmax_why = pmax(speed_mbps, kmin.size, kmax.size, flows, dcqcn, frame_bytes=frame_bytes, objective=objective)
    kmin_why, kmax_why = (
        Why("ecn.bdp", inputs, tuple(item.steps), tuple(item.active), rounding, _SOURCE) for item in (kmin, kmax)
    )
    return Curve(kmin.size, kmax.size, most, bounded, kmin_why, kmax_why, pmax_why)


@dataclass(slots=True)
class _Threshold:
    """kmin or kmax in the making."""

    name: str
    speed_mbps: int
    size: int
    steps: list[str]
    active: list[str] = field(default_factory=list)

    def lower(self, size: int) -> None:
        self.size = size
        self.steps.append(f"{self.name} = {size:,} B = {show_us(size, self.speed_mbps)}")


def _wanted(
    speed_mbps: int, rtt_us: float, objective: Objective, frame_bytes: int, rtt_why: Why | None
) -> tuple[_Threshold, _Threshold]:
    """kmin and kmax by round trip and objective alone."""
    bdp, floor = bdp_bytes(speed_mbps, rtt_us), FLOOR_FRAMES * frame_bytes
    wanted = LAMBDA[objective] * bdp
    size = max(round(wanted), floor)
    steps = [
        *_rtt_steps(rtt_why),
        f"BDP: {show_speed(speed_mbps)} x {rtt_us:g} us / 8 = {bdp:,} B",
        f"{objective}: kmin = {LAMBDA[objective]:g} x BDP = {wanted:,.0f} B = {show_us(wanted, speed_mbps)}",
    ]
    kmin = _Threshold("kmin", speed_mbps, size, steps)
    if wanted < floor:
        words = f"{FLOOR_FRAMES} frames of {frame_bytes} B = {floor:,} B = {show_us(floor, speed_mbps)}"
        kmin.active.append(f"raised to {words}")
    size = RATIO * kmin.size  # at least 8 frames more than kmin, which has 8 itself
    steps = [f"kmax = {RATIO} x kmin = {size:,} B = {show_us(size, speed_mbps)}"]
    return kmin, _Threshold("kmax", speed_mbps, size, steps)


def _lower(kmin: _Threshold, kmax: _Threshold, bound_bytes: float, cell_bytes: float, floor: int) -> None:
    """Both below the bound of PFC, in whole cells."""
    low, high = _below(bound_bytes, kmin.size, cell_bytes)
    kmax.active.append(f"lowered to the PFC bound {bound_bytes:,.0f} B")
    kmin.active.append(f"kmin <= kmax / {RATIO} = {high // RATIO:,} B")
    if low < floor:
        kmin.active.append(f"less than {FLOOR_FRAMES} frames: the PFC bound leaves no more")
    kmin.lower(low)
    kmax.lower(high)


def _below(bound_bytes: float, kmin: int, cell_bytes: float) -> tuple[int, int]:
    """kmin and kmax in whole cells with kmax below the bound."""
    cell = int(cell_bytes)
    kmax = round_down(bound_bytes, cell)
    if kmax >= bound_bytes:
        kmax -= cell
    kmin = min(kmin, round_down(kmax / RATIO, cell))
    if not 0 < kmin < kmax:
        raise ValueError(f"the buffer leaves {bound_bytes:,.0f} B before PFC starts: too little for a marking curve")
    return kmin, kmax


def _rtt_steps(rtt_why: Why | None) -> list[str]:
    if rtt_why is None:
        return []
    return [f"{step} ({rtt_why.source})" if n == 0 else step for n, step in enumerate(rtt_why.steps)]

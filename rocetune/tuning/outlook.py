"""What a marking curve can be expected to do, in words: goodput, bystander, burst and pause, each on its own.

No sum of them is formed. Simulation of the vendor presets (100G to 400G, incast with and without a bystander,
all-to-all, ring, mixed) showed that PFC alone has the best goodput of nearly every symmetric test while a bystander
that shares an ingress port takes about 7 times as long and bursts 2 to 3 times, and that no preset is good at
everything; one number would therefore always choose "no ECN". The words are decided by numbers: kmin and kmax against
the bandwidth-delay product, q* of the fluid model, and the order of kmax and the PFC bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rocetune.model.plan import Why
from rocetune.model.units import show_bytes, show_speed
from rocetune.tuning import fluid
from rocetune.tuning.duration import show_us
from rocetune.tuning.ecn import Bounds, bdp_bytes

_SOURCE = "packet simulation of vendor presets with the public HPCC ns-3 simulator (our runs); fluid model for q*"
_LONG_QUEUE = 2.0  # BDPs of standing queue from which waiting outweighs the trip itself
_SHORT_KMIN = 0.5  # BDPs below which a cut can empty the queue
_STEEP = 2.0  # kmax / kmin below which marking jumps


@dataclass(frozen=True, slots=True)
class Warned:
    """What DCQCN cannot be expected to bear on a port, in words that need no context; ``remedy`` is general."""

    kind: Literal["beyond kmax", "breakdown"]
    text: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """Prediction for N equal flows on one port. ``q_star_bytes`` None: no marks, or the queue is beyond kmax.

    ``measured`` is what a simulator or a test bed adds to the words: goodput and pause as shares (0 to 1), bystander
    and burst as times of the idle one, by name.
    """

    p_star: float
    q_star_bytes: float | None
    cnp_per_s: float
    active_bound: str
    goodput: str
    bystander: str
    burst: str
    pause: str
    why: Why
    measured: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class _Case:
    """The numbers that decide the words; sizes in bytes."""

    speed_mbps: int
    kmin: float
    kmax: float
    bdp: int
    flows: int
    queue: float | None
    bounds: Bounds | None
    off: bool
    breakdown: int

    @property
    def cut_off(self) -> bool:
        """True where PFC starts below kmax even in a 1:1 overload: the upper part of the curve is never reached."""
        return self.bounds is not None and self.kmax >= self.bounds.incast_bytes

    @property
    def pfc_rules(self) -> bool:
        """True where PFC and not marking limits the queue: ECN is off, or q* lies beyond the start of pause."""
        if self.off:
            return True
        return self.cut_off and self.bounds is not None and (self.queue or self.kmax) >= self.bounds.incast_bytes

    @property
    def strictly_ordered(self) -> bool:
        """True where no queue of any port can pause before kmax."""
        return self.bounds is not None and self.kmax < min(self.bounds.strict_bytes, self.bounds.incast_bytes)

    def us(self, size: float) -> str:
        return show_us(size, self.speed_mbps)


def warnings(
    speed_mbps: int,
    flows: int,
    params: fluid.Params,
    kmin_bytes: int,
    kmax_bytes: int,
    pmax_percent: float,
    frame_bytes: int = 4178,
) -> tuple[Warned, ...]:
    """Whether ``flows`` equal flows settle beyond kmax, and whether they are as many as DCQCN was seen to fail with.

    Raises ValueError for numbers that cannot be.
    """
    point = fluid.fixed_point(speed_mbps, flows, params, frame_bytes)
    queue = fluid.queue_bytes(point.p, kmin_bytes, kmax_bytes, pmax_percent)
    return _warned(speed_mbps, flows, point, queue, kmax_bytes, pmax_percent)


def _warned(
    speed_mbps: int, flows: int, point: fluid.FixedPoint, queue: float | None, kmax: int, pmax_percent: float
) -> tuple[Warned, ...]:
    found: list[Warned] = []
    beyond = f"the queue stands beyond kmax {show_bytes(kmax)} and every packet is marked"
    if not point.exists:
        text = f"{flows} flows cannot be slowed to their share of {show_speed(speed_mbps)}: {beyond}"
        found.append(Warned("beyond kmax", text, "fewer flows per port; PFC will hold the queue"))
    elif queue is None:
        text = (
            f"{flows} flows settle where {point.p * 100:.3g} % of packets are marked, more than pmax "
            f"{pmax_percent:g} %: {beyond}"
        )
        found.append(Warned("beyond kmax", text, f"a pmax above {point.p * 100:.3g} %, or fewer flows per port"))
    most, source = fluid.breakdown_flows(speed_mbps)
    if flows >= most:
        text = f"{flows} flows on one port: DCQCN was seen to break down from {most} ({source})"
        found.append(Warned("breakdown", text, "fewer flows per port; PFC will hold the queue"))
    return tuple(found)


def outlook(
    speed_mbps: int,
    kmin_bytes: int | None,
    kmax_bytes: int | None,
    pmax_percent: float,
    flows: int,
    params: fluid.Params,
    bounds: Bounds | None,
    frame_bytes: int = 4178,
    rtt_us: float = 8.0,
) -> Outlook:
    """What to expect of a curve. ``kmin_bytes`` and ``kmax_bytes`` None: ECN is off. ``bounds`` None: not known.

    Raises ValueError for numbers that cannot be.
    """
    off = kmin_bytes is None or kmax_bytes is None
    if off and (kmin_bytes, kmax_bytes) != (None, None):
        raise ValueError("a marking curve needs both kmin and kmax; give neither where ECN is off")
    kmin, kmax = kmin_bytes or 0, kmax_bytes or 0
    if not off and not 0 < kmin <= kmax:
        raise ValueError(f"kmin must be above zero and not above kmax: got {kmin} and {kmax} bytes")
    point = fluid.fixed_point(speed_mbps, flows, params, frame_bytes)
    p = 0.0 if off else point.p
    queue = None if off else fluid.queue_bytes(p, kmin, kmax, pmax_percent)
    most, _ = fluid.breakdown_flows(speed_mbps)
    case = _Case(speed_mbps, kmin, kmax, bdp_bytes(speed_mbps, rtt_us), flows, queue, bounds, off, most)
    steps = [f"BDP at {show_speed(speed_mbps)} and {rtt_us:g} us: {case.bdp:,} B"]
    if off:
        steps.append("ECN is off: nothing is marked, PFC alone limits the queue")
    else:
        steps.append(f"kmin {kmin:,} B = {case.us(kmin)} = {kmin / case.bdp:.2g} BDP")
        steps.append(f"kmax {kmax:,} B = {case.us(kmax)} = {kmax / case.bdp:.2g} BDP, pmax {pmax_percent:g} %")
        steps += point.why.steps
        steps.append(_queue_step(case))
    active = [_active_bound(case)]
    if not off:
        active += [item.text for item in _warned(speed_mbps, flows, point, queue, kmax, pmax_percent)]
    inputs = (
        ("speed_mbps", speed_mbps),
        ("kmin_bytes", kmin),
        ("kmax_bytes", kmax),
        ("pmax_percent", pmax_percent),
        ("flows", flows),
        ("rtt_us", rtt_us),
    )
    why = Why("outlook", inputs, tuple(steps), tuple(active), source=_SOURCE)
    cnps = 0.0 if off else fluid.cnp_per_s(speed_mbps, flows, p, params, frame_bytes)
    return Outlook(p, queue, cnps, active[0], _goodput(case), _bystander(case), _burst(case), _pause(case), why)


def _queue_step(case: _Case) -> str:
    if case.queue is None:
        return f"q* of {case.flows} flows is beyond kmax: every packet is marked"
    return f"q* of {case.flows} flows: {case.queue:,.0f} B = {case.us(case.queue)}"


def _active_bound(case: _Case) -> str:
    if case.off:
        return "none: ECN is off"
    if case.bounds is None:
        return "not known: no buffer size or PFC bound for this port"
    strict, single = case.bounds.strict_bytes, case.bounds.incast_bytes
    if case.kmin >= single:
        return f"kmin is above the incast bound {single:,.0f} B: PFC comes before any mark"
    if case.cut_off:
        return f"kmax is above the incast bound {single:,.0f} B: PFC comes before certain marking"
    if not case.strictly_ordered:
        return f"kmax is above the strict bound {strict:,.0f} B, below the incast bound {single:,.0f} B"
    return f"kmax is below both bounds, strict {strict:,.0f} B and incast {single:,.0f} B"


def _goodput(case: _Case) -> str:
    if case.pfc_rules:
        return "best in symmetric traffic: little but pause slows the senders"
    if case.flows >= case.breakdown:
        return (
            f"unsure: DCQCN was seen to break down near {case.breakdown} flows per port, and {case.flows} are expected"
        )
    if case.queue is None:
        return f"uneven: {case.flows} flows keep the queue beyond kmax, every packet is marked and rates swing"
    if case.kmin < _SHORT_KMIN * case.bdp:
        return (
            f"at risk: marks start at {case.us(case.kmin)}, less than half the round trip of {case.us(case.bdp)}, so "
            "a cut can leave the link idle"
        )
    if case.kmax < _STEEP * case.kmin:
        return "a little below PFC alone, and it swings: marking goes from none to all within a short span"
    if case.kmin < case.bdp:
        return "a little below PFC alone: marks start before one round trip is queued"
    return "near PFC alone: a round trip of data is queued before the first mark"


def _bystander(case: _Case) -> str:
    if case.pfc_rules:
        return "about 7 times as long where it shares an ingress port: pause stops the whole priority"
    if case.bounds is None:
        return "spared while ECN acts before PFC, which is not known here"
    if case.queue is None:
        return "at risk: the queue stays beyond kmax, so pause and the bystander's wait depend on the buffer alone"
    if case.cut_off:
        return "held up whenever a burst passes the start of pause, which lies below kmax"
    if case.strictly_ordered:
        return "spared: senders are slowed before any ingress port is paused, but for a deep incast's first round trip"
    return "spared in ordinary incast; held up where many egress queues fill from one ingress, as PFC comes first there"


def _burst(case: _Case) -> str:
    start = f"{case.us(case.bdp)} for each further sender at line rate before the first cut, whatever the thresholds"
    if case.pfc_rules:
        return f"2 to 3 times as long: it waits behind a queue that only PFC limits; and {start}"
    if case.queue is None:
        return f"waits behind more than {case.us(case.kmax)} of standing queue; and {start}"
    wait = case.us(case.queue)
    if case.queue > _LONG_QUEUE * case.bdp:
        return f"slow: waits behind {wait} of standing queue, {case.queue / case.bdp:.2g} round trips; and {start}"
    return f"waits behind {wait} of standing queue; and {start}"


def _pause(case: _Case) -> str:
    if case.off:
        return "does all the work: expect it wherever two senders meet"
    if case.bounds is None:
        return "not known: the buffer's bounds are needed"
    single = case.us(case.bounds.incast_bytes)
    if case.pfc_rules:
        return f"does most of the work: starts at {single} of queue, before marks hold the senders"
    if case.queue is None:
        return f"likely: every packet is marked and the queue still grows towards {single}"
    if case.cut_off:
        return f"frequent in bursts: starts at {single} of queue, below kmax at {case.us(case.kmax)}"
    if case.strictly_ordered:
        return f"rare: only while a deep incast starts; {single} of queue lie before it 1:1"
    return f"rare in ordinary incast ({single} of queue lie before it 1:1); likely when all egress queues fill at once"

"""Where DCQCN settles: the fixed point of its fluid model, and what follows for queue and CNPs.

N equal flows share a port of C packets per second; each then sends at r = C/N. With the CNP interval tau, the alpha
timer tau', the increase timer T, the byte counter B (packets), F fast-recovery stages and the additive step R_AI
(packets per second), and with p the marking probability, write

    a     = 1 - (1-p)^(tau r)          share of CNP intervals in which a flow is cut
    alpha = 1 - (1-p)^(tau' r)         from d(alpha)/dt = 0; the gain g drops out
    b = p / ((1-p)^-B - 1)             c = b (1-p)^(F B)            increases by byte counter: all, additive ones
    d = p / ((1-p)^-(T r) - 1)         e = d (1-p)^(F T r)          increases by timer:        all, additive ones

    d(R_T)/dt = 0:   (R_T - r) a / tau = R_AI r (c + e)
    d(R_C)/dt = 0:   r alpha a / (2 tau) = (R_T - r) r (b + d) / 2

Put the first into the second, R_T is gone and one equation is left, which :func:`fixed_point` solves:

    alpha a^2 = tau^2 R_AI r (b + d) (c + e)

The left side grows with p and the right side falls from infinity to zero, so there is one solution. It is bisected in
y = -ln(1-p) and in logarithms, which keeps both ends exact: p of 1e-12, and 1-p of 1e-12. For small p all terms
are linear, and p^3 = R_AI N^2 / (tau' C^2) * (1/B + N/(T C))^2, the cube root that starts the bracket.

Source: model of DCQCN (SIGCOMM 2015) and of "ECN or Delay" (CoNEXT 2016), recalled, form checked against the cube root.
Stability is not judged: only packet simulation does that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from rocetune.model.plan import Why
from rocetune.model.units import show_speed
from rocetune.tuning.wire import positive

Preset = Literal["firmware", "scaled", "paper"]

_NONE_FIXED: Mapping[str, int] = MappingProxyType({})
_CERTAIN = 1 - 1e-12  # from here every packet is marked
_BYTE_COUNTER = "byte counter taken as off: the unit of the NIC's 32767 is not confirmed; were it bytes, p* would rise"
_DEFAULTS = "published mlx5 defaults (mlxconfig dumps in several public repositories); the NIC itself was not read"
_SPACING = "CNP spacing 0, 2 or 4 us by model and firmware: 4 us taken, which is also the least time between two cuts"
_PER_FLOW = "CNPs are paced per flow as in the paper; a NIC that paces per port sends fewer"


@dataclass(frozen=True, slots=True)
class Params:
    """DCQCN as the fluid model sees it. ``assumed`` names what no document confirms.

    ``byte_counter_bytes`` None: increases come from the timer alone. ``cnp_interval_us`` is the larger of the
    receiver's CNP spacing and the sender's least time between two cuts.
    """

    ai_mbps: float
    timer_us: float
    byte_counter_bytes: float | None
    cnp_interval_us: float
    alpha_timer_us: float
    fast_recovery: int
    source: str
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Where N flows settle. ``exists`` False: even marking every packet does not hold the flows at C/N; p is 1."""

    p: float
    cube_root: float
    flow_mbps: float
    exists: bool
    why: Why


_FIRMWARE = Params(5, 300, None, 4, 1, 1, _DEFAULTS, (_BYTE_COUNTER, _SPACING, _PER_FLOW))
_PAPER = Params(
    40,
    55,
    10_000_000,
    50,
    55,
    5,
    "DCQCN, SIGCOMM 2015",
    ("byte counter of the paper, 10 MB; a NIC keeps its own, whose unit is not confirmed", _PER_FLOW),
)


def scaled_rates(speed_mbps: int) -> tuple[int, int]:
    """Additive and hyper increase in Mbit/s: 5 and 50 per 25G of line rate (100G: 20 and 200), 1 at least."""
    positive(speed_mbps, "a port speed", "400000 Mbit/s")
    return max(1, round(5 * speed_mbps / 25_000)), max(1, round(50 * speed_mbps / 25_000))


def params(preset: Preset, speed_mbps: int, fixed: Mapping[str, int] = _NONE_FIXED) -> Params:
    """The model's parameters of a preset, with a user's fixed values (mlx5 names, the NIC's units) on top.

    A fixed byte counter other than 0 (off) is not converted: its unit is not confirmed. Raises ValueError for an
    unknown preset, a speed that cannot be, or timers of zero.
    """
    positive(speed_mbps, "a port speed", "400000 Mbit/s")
    if preset == "paper":
        made = _PAPER
    elif preset == "firmware":
        made = _FIRMWARE
    elif preset == "scaled":
        source = "5 Mbit/s per 25G as in HPCC's simulations; timers: " + _DEFAULTS
        made = replace(_FIRMWARE, ai_mbps=scaled_rates(speed_mbps)[0], source=source)
    else:
        raise ValueError(f"{preset!r} is no DCQCN preset: firmware, scaled or paper")
    return _with_fixed(made, fixed, 50 if preset == "paper" else 4) if fixed else made


_COUNTED = frozenset(
    {
        "dce_tcp_rtt",
        "min_time_between_cnps",
        "rate_reduce_monitor_period",
        "rpg_ai_rate",
        "rpg_byte_reset",
        "rpg_threshold",
        "rpg_time_reset",
    }
)  # parameters of a NIC that the model knows; the gain of alpha drops out


def _with_fixed(made: Params, fixed: Mapping[str, int], spacing_us: int) -> Params:
    spacing = max(fixed.get("min_time_between_cnps", spacing_us), fixed.get("rate_reduce_monitor_period", 4))
    byte_counter, assumed = made.byte_counter_bytes, made.assumed
    counter = fixed.get("rpg_byte_reset")
    if counter is not None:
        byte_counter = None
        assumed = tuple(item for item in assumed if not item.startswith("byte counter"))
        if counter:
            assumed = (f"byte counter {counter} taken as off: its unit on the NIC is not confirmed", *assumed)
    if "min_time_between_cnps" in fixed:
        assumed = tuple(item for item in assumed if item != _SPACING)
    left = sorted(set(fixed) - _COUNTED)
    if left:
        assumed = (*assumed, f"{', '.join(left)}: not in the fluid model, so the prediction is made without")
    if fixed.get("rpg_ai_rate") == 0:
        assumed = (*assumed, "rpg_ai_rate 0: flows do not speed up again, so where they settle says little")
    counted = ", ".join(sorted(set(fixed) & _COUNTED))
    return replace(
        made,
        ai_mbps=fixed.get("rpg_ai_rate", made.ai_mbps),
        timer_us=positive(fixed.get("rpg_time_reset", made.timer_us), "an increase timer", "300 us"),
        byte_counter_bytes=byte_counter,
        cnp_interval_us=positive(spacing, "a CNP interval", "4 us"),
        alpha_timer_us=positive(fixed.get("dce_tcp_rtt", made.alpha_timer_us), "an alpha timer", "1 us"),
        fast_recovery=fixed.get("rpg_threshold", made.fast_recovery),
        source=f"{made.source}; fixed by the user: {counted}" if counted else made.source,
        assumed=assumed,
    )


@dataclass(frozen=True, slots=True)
class _Model:
    """The equation in packets and seconds."""

    rate: float  # r
    port: float  # C
    ai: float
    timer: float
    byte_counter: float | None
    tau: float
    alpha_timer: float
    stages: int

    def excess(self, y: float) -> float:
        """ln(left / right) of the equation at p = 1 - exp(-y); grows with y."""
        timer = self.timer * self.rate
        all_of = [(timer, _log_increase(y, timer))]
        if self.byte_counter is not None:
            all_of.append((self.byte_counter, _log_increase(y, self.byte_counter)))
        every = _log_sum([log for _, log in all_of])
        additive = _log_sum([log - self.stages * count * y for count, log in all_of])
        alpha = math.log(-math.expm1(-self.alpha_timer * self.rate * y))
        cut = math.log(-math.expm1(-self.tau * self.rate * y))
        return alpha + 2 * cut - math.log(self.tau**2 * self.ai * self.rate) - every - additive

    def cube_root(self) -> float:
        counted = 1 / self.byte_counter if self.byte_counter is not None else 0.0
        per_packet = counted + 1 / (self.timer * self.rate)
        return math.cbrt(self.ai / (self.alpha_timer * self.rate**2) * per_packet**2)


def _log_increase(y: float, count: float) -> float:
    """ln( p / ((1-p)^-count - 1) ), also where the power would overflow."""
    grown = count * y
    return math.log(-math.expm1(-y)) - grown - math.log(-math.expm1(-grown))


def _log_sum(logs: list[float]) -> float:
    top = max(logs)
    return top + math.log(sum(math.exp(log - top) for log in logs))


def _model(speed_mbps: int, flows: int, params: Params, packet_bytes: int) -> _Model:
    positive(speed_mbps, "a port speed", "400000 Mbit/s")
    positive(flows, "a number of flows", "16")
    packet = positive(packet_bytes, "a packet size", "4178") * 8e-6  # Mbit
    counter = params.byte_counter_bytes
    return _Model(
        rate=speed_mbps / packet / flows,
        port=speed_mbps / packet,
        ai=params.ai_mbps / packet,
        timer=positive(params.timer_us, "an increase timer", "300 us") * 1e-6,
        byte_counter=None if counter is None else positive(counter, "a byte counter", "10000000") / packet_bytes,
        tau=positive(params.cnp_interval_us, "a CNP interval", "50 us") * 1e-6,
        alpha_timer=positive(params.alpha_timer_us, "an alpha timer", "55 us") * 1e-6,
        stages=params.fast_recovery,
    )


def fixed_point(speed_mbps: int, flows: int, params: Params, packet_bytes: int = 1000) -> FixedPoint:
    """The marking probability at which ``flows`` equal flows share a port, with its arithmetic.

    Without an additive increase nothing pushes back and p is 0. Raises ValueError for numbers that cannot be.
    """
    model = _model(speed_mbps, flows, params, packet_bytes)
    root = 0.0 if params.ai_mbps <= 0 else model.cube_root()
    p = 0.0 if params.ai_mbps <= 0 else -math.expm1(-_bisect(model, root))
    exists = p < _CERTAIN
    flow = speed_mbps / flows
    share = f"{flow:,.0f}" if flow >= 100 else f"{flow:.3g}"
    counter = params.byte_counter_bytes
    steps = [
        f"{flows} flows on {show_speed(speed_mbps)}: {share} Mbit/s each, {model.rate:,.0f} packets/s of "
        f"{packet_bytes} B",
        f"R_AI {params.ai_mbps:g} Mbit/s, T {params.timer_us:g} us, B "
        + ("off" if counter is None else f"{counter:,.0f} B")
        + f", F {params.fast_recovery}, CNP interval {params.cnp_interval_us:g} us, alpha timer "
        f"{params.alpha_timer_us:g} us",
        f"cube root for small p: {root:.3g}",
    ]
    if exists:
        steps.append(f"alpha a^2 = tau^2 R_AI r (b+d)(c+e), bisected: p* = {p:.3g}")
    else:
        p = 1.0
        steps.append(
            f"no fixed point below p = 1: a flow sends {model.tau * model.rate:.2g} packets per CNP interval, too few "
            "to be cut as often as it is raised"
        )
    inputs = (("speed_mbps", speed_mbps), ("flows", flows), ("packet_bytes", packet_bytes))
    steps += [f"assumed: {item}" for item in params.assumed]
    source = f"fluid model of DCQCN (SIGCOMM 2015, CoNEXT 2016; recalled); parameters: {params.source}"
    return FixedPoint(p, root, flow, exists, Why("dcqcn.fixed_point", inputs, tuple(steps), source=source))


def _bisect(model: _Model, start: float) -> float:
    low = high = max(start, 1e-300)
    while model.excess(low) > 0 and low > 1e-290:
        low /= 8
    while model.excess(high) < 0 and high < 1e12:
        high *= 8
    for _ in range(200):
        middle = math.sqrt(low) * math.sqrt(high)
        if middle in (low, high):
            break
        low, high = (middle, high) if model.excess(middle) < 0 else (low, middle)
    return math.sqrt(low) * math.sqrt(high)


def marking_probability(speed_mbps: int, flows: int, params: Params, packet_bytes: int = 1000) -> float:
    """p* of :func:`fixed_point`, 0 to 1; exactly 1 means that there is none below."""
    return fixed_point(speed_mbps, flows, params, packet_bytes).p


def cube_root(speed_mbps: int, flows: int, params: Params, packet_bytes: int = 1000) -> float:
    """p* for small p; 15 to 40 % too high in the range of interest, and without meaning above 1."""
    if params.ai_mbps <= 0:
        return 0.0
    return _model(speed_mbps, flows, params, packet_bytes).cube_root()


def queue_bytes(p: float, kmin_bytes: float, kmax_bytes: float, pmax_percent: float) -> float | None:
    """Queue whose marking probability is p: ``kmin + p/pmax * (kmax-kmin)``; None beyond kmax, where all is marked.

    A step (kmin = kmax) holds the queue at the step for every p below 1.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"a probability lies between 0 and 1: got {p}")
    if p >= 1:
        return None
    if kmin_bytes >= kmax_bytes:
        return float(kmax_bytes)
    most = positive(pmax_percent, "pmax", "20 (percent)") / 100
    return None if p > most else kmin_bytes + p / most * (kmax_bytes - kmin_bytes)


def cnp_per_s(speed_mbps: int, flows: int, p: float, params: Params, packet_bytes: int = 1000) -> float:
    """CNPs that the receivers behind the port send per second: ``N/tau * (1 - (1-p)^(tau C/N))``.

    At most one per flow and CNP interval, and never more than there are marked packets.
    """
    model = _model(speed_mbps, flows, params, packet_bytes)
    share = 1.0 if p >= 1 else -math.expm1(model.tau * model.rate * math.log1p(-p))
    return min(flows / model.tau * share, p * model.port)


def breakdown_flows(speed_mbps: int) -> tuple[int, str]:
    """Flows per bottleneck from which DCQCN with default parameters was seen to break down, with the source.

    A speed between two published ones has the lower figure; above 100G nothing is published and the largest stands.
    """
    positive(speed_mbps, "a port speed", "400000 Mbit/s")
    source = "DCQCN+ (translated text)"
    if speed_mbps >= 100_000:
        more = "" if speed_mbps == 100_000 else f", nothing is published for {show_speed(speed_mbps)}"
        return 480, f"{source}: a ConnectX-4 breaks down near 480 to 560 flows; its port speed is not stated{more}"
    flows, known = (160, 40_000) if speed_mbps >= 40_000 else (80, 10_000)
    more = "" if speed_mbps == known else f", taken for {show_speed(speed_mbps)}"
    return flows, f"{source}: near {flows} flows at {show_speed(known)}{more}"

"""Shared packet buffer: dynamic thresholds, and whether all lossless priorities of a switch fit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rocetune.model.plan import Why
from rocetune.tuning import wire
from rocetune.tuning.wire import positive

AI_OVERSUBSCRIPTION = 2.0  # our judgement for synchronised incast; above it the plan warns
DEFAULT_ALPHA = 1.0  # dynamic_th 0 of SONiC's lossless default, "ingress threshold 1" of EOS recipes


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


def xon_gap_bytes(mtu_bytes: int) -> int:
    """How far XON lies below XOFF so that pause does not flap: two full frames (DCQCN's test bed)."""
    return 2 * mtu_bytes


def starvation_bytes(speed_mbps: int, cable_m: float) -> int:
    """Bytes an egress drains during one pause round trip; a wider XON gap than this can leave it idle."""
    reaction = wire.reaction_quanta(speed_mbps) * wire.QUANTUM_BYTES
    return round(wire.cable_round_trip_bytes(speed_mbps, cable_m) + reaction)


@dataclass(frozen=True, slots=True)
class HeadroomPool:
    """A pool shared by priority groups that need ``need_bytes`` together."""

    need_bytes: int
    pool_bytes: int
    oversubscription: float
    pausing_at_once: int  # priority groups of the given headroom that the pool holds


def headroom_pool(headroom_bytes: int, groups: int, pool_bytes: int) -> HeadroomPool:
    """What a shared headroom pool means for ``groups`` lossless (port, priority) pairs of one headroom."""
    positive(pool_bytes, "a pool size", "27200352")
    need = headroom_bytes * groups
    return HeadroomPool(
        need, pool_bytes, need / pool_bytes, int(pool_bytes // positive(headroom_bytes, "headroom", "1"))
    )


@dataclass(frozen=True, slots=True)
class Need:
    """Equal ports of one switch: their headroom per lossless priority, and the MTU they are guaranteed."""

    ports: int
    priorities: int  # lossless ones, owned and foreign
    headroom_bytes: int
    mtu_bytes: int


@dataclass(frozen=True, slots=True)
class Fit:
    """What is left for sharing. ``shared_bytes`` is S, per slice where a chip's slices cannot lend."""

    buffer_bytes: int
    need_bytes: int
    minimum_bytes: int
    shared_bytes: int
    ports_per_slice: int
    feasible: bool
    why: Why


def fit(buffer_bytes: int, needs: Iterable[Need], *, slices: int = 1, reserved_bytes: int = 0) -> Fit:
    """Private headroom for every pair, then ``S = B - reserved - need``; feasible while S covers one frame per port.

    Ports are taken as spread evenly over the slices.
    """
    needs = tuple(needs)
    need = sum(item.ports * item.priorities * item.headroom_bytes for item in needs)
    minimum = sum(item.ports * item.mtu_bytes for item in needs)
    ports = sum(item.ports for item in needs)
    left = buffer_bytes - reserved_bytes - need
    steps = [
        f"{item.ports} ports x {item.priorities} lossless x {item.headroom_bytes:,} B = "
        f"{item.ports * item.priorities * item.headroom_bytes:,} B"
        for item in needs
        if item.priorities
    ]
    minus = f" - {reserved_bytes:,}" if reserved_bytes else ""
    steps.append(f"S = {buffer_bytes:,}{minus} - {need:,} = {left:,} B")
    if slices > 1:
        steps.append(f"{slices} slices that do not lend: S = {left // slices:,} B each")
    why = Why(
        "buffer.fit",
        (("buffer_bytes", buffer_bytes), ("ports", ports), ("slices", slices), ("reserved_bytes", reserved_bytes)),
        tuple(steps),
        (f"S must cover one frame per port: {minimum:,} B",),
        source="dynamic-threshold shared buffer, headroom private to each (port, priority)",
    )
    return Fit(buffer_bytes, need, minimum, left // slices, math.ceil(ports / slices), left >= minimum, why)


def ratio_needed(result: Fit) -> float | None:
    """Over-subscription at which a shared headroom pool would fit; None when even the frames do not."""
    room = result.buffer_bytes - result.minimum_bytes
    return result.need_bytes / room if room > 0 else None

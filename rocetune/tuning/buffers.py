"""Shared packet buffer: whether all lossless priorities of a switch fit, headroom pools, and the ways out.

Where pause starts and ends is in :mod:`rocetune.tuning.thresholds`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rocetune.model.plan import Why
from rocetune.tuning.asics import Asic, Pool
from rocetune.tuning.wire import positive

AI_OVERSUBSCRIPTION = 2.0  # our judgement for synchronised incast; above it the plan warns
OVERSUBSCRIBED = f"over-subscribed by more than {AI_OVERSUBSCRIPTION:g}: a synchronised incast may run out of it"
CABLE_CLASSES_M = (2000.0, 1000.0, 500.0, 300.0, 150.0, 100.0, 50.0, 40.0, 30.0, 10.0, 5.0, 3.0, 2.0, 1.0)


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


# Whether SONiC's ingress_lossless_pool.size already contains its xoff (the headroom pool), by ASIC.
POOL_CONTAINS_HEADROOM: Mapping[str, tuple[bool, str]] = {
    "trident-3": (True, "sonic-buildimage 7050CX3-32S: size + xoff would exceed the chip"),
    "tomahawk": (False, "sonic-buildimage 7060CX-32S: size and xoff are apart"),
    "tomahawk-2": (False, "sonic-buildimage Z9264F: size + xoff equals the egress pool 43468672"),
    "tomahawk-3": (True, "sonic-buildimage Z9332F: size + xoff would exceed the chip"),
    "tomahawk-5": (True, "sonic-buildimage Z9864F: size + xoff would exceed the chip"),
}


@dataclass(frozen=True, slots=True)
class SharedPool:
    """What a configured ``size`` and ``xoff`` leave for sharing. ``confirmed`` False: the smaller reading is taken."""

    shared_bytes: int
    confirmed: bool
    why: Why


def pool_shared(asic: str, size_bytes: int, xoff_bytes: int, chip_bytes: int | None = None) -> SharedPool:
    """S of SONiC's ``ingress_lossless_pool``; ``asic`` is a key of asics.yaml.

    Platforms differ in whether ``size`` contains ``xoff``. For one that is not listed the chip decides where the sum
    would not fit it, else the smaller reading is taken and said. Raises ValueError when nothing is left.
    """
    positive(size_bytes, "a pool size", "66394076 bytes")
    known = POOL_CONTAINS_HEADROOM.get(asic)
    confirmed = True
    if known is not None:
        inside, source = known
    elif chip_bytes is not None and size_bytes + xoff_bytes > chip_bytes:
        inside, source = True, f"size + xoff = {size_bytes + xoff_bytes:,} B would exceed the chip's {chip_bytes:,} B"
    else:
        inside, source, confirmed = True, "assumed: no file of this platform tells, so the smaller reading", False
    shared = size_bytes - xoff_bytes if inside else size_bytes
    if shared <= 0:
        raise ValueError(f"a pool of {size_bytes:,} B that contains {xoff_bytes:,} B of headroom shares nothing")
    step = f"S = {size_bytes:,} - {xoff_bytes:,} = {shared:,} B" if inside else f"S = size = {shared:,} B"
    words = "size contains the headroom pool" if inside else "the headroom pool is beside size"
    inputs = (("asic", asic), ("size_bytes", size_bytes), ("xoff_bytes", xoff_bytes))
    return SharedPool(shared, confirmed, Why("buffer.sonic_pool", inputs, (words, step), source=source))


def with_own_pools(asic: Asic, pool: Pool | None, found: Fit) -> Fit:
    """S as SONiC has it: what the pools that it configures on a model leave, whatever these ports add up to.

    The same Fit where it is not feasible, or the pools are not known.
    """
    if pool is None or not pool.packets_bytes or not pool.headroom_bytes or not found.feasible:
        return found
    left = pool_shared(asic.key, pool.packets_bytes, pool.headroom_bytes, asic.nominal_bytes)
    each = left.shared_bytes // asic.slices
    steps = [step for step in found.why.steps if " lossless x " in step]
    steps += [f"{left.why.steps[0]} ({left.why.source})", f"SONiC's pools on {pool.model}: {left.why.steps[1]}"]
    if asic.slices > 1:
        steps.append(f"{asic.slices} slices that do not lend: S = {each:,} B each")
    return replace(found, shared_bytes=each, why=replace(found.why, steps=tuple(steps), source="sonic-buildimage"))


@dataclass(frozen=True, slots=True)
class Need:
    """Equal ports of one switch: their headroom per lossless priority, and the MTU they are guaranteed."""

    ports: int
    priorities: int  # lossless ones, owned and foreign
    headroom_bytes: int
    mtu_bytes: int


@dataclass(frozen=True, slots=True)
class Fit:
    """What is left for sharing. ``shared_bytes`` is S, per slice where a chip's slices cannot lend.

    ``need_bytes`` is the headroom of every pair, ``pool_bytes`` what is set aside for it: less where over-subscribed.
    """

    buffer_bytes: int
    need_bytes: int
    pool_bytes: int
    minimum_bytes: int
    shared_bytes: int
    ports_per_slice: int
    feasible: bool
    oversubscription: float
    why: Why

    @property
    def room_bytes(self) -> int:
        """What headroom may take: the buffer without one frame per port; negative where not even those fit."""
        return self.buffer_bytes - self.minimum_bytes


def fit(buffer_bytes: int, needs: Iterable[Need], *, slices: int = 1, oversubscription: float = 1.0) -> Fit:
    """``S = B - need / oversubscription``, B without what the platform reserves; feasible while S covers the frames.

    With an over-subscription above 1 all pairs share one headroom pool, which holds only some of them at a time; one
    frame per port must remain either way. Ports are taken as spread evenly over the slices. Raises ValueError for an
    over-subscription below 1, or one whose pool does not hold a single pair.
    """
    needs = tuple(needs)
    need = sum(item.ports * item.priorities * item.headroom_bytes for item in needs)
    minimum = sum(item.ports * item.mtu_bytes for item in needs)
    ports = sum(item.ports for item in needs)
    steps = [
        f"{item.ports} ports x {item.priorities} lossless x {item.headroom_bytes:,} B = "
        f"{item.ports * item.priorities * item.headroom_bytes:,} B"
        for item in needs
        if item.priorities
    ]
    pool, active = need, [f"S must cover one frame per port: {minimum:,} B"]
    inputs: list[tuple[str, int | float]] = [("buffer_bytes", buffer_bytes), ("ports", ports), ("slices", slices)]
    source = "dynamic-threshold shared buffer, headroom private to each (port, priority)"
    if oversubscription != 1:
        pool, step = _shared_headroom(needs, need, slices, oversubscription)
        steps.append(step)
        inputs.append(("oversubscription", oversubscription))
        source = "dynamic-threshold shared buffer, one headroom pool for all (port, priority) pairs"
        if oversubscription > AI_OVERSUBSCRIPTION:
            active.append(OVERSUBSCRIBED)
    left = buffer_bytes - pool
    steps.append(f"S = {buffer_bytes:,} - {pool:,} = {left:,} B")
    if slices > 1:
        steps.append(f"{slices} slices that do not lend: S = {left // slices:,} B each")
    why = Why("buffer.fit", tuple(inputs), tuple(steps), tuple(active), source=source)
    per_slice = math.ceil(ports / slices)
    return Fit(buffer_bytes, need, pool, minimum, left // slices, per_slice, left >= minimum, oversubscription, why)


def _shared_headroom(needs: tuple[Need, ...], need: int, slices: int, ratio: float) -> tuple[int, str]:
    """The pool of an over-subscription, and how many of the largest pairs it holds at once."""
    if not math.isfinite(ratio) or ratio < 1:
        raise ValueError(f"an over-subscription is 1 or more, as in 2: got {ratio:g}")
    pool = math.ceil(need / ratio)
    largest = max((item.headroom_bytes for item in needs if item.priorities), default=0)
    pairs = sum(item.ports * item.priorities for item in needs)
    if not largest:
        return pool, "no lossless priority: no headroom pool"
    at_once = pool // slices // largest
    if not at_once:
        raise ValueError(
            f"over-subscribed {ratio:g} times, a headroom pool of {pool // slices:,} B does not hold one headroom of "
            f"{largest:,} B: {need / slices / largest:.3g} times is the most"
        )
    where = f" on each of {slices} slices" if slices > 1 else ""
    step = (
        f"headroom pool: {need:,} / {ratio:g} = {pool:,} B; {at_once} of {pairs} groups of {largest:,} B can pause at "
        f"once{where}"
    )
    return pool, step


def ratio_needed(result: Fit) -> float | None:
    """Over-subscription at which a shared headroom pool would fit; None when even the frames do not."""
    return result.need_bytes / result.room_bytes if result.room_bytes > 0 else None


@dataclass(frozen=True, slots=True)
class WayOut:
    """One way to make headroom fit. ``value``: metres, lossless priorities or over-subscription.

    ``fits`` False: even this is not enough, ``need_bytes`` is what it would still need.
    """

    kind: Literal["shorter_cable", "fewer_priorities", "oversubscribe"]
    value: float
    need_bytes: int
    fits: bool
    text: str


def ways_out(
    result: Fit,
    needs: Iterable[Need],
    *,
    cable_m: float | None = None,
    headroom_at: Callable[[float], int] | None = None,
    accepted: float = AI_OVERSUBSCRIPTION,
) -> tuple[WayOut, ...]:
    """Shorter cables, fewer lossless priorities, a shared headroom pool: each with the numbers, for a Fit that fails.

    ``headroom_at`` gives the headroom of the ports with the longest cables, ``cable_m``, at another length; ports that
    need less than that keep what they have. ``accepted`` is the over-subscription that raises no warning.
    """
    needs, room = tuple(needs), result.room_bytes
    held = math.floor(room * result.oversubscription)  # the largest need that fits
    ways = []
    if cable_m is not None and headroom_at is not None:
        way = _shorter(needs, held, cable_m, headroom_at)
        ways += [way] if way else []
    most = max((item.priorities for item in needs), default=0)
    if most > 1:
        ways.append(_fewer(needs, held, most))
    if room > 0 and result.need_bytes > room:
        ratio = math.ceil(result.need_bytes / room * 100 - 1e-9) / 100
        pool = math.ceil(result.need_bytes / ratio)
        words = "" if ratio <= accepted else f", more than the {accepted:g} that a synchronised incast bears"
        text = f"a shared headroom pool of {pool:,} B, over-subscribed {ratio:.2f} times{words}"
        ways.append(WayOut("oversubscribe", ratio, pool, ratio <= accepted, text))
    return tuple(ways)


def _shorter(needs: tuple[Need, ...], room: int, cable_m: float, headroom_at: Callable[[float], int]) -> WayOut | None:
    best: WayOut | None = None
    for length in CABLE_CLASSES_M:
        if length >= cable_m:
            continue
        size = headroom_at(length)
        need = sum(item.ports * item.priorities * min(item.headroom_bytes, size) for item in needs)
        fits = need <= room
        text = f"cables of {length:g} m need {size:,} B each, {need:,} B together" + (
            "" if fits else ": still too much"
        )
        best = WayOut("shorter_cable", length, need, fits, text)
        if fits:
            break
    return best


def _fewer(needs: tuple[Need, ...], room: int, most: int) -> WayOut:
    for priorities in range(most - 1, 0, -1):
        need = sum(item.ports * min(item.priorities, priorities) * item.headroom_bytes for item in needs)
        if need <= room or priorities == 1:
            break
    fits = need <= room
    some = "priority" if priorities == 1 else "priorities"
    text = f"{priorities} lossless {some} instead of {most} need {need:,} B" + ("" if fits else ": still too much")
    return WayOut("fewer_priorities", priorities, need, fits, text)

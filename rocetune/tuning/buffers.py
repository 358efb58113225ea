"""Shared packet buffer: whether all lossless priorities of a switch fit, headroom pools, and the ways out.

Where pause starts and ends is in :mod:`rocetune.tuning.thresholds`; its names are available here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from rocetune.model.plan import Why
from rocetune.tuning.thresholds import DEFAULT_ALPHA as DEFAULT_ALPHA
from rocetune.tuning.thresholds import Hysteresis as Hysteresis
from rocetune.tuning.thresholds import alpha_of_sonic as alpha_of_sonic
from rocetune.tuning.thresholds import hysteresis as hysteresis
from rocetune.tuning.thresholds import sonic_of_alpha as sonic_of_alpha
from rocetune.tuning.thresholds import starvation_bytes as starvation_bytes
from rocetune.tuning.thresholds import steady_bytes as steady_bytes
from rocetune.tuning.thresholds import xon_gap_bytes as xon_gap_bytes
from rocetune.tuning.wire import positive

AI_OVERSUBSCRIPTION = 2.0  # our judgement for synchronised incast; above it the plan warns
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


@dataclass(frozen=True, slots=True)
class ProfileUse:
    """A SONiC buffer profile and how many priority groups use it."""

    count: int
    size_bytes: int
    xon_bytes: int = 0
    xoff_bytes: int = 0
    lossless: bool = True


@dataclass(frozen=True, slots=True)
class DynamicPool:
    """Pools that SONiC's dynamic model computes."""

    pool_bytes: int
    headroom_pool_bytes: int
    why: Why


_KIB = 1024
_FORCED_POOL = 655_360


def sonic_dynamic_pool(
    mmu_bytes: int,
    cell_bytes: int,
    uses: Iterable[ProfileUse],
    *,
    ports: int,
    lossless_ports: int | None = None,
    oversubscribe: float | None = None,
    pool_bytes: int | None = None,
    spectrum_6: bool = False,
    ingress_pools: int = 1,
) -> DynamicPool:
    """Ingress pool as SONiC's dynamic model computes it on NVIDIA switches (sonic-swss buffer_pool_mellanox.lua).

    ``ports`` are those that are up, all lossless unless ``lossless_ports`` says less; ``oversubscribe`` or
    ``pool_bytes`` switch the shared headroom pool on. Extra room of eight-lane ports is not modelled. Pools change
    when ports go up or down, so they are no intent to compare with.
    Raises ValueError when nothing is left.
    """
    uses = tuple(uses)
    pipeline = (42 if spectrum_6 else 19) * _KIB
    lossless_groups = sum(item.count for item in uses if item.lossless)
    borrowed = sum(item.count * (item.xon_bytes + item.xoff_bytes - item.size_bytes) for item in uses if item.lossless)
    shared = pool_bytes is not None or oversubscribe is not None
    private = (ports if lossless_ports is None else lossless_ports) * 10 * _KIB if shared and lossless_groups else 0
    pool = 0
    if pool_bytes is not None:
        pool = pool_bytes
    elif oversubscribe is not None:
        pool = (
            math.ceil(max(0, borrowed - private) / positive(oversubscribe, "an over-subscription", "2")) or _FORCED_POOL
        )
    elif borrowed > 0:
        pool = _FORCED_POOL  # profiles borrow although no pool was asked for
    groups = sum(item.count * (item.size_bytes + (0 if item.lossless else pipeline)) for item in uses)
    mirror = 0 if spectrum_6 else ports * 10 * _KIB
    parts = (
        ("priority groups", groups),
        ("private headroom, 10 KiB per lossless port", private),
        ("management groups of the ports", ports * pipeline),
        ("egress mirror, 10 KiB per port", mirror),
        ("management pool", 256 * _KIB),
        ("descriptors", 32 * _KIB * _KIB if spectrum_6 else 0),
        ("headroom pool", pool),
    )
    taken = sum(size for _, size in parts)
    whole = mmu_bytes // int(positive(cell_bytes, "a cell size", "192")) * cell_bytes
    left = min((mmu_bytes - taken) // ingress_pools, whole)
    if left <= 0:
        raise ValueError(f"{mmu_bytes:,} B of buffer cannot hold {taken:,} B of reservations: nothing is left to share")
    steps = (
        *(f"{name}: {size:,} B" for name, size in parts if size),
        f"({mmu_bytes:,} - {taken:,}) / {ingress_pools} = {left:,} B",
    )
    inputs = (
        ("mmu_bytes", mmu_bytes),
        ("cell_bytes", cell_bytes),
        ("ports", ports),
        ("lossless_groups", lossless_groups),
    )
    why = Why("buffer.sonic_dynamic", inputs, steps, source="sonic-swss buffer_pool_mellanox.lua")
    return DynamicPool(left, pool, why)


def per_100g_bytes(buffer_bytes: int, capacity_gbps: int) -> float:
    """Buffer per 100G of switching capacity; it falls with every generation."""
    return buffer_bytes * 100 / positive(capacity_gbps, "a capacity", "12800 Gbit/s")


def buffer_time_us(buffer_bytes: int, capacity_gbps: int) -> float:
    """How long the whole chip can send from a full buffer, microseconds."""
    return buffer_bytes * 8 / (positive(capacity_gbps, "a capacity", "12800 Gbit/s") * 1000)


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
    reserved_bytes: int = 0


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
    return Fit(
        buffer_bytes, need, minimum, left // slices, math.ceil(ports / slices), left >= minimum, why, reserved_bytes
    )


def ratio_needed(result: Fit) -> float | None:
    """Over-subscription at which a shared headroom pool would fit; None when even the frames do not."""
    room = result.buffer_bytes - result.reserved_bytes - result.minimum_bytes
    return result.need_bytes / room if room > 0 else None


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
    needs = tuple(needs)
    room = result.buffer_bytes - result.reserved_bytes - result.minimum_bytes
    ways = []
    if cable_m is not None and headroom_at is not None:
        way = _shorter(needs, room, cable_m, headroom_at)
        ways += [way] if way else []
    most = max((item.priorities for item in needs), default=0)
    if most > 1:
        ways.append(_fewer(needs, room, most))
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

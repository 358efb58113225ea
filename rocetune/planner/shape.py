"""Devices that are alike: the same chip with the same number of ports of each combination.

Whether buffers fit, and how far ECN may go before PFC, depends on all ports of a switch together. It is worked out
once per shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rocetune.model.plan import DeviceQos, Setting, Why
from rocetune.model.qos import Path
from rocetune.planner.classes import by_priority, lossless, marking_of, roce_class, tos_of
from rocetune.planner.combination import Combination
from rocetune.planner.fixed import Buffer, larger_than_chip
from rocetune.planner.headroom import headroom_of
from rocetune.planner.inputs import Chip
from rocetune.planner.notes import Believed, Problem
from rocetune.tuning import buffers, ecn
from rocetune.tuning.asics import Asic, Pool
from rocetune.tuning.knowledge import Knowledge
from rocetune.tuning.thresholds import dynamic_xoff

Counts = Sequence[tuple[Combination, int]]


@dataclass(frozen=True, slots=True)
class Room:
    """Buffer of one kind of switch: bounds for ECN by priority (none: not known, or nothing is lossless)."""

    bounds: Mapping[int, ecn.Bounds]
    cell_bytes: int
    buffer: Buffer
    why: Mapping[Path, Why]
    problems: tuple[Problem, ...] = ()
    believed: tuple[Believed, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """Everything that devices of one shape share."""

    settings: Mapping[int, Setting]  # by the number of the combination
    qos: DeviceQos
    why: Mapping[Path, Why]
    problems: tuple[Problem, ...]
    believed: tuple[Believed, ...]


def room_of(chip: Chip, counts: Counts, knowledge: Knowledge) -> Room:
    """Headroom of all lossless pairs against the chip's buffer."""
    asic = chip.asic
    cell = asic.threshold_cell if asic else 1
    queues: dict[int, int] = {}
    for combination, count in counts:
        for _, intent in lossless(combination.profile):
            queues[intent.priority] = queues.get(intent.priority, 0) + count
    slices = asic.slices if asic else 1
    # Of a deep buffer only the on-chip part has thresholds, and its size is not published.
    size = asic.packet_bytes(chip.model) if asic and asic.layout != "voq" else None
    largest = max(size or 0, (asic.hbm_bytes if asic else None) or 0) or None
    buffer = Buffer(asic.name if asic else "", largest, groups=-(-sum(queues.values()) // slices))
    if asic is None or not queues:
        return Room(_bounds(counts, queues, slices, None), cell, buffer, {})
    if size is None:
        text = f"buffer size of {asic.name} is not known: fit and ECN bounds are not checked"
        return Room(_bounds(counts, queues, slices, None), cell, buffer, {}, believed=(Believed(text),))
    needs = [need for item, count in counts for need in _needs(item, count)]
    fit, believed = _fit(size, needs, slices, counts)
    pool = asic.pool(chip.model)
    problems = _no_pool_here(fit, counts)
    if chip.copied and pool is not None and pool.packets_bytes and pool.headroom_bytes and fit.feasible:
        fit = buffers.with_own_pools(asic, pool, fit)
        problems += _crowded(pool.model, fit.need_bytes, pool.headroom_bytes, counts)
    why: dict[Path, Why] = {("buffer",): fit.why}
    most = max((size for item, _ in counts for size, _ in item.headrooms.values()), default=0)
    if chip.copied and pool is not None and pool.headroom_bytes and most:
        why[("headroom_pool",)] = _pool_why(pool, fit.need_bytes, most, sum(queues.values()))
    shared = fit.shared_bytes if fit.feasible else None
    bounds = _bounds(counts, queues, slices, shared)
    why |= {("ecn_bounds", priority): made.why for priority, made in bounds.items()}
    if shared is not None:
        why |= {("pause_start", priority): _pause_start(shared, counts, priority, buffer.groups) for priority in bounds}
        why |= _incasts(shared, counts)
        return Room(bounds, cell, replace(buffer, shared_bytes=shared), why, problems, believed)
    if any(larger_than_chip(item, buffer) for item, _ in counts):
        return Room(bounds, cell, buffer, why, problems)  # told with the number itself
    return Room(bounds, cell, buffer, why, (_too_much(chip, counts, fit, knowledge), *problems))


def _fit(
    size: int, needs: Sequence[buffers.Need], slices: int, counts: Counts
) -> tuple[buffers.Fit, tuple[Believed, ...]]:
    """Headroom of its own for every pair; where that is too much, a shared pool as far as the profiles accept it."""
    private = buffers.fit(size, needs, slices=slices)
    accepted = max((item.profile.oversubscription for item, _ in counts if item.headrooms), default=1.0)
    if private.feasible or accepted == 1:
        return private, ()
    try:
        shared = buffers.fit(size, needs, slices=slices, oversubscription=accepted)
    except ValueError:
        return private, ()
    if not shared.feasible:
        return private, ()
    pool = next(step for step in shared.why.steps if step.startswith("headroom pool"))
    text = f"headroom is over-subscribed {accepted:g} times, as the profile accepts; {pool}"
    return shared, (Believed(text, "a device that shares no headroom pool cannot hold it"),)


def _no_pool_here(fit: buffers.Fit, counts: Counts) -> tuple[Problem, ...]:
    """A warning where an over-subscribed pool is counted on and the switch's own table knows none."""
    kept = next((item for item, _ in counts if item.own_row is not None and item.own_row[0].private), None)
    if kept is None or kept.own_row is None or fit.oversubscription == 1:
        return ()
    text = (
        f"headroom fits only over-subscribed {fit.oversubscription:g} times, but {kept.own_row[0].name}, the switch's "
        "own table, keeps it inside each group: no pool is shared, and what does not fit is not there"
    )
    remedy = "shorter cables or fewer lossless classes; or a hardware SKU with a shared headroom pool"
    return (Problem(text, remedy, kept.profile.name, kept.at("oversubscription"), warning=True),)


def _crowded(model: str, need_bytes: int, pool_bytes: int, counts: Counts) -> tuple[Problem, ...]:
    """A warning where SONiC's headroom pool holds less than half of what all groups may need at once."""
    ratio = need_bytes / pool_bytes
    if ratio <= buffers.AI_OVERSUBSCRIPTION:
        return ()
    item = max(counts, key=lambda found: found[1] * sum(size for size, _ in found[0].headrooms.values()))[0]
    text = (
        f"the headroom pool of SONiC on {model} is {pool_bytes:,} B, all groups together need {need_bytes:,} B: "
        f"over-subscribed {ratio:.3g} times, a synchronised incast may run out of it"
    )
    name = next(name for name, _ in lossless(item.profile))
    remedy = "fewer lossless classes or ports, or shorter cables"
    place = item.at("classes", name, "pfc", "headroom")
    return (Problem(text, remedy, item.profile.name, place, warning=True),)


def more_than_carried(asic: Asic | None, counts: Counts) -> tuple[Problem, ...]:
    """A warning where the ports add up to more than the chip switches: a speed, or the chip, is mistyped."""
    total = sum((item.speed_mbps or 0) * count for item, count in counts) // 1000
    if asic is None or asic.capacity_gbps is None or total <= asic.capacity_gbps:
        return ()
    text = f"the ports add up to {total:,} Gbit/s, {asic.name} switches {asic.capacity_gbps:,}"
    return (Problem(text, "correct speed in links.yaml, or asic or model in the inventory", warning=True),)


def _pause_start(shared_bytes: int, counts: Counts, priority: int, groups: int) -> Why:
    """Where a group pauses alone, and where when all are congested."""
    alphas = [
        item.written_alpha(intent.pfc)
        for item, _ in counts
        for _, intent in lossless(item.profile)
        if intent.priority == priority and intent.pfc.xoff == "auto"
    ]
    if not alphas:
        return Why("xoff.static", (), ("a static threshold of the profile",))
    made = dynamic_xoff(shared_bytes, min(alphas), groups).why
    return replace(made, steps=(*_whose_alpha(counts, priority, min(alphas)), *made.steps))


def _whose_alpha(counts: Counts, priority: int, alpha: float) -> tuple[str, ...]:
    """Where an alpha comes from that nobody stated: the headroom table of a SONiC switch."""
    for item, _ in counts:
        auto = any(one.priority == priority and one.pfc.alpha == "auto" for _, one in lossless(item.profile))
        if auto and item.own_row is not None and item.own_alpha == alpha:
            table, row = item.own_row
            return (f"alpha {alpha:g}: dynamic_th {row.threshold} of {table.name}, the switch's own table",)
    return ()


def _bounds(
    counts: Counts, queues: Mapping[int, int], slices: int, shared_bytes: int | None
) -> Mapping[int, ecn.Bounds]:
    """ECN bounds by priority. Of several thresholds on one priority the group that pauses first sets them.

    A static threshold is known without the buffer; ``shared_bytes`` None leaves the dynamic ones out.
    """
    all_queues = -(-sum(queues.values()) // slices)
    result: dict[int, ecn.Bounds] = {}
    for priority, ports in sorted(queues.items()):
        made = []
        per_slice = -(-ports // slices)
        for xoff, alpha in dict.fromkeys(
            (intent.pfc.xoff, item.written_alpha(intent.pfc))
            for item, _ in counts
            for _, intent in lossless(item.profile)
            if intent.priority == priority
        ):
            if isinstance(xoff, int):
                made.append(ecn.static_bounds(xoff, per_slice))
            elif shared_bytes is not None:
                made.append(ecn.bounds(shared_bytes, per_slice, all_queues, alpha))
        if made:
            result[priority] = min(made, key=lambda item: (item.incast_bytes, item.strict_bytes))
    return result


def _needs(combination: Combination, count: int) -> Iterable[buffers.Need]:
    sizes = [size for size, _ in combination.headrooms.values()]
    mtu = combination.profile.mtu
    if len(set(sizes)) <= 1:
        yield buffers.Need(count, len(sizes), sizes[0] if sizes else 0, mtu)
        return
    for index, size in enumerate(sizes):
        yield buffers.Need(count, 1, size, mtu if index == 0 else 0)


def _incasts(shared_bytes: int, counts: Counts) -> dict[Path, Why]:
    """Where PFC starts when all the senders that can meet on a port do, by priority: for its fastest kind of port.

    Flows come in through ports of the switch: no more ports than there are beside the one that they leave by.
    """
    found: dict[Path, Why] = {}
    ports: dict[int, int] = {}
    for item, count in counts:
        for _, intent in lossless(item.profile):
            ports[intent.priority] = ports.get(intent.priority, 0) + count
    for item, _ in sorted(counts, key=lambda found: -(found[0].speed_mbps or 0)):
        for _, intent in lossless(item.profile):
            key: Path = ("incast", intent.priority)
            if key not in found and item.speed_mbps is not None and intent.pfc.xoff == "auto":
                degree = max(1, min(item.senders, ports[intent.priority] - 1))
                alpha = item.written_alpha(intent.pfc)
                found[key] = ecn.incast(shared_bytes, alpha, degree, item.speed_mbps, item.rtt_us).why
    return found


def _pool_why(pool: Pool, need_bytes: int, largest_bytes: int, groups: int) -> Why:
    """What SONiC's own headroom pool on this model means for the need."""
    pool_bytes = pool.headroom_bytes or 0
    held = buffers.headroom_pool(largest_bytes, 1, pool_bytes)
    ratio = need_bytes / pool_bytes
    ratio_words = f"{need_bytes:,} / {pool_bytes:,} = {ratio:.2f}"
    steps = [
        f"SONiC shares a headroom pool of {pool_bytes:,} B on {pool.model}: {ratio_words}",
        f"{min(groups, held.pausing_at_once)} of {groups} priority groups of {largest_bytes:,} B can pause at once",
    ]
    active = (buffers.OVERSUBSCRIBED,) if ratio > buffers.AI_OVERSUBSCRIPTION else ()
    return Why("buffer.pool", (("pool_bytes", pool_bytes), ("need_bytes", need_bytes)), tuple(steps), active)


def _too_much(chip: Chip, counts: Counts, fit: buffers.Fit, knowledge: Knowledge) -> Problem:
    """The buffer cannot hold the headroom: which ports, and three ways out with their numbers."""
    assert chip.asic is not None
    largest = max(counts, key=lambda item: item[1] * sum(size for size, _ in item[0].headrooms.values()))[0]
    listed = ", ".join(
        f"{count} x {item.label} at {sum(size for size, _ in item.headrooms.values()):,} B"
        for item, count in counts
        if item.headrooms
    )
    text = (
        f"{chip.asic.name} has {fit.buffer_bytes:,} B of buffer; headroom needs {fit.need_bytes:,} B ({listed}) and "
        f"frames {fit.minimum_bytes:,} B"
    )
    needs = [need for item, count in counts for need in _needs(item, count)]
    speed, length = largest.speed_mbps, largest.cable.length_m

    def at(cable_m: float) -> int:
        assert speed is not None  # a class without a speed has no headroom, so it is not the largest
        return headroom_of(largest, knowledge, cable_m).headroom_bytes

    ways = buffers.ways_out(fit, needs, cable_m=length, headroom_at=at if speed is not None else None)
    words = [way.text for way in ways]
    if len(ways) < 3:
        words.insert(-1, "fewer ports of this class on the switch")
    ratio = buffers.ratio_needed(fit)
    if ratio is not None:
        words[-1] += f", accepted by oversubscription: {math.ceil(ratio * 100) / 100:g} in the profile"
    name = next(name for name, _ in lossless(largest.profile))
    place = largest.at("classes", name, "pfc", "headroom")
    return Problem(text, "; or ".join(words), largest.profile.name, place)


def device_qos(kind: str, counts: Counts, settings: Mapping[int, Setting]) -> tuple[DeviceQos, list[Problem]]:
    """What exists once per device: the joined DSCP map, the watchdog's poll time, a server's variables."""
    problems: list[Problem] = []
    ours: dict[int, tuple[int, str]] = {}
    foreign: dict[int, tuple[int, str]] = {}
    for combination, _ in counts:
        for name, intent in by_priority(combination.profile):
            for dscp in intent.dscp:
                mine = intent.owner == "rocetune"
                label = f"{name} of network {combination.network}"
                for known in (ours, foreign):
                    other = known.get(dscp)
                    if other is not None and (other[0] != intent.priority or (known is foreign) == mine):
                        problems.append(_clash(dscp, other, (intent.priority, label), combination, name))
                (ours if mine else foreign).setdefault(dscp, (intent.priority, label))
    polls = [item.qos.watchdog.poll_ms for item in settings.values() if item.qos.watchdog and item.qos.watchdog.poll_ms]
    environment: tuple[tuple[str, str], ...] = ()
    if kind == "server":
        environment, clashes = _environment(counts)
        problems += clashes
    return DeviceQos(
        dscp_to_priority=tuple(sorted((dscp, priority) for dscp, (priority, _) in ours.items())),
        foreign_dscps=tuple(sorted((dscp, priority) for dscp, (priority, _) in foreign.items())),
        watchdog_poll_ms=min(polls, default=None),
        environment=environment,
    ), list(dict.fromkeys(problems))


def _clash(dscp: int, one: tuple[int, str], two: tuple[int, str], combination: Combination, name: str) -> Problem:
    if one[0] == two[0]:
        text = f"DSCP {dscp} is ours in {one[1]} and foreign in {two[1]}, or the other way round"
        remedy = "give the class one owner on all networks of a device"
    else:
        text = f"DSCP {dscp} means priority {one[0]} ({one[1]}) and {two[0]} ({two[1]}): a device has one DSCP map"
        remedy = "use one priority, or different code points, on networks that meet on a device"
    return Problem(text, remedy, combination.profile.name, combination.at("classes", name, "dscp"))


# Variables by who marks. GIN falls back to NCCL_IB_TC only in newer releases, so it is set too.
_VARIABLES = {
    "nccl": ("NCCL_IB_TC", "NCCL_GIN_IB_TC"),
    "ucx": ("UCX_IB_TRAFFIC_CLASS",),
    "nvshmem": ("NVSHMEM_IB_TRAFFIC_CLASS",),
}


def _environment(counts: Counts) -> tuple[tuple[tuple[str, str], ...], list[Problem]]:
    """One process sees all networks, so each variable has one value: the network with most ports decides."""
    found: dict[str, tuple[str, Combination]] = {}
    problems = []
    ports: dict[str, int] = {}
    for combination, count in counts:
        ports[combination.network] = ports.get(combination.network, 0) + count
    for combination, _ in sorted(counts, key=lambda item: (-ports[item[0].network], item[0].network, item[0].number)):
        chosen = roce_class(combination.profile)
        if chosen is None:
            continue
        name, intent = chosen
        value = str(tos_of(intent))
        for variable in (item for who in marking_of(intent).by for item in _VARIABLES.get(who, ())):
            first, winner = found.setdefault(variable, (value, combination))
            if first != value:
                text = f"{variable} would be {value} for {combination.network} and is {first} for {winner.network}"
                remedy = "name nccl, ucx or nvshmem in the marking of one network only"
                at = combination.at("classes", name, "marking")
                problems.append(Problem(text, remedy, combination.profile.name, at, warning=True))
    return tuple(sorted((variable, value) for variable, (value, _) in found.items())), problems

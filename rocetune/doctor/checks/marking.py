"""Application marking: does every software that sends RoCE put the profile's DSCP into its packets?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocetune.doctor.case import Case, Place
from rocetune.doctor.verdicts import Result, at, check, on, tos
from rocetune.model.plan import DevicePlan
from rocetune.model.qos import PriorityQos
from rocetune.model.state import State

SHARE = 0.95  # of RDMA bytes that must leave on the RDMA priorities
BUSY_BPS = 8e6  # below this RDMA rate there is nothing to judge (ours)
BUSY_SHARE = 0.01  # of the line rate, where RDMA bytes are not counted apart (ours)
_DEVICE_INITIATED = {"nvshmem": ("nvshmem_tc",), "gin": ("nccl_gin_ib_tc", "nccl_ib_tc"), "mori": ("mori_tc",)}


@check("APP-001")
def rdma_cm(case: Case) -> Iterator[Result]:
    """rdma_cm's default ToS carries the profile's DSCP (its ECN bits are ECN-011)."""
    for place in case.places("server"):
        wanted, value = place.want_host.roce_tos, place.seen_host.roce_tos
        if wanted is None:
            continue
        yield at(
            place,
            None if value is None else value >> 2 == wanted >> 2,
            ("host", "roce_tos"),
            want=wanted,
            expected=f"ToS {tos(wanted)}",
            observed="not observed" if value is None else f"ToS {tos(value)}",
        )


@check("APP-002")
def forced_class(case: Case) -> Iterator[Result]:
    """The NIC's forced traffic class carries the profile's DSCP.

    Inbox drivers have no such file: that is no error, and where NCCL's own variable was read APP-003 judges.
    """
    for place in case.places("server"):
        wanted, value = place.want_host.traffic_class, place.seen_host.traffic_class
        if wanted is None or wanted < 0:
            continue
        words = {"want": wanted, "expected": f"traffic class {tos(wanted)}"}
        path = ("host", "traffic_class")
        if value is not None:
            observed = "unset" if value < 0 else f"traffic class {tos(value)}"
            yield at(place, value >= 0 and value >> 2 == wanted >> 2, path, observed=observed, **words)
        elif not place.state.settings.get("nccl_ib_tc"):
            reason = "the driver has no forced traffic class (inbox drivers do not), or it could not be read"
            yield at(place, None, path, observed="not observed", severity="info", reason=reason, **words)


@check("APP-003")
def nccl(case: Case) -> Iterator[Result]:
    """NCCL marks, by its own variable or by the NIC's forced traffic class."""
    for plan, state, places in case.devices("server"):
        dscps = _nccl_dscps(plan, places)
        if not dscps:
            continue
        value = state.settings.get("nccl_ib_tc")
        yield on(
            state,
            _nccl_marks(value, dscps, places),
            "nccl_ib_tc",
            want=dict(plan.qos.environment).get("NCCL_IB_TC", str(min(dscps) * 4 + 2)),
            expected=f"NCCL_IB_TC with DSCP {', '.join(str(dscp) for dscp in sorted(dscps))}",
            observed=_byte_words(value),
        )


@check("APP-004")
def device_initiated(case: Case) -> Iterator[Result]:
    """Device-initiated transports that are in use are marked by a variable that reaches them."""
    for plan, state, places in case.devices("server"):
        dscps = {dscp for place in places for entry in place.rdma() for dscp in entry.dscps or ()}
        for transport in _transports(plan, state, places):
            names = _DEVICE_INITIATED[transport]
            values = [state.settings.get(name) for name in names]
            right = any(value is not None and value.isdigit() and int(value) >> 2 in dscps for value in values)
            ok = True if right else (None if None in values else False)
            yield on(
                state,
                ok,
                names[0],
                want=str(min(dscps, default=0) * 4 + 2),
                expected=f"{transport} traffic marked by {' or '.join(names)}",
                observed=", ".join(f"{name} {_byte_words(value)}" for name, value in zip(names, values, strict=True)),
            )


@check("APP-006")
def on_the_wire(case: Case) -> Iterator[Result]:
    """What leaves the NIC is on the RDMA priorities. Needs traffic: an idle port gives no verdict."""
    for place in case.places("server"):
        entries = [entry for entry in place.rdma() if entry.dscps]
        if entries:
            yield from _share(place, entries)


def _nccl_dscps(plan: DevicePlan, places: Sequence[Place]) -> set[int]:
    wanted = dict(plan.qos.environment).get("NCCL_IB_TC", "")
    if wanted.isdigit():
        return {int(wanted) >> 2}
    return {dscp for place in places for entry in _classes(place, "nccl") for dscp in entry.dscps or ()}


def _classes(place: Place, marker: str) -> list[PriorityQos]:
    """RDMA classes of this port that the profile says are marked by ``marker``."""
    return [entry for entry in place.rdma() if marker in place.markers(entry)]


def _nccl_marks(value: str | None, dscps: set[int], places: Sequence[Place]) -> bool | None:
    if value is None:
        return None
    if value.isdigit():
        return int(value) >> 2 in dscps
    if value:
        return False
    relied = [place for place in places if _classes(place, "nccl")] or [place for place in places if place.rdma()]
    forced = [place.seen_host.traffic_class for place in relied]
    return bool(forced) and all(item is not None and item >= 0 and item >> 2 in dscps for item in forced)


def _transports(plan: DevicePlan, state: State, places: Sequence[Place]) -> list[str]:
    used = set(state.settings.get("device_initiated", "").split())
    if any(_classes(place, "nvshmem") for place in places):
        used.add("nvshmem")
    return sorted(used & set(_DEVICE_INITIATED))


def _share(place: Place, entries: list[PriorityQos]) -> Iterator[Result]:
    rates = place.rates
    numbers = {entry.priority for entry in entries}
    names = [f"tx_bytes.{number}" for number in range(8)]
    sent = {number: rates.delta(f"tx_bytes.{number}") for number in range(8)}
    path = ("priorities", min(numbers), "dscps")
    words = {"priority": min(numbers), "expected": f"RDMA bytes on priority {min(numbers)}"}
    if any(sent[number] is None for number in numbers):
        reason = rates.why_unknown(*(f"tx_bytes.{number}" for number in sorted(numbers)))
        yield at(place, None, path, reason=reason, observed="not observed", **words)
        return
    right = sum(sent[number] or 0 for number in numbers)
    total = rates.delta("rdma_tx_bytes")
    floor = BUSY_BPS
    if total is None:
        aside = {entry.priority for entry in place.want.priorities if not entry.owned}
        cnp = place.cnp()
        aside |= {cnp.priority} if cnp is not None else set()
        total = sum(value or 0 for number, value in sent.items() if number not in aside)
        floor = max(floor, BUSY_SHARE * 1e6 * (place.want.speed_mbps or place.seen.speed_mbps or 0))
    if total * 8 / rates.seconds < floor:
        return
    share = right / total
    observed = f"{min(share, 1.0):.1%} of {total} bytes"
    yield at(place, share >= SHARE, path, observed=observed, evidence=rates.evidence(*names), **words)


def _byte_words(value: str | None) -> str:
    if value is None:
        return "not observed"
    if not value:
        return "unset"
    return tos(int(value)) if value.isdigit() else value

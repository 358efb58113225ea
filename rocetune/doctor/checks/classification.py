"""Trust and DSCP maps: does a marked packet reach its priority, in the NIC and on every hop?"""

from __future__ import annotations

from collections.abc import Iterator

from rocetune.doctor.case import Case, Place
from rocetune.doctor.verdicts import Result, at, check, equals
from rocetune.model.qos import PortQos, PriorityQos


@check("MAP-001")
def nic_trust(case: Case) -> Iterator[Result]:
    """The NIC sorts by DSCP."""
    return _trust(case, "server")


@check("MAP-002")
def switch_trust(case: Case) -> Iterator[Result]:
    """The switch port sorts by DSCP."""
    return _trust(case, "switch")


@check("MAP-003")
def nic_map(case: Case) -> Iterator[Result]:
    """Every DSCP of an RDMA class maps to the class's priority on the NIC."""
    for place in case.places("server"):
        for entry in place.rdma():
            yield from mapped(place, entry)


@check("MAP-004")
def switch_map(case: Case) -> Iterator[Result]:
    """Every DSCP of an RDMA class maps to the class's priority on the switch port."""
    for place in case.places("switch"):
        for entry in place.rdma():
            yield from mapped(place, entry)


@check("CNP-002")
def cnp_map(case: Case) -> Iterator[Result]:
    """The CNP DSCP maps to the CNP class on the switch port."""
    for place in case.places("switch"):
        entry = place.cnp()
        if entry is not None:
            yield from mapped(place, entry)


def mapped(place: Place, entry: PriorityQos) -> Iterator[Result]:
    """One result per class: all its DSCPs are mapped to its priority, or the wrong ones by name."""
    wanted = entry.dscps or ()
    if not wanted:
        return
    found = {dscp: observed_priority(place.seen, dscp, entry.priority) for dscp in wanted}
    wrong = {dscp: number for dscp, number in found.items() if number not in (None, entry.priority)}
    unknown = [dscp for dscp, number in found.items() if number is None]
    yield at(
        place,
        False if wrong else (None if unknown else True),
        ("priorities", entry.priority, "dscps"),
        priority=entry.priority,
        want=wanted,
        expected=f"DSCP {_listed(wanted)} to priority {entry.priority}",
        observed="; ".join(f"DSCP {dscp} to {_priority(number)}" for dscp, number in (wrong or found).items()),
        also=((place.device, (place.native, "dscp_to_priority"), _table(wanted, entry.priority)),),
    )


def observed_priority(seen: PortQos, dscp: int, wanted: int) -> int | None:
    """The priority that a DSCP was observed to have; -1: known to be outside ``wanted``; None: unknown.

    A DSCP that a listing leaves out is unknown: inbox drivers list single entries while the firmware maps all 64.
    """
    if seen.dscp_to_priority is not None:
        return seen.dscp_to_priority[dscp] if dscp < len(seen.dscp_to_priority) else None
    for entry in seen.priorities:
        if dscp in (entry.dscps or ()):
            return entry.priority
    own = seen.priority(wanted)
    return -1 if own is not None and own.dscps is not None else None


def _trust(case: Case, kind: str) -> Iterator[Result]:
    for place in case.places(kind):
        if place.want.trust is not None and place.rdma():
            yield equals(place, ("trust",), place.want.trust, f"trust {place.want.trust}")


def _listed(values: tuple[int, ...]) -> str:
    return ", ".join(str(value) for value in values)


def _priority(number: int | None) -> str:
    if number is None:
        return "a priority that was not observed"
    return "another priority" if number < 0 else f"priority {number}"


def _table(dscps: tuple[int, ...], priority: int) -> tuple[int | None, ...]:
    return tuple(priority if dscp in dscps else None for dscp in range(64))

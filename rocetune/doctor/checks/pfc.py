"""PFC: on at both ends, for the same priorities, really operating, and without global pause beside it."""

from __future__ import annotations

from collections.abc import Iterator

from rocetune.doctor.case import Case, Place
from rocetune.doctor.verdicts import Result, at, check, equals


@check("PFC-001")
def nic_pfc(case: Case) -> Iterator[Result]:
    """PFC is on at the NIC."""
    return _enabled(case, "server")


@check("PFC-002")
def switch_pfc(case: Case) -> Iterator[Result]:
    """PFC is on at the switch port."""
    return _enabled(case, "switch")


@check("PFC-003")
def both_ends(case: Case) -> Iterator[Result]:
    """Both ends of a link have PFC on for the same priorities."""
    for place, other in case.links():
        ends = (place,) if other is None else (place, other)
        planned = {entry.priority for end in ends for entry in end.paused()}
        if other is None:
            if planned:
                yield at(
                    place,
                    None,
                    reason=case.peer_gap(place),
                    peer=_peer_name(place),
                    expected="equal PFC",
                    outside=case.beyond(place),
                )
            continue
        seen = {entry.priority for end in ends for entry in end.seen.priorities if entry.pfc}
        for number in sorted(planned | seen):
            yield from _pair(place, other, number, number in planned)


@check("PFC-004")
def operating(case: Case) -> Iterator[Result]:
    """Where PFC is configured it operates."""
    for place in case.places():
        for entry in place.paused():
            if place.pfc_seen(entry.priority) is None:
                continue  # PFC-001 and PFC-002 say that it could not be observed
            configured = _configured(case, place, entry.priority)
            if place.pfc_seen(entry.priority) or configured:
                yield equals(
                    place, ("priorities", entry.priority, "pfc"), True, "PFC operating", priority=entry.priority
                )


@check("PFC-010")
def global_pause(case: Case) -> Iterator[Result]:
    """Global pause is off where PFC is used."""
    for place in case.places():
        planned, seen = place.want.link_pause, place.seen.link_pause
        if place.paused() and (planned is not None or seen is not None):  # not every OS has global pause
            yield equals(place, ("link_pause",), False, "global pause off")


def _enabled(case: Case, kind: str) -> Iterator[Result]:
    for place in case.places(kind):
        for entry in place.paused():
            path = ("priorities", entry.priority, "pfc")
            yield equals(place, path, True, f"PFC on for priority {entry.priority}", priority=entry.priority)


def _pair(place: Place, other: Place, number: int, planned: bool) -> Iterator[Result]:
    one, two = place.pfc_seen(number), other.pfc_seen(number)
    if (one is None or two is None) and not planned:
        return  # a priority that nobody asked for, and only one end lists it
    same = None if one is None or two is None else one == two
    at_fault = one is None or (two is not None and one != planned)
    culprit, partner = (place, other) if at_fault else (other, place)
    yield at(
        culprit,
        same,
        ("priorities", number, "pfc"),
        priority=number,
        want=planned,
        expected=f"PFC for priority {number} {_word(planned)} at both ends",
        observed=f"{place.label} {_word(one)}, {other.label} {_word(two)}",
        peer=partner.label,
    )


def _configured(case: Case, place: Place, number: int) -> bool:
    """True when the configuration is known to ask for PFC on this priority."""
    admin = place.setting("pfc_admin")
    if admin is not None:
        return admin != "off"
    comparison = None if case.drift is None else case.drift.get(place.device)
    if comparison is None:
        return False
    pending = (*comparison.changes, *comparison.refused)
    if any(not change.origin for change in pending):
        return False  # a difference of unknown origin may be this one
    return not any(_about_pfc(change.origin, place.native, number) for change in pending)


def _about_pfc(origin: tuple[str | int, ...], native: str, number: int) -> bool:
    if origin[0] not in (native, ""):
        return False
    return "pfc" in origin and (number in origin or not any(isinstance(part, int) for part in origin))


def _peer_name(place: Place) -> str | None:
    peer = place.item.port.peer
    return None if peer is None else f"{peer[0]} {peer[1]}"


def _word(value: bool | None) -> str:
    return "not observed" if value is None else ("on" if value else "off")

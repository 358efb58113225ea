"""Pause storms: who stops whom, for how long, and where it starts.

The share of time that a priority is paused (its *duty*) is a better signal than a count of frames. Both ends of a
cable count the same pauses, so either end's counters serve.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocetune.doctor.case import Case, Place, PortKey
from rocetune.doctor.pauses import STUCK_DUTY, pause, received
from rocetune.doctor.pausetree import Tree, trees
from rocetune.doctor.verdicts import Result, at, check
from rocetune.model.finding import Severity
from rocetune.model.qos import Path


@check("STM-001")
def slow_receiver(case: Case) -> Iterator[Result]:
    """A server hardly ever pauses its switch."""
    for place in case.places("server"):
        other = case.peer(place)
        for entry in place.paused():
            seen = pause(place, other, entry.priority)
            severity: Severity = "error" if seen.heavy else "warning"
            yield at(
                place,
                not seen.light if seen.known else None,
                ("storm",),
                priority=entry.priority,
                want="reset",
                severity=severity if seen.known else None,
                expected="paused at most 1 % of the time, at most 1000 frames/s",
                observed=seen.words,
                reason="" if seen.known else seen.unknown,
                evidence=seen.evidence,
                peer=other.label if other is not None else None,
                outside=case.beyond(place),
            )


@check("STM-004")
def stuck(case: Case) -> Iterator[Result]:
    """No priority is paused all the time without one XON."""
    for place, other in case.links():
        for sender, receiver in ((place, other), (other, place)):
            if sender is not None:
                for entry in sender.paused():
                    yield _stuck(case, sender, receiver, entry.priority)


@check("STM-005")
def nic_warning(case: Case) -> Iterator[Result]:
    """The NIC reports no stall near its watermark."""
    return _nic_events(case, "storm_warnings", "no storm warning")


@check("STM-006")
def nic_error(case: Case) -> Iterator[Result]:
    """The NIC did not give up pausing."""
    return _nic_events(case, "storm_errors", "no storm")


@check("STM-007")
def watchdog_storm(case: Case) -> Iterator[Result]:
    """The watchdog found no new storm, and none goes on. More storms than restorations: one lasts, by one sample."""
    for place in case.places("switch"):
        for entry in place.paused():
            if entry.watchdog:
                yield _watchdog(case, place, entry.priority)


@check("STM-010")
def root(case: Case) -> Iterator[Result]:
    """The port where a tree of pauses starts, named once instead of all its victims."""
    grown = trees(case)
    for tree in grown:
        for place in tree.roots:
            yield _root(case, tree, place)
        if tree.cycle:
            yield _rootless(tree, tree.cycle[0], f"the pauses run in a circle: {' -> '.join(tree.cycle)}", None)
        for device in tree.congested:
            words = f"{device} pauses {', '.join(sorted(tree.victims))} and nobody pauses it: incast or uneven load"
            yield _rootless(tree, device, words, "warning")
    yield from _quiet_switches(case, {key for tree in grown for key in tree.spans})


def _rootless(tree: Tree, device: str, observed: str, severity: Severity | None) -> Result:
    return Result(
        "fail",
        device,
        priority=tree.priority,
        expected="no heavy pauses",
        observed=observed,
        severity=severity,
        advice="Look at load balancing and incast; there is no sender to isolate."
        if severity
        else "Break the circle: take one of its links out of service, then forbid up-down-up routes.",
        spans=tree.spans,
    )


def _quiet_switches(case: Case, reached: set[PortKey]) -> Iterator[Result]:
    """One verdict per switch and priority: are the pauses at its ports known, and none of them heavy?"""
    for _, state, places in case.devices("switch"):
        for priority in sorted({entry.priority for place in places for entry in place.paused()}):
            ports = [place for place in places if any(entry.priority == priority for entry in place.paused())]
            if any(place.key in reached for place in ports):
                continue
            gaps = [gap for place in ports if (gap := _gap(case, place, priority)) is not None]
            yield from gaps
            if not gaps:
                yield Result("pass", state.device, priority=priority, expected="no pause storm", observed="none")


def _gap(case: Case, place: Place, priority: int) -> Result | None:
    """What is not known about the pauses that this port receives; None: they are known, and not heavy."""
    seen = received(place, case.peer(place), priority)
    if seen.known and not seen.heavy:
        return None
    return at(
        place,
        None,
        ("storm",),
        priority=priority,
        expected="no pause storm",
        observed=seen.words,
        reason=f"{seen.words}, and {case.peer_gap(place)}: the root may lie behind it"
        if seen.known
        else "neither end of this cable shows pauses by two samples",
        outside=not seen.known and case.beyond(place),
    )


def _root(case: Case, tree: Tree, place: Place) -> Result:
    other = case.peer(place)
    seen = pause(place, other, tree.priority)
    victims = sorted(tree.victims - {place.device})
    reach = f"; stops {', '.join(victims[:6])}{' ...' if len(victims) > 6 else ''}" if victims else ""
    also: tuple[tuple[str, Path, object], ...] = ()
    if other is not None:
        also = ((other.device, (other.native, "storm"), "isolate"),)
    return at(
        place,
        False,
        ("storm",),
        priority=tree.priority,
        want="reset",
        expected="no pause storm",
        observed=f"{seen.words}{reach}",
        evidence=seen.evidence,
        peer=other.label if other is not None else None,
        also=also,
        advice=_relieve(place, other),
        spans=tree.spans | {place.key},
    )


def _relieve(sender: Place, other: Place | None) -> str:
    """What to do about a server that sends pauses, in words; the NIC by its address, for there are many in a server."""
    facts = sender.state.facts.ports.get(sender.native)
    address = f" (PCI {facts.pci})" if facts is not None and facts.pci else ""
    isolated = other is not None and not other.is_server
    first = f"With {other.label} out of service, drain" if other is not None and isolated else "Drain"
    return (
        f"{first} {sender.device}, then reset its NIC {sender.name}{address}, or reboot the server; "
        "replace the NIC when the storm comes back."
    )


def _stuck(case: Case, sender: Place, receiver: Place | None, priority: int) -> Result:
    seen = pause(sender, receiver, priority)
    where = receiver if receiver is not None else sender
    reason = ""
    if seen.duty is None:
        ok: bool | None = None
        reason = seen.unknown or "neither end shows how long the priority is paused"
    elif seen.duty <= STUCK_DUTY:
        ok = True
    elif seen.transitions is None or seen.seconds <= 1.0:
        ok, reason = None, "paused almost all the time, and no transitions over more than a second to judge by"
    else:
        ok = seen.transitions > 0
    return at(
        sender,
        ok,
        ("storm",),
        priority=priority,
        want="reset" if sender.is_server else "isolate",
        expected="an XON now and then",
        observed=f"{seen.words}, {'no' if seen.transitions == 0 else seen.transitions or 'unknown'} transitions to XON",
        reason=reason,
        evidence=seen.evidence,
        peer=where.label if where is not sender else None,
        advice=_relieve(sender, receiver) if sender.is_server else "",
        outside=case.beyond(sender),
    )


def _nic_events(case: Case, name: str, expected: str) -> Iterator[Result]:
    for place in case.places("server"):
        if place.paused():
            grown, rates = place.rates.delta(name), place.rates
            yield at(
                place,
                None if grown is None else grown == 0,
                ("storm",),
                want="reset",
                expected=expected,
                observed="not observed" if grown is None else f"{grown} events in {rates.seconds:.1f} s",
                reason=rates.why_unknown(name) if grown is None else "",
                evidence=rates.evidence(name),
                advice=_relieve(place, None),
            )


def _watchdog(case: Case, place: Place, priority: int) -> Result:
    rates, other = place.rates, case.peer(place)
    name, restored = f"watchdog_storms.{priority}", f"watchdog_restored.{priority}"
    listed = place.state.settings.get("stormed")
    grown = rates.delta(name)
    if grown is None and listed is not None and rates.seconds > 0 and name not in rates.first:
        grown = rates.last.get(name, 0)  # only queues that had an event are listed
    lasting = rates.last.get(name, 0) - rates.last.get(restored, 0) if restored in rates.last else 0
    if f"{place.native}:{priority}" in (listed or "").split():
        lasting = max(lasting, 1)
    ok = False if lasting > 0 else (None if grown is None else grown == 0)
    state = "a storm lasts" if lasting > 0 else f"{grown} storms in {rates.seconds:.1f} s"
    return at(
        place,
        ok,
        ("storm",),
        priority=priority,
        want="isolate",
        expected="no storm",
        observed="not observed" if ok is None else state,
        reason=rates.why_unknown(name) if ok is None else "",
        evidence=rates.evidence(name, restored),
        peer=other.label if other is not None else None,
    )

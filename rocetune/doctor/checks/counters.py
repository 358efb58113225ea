"""Loss, marks and retransmissions: what two samples say happened between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rocetune.doctor.case import Case, Place
from rocetune.doctor.verdicts import Result, at, check
from rocetune.model.finding import Severity

MARKED = 0.01  # share of marked packets that is reported (an operating limit given by a user)
MARKED_BADLY = 0.10  # ours
DISORDER = 1e-6  # share of packets out of sequence that is reported (ours)
DISORDER_BADLY = 1e-4  # ours
SLOW_RESTARTS_PER_S = 10.0  # NVSentinel


@check("CTR-001")
def queue_drops(case: Case) -> Iterator[Result]:
    """No drops in a lossless queue or priority group."""
    for place in case.places("switch"):
        for entry in place.paused():
            names = (f"queue_drops.{entry.priority}", f"pg_drops.{entry.priority}")
            yield _none_of(place, names, "no drops", priority=entry.priority)


@check("CTR-002")
def nic_discards(case: Case) -> Iterator[Result]:
    """The NIC discards nothing on the lossless priority."""
    for place in case.places("server"):
        for entry in place.paused():
            names = (f"rx_discards.{entry.priority}", "rx_discards")
            yield _none_of(place, names, "no discards", priority=entry.priority)


@check("CTR-003")
def mark_rate(case: Case) -> Iterator[Result]:
    """Not more than one packet in a hundred is marked."""
    for place in case.places():
        for entry in place.rdma():
            if place.uses_ecn(entry):
                number = entry.priority
                if _judged_at_server(case, place, number):
                    continue
                if place.is_server:
                    names = ("ecn_marked_roce", f"rx_packets.{number}")
                else:
                    names = (f"ecn_marked.{number}", f"tx_packets.{number}")
                for result in _ratio(place, names[:1], names[1], (MARKED, MARKED_BADLY), "marked", number):
                    yield replace(result, outside=not place.is_server and case.beyond(place))  # the server may count


@check("CTR-004")
def marks_before_pauses(case: Case) -> Iterator[Result]:
    """A switch that pauses its neighbours marks packets, too. Marks fall at another port, so the device is judged."""
    for _, state, places in case.devices("switch"):
        priorities = sorted({entry.priority for place in places for entry in place.rdma() if entry.ecn and entry.pfc})
        for number in priorities:
            yield _marks(state.device, number, places)


@check("CTR-005")
def disorder(case: Case) -> Iterator[Result]:
    """Packets arrive in sequence."""
    names = ("out_of_sequence", "packet_seq_err", "implied_nak_seq_err")
    for place in case.places("server"):
        for entry in place.rdma()[:1]:
            packets = f"rx_packets.{entry.priority}"
            limits = (DISORDER, DISORDER_BADLY)
            yield from _ratio(place, names, packets, limits, "out of sequence", None)


@check("CTR-006")
def ack_timeouts(case: Case) -> Iterator[Result]:
    """No acknowledgement times out."""
    return _quiet(case, ("local_ack_timeout_err",), "no acknowledgement time-outs")


@check("CTR-007")
def adaptive_retransmission(case: Case) -> Iterator[Result]:
    """No adaptive retransmission, and few slow restarts."""
    for place in case.places("server"):
        if place.rdma():
            names = ("adaptive_retransmissions", "slow_restarts")
            again, slow = place.rates.delta(names[0]), place.rates.rate(names[1])
            ok = None if again is None and slow is None else not again and (slow or 0.0) <= SLOW_RESTARTS_PER_S
            missing = _missing(place, names) if ok else []
            result = _counted(
                place, None if missing else ok, names, "no retransmissions, at most 10 slow restarts per second"
            )
            yield replace(result, reason=_gap(place, missing)) if missing else result


@check("CTR-008")
def ignored_notifications(case: Case) -> Iterator[Result]:
    """The reaction point handles every notification."""
    for result in _quiet(case, ("cnp_ignored",), "no notification ignored"):
        yield _or_role(case, result, "rp_priorities")


@check("CTR-009")
def unanswered_marks(case: Case) -> Iterator[Result]:
    """Where marked packets arrive, notifications are sent."""
    for place in case.places("server"):
        if not any(place.uses_ecn(entry) for entry in place.rdma()):
            continue
        names = ("ecn_marked_roce", "cnp_sent")
        marked, sent = place.rates.delta(names[0]), place.rates.delta(names[1])
        if marked == 0:
            ok: bool | None = True
        else:
            ok = None if marked is None or sent is None else sent > 0
        yield _or_role(case, _counted(place, ok, names, "notifications sent for marked packets"), "np_priorities")


def _or_role(case: Case, result: Result, name: str) -> Result:
    """The remedy is to switch the DCQCN role on, as planned."""
    place = case.place((result.device, result.port or ""))
    wanted = getattr(place.want_host, name) if place is not None else None
    if place is None or not wanted:
        return result
    return replace(result, also=((place.device, (place.native, "host", name), wanted),))


def _judged_at_server(case: Case, place: Place, number: int) -> bool:
    """True where the switch does not count marks or packets, and its server counts the marks that arrive."""
    rates, other = place.rates, case.peer(place)
    counted = rates.delta(f"ecn_marked.{number}") == 0 or (
        rates.delta(f"ecn_marked.{number}") is not None and rates.delta(f"tx_packets.{number}") is not None
    )
    if counted or place.is_server or other is None or not other.is_server:
        return False
    return other.rates.delta("ecn_marked_roce") is not None


def _quiet(case: Case, names: Sequence[str], expected: str) -> Iterator[Result]:
    for place in case.places("server"):
        if place.rdma():
            yield _none_of(place, names, expected)


def _none_of(place: Place, names: Sequence[str], expected: str, priority: int | None = None) -> Result:
    """The counters among ``names`` did not move. Unknown when none is known, or one that has to be there is not."""
    total = place.rates.total(*names)
    ok = None if total is None else total == 0
    if ok and (missing := _missing(place, names)):
        return replace(_counted(place, None, names, expected, priority), reason=_gap(place, missing))
    return _counted(place, ok, names, expected, priority)


def _missing(place: Place, names: Sequence[str]) -> list[str]:
    """Counters of which no growth is known although the device has them: a silent half is no "no loss".

    That it has them is known from one of its samples, from its other ports, or because the command that shows them
    was not answered. NICs of one server differ, so there each port speaks for itself.
    """
    state = place.state
    unread = state.settings.get("unread_counters", "").split()
    ports = [place.native] if place.is_server else [item.native for item in place.plan.ports]
    shown = [row for sample in state.samples for port in ports if (row := sample.counters.get(port)) is not None]
    return [
        name
        for name in names
        if place.rates.delta(name) is None and (name.partition(".")[0] in unread or any(name in row for row in shown))
    ]


def _gap(place: Place, missing: Sequence[str]) -> str:
    return "; ".join(place.rates.why_unknown(name) for name in missing)


def _counted(place: Place, ok: bool | None, names: Sequence[str], expected: str, priority: int | None = None) -> Result:
    rates = place.rates
    grown = [f"{name} +{delta}" for name in names if (delta := rates.delta(name)) is not None]
    return at(
        place,
        ok,
        ("counters", names[0]),
        priority=priority,
        expected=expected,
        observed=f"{', '.join(grown)} in {rates.seconds:.1f} s" if grown else "not observed",
        reason=rates.why_unknown(*names) if ok is None else "",
        evidence=rates.evidence(*names),
    )


def _ratio(
    place: Place,
    names: Sequence[str],
    packets: str,
    limits: tuple[float, float],
    words: str,
    priority: int | None,
) -> Iterator[Result]:
    """Events per packet against a warning and an error limit. No event passes without a packet counter."""
    rates = place.rates
    events, seen = rates.total(*names), rates.delta(packets)
    evidence = rates.evidence(*names, packets)
    path = ("counters", names[0])
    expected = f"at most {_share(limits[0])} {words}"
    gap = _gap(place, _missing(place, names)) if events == 0 else ""
    if gap:
        yield at(place, None, path, priority=priority, expected=expected, observed="not observed", reason=gap)
    elif events == 0:
        yield at(place, True, path, priority=priority, expected=expected, observed="none", evidence=evidence)
    elif events is None or not seen:
        missing = names if events is None else (packets,)
        reason = rates.why_unknown(*missing) if events is None or seen is None else f"{packets} did not grow"
        yield at(place, None, path, priority=priority, expected=expected, observed="not observed", reason=reason)
    else:
        share = events / seen
        severity: Severity = "error" if share > limits[1] else "warning"
        yield at(
            place,
            share <= limits[0],
            path,
            priority=priority,
            expected=expected,
            observed=f"{_share(share)} {words} ({events} of {seen} packets)",
            severity=severity,
            evidence=evidence,
        )


def _marks(device: str, number: int, places: Sequence[Place]) -> Result:
    paused = [(delta, place) for place in places if (delta := _pauses_sent(place, number)) is not None]
    marked = [delta for place in places if (delta := place.rates.delta(f"ecn_marked.{number}")) is not None]
    sent = sum(delta for delta, _ in paused)
    expected = "ECN marks where PFC pauses"
    blank = Result("unknown", device, priority=number, expected=expected, observed="not observed")
    if not paused:
        reason = places[0].rates.why_unknown(f"pfc_tx.{number}")
        return replace(blank, reason=reason)
    if sent == 0:
        return replace(blank, verdict="pass", observed="no pause sent")
    if not marked:
        reason = places[0].rates.why_unknown(f"ecn_marked.{number}") + "; absence of marks is no evidence"
        return replace(blank, observed=f"{sent} pauses sent, marks not observed", reason=reason)
    worst = max(paused, key=lambda pair: pair[0])[1]
    return at(
        worst,
        sum(marked) > 0,
        ("counters", f"ecn_marked.{number}"),
        priority=number,
        expected=expected,
        observed=f"{sent} pauses sent, {sum(marked)} packets marked",
        evidence=worst.rates.evidence(f"pfc_tx.{number}", "pfc_tx", f"ecn_marked.{number}"),
    )


def _pauses_sent(place: Place, number: int) -> int | None:
    delta = place.rates.delta(f"pfc_tx.{number}")
    if delta is None and [entry.priority for entry in place.paused()] == [number]:
        return place.rates.delta("pfc_tx")
    return delta


def _share(value: float) -> str:
    return f"{value:.2%}" if value >= 0.0001 else f"{value:.1e}"

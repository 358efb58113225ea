"""The PFC watchdog of switches: there, for the right priorities, fast enough, and not in panic mode."""

from __future__ import annotations

from collections.abc import Iterator

from rocetune.doctor.case import Case, Place
from rocetune.doctor.verdicts import Result, at, check, on, show
from rocetune.model.qos import PriorityQos


@check("WD-001")
def present(case: Case) -> Iterator[Result]:
    """A watchdog runs on every lossless port whose profile wants one."""
    for place in case.places("switch"):
        guarded = _guarded(place)
        if not guarded:
            continue
        values = [_watched(place, entry.priority) for entry in place.seen.priorities]
        planned = [_watched(place, entry.priority) for entry in guarded]
        if any(value for value in values):
            ok: bool | None = True
        else:
            ok = None if None in planned else False
        priority = guarded[0].priority
        yield at(
            place,
            ok,
            ("priorities", priority, "watchdog"),
            priority=priority,
            want=True,
            expected="PFC watchdog on",
            observed="not observed" if ok is None else ("on" if ok else "off"),
        )


@check("WD-002")
def same_set(case: Case) -> Iterator[Result]:
    """The watchdog guards exactly the priorities that pause."""
    for place in case.places("switch"):
        if not _guarded(place):
            continue
        watched = {entry.priority for entry in place.seen.priorities if entry.watchdog}
        for entry in place.seen.priorities:
            if (entry.pfc and entry.watchdog is False and watched) or (entry.pfc is False and entry.watchdog):
                yield _set_result(place, entry.priority, False, watched)
        for wanted in _guarded(place):
            pausing, value = place.pfc_seen(wanted.priority), _watched(place, wanted.priority)
            if pausing is None or value is None:
                yield _set_result(place, wanted.priority, None, watched)
            elif pausing == value:
                yield _set_result(place, wanted.priority, True, watched)


@check("WD-003")
def timers(case: Case) -> Iterator[Result]:
    """The poll interval is shorter than detection and restoration; an equal one is worth a warning."""
    for place in case.places("switch"):
        wanted = place.want.watchdog
        planned_poll = place.plan.qos.watchdog_poll_ms
        if wanted is not None and wanted.poll_ms is not None:
            planned_poll = wanted.poll_ms
        seen = place.seen_watchdog
        guarded = [entry for entry in _guarded(place) if _watched(place, entry.priority) is not False]
        if not guarded or (planned_poll is None and seen.poll_ms is None):
            continue  # the watchdog is off (WD-001), or the device chooses the interval
        path = ("watchdog", "poll_ms")
        words = {"want": planned_poll, "expected": "poll below detection and restoration time"}
        words["observed"] = ", ".join(
            f"{name} {show(value)} ms"
            for name, value in (("poll", seen.poll_ms), ("detect", seen.detect_ms), ("restore", seen.restore_ms))
        )
        if seen.poll_ms is None or seen.detect_ms is None or seen.restore_ms is None:
            yield at(place, None, path, **words)
            continue
        limit = min(seen.detect_ms, seen.restore_ms)
        severity = "warning" if seen.poll_ms == limit else None
        yield at(place, seen.poll_ms < limit, path, severity=severity, **words)


@check("WD-007")
def big_red_switch(case: Case) -> Iterator[Result]:
    """SONiC's emergency mode, which drops all lossless traffic, is off."""
    for plan, state, places in case.devices("switch"):
        if plan.device.platform == "sonic" and any(place.paused() for place in places):
            value = state.settings.get("big_red_switch")
            yield on(
                state,
                None if value is None else value != "on",
                "big_red_switch",
                want="off",
                expected="BIG_RED_SWITCH off",
                observed=value or "not observed",
            )


def _guarded(place: Place) -> tuple[PriorityQos, ...]:
    return tuple(entry for entry in place.paused() if entry.watchdog)


def _watched(place: Place, priority: int) -> bool | None:
    entry = place.seen.priority(priority)
    return None if entry is None else entry.watchdog


def _set_result(place: Place, priority: int, ok: bool | None, watched: set[int]) -> Result:
    pausing = {entry.priority for entry in place.seen.priorities if entry.pfc}
    wants = any(entry.priority == priority for entry in _guarded(place))
    return at(
        place,
        ok,
        ("priorities", priority, "watchdog"),
        priority=priority,
        want=wants,
        expected=f"watchdog for the PFC priorities ({show(frozenset(pausing))})",
        observed=f"watchdog for {show(frozenset(watched))}",
    )

"""Headroom and what it is computed from.

Where a fitted plan has no headroom number the platform sizes it by itself; it is judged there only if the device
shows one.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocetune.doctor.case import Case, Place
from rocetune.doctor.verdicts import Result, at, check, on, show

_ASK = (
    "neither the log nor a running headroom on every lossless port was seen; on the switch: "
    "show buffer information; show logging | grep -i headroom"
)


@check("BUF-001")
def enough(case: Case) -> Iterator[Result]:
    """Headroom of a priority that pauses is at least what was computed for this link."""
    for place in case.places("switch"):
        for entry in place.paused():
            if place.pfc_seen(entry.priority) is False:
                continue  # without PFC no headroom is used; PFC-002 speaks
            path = ("priorities", entry.priority, "headroom_bytes")
            value = place.value(path)
            if entry.headroom_bytes is None:
                chip = place.plan.device.declared.get("asic")
                if chip and place.state.facts.asic is None:
                    reason = f"the device does not show its chip ({chip} by the inventory): what it needs is not known"
                    words = {"expected": "the headroom of this link", "observed": show(value, path)}
                    yield at(place, None, path, priority=entry.priority, reason=reason, **words)
                continue
            yield at(
                place,
                None if value is None else value >= entry.headroom_bytes,
                path,
                priority=entry.priority,
                want=entry.headroom_bytes,
                expected=f"at least {show(entry.headroom_bytes, path)}",
                observed=show(value, path),
            )


@check("BUF-002")
def some(case: Case) -> Iterator[Result]:
    """A priority that pauses has headroom at all."""
    for place in case.places("switch"):
        for entry in place.paused():
            path = ("priorities", entry.priority, "headroom_bytes")
            value, pausing = place.value(path), place.pfc_seen(entry.priority)
            if pausing is False or (value is None and entry.headroom_bytes is None):
                continue
            yield at(
                place,
                None if value is None else value > 0,
                path,
                priority=entry.priority,
                want=entry.headroom_bytes,
                expected="headroom above zero",
                observed=show(value, path),
            )


@check("BUF-004")
def cable(case: Case) -> Iterator[Result]:
    """The cable length that a device computes with is not below the inventory's."""
    for place in case.places():
        wanted = place.want.cable_m
        if wanted is None or not place.paused():
            continue
        real = place.item.port.cable_m if place.item.port.cable_m is not None else wanted
        value = place.seen.cable_m
        yield at(
            place,
            None if value is None else value >= real,
            ("cable_m",),
            want=wanted,
            expected=f"at least {real:g} m",
            observed="not observed" if value is None else f"{value:g} m",
        )


@check("BUF-006")
def refused(case: Case) -> Iterator[Result]:
    """The device did not refuse a headroom request: by its log, or by the headroom that every port has."""
    for plan, state, places in case.devices("switch"):
        if plan.device.platform != "sonic" or not any(place.paused() for place in places):
            continue
        line = state.settings.get("headroom_rejected")
        if line is not None:
            ok: bool | None = line == ""
            observed = line or "no refusal in the log"
        else:
            ok = True if all(_has_headroom(place) for place in places) else None
            observed = "every lossless port has its headroom" if ok else "not observed"
        expected = "no headroom request refused"
        yield on(
            state, ok, "headroom_rejected", expected=expected, observed=observed, reason=_ASK if ok is None else ""
        )


def _has_headroom(place: Place) -> bool:
    """Every lossless priority shows a running headroom: at least the planned one, or any that the switch computed."""
    for entry in place.paused():
        value = place.value(("priorities", entry.priority, "headroom_bytes"))
        if not value or (entry.headroom_bytes is not None and value < entry.headroom_bytes):
            return False
    return True

"""ECN: on at the RoCE queue, a valid curve, earlier than PFC, and packets that can be marked."""

from __future__ import annotations

from collections.abc import Iterator

from rocetune.doctor.case import Case, Place
from rocetune.doctor.verdicts import Result, at, check, equals, on, show, tos
from rocetune.model.qos import PriorityQos

ROUNDING = 0.08  # chips round thresholds to cells; Spectrum programs 150,000 B as 159,744 B (Cumulus RoCE page)
EARLY = 0.8  # kmin beyond this share of the PFC threshold marks too late (ours, tunable)


@check("ECN-001")
def enabled(case: Case) -> Iterator[Result]:
    """ECN is on at the queue of every RDMA class that asks for it."""
    for place in case.places("switch"):
        for entry in _marked(place):
            path = ("priorities", entry.priority, "ecn")
            yield equals(place, path, True, f"ECN on for priority {entry.priority}", priority=entry.priority)


@check("ECN-003")
def curve(case: Case) -> Iterator[Result]:
    """kmin is below kmax. Equal thresholds with 100 % are step marking: right if planned, else worth knowing."""
    for place in case.places("switch"):
        for entry in _on(place):
            low, high = _thresholds(place, entry)
            path = ("priorities", entry.priority, "kmin_bytes")
            words = {
                "priority": entry.priority,
                "want": entry.kmin_bytes,
                "expected": "kmin below kmax",
                "observed": _curve_words(place, entry),
            }
            if low is None or high is None:
                yield at(place, None, path, **words)
            elif low != high or place.value(("priorities", entry.priority, "pmax_percent")) != 100:
                yield at(place, low < high, path, **words)
            else:
                yield at(place, entry.kmin_bytes == entry.kmax_bytes, path, severity="info", **words)


@check("ECN-004")
def before_pfc(case: Case) -> Iterator[Result]:
    """kmax is below the PFC threshold, and kmin below 80 % of it.

    With a static threshold that is arithmetic. With a dynamic one the planner proved the order for its numbers
    (docs: ECN before PFC); it still holds while the observed curve is no higher and alpha no smaller.
    """
    for place in case.places("switch"):
        for entry in _on(place):
            if entry.pfc:
                yield _order(place, entry)


@check("ECN-009")
def green_packets(case: Case) -> Iterator[Result]:
    """The WRED profile covers green packets.

    Where no flag is handed over, the effect tells: a bound profile with thresholds that marks nothing.
    """
    for plan, state, places in case.devices("switch"):
        queues = [(place, entry) for place in places for entry in _marked(place)]
        flag = state.settings.get("wred_green_enable")
        if not queues or plan.device.platform != "sonic":
            continue
        if flag is not None:
            ok = flag == "on"
            yield on(state, ok, "wred_green_enable", want="on", expected="wred_green_enable on", observed=flag)
        for place, entry in queues:
            if flag is None or place.setting("wred_green_enable", entry.priority) is not None:
                yield from _green(place, entry)


@check("ECN-011")
def capable(case: Case) -> Iterator[Result]:
    """What marks RoCE packets also makes them ECN-capable, where the class uses ECN and the profile asks for it."""
    for plan, state, places in case.devices("server"):
        using = [place for place in places if any(place.uses_ecn(entry) for entry in place.rdma())]
        for place in using:
            for name in ("roce_tos", "traffic_class"):
                yield from _ect(place, name)
        wanted = dict(plan.qos.environment).get("NCCL_IB_TC", "")
        value = state.settings.get("nccl_ib_tc", "")
        if using and wanted.isdigit() and int(wanted) & 3 and value.isdigit():
            ok = bool(int(value) & 3)
            yield on(state, ok, "nccl_ib_tc", want=wanted, expected="ECT(0)", observed=tos(int(value)))


def _green(place: Place, entry: PriorityQos) -> Iterator[Result]:
    flag = place.setting("wred_green_enable", entry.priority)
    marks = place.value(("priorities", entry.priority, "ecn"))
    if flag is None and marks is False and None in _thresholds(place, entry):
        return  # no profile is bound: ECN-001 speaks
    ok = marks if flag is None else flag == "on"
    yield at(
        place,
        ok,
        ("priorities", entry.priority, "ecn"),
        priority=entry.priority,
        want=True,
        expected="green packets marked (wred_green_enable true, ecn_all)",
        observed=flag or ("not observed" if ok is None else ("marked" if ok else "thresholds set, nothing marked")),
    )


def _marked(place: Place) -> tuple[PriorityQos, ...]:
    return tuple(entry for entry in place.rdma() if entry.ecn)


def _on(place: Place) -> tuple[PriorityQos, ...]:
    """Classes whose ECN is not known to be off; where it is, there is no curve to judge."""
    return tuple(e for e in _marked(place) if place.value(("priorities", e.priority, "ecn")) is not False)


def _thresholds(place: Place, entry: PriorityQos) -> tuple[int | None, int | None]:
    seen = place.seen.priority(entry.priority)
    return (None, None) if seen is None else (seen.kmin_bytes, seen.kmax_bytes)


def _curve_words(place: Place, entry: PriorityQos) -> str:
    low, high = _thresholds(place, entry)
    return f"kmin {show(low, ('kmin_bytes',))}, kmax {show(high, ('kmax_bytes',))}"


def _order(place: Place, entry: PriorityQos) -> Result:
    seen = place.seen.priority(entry.priority)
    low, high = _thresholds(place, entry)
    path = ("priorities", entry.priority, "kmax_bytes")
    want, priority = entry.kmax_bytes, entry.priority
    observed = _curve_words(place, entry)
    if low is None or high is None or seen is None:
        return at(place, None, path, priority=priority, want=want, expected="kmax below xoff", observed=observed)
    if seen.xoff_bytes is not None:
        ok = high < seen.xoff_bytes and low <= EARLY * seen.xoff_bytes
        expected = f"kmax below xoff {show(seen.xoff_bytes, ('xoff_bytes',))}, kmin below 80 % of it"
        return at(place, ok, path, priority=priority, want=want, expected=expected, observed=observed)
    return _dynamic(place, entry, low, high, seen.alpha)


def _dynamic(place: Place, entry: PriorityQos, low: int, high: int, alpha: float | None) -> Result:
    """Judged against the plan's proof: a higher curve or a smaller alpha loses it."""
    path = ("priorities", entry.priority, "kmax_bytes")
    expected = f"kmin and kmax no higher than planned ({show(entry.kmin_bytes, ('kmin_bytes',))}, "
    expected += f"{show(entry.kmax_bytes, ('kmax_bytes',))})"
    observed = _curve_words(place, entry)
    if entry.alpha is not None:
        expected += f", alpha at least {entry.alpha:g}"
        observed += f", alpha {show(alpha)}"
    words = {"priority": entry.priority, "want": entry.kmax_bytes, "expected": expected, "observed": observed}
    if entry.kmin_bytes is None or entry.kmax_bytes is None:
        return at(place, None, path, reason="the plan has no ECN thresholds to compare with", **words)
    if high > entry.kmax_bytes * (1 + ROUNDING) or low > entry.kmin_bytes * (1 + ROUNDING):
        return at(place, False, path, **words)
    if entry.alpha is not None and alpha is None:
        return at(place, None, ("priorities", entry.priority, "alpha"), **words)
    if entry.alpha is not None and alpha is not None and alpha < entry.alpha:
        return at(place, False, ("priorities", entry.priority, "alpha"), **{**words, "want": entry.alpha})
    return at(place, True, path, **words)


def _ect(place: Place, name: str) -> Iterator[Result]:
    wanted, value = getattr(place.want_host, name), getattr(place.seen_host, name)
    if wanted is None or wanted < 0 or wanted & 3 == 0:
        return
    if (value is None and name == "traffic_class") or (value is not None and value < 0):
        return  # APP-002 judges a missing or unset traffic class
    observed = "not observed" if value is None else tos(value)
    ok = None if value is None else value & 3 != 0
    yield at(place, ok, ("host", name), want=wanted, expected=tos(wanted), observed=observed)

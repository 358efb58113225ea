"""The QoS of a switch port."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from rocetune.model.plan import Why
from rocetune.model.profile import ClassIntent
from rocetune.model.qos import Path, PortQos, PriorityQos, Watchdog
from rocetune.planner.classes import Reasons, by_priority, class_leaves, dscp_map, ecn_of, lossless, watchdog_of
from rocetune.planner.combination import Combination
from rocetune.planner.notes import Problem
from rocetune.tuning import ecn, thresholds
from rocetune.tuning.thresholds import Hysteresis, hysteresis

Curves = Mapping[str, ecn.Curve]  # by class name


def switch_qos(combination: Combination, curves: Curves) -> tuple[PortQos, Mapping[Path, Why]]:
    """Everything a switch port of this combination should have."""
    profile = combination.profile
    reasons = Reasons(profile, combination.winners)
    reasons.from_profile(("trust",), "trust", profile.trust)
    reasons.from_profile(("mtu_bytes",), "mtu", profile.mtu)
    reasons.from_profile(("dcbx",), "dcbx", profile.dcbx)
    reasons.why[("cable_m",)] = combination.cable.why
    reasons.plain(("link_pause",), "lossless", "global pause would stop all priorities")
    reasons.plain(("speed_mbps",), "link", "links.yaml: speed")
    dcbx: Literal["off", "ieee"] = profile.dcbx
    return PortQos(
        trust=profile.trust,
        mtu_bytes=profile.mtu,
        speed_mbps=combination.speed_mbps,
        cable_m=combination.cable.length_m,
        link_pause=False,
        dcbx=dcbx,
        dscp_to_priority=dscp_map(reasons),
        priorities=tuple(_priority(combination, reasons, name, item, curves) for name, item in by_priority(profile)),
        watchdog=_watchdog(combination, reasons),
    ), reasons.why


def _priority(
    combination: Combination, reasons: Reasons, name: str, intent: ClassIntent, curves: Curves
) -> PriorityQos:
    values: dict[str, Any] = class_leaves(reasons, name, intent)
    at = ("priorities", intent.priority)
    for index in ("traffic_class", "queue", "priority_group"):
        values[index] = intent.priority
        reasons.plain((*at, index), "neutral", "same index as the priority; a platform may have another")
    if intent.owner == "rocetune":
        values |= _buffer(combination, reasons, name, intent) | _marking(reasons, name, intent, curves.get(name))
        if intent.lossless:
            values["watchdog"] = watchdog_of(intent) is not None
            reasons.from_profile((*at, "watchdog"), f"classes.{name}.pfc.watchdog", values["watchdog"])
    return PriorityQos(priority=intent.priority, **values)


def _buffer(combination: Combination, reasons: Reasons, name: str, intent: ClassIntent) -> dict[str, Any]:
    if name not in combination.headrooms:
        return {}
    at, pfc, dotted = ("priorities", intent.priority), intent.pfc, f"classes.{name}.pfc"
    size, reasons.why[(*at, "headroom_bytes")] = combination.headrooms[name]
    values: dict[str, Any] = {"headroom_bytes": size}
    if isinstance(pfc.xoff, int):
        values["xoff_bytes"] = pfc.xoff
        reasons.from_profile((*at, "xoff_bytes"), f"{dotted}.xoff", pfc.xoff)
        if pfc.xon == "auto" and pfc.xoff > _hysteresis(combination).gap_bytes:
            made = _hysteresis(combination, pfc.xoff)
            values["xon_bytes"], reasons.why[(*at, "xon_bytes")] = made.xon_bytes, made.why
    else:
        values["alpha"] = combination.alpha(pfc)
        if pfc.alpha == "auto" and combination.own_row is not None and combination.own_alpha is not None:
            table, row = combination.own_row
            step = f"alpha = 2^{row.threshold} = {combination.own_alpha:g}: dynamic_th of its {row.cable_m:g} m row"
            reasons.rule((*at, "alpha"), "alpha.table", step, table.source)
        elif pfc.alpha == "auto":
            step = f"alpha = {thresholds.DEFAULT_ALPHA:g}: one congested group may take half of the shared pool"
            source = "SONiC's lossless default (dynamic_th 0); EOS recipes (ingress threshold 1)"
            reasons.rule((*at, "alpha"), "alpha.default", step, source)
        else:
            reasons.from_profile((*at, "alpha"), f"{dotted}.alpha", pfc.alpha)
        if pfc.xon == "auto":
            gap = _hysteresis(combination)
            values["xon_offset_bytes"], reasons.why[(*at, "xon_offset_bytes")] = gap.gap_bytes, gap.why
    if isinstance(pfc.xon, int):
        values["xon_bytes"] = pfc.xon
        reasons.from_profile((*at, "xon_bytes"), f"{dotted}.xon", pfc.xon)
    return values


def _hysteresis(combination: Combination, xoff_bytes: int | None = None) -> Hysteresis:
    """How far XON lies below XOFF on a port whose speed is known; else what flapping alone asks, as at 10G."""
    speed, mtu = combination.speed_mbps or 10_000, combination.profile.mtu
    asic = combination.chip.asic if combination.chip else None
    cell = asic.threshold_cell if asic is not None else 1
    return hysteresis(speed, combination.cable.length_m, mtu, cell_bytes=cell, xoff_bytes=xoff_bytes)


def _marking(reasons: Reasons, name: str, intent: ClassIntent, curve: ecn.Curve | None) -> dict[str, Any]:
    at = ("priorities", intent.priority)
    wanted = ecn_of(intent)
    reasons.from_profile((*at, "ecn"), f"classes.{name}.ecn", wanted is not None)
    if wanted is None or curve is None:
        return {"ecn": wanted is not None}
    reasons.why[(*at, "kmin_bytes")] = curve.kmin_why
    reasons.why[(*at, "kmax_bytes")] = curve.kmax_why
    reasons.why[(*at, "pmax_percent")] = curve.pmax_why
    return {
        "ecn": True,
        "kmin_bytes": curve.kmin_bytes,
        "kmax_bytes": curve.kmax_bytes,
        "pmax_percent": curve.pmax_percent,
    }


def _watchdog(combination: Combination, reasons: Reasons) -> Watchdog | None:
    """Timers of the port: those of the first lossless class that has them; SONiC and EOS keep one set per port."""
    found = [(name, watchdog_of(intent)) for name, intent in lossless(combination.profile)]
    kept = [(name, item) for name, item in found if item is not None]
    if not kept:
        return None
    name, timers = kept[0]
    for other, item in kept[1:]:
        if item != timers:
            text = f"classes {name} and {other} ask for different watchdog timers: a port has one set"
            at = combination.at("classes", other, "pfc", "watchdog")
            problem = Problem(text, "make them equal", combination.profile.name, at)
            if problem not in combination.problems:
                combination.problems.append(problem)
    poll = max(1, int(min(timers.detect, timers.restore) // 2))
    dotted = f"classes.{name}.pfc.watchdog"
    reasons.from_profile(("watchdog", "detect_ms"), f"{dotted}.detect", timers.detect)
    reasons.from_profile(("watchdog", "restore_ms"), f"{dotted}.restore", timers.restore)
    reasons.from_profile(("watchdog", "action"), f"{dotted}.action", timers.action)
    step = f"min({timers.detect:g}, {timers.restore:g}) / 2 = {poll} ms: two looks within each timer"
    reasons.rule(
        ("watchdog", "poll_ms"), "watchdog.poll", step, "detection >= 2 x poll; SONiC refuses poll > detection"
    )
    return Watchdog(round(timers.detect), round(timers.restore), poll, timers.action)

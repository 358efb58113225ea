"""The QoS of a server port: what the NIC and its driver are to have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rocetune.model.plan import Why
from rocetune.model.profile import Profile
from rocetune.model.qos import HostQos, Path, PortQos, PriorityQos
from rocetune.planner.classes import (
    CNP,
    Reasons,
    by_priority,
    class_leaves,
    dscp_map,
    ecn_of,
    explain_tos,
    lossless,
    marking_of,
    roce_class,
    tos_of,
)
from rocetune.planner.combination import Combination
from rocetune.planner.notes import Problem
from rocetune.tuning import dcqcn

AUTO_STORM_PREVENTION_MS = 100  # what "auto" means to mlx5 (pfc-prevention-tout 65535)


def server_qos(combination: Combination) -> tuple[PortQos, Mapping[Path, Why]]:
    """Everything a server port of this combination should have. Headroom is the driver's: it knows the cable."""
    profile = combination.profile
    reasons = Reasons(profile, combination.winners)
    reasons.from_profile(("trust",), "trust", profile.trust)
    reasons.from_profile(("mtu_bytes",), "host_mtu", profile.host_mtu)
    reasons.why[("cable_m",)] = combination.cable.why
    reasons.plain(("link_pause",), "lossless", "global pause makes every NIC buffer lossless; mlx5 port_buffer.c")
    reasons.plain(("speed_mbps",), "link", "links.yaml: speed")
    priorities = []
    for name, intent in by_priority(profile):
        values: dict[str, Any] = class_leaves(reasons, name, intent)
        reasons.plain(("priorities", intent.priority, "traffic_class"), "neutral", "one traffic class per priority")
        priorities.append(PriorityQos(priority=intent.priority, traffic_class=intent.priority, **values))
    return PortQos(
        trust=profile.trust,
        mtu_bytes=profile.host_mtu,
        speed_mbps=combination.speed_mbps,
        cable_m=combination.cable.length_m,
        link_pause=False,
        dscp_to_priority=dscp_map(reasons),
        priorities=tuple(priorities),
        host=_host(combination, reasons),
    ), reasons.why


def _host(combination: Combination, reasons: Reasons) -> HostQos:
    profile = combination.profile
    reasons.plain(("host", "dcbx"), "default", "settings of ours hold only when the OS owns DCB; mlx5 en_dcbnl.c")
    reasons.plain(("host", "roce_mode"), "default", "RoCE v1 has no DSCP")
    reasons.from_profile(("host", "active_mtu_bytes"), "rdma_mtu", profile.rdma_mtu)
    return HostQos(
        dcbx="os",
        roce_mode="v2",
        active_mtu_bytes=profile.rdma_mtu,
        storm_prevention_ms=_storm_prevention(profile, reasons),
        **_marks(profile, reasons),
        **_congestion_control(combination, reasons),
    )


def _marks(profile: Profile, reasons: Reasons) -> dict[str, Any]:
    """ToS for rdma_cm, and the forced byte only where the profile lets the NIC mark."""
    chosen = roce_class(profile)
    if chosen is None:
        return {}
    name, intent = chosen
    made: dict[str, Any] = {}
    for who, leaf in (("rdma_cm", "roce_tos"), ("nic", "traffic_class")):
        if who in marking_of(intent).by:
            made[leaf] = tos_of(intent)
            source = f"profile {profile.name}: classes.{name}.marking"
            reasons.why[("host", leaf)] = Why("tos", (("dscp", intent.dscp[0]),), (explain_tos(intent),), source=source)
    return made


def _congestion_control(combination: Combination, reasons: Reasons) -> dict[str, Any]:
    profile = combination.profile
    on = profile.dcqcn.enabled
    marked = frozenset(intent.priority for _, intent in by_priority(profile) if on and ecn_of(intent) is not None)
    for role in ("np_priorities", "rp_priorities"):
        shown = ", ".join(map(str, sorted(marked))) or "none"
        step = f"priorities whose queue marks ECN: {shown}" if on else "DCQCN is off in the profile"
        reasons.rule(("host", role), "dcqcn.roles", step, f"profile {profile.name}: dcqcn.enabled")
    made: dict[str, Any] = {"np_priorities": marked, "rp_priorities": marked}
    cnp = profile.classes.get(CNP)
    if cnp is not None and cnp.dscp and marked:
        made |= {"cnp_dscp": cnp.dscp[0], "cnp_priority": cnp.priority}
        reasons.from_profile(("host", "cnp_dscp"), f"classes.{CNP}.dscp", cnp.dscp[0])
        reasons.from_profile(("host", "cnp_priority"), f"classes.{CNP}.priority", cnp.priority)
    if not on:
        return made
    try:
        chosen = dcqcn.parameters(profile.dcqcn.preset, combination.speed_mbps, profile.dcqcn.parameters)
    except ValueError as error:
        at = "parameters" if profile.dcqcn.parameters else "preset"
        problem = Problem(f"DCQCN: {error}", "correct or remove it", profile.name, combination.at("dcqcn", at))
        combination.problems.append(problem)
        return made
    if chosen.parameters:
        made["dcqcn"] = chosen.parameters
        steps = tuple(f"{name} = {value}: {chosen.why[name].steps[0]}" for name, value in chosen.parameters)
        sources = dict.fromkeys(chosen.why[name].source for name, _ in chosen.parameters)
        reasons.why[("host", "dcqcn")] = Why(
            f"dcqcn.{profile.dcqcn.preset}", (), (*steps, *chosen.notes), source="; ".join(sources)
        )
    return made


def _storm_prevention(profile: Profile, reasons: Reasons) -> int | None:
    if not any(True for _ in lossless(profile)):
        return None
    wanted = profile.storm_prevention
    if wanted == "auto":
        step = f"auto: the NIC stops pausing after {AUTO_STORM_PREVENTION_MS} ms without progress"
        reasons.rule(("host", "storm_prevention_ms"), "default", step, "Linux mlx5 en_ethtool.c")
        return AUTO_STORM_PREVENTION_MS
    value = 0 if wanted == "off" else round(wanted)
    reasons.from_profile(("host", "storm_prevention_ms"), "storm_prevention", value)
    return value

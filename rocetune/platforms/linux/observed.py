"""Observed QoS back in the words of the settings file, to compare it with what boot would restore."""

from __future__ import annotations

from rocetune.model.qos import PortQos


def settings_of(qos: PortQos) -> dict[tuple[str, ...], str]:
    """Settings below a port. What was not observed is absent, so it never counts as a difference."""
    result: dict[tuple[str, ...], str] = {}

    def put(name: str, value: object) -> None:
        if value is not None:
            result[tuple(name.split("."))] = str(value)

    put("trust", qos.trust)
    put("mtu", qos.mtu_bytes)
    put("cable_m", None if qos.cable_m is None else int(qos.cable_m))
    put("pause", None if qos.link_pause is None else "on" if qos.link_pause else "off")
    for dscp, priority in enumerate(qos.dscp_to_priority or ()):
        put(f"dscp2prio.{dscp}", priority)
    if len(qos.priorities) == 8 and all(entry.pfc is not None for entry in qos.priorities):
        put("pfc", ",".join("1" if entry.pfc else "0" for entry in qos.priorities))
    if len(qos.priorities) == 8 and all(entry.traffic_class is not None for entry in qos.priorities):
        put("prio_tc", ",".join(str(entry.traffic_class) for entry in qos.priorities))
    host = qos.host
    if host is not None:
        put("dcbx", {"os": "os", "firmware": "fw", None: None}[host.dcbx])
        put("roce_tos", host.roce_tos)
        put("roce_mode", host.roce_mode)
        put("traffic_class", host.traffic_class)
        put("cnp_dscp", host.cnp_dscp)
        put("cnp_prio", host.cnp_priority)
        put("storm_prevention_ms", host.storm_prevention_ms)
        for role, members in (("roce_np", host.np_priorities), ("roce_rp", host.rp_priorities)):
            if members is not None:
                put(f"{role}.enable", ",".join("1" if p in members else "0" for p in range(8)))
        for name, value in host.dcqcn or ():
            put(f"dcqcn.{name}", value)
    return result

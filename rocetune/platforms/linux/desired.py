"""What the running side adds to the rendered settings, and where a setting comes from in the plan."""

from __future__ import annotations

from rocetune.model.change import Config, Key
from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan
from rocetune.model.qos import Path
from rocetune.platforms.base import managed_ports


def complete(rendered: Config, running: Config | None, plan: DevicePlan, facts: Facts) -> Config:
    """The rendered map, completed by what the plan leaves alone.

    A NIC always has a value for every one of its settings, so what the plan does not say stays as it is; nothing on a
    managed port is ever "removed". Bits of a PFC bitmap that belong to foreign classes are taken over likewise.
    """
    managed = managed_ports(plan)
    result = dict(rendered)
    if running is not None:
        for key, value in running.items():
            if key[0] == "port" and key[1] in managed and key not in result:
                result[key] = value
    for key, value in result.items():
        if key[0] == "port" and key[2:] == ("pfc",) and "x" in value:
            now = (running or {}).get(key, "0,0,0,0,0,0,0,0").split(",")
            bits = [now[i] if bit == "x" else bit for i, bit in enumerate(value.split(","))]
            result[key] = ",".join(bits).replace("x", "0")
    return result


_LEAVES: dict[tuple[str, ...], Path] = {
    ("dcbx",): ("host", "dcbx"),
    ("pause",): ("link_pause",),
    ("mtu",): ("mtu_bytes",),
    ("trust",): ("trust",),
    ("cable_m",): ("cable_m",),
    ("storm_prevention_ms",): ("host", "storm_prevention_ms"),
    ("roce_np", "enable"): ("host", "np_priorities"),
    ("roce_rp", "enable"): ("host", "rp_priorities"),
    ("cnp_dscp",): ("host", "cnp_dscp"),
    ("cnp_prio",): ("host", "cnp_priority"),
    ("roce_mode",): ("host", "roce_mode"),
    ("roce_tos",): ("host", "roce_tos"),
    ("traffic_class",): ("host", "traffic_class"),
}
_LISTS = {
    ("pfc",): "pfc",
    ("ets", "tsa"): "scheduling",
    ("ets", "bw"): "bandwidth_percent",
    ("prio_tc",): "traffic_class",
}


def origin_of(key: Key, plan: DevicePlan) -> Path:
    """Where in the plan a key's value comes from; a list of eight points at its first lossless priority."""
    if key[0] == "env":
        return ("", "environment", key[1])
    port, rest = key[1], key[2:]
    if rest == ("persist",):
        return ("", "persistence")  # the boot units are the server's, whatever port they set
    if rest in _LEAVES:
        return (port, *_LEAVES[rest])
    if rest[0] == "dscp2prio":
        return (port, "dscp_to_priority", int(rest[1]))
    if rest[0] == "dcqcn":
        return (port, "host", "dcqcn")
    if rest in _LISTS:
        for item in plan.ports:
            if item.native == port and (entries := item.setting.qos.lossless() or item.setting.qos.priorities):
                return (port, "priorities", entries[0].priority, _LISTS[rest])
    return ()

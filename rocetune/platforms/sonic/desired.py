"""What the switch shall hold: the rendered scope, completed by what must stay as it runs."""

from __future__ import annotations

from rocetune.model.change import Config, Key, Rendered
from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan, PortPlan
from rocetune.model.qos import Path
from rocetune.platforms.sonic.owned import PFC_FIELDS
from rocetune.platforms.sonic.parse import parse, priorities


def desired(rendered: Rendered, running: Config | None, plan: DevicePlan, facts: Facts) -> Config:
    """The rendered text parsed; queues and PFC bits of foreign classes (``owner: other``) are kept as they run."""
    wanted = dict(parse(rendered.text, facts))
    if not running:
        return wanted
    for item in plan.managed:
        _keep_unsaid(wanted, running, item)
        foreign = {str(entry.priority) for entry in item.setting.qos.priorities if not entry.owned}
        if not foreign:
            continue
        for table in ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG"):
            for key, value in running.items():
                if key[0] == table and key[1] == item.native and key[2] in foreign:
                    wanted[key] = value
        for field in PFC_FIELDS:
            key = ("PORT_QOS_MAP", item.native, field)
            theirs = set(running.get(key, "").split(",")) & foreign
            if theirs:
                wanted[key] = priorities(",".join([*theirs, *filter(None, wanted.get(key, "").split(","))]))
    return wanted


def _keep_unsaid(wanted: dict[Key, str], running: Config, item: PortPlan) -> None:
    """A plan without MTU or cable length does not take them away."""
    for key, value in running.items():
        mtu = item.setting.qos.mtu_bytes is None and key == ("PORT", item.native, "mtu")
        cable = item.setting.qos.cable_m is None and key[0] == "CABLE_LENGTH" and key[-1] == item.native
        if mtu or cable:
            wanted.setdefault(key, value)


_PORT_FIELDS: dict[tuple[str, str], Path] = {
    ("PORT", "mtu"): ("mtu_bytes",),
    ("PORT_QOS_MAP", "dscp_to_tc_map"): ("trust",),
    ("PFC_WD", "action"): ("watchdog", "action"),
    ("PFC_WD", "detection_time"): ("watchdog", "detect_ms"),
    ("PFC_WD", "restoration_time"): ("watchdog", "restore_ms"),
}
_MAPS_OF = {
    "TC_TO_QUEUE_MAP": "queue",
    "MAP_PFC_PRIORITY_TO_QUEUE": "queue",
    "TC_TO_PRIORITY_GROUP_MAP": "priority_group",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": "priority_group",
}
_WRED_FIELDS = {"min_threshold": "kmin_bytes", "max_threshold": "kmax_bytes", "drop_probability": "pmax_percent"}
_BUFFER_FIELDS = {"xoff": "headroom_bytes", "size": "headroom_bytes", "xon": "xon_bytes", "dynamic_th": "alpha"}
_BUFFER_FIELDS |= {"xon_offset": "xon_offset_bytes"}


def origin(key: Key, plan: DevicePlan) -> Path:
    """Where in the plan a key's value comes from; () where it has no single place."""
    from rocetune.platforms.sonic.render import object_name, setting_names

    table, name, field = key[0], key[1], key[-1]
    if table == "CABLE_LENGTH":
        return (field, "cable_m")
    if (table, field) in _PORT_FIELDS and name != "global":
        return (name, *_PORT_FIELDS[table, field])
    if table == "QUEUE":
        leaf = "scheduling" if field == "scheduler" else "ecn"
        return (name, "priorities", int(key[2]), leaf)
    if table == "BUFFER_PG":
        return (name, "priorities", int(key[2]), "headroom_bytes")
    if table == "BUFFER_QUEUE":
        known = next((item.setting.qos.priority(int(key[2])) for item in plan.managed if item.native == name), None)
        return (name, "priorities", int(key[2]), "queue") if known is not None else ()
    names = setting_names(plan)
    for item in plan.managed:
        if table == "PORT_QOS_MAP" and item.native == name and field in PFC_FIELDS:
            lossless = [entry.priority for entry in item.setting.qos.priorities if entry.pfc]
            leaf = "pfc" if field == "pfc_enable" else "watchdog"
            return (name, "priorities", lossless[0], leaf) if lossless else ()
        if key[:2] == ("PFC_WD", "GLOBAL"):
            return (item.native, "watchdog", "poll_ms")
        if table == "DSCP_TO_TC_MAP":
            return (item.native, "dscp_to_priority")
        if table in _MAPS_OF and field.isdigit() and item.setting.qos.priority(int(field)) is not None:
            return (item.native, "priorities", int(field), _MAPS_OF[table])
        for entry in item.setting.qos.priorities:
            if object_name(item.setting, entry, names) == name:
                leaf = _object_leaf(table, field)
                return (item.native, "priorities", entry.priority, leaf) if leaf else ()
    return ()


def _object_leaf(table: str, field: str) -> str:
    if table == "SCHEDULER":
        return "bandwidth_percent" if field == "weight" else "scheduling"
    if table == "WRED_PROFILE":
        return next((leaf for end, leaf in _WRED_FIELDS.items() if field.endswith(end)), "ecn")
    return _BUFFER_FIELDS.get(field, "") if table == "BUFFER_PROFILE" else ""

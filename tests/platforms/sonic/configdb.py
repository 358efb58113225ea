"""CONFIG_DB to the JSON form of SONiC's YANG models, and libyang's verdict on it.

Written from the models alone: each table is a container of one list, whose keys are the parts of the CONFIG_DB key;
maps hold an inner list with one entry per field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

YANG = Path(__file__).resolve().parents[4] / "shared/data/sonic-yang"

# table -> (module, keys of its list)
TABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "BUFFER_PG": ("sonic-buffer-pg", ("port", "pg_num")),
    "BUFFER_POOL": ("sonic-buffer-pool", ("name",)),
    "BUFFER_PROFILE": ("sonic-buffer-profile", ("name",)),
    "BUFFER_QUEUE": ("sonic-buffer-queue", ("port", "qindex")),
    "PFC_WD": ("sonic-pfcwd", ("ifname",)),
    "PORT": ("sonic-port", ("name",)),
    "PORT_QOS_MAP": ("sonic-port-qos-map", ("ifname",)),
    "QUEUE": ("sonic-queue", ("ifname", "qindex")),
    "SCHEDULER": ("sonic-scheduler", ("name",)),
    "WRED_PROFILE": ("sonic-wred-profile", ("name",)),
}
# table -> (module, name of the inner key, name of the inner value)
MAPS: Mapping[str, tuple[str, str, str]] = {
    "CABLE_LENGTH": ("sonic-cable-length", "port", "length"),
    "DSCP_TO_TC_MAP": ("sonic-dscp-tc-map", "dscp", "tc"),
    "MAP_PFC_PRIORITY_TO_QUEUE": ("sonic-pfc-priority-queue-map", "pfc_priority", "qindex"),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": ("sonic-pfc-priority-priority-group-map", "pfc_priority", "pg"),
    "TC_TO_PRIORITY_GROUP_MAP": ("sonic-tc-priority-group-map", "tc", "pg"),
    "TC_TO_QUEUE_MAP": ("sonic-tc-queue-map", "tc", "qindex"),
}
# Leaves whose YANG type is a JSON number or boolean.
SMALL = (
    "dynamic_th",
    "weight",
    "priority",
    "mtu",
    "speed",
    "index",
    "detection_time",
    "restoration_time",
    "POLL_INTERVAL",
    "tc",
)
BOOLEAN = ("wred_green_enable", "wred_yellow_enable", "wred_red_enable")


def context() -> Any:
    """A libyang context with every model."""
    import libyang

    made = libyang.Context(str(YANG))
    modules = {module for module, *_ in (*TABLES.values(), *MAPS.values())} | {"sonic-device_metadata"}
    for module in sorted(modules):
        made.load_module(module)
    return made


def verdict(made: Any, database: Mapping[str, Mapping[str, Mapping[str, str]]]) -> str:
    """ "" when the models accept the database, else libyang's words."""
    import libyang

    try:
        tree = made.parse_data_mem(json.dumps(as_yang(database)), "json", strict=True, no_state=True)
    except libyang.LibyangError as error:
        return str(error)
    if tree is not None:
        tree.free()
    return ""


def as_yang(database: Mapping[str, Mapping[str, Mapping[str, str]]]) -> dict[str, Any]:
    """The SONiC YANG form. A table without a model here raises KeyError."""
    result: dict[str, Any] = {}
    for table, entries in database.items():
        if table == "DEVICE_METADATA":
            module, content = "sonic-device_metadata", {"localhost": dict(entries["localhost"])}
        elif table in MAPS:
            module, key, value = MAPS[table]
            rows = [
                {"name": name, table: [{key: _typed(key, k), value: _typed(value, v)} for k, v in fields.items()]}
                for name, fields in entries.items()
            ]
            content = {f"{table}_LIST": rows}
        else:
            module, keys = TABLES[table]
            rows = [
                {**dict(zip(keys, name.split("|"), strict=True)), **{k: _typed(k, v) for k, v in fields.items()}}
                for name, fields in entries.items()
            ]
            content = {f"{table}_LIST": rows}
        result[f"{module}:{module}"] = {table: content}
    return result


def _typed(name: str, text: str) -> Any:
    if name in BOOLEAN:
        return {"true": True, "false": False}.get(text, text)
    if name in SMALL and text.lstrip("-").isdigit():
        return int(text)
    return text

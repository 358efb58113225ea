"""The limits of CONFIG_DB tables, checked before anything is sent: ``config load`` itself validates nothing.

Source: sonic-net/sonic-buildimage src/sonic-yang-models (see the reference, section 1c); as data, first match wins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rocetune.platforms.sonic.database import AUTO_PROFILE, RANGED, Database, Fields, overlaps

_NAME = r"[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}"
_PRIORITIES = r"([0-7](,[0-7])*)?"
_UNSIGNED = r"\d{1,19}"


@dataclass(frozen=True, slots=True)
class Limit:
    """What one field may hold: a pattern, and for numbers a range. ``table`` names the table it must point into."""

    pattern: str
    low: int | None = None
    high: int | None = None
    table: str | None = None


# table -> (pattern of its key, field pattern -> limit). A field that is not listed is not ours to judge.
LIMITS: Mapping[str, tuple[str, Mapping[str, Limit]]] = {
    "DSCP_TO_TC_MAP": (_NAME, {r"6[0-3]|[1-5][0-9]?|[0-9]": Limit(r"\d+", 0, 15), ".*": Limit(r"(?!)")}),
    "TC_TO_PRIORITY_GROUP_MAP": (_NAME, {r"\d|1[0-5]": Limit(r"[0-7]"), ".*": Limit(r"(?!)")}),
    "TC_TO_QUEUE_MAP": (_NAME, {r"\d|1[0-5]": Limit(r"\d"), ".*": Limit(r"(?!)")}),
    "MAP_PFC_PRIORITY_TO_QUEUE": (_NAME, {r"[0-7]": Limit(r"[0-7]"), ".*": Limit(r"(?!)")}),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": (_NAME, {r"[0-7]": Limit(r"[0-7]"), ".*": Limit(r"(?!)")}),
    "SCHEDULER": (
        r".+",
        {
            "type": Limit(r"DWRR|WRR|STRICT"),
            "weight": Limit(r"\d+", 1, 100),
            "priority": Limit(r"(?!)"),  # allowed by YANG, but orchagent then rejects the whole entry
        },
    ),
    "WRED_PROFILE": (
        _NAME,
        {
            r"(green|yellow|red)_(min|max)_threshold": Limit(_UNSIGNED),
            r"(green|yellow|red)_drop_probability": Limit(r"\d+", 0, 100),
            r"wred_(green|yellow|red)_enable": Limit(r"true|false"),
            "ecn": Limit(r"ecn_(none|green|yellow|red|green_yellow|green_red|yellow_red|all)"),
        },
    ),
    "PORT_QOS_MAP": (
        r"global|Ethernet\d+",
        {
            "dscp_to_tc_map": Limit(".+", table="DSCP_TO_TC_MAP"),
            "tc_to_queue_map": Limit(".+", table="TC_TO_QUEUE_MAP"),
            "tc_to_pg_map": Limit(".+", table="TC_TO_PRIORITY_GROUP_MAP"),
            "pfc_to_queue_map": Limit(".+", table="MAP_PFC_PRIORITY_TO_QUEUE"),
            "pfc_to_pg_map": Limit(".+", table="PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"),
            "pfc_enable|pfcwd_sw_enable": Limit(_PRIORITIES),
        },
    ),
    "QUEUE": (
        r".+\|\d{1,2}(-\d{1,2})?",
        {"scheduler": Limit(".+", table="SCHEDULER"), "wred_profile": Limit(".+", table="WRED_PROFILE")},
    ),
    "BUFFER_QUEUE": (r".+\|\d{1,2}(-\d{1,2})?", {"profile": Limit(".+", table="BUFFER_PROFILE")}),
    "BUFFER_PG": (r".+\|[0-7](-[0-7])?", {"profile": Limit(".+", table="BUFFER_PROFILE")}),
    "BUFFER_PROFILE": (
        r".+",
        {
            "pool": Limit(".+", table="BUFFER_POOL"),
            "size|xon|xoff|xon_offset|static_th": Limit(_UNSIGNED),
            "dynamic_th": Limit(r"-?\d+", -8, 7),
        },
    ),
    "CABLE_LENGTH": (_NAME, {r"Ethernet\d+": Limit(r"\d+m"), ".*": Limit(r"(?!)")}),
    "PORT": (r"Ethernet\d+", {"mtu": Limit(r"\d+", 68, 9216)}),
    "PFC_WD": (
        r"GLOBAL|Ethernet\d+",
        {
            "POLL_INTERVAL": Limit(r"\d+", 100, 1000),
            "action": Limit("drop|forward|alert"),
            "detection_time": Limit(r"\d+", 100, 5000),
            "restoration_time": Limit(r"\d+", 100, 60000),
        },
    ),
}
_MANDATORY: Mapping[str, tuple[str, ...]] = {"BUFFER_PROFILE": ("pool", "size")}


def problems(database: Database, touched: Mapping[str, set[str]]) -> tuple[str, ...]:
    """What is wrong with the touched entries of a complete CONFIG_DB; empty when all is well."""
    found: list[str] = []
    for table in sorted(touched):
        if table not in LIMITS:
            found.append(f"{table}: not a table that may be written")
            continue
        for key in sorted(touched[table] & database.get(table, {}).keys()):
            found += [f"{table}|{key}: {text}" for text in _entry(table, key, database[table][key], database)]
    found += [f"{text} claim the same index" for text in overlaps(database) if _concerns(text, touched)]
    return tuple(found)


def _concerns(text: str, touched: Mapping[str, set[str]]) -> bool:
    return any(f"{table}|{key}" in text.split(" and ") for table in RANGED for key in touched.get(table, ()))


def _entry(table: str, key: str, fields: Fields, database: Database) -> list[str]:
    pattern, limits = LIMITS[table]
    found = [] if re.fullmatch(pattern, key) else ["not a key of this table"]
    found += [f"{name} is missing" for name in _MANDATORY.get(table, ()) if name not in fields]
    for name, value in fields.items():
        limit = next((limit for text, limit in limits.items() if re.fullmatch(text, name)), None)
        if limit is not None:
            found += _value(name, value, limit, database)
    if table == "WRED_PROFILE":
        found += _curve(fields)
    if table == "PFC_WD" and key != "GLOBAL":
        found += _timers(fields, database)
    if table in RANGED or table in ("PORT_QOS_MAP", "PFC_WD"):
        port = key.split("|")[0]
        if port not in ("global", "GLOBAL", "CPU") and port not in database.get("PORT", {}):
            found.append(f"there is no port {port}")
    return found


def _value(name: str, value: str, limit: Limit, database: Database) -> list[str]:
    if not re.fullmatch(limit.pattern, value, re.ASCII):
        return [f"{name} {value!r} is not allowed"]
    if limit.low is not None and limit.high is not None and not limit.low <= int(value) <= limit.high:
        return [f"{name} {value} is outside {limit.low} to {limit.high}"]
    own = value == "NULL" or AUTO_PROFILE.fullmatch(value) is not None  # the switch writes these itself
    if limit.table is not None and value not in database.get(limit.table, {}) and not own:
        return [f"{name} points to {limit.table}|{value}, which does not exist"]
    return []


def _curve(fields: Fields) -> list[str]:
    found = []
    for colour in ("green", "yellow", "red"):
        low, high = fields.get(f"{colour}_min_threshold", "0"), fields.get(f"{colour}_max_threshold", "0")
        if low.isdigit() and high.isdigit() and int(low) > int(high):
            found.append(f"{colour}_min_threshold {low} is above {colour}_max_threshold {high}")
    return found


def _timers(fields: Fields, database: Database) -> list[str]:
    poll = database.get("PFC_WD", {}).get("GLOBAL", {}).get("POLL_INTERVAL", "0")
    return [
        f"{name} {fields[name]} is below POLL_INTERVAL {poll}"
        for name in ("detection_time", "restoration_time")
        if fields.get(name, "").isdigit() and poll.isdigit() and int(fields[name]) < int(poll)
    ]

"""CONFIG_DB text, running or rendered, to the flat map of owned keys."""

from __future__ import annotations

from rocetune.model.change import Config, Key
from rocetune.model.facts import Facts
from rocetune.platforms.sonic.database import AUTO_PROFILE, Database, expanded, load, lossless_profile
from rocetune.platforms.sonic.owned import OBJECTS, OURS, PFC_FIELDS, PORT_MAPS, WATCHDOG_FIELDS

AUTO = "auto"  # the switch chooses the headroom profile itself (both buffer models)


def parse(text: str, facts: Facts) -> Config:
    """Owned keys of a CONFIG_DB dump with canonical values. Raises NotConfigDb."""
    return of(load(text))


def of(database: Database) -> dict[Key, str]:
    """Owned keys of a database, for every port it knows."""
    result: dict[Key, str] = {}
    for table in OBJECTS:
        for name, fields in database.get(table, {}).items():
            if name.startswith(OURS):
                result.update({(table, name, field): _number(value) for field, value in fields.items()})
    for name, fields in database.get("CABLE_LENGTH", {}).items():
        result.update({("CABLE_LENGTH", name, port): length for port, length in fields.items()})
    for port, fields in database.get("PORT", {}).items():
        if "mtu" in fields:
            result["PORT", port, "mtu"] = _number(fields["mtu"])
    _port_maps(database, result)
    _queues(database, result)
    for port, fields in database.get("PFC_WD", {}).items():
        names = ("POLL_INTERVAL",) if port == "GLOBAL" else WATCHDOG_FIELDS
        result.update({("PFC_WD", port, name): _number(fields[name]) for name in names if name in fields})
    return result


def _port_maps(database: Database, result: dict[Key, str]) -> None:
    for port, fields in database.get("PORT_QOS_MAP", {}).items():
        names = ("dscp_to_tc_map",) if port == "global" else PORT_MAPS
        result.update({("PORT_QOS_MAP", port, name): fields[name] for name in names if fields.get(name)})
        for name in PFC_FIELDS:
            if fields.get(name):  # "" means the same as absent
                result["PORT_QOS_MAP", port, name] = priorities(fields[name])


def _queues(database: Database, result: dict[Key, str]) -> None:
    for port, index, _, fields in expanded(database.get("QUEUE", {})):
        for name in ("scheduler", "wred_profile"):
            if fields.get(name):
                result["QUEUE", *port.split("|"), str(index), name] = fields[name]
    for port, index, _, fields in expanded(database.get("BUFFER_QUEUE", {})):
        if fields.get("profile"):
            result["BUFFER_QUEUE", *port.split("|"), str(index), "profile"] = fields["profile"]
    profiles = database.get("BUFFER_PROFILE", {})
    for port, index, _, fields in expanded(database.get("BUFFER_PG", {})):
        profile = fields.get("profile", "")
        if profile and lossless_profile(profile, profiles):
            own = profile == "NULL" or AUTO_PROFILE.fullmatch(profile) is not None
            result["BUFFER_PG", *port.split("|"), str(index), "profile"] = AUTO if own else profile


def priorities(text: str) -> str:
    """A priority list as a sorted set: ``4,3`` and ``3,4`` are one value."""
    return ",".join(sorted({part.strip() for part in text.split(",") if part.strip()}))


def _number(text: str) -> str:
    return str(int(text)) if text.isdigit() else text

"""What a SONiC switch is, from its CONFIG_DB, version file, headroom table and LLDP."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rocetune.model.facts import Facts, PortFacts
from rocetune.model.plan import DevicePlan
from rocetune.model.state import Transcript
from rocetune.platforms.base import texts
from rocetune.platforms.sonic import asics
from rocetune.platforms.sonic.database import Database, NotConfigDb, cable_object, load
from rocetune.platforms.sonic.tables import speed, tables
from rocetune.tuning.published import PublishedTable, match

CONFIG = "sonic-cfggen -d --print-data"
VERSION = "cat /etc/sonic/sonic_version.yml"
SHOW_VERSION = "show version"
# The lookup table of the traditional buffer model; the folder is named by the SKU.
HEADROOM = "cat /usr/share/sonic/device/*/$(sonic-cfggen -d -v DEVICE_METADATA.localhost.hwsku)/pg_profile_lookup.ini"
LLDP = "show lldp table"
STATUS = "show interfaces status"
FACTS = (CONFIG, VERSION, HEADROOM, LLDP, STATUS)

PUBLISHED = "published"  # the headroom table is upstream's for the SKU; nobody read the switch's own
EMPTY_TABLE = "empty"  # the table was read and has no rows: some Tomahawk 5 images ship it so
MAX_MTU_BYTES = 9216  # sonic-port.yang: 68..9216


@dataclass(frozen=True, slots=True)
class Headroom:
    """One row of pg_profile_lookup.ini, bytes. ``threshold`` is log2(alpha), or bytes in a static pool."""

    size: int
    xon: int
    xoff: int
    threshold: int
    xon_offset: int | None = None


def facts(transcript: Transcript) -> Facts:
    """Facts from a transcript; what it does not say stays None."""
    answers = texts(transcript)
    try:
        database = load(answers.get(CONFIG, ""))
    except NotConfigDb:
        database = {}
    meta = database.get("DEVICE_METADATA", {}).get("localhost", {})
    version = {**_colons(answers.get(SHOW_VERSION, "")), **_colons(answers.get(VERSION, ""))}
    hwsku = meta.get("hwsku") or version.get("HwSKU")
    platform = meta.get("platform") or version.get("Platform")
    asic = asics.asic(hwsku, platform)
    build = version.get("build_version") or version.get("SONiC Software Version", "").removeprefix("SONiC.")
    extra = {
        "buffer_model": meta.get("buffer_model", "traditional") if database else "",
        "asic_type": version.get("asic_type") or version.get("ASIC") or asics.asic_type(asic),
        "platform": platform or "",
        "switch_type": meta.get("switch_type", ""),
        "cable_object": cable_object(database),
        "lossy_queue_profile": _lossy_profile(database),
        "dscp_map": _common_map(database),
        "headroom_table": (_table_text(answers[HEADROOM]) or EMPTY_TABLE) if HEADROOM in answers else "",
    }
    return Facts(
        platform="sonic",
        source="device",
        hostname=meta.get("hostname"),
        model=hwsku,
        asic=asic,
        os_version=build or None,
        ports=_ports(database, answers),
        extra={name: value for name, value in extra.items() if value},
    )


def declared(plan: DevicePlan) -> Facts:
    """Facts for offline work: what the inventory declares, and the planned ports."""
    known = plan.device.declared
    asic = known.get("asic") or asics.asic(known.get("model"), known.get("hwsku"))
    table = _published(known.get("hwsku") or known.get("model"))
    kind = known.get("asic_type") or asics.asic_type(asic)
    ports = {
        item.native: PortFacts(
            item.native, speed_mbps=item.setting.qos.speed_mbps or item.port.speed_mbps, max_mtu_bytes=MAX_MTU_BYTES
        )
        for item in plan.ports
    }
    return Facts(
        platform="sonic",
        hostname=plan.device.name,
        model=known.get("model") or known.get("hwsku"),
        asic=asic,
        os_version=known.get("os_version"),
        ports=ports,
        extra={
            "buffer_model": known.get("buffer_model", "traditional"),
            "asic_type": kind,
            "cable_object": "AZURE",
            "lossy_queue_profile": "q_lossy_profile" if kind == "mellanox" else "egress_lossy_profile",
            **_table_words(table),
            "headroom_table_from": PUBLISHED,
        },
    )


def _published(hwsku: str | None) -> PublishedTable | None:
    """The one headroom table that sonic-buildimage has for a hardware SKU or model; None where it has not one."""
    found = match(hwsku)
    return found.tables[0] if found is not None and found.own and len(found.tables) == 1 else None


def _table_words(table: PublishedTable | None) -> dict[str, str]:
    """A table in one line, and its name; empty where there is none."""
    if table is None:
        return {"headroom_table": "", "headroom_table_name": ""}
    rows = [
        (row.speed_mbps, f"{row.cable_m:g}", row.size_bytes, row.xon_bytes, row.xoff_bytes, row.threshold)
        + (() if row.xon_offset_bytes is None else (row.xon_offset_bytes,))
        for row in table.rows
    ]
    text = ";".join(",".join(map(str, row)) for row in rows if None not in row) or EMPTY_TABLE
    return {"headroom_table": text, "headroom_table_name": table.name}


def saved_facts(text: str, known: Facts) -> Facts:
    """``known`` (declared) completed by a saved CONFIG_DB, which says as much of the switch as the live one does.

    What was rendered rather than saved has no DEVICE_METADATA and changes little. Other text leaves ``known`` alone.
    """
    try:
        database = load(text)
    except NotConfigDb:
        return known
    meta = database.get("DEVICE_METADATA", {}).get("localhost", {})
    asic = asics.asic(meta.get("hwsku"), meta.get("platform")) or known.asic
    extra = {
        "buffer_model": meta.get("buffer_model", "traditional") if meta else "",
        "asic_type": asics.asic_type(asic) if asic != known.asic else "",
        "platform": meta.get("platform", ""),
        "switch_type": meta.get("switch_type", ""),
        "cable_object": cable_object(database) if "CABLE_LENGTH" in database else "",
        "lossy_queue_profile": _lossy_profile(database),
        "dscp_map": _common_map(database),
    }
    if "hwsku" in meta:  # the saved configuration knows better whose table it is
        known = replace(known, extra={**known.extra, **_table_words(_published(meta["hwsku"]))})
    ports = dict(known.ports)
    for name, port in _ports(database, {}).items():
        declared = ports.get(name)
        ports[name] = replace(port, speed_mbps=port.speed_mbps or (declared.speed_mbps if declared else None))
    return replace(
        known,
        hostname=meta.get("hostname") or known.hostname,
        model=meta.get("hwsku") or known.model,
        asic=asic,
        ports=ports,
        extra={**known.extra, **{name: value for name, value in extra.items() if value}},
    )


def release(facts: Facts) -> int | None:
    """The release as a number (202411), or None for a build that names none."""
    match = re.match(r"(?:SONiC\.)?(20\d{4})", facts.os_version or "")
    return int(match[1]) if match else None


def dynamic(facts: Facts) -> bool:
    """Whether the switch computes its buffers itself (``buffer_model`` dynamic)."""
    return facts.extra.get("buffer_model") == "dynamic"


def table_known(facts: Facts) -> bool:
    """Whether the switch's own headroom table was read, be it empty."""
    return bool(facts.extra.get("headroom_table"))


def headroom_rows(facts: Facts) -> Mapping[tuple[int, int], Headroom]:
    """(Mbit/s, metres) -> row of the switch's own table; empty when it has none or could not be read."""
    rows = {}
    for line in facts.extra.get("headroom_table", "").split(";"):
        parts = [int(part) for part in line.split(",")] if line not in ("", EMPTY_TABLE) else []
        if len(parts) >= 6:
            size, xon, xoff, threshold = parts[2:6]
            rows[parts[0], parts[1]] = Headroom(size, xon, xoff, threshold, parts[6] if len(parts) > 6 else None)
    return rows


def _table_text(ini: str) -> str:
    """pg_profile_lookup.ini (speed cable size xon xoff threshold [xon_offset]) in one line."""
    rows = []
    for line in ini.splitlines():
        parts = line.split("#")[0].split()
        if len(parts) >= 6 and parts[0].isdigit() and re.fullmatch(r"\d+m", parts[1]):
            numbers = [parts[0], parts[1][:-1], *parts[2:7]]
            if all(re.fullmatch(r"-?\d+", part) for part in numbers):
                rows.append(",".join(numbers))
    return ";".join(rows)


def _colons(text: str) -> dict[str, str]:
    """``key: value`` lines, quotes removed."""
    found = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() and value.strip():
            found[name.strip()] = value.strip().strip("'\"")
    return found


def _lossy_profile(database: Database) -> str:
    """The profile of lossy queues: NVIDIA images have one of their own."""
    profiles = database.get("BUFFER_PROFILE", {})
    return next((name for name in ("q_lossy_profile", "egress_lossy_profile") if name in profiles), "")


def _ports(database: Database, answers: Mapping[str, str]) -> dict[str, PortFacts]:
    oper: dict[str, tuple[str, int | None]] = {}
    neighbors: dict[str, list[tuple[str, str]]] = {}
    for table in tables(answers.get(STATUS, "")):
        for row in table.rows:
            oper[row["Interface"]] = (row["Oper"], speed(row["Speed"]))
    for table in tables(answers.get(LLDP, "")):
        for row in table.rows:
            neighbors.setdefault(row["LocalPort"], []).append((row["RemoteDevice"], row["RemotePortID"]))
    found = {}
    for name, fields in database.get("PORT", {}).items():
        state, seen = oper.get(name, ("", None))
        text = fields.get("speed", "")
        others = neighbors.get(name, [])
        found[name] = PortFacts(
            native=name,
            speed_mbps=int(text) if text.isdigit() else seen,
            max_mtu_bytes=MAX_MTU_BYTES,
            link_up={"up": True, "down": False}.get(state),
            neighbor=others[0] if len(others) == 1 else None,  # two agents on one port: not known which
            extra=_bound(name, fields, database),
        )
    return found


def _bound(port: str, fields: Mapping[str, str], database: Database) -> dict[str, str]:
    """What is bound on a port, by name: a remedy has to name the object in use."""
    maps, dog = database.get("PORT_QOS_MAP", {}).get(port, {}), database.get("PFC_WD", {}).get(port, {})
    lanes = str(len(fields["lanes"].split(","))) if fields.get("lanes") else ""
    names = {"alias": fields.get("alias", ""), "lanes": lanes, "dscp_map": maps.get("dscp_to_tc_map", "")}
    names |= {name: maps.get(name, "") for name in ("pfc_enable", "pfcwd_sw_enable")}
    names |= {name: dog.get(name, "") for name in ("action", "detection_time", "restoration_time")}
    for number in range(8):
        names[f"wred.{number}"] = database.get("QUEUE", {}).get(f"{port}|{number}", {}).get("wred_profile", "")
    return {name: value for name, value in names.items() if value}


def _common_map(database: Database) -> str:
    """The DSCP map that most ports use."""
    names = [fields.get("dscp_to_tc_map", "") for fields in database.get("PORT_QOS_MAP", {}).values()]
    own = [name for name in names if name.startswith("ROCETUNE")] or [name for name in names if name]
    return max(sorted(set(own)), key=own.count, default="")

"""Observed state of a SONiC switch: what its CONFIG_DB binds, what its show commands say, one counter sample."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rocetune.model.facts import Facts
from rocetune.model.qos import Path, PortQos, PriorityQos, Watchdog, WatchdogAction
from rocetune.model.state import Evidence, Sample, State, Transcript
from rocetune.platforms.base import texts
from rocetune.platforms.sonic import admission
from rocetune.platforms.sonic import facts as facts_of
from rocetune.platforms.sonic.counters import PG_DROPS, QUEUES, WATCHDOG, counters, storms
from rocetune.platforms.sonic.database import (
    Database,
    Fields,
    NotConfigDb,
    cable_object,
    expanded,
    load,
    lossless_profile,
    natural,
    overlaps,
)
from rocetune.platforms.sonic.session import STARTUP, unsaved_view
from rocetune.platforms.sonic.tables import speed, tables

PFCWD_CONFIG = "show pfcwd config"
BUFFERS = "show buffer information"
_ACTIONS: Mapping[str, WatchdogAction] = {"drop": "drop", "forward": "forward", "alert": "notify"}
_LOSS = {QUEUES: "queue_drops", PG_DROPS: "pg_drops"}  # command -> the counter of lost packets that it shows
_GREEN = ("ecn_green", "ecn_green_yellow", "ecn_green_red", "ecn_all")


@dataclass(slots=True)
class _Reading:
    database: Database
    computed: dict[str, Fields] = field(default_factory=dict)  # profiles that run, by show buffer information
    bound: dict[tuple[str, int], str] = field(default_factory=dict)  # (port, group) -> profile that runs, by APPL_DB
    flags: dict[str, str] = field(default_factory=dict)  # "wred_green_enable.PORT.PRIORITY" -> on | off
    evidence: dict[Path, Evidence] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    indexes: dict[str, dict[tuple[str, int], tuple[str, Fields]]] = field(default_factory=dict)  # of table keys

    def table(self, name: str) -> dict[str, Fields]:
        return self.database.get(name, {})

    def entry(self, name: str, port: str, index: int) -> tuple[str, Fields]:
        """The key and fields that hold an index; a single key wins over a range that also claims it."""
        if name not in self.indexes:
            found: dict[tuple[str, int], tuple[str, Fields]] = {}
            for owner, number, key, fields in expanded(self.table(name)):
                if (owner, number) not in found or "-" not in key.rpartition("|")[2]:
                    found[owner, number] = (key, fields)
            self.indexes[name] = found
        return self.indexes[name].get((port, index), ("", {}))

    def note(self, path: Path, entry: str, fields: Mapping[str, str], command: str = facts_of.CONFIG) -> None:
        """The CONFIG_DB entry as the line a verdict stands on."""
        text = ", ".join(f"{name}={value}" for name, value in sorted(fields.items())) or "absent"
        self.evidence[path] = Evidence(command, f"{entry}: {text}")


def read(device: str, transcript: Transcript, facts: Facts) -> State:
    """State from a transcript; whatever was refused or not asked stays unknown."""
    answers = texts(transcript)
    reading = _Reading({})
    reading.problems += [
        f"{command}: {reply.error}" for command, reply in transcript.items() if reply.error is not None
    ]
    ports: dict[str, PortQos] = {}
    if facts_of.CONFIG in answers:
        try:
            reading.database = load(answers[facts_of.CONFIG])
        except NotConfigDb as error:
            reading.problems.append(f"{facts_of.CONFIG}: {error}")
        reading.bound = admission.bound_groups(answers.get(admission.BOUND, "")) or {}
        reading.computed = _running_profiles(answers.get(BUFFERS, ""))
        ports = {name: _port(name, reading, facts) for name in natural(reading.table("PORT"))}
    _live(ports, answers, reading)
    counts = _uneventful(counters(answers), ports, answers)
    samples: tuple[Sample, ...] = ()
    if counts:
        samples = (Sample(max((reply.at for reply in transcript.values()), default=0.0), counts),)
    return State(
        device=device,
        facts=facts,
        ports=ports,
        settings={**_settings(answers, reading), **reading.flags},
        samples=samples,
        evidence=reading.evidence,
        problems=tuple(reading.problems),
    )


def _port(name: str, reading: _Reading, facts: Facts) -> PortQos:
    port, maps = reading.table("PORT").get(name, {}), reading.table("PORT_QOS_MAP").get(name, {})
    bound = maps.get("dscp_to_tc_map") or reading.table("PORT_QOS_MAP").get("global", {}).get("dscp_to_tc_map")
    dscp_map = _dscps(reading.table("DSCP_TO_TC_MAP").get(bound or "", {}))
    reading.note((name, "trust"), f"PORT_QOS_MAP|{name}", {"dscp_to_tc_map": maps.get("dscp_to_tc_map", "absent")})
    table = f"DSCP_TO_TC_MAP|{bound}" if bound else f"PORT_QOS_MAP|{name}: dscp_to_tc_map"
    for path in (("dscp_to_priority",), *(("priorities", number, "dscps") for number in range(8))):
        reading.evidence[(name, *path)] = Evidence(facts_of.CONFIG, f"{table}: {_shown_map(dscp_map)}")
    reading.note((name, "mtu_bytes"), f"PORT|{name}", {"mtu": port.get("mtu", "absent")})
    lengths = reading.table("CABLE_LENGTH").get(cable_object(reading.database, name), {})
    length = lengths.get(name, "")
    reading.note((name, "cable_m"), f"CABLE_LENGTH|{cable_object(reading.database, name)}", {name: length or "absent"})
    rate = port.get("speed", "")
    return PortQos(
        trust="dscp" if maps.get("dscp_to_tc_map") else "none",  # the switch-level map is nobody's intent for this port
        mtu_bytes=_int(port.get("mtu")),
        speed_mbps=int(rate) if rate.isdigit() else None,
        cable_m=float(length[:-1]) if length[:-1].isdigit() else None,
        dscp_to_priority=dscp_map,
        priorities=tuple(_priority(name, number, maps, dscp_map, reading, facts) for number in range(8)),
        watchdog=_watchdog(name, reading),
    )


def _dscps(fields: Mapping[str, str]) -> tuple[int | None, ...] | None:
    if not fields:
        return None
    return tuple(_int(fields.get(str(dscp))) for dscp in range(64))


def _shown_map(points: tuple[int | None, ...] | None) -> str:
    """The entries that stand out, and where all others go."""
    if points is None:
        return "absent"
    common = max(sorted({str(to) for to in points}), key=[str(to) for to in points].count)
    odd = [f"{dscp}={'absent' if to is None else to}" for dscp, to in enumerate(points) if str(to) != common]
    return ", ".join([*odd, f"all others {'absent' if common == 'None' else common}"])


def _priority(
    port: str, number: int, maps: Fields, dscps: tuple[int | None, ...] | None, reading: _Reading, facts: Facts
) -> PriorityQos:
    at: Path = (port, "priorities", number)
    queue = _mapped(reading.table("TC_TO_QUEUE_MAP"), maps.get("tc_to_queue_map"), number)
    group = _mapped(reading.table("TC_TO_PRIORITY_GROUP_MAP"), maps.get("tc_to_pg_map"), number)
    enabled = [part for part in maps.get("pfc_enable", "").split(",") if part]
    watched = [part for part in maps.get("pfcwd_sw_enable", "").split(",") if part]
    reading.note((*at, "pfc"), f"PORT_QOS_MAP|{port}", {"pfc_enable": maps.get("pfc_enable", "absent")})
    dog = reading.table("PFC_WD").get(port, {"entry": "absent"})
    reading.note((*at, "watchdog"), f"PFC_WD|{port}", {**dog, "pfcwd_sw_enable": maps.get("pfcwd_sw_enable", "absent")})
    scheduling, weight = _scheduler(port, number if queue is None else queue, at, reading)
    ecn = _ecn(port, number if queue is None else queue, at, reading)
    return PriorityQos(
        priority=number,
        dscps=None if dscps is None else tuple(dscp for dscp, to in enumerate(dscps) if to == number),
        pfc=str(number) in enabled,
        traffic_class=number,
        queue=queue,
        priority_group=group,
        scheduling=scheduling,  # type: ignore[arg-type]
        bandwidth_percent=weight,
        watchdog=str(number) in watched and port in reading.table("PFC_WD"),
        **ecn,
        **_headroom(port, number if group is None else group, at, str(number) in enabled, reading, facts),
    )


def _mapped(table: Mapping[str, Fields], name: str | None, index: int) -> int | None:
    return _int(table.get(name or "", {}).get(str(index)))


def _scheduler(port: str, queue: int, at: Path, reading: _Reading) -> tuple[str | None, int | None]:
    _, fields = reading.entry("QUEUE", port, queue)
    scheduler = reading.table("SCHEDULER").get(fields.get("scheduler", ""), {})
    for leaf in ("scheduling", "bandwidth_percent"):
        reading.note((*at, leaf), f"QUEUE|{port}|{queue} -> {fields.get('scheduler', 'no scheduler')}", scheduler)
    if not scheduler:
        return None, None
    if "priority" in scheduler:
        reading.problems.append(
            f"SCHEDULER|{fields['scheduler']} has a priority field: the switch rejects the whole entry, queue {queue} "
            f"of {port} runs without it"
        )
        return None, None
    kind = scheduler.get("type", "WRR")
    return ("strict", None) if kind == "STRICT" else ("dwrr", _int(scheduler.get("weight", "1")))


def _ecn(port: str, queue: int, at: Path, reading: _Reading) -> dict[str, Any]:
    _, fields = reading.entry("QUEUE", port, queue)
    name = fields.get("wred_profile", "")
    wred = reading.table("WRED_PROFILE").get(name, {})
    text = f"QUEUE|{port}|{queue} -> WRED_PROFILE|{name}" if name else f"QUEUE|{port}|{queue}: wred_profile"
    shown = {key: wred.get(key, "absent") for key in ("ecn", "wred_green_enable")} if wred else {}
    reading.note((*at, "ecn"), text, shown)
    for leaf, key in (("kmin_bytes", "green_min_threshold"), ("kmax_bytes", "green_max_threshold")):
        reading.note((*at, leaf), text, {key: wred.get(key, "absent")})
    reading.note(
        (*at, "pmax_percent"), text, {"green_drop_probability": wred.get("green_drop_probability", "absent (100)")}
    )
    if not wred:
        return {"ecn": False}
    flag = "on" if wred.get("wred_green_enable", "false") == "true" else "off"
    reading.flags[f"wred_green_enable.{port}.{at[2]}"] = flag
    # An absent enable flag is false, and then nothing is marked whatever "ecn" says.
    marks = wred.get("ecn", "ecn_none") in _GREEN and flag == "on"
    return {
        "ecn": marks,
        "kmin_bytes": _int(wred.get("green_min_threshold")),
        "kmax_bytes": _int(wred.get("green_max_threshold")),
        "pmax_percent": float(wred.get("green_drop_probability", "100")),
    }


def _headroom(port: str, group: int, at: Path, pfc: bool, reading: _Reading, facts: Facts) -> dict[str, Any]:
    key, fields = reading.entry("BUFFER_PG", port, group)
    name = fields.get("profile", "")
    profiles = reading.table("BUFFER_PROFILE")
    reading.note(
        (*at, "headroom_bytes"), f"BUFFER_PG|{key or f'{port}|{group}'} -> {name or 'absent'}", profiles.get(name, {})
    )
    if name == "NULL":  # computed by the switch: the profile that runs is not in CONFIG_DB
        speed_text, length = reading.table("PORT").get(port, {}).get("speed", ""), _length(port, reading)
        exact = reading.computed.get(reading.bound.get((port, group), ""))
        near = [held for key, held in reading.computed.items() if key.startswith(f"pg_lossless_{speed_text}_{length}_")]
        running = [exact] if exact else near
        return {"headroom_bytes": _int(running[0].get("xoff"))} if len(running) == 1 else {}
    if name and not lossless_profile(name, profiles):
        return {"headroom_bytes": 0} if pfc else {}
    profile = profiles.get(name)
    if profile is None:
        # No group, or a reference that dangles: with PFC on there is nothing behind XOFF.
        return {"headroom_bytes": 0} if pfc and not facts_of.dynamic(facts) else {}
    power = profile.get("dynamic_th", "")
    return {
        "headroom_bytes": _int(profile.get("xoff")),  # without one the dynamic model computes it
        "xon_bytes": _int(profile.get("xon")),
        "xon_offset_bytes": _int(profile.get("xon_offset")),
        "xoff_bytes": _int(profile.get("static_th")),
        "alpha": 2.0 ** int(power) if re.fullmatch(r"-?\d+", power) else None,
    }


def _length(port: str, reading: _Reading) -> str:
    return reading.table("CABLE_LENGTH").get(cable_object(reading.database, port), {}).get(port, "")


def _running_profiles(text: str) -> dict[str, Fields]:
    """Profiles of ``show buffer information``: a title line, then name and value lines between rules."""
    found: dict[str, Fields] = {}
    current: Fields | None = None
    for line in text.splitlines():
        title = re.match(r"Profile(?: for namespace \S+)?: (\S+)", line)
        if title is not None:
            current = found.setdefault(title[1], {})
        elif line.startswith("Pool"):
            current = None
        elif current is not None and (pair := re.fullmatch(r"(\w+)\s+(\S+)", line.strip())):
            current[pair[1]] = pair[2]
    return found


def _watchdog(port: str, reading: _Reading) -> Watchdog | None:
    fields = reading.table("PFC_WD").get(port)
    poll = reading.table("PFC_WD").get("GLOBAL", {})
    if fields is None:
        return None
    for leaf, name in (("detect_ms", "detection_time"), ("restore_ms", "restoration_time"), ("action", "action")):
        reading.note((port, "watchdog", leaf), f"PFC_WD|{port}", {name: fields.get(name, "absent")})
    reading.note((port, "watchdog", "poll_ms"), "PFC_WD|GLOBAL", poll)
    return Watchdog(
        detect_ms=_int(fields.get("detection_time")),
        restore_ms=_int(fields.get("restoration_time")),
        poll_ms=_int(poll.get("POLL_INTERVAL")),
        action=_ACTIONS.get(fields.get("action", "")),
    )


def _live(ports: dict[str, PortQos], answers: Mapping[str, str], reading: _Reading) -> None:
    """Link state and real speed over what is configured."""
    for table in tables(answers.get(facts_of.STATUS, "")):
        for row in table.rows:
            name = row["Interface"]
            if name in ports:
                up = {"up": True, "down": False}.get(row["Oper"])
                ports[name] = replace(ports[name], link_up=up, speed_mbps=speed(row["Speed"]) or ports[name].speed_mbps)
                reading.evidence[name, "link_up"] = Evidence(facts_of.STATUS, row.line)
                reading.evidence[name, "speed_mbps"] = Evidence(facts_of.STATUS, row.line)
    for port, queue, _, row in storms(answers.get(WATCHDOG, "")):
        reading.evidence[port, "storm", queue] = Evidence(WATCHDOG, row.line)


def _uneventful(
    counts: dict[str, dict[str, int]], ports: Iterable[str], answers: Mapping[str, str]
) -> dict[str, dict[str, int]]:
    """The watchdog lists queues with events alone: a queue that its answer leaves out had none."""
    if WATCHDOG in answers:
        for port in {*counts, *ports}:
            row = counts.setdefault(port, {})
            for name in (f"{kind}.{queue}" for kind in ("watchdog_storms", "watchdog_restored") for queue in range(8)):
                row.setdefault(name, 0)
    return counts


def _settings(answers: Mapping[str, str], reading: _Reading) -> dict[str, str]:
    found: dict[str, str] = {}
    stormed = [f"{port}:{queue}" for port, queue, status, _ in storms(answers.get(WATCHDOG, "")) if status == "stormed"]
    found["unread_counters"] = " ".join(name for command, name in _LOSS.items() if command not in answers)
    if WATCHDOG in answers:
        found["stormed"] = " ".join(stormed)
    if PFCWD_CONFIG in answers:
        line = next((line for line in answers[PFCWD_CONFIG].splitlines() if line.startswith("BIG_RED_SWITCH")), "")
        found["big_red_switch"] = "on" if line.endswith("enable") else "off"
        reading.evidence["", "big_red_switch"] = Evidence(PFCWD_CONFIG, line or "no BIG_RED_SWITCH line")
    if STARTUP in answers and reading.database:
        try:
            startup = unsaved_view(load(answers[STARTUP]))
        except NotConfigDb as error:
            reading.problems.append(f"{STARTUP}: {error}")
        else:
            running = unsaved_view(reading.database)
            keys = sorted(key for key in running.keys() | startup.keys() if running.get(key) != startup.get(key))
            found["startup"] = "differs" if keys else "equal"
            shown = "|".join(keys[0]) if keys else "all QoS keys equal"
            reading.evidence["", "startup"] = Evidence(STARTUP, shown)
    if reading.database:
        verdict = admission.refused(reading.database, answers)
        if verdict is not None:
            found["headroom_rejected"] = verdict[0]
            reading.evidence["", "headroom_rejected"] = Evidence(verdict[1], verdict[2])
        doubled = overlaps(reading.database)
        found["overlapping_ranges"] = "; ".join(doubled)
        reading.problems += [
            f"{text} claim the same index: one of them may have left the null profile" for text in doubled
        ]
    return found


def _int(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"\d+", text) else None

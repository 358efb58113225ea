"""A transcript of an EOS switch to State.

Settings come from the running configuration, statement by statement: what the port's ``qos profile`` says, what the
interface itself says over it, else EOS's own default. Operation (is PFC active, is the link up) comes from the show
commands. What neither tells stays None.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rocetune.model.change import Key
from rocetune.model.facts import Facts
from rocetune.model.qos import Path, PortQos, PriorityQos, Trust, Watchdog, WatchdogAction
from rocetune.model.state import Evidence, State, Transcript
from rocetune.platforms.arista_eos import commands as ask
from rocetune.platforms.arista_eos import counters, keys, mmu, names, parse
from rocetune.platforms.arista_eos import facts as device_facts
from rocetune.platforms.arista_eos.session import same_configuration

_CURVE = re.compile(
    r"minimum-threshold (\S+) (\w+) maximum-threshold (\S+) \w+ max-mark-probability (\S+) weight \S+", re.ASCII
)
_UNIT_BYTES = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}  # 1000, not 1024: not confirmed
_TRUST: Mapping[str, Trust] = {"dscp": "dscp", "cos": "pcp", "none": "none"}
_NOTHING = parse.Entry("", "")
_ACTION: Mapping[str, WatchdogAction] = {
    "drop": "drop", "notify-only": "notify", "no-drop": "notify", "errdisable": "shutdown",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PfcRow:
    """One row of ``show priority-flow-control``."""

    enabled: bool
    priorities: frozenset[int]
    active: bool
    note: str
    line: str


@dataclass(slots=True)
class _Reader:
    """Everything that was asked, opened once, and the evidence that reading it leaves."""

    found: dict[Key, parse.Entry]
    interfaces: Mapping[str, Mapping[str, Any]]
    pfc: Mapping[str, PfcRow] | None
    pause: Mapping[str, Mapping[str, Any]]
    ecn: Mapping[str, Mapping[int, tuple[str, int, int]]]
    evidence: dict[Path, Evidence] = field(default_factory=dict)

    def note(self, path: Path, entry: parse.Entry | None, command: str = ask.RUNNING) -> None:
        if entry is not None:
            self.evidence[path] = Evidence(command, entry.line)


def read(device: str, transcript: Transcript, facts: Facts) -> State:
    """Observed QoS per Ethernet port, device settings, one counter sample, and the line behind each leaf."""
    running = ask.text(transcript, ask.RUNNING)
    pfc_text = ask.text(transcript, ask.PFC)
    problems = [f"{command}: {reply.error}" for command, reply in transcript.items() if reply.error is not None]
    pfc = pfc_table(pfc_text) if pfc_text is not None else None
    if pfc_text is not None and pfc is None:
        problems.append(f"{ask.PFC}: the layout of this table is not known; PFC is judged by the configuration")
    reader = _Reader(
        parse.scan(running) if running is not None else {},
        _canonical(ask.section(transcript, ask.INTERFACES, "interfaces")),
        pfc,
        _canonical(ask.section(transcript, ask.FLOW_CONTROL, "interfaceFlowControls")),
        _ecn_tables(transcript),
    )
    listed = {key[1] for key in reader.found if key[0] == keys.INTERFACE} | set(reader.interfaces)
    ports = {}
    for port in sorted(listed):
        if port.startswith("Ethernet"):
            ports[port] = _port(reader, port, running is not None)
    sample = counters.sample(transcript)
    return State(
        device=device,
        facts=facts,
        ports=ports,
        settings={**_settings(transcript, running, ports), **_configured_pfc(reader, ports, running is not None)},
        samples=(sample,) if sample else (),
        evidence=reader.evidence,
        problems=tuple(problems),
    )


def pfc_table(text: str) -> dict[str, PfcRow] | None:
    """``show priority-flow-control`` by the columns of its header; None for a layout that is not known.

    Known is ``Port  Enabled  Priorities  Active  Note`` (EOS RoCEv2 guide, 4.36); releases differ.
    """
    lines = text.splitlines()
    words = ("Port", "Enabled", "Priorities", "Active", "Note")
    for at, line in enumerate(lines):
        if line.split() == list(words):
            starts = [line.index(word) for word in words]
            return dict(_pfc_row(row, starts) for row in lines[at + 1 :] if row.strip() and row.strip("- "))
    return None


def _pfc_row(row: str, starts: list[int]) -> tuple[str, PfcRow]:
    cells = [row[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
    members = frozenset(n for n in parse.numbers(cells[2]) if n < 8)
    return names.interface(cells[0]), PfcRow(cells[1] == "Yes", members, cells[3] == "Yes", cells[4], row.rstrip())


def ecn_table(text: str) -> dict[int, tuple[str, int, int]]:
    """``show qos interfaces X ecn``: queue to (unit, minimum, maximum). Header over two lines, rule below."""
    rows = re.findall(r"^\s*([0-7])\s+([a-z]+)\s+([0-9]+)\s+([0-9]+)\s*$", text, re.MULTILINE)
    return {int(queue): (unit, int(low), int(high)) for queue, unit, low, high in rows}


def _ecn_tables(transcript: Transcript) -> dict[str, dict[int, tuple[str, int, int]]]:
    """Thresholds in operation, where somebody asked a port for them (one command per port: not asked by default)."""
    found = {}
    for command in transcript:
        match = re.fullmatch(r"show qos interfaces (.+?) ecn", command)
        answer = ask.text(transcript, command)
        if match is not None and answer is not None:
            found[names.interface(match[1])] = ecn_table(answer)
    return found


def _canonical(rows: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {names.interface(name): entry for name, entry in rows.items() if isinstance(entry, dict)}


def _settings(transcript: Transcript, running: str | None, ports: Mapping[str, PortQos]) -> dict[str, str]:
    settings: dict[str, str] = {}
    startup = ask.text(transcript, ask.STARTUP)
    if running is not None and startup is not None:
        settings["startup"] = "equal" if same_configuration(running, startup) else "differs"
    if ask.data(transcript, ask.LLDP) is not None:
        seen = device_facts.neighbors(transcript)
        settings.update({f"lldp_neighbors.{port}": str(int(port in seen)) for port in ports})
    return settings


def _configured_pfc(reader: _Reader, ports: Mapping[str, PortQos], configured: bool) -> dict[str, str]:
    """What each port is configured to do, apart from what it does."""
    found = {}
    for port in ports if configured else ():
        stated = _statements(reader.found, port)
        lossless = any(stated.get((keys.pfc_priority(n),), _NOTHING).value == "no-drop" for n in range(8))
        found[f"pfc_admin.{port}"] = "on" if lossless and ("priority-flow-control",) in stated else "off"
    return found


def _port(reader: _Reader, port: str, configured: bool) -> PortQos:
    entry = reader.interfaces.get(port, {})
    pause = reader.pause.get(port)
    on = [pause.get(f"{way}{state}State") for way in ("tx", "rx") for state in ("Admin",)] if pause else []
    stated = _statements(reader.found, port)
    mtu = entry.get("mtu")
    operational = PortQos(
        mtu_bytes=mtu if isinstance(mtu, int) and mtu else None,
        speed_mbps=device_facts.speed_mbps(entry),
        link_up=device_facts.is_up(entry),
        link_pause=None if not on or None in on else "on" in on or "desired" in on,
    )
    if operational.mtu_bytes is not None:
        reader.evidence[(port, "mtu_bytes")] = Evidence(ask.INTERFACES, f'"{port}": {{"mtu": {mtu}}}')
    if not configured:
        return operational
    points = _dscp_map(reader, port)
    dcbx = stated.get(("dcbx mode",))
    reader.note((port, "dcbx"), dcbx)
    return PortQos(
        trust=_trust(reader, port, stated, entry),
        mtu_bytes=operational.mtu_bytes,
        speed_mbps=operational.speed_mbps,
        link_up=operational.link_up,
        link_pause=operational.link_pause,
        dcbx=_dcbx(dcbx),
        dscp_to_priority=points,
        priorities=tuple(_priority(reader, port, stated, priority, points) for priority in range(8)),
        watchdog=_watchdog(reader, port, stated),
    )


def _dcbx(entry: parse.Entry | None) -> Literal["off", "ieee", "cee"] | None:
    if entry is None:
        return "off"  # disabled by default
    return "ieee" if entry.value == "ieee" else "cee" if entry.value == "cee" else None


def _statements(found: Mapping[Key, parse.Entry], port: str) -> dict[Key, parse.Entry]:
    """What holds for a port: its profile's statements, and the port's own over them. Keys without their first two."""
    merged: dict[Key, parse.Entry] = {}
    bound = found.get(keys.port(port, "service-profile"))
    if bound is not None:
        merged.update({key[2:]: entry for key, entry in found.items() if key[:2] == (keys.PROFILE, bound.value)})
    merged.update({key[2:]: entry for key, entry in found.items() if key[:2] == (keys.INTERFACE, port)})
    return merged


def _trust(reader: _Reader, port: str, stated: Mapping[Key, parse.Entry], entry: Mapping[str, Any]) -> Trust | None:
    said = stated.get(("qos trust",))
    if said is not None:
        reader.note((port, "trust"), said)
        return _TRUST.get(said.value)
    mode = device_facts.mode_of(entry)
    routed = mode == "routed" if mode else ("no switchport",) in stated
    reader.evidence[(port, "trust")] = Evidence(
        ask.RUNNING, f"no trust stated on {port}: the default of its mode holds"
    )
    return "dscp" if routed else "pcp"


def _dscp_map(reader: _Reader, port: str) -> tuple[int | None, ...]:
    points: list[int | None] = []
    for point in range(64):
        said = reader.found.get(keys.dscp(point))
        tc = int(said.value.split()[0]) if said else names.default_traffic_class(point)
        reader.note((port, "dscp_to_priority", point), said)
        points.append(names.priority(tc))
    return tuple(points)


def _priority(
    reader: _Reader,
    port: str,
    stated: Mapping[Key, parse.Entry],
    priority: int,
    points: tuple[int | None, ...],
) -> PriorityQos:
    tc = names.traffic_class(priority)
    mapped = reader.found.get(keys.queue_of(tc))
    number = int(mapped.value) if mapped else tc
    queue = keys.queue(number)
    at: Path = (port, "priorities", priority)
    share = stated.get((queue, "bandwidth percent"))
    dwrr = stated.get((queue, "no priority"))
    curve = stated.get((queue, "random-detect ecn"))
    reader.note((*at, "scheduling"), dwrr)
    reader.note((*at, "bandwidth_percent"), share)
    for leaf in ("ecn", "kmin_bytes", "kmax_bytes", "pmax_percent"):
        reader.note((*at, leaf), curve)
    kmin, kmax, pmax = _curve(curve)
    shown = reader.ecn.get(port)
    if shown is not None:
        unit, low, high = shown.get(number, ("", 0, 0))
        factor = _UNIT_BYTES.get(unit)
        kmin, kmax = (low * factor, high * factor) if factor else (None, None)
    pfc = _pfc(reader, port, stated, priority)
    headroom, alpha = _buffer(reader, at) if pfc else (None, None)
    watched = stated.get(("watchdog",))
    reader.note((*at, "watchdog"), watched)
    return PriorityQos(
        priority,
        dscps=tuple(point for point, owner in enumerate(points) if owner == priority),
        pfc=pfc,
        traffic_class=tc,
        queue=number,
        scheduling="dwrr" if dwrr is not None else "strict",
        bandwidth_percent=int(share.value) if share is not None and share.value.isdigit() and dwrr else None,
        headroom_bytes=headroom,
        alpha=alpha,
        ecn=curve is not None if shown is None else number in shown,
        kmin_bytes=kmin,
        kmax_bytes=kmax,
        pmax_percent=pmax,
        watchdog=watched is not None and bool(pfc),
    )


def _pfc(reader: _Reader, port: str, stated: Mapping[Key, parse.Entry], priority: int) -> bool:
    """Active PFC of one priority: what the switch shows, else what it is configured to do."""
    at: Path = (port, "priorities", priority, "pfc")
    row = reader.pfc.get(port) if reader.pfc is not None else None
    if row is not None:
        reader.evidence[at] = Evidence(ask.PFC, row.line)
        return row.enabled and row.active and priority in row.priorities
    switch = stated.get(("priority-flow-control",))
    no_drop = stated.get((keys.pfc_priority(priority),))
    reader.note(at, no_drop or switch)
    return switch is not None and no_drop is not None and no_drop.value == "no-drop"


def _buffer(reader: _Reader, at: Path) -> tuple[int | None, float | None]:
    """Headroom and threshold of the MMU profile in use; None where none is, or where it counts cells."""
    used = reader.found.get(keys.MMU_APPLY)
    if used is None:
        return None, None
    size = reader.found.get((keys.MMU, used.value, "ingress headroom"))
    factor = reader.found.get((keys.MMU, used.value, "ingress threshold"))
    reader.note((*at, "headroom_bytes"), size)
    reader.note((*at, "alpha"), factor)
    headroom = int(size.value.split()[1]) if size is not None and size.value.startswith("bytes ") else None
    return headroom, mmu.alpha_of(factor.value) if factor is not None else None


def _curve(entry: parse.Entry | None) -> tuple[int | None, int | None, float | None]:
    match = _CURVE.fullmatch(entry.value) if entry is not None else None
    if match is None:
        return None, None, None
    factor = _UNIT_BYTES.get(match[2])  # segments and times have no size in bytes here
    sizes = [int(float(match[n]) * factor) if factor else None for n in (1, 3)]
    return sizes[0], sizes[1], float(match[4])


def _watchdog(reader: _Reader, port: str, stated: Mapping[Key, parse.Entry]) -> Watchdog | None:
    if ("watchdog",) not in stated:
        return None
    timer, action = stated.get(("watchdog timer",)), stated.get(("watchdog action",))
    action = action or reader.found.get(keys.WATCHDOG_ACTION)
    reader.note((port, "watchdog", "action"), action)
    numbers: dict[str, str] = {}
    if timer is not None:
        words = timer.value.split()
        numbers = dict(zip(words[0:6:2], words[1:6:2], strict=True))
    for word in ("timeout", "recovery-time", "polling-interval"):
        default = reader.found.get((keys.WATCHDOG, f"default {word}"))
        if word not in numbers and default is not None:
            numbers[word] = default.value
    for leaf, word in (("detect_ms", "timeout"), ("restore_ms", "recovery-time"), ("poll_ms", "polling-interval")):
        reader.note((port, "watchdog", leaf), timer or reader.found.get((keys.WATCHDOG, f"default {word}")))
    return Watchdog(
        detect_ms=_ms(numbers.get("timeout")),
        restore_ms=_ms(numbers.get("recovery-time")),
        poll_ms=_ms(numbers.get("polling-interval")),
        action=_ACTION.get(action.value) if action is not None else "shutdown",
    )


def _ms(seconds: str | None) -> int | None:
    try:
        return round(float(seconds) * 1000) if seconds is not None else None
    except ValueError:  # "auto": EOS chooses
        return None

"""Counters of an EOS switch in rocetune's names.

Every number is left out where EOS does not say it: an ECN counter of ``-`` is "not counted", never zero. The
watchdog counter lists a port only after its first event, so an answer without a port means zero there.
Sources of the keys: aristanetworks/anta, a public EOS watchdog health check, ntc-templates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rocetune.model.state import Sample, Transcript
from rocetune.platforms.arista_eos import commands as ask
from rocetune.platforms.arista_eos import names

_ERRORS = {"fcsErrors": "crc_errors", "symbolErrors": "symbol_errors"}


def sample(transcript: Transcript) -> Sample | None:
    """One sample of all ports, or None where no counter command was answered."""
    found: dict[str, dict[str, int]] = {}
    for reader in (_pfc, _ecn, _queue_drops, _voq_drops, _errors, _fec, _pause):
        for port, counters in reader(transcript).items():
            found.setdefault(port, {}).update(counters)
    for port, counters in _watchdog(transcript, found).items():
        found.setdefault(port, {}).update(counters)
    if not found:
        return None
    at = max((reply.at for reply in transcript.values() if reply.error is None), default=0.0)
    return Sample(at, found)


def _pfc(transcript: Transcript) -> dict[str, dict[str, int]]:
    found = {}
    for port, entry in _ports(transcript, ask.PFC_COUNTERS, "interfaceCounters"):
        found[port] = _whole({"pfc_rx": entry.get("rxFrames"), "pfc_tx": entry.get("txFrames")})
    return found


def _ecn(transcript: Transcript) -> dict[str, dict[str, int]]:
    found = {}
    for port, entry in _ports(transcript, ask.ECN_COUNTERS, "intfQueueCounters"):
        queues = entry.get("queueCounters")
        named = {f"ecn_marked.{names.priority(int(q))}": _text_number(v) for q, v in _items(queues) if q.isdigit()}
        found[port] = _whole(named)
    return found


def _queue_drops(transcript: Transcript) -> dict[str, dict[str, int]]:
    """Trident and Tomahawk: unicast drops per traffic class, over all drop precedences."""
    found = {}
    for port, entry in _ports(transcript, ask.QUEUE_COUNTERS, "egressQueueCounters", "interfaces"):
        classes = _at(entry, "ucastQueues", "trafficClasses")
        found[port] = _per_class(classes, lambda row: _sum(_at(row, "dropPrecedences"), "droppedPackets"))
    return found


def _voq_drops(transcript: Transcript) -> dict[str, dict[str, int]]:
    """Jericho: ingress VOQ and egress queue drops per traffic class."""
    found = {}
    for port, entry in _ports(transcript, ask.QUEUE_DROPS, "interfaces"):

        def total(row: Mapping[str, Any]) -> int | None:
            parts = [
                _at(row, side, "countersSum").get("droppedPackets")
                for side in ("ingressVoqCounters", "egressQueueCounters")
            ]
            known = [part for part in parts if isinstance(part, int)]
            return sum(known) if known else None

        found[port] = _per_class(entry.get("trafficClasses"), total)
    return found


def _errors(transcript: Transcript) -> dict[str, dict[str, int]]:
    found = {}
    for port, entry in _ports(transcript, ask.ERRORS, "interfaceErrorCounters"):
        found[port] = _whole({ours: entry.get(theirs) for theirs, ours in _ERRORS.items()})
    return found


def _fec(transcript: Transcript) -> dict[str, dict[str, int]]:
    """Uncorrected codewords, summed over the phys of a port that count them."""
    found = {}
    for port, entry in _ports(transcript, ask.PHY, "interfacePhyStatuses"):
        phys = entry.get("phyStatuses")
        rows = [_at(row, "fec", "uncorrectedCodewords").get("value") for row in phys] if isinstance(phys, list) else []
        known = [row for row in rows if isinstance(row, int)]
        if known:
            found[port] = {"fec_uncorrectable": sum(known)}
    return found


def _pause(transcript: Transcript) -> dict[str, dict[str, int]]:
    found = {}
    for port, entry in _ports(transcript, ask.FLOW_CONTROL, "interfaceFlowControls"):
        found[port] = _whole({"link_pause_rx": entry.get("rxPause"), "link_pause_tx": entry.get("txPause")})
    return found


def _watchdog(transcript: Transcript, ports: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    answer = ask.data(transcript, ask.WATCHDOG_COUNTERS)
    if answer is None or not isinstance(answer.get("interfaces"), dict):
        return {}
    found = {port: dict.fromkeys((f"{n}.{p}" for n in ("watchdog_storms", "watchdog_restored") for p in range(8)), 0)
             for port in ports if port.startswith("Ethernet")}  # fmt: skip
    for port, entry in answer["interfaces"].items():
        rows = found.setdefault(names.interface(port), {})
        for queue, events in _items(entry.get("txQueues") if isinstance(entry, dict) else None):
            number = re.sub(r"\D", "", queue)
            if number and isinstance(events, dict):
                priority = names.priority(int(number))
                rows.update(_whole({f"watchdog_storms.{priority}": events.get("stuckCount"),
                                    f"watchdog_restored.{priority}": events.get("recoveryCount")}))  # fmt: skip
    return found


def _ports(transcript: Transcript, command: str, *path: str) -> list[tuple[str, Mapping[str, Any]]]:
    rows = ask.section(transcript, command, *path)
    return [(names.interface(name), entry) for name, entry in rows.items() if isinstance(entry, dict)]


def _per_class(classes: object, drops: Any) -> dict[str, int]:
    named: dict[str, Any] = {}
    for name, row in _items(classes):
        number = name.removeprefix("TC")
        if number.isdigit() and isinstance(row, dict):
            named[f"queue_drops.{names.priority(int(number))}"] = drops(row)
    return _whole(named)


def _at(entry: object, *path: str) -> Mapping[str, Any]:
    for part in path:
        entry = entry.get(part) if isinstance(entry, dict) else None
    return entry if isinstance(entry, dict) else {}


def _items(table: object) -> list[tuple[str, Any]]:
    return list(table.items()) if isinstance(table, dict) else []


def _sum(rows: Mapping[str, Any], leaf: str) -> int | None:
    known = [row[leaf] for row in rows.values() if isinstance(row, dict) and isinstance(row.get(leaf), int)]
    return sum(known) if known else None


def _text_number(value: object) -> int | None:
    return int(value) if isinstance(value, str) and value.isdigit() else None


def _whole(values: Mapping[str, object]) -> dict[str, int]:
    return {name: value for name, value in values.items() if isinstance(value, int)}

"""What an EOS switch says it is, and what is believed of it before it was asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rocetune.model.facts import Facts, PortFacts
from rocetune.model.plan import DevicePlan
from rocetune.model.state import Transcript
from rocetune.platforms.arista_eos import commands as ask
from rocetune.platforms.arista_eos import names

NAME = "arista_eos"
_QUEUE_WORD = re.compile(r"^\s+(uc-tx-queue|tx-queue) [0-7]\s*$", re.MULTILINE)


def read(transcript: Transcript) -> Facts:
    """Facts from the commands of purpose "facts". ``extra["queue_mode"]`` is there only when the device showed it."""
    version = ask.section(transcript, ask.VERSION)
    model = _text(version.get("modelName"))
    extra: dict[str, str] = {}
    shown = _QUEUE_WORD.search(
        "\n".join(filter(None, (ask.text(transcript, c) for c in (ask.RUNNING_ALL, ask.RUNNING))))
    )
    if shown:
        extra["queue_mode"] = shown[1]
    return Facts(
        platform=NAME,
        source="device",
        hostname=_text(ask.section(transcript, ask.HOSTNAME).get("hostname")),
        model=model,
        asic=names.asic_of(model),
        os_version=_text(version.get("version")),
        ports=_ports(transcript),
        extra=extra,
    )


def declared(plan: DevicePlan) -> Facts:
    """Facts for offline work: what the inventory declares and the planned ports; the rest stays unknown."""
    said = plan.device.declared
    model = said.get("model")
    kept = {key: said[key] for key in ("queue_mode", "ecn_counter_feature") if key in said}
    ports = {}
    for item in plan.ports:
        native = names.interface(item.native or item.port.name)
        ports[native] = PortFacts(native, item.port.speed_mbps, names.MTU_CEILING)
    return Facts(
        platform=NAME,
        hostname=plan.device.name,
        model=model,
        asic=names.chip_name(plan.asic) or said.get("asic") or names.asic_of(model),
        os_version=said.get("os_version"),
        ports=ports,
        extra=kept,
    )


def saved(text: str, known: Facts) -> Facts:
    """``known`` with the queue word that a saved running configuration uses."""
    shown = _QUEUE_WORD.search(text)
    return known if shown is None else replace(known, extra={**known.extra, "queue_mode": shown[1]})


def queue_mode(facts: Facts) -> names.QueueMode:
    """The queue word to write: what the device showed, else what its chip family usually has."""
    seen = facts.extra.get("queue_mode")
    if seen in ("uc-tx-queue", "tx-queue"):
        return "uc-tx-queue" if seen == "uc-tx-queue" else "tx-queue"
    return names.usual_queue_mode(facts.asic)


def neighbors(transcript: Transcript) -> dict[str, tuple[str, str]]:
    """LLDP neighbours by native port, from JSON or from the text table."""
    found: dict[str, tuple[str, str]] = {}
    rows: Any = ask.section(transcript, ask.LLDP).get("lldpNeighbors")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("port"), str):
            found[names.interface(row["port"])] = (str(row.get("neighborDevice", "")), str(row.get("neighborPort", "")))
    table = ask.text(transcript, ask.LLDP.removesuffix(ask.JSON))
    if not found and table is not None:
        found = neighbor_table(table)
    return found


def neighbor_table(table: str) -> dict[str, tuple[str, str]]:
    """The table of ``show lldp neighbors``, by the columns of its header; statistics lines above it are skipped."""
    found: dict[str, tuple[str, str]] = {}
    columns: tuple[int, int, int] | None = None
    for line in table.splitlines():
        if line.startswith("Port ") and "Neighbor Device ID" in line:
            columns = (line.index("Neighbor Device ID"), line.index("Neighbor Port ID"), line.index("TTL"))
        elif columns and line.strip() and not line.startswith("-"):
            device, port, ttl = columns
            found[names.interface(line[:device])] = (line[device:port].strip(), line[port:ttl].strip())
    return found


def mode_of(entry: Mapping[str, Any]) -> str | None:
    """``routed`` or ``bridged`` of one interface; other words (data link, not known) are None."""
    word = entry.get("forwardingModel")
    return word if word in ("routed", "bridged") else None


def is_up(entry: Mapping[str, Any]) -> bool | None:
    """Whether the line protocol of an interface is up; None where the entry does not say."""
    word = entry.get("lineProtocolStatus")
    return None if not isinstance(word, str) else word == "up"


def speed_mbps(entry: Mapping[str, Any]) -> int | None:
    """The speed of one interface in Mbit/s (EOS says bit/s); None where it is unknown or 0."""
    value = entry.get("bandwidth")
    return value // 1_000_000 or None if isinstance(value, int) else None


def _ports(transcript: Transcript) -> dict[str, PortFacts]:
    found: dict[str, PortFacts] = {}
    seen = neighbors(transcript)
    for name, entry in ask.section(transcript, ask.INTERFACES, "interfaces").items():
        if not isinstance(entry, dict) or not name.startswith("Ethernet"):
            continue
        mode = mode_of(entry)
        found[name] = PortFacts(
            native=name,
            speed_mbps=speed_mbps(entry),
            max_mtu_bytes=names.MTU_CEILING,
            mac=_text(entry.get("physicalAddress")),
            link_up=is_up(entry),
            neighbor=seen.get(name),
            extra={"mode": mode} if mode else {},
        )
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None

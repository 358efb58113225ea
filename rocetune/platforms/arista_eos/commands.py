"""What is asked of an EOS switch, and in which form.

A command that ends in ``| json`` is asked as JSON, every other as text. Text is asked where the JSON keys of a
command are not known (``show priority-flow-control``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rocetune.model.state import Transcript
from rocetune.platforms.base import Purpose

JSON = " | json"
VERSION = "show version | json"
HOSTNAME = "show hostname | json"
INTERFACES = "show interfaces | json"
LLDP = "show lldp neighbors | json"
RUNNING = "show running-config"
RUNNING_ALL = "show running-config all"
STARTUP = "show startup-config"
PFC = "show priority-flow-control"
PFC_STATUS = "show priority-flow-control status"
FLOW_CONTROL = "show interfaces flow-control | json"
PFC_COUNTERS = "show priority-flow-control counters | json"
WATCHDOG_COUNTERS = "show priority-flow-control counters watchdog | json"
ECN_COUNTERS = "show qos interfaces ecn counters queue | json"
QUEUE_COUNTERS = "show interfaces counters queue detail | json"
QUEUE_DROPS = "show interfaces counters queue drops | json"  # Jericho
ERRORS = "show interfaces counters errors | json"
PHY = "show interfaces phy detail | json"

# Revisions whose keys are known (anta): without one, eAPI answers with the oldest.
REVISIONS: Mapping[str, int] = {"show priority-flow-control counters": 3, "show interfaces phy detail": 2}


def commands(purpose: Purpose, trident: bool | None) -> tuple[str, ...]:
    """The commands of one purpose. ``trident`` False: the chip counts queue drops as a VOQ platform does."""
    if purpose == "facts":
        return (VERSION, HOSTNAME, INTERFACES, LLDP, RUNNING_ALL)
    if purpose == "config":
        return (RUNNING,)
    if purpose == "state":
        return (RUNNING, STARTUP, INTERFACES, PFC, PFC_STATUS, FLOW_CONTROL, LLDP, *commands("counters", trident))
    queues = QUEUE_DROPS if trident is False else QUEUE_COUNTERS
    return (PFC_COUNTERS, WATCHDOG_COUNTERS, ECN_COUNTERS, queues, ERRORS, PHY, FLOW_CONTROL)


def text(transcript: Transcript, command: str) -> str | None:
    """The text of an answer; None where it was not asked or refused."""
    reply = transcript.get(command)
    return None if reply is None or reply.error is not None else reply.text


def data(transcript: Transcript, command: str) -> Mapping[str, Any] | None:
    """The object of a JSON answer; None where it was not asked, refused or is no object."""
    raw = text(transcript, command)
    if raw is None:
        return None
    try:
        found = json.loads(raw)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def section(transcript: Transcript, command: str, *path: str) -> Mapping[str, Any]:
    """An object inside a JSON answer; empty where any part is absent."""
    found: Any = data(transcript, command)
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}

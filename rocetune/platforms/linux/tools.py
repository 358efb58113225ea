"""Output of the NIC tools as plain data: mlnx_qos, dcb and ethtool. Pure, one function per format.

Formats: mlnx-tools python/mlnx_qos; iproute2 dcb (man dcb-pfc and sources); Linux ethtool.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Dcb:
    """What either tool says about one port. ``lines`` holds the line each value came from, by our leaf name."""

    dcbx: str | None = None  # os, firmware
    trust: str | None = None
    dscp: dict[int, int] = field(default_factory=dict)
    cable_m: int | None = None
    pfc: tuple[bool, ...] | None = None
    buffer: tuple[int, ...] | None = None  # priority to receive buffer
    prio_tc: dict[int, int] = field(default_factory=dict)
    tsa: dict[int, str] = field(default_factory=dict)
    share: dict[int, int] = field(default_factory=dict)
    lldpad: bool = False  # the tool itself warns about a running lldpad
    lines: dict[str, str] = field(default_factory=dict)


_TC = re.compile(r"tc: ([0-7]) ratelimit: [^,]+, tsa: (\w+)(?:, bw: ([0-9]+)%)?")


def mlnx_qos(text: str) -> Dcb:
    """``mlnx_qos -i IF``. Banners before it and sections a driver lacks are allowed."""
    dcb, tc = Dcb(), None
    for raw in text.splitlines():
        words = raw.split()
        if "lldpad service is running" in raw:
            dcb.lldpad = True
        elif raw.startswith("DCBX mode:"):
            dcb.dcbx = "os" if "OS" in words else "firmware" if "Firmware" in words else None
            dcb.lines["dcbx"] = raw.strip()
        elif raw.startswith("Priority trust state:") and words[-1] in ("dscp", "pcp", "none"):
            dcb.trust = words[-1]
            dcb.lines["trust"] = raw.strip()
        elif match := re.fullmatch(r"\s*prio:([0-7]) dscp:([0-9,]+)\s*", raw):
            for dscp in (int(item) for item in match[2].split(",") if item):
                dcb.dscp[dscp] = int(match[1])
                dcb.lines[f"dscp.{dscp}"] = raw.strip()
        elif raw.startswith("Cable len:") and words[-1].isdigit():
            dcb.cable_m = int(words[-1])
            dcb.lines["cable_m"] = raw.strip()
        elif words[:1] == ["enabled"] and len(words) == 9:
            dcb.pfc = tuple(word == "1" for word in words[1:])
            dcb.lines["pfc"] = raw.strip()
        elif words[:1] == ["buffer"] and len(words) == 9:
            dcb.buffer = tuple(int(word) for word in words[1:])
        elif match := _TC.match(raw.strip()):
            tc = int(match[1])
            dcb.tsa[tc], dcb.share[tc] = match[2], int(match[3] or 0)
            dcb.lines[f"tc.{tc}"] = raw.strip()
        elif words[:1] == ["priority:"] and len(words) == 2 and tc is not None:
            dcb.prio_tc[int(words[1])] = tc
    return dcb


def dcb_json(dcbx: str, app: str, pfc: str, ets: str) -> Dcb:
    """The four ``dcb -j OBJECT show dev IF`` answers; an empty text means that one failed."""
    dcb = Dcb()
    if (found := _object(dcbx)) is not None:
        dcb.dcbx = "os" if found.get("host") else "firmware"
        dcb.lines["dcbx"] = dcbx.strip()
    if (found := _object(app)) is not None:
        # Newer iproute2 adds a third element, the separator " ", to every pair.
        pairs = [(int(item[0]), int(item[1])) for item in found.get("dscp_prio", [])]
        dcb.trust = "dscp" if pairs else "pcp"
        dcb.lines["trust"] = app.strip()
        for dscp, priority in pairs:
            dcb.dscp[dscp] = priority
            dcb.lines[f"dscp.{dscp}"] = app.strip()
    if (found := _object(pfc)) is not None:
        if len(bits := found.get("prio_pfc", [])) == 8:
            dcb.pfc = tuple(bool(bit) for bit in bits)
        if isinstance(delay := found.get("delay"), int):
            dcb.cable_m = delay  # mlx5 keeps metres there, not bit times
        dcb.lines["pfc"] = dcb.lines["cable_m"] = pfc.strip()
    if (found := _object(ets)) is not None:
        dcb.tsa = {tc: str(kind) for tc, kind in enumerate(found.get("tc_tsa", []))}
        dcb.share = {tc: int(share) for tc, share in enumerate(found.get("tc_bw", []))}
        dcb.prio_tc = {priority: int(tc) for priority, tc in enumerate(found.get("prio_tc", []))}
        dcb.lines.update({f"tc.{tc}": ets.strip() for tc in dcb.tsa})
    return dcb


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object of one answer; some releases wrap it in a list."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    return found if isinstance(found, dict) else None


def ethtool_pause(text: str) -> tuple[bool | None, str]:
    """``ethtool -a IF``: whether 802.3x pause is on in any direction, and the line that says so."""
    seen: dict[str, str] = {}
    for raw in text.splitlines():
        name, _, value = raw.partition(":")
        if name in ("RX", "TX"):
            seen[name] = value.strip()
    if len(seen) < 2:
        return None, ""
    return "on" in seen.values(), f"RX: {seen['RX']} TX: {seen['TX']}"


def ethtool_statistics(text: str) -> dict[str, int]:
    """``ethtool -S IF``: every counter by the driver's own name."""
    counters = {}
    for raw in text.splitlines():
        name, _, value = raw.strip().rpartition(":")
        if name and value.strip().isdigit():
            counters[name] = int(value)
    return counters

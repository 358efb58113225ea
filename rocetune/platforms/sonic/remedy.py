"""Commands a person types on the switch to set one leaf."""

from __future__ import annotations

import json
import re
from typing import Any

from rocetune.model.facts import Facts
from rocetune.model.qos import Path
from rocetune.platforms.sonic.render import own_profile

_PORT = re.compile(r"[A-Za-z0-9/-]+", re.ASCII)
_SAVE = "sudo config save -y"
_NATIVE_ACTION = {"drop": "drop", "forward": "forward", "notify": "alert", "shutdown": "drop"}


def remedy(path: Path, value: object, facts: Facts) -> tuple[str, ...]:
    """Commands for one leaf, () where none is known; ``<profile>`` stands where the person picks the object."""
    port = str(path[0]) if path else ""
    if path and not port and len(path) > 1:
        return _device(str(path[1]))
    if not port or not _PORT.fullmatch(port):
        return ()
    leaf = path[1:]
    if leaf[:1] == ("priorities",) and len(leaf) == 3:
        return _priority(port, int(leaf[1]), str(leaf[2]), value, facts)
    if leaf[:1] == ("watchdog",):
        return _watchdog(port, str(leaf[-1]), value)
    if leaf == ("mtu_bytes",):
        return (f"sudo config interface mtu {port} {value}", _SAVE)
    if leaf == ("cable_m",) and isinstance(value, int | float):
        entry = {"CABLE_LENGTH": {facts.extra.get("cable_object", "AZURE"): {port: f"{round(value)}m"}}}
        return (*_load(entry), _SAVE)
    if leaf in (("trust",), ("dscp_to_priority",)):
        return (*_load({"PORT_QOS_MAP": {port: {"dscp_to_tc_map": "ROCETUNE"}}}), _SAVE)
    if leaf == ("link_up",):
        return (f"sudo config interface startup {port}",)
    return ()


def _device(name: str) -> tuple[str, ...]:
    if name == "big_red_switch":
        return ("sudo pfcwd big_red_switch disable", _SAVE)
    return (_SAVE,) if name == "startup" else ()


def _load(part: Any) -> tuple[str, ...]:
    return (f"echo '{json.dumps(part)}' > /tmp/fix.json", "sudo config load -y /tmp/fix.json")


def _priority(port: str, number: int, leaf: str, value: object, facts: Facts) -> tuple[str, ...]:
    if leaf == "pfc":
        return (f"sudo config interface pfc priority {port} {number} {'on' if value else 'off'}", _SAVE)
    if leaf == "watchdog":
        if value:
            part = {"PORT_QOS_MAP": {port: {"pfcwd_sw_enable": str(number)}}}
            return (*_load(part), *_start(port, "drop", 200, 400))
        return (f"sudo pfcwd stop {port}", _SAVE)
    if leaf == "ecn" and value:
        return (
            "show ecn",
            'sudo sonic-db-cli CONFIG_DB HSET "WRED_PROFILE|<profile>" ecn ecn_all wred_green_enable true',
            _SAVE,
        )
    if leaf in ("kmin_bytes", "kmax_bytes", "pmax_percent"):
        option = {"kmin_bytes": "-gmin", "kmax_bytes": "-gmax", "pmax_percent": "-gdrop"}[leaf]
        number_text = f"{value:g}" if isinstance(value, float) else str(value)
        return (f"sudo config ecn -profile <profile> {option} {number_text}", _SAVE)
    if leaf == "headroom_bytes":
        known = facts.ports.get(port)
        name = own_profile(known.speed_mbps if known else None, None, facts)
        return (
            (
                "# headroom comes from CABLE_LENGTH and the port speed; check that both are in the switch's table",
                f"sonic-db-cli CONFIG_DB HGETALL 'BUFFER_PG|{port}|{number}'",
                f"sudo config interface pfc priority {port} {number} off",
                f"sudo config interface pfc priority {port} {number} on",
                _SAVE,
            )
            if name
            else ()
        )
    if leaf == "dscps":
        return (f"show runningconfiguration all | grep -A70 DSCP_TO_TC_MAP  # {port}: these DSCPs to {number}",)
    return ()


def _watchdog(port: str, leaf: str, value: object) -> tuple[str, ...]:
    if leaf == "poll_ms":
        return (f"sudo config pfcwd interval {value}", _SAVE)
    action, detect, restore = "drop", 200, 400
    if leaf == "detect_ms" and isinstance(value, int):
        detect = value
    if leaf == "restore_ms" and isinstance(value, int):
        restore = value
    if leaf == "action":
        action = _NATIVE_ACTION.get(str(value), "drop")
    return _start(port, action, detect, restore)


def _start(port: str, action: str, detect: int, restore: int) -> tuple[str, ...]:
    return (f"sudo pfcwd start --action {action} --restoration-time {restore} {port} {detect}", _SAVE)

"""Commands a person types on the switch to set one leaf.

Object names come from the facts (what is bound on the port); a leaf of an object that nothing binds has no short
remedy: apply is the remedy then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan
from rocetune.model.qos import Path
from rocetune.platforms.sonic.owned import OURS

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*", re.ASCII)
_SAVE = "sudo config save -y"
_NATIVE_ACTION = {"drop": "drop", "forward": "forward", "notify": "alert", "shutdown": "drop"}
_ECN_OPTIONS = {"kmin_bytes": "-gmin", "kmax_bytes": "-gmax", "pmax_percent": "-gdrop"}


def remedy(path: Path, value: object, facts: Facts, plan: DevicePlan | None = None) -> tuple[str, ...]:
    """Commands for one leaf, () where none is known. The last one saves, but for a port that is only isolated.

    A port that lost its DSCP map gets our own back when the plan manages it.
    """
    if len(path) < 2 or not isinstance(path[0], str):
        return ()
    port, leaf = path[0], path[1:]
    if leaf[0] == "storm" and _NAME.fullmatch(port):
        return (f"sudo config interface shutdown {port}",)
    if not port:
        found = _device(str(leaf[0]))
    elif not _NAME.fullmatch(port):
        return ()
    elif leaf[0] == "priorities" and len(leaf) == 3:
        found = _priority(port, int(leaf[1]), str(leaf[2]), value, facts)
    elif leaf[0] == "watchdog" and len(leaf) == 2:
        found = _watchdog(port, str(leaf[1]), value, facts)
    elif leaf[0] == "trust" and plan is not None and port in {item.native for item in plan.managed}:
        found = (_set(f"PORT_QOS_MAP|{port}", "dscp_to_tc_map", OURS),)
    else:
        found = _port(port, str(leaf[0]), value, facts)
    return (*found, _SAVE) if found else ()


def _device(name: str) -> tuple[str, ...]:
    if name == "big_red_switch":
        return ("sudo pfcwd big_red_switch disable",)
    return ("show runningconfiguration all",) if name == "startup" else ()


def _port(port: str, leaf: str, value: object, facts: Facts) -> tuple[str, ...]:
    if leaf == "mtu_bytes":
        return (f"sudo config interface mtu {port} {value}",)
    if leaf == "cable_m" and isinstance(value, int | float):
        return (_set(f"CABLE_LENGTH|{facts.extra.get('cable_object', 'AZURE')}", port, f"{round(value)}m"),)
    if leaf == "trust":
        name = facts.extra.get("dscp_map", "")
        return (_set(f"PORT_QOS_MAP|{port}", "dscp_to_tc_map", name),) if name else ()
    if leaf == "dscp_to_priority" and isinstance(value, tuple):
        return _dscps(port, [(dscp, to) for dscp, to in enumerate(value) if to is not None], facts)
    return (f"sudo config interface startup {port}",) if leaf == "link_up" else ()


def _priority(port: str, number: int, leaf: str, value: object, facts: Facts) -> tuple[str, ...]:
    if leaf == "pfc":
        return (f"sudo config interface pfc priority {port} {number} {'on' if value else 'off'}",)
    if leaf == "watchdog":
        watched = set(filter(None, _bound(port, "pfcwd_sw_enable", facts).split(",")))
        watched = watched | {str(number)} if value else watched - {str(number)}
        mask = _set(f"PORT_QOS_MAP|{port}", "pfcwd_sw_enable", ",".join(sorted(watched)))
        return (f"sudo pfcwd stop {port}", mask, *((_start(port, facts),) if watched else ()))
    if leaf == "dscps" and isinstance(value, tuple):
        return _dscps(port, [(int(dscp), number) for dscp in value], facts)
    if leaf == "headroom_bytes":
        # The buffer manager looks the headroom up again when it hears of PFC.
        return tuple(f"sudo config interface pfc priority {port} {number} {state}" for state in ("off", "on"))
    profile = _bound(port, f"wred.{number}", facts)
    if leaf == "ecn" and value and profile:
        return (_set(f"WRED_PROFILE|{profile}", "ecn", "ecn_all", "wred_green_enable", "true"),)
    if leaf in _ECN_OPTIONS and profile:
        number_text = f"{value:g}" if isinstance(value, float) else str(value)
        return (f"sudo config ecn -profile {profile} {_ECN_OPTIONS[leaf]} {number_text}",)
    return ()


def _dscps(port: str, wanted: Iterable[tuple[int, int]], facts: Facts) -> tuple[str, ...]:
    name = _bound(port, "dscp_map", facts) or facts.extra.get("dscp_map", "")
    words = [str(item) for pair in wanted for item in pair]
    return (_set(f"DSCP_TO_TC_MAP|{name}", *words),) if name and words else ()


def _watchdog(port: str, leaf: str, value: object, facts: Facts) -> tuple[str, ...]:
    if leaf == "poll_ms":
        return (f"sudo config pfcwd interval {value}",)
    return (_start(port, facts, **{leaf: value}),) if leaf in ("detect_ms", "restore_ms", "action") else ()


def _start(port: str, facts: Facts, **wanted: object) -> str:
    """The watchdog with what it has now, or with 200/400 ms and drop, and one value changed."""
    action = _NATIVE_ACTION.get(str(wanted.get("action", "")), _bound(port, "action", facts) or "drop")
    detect = wanted.get("detect_ms") or _bound(port, "detection_time", facts) or 200
    restore = wanted.get("restore_ms") or _bound(port, "restoration_time", facts) or 400
    return f"sudo pfcwd start --action {action} --restoration-time {restore} {port} {detect}"


def _set(entry: str, *words: str) -> str:
    shown = " ".join(word if _NAME.fullmatch(word) else f'"{word}"' for word in words)
    return f'sudo sonic-db-cli CONFIG_DB HSET "{entry}" {shown}'


def _bound(port: str, name: str, facts: Facts) -> str:
    known = facts.ports.get(port)
    return known.extra.get(name, "") if known is not None else ""

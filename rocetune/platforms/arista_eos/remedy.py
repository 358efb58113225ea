"""What a person types to set one leaf on a switch, from ``configure`` to the line itself."""

from __future__ import annotations

from rocetune.model.facts import Facts
from rocetune.model.qos import Path
from rocetune.platforms.arista_eos import facts as device_facts
from rocetune.platforms.arista_eos import keys, names

_SWITCH_WIDE = ("",)  # marks lines that stand outside the interface


def remedy(path: Path, value: object, facts: Facts) -> tuple[str, ...]:
    """Commands for one leaf; () where none is known. ``value`` is the wanted one."""
    if not path or not isinstance(path[0], str):
        return ()
    port, rest = path[0], path[1:]
    if port == "":
        return _device(rest, value)
    lines = _port(rest, value, device_facts.queue_mode(facts))
    if lines[:1] == _SWITCH_WIDE:
        return ("configure", *lines[1:])
    return ("configure", f"interface {names.interface(port)}", *lines) if lines else ()


def _device(rest: Path, value: object) -> tuple[str, ...]:
    if rest[:1] == ("startup",):
        return ("write memory",)
    if rest[:1] == ("dscp_to_priority",) and len(rest) == 2 and isinstance(value, int):
        return ("configure", f"{keys.MAP} {rest[1]} to traffic-class {names.traffic_class(value)}")
    return ()


def _port(rest: Path, value: object, mode: names.QueueMode) -> tuple[str, ...]:
    match rest:
        case ("trust",):
            return ("qos trust dscp" if value == "dscp" else "qos trust cos",)
        case ("mtu_bytes",) if isinstance(value, int):
            return (f"mtu {min(value, names.MTU_CEILING)}",)
        case ("storm",) if value == "isolate":
            return ("shutdown",)
        case ("link_up",):
            return ("no shutdown",) if value else ("shutdown",)
        case ("link_pause",) if value is False:
            return ("flowcontrol send off", "flowcontrol receive off")
        case ("dcbx",):
            return ("no dcbx mode",) if value == "off" else (f"dcbx mode {value}",)
        case ("dscp_to_priority", int() as point) if isinstance(value, int):
            return (*_SWITCH_WIDE, f"{keys.MAP} {point} to traffic-class {names.traffic_class(value)}")
        case ("dscp_to_priority",) if isinstance(value, tuple):
            return (*_SWITCH_WIDE, *_map(value))
        case ("watchdog", str() as leaf):
            return _watchdog(leaf, value)
        case ("priorities", int() as priority, str() as leaf):
            return _priority(priority, leaf, value, mode)
    return ()


def _map(table: tuple[object, ...]) -> tuple[str, ...]:
    """Lines for the DSCPs of a table that EOS's own map would put elsewhere."""
    wanted = [
        (point, names.traffic_class(priority))
        for point, priority in enumerate(table)
        if isinstance(priority, int) and names.default_traffic_class(point) != names.traffic_class(priority)
    ]
    lines = [f"{keys.MAP} {point} to traffic-class {tc}" for point, tc in wanted]
    kept = [p for p, priority in enumerate(table) if isinstance(priority, int) and p not in dict(wanted)]
    if kept:
        lines += [f"{keys.MAP} {point} to traffic-class {names.default_traffic_class(point)}" for point in kept]
    return tuple(lines)


def _watchdog(leaf: str, value: object) -> tuple[str, ...]:
    if leaf == "action":
        word = {"drop": "drop", "notify": "notify-only"}.get(str(value))
        return (f"{keys.WATCHDOG} port action {word}",) if word else ()
    names_ = {"detect_ms": "timeout", "restore_ms": "recovery-time", "poll_ms": "polling-interval"}
    if leaf in names_ and isinstance(value, int | float):
        return (*_SWITCH_WIDE, f"{keys.WATCHDOG} default {names_[leaf]} {value / 1000:g}")
    return ()


def _priority(priority: int, leaf: str, value: object, mode: names.QueueMode) -> tuple[str, ...]:
    queue = f"{mode} {names.traffic_class(priority)}"
    match leaf:
        case "pfc":
            word = "no-drop" if value else "drop"
            line = f"priority-flow-control priority {priority} {word}"
            return ("priority-flow-control on", line) if value else (line,)
        case "watchdog":
            return (keys.WATCHDOG,) if value else (f"no {keys.WATCHDOG}",)
        case "scheduling":
            return (queue, "priority strict" if value == "strict" else "no priority")
        case "bandwidth_percent" if isinstance(value, int):
            return (queue, "no priority", f"bandwidth percent {value}")
        case "dscps" if isinstance(value, tuple):
            tc = names.traffic_class(priority)
            return (*_SWITCH_WIDE, *(f"{keys.MAP} {point} to traffic-class {tc}" for point in value))
    return ()

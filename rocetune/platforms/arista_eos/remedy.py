"""What a person types to set one leaf on a switch, from ``configure`` to the line itself."""

from __future__ import annotations

from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan, PortPlan
from rocetune.model.qos import Path
from rocetune.platforms.arista_eos import facts as device_facts
from rocetune.platforms.arista_eos import keys, names

_CURVE = ("ecn", "kmin_bytes", "kmax_bytes", "pmax_percent")
_SWITCH_WIDE = ("",)  # marks lines that stand outside the interface


def remedy(path: Path, value: object, facts: Facts, plan: DevicePlan | None = None) -> tuple[str, ...]:
    """Commands for one leaf; () where none is known. ``value`` is the wanted one.

    With a plan, what lives in the port's QoS profile is written there and the port is bound to it again: a port that
    somebody re-bound is mended by the same lines.
    """
    if not path or not isinstance(path[0], str):
        return ()
    port, rest = path[0], path[1:]
    if port == "":
        return _saved(_device(rest, value))
    item = None if plan is None else next((item for item in plan.managed if item.native == port), None)
    mode = device_facts.queue_mode(facts)
    lines = _ecn(rest, item, mode) or _port(rest, value, mode)
    if lines[:1] == _SWITCH_WIDE:
        return _saved(("configure", *lines[1:]))
    if not lines:
        return ()
    interface = f"interface {names.interface(port)}"
    if rest[:1] == ("storm",):
        return ("configure", interface, *lines)  # until the sender is mended: not worth saving
    if item is None or not _in_profile(rest):
        return _saved(("configure", interface, *lines))
    profile = names.profile_name(item.setting.name)
    own = ("default qos trust",) if rest == ("trust",) else ()  # the port's own line would win over the profile's
    return _saved(("configure", f"qos profile {profile}", *lines, interface, *own, f"service-profile {profile}"))


def _in_profile(rest: Path) -> bool:
    return rest[:1] in (("priorities",), ("trust",)) or rest == ("watchdog", "action")


def _saved(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Lines that change the running configuration end with leaving and saving it."""
    return (*lines, "end", "write memory") if lines[:1] == ("configure",) else lines


def _ecn(rest: Path, item: PortPlan | None, mode: names.QueueMode) -> tuple[str, ...]:
    """The one line that holds a whole marking curve; its numbers are the plan's."""
    if item is None or rest[:1] != ("priorities",) or len(rest) != 3 or rest[2] not in _CURVE:
        return ()
    entry = item.setting.qos.priority(int(rest[1]))
    if entry is None or entry.kmin_bytes is None or entry.kmax_bytes is None or entry.pmax_percent is None:
        return ()
    return (
        f"{mode} {names.traffic_class(entry.priority)}",
        f"random-detect ecn minimum-threshold {entry.kmin_bytes} bytes maximum-threshold {entry.kmax_bytes} bytes "
        f"max-mark-probability {round(entry.pmax_percent)} weight 0",
        "exit",
    )


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

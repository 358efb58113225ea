"""One key to the configuration line that sets it and the line that clears it.

``no`` and ``default`` differ on EOS: ``no qos trust`` is itself a setting (trust nothing), so trust is cleared with
``default``. A key without a value is its own line.
"""

from __future__ import annotations

from rocetune.model.change import Key
from rocetune.platforms.arista_eos import keys, names


def block(key: Key, mode: names.QueueMode) -> tuple[str, ...]:
    """The headers of the blocks a key's line stands in, outermost first."""
    head = key[0]
    if head in (keys.PROFILE, keys.INTERFACE, keys.MMU) and len(key) > 1:
        outer = (f"{head} {key[1]}",)
        if len(key) == 4:
            return (*outer, key[2].replace("queue ", f"{mode} ") if key[2].startswith("queue ") else key[2])
        return outer
    return ()


def set_line(key: Key, value: str) -> str:
    """The line that gives a key this value; "" where the block's header alone does it."""
    head, last = key[0], key[-1]
    if head == keys.MAP:
        return f"{keys.MAP} {last} to traffic-class {value}"
    if head == keys.TC_MAP:
        return f"{keys.TC_MAP} {last} to tx-queue {value}"
    if key == keys.MMU_APPLY:
        return f"{keys.MMU} {value} apply"
    if key == keys.ECN_COUNTER:
        return "hardware counter feature ecn out"
    if head == keys.WATCHDOG:
        return f"{keys.WATCHDOG} {last} {value}"
    if head in (keys.PROFILE, keys.MMU) and len(key) == 2:
        return ""
    return _inner(last, value)


def _inner(last: str, value: str) -> str:
    match last:
        case "qos trust":
            return "no qos trust" if value == "none" else f"qos trust {value}"
        case "watchdog":
            return keys.WATCHDOG
        case "watchdog action" | "watchdog timer":
            return f"{keys.WATCHDOG} port {last.removeprefix('watchdog ')} {value}"
    return f"{last} {value}" if value else last


def clear_line(key: Key, old: str) -> str:
    """The line that takes a key away; a map entry goes back to EOS's own value."""
    head, last = key[0], key[-1]
    if head == keys.MAP:
        return set_line(key, str(names.default_traffic_class(int(last))))
    if head == keys.TC_MAP:
        return set_line(key, last)
    if head in (keys.PROFILE, keys.MMU) and len(key) == 2:
        return f"no {head} {last}"
    match last:
        case "qos trust":
            return "default qos trust"
        case "no priority":
            return "priority strict"
        case "priority-flow-control":
            return "no priority-flow-control"
        case "watchdog":
            return f"no {keys.WATCHDOG}"
        case "watchdog action" | "watchdog timer":
            return f"no {keys.WATCHDOG} port {last.removeprefix('watchdog ')}"
        case "service-profile":
            return f"no service-profile {old}"
        case "mtu" | "dcbx mode" | "bandwidth percent" | "bandwidth guaranteed":
            return f"no {last}"
    if last.startswith("priority-flow-control priority "):
        return f"default {last}" if old == "drop" else f"{last} drop"
    if head == keys.WATCHDOG:
        return f"no {keys.WATCHDOG} {last}"
    if last.startswith("no "):
        return last.removeprefix("no ")
    if last == "random-detect ecn":
        return "no random-detect ecn"
    return f"no {set_line(key, old)}"


def restores_default(key: Key, value: str) -> bool:
    """Whether a value is one that EOS has without any line, and takes back by a clearing line only."""
    return key == keys.WATCHDOG_ACTION and value == "errdisable"

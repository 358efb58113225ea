"""From a key of the configuration back to the plan, and what the running side adds to a rendered configuration."""

from __future__ import annotations

from collections.abc import Mapping

from rocetune.model.change import Config, Key
from rocetune.model.plan import DevicePlan, PortPlan
from rocetune.model.qos import Path
from rocetune.platforms.arista_eos import keys, names, parse
from rocetune.platforms.base import managed_ports

_IN_QUEUE: Mapping[str, str] = {
    "no priority": "scheduling",
    "bandwidth percent": "bandwidth_percent",
    "bandwidth guaranteed": "watchdog",
    "random-detect ecn": "kmin_bytes",
    "random-detect ecn count": "ecn",
}
_ON_PORT: Mapping[str, Path] = {
    "mtu": ("mtu_bytes",),
    "service-profile": ("trust",),
    "qos trust": ("trust",),
    "dcbx mode": ("dcbx",),
    "watchdog": ("watchdog", "detect_ms"),
    "watchdog timer": ("watchdog", "detect_ms"),
    "watchdog action": ("watchdog", "action"),
}


def origin(key: Key, plan: DevicePlan) -> Path:
    """(native port or "", leaf path...) of the value behind a key; () where the plan has none."""
    head = key[0]
    if head in (keys.MAP, keys.TC_MAP):
        return ("", "dscp_to_priority") if head == keys.MAP else ("", "traffic_class")
    if head == keys.INTERFACE:
        item = next((one for one in plan.ports if one.native == key[1]), None)
        return _leaf(item, key[2:]) if item else ()
    if head == keys.PROFILE:
        item = next((one for one in plan.ports if names.profile_name(one.setting.name) == key[1]), None)
        return _leaf(item, key[2:]) if item else ()
    if head == keys.MMU and len(key) > 2:
        return _buffer(plan, "alpha" if key[2] == "ingress threshold" else "headroom_bytes")
    if head == keys.WATCHDOG:
        leaf = {"action": "action", "default timeout": "detect_ms", "default recovery-time": "restore_ms"}
        item = next((one for one in plan.managed if one.setting.qos.watchdog), None)
        return (item.native, "watchdog", leaf.get(key[1], "poll_ms")) if item else ()
    return _buffer(plan, "headroom_bytes") if key == keys.MMU_APPLY else ()


def _leaf(item: PortPlan, rest: Key) -> Path:
    if not rest:
        return (item.native, "trust")
    if rest[0].startswith("queue ") and len(rest) == 2 and rest[1] in _IN_QUEUE:
        priority = names.priority(int(rest[0].removeprefix("queue ")))
        return (item.native, "priorities", priority, _IN_QUEUE[rest[1]])
    if rest[0].startswith("priority-flow-control"):
        number = rest[0].rsplit(" ", 1)[1] if rest[0] != "priority-flow-control" else ""
        lossless = item.setting.qos.lossless()
        priority = int(number) if number.isdigit() else lossless[0].priority if lossless else -1
        return (item.native, "priorities", priority, "pfc") if priority >= 0 else ()
    return (item.native, *_ON_PORT[rest[0]]) if rest[0] in _ON_PORT else ()


def _buffer(plan: DevicePlan, leaf: str) -> Path:
    for item in plan.managed:
        for entry in item.setting.qos.lossless():
            if entry.headroom_bytes is not None:
                return (item.native, "priorities", entry.priority, leaf)
    return ()


def complete(stated: Config, running: Config | None, plan: DevicePlan) -> Config:
    """The rendered keys, and those of our named objects that something outside the managed scope still uses.

    A ``qos profile`` of ours stays while a port that is not managed any more refers to it, and the MMU profile in
    use stays unless the switch-wide objects are exclusively ours; where they are, what no line states is to be EOS's
    default.
    """
    kept = dict(stated)
    if plan.device.globals_mode == "exclusive" and plan.managed:
        kept = {**parse.defaults(), **kept}
    if running is None:
        return kept
    managed = managed_ports(plan)
    used = {
        (keys.PROFILE, value)
        for key, value in running.items()
        if key[0] == keys.INTERFACE and key[2:] == ("service-profile",) and key[1] not in managed
    }
    applied = running.get(keys.MMU_APPLY)
    if applied and keys.MMU_APPLY not in stated and plan.device.globals_mode != "exclusive":
        used.add((keys.MMU, applied))
    for key, value in running.items():
        if key[:2] in used and key[:2] not in stated:
            kept[key] = value
    return kept

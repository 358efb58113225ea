"""Mis-settings of an emulated SONiC switch, each as somebody would have typed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rocetune.lab.device import Fault
from rocetune.lab.sonic_factory import Database
from rocetune.model.plan import DevicePlan


def bend(config: Database, fault: Fault, plan: DevicePlan) -> str:
    """Change ``config`` as the fault says and tell what was done. Raises ValueError for a port it has not."""
    if fault.port is not None and fault.port not in config["PORT"]:
        raise ValueError(f"there is no port {fault.port}")
    makers: Mapping[str, Callable[[Database, Fault, DevicePlan], str]] = {
        "wrong_map": _wrong_map,
        "wrong_trust": _wrong_trust,
        "pfc_missing": _pfc_missing,
        "headroom_missing": _headroom_missing,
        "mtu": _mtu,
        "watchdog_off": _watchdog_off,
        "wred_flag_missing": _wred_flag_missing,
        "big_red_switch": _big_red_switch,
    }
    return makers[fault.name](config, fault, plan)


def _ports(fault: Fault, plan: DevicePlan) -> list[str]:
    return [fault.port] if fault.port else [item.native for item in plan.ports]


def lossless_priority(port: str, fault: Fault, plan: DevicePlan) -> str:
    """The priority that a fault names, else the lossless one of the port's plan, else 3."""
    if fault.value and fault.value.isdigit():
        return fault.value
    for item in plan.ports:
        if item.native == port and item.setting.qos.lossless():
            return str(item.setting.qos.lossless()[0].priority)
    return "3"


def _wrong_map(config: Database, fault: Fault, plan: DevicePlan) -> str:
    dscp, _, to = (fault.value or "").partition(":")
    if not dscp:
        known = [d for item in plan.ports for entry in item.setting.qos.lossless() for d in entry.dscps or ()]
        dscp = str(known[0] if known else 26)
    names = {config["PORT_QOS_MAP"].get(port, {}).get("dscp_to_tc_map", "") for port in _ports(fault, plan)} - {""}
    for name in names:
        config["DSCP_TO_TC_MAP"].setdefault(name, {})[dscp] = to or "1"
    return f"DSCP {dscp} goes to {to or '1'} in {', '.join(sorted(names))}"


def _wrong_trust(config: Database, fault: Fault, plan: DevicePlan) -> str:
    for port in _ports(fault, plan):
        config["PORT_QOS_MAP"].get(port, {}).pop("dscp_to_tc_map", None)
    return f"no DSCP map is bound on {', '.join(_ports(fault, plan))}"


def _pfc_missing(config: Database, fault: Fault, plan: DevicePlan) -> str:
    for port in _ports(fault, plan):
        held = config["PORT_QOS_MAP"].get(port, {})
        gone = lossless_priority(port, fault, plan)
        held["pfc_enable"] = ",".join(part for part in held.get("pfc_enable", "").split(",") if part not in ("", gone))
    return f"PFC is off on {', '.join(_ports(fault, plan))}"


def _headroom_missing(config: Database, fault: Fault, plan: DevicePlan) -> str:
    for port in _ports(fault, plan):
        index = lossless_priority(port, fault, plan)
        for key in [key for key in config["BUFFER_PG"] if key.startswith(f"{port}|") and index in key.split("|")[1]]:
            del config["BUFFER_PG"][key]
    return f"no lossless priority group on {', '.join(_ports(fault, plan))}"


def _mtu(config: Database, fault: Fault, plan: DevicePlan) -> str:
    for port in _ports(fault, plan):
        config["PORT"][port]["mtu"] = fault.value or "1500"
    return f"MTU {fault.value or '1500'} on {', '.join(_ports(fault, plan))}"


def _watchdog_off(config: Database, fault: Fault, plan: DevicePlan) -> str:
    for port in _ports(fault, plan):
        config.get("PFC_WD", {}).pop(port, None)
    return f"the watchdog is stopped on {', '.join(_ports(fault, plan))}"


def _wred_flag_missing(config: Database, fault: Fault, plan: DevicePlan) -> str:
    for fields in config["WRED_PROFILE"].values():
        fields.pop("wred_green_enable", None)
    return "wred_green_enable is gone from every WRED profile"


def _big_red_switch(config: Database, fault: Fault, plan: DevicePlan) -> str:
    config.setdefault("PFC_WD", {}).setdefault("GLOBAL", {})["BIG_RED_SWITCH"] = "enable"
    return "BIG_RED_SWITCH is on"

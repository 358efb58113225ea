"""Device plans by hand, with the demo rack's names, so that platforms are tested without planner and site.

The numbers are round on purpose: they come from nowhere but this page, and the tests compare with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rocetune.model.fabric import Device, GlobalsMode, Manage, Port
from rocetune.model.plan import DevicePlan, DeviceQos, PortPlan, Setting, Why
from rocetune.model.profile import Profile
from rocetune.model.qos import HostQos, PortQos, PriorityQos, Watchdog

AI_TRAINING: Mapping[str, Any] = {
    "name": "ai-training",
    "mtu": 9216,
    "classes": {
        "roce": {
            "dscp": (26,),
            "priority": 3,
            "lossless": True,
            "bandwidth": "50%",
            "pfc": {"watchdog": {"detect": "200ms", "restore": "400ms", "action": "drop"}},
            "ecn": {"objective": "balanced"},
        },
        "cnp": {"dscp": (48,), "priority": 6, "strict": True},
        "control": {"dscp": (56,), "priority": 7, "owner": "other"},
        "default": {"priority": 0, "bandwidth": "50%"},
    },
}
STORAGE: Mapping[str, Any] = {
    "name": "storage",
    "mtu": 9216,
    "classes": {
        "storage": {"dscp": (20,), "priority": 4, "lossless": True, "bandwidth": "50%", "ecn": {}},
        "cnp": {"dscp": (48,), "priority": 6, "strict": True},
        "default": {"priority": 0, "bandwidth": "50%"},
    },
}


def profile(intent: Mapping[str, Any] = AI_TRAINING) -> Profile:
    """A profile from plain data, as the YAML loader would hand it over."""
    return Profile.model_validate(intent)


def dscp_table(points: Mapping[int, int]) -> tuple[int | None, ...]:
    """64 entries, None where the plan says nothing."""
    return tuple(points.get(point) for point in range(64))


def rail_qos(**changes: Any) -> PortQos:
    """A 400G rail of the ai-training profile: RoCE on 3, CNP on 6, control foreign, the rest on 0."""
    numbers: dict[str, Any] = {
        "headroom_bytes": 96_000,
        "alpha": 1.0,
        "kmin_bytes": 400_000,
        "kmax_bytes": 1_600_000,
        "pmax_percent": 20.0,
        **changes,
    }
    roce = PriorityQos(
        3, "roce", dscps=(26,), lossless=True, pfc=True, scheduling="dwrr", bandwidth_percent=50, ecn=True,
        watchdog=True, **numbers,
    )  # fmt: skip
    default = PriorityQos(0, "default", dscps=(), lossless=False, pfc=False, scheduling="dwrr", bandwidth_percent=50)
    cnp = PriorityQos(6, "cnp", dscps=(48,), lossless=False, pfc=False, scheduling="strict")
    control = PriorityQos(7, "control", owned=False, dscps=(56,), lossless=False)
    return PortQos(
        trust="dscp",
        mtu_bytes=9216,
        speed_mbps=400_000,
        cable_m=2.0,
        link_pause=False,
        dcbx="off",
        dscp_to_priority=dscp_table({26: 3, 48: 6}),
        priorities=(default, roce, cnp, control),
        watchdog=Watchdog(detect_ms=200, restore_ms=400, action="drop"),
    )


def with_host(qos: PortQos) -> PortQos:
    """The same intent as a server's NIC has it."""
    host = HostQos(
        dcbx="os", roce_tos=106, traffic_class=106, cnp_dscp=48, cnp_priority=6,
        np_priorities=frozenset({3}), rp_priorities=frozenset({3}), storm_prevention_ms=100, roce_mode="v2",
        active_mtu_bytes=4096,
    )  # fmt: skip
    return replace(qos, host=host, mtu_bytes=9000, watchdog=None)


def setting(
    name: str = "backend-400g-2m", qos: PortQos | None = None, intent: Mapping[str, Any] = AI_TRAINING
) -> Setting:
    """A setting with a reason for every number that the planner would explain."""
    chosen = qos or rail_qos()
    why = {
        ("priorities", 3, "headroom_bytes"): Why("headroom.preset", (("cable_m", 2.0),), source="builders"),
        ("priorities", 3, "kmin_bytes"): Why("ecn.bdp", source="builders"),
        ("mtu_bytes",): Why("profile", source="builders"),
    }
    return Setting(name, name.split("-")[0], profile(intent), chosen, why)


def port_plan(device: str, name: str, chosen: Setting, *, native: str | None = None, **fields: Any) -> PortPlan:
    """One planned port; ``fields`` go to :class:`Port`."""
    port = Port(
        device, name, **{"role": "rail", "network": chosen.network, "speed_mbps": chosen.qos.speed_mbps, **fields}
    )
    return PortPlan(port, native or name, chosen)


def device_plan(
    name: str,
    platform: str,
    ports: tuple[PortPlan, ...],
    *,
    declared: Mapping[str, str] | None = None,
    globals_mode: GlobalsMode = "extend",
    manage: Manage = "full",
    kind: str = "switch",
    dscps: tuple[tuple[int, int], ...] = ((26, 3), (48, 6)),
    foreign: tuple[tuple[int, int], ...] = ((56, 7),),
) -> DevicePlan:
    """A device with its ports."""
    device = Device(
        name, "server" if kind == "server" else "switch", platform, role="leaf" if kind == "switch" else "gpu",
        manage=manage, globals_mode=globals_mode, declared=declared or {},
    )  # fmt: skip
    return DevicePlan(device, ports, DeviceQos(dscp_to_priority=dscps, foreign_dscps=foreign))


def eos_leaf(ports: int = 2, chosen: Setting | None = None, **fields: Any) -> DevicePlan:
    """leaf1 of the demo rack with its first rail ports."""
    made = chosen or setting()
    rails = tuple(
        port_plan("leaf1", f"Ethernet{n}/1", made, peer=(f"gpu{(n - 1) // 4 + 1:02}", f"rail{(n - 1) % 4}"))
        for n in range(1, ports + 1)
    )
    declared = {"model": "DCS-7060DX4-32", "asic": "Tomahawk 3", "os_version": "4.36.0F"}
    return device_plan("leaf1", "arista_eos", rails, declared=declared, **fields)


def sonic_leaf(ports: int = 2, chosen: Setting | None = None, **fields: Any) -> DevicePlan:
    """leaf2 of the demo rack with its first rail ports."""
    made = chosen or setting()
    rails = tuple(
        port_plan("leaf2", f"Ethernet{n * 8}", made, peer=(f"gpu{n // 4 + 1:02}", f"rail{4 + n % 4}"))
        for n in range(ports)
    )
    declared = {
        "hwsku": "DellEMC-Z9332f-O32",
        "asic": "Tomahawk 3",
        "os_version": "202411",
        "buffer_model": "traditional",
    }
    return device_plan("leaf2", "sonic", rails, declared=declared, **fields)

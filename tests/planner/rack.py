"""A neutral fabric for planner tests: leaf switches, servers with rails, a storage port and a management port."""

from __future__ import annotations

from typing import Any

from rocetune.model.fabric import Device, Fabric, Network, Port
from rocetune.model.profile import Profile

TRAINING: dict[str, Any] = {
    "name": "training",
    "classes": {
        "roce": {
            "dscp": (26,),
            "priority": 3,
            "lossless": True,
            "bandwidth": 50.0,
            "pfc": {"watchdog": {"detect": 200.0, "restore": 400.0, "action": "drop"}},
            "ecn": {"objective": "balanced"},
            "marking": {"by": ("rdma_cm", "nccl")},
        },
        "cnp": {"dscp": (48,), "priority": 6, "strict": True},
        "control": {"dscp": (56,), "priority": 7, "owner": "other"},
        "default": {"priority": 0, "bandwidth": 50.0},
    },
}
STORAGE: dict[str, Any] = {
    "name": "storage",
    "classes": {
        "storage": {"dscp": (20,), "priority": 4, "lossless": True, "bandwidth": 50.0},
        "cnp": {"dscp": (48,), "priority": 6, "strict": True},
        "default": {"priority": 0, "bandwidth": 50.0},
    },
}


def merged(base: Any, change: Any) -> Any:
    """Two nested dictionaries as one; None removes a key."""
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    result = {**base, **{key: merged(base.get(key, {}), value) for key, value in change.items()}}
    return {key: value for key, value in result.items() if value is not None}


def profile(base: dict[str, Any], **change: Any) -> Profile:
    """A profile from plain data with some of it changed."""
    return Profile.model_validate(merged(base, change))


def rack(
    training: Profile | None = None,
    storage: Profile | None = None,
    *,
    asic: str | None = "Tomahawk 3",
    servers: int = 4,
    leaves: int = 2,
    rails: int = 4,
    speed: int | None = 400_000,
    cable_m: float | None = 2.0,
    medium: str | None = "dac",
    declared: dict[str, str] | None = None,
) -> Fabric:
    """Every server has ``rails`` rails on each leaf, a storage port on the last leaf and an unplanned port."""
    networks = {
        "backend": Network("backend", training or profile(TRAINING)),
        "storage": Network("storage", storage or profile(STORAGE)),
        "mgmt": Network("mgmt", None),
    }
    facts = ({"asic": asic} if asic else {}) | (declared or {})
    devices = {f"leaf{i}": Device(f"leaf{i}", "switch", "sonic", "leaf", declared=facts) for i in range(1, leaves + 1)}
    devices |= {f"gpu{i:02}": Device(f"gpu{i:02}", "server", "linux", "gpu", ("gpus",)) for i in range(1, servers + 1)}
    ports: dict[str, list[Port]] = {name: [] for name in devices}
    for server in range(servers):
        name = f"gpu{server + 1:02}"
        for rail in range(rails * leaves):
            leaf = f"leaf{rail // rails + 1}"
            at = f"Ethernet{server * rails + rail % rails}"
            _link(ports, (leaf, at), (name, f"rail{rail}"), "backend", speed, cable_m, medium, rail)
        _link(ports, (f"leaf{leaves}", f"Ethernet{500 + server}"), (name, "stor0"), "storage", 100_000, 3.0, "dac")
        ports[name].append(Port(name, "mgmt0", "mgmt", "mgmt", manage="none"))
        ports[name].append(Port(name, "ipmi", "mgmt", "mgmt"))
    return Fabric(devices, {name: tuple(items) for name, items in ports.items()}, networks)


def _link(
    ports: dict[str, list[Port]],
    a: tuple[str, str],
    b: tuple[str, str],
    network: str,
    speed: int | None,
    cable_m: float | None,
    medium: str | None,
    rail: int | None = None,
) -> None:
    role = "rail" if network == "backend" else "storage"
    for here, there in ((a, b), (b, a)):
        select = f"netdev:{here[1]}np0" if here == b else None
        port = Port(*here, role, network, rail, speed, medium, cable_m, peer=there, link_role="host", select=select)
        ports[here[0]].append(port)

"""Names of settings: what they are, and that another device does not change them."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from rocetune.model.fabric import Fabric
from rocetune.model.plan import Plan
from rocetune.planner import plan

from . import rack as lab


def names(made: Plan) -> dict[tuple[str, str], str]:
    """The setting of every planned port."""
    return {(name, item.port.name): item.setting.name for name, dev in made.devices.items() for item in dev.ports}


def with_leaf(fabric: Fabric, name: str, asic: str, ports: int | None = None, *, first: bool = False) -> Fabric:
    """One more switch, like leaf1 but with another chip or fewer ports."""
    facts = {"asic": asic} if asic else {}
    device = replace(fabric.devices["leaf1"], name=name, declared=facts)
    cables = tuple(replace(item, device=name) for item in fabric.ports["leaf1"][:ports])
    devices = {name: device, **fabric.devices} if first else {**fabric.devices, name: device}
    return replace(fabric, devices=devices, ports={**fabric.ports, name: cables})


def test_another_chip_is_named_after_it() -> None:
    made = names(plan(with_leaf(lab.rack(), "leaf9", "Tomahawk 5")))
    assert made["leaf9", "Ethernet0"] == "backend-400g-2m-tomahawk5"
    assert made["leaf1", "Ethernet0"] == "backend-400g-2m"


def test_a_new_device_renames_nothing_wherever_it_stands() -> None:
    before = names(plan(lab.rack()))
    for asic, first in itertools.product(("Tomahawk 5", "Spectrum-4", ""), (True, False)):
        after = names(plan(with_leaf(lab.rack(), "leaf9", asic, first=first)))
        assert {key: name for key, name in after.items() if key[0] != "leaf9"} == before
        assert after["leaf9", "Ethernet0"] not in set(before.values())


def test_names_do_not_depend_on_the_order_of_the_inventory() -> None:
    overrides = ({"match": {"rail": 1}, "mtu": 9100}, {"match": {"device": "gpu02"}, "host_mtu": 8000})
    fabric = with_leaf(lab.rack(lab.profile(lab.TRAINING, overrides=overrides)), "leaf9", "Tomahawk 5", 4)
    turned = replace(fabric, devices=dict(reversed(list(fabric.devices.items()))))
    assert names(plan(fabric)) == names(plan(turned))
    assert names(plan(fabric))["gpu02", "rail1"] == "backend-400g-2m-host-rail1-gpu02"


def test_an_assumed_cable_and_a_fuller_switch() -> None:
    fabric = lab.rack(cable_m=3.0)
    ports = tuple(replace(item, cable_m=None) if item.rail == 2 else item for item in fabric.ports["leaf1"])
    made = names(plan(replace(fabric, ports={**fabric.ports, "leaf1": ports})))
    assert made["leaf1", "Ethernet1"] == "backend-400g-3m"
    assert made["leaf1", "Ethernet2"] == "backend-400g-3m-assumed"
    strict = lab.profile(lab.TRAINING, classes={"roce": {"ecn": {"objective": "latency"}, "pfc": {"alpha": 0.03125}}})
    made = names(plan(with_leaf(lab.rack(strict), "leaf9", "Tomahawk 3", 4)))
    full, empty = made["leaf1", "Ethernet0"], made["leaf9", "Ethernet0"]
    assert empty == "backend-400g-2m" and re.fullmatch(r"backend-400g-2m-kmax[0-9]+", full), made


def test_names_stay_short_plain_and_different() -> None:
    network = "a-network-with-quite-a-long-name"
    role = "a-role-of-quite-thirty-characters"[:32]
    overrides = tuple({"match": {"device": f"gpu{n:02}", "role": role}, "host_mtu": 8000 + n} for n in range(1, 5))
    fabric = lab.rack(lab.profile(lab.TRAINING, overrides=overrides))
    devices = {
        name: replace(item, role=role) if item.kind == "server" else item for name, item in fabric.devices.items()
    }
    ports = {
        name: tuple(replace(item, network=network) if item.network == "backend" else item for item in items)
        for name, items in fabric.ports.items()
    }
    networks = {**fabric.networks, network: replace(fabric.networks["backend"], name=network)}
    made = plan(replace(fabric, devices=devices, ports=ports, networks=networks))
    found = [item.name for item in made.settings]
    assert len(set(found)) == len(found)
    assert all(re.fullmatch(r"[a-z0-9-]{1,48}", name) for name in found), found

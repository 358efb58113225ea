"""Switches with one headroom for all ports are planned, and fitted into the chip, with the largest of them."""

from __future__ import annotations

from dataclasses import replace

from rocetune.model.fabric import Fabric
from rocetune.planner import Habits, plan

from . import rack as lab

ONE = Habits(one_headroom=frozenset({"sonic"}))


def mixed() -> Fabric:
    """One leaf with 16 rails: Ethernet0 on 2 km, the others on 2 m."""
    fabric = lab.rack(leaves=1, servers=4)
    ports = tuple(replace(port, cable_m=2000.0) if port.name == "Ethernet0" else port for port in fabric.ports["leaf1"])
    return replace(fabric, ports={**fabric.ports, "leaf1": ports})


def test_every_port_has_the_largest_headroom() -> None:
    """Tomahawk 3 at 400G and 2 km: 31900 + 2.867 us R + 1.31 x 1010101 = 1498482 B (+0.11 %), 5907 cells of 254 B."""
    made = plan(mixed(), habits=ONE)
    roce = [item.setting.qos.priority(3) for item in made.devices["leaf1"].ports if item.setting.network == "backend"]
    assert {entry.headroom_bytes for entry in roce if entry} == {5907 * 254}
    near = next(item for item in made.devices["leaf1"].ports if item.port.name == "Ethernet1")
    steps = near.setting.why[("priorities", 3, "headroom_bytes")].steps
    assert "this port alone needs 176,784 B" in steps[0]


def test_the_buffer_is_counted_with_it() -> None:
    """16 back-end and 4 storage ports: 20 x 5907 x 254 B of 67108864 B."""
    made = plan(mixed(), habits=ONE)
    need = 20 * 5907 * 254
    assert f"{67_108_864 - need:,}" in made.devices["leaf1"].why[("buffer",)].steps[-1]
    alone = plan(mixed()).devices["leaf1"].why[("buffer",)].steps[-1]
    assert f"{67_108_864 - need:,}" not in alone


def test_what_does_not_fit_then_is_an_error() -> None:
    """48 ports x 5907 x 254 B are more than 67108864 B, although all but one need a tenth of that."""
    fabric = lab.rack(leaves=1, servers=11)
    far = tuple(replace(item, cable_m=2000.0) if item.name == "Ethernet0" else item for item in fabric.ports["leaf1"])
    fabric = replace(fabric, ports={**fabric.ports, "leaf1": far})
    assert not [item for item in plan(fabric).problems if not item.warning]
    errors = [item for item in plan(fabric, habits=ONE).problems if not item.warning]
    assert any("headroom needs" in item.text for item in errors)


def test_names_tell_the_raised_from_the_others() -> None:
    """leaf1 is mixed; on leaf2, of another platform, the same ports keep what they need."""
    fabric = lab.rack(leaves=2)
    ports = tuple(replace(item, cable_m=2000.0) if item.name == "Ethernet0" else item for item in fabric.ports["leaf1"])
    leaf2 = replace(fabric.devices["leaf2"], platform="other")
    fabric = replace(fabric, ports={**fabric.ports, "leaf1": ports}, devices={**fabric.devices, "leaf2": leaf2})
    made = plan(fabric, habits=ONE)
    one = next(item for item in made.devices["leaf1"].ports if item.port.name == "Ethernet1").setting
    two = next(item for item in made.devices["leaf2"].ports if item.port.name == "Ethernet1").setting
    assert (one.name, two.name) == ("backend-400g-2m-headroom1500", "backend-400g-2m")

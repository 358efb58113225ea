"""What marking is made for: the round trip, the senders that meet on a port, and published curves by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocetune.model.fabric import Fabric
from rocetune.planner import plan
from rocetune.planner.compare import PLAN, chosen, compare

from . import rack as lab


def stated(fabric: Fabric, **values: object) -> Fabric:
    """The fabric with facts of its back-end network."""
    backend = replace(fabric.networks["backend"], **values)  # type: ignore[arg-type]
    return replace(fabric, networks={**fabric.networks, "backend": backend})


def roce(fabric: Fabric, name: str = "backend-400g-2m"):  # type: ignore[no-untyped-def]
    made = plan(fabric)
    setting = next(item for item in made.settings if item.name == name)
    return made, setting, setting.qos.priority(3)


def test_flows_are_the_other_servers_of_the_fullest_leaf() -> None:
    """4 servers with 4 rails on each leaf: 16 ports of the network, so 15 can send to one."""
    _, setting, _ = roce(lab.rack())
    assert setting.basis[3].flows == 15


def test_stated_flows_and_round_trip_win() -> None:
    made, setting, entry = roce(stated(lab.rack(), rtt_us=5.0, flows=7))
    assert (setting.basis[3].flows, setting.basis[3].rtt_us) == (7, 5.0)
    assert entry.kmin_bytes == 250_000  # 400 Gbit/s x 5 us / 8
    assert not [item for item in made.assumptions if "network backend" in item.where]
    assert [item for item in made.assumptions if "network storage" in item.where]


@pytest.mark.parametrize(
    ("name", "kmin", "kmax", "pmax"),  # ecn_recommendations.csv
    [
        ("sonic-default", 1_048_576, 2_097_152, 5),
        ("cumulus-default", 150_000, 1_500_000, 100),
        ("hpcc", 1_600_000, 6_400_000, 20),
    ],
)
def test_a_published_curve_by_name(name: str, kmin: int, kmax: int, pmax: float) -> None:
    made, setting, entry = roce(lab.rack(lab.profile(lab.TRAINING, classes={"roce": {"ecn": {"preset": name}}})))
    assert (entry.kmin_bytes, entry.kmax_bytes, entry.pmax_percent) == (kmin, kmax, pmax)
    assert name in setting.why[("priorities", 3, "kmax_bytes")].steps[0]
    assert not [item for item in made.problems if not item.warning]


def test_fixed_numbers_win_over_the_curve() -> None:
    wanted = {"preset": "sonic-default", "pmax": 10.0}
    _, _, entry = roce(lab.rack(lab.profile(lab.TRAINING, classes={"roce": {"ecn": wanted}})))
    assert (entry.kmin_bytes, entry.pmax_percent) == (1_048_576, 10)


def test_a_curve_that_nobody_knows_names_the_nearest() -> None:
    made = plan(lab.rack(lab.profile(lab.TRAINING, classes={"roce": {"ecn": {"preset": "sonic-defalt"}}})))
    (problem,) = [item for item in made.problems if "sonic-defalt" in item.text]
    assert "sonic-default" in problem.text + problem.remedy
    assert problem.field == ("classes", "roce", "ecn", "preset") and not problem.warning


def test_a_percentage_is_of_what_a_queue_may_hold_before_pause() -> None:
    _, setting, entry = roce(lab.rack(lab.profile(lab.TRAINING, classes={"roce": {"ecn": {"preset": "juniper-jvd"}}})))
    limit = setting.basis[3].incast_bytes
    assert limit is not None
    assert entry.kmin_bytes == pytest.approx(limit * 0.20, abs=1)
    assert entry.kmax_bytes == pytest.approx(limit * 0.60, abs=1)


def test_the_plan_stands_beside_the_presets() -> None:
    made = plan(lab.rack())
    found = compare(made, chosen(["sonic-default", "juniper-apstra"]), ["leaf1"])
    (backend,) = [item for item in found if item.setting == "backend-400g-2m"]
    assert (backend.ports, backend.devices, backend.class_name, backend.priority) == (16, ("leaf1",), "roce", 3)
    names = [line.name for line in backend.lines]
    assert names == [PLAN, "sonic-default", "juniper-apstra"]
    own, sonic, _ = backend.lines
    assert (own.kmin_bytes, own.kmax_bytes, own.pmax_percent) == (400_000, 1_600_000, 20)
    assert (sonic.kmin_bytes, sonic.kmax_bytes, sonic.pmax_percent) == (1_048_576, 2_097_152, 5)
    for line in backend.lines:
        assert line.outlook is not None
        assert all((line.outlook.goodput, line.outlook.bystander, line.outlook.burst, line.outlook.pause))
        assert 0 < line.outlook.p_star < 1


def test_segments_have_no_bytes_and_say_so() -> None:
    (backend, *_) = compare(plan(lab.rack()), chosen(["arista-segments"]), ["leaf1"])
    line = backend.lines[1]
    assert line.kmin_bytes is None and line.outlook is None and "segments" in line.note


def test_all_is_every_preset_and_an_unknown_one_is_refused() -> None:
    assert len(chosen(["all", "hpcc"])) == len(chosen(["all"])) > 15
    with pytest.raises(LookupError, match="hpcc"):
        chosen(["hppc"])


def test_a_curve_for_slow_ports_is_no_curve_for_fast_ones() -> None:
    """5 KB (DCQCN's paper, 40G) is one packet and a bit at 400G: allowed, and told at the preset's line."""
    made, _, entry = roce(lab.rack(lab.profile(lab.TRAINING, classes={"roce": {"ecn": {"preset": "dcqcn-paper"}}})))
    assert (entry.kmin_bytes, entry.kmax_bytes, entry.pmax_percent) == (5_000, 200_000, 1)
    (problem,) = [item for item in made.problems if "packets" in item.text]
    assert problem.warning and problem.field == ("classes", "roce", "ecn", "preset")


def test_a_queue_that_settles_beyond_kmax_is_told() -> None:
    """tuning.md, fluid model: at 40G with the paper's parameters, 1 % and packets of 1000 B, 16 flows pass kmax."""
    wanted = {"preset": "dcqcn-paper"}
    change = {"rdma_mtu": 1024, "dcqcn": {"preset": "paper"}, "classes": {"roce": {"ecn": wanted}}}

    def warned(flows: int) -> bool:
        fabric = stated(lab.rack(lab.profile(lab.TRAINING, **change), speed=40_000), flows=flows)
        return any("beyond kmax" in item.text for item in plan(fabric).problems if item.warning)

    assert warned(16) and not warned(10)


def test_more_senders_than_dcqcn_bears() -> None:
    """Published: it breaks down near 160 flows at 40G."""
    made = plan(stated(lab.rack(speed=40_000), flows=200))
    assert any("break down from 160" in item.text and "200" in item.text for item in made.problems if item.warning)


def far(fabric: Fabric, *names: str) -> Fabric:
    """These switch ports of leaf1 on 2 km of fibre."""
    ports = tuple(replace(item, cable_m=2000.0) if item.name in names else item for item in fabric.ports["leaf1"])
    return replace(fabric, ports={**fabric.ports, "leaf1": ports})


@pytest.mark.parametrize(("names", "metres"), [((), 0), (("Ethernet0",), 1900), (("Ethernet0", "Ethernet1"), 3800)])
def test_a_path_crosses_each_long_cable_once(names: tuple[str, ...], metres: int) -> None:
    """8 us, and light there and back over what is beyond 100 m of the two longest cables to servers."""
    fabric = far(lab.rack(), *names)
    setting = next(item for item in plan(fabric).settings if item.name == "backend-400g-2m")
    assert setting.basis[3].rtt_us == pytest.approx(8 + 2 * metres / 198)


def test_one_cable_between_switches_is_one_cable() -> None:
    """Both of its ends are switch ports."""
    fabric = lab.rack()
    a, b = ("leaf1", "Ethernet900"), ("leaf2", "Ethernet900")
    ends = {here[0]: replace(fabric.ports["leaf1"][0], device=here[0], name=here[1], peer=there, cable_m=2000.0,
                             link_role="fabric", rail=None) for here, there in ((a, b), (b, a))}  # fmt: skip
    fabric = replace(fabric, ports={**fabric.ports, **{name: (*fabric.ports[name], end) for name, end in ends.items()}})
    setting = next(item for item in plan(fabric).settings if item.name == "backend-400g-2m")
    assert setting.basis[3].rtt_us == pytest.approx(8 + 2 * 1900 / 198)


def test_the_assumption_names_the_long_cable() -> None:
    (text,) = [item.text for item in plan(far(lab.rack(), "Ethernet0")).assumptions if item.where == "network backend"]
    assert "27.2 us" in text and "leaf1:Ethernet0 2000 m" in text


def test_a_round_trip_faster_than_light_is_refused() -> None:
    """2 km there and back: 20.2 us."""
    fabric = stated(far(lab.rack(), "Ethernet0"), rtt_us=6.0)
    (problem,) = [item for item in plan(fabric).problems if not item.warning]
    assert "20.202 us" in problem.text and problem.field == ("site", "networks", "backend", "rtt")


def test_the_incast_of_the_fabric_is_worked_out() -> None:
    """15 senders at 400G and 8 us: k S / (1 + k) of what headroom leaves, and 14 x 400 KB within a round trip."""
    why = plan(lab.rack()).devices["leaf1"].why
    left = 67_108_864 - 16 * 696 * 254
    assert f"{15 * left / 16:,.0f} B" in why[("incast", 3)].steps[0]
    assert "5,600,000 B" in why[("incast", 3)].steps[1]

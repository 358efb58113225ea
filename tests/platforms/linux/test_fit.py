"""What a server makes of a plan, and what it says about what it cannot do."""

from __future__ import annotations

from dataclasses import replace

from rocetune.model.change import Config
from rocetune.model.facts import Facts, PortFacts
from rocetune.model.plan import DevicePlan
from rocetune.model.qos import PortQos, PriorityQos
from rocetune.platforms.linux import PLATFORM, adapters
from tests.platforms.builders import device_plan, port_plan, rail_qos, setting, with_host
from tests.platforms.linux.rig import server_plan


def one_port(qos: PortQos, **fields: object) -> DevicePlan:
    port = port_plan("gpu01", "rail0", setting(qos=qos), **{"select": "netdev:ens11np0", **fields})  # type: ignore[arg-type]
    return device_plan("gpu01", "linux", (port,), kind="server")


def fitted(qos: PortQos) -> PortQos:
    plan = one_port(qos)
    return PLATFORM.fit(plan, PLATFORM.declared(plan)).ports[0].setting.qos


def test_cable_lengths_are_whole_metres_rounded_up_within_the_drivers_range() -> None:
    for length, wanted in ((0.5, 1.0), (2.0, 2.0), (2.1, 3.0), (1200.0, 999.0)):
        assert fitted(replace(with_host(rail_qos()), cable_m=length)).cable_m == wanted


def test_shares_sum_to_100_because_the_driver_insists() -> None:
    priorities = tuple(PriorityQos(p, scheduling="dwrr", bandwidth_percent=30) for p in (0, 3, 4))
    shares = [entry.bandwidth_percent for entry in fitted(replace(rail_qos(), priorities=priorities)).priorities]
    assert shares == [34, 33, 33]


def test_every_dscp_is_said_but_those_of_foreign_classes() -> None:
    table = fitted(with_host(rail_qos())).dscp_to_priority
    assert table is not None
    assert (table[26], table[48], table[56], table[24], table[46]) == (3, 6, None, 0, 0)


def test_leaves_of_switches_are_gone() -> None:
    roce = fitted(with_host(rail_qos())).priority(3)
    assert roce is not None
    assert (roce.headroom_bytes, roce.alpha, roce.kmin_bytes, roce.ecn, roce.watchdog) == (None,) * 5
    assert (roce.pfc, roce.bandwidth_percent) == (True, 50)


def test_selectors_find_ports_by_pci_address_and_mac() -> None:
    facts = Facts(
        "linux",
        "device",
        ports={
            "ens1": PortFacts("ens1", pci="0000:1a:00.0", adapter="nvidia_mlx5", driver="mlx5_core"),
            "ens2": PortFacts("ens2", mac="94:6D:AE:00:00:02", adapter="nvidia_mlx5", driver="mlx5_core"),
        },
    )
    for select, native in (("pci:0000:1A:00.0", "ens1"), ("mac:94:6d:ae:00:00:02", "ens2")):
        assert PLATFORM.fit(one_port(rail_qos(), select=select), facts).ports[0].native == native
    lost = PLATFORM.fit(one_port(rail_qos(), select="pci:0000:ff:00.0"), facts)
    assert lost.ports == () and "no port matches pci:0000:ff:00.0" in lost.unsupported[0].text


def test_an_unknown_nic_is_shown_and_left_alone() -> None:
    facts = Facts("linux", "device", ports={"ens11np0": PortFacts("ens11np0", driver="bnxt_en", pci="0000:1a:00.0")})
    plan = PLATFORM.fit(one_port(with_host(rail_qos())), facts)
    assert plan.ports == ()
    assert "bnxt_en" in plan.unsupported[0].text


def test_inbox_drivers_keep_numbers_and_lose_switches() -> None:
    plan = one_port(with_host(rail_qos()))
    plan = replace(plan, device=replace(plan.device, declared={"nic_driver": "inbox"}))
    result = PLATFORM.fit(plan, PLATFORM.declared(plan))
    host = result.ports[0].setting.qos.host
    assert host is not None
    assert (host.np_priorities, host.rp_priorities, host.traffic_class) == (None, None, None)
    assert (host.cnp_dscp, host.roce_tos, host.storm_prevention_ms) == (48, 106, 100)
    assert {item.path[1] for item in result.unsupported} == {"np_priorities", "rp_priorities", "traffic_class"}


def test_dcqcn_names_of_all_three_interfaces_mean_the_same_parameter() -> None:
    plan = server_plan(dcqcn=(("RPG_AI_RATE", 80), ("rp_clamp_tgt_rate_ati", 1), ("zzz", 1)))
    result = PLATFORM.fit(plan, PLATFORM.declared(plan))
    host = result.ports[0].setting.qos.host
    assert host is not None and host.dcqcn == (("clamp_tgt_rate_after_time_inc", 1), ("rpg_ai_rate", 80))
    assert any("zzz" in item.text for item in result.unsupported)


def test_stall_timer_is_held_within_the_drivers_range() -> None:
    for asked, wanted in ((0, 0), (20, 80), (100, 100), (9000, 8000)):
        plan = server_plan(storm_prevention_ms=asked)
        host = PLATFORM.fit(plan, PLATFORM.declared(plan)).ports[0].setting.qos.host
        assert host is not None and host.storm_prevention_ms == wanted


def test_rdma_mtu_follows_from_the_netdev_mtu() -> None:
    # Linux include/rdma/ib_addr.h: 96 bytes of headers.
    found = {size: adapters.path_mtu(size) for size in (4192, 4191, 2144, 1500, 1120, 1119, 300)}
    assert found == {4192: 4096, 4191: 2048, 2144: 2048, 1500: 1024, 1120: 1024, 1119: 512, 300: None}
    small = fitted(replace(with_host(rail_qos()), mtu_bytes=1500)).host
    assert small is not None and small.active_mtu_bytes == 1024


def test_settings_are_shared_by_ports_of_one_kind() -> None:
    plan = server_plan()
    ports = PLATFORM.fit(plan, PLATFORM.declared(plan)).ports
    assert ports[0].setting is ports[1].setting


def test_what_the_plan_leaves_alone_keeps_its_running_value() -> None:
    plan = server_plan()
    facts = PLATFORM.declared(plan)
    made = PLATFORM.fit(plan, facts)
    running: Config = {
        ("port", "ens11np0", "dcqcn", "rpg_gd"): "11",
        ("port", "ens11np0", "pfc"): "0,0,0,0,0,1,0,1",
        ("port", "ens20f0np0", "pfc"): "1,1,1,1,1,1,1,1",
        ("env", "STALE"): "1",
    }
    wanted = PLATFORM.desired(PLATFORM.render(made, facts), running, made, facts)
    assert wanted["port", "ens11np0", "dcqcn", "rpg_gd"] == "11"
    # Priority 7 belongs to a foreign class: its bit is the device's, those of the rest are ours.
    assert wanted["port", "ens11np0", "pfc"] == "0,0,0,1,0,0,0,1"
    assert ("port", "ens20f0np0", "pfc") not in wanted
    assert ("env", "STALE") not in wanted


def test_every_rendered_key_is_owned_and_leads_back_into_the_plan() -> None:
    plan = server_plan()
    facts = PLATFORM.declared(plan)
    made = PLATFORM.fit(plan, facts)
    config = PLATFORM.parse(PLATFORM.render(made, facts).text, facts)
    assert PLATFORM.origin(("port", "ens11np0", "cable_m"), made) == ("ens11np0", "cable_m")
    assert PLATFORM.origin(("port", "ens11np0", "pfc"), made) == ("ens11np0", "priorities", 3, "pfc")
    assert PLATFORM.origin(("env", "NCCL_IB_TC"), made) == ("", "environment", "NCCL_IB_TC")
    for key in config:
        if key[2:] != ("persist",):
            assert PLATFORM.origin(key, made), key

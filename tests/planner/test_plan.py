"""The planner on a small rack: numbers from the reference text, reasons for all of them, problems with remedies."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rocetune.model.plan import Plan, PortPlan
from rocetune.model.qos import leaves
from rocetune.planner import plan

from . import rack as lab


def port(made: Plan, device: str, name: str) -> PortPlan:
    return next(item for item in made.devices[device].ports if item.port.name == name)


def errors(made: Plan) -> list[str]:
    return [item.text for item in made.problems if not item.warning]


def test_switch_port() -> None:
    made = plan(lab.rack())
    item = port(made, "leaf1", "Ethernet0")
    qos = item.setting.qos
    assert (item.native, item.setting.name, item.setting.network) == ("Ethernet0", "backend-400g-2m", "backend")
    assert (qos.trust, qos.mtu_bytes, qos.cable_m, qos.link_pause, qos.dcbx) == ("dscp", 9216, 2.0, False, "off")
    roce, cnp, control, default = (qos.priority(number) for number in (3, 6, 7, 0))
    assert roce and cnp and control and default
    assert (roce.name, roce.owned, roce.dscps, roce.lossless, roce.pfc) == ("roce", True, (26,), True, True)
    assert roce.traffic_class == roce.queue == roce.priority_group == 3
    assert (roce.scheduling, roce.bandwidth_percent, roce.alpha, roce.watchdog) == ("dwrr", 50, 1.0, True)
    # 31900 + 2.867 us * 5e10 + 1.31 * 2*2*5e10/1.98e8 = 176573 B (+0.11 % fit error) -> 696 cells of 254
    assert roce.headroom_bytes == 696 * 254
    assert (roce.ecn, roce.kmin_bytes, roce.kmax_bytes, roce.pmax_percent) == (True, 400_000, 1_600_000, 20)
    assert (cnp.scheduling, cnp.pfc, cnp.ecn, cnp.headroom_bytes) == ("strict", False, False, None)
    assert (control.owned, control.pfc, control.ecn) == (False, None, None)
    assert (default.dscps, default.bandwidth_percent) == (None, 50)
    assert qos.dscp_to_priority is not None
    assert [qos.dscp_to_priority[dscp] for dscp in (26, 48, 56, 0)] == [3, 6, None, None]
    assert qos.watchdog is not None
    assert (qos.watchdog.detect_ms, qos.watchdog.restore_ms, qos.watchdog.poll_ms) == (200, 400, 100)
    assert qos.host is None
    assert errors(made) == []


def test_server_port() -> None:
    made = plan(lab.rack())
    item = port(made, "gpu01", "rail0")
    assert (item.native, item.setting.name) == ("rail0np0", "backend-400g-2m-host")
    qos, host = item.setting.qos, item.setting.qos.host
    assert host is not None
    assert (qos.mtu_bytes, qos.trust, qos.link_pause) == (9000, "dscp", False)
    assert (host.dcbx, host.roce_mode, host.active_mtu_bytes, host.storm_prevention_ms) == ("os", "v2", 4096, 100)
    assert host.roce_tos == 106  # 26 * 4 + ECT(0)
    assert host.traffic_class is None  # the NIC is not among those who mark
    assert (host.cnp_dscp, host.cnp_priority) == (48, 6)
    assert host.np_priorities == host.rp_priorities == frozenset({3})
    assert host.dcqcn is None
    roce = qos.priority(3)
    assert roce is not None and roce.pfc and roce.headroom_bytes is None and roce.ecn is None
    assert qos.watchdog is None


def test_every_leaf_has_its_reason() -> None:
    training = lab.profile(lab.TRAINING, dcqcn={"preset": "scaled"}, classes={"roce": {"pfc": {"xoff": 300_000}}})
    made = plan(lab.rack(training))
    for setting in made.settings:
        missing = [path for path, _ in leaves(setting.qos) if path not in setting.why]
        assert missing == []
        assert all(why.rule and (why.inputs or why.steps or why.source) for why in setting.why.values())


def test_device_level() -> None:
    made = plan(lab.rack())
    leaf2, gpu = made.devices["leaf2"], made.devices["gpu01"]
    assert leaf2.qos.dscp_to_priority == ((20, 4), (26, 3), (48, 6))
    assert leaf2.qos.foreign_dscps == ((56, 7),)
    assert leaf2.qos.watchdog_poll_ms == 100
    assert made.devices["leaf1"].qos.dscp_to_priority == ((26, 3), (48, 6))
    assert gpu.qos.environment == (("NCCL_GIN_IB_TC", "106"), ("NCCL_IB_TC", "106"))
    assert ("buffer",) in leaf2.why and ("ecn_bounds", 4) in leaf2.why


def test_small_rack_has_nothing_to_complain_about() -> None:
    assert plan(lab.rack()).problems == ()


def test_what_is_not_ours_is_left_out() -> None:
    fabric = lab.rack()
    made = plan(fabric)
    assert {item.port.name for item in made.devices["gpu01"].ports} == {*(f"rail{i}" for i in range(8)), "stor0"}
    devices = dict(fabric.devices)
    devices["gpu02"] = replace(devices["gpu02"], manage="none")
    assert "gpu02" not in plan(replace(fabric, devices=devices)).devices


def test_ports_of_a_kind_share_one_setting() -> None:
    made = plan(lab.rack())
    assert port(made, "leaf1", "Ethernet0").setting is port(made, "leaf2", "Ethernet3").setting
    assert port(made, "gpu01", "rail0").setting is port(made, "gpu04", "rail7").setting
    assert sorted(item.name for item in made.settings) == [
        "backend-400g-2m",
        "backend-400g-2m-host",
        "storage-100g-3m",
        "storage-100g-3m-host",
    ]
    assert all(re.fullmatch(r"[a-z0-9-]+", item.name) for item in made.settings)
    assert plan(lab.rack()) == made


def test_settings_that_an_override_sets_apart_say_which() -> None:
    overrides = ({"match": {"rail": 1}, "classes": {"roce": {"ecn": {"objective": "throughput"}}}},)
    made = plan(lab.rack(lab.profile(lab.TRAINING, overrides=overrides)))
    first, second = port(made, "leaf1", "Ethernet0"), port(made, "leaf1", "Ethernet1")
    assert (first.setting.name, second.setting.name) == ("backend-400g-2m", "backend-400g-2m-rail1")
    roce = second.setting.qos.priority(3)
    assert roce is not None and roce.kmin_bytes == 1_000_000
    assert second.setting.winners[0][0] == "classes.roce.ecn.objective"


def test_a_switch_full_of_ports_by_its_own_table() -> None:
    """32x400G Tomahawk 3 of a Z9332F, 30 m, two lossless priorities: its table has 201930 B at 40 m, the next length.

    S is what the switch's own pools leave, 66394076 - 27200352 = 39193724 B, and dynamic_th of the row is -2: alpha
    1/4, so the strict bound is S/4 / (32 x 1.5) = 204134 B, 803 cells of 254 B below it.
    """
    two = lab.profile(
        lab.TRAINING,
        classes={
            "roce": {"bandwidth": 40.0},
            "second": {"dscp": (28,), "priority": 4, "lossless": True, "bandwidth": 10.0},
        },
    )
    fabric = lab.rack(two, servers=8, leaves=1, rails=4, cable_m=30.0, medium="aoc", declared={"model": "Z9332F-ON"})
    fabric = replace(fabric, networks={**fabric.networks, "storage": replace(fabric.networks["storage"], profile=None)})
    made = plan(fabric)
    roce = port(made, "leaf1", "Ethernet0").setting.qos.priority(3)
    assert roce is not None
    assert (roce.headroom_bytes, roce.kmin_bytes, roce.kmax_bytes) == (201_930, 400_000, 1_600_000)
    assert roce.alpha == 0.25
    assert "39,193,724" in made.devices["leaf1"].why[("buffer",)].steps[-1]
    assert errors(made) == []
    warnings = [item for item in made.problems if item.warning]
    assert any("204,134 B" in item.text and "roce" in item.text for item in warnings)
    strict = lab.profile(
        lab.merged(lab.TRAINING, {"classes": {"roce": {"bandwidth": 40.0}}}),
        classes={
            "roce": {"ecn": {"objective": "latency"}},
            "second": {"dscp": (28,), "priority": 4, "lossless": True, "bandwidth": 10.0, "ecn": "off"},
        },
    )
    fabric = replace(
        fabric, networks={**fabric.networks, "backend": replace(fabric.networks["backend"], profile=strict)}
    )
    roce = port(plan(fabric), "leaf1", "Ethernet0").setting.qos.priority(3)
    assert roce is not None and (roce.kmin_bytes, roce.kmax_bytes) == (50_800, 203_962)


def test_fixed_headroom_below_the_floor() -> None:
    low = {"classes": {"roce": {"pfc": {"headroom": 64_000}}}}
    made = plan(lab.rack(lab.profile(lab.TRAINING, **low)))
    problem = next(item for item in made.problems if not item.warning)
    assert "64,000 B" in problem.text and f"{696 * 254:,} B" in problem.text
    assert problem.where == "leaf1:Ethernet0 and 31 more ports"
    assert (problem.profile, problem.field) == ("training", ("classes", "roce", "pfc", "headroom"))
    assert "accept_risk" in problem.remedy
    accepted = {"classes": {"roce": {"pfc": {"headroom": 64_000, "accept_risk": "measured, no loss"}}}}
    made = plan(lab.rack(lab.profile(lab.TRAINING, **accepted)))
    assert errors(made) == []
    assert any("measured, no loss" in item.text for item in made.problems)
    roce = port(made, "leaf1", "Ethernet0").setting.qos.priority(3)
    assert roce is not None and roce.headroom_bytes == 64_000


def test_a_number_of_an_override_is_blamed_on_the_override() -> None:
    overrides = (
        {"match": {"role": "spine"}, "mtu": 9100},
        {"match": {"network": "backend"}, "classes": {"roce": {"pfc": {"headroom": 64_000}}}},
        {"match": {"rail": 1}, "classes": {"roce": {"ecn": {"kmax": 40_000_000}}}},
    )
    made = plan(lab.rack(lab.profile(lab.TRAINING, overrides=overrides)))
    assert {item.field for item in made.problems if not item.warning} == {
        ("overrides", 1, "classes", "roce", "pfc", "headroom"),
        ("overrides", 2, "classes", "roce", "ecn", "kmax"),
    }


def test_the_round_trip_is_an_assumption_with_its_source() -> None:
    made = plan(lab.rack())
    assert [item.where for item in made.assumptions] == ["network backend", "network storage"]
    assert "round trip of 8 us" in made.assumptions[0].text and "not measured" in made.assumptions[0].text
    why = port(made, "leaf1", "Ethernet0").setting.why["priorities", 3, "kmin_bytes"]
    assert "round trip" in why.steps[0] and "not measured" in why.steps[0]
    fixed = {"kmin": 400_000, "kmax": 1_600_000}
    made = plan(lab.rack(lab.profile(lab.TRAINING, classes={"roce": {"ecn": fixed}})))
    assert [item.where for item in made.assumptions] == ["network storage"]


def test_ports_left_out_say_why() -> None:
    left_out = plan(lab.rack()).devices["gpu01"].left_out
    assert left_out == {
        "mgmt0": "has manage: none, so it is left alone",
        "ipmi": "belongs to network mgmt, which has profile: none, so it is left alone",
    }
    fabric = lab.rack()
    spare = replace(fabric.ports["leaf1"][0], name="Ethernet900", network=None, peer=None)
    made = plan(replace(fabric, ports={**fabric.ports, "leaf1": (*fabric.ports["leaf1"], spare)}))
    assert made.devices["leaf1"].left_out["Ethernet900"].startswith("belongs to no network")


def test_fixed_kmax_beyond_pfc_is_an_error() -> None:
    late = {"classes": {"roce": {"ecn": {"kmax": 40_000_000}}}}
    problem = next(item for item in plan(lab.rack(lab.profile(lab.TRAINING, **late))).problems if not item.warning)
    assert problem.field == ("classes", "roce", "ecn", "kmax") and "too late" in problem.text


def test_fixed_curve_is_kept() -> None:
    fixed = {"classes": {"roce": {"ecn": {"kmin": 150_000, "kmax": 1_500_000, "pmax": 100.0}}}}
    roce = port(plan(lab.rack(lab.profile(lab.TRAINING, **fixed))), "leaf1", "Ethernet0").setting.qos.priority(3)
    assert roce is not None
    assert (roce.kmin_bytes, roce.kmax_bytes, roce.pmax_percent) == (150_000, 1_500_000, 100.0)


@pytest.mark.parametrize("given", [{"kmin": 3_000_000}, {"kmax": 300_000}])
def test_one_fixed_threshold_keeps_the_order(given: dict[str, int]) -> None:
    made = plan(lab.rack(lab.profile(lab.TRAINING, classes={"roce": {"ecn": given}})))
    roce = port(made, "leaf1", "Ethernet0").setting.qos.priority(3)
    assert roce is not None and roce.kmin_bytes and roce.kmax_bytes
    assert roce.kmin_bytes * 4 == roce.kmax_bytes
    assert errors(made) == []


def test_unknown_asic_is_believed_to_be_the_worst() -> None:
    made = plan(lab.rack(asic=None))
    known = plan(lab.rack())
    worst = port(made, "leaf1", "Ethernet0").setting.qos.priority(3)
    usual = port(known, "leaf1", "Ethernet0").setting.qos.priority(3)
    assert worst and usual and worst.headroom_bytes and usual.headroom_bytes
    assert worst.headroom_bytes > 2 * usual.headroom_bytes
    assumption = made.devices["leaf1"].assumptions[0]
    assert "ASIC unknown" in assumption.text and "inventory" in assumption.remedy
    assert known.devices["leaf1"].assumptions == ()
    assert errors(made) == []


def test_mistyped_asic() -> None:
    problem = plan(lab.rack(asic="Tomahwk 3")).problems[0]
    assert "Tomahwk 3" in problem.text and "did you mean Tomahawk 3" in problem.remedy
    assert problem.where == "leaf1 and 1 more device"
    assert (problem.profile, problem.field, problem.warning) == ("", ("hosts", "leaf1", "asic"), False)


def test_mistyped_asic_is_one_error() -> None:
    low = lab.profile(lab.TRAINING, classes={"roce": {"pfc": {"headroom": 64_000}}})
    assert [text[:14] for text in errors(plan(lab.rack(low, asic="Tomahwk 3")))] == ["ASIC 'Tomahwk "]


def test_dynamic_buffer_model_computes_headroom_itself() -> None:
    made = plan(lab.rack(declared={"buffer_model": "dynamic"}))
    assert ["not written" in item.text for item in made.devices["leaf1"].assumptions] == [True]
    assert made.devices["gpu01"].assumptions == ()


@pytest.mark.parametrize(
    ("declared", "key", "text", "remedy"),
    [
        ({"hwsku": "ACS-MSN4701"}, "hwsku", "hwsku 'ACS-MSN4701' belongs to no known chip", "mean ACS-MSN4700?"),
        ({"model": "Box 9000"}, "model", "model 'Box 9000' belongs to no known chip", "state asic"),
        ({}, "asic", "neither asic nor model nor hwsku is stated", "state asic"),
    ],
)
def test_unknown_chip_is_warned_about_at_its_line(declared: dict[str, str], key: str, text: str, remedy: str) -> None:
    problem = plan(lab.rack(asic=None, declared=declared)).problems[0]
    assert problem.warning and text in problem.text and "most demanding chip" in problem.text
    assert remedy in problem.remedy
    assert problem.field == ("hosts", "leaf1", key)


def test_model_tells_the_asic() -> None:
    made = plan(lab.rack(asic=None, declared={"hwsku": "DellEMC-Z9332f-O32"}))
    roce = port(made, "leaf1", "Ethernet0").setting.qos.priority(3)
    assert roce is not None and roce.headroom_bytes == 178_562  # its table at 5 m


def test_facts_win_over_the_inventory() -> None:
    made = plan(lab.rack(), {"leaf1": "Tomahawk 5"})
    one, two = port(made, "leaf1", "Ethernet0").setting, port(made, "leaf2", "Ethernet0").setting
    assert one is not two
    roce = one.qos.priority(3)
    # the Tomahawk 5 table has 393192 B at 400G and 5 m
    assert roce and roce.headroom_bytes and 385_000 < roce.headroom_bytes < 400_000
    assert "the device is believed" in made.devices["leaf1"].assumptions[0].text


@pytest.mark.parametrize(
    ("medium", "metres"), [("dac", 3.0), ("aoc", 30.0), ("sr", 100.0), ("dr", 500.0), (None, 30.0)]
)
def test_missing_cable_length(medium: str | None, metres: float) -> None:
    made = plan(lab.rack(cable_m=None, medium=medium, servers=1))
    item = port(made, "leaf1", "Ethernet0")
    assert item.setting.qos.cable_m == metres
    assert any("length not stated" in text.text for text in made.devices["leaf1"].assumptions)
    assert any("length not stated" in text.text for text in made.devices["gpu01"].assumptions)


def test_missing_speed() -> None:
    problems = plan(lab.rack(speed=None)).problems
    assert any("speed" in item.text and "links.yaml" in item.remedy for item in problems if not item.warning)


def test_buffer_that_does_not_fit() -> None:
    made = plan(lab.rack(asic="Tomahawk 3", servers=8, leaves=1, rails=4, cable_m=10_000.0, medium="lr"))
    problem = next(item for item in made.problems if not item.warning)
    assert problem.where == "leaf1" and "32 x backend-400g-10km" in problem.text
    assert problem.remedy.count(";") == 2 and "over-subscribed 3.27 times" in problem.remedy


def test_dscp_with_two_meanings() -> None:
    clash = lab.profile(lab.STORAGE, classes={"storage": {"dscp": (26,)}})
    made = plan(lab.rack(storage=clash))
    texts = errors(made)
    assert any("DSCP 26 means priority 3" in text and "4" in text for text in texts)
    places = {item.where for item in made.problems if "DSCP 26" in item.text}
    assert places == {"leaf2 and 4 more devices"}


def test_two_networks_that_both_set_nccl() -> None:
    both = lab.profile(lab.STORAGE, classes={"storage": {"marking": {"by": ("nccl",)}}})
    made = plan(lab.rack(storage=both))
    assert dict(made.devices["gpu01"].qos.environment)["NCCL_IB_TC"] == "106"  # eight rails against one port
    warning = next(item for item in made.problems if "NCCL_IB_TC" in item.text)
    assert warning.warning and "82" in warning.text


def test_pfc_only() -> None:
    training = lab.profile(lab.TRAINING, dcqcn={"enabled": False}, classes={"roce": {"ecn": "off"}})
    made = plan(lab.rack(training))
    roce = port(made, "leaf1", "Ethernet0").setting.qos.priority(3)
    host = port(made, "gpu01", "rail0").setting.qos.host
    assert roce and host
    assert (roce.pfc, roce.ecn, roce.kmin_bytes) == (True, False, None)
    assert roce.headroom_bytes == 696 * 254
    assert host.rp_priorities == host.np_priorities == frozenset()
    assert host.cnp_dscp is None


def test_lossy() -> None:
    roce = {"lossless": False, "pfc": None, "ecn": {"objective": "latency"}}
    made = plan(lab.rack(lab.profile(lab.TRAINING, classes={"roce": roce})))
    item = port(made, "leaf1", "Ethernet0").setting.qos.priority(3)
    host = port(made, "gpu01", "rail0").setting.qos.host
    assert item and host
    assert (item.pfc, item.headroom_bytes, item.alpha, item.watchdog) == (False, None, None, None)
    assert (item.ecn, item.kmin_bytes, item.kmax_bytes) == (True, 200_000, 800_000)
    assert host.rp_priorities == frozenset({3}) and host.storm_prevention_ms is None
    assert port(made, "leaf1", "Ethernet0").setting.qos.watchdog is None


def test_static_thresholds() -> None:
    made = plan(lab.rack(lab.profile(lab.TRAINING, classes={"roce": {"pfc": {"xoff": 300_000}}})))
    roce = port(made, "leaf1", "Ethernet0").setting.qos.priority(3)
    assert roce is not None
    assert (roce.xoff_bytes, roce.xon_bytes, roce.alpha) == (
        300_000,
        300_000 - 73 * 254,
        None,
    )  # two frames of 9216 B, in whole cells


def test_dcqcn_sets() -> None:
    scaled = port(plan(lab.rack(lab.profile(lab.TRAINING, dcqcn={"preset": "scaled"}))), "gpu01", "rail0")
    assert scaled.setting.qos.host and scaled.setting.qos.host.dcqcn == (("rpg_ai_rate", 80), ("rpg_hai_rate", 800))
    wrong = plan(lab.rack(lab.profile(lab.TRAINING, dcqcn={"parameters": {"rpg_ai_rat": 5}})))
    assert any("rpg_ai_rate" in text for text in errors(wrong))


def test_nic_marks_where_the_profile_says_so() -> None:
    training = lab.profile(lab.TRAINING, classes={"roce": {"marking": {"by": ("nic",), "ecn_bits": "not-ect"}}})
    host = port(plan(lab.rack(training)), "gpu01", "rail0").setting.qos.host
    assert host is not None and (host.traffic_class, host.roce_tos) == (104, None)


def test_deeper_fabrics_have_longer_round_trips() -> None:
    fabric = lab.rack()
    devices = {**fabric.devices, "leaf1": replace(fabric.devices["leaf1"], role="core")}
    roce = port(plan(replace(fabric, devices=devices)), "leaf2", "Ethernet0").setting.qos.priority(3)
    assert roce is not None and roce.kmin_bytes == 600_000  # 400G x 12 us


def test_contradicting_overrides_are_a_problem_not_a_crash() -> None:
    overrides = (
        {"match": {"role": "gpu"}, "mtu": 4300},
        {"match": {"group": "gpus"}, "host_mtu": 9000},
    )
    texts = errors(plan(lab.rack(lab.profile(lab.TRAINING, host_mtu=4200, overrides=overrides))))
    assert any("contradict" in text for text in texts)


def test_a_headroom_pool_that_holds_less_than_half_is_warned_of() -> None:
    """192 groups of a Z9332F at 100G with 290000 B each, against SONiC's pool of 27200352 B there."""
    two = lab.profile(
        lab.TRAINING,
        classes={
            "roce": {"bandwidth": 40.0, "pfc": {"headroom": 290_000}},
            "second": {
                "dscp": (28,),
                "priority": 4,
                "lossless": True,
                "bandwidth": 10.0,
                "pfc": {"headroom": 290_000},
            },
        },
    )
    declared = {"model": "Z9332F-ON"}
    fabric = lab.rack(two, servers=24, leaves=1, rails=4, cable_m=3.0, speed=100_000, declared=declared)
    fabric = replace(fabric, networks={**fabric.networks, "storage": replace(fabric.networks["storage"], profile=None)})
    made = plan(fabric)
    text = "over-subscribed 2.05 times, a synchronised incast may run out of it"  # 192 x 290000 / 27200352
    assert any(item.warning and text in item.text for item in made.problems), made.problems


def test_more_port_speed_than_the_chip_switches_is_warned_of() -> None:
    """A Tomahawk 3 switches 12800 Gbit/s: 31 x 400G with 31 x 100G of storage are more, 25 of each are not."""
    for servers, warned in ((31, True), (25, False)):
        made = plan(lab.rack(lab.profile(lab.TRAINING), servers=servers, leaves=1, rails=1))
        told = [item for item in made.problems if "Tomahawk 3 switches 12,800" in item.text and item.warning]
        assert bool(told) is warned, made.problems
        assert all(f"{31 * 500:,} Gbit/s" in item.text for item in told)

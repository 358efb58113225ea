"""The derivation of a port's numbers, as text and as data."""

import json
from types import MappingProxyType

import pytest

from rocetune.model.fabric import Device, Port
from rocetune.model.plan import Assumption, DevicePlan, Plan, PlanProblem, PortPlan, Setting, Why
from rocetune.model.profile import Profile
from rocetune.model.qos import PortQos, PriorityQos
from rocetune.report.explain import explain, explain_json, explain_text


@pytest.fixture
def plan() -> Plan:
    profile = Profile.model_validate(
        {"name": "training", "classes": {"default": {"priority": 0, "bandwidth": 100.0}}},
    )
    roce = PriorityQos(3, "roce", dscps=(26,), lossless=True, headroom_bytes=176784)
    headroom = Why(
        "headroom.preset",
        (("speed_mbps", 400_000), ("cable_m", 2.0)),
        ("base + t0 x R = 175,250 B", "= 176,768 B -> 176,784 B"),
        ("raised to the floor",),
        "up to 696 cells of 254 B",
        "a published table",
    )
    why = {
        ("mtu_bytes",): Why(
            "profile", (("mtu", 9216),), source="profile training: mtu, decided by override 1 (role=leaf)"
        ),
        ("priorities", 3, "dscps"): Why("profile", source="profile training: classes.roce.dscp"),
        ("priorities", 3, "headroom_bytes"): headroom,
    }
    qos = PortQos(mtu_bytes=9216, speed_mbps=400_000, cable_m=2.0, priorities=(roce,))
    winners = (("mtu", "override 1 (role=leaf)"),)
    setting = Setting("backend-400g-2m", "backend", profile, qos, MappingProxyType(why), winners)
    ports = [
        Port("leaf1", f"Ethernet{number}", network="backend", speed_mbps=400_000, peer=("gpu01", f"rail{number}"))
        for number in (1, 2, 3)
    ]
    device = DevicePlan(
        Device("leaf1", "switch", "sonic", "leaf"),
        tuple(PortPlan(port, port.name, setting) for port in ports),
        assumptions=(Assumption("leaf1", "cable length not stated", "state length"),),
        why={("buffer",): Why("buffer.fit", (), ("S = 66 MB - 3 MB",))},
        left_out={"Ethernet9": "belongs to no network"},
    )
    problems = (
        PlanProblem("leaf1", "kmax is high", "lower it", "training", warning=True),
        PlanProblem("leaf2", "another switch's trouble", "", "training"),
    )
    assumptions = (Assumption("network backend", "8 us assumed"), Assumption("network storage", "12 us assumed"))
    return Plan({"leaf1": device}, (setting,), assumptions, problems)


def test_one_port(plan: Plan) -> None:
    text = explain_text(plan, "leaf1:Ethernet2")
    assert text.startswith("leaf1:Ethernet2 -> gpu01:rail2\nsetting backend-400g-2m: network backend, profile training")
    assert "headroom = 176,784 B (176.8 KB, 3.54 us)" in text
    for part in (
        "base + t0 x R = 175,250 B",
        "bound: raised to the floor",
        "rounded up to 696 cells",
        "published table",
    ):
        assert part in text
    assert "mtu decided by override 1 (role=leaf)" in text
    assert "S = 66 MB - 3 MB" in text and "cable length not stated (state length)" in text
    assert "kmax is high" in text and "another switch's trouble" not in text
    assert "priority 3: roce (lossless)" in text
    assert "8 us assumed" in text and "12 us assumed" not in text


def test_whole_device_says_each_setting_once(plan: Plan) -> None:
    text = explain_text(plan, "leaf1")
    assert "Ethernet1-Ethernet3" in text
    assert text.count("headroom = ") == 1


def test_one_leaf(plan: Plan) -> None:
    lines = explain(plan, "leaf1", "Ethernet1", ("priorities", 3, "headroom_bytes")).splitlines()
    assert lines[0].startswith("headroom = ") and lines[-1].strip().startswith("rule headroom.preset")
    with pytest.raises(LookupError, match="kmin_bytes"):
        explain(plan, "leaf1", "Ethernet1", ("priorities", 3, "kmin_bytes"))


def test_as_data(plan: Plan) -> None:
    document = json.loads(explain_json(plan, "leaf1:Ethernet1"))
    assert document["ports"] == {"Ethernet1": "backend-400g-2m"}
    values = {tuple(item["path"]): item for item in document["settings"]["backend-400g-2m"]["values"]}
    headroom = values["priorities", 3, "headroom_bytes"]
    assert headroom["value"] == 176784
    assert headroom["why"]["inputs"] == {"speed_mbps": 400_000, "cable_m": 2.0}


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("leaf2", "did you mean leaf1"),
        ("leaf1:Ethernet22", "did you mean"),
        ("leaf1:x", "Ethernet1-Ethernet3"),
        ("leaf1:Ethernet9", "^leaf1:Ethernet9 belongs to no network$"),
        ("", "no"),
    ],
)
def test_unknown_names(plan: Plan, where: str, text: str) -> None:
    with pytest.raises(LookupError, match=text):
        explain_text(plan, where)

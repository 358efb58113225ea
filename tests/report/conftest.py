"""A small diff of the demo rack's shape: one switch, two equal servers, one that could not be read."""

import pytest

from rocetune.model.change import Change, Comparison, Impact, Phase, Step
from rocetune.model.fabric import Device, Port
from rocetune.model.outcome import DeviceDiff, DiffReport
from rocetune.model.plan import Assumption, DevicePlan, PortPlan, Setting, Unsupported, Why
from rocetune.model.profile import Profile
from rocetune.model.qos import PortQos, PriorityQos

PROFILE = Profile.model_validate(
    {"name": "ai-training", "classes": {"roce": {"dscp": [26], "priority": 3, "lossless": True, "bandwidth": "100%"}}}
)
KMIN = Why(
    "ecn.bdp",
    inputs=(("speed_mbps", 400_000), ("rtt_us", 3.0)),
    steps=("400 Gbit/s x 3 us / 8 = 150000 B",),
    rounding="150000 B is written as 150 kbytes",
    source="profiles/ai-training.yaml:12",
)


def _plan() -> DevicePlan:
    qos = PortQos(priorities=(PriorityQos(3, name="roce", kmin_bytes=150_000, pfc=True),))
    setting = Setting("backend-400g-2m", "backend", PROFILE, qos, {("priorities", 3, "kmin_bytes"): KMIN})
    ports = tuple(
        PortPlan(Port("leaf1", f"Ethernet{n}/1", speed_mbps=400_000), f"Ethernet{n}/1", setting) for n in range(1, 17)
    )
    return DevicePlan(Device("leaf1", "switch", "arista_eos"), ports)


def _changes() -> tuple[Change, ...]:
    found = []
    for number in range(1, 17):
        port = f"Ethernet{number}/1"
        found.append(
            Change(
                (f"interface {port}", "tx-queue 3", "ecn minimum-threshold"),
                "change",
                "1500 kbytes",
                "150 kbytes",
                Phase.SCHEDULER,
                Impact.BRIEF_LOSS,
                origin=(port, "priorities", 3, "kmin_bytes"),
                why=KMIN,
            )
        )
    found.append(
        Change(
            ("qos map dscp", "26"),
            "add",
            None,
            "3",
            Phase.BUFFERS,
            Impact.MARKING,
            touches=("Ethernet31/1", "Ethernet32/1"),
            origin=("", "dscp_to_priority", 26),
        )
    )
    found.append(Change(("qos profile OLD",), "remove", "", None, Phase.SCHEDULER, Impact.NONE))
    return tuple(found)


@pytest.fixture
def report() -> DiffReport:
    """One changed switch, two servers with the same change, one server without any, one unreachable."""
    leaf = DeviceDiff(
        "leaf1",
        "arista_eos",
        Comparison(_changes(), adopted=(("qos map dscp", "48"),)),
        steps=(
            Step("config", "qos map dscp 26 to traffic-class 3", "no qos map dscp 26"),
            Step("config", "no qos profile OLD", "qos profile OLD\n   priority-flow-control on"),
        ),
        unsupported=(Unsupported("leaf1", ("storm",), "there is no storm timer on this platform"),),
        assumptions=(Assumption("leaf1", "the shared buffer is 64 MB", "read it with show platform"),),
        facts_source="device",
        plan=_plan(),
    )
    pfc = Change(
        ("rail0", "pfc"), "change", "0,0,0,0", "0,0,0,1", Phase.SERVER, Impact.LINK_BOUNCE, note="the link bounces"
    )
    servers = tuple(
        DeviceDiff(name, "linux", Comparison((pfc,)), steps=(Step("put", "new", "old"),), facts_source="device")
        for name in ("gpu01", "gpu02")
    )
    rest = (DeviceDiff("gpu03", "linux"), DeviceDiff("gpu04", "linux", error="connection refused"))
    return DiffReport((*servers, *rest, leaf), live=True)

"""Native values are converted only where the plan proves the unit."""

import pytest

from rocetune.model.change import Change, Impact, Phase
from rocetune.model.fabric import Device, Port
from rocetune.model.plan import DevicePlan, PortPlan, Setting
from rocetune.model.profile import Profile
from rocetune.model.qos import PortQos, PriorityQos
from rocetune.report.amounts import meaning

CLASSES = {"roce": {"dscp": [26], "priority": 3, "lossless": True, "bandwidth": "100%"}}
PROFILE = Profile.model_validate({"name": "x", "classes": CLASSES})
ROCE = PriorityQos(3, name="roce", kmin_bytes=400_000, kmax_bytes=1_600_000, headroom_bytes=25_400)
SETTING = Setting("s", "backend", PROFILE, PortQos(priorities=(ROCE,)), {})
PLAN = DevicePlan(
    Device("leaf1", "switch", "x"), (PortPlan(Port("leaf1", "e1", speed_mbps=400_000), "Ethernet1/1", SETTING),)
)


def _change(old: str | None, new: str | None, leaf: str) -> Change:
    origin = ("Ethernet1/1", "priorities", 3, leaf)
    return Change(("k",), "change", old, new, Phase.SCHEDULER, Impact.NONE, origin=origin)


@pytest.mark.parametrize(
    ("old", "new", "leaf", "shown"),
    [
        # 400 KB at 400 Gbit/s is 8 us
        ("800000", "400000", "kmin_bytes", "800000 (800 KB, 16 us) → 400000 (400 KB, 8 us)"),
        (None, "400 kbytes", "kmin_bytes", "– → 400 kbytes (400 KB, 8 us)"),
        # 100 cells are 25400 B in the plan, so 50 cells were 12.7 KB
        ("cells 50", "cells 100", "headroom_bytes", "cells 50 (12.7 KB, 0.254 us) → cells 100 (25.4 KB, 0.508 us)"),
        (
            "min 1 max 2 KB",
            "min 400 max 1600",
            "kmin_bytes",
            "min 1 max 2 KB → min 400 max 1600 (kmin 400 KB, 8 us; kmax 1.6 MB, 32 us)",
        ),
        (
            "min 100 max 1600",
            "min 400 max 1600",
            "kmin_bytes",
            "min 100 max 1600 (kmin 100 KB, 2 us; kmax 1.6 MB, 32 us) → "
            "min 400 max 1600 (kmin 400 KB, 8 us; kmax 1.6 MB, 32 us)",
        ),
        ("", None, "kmin_bytes", "set → –"),
        ("3", "on", "pfc", "3 → on"),
    ],
)
def test_amounts(old: str | None, new: str | None, leaf: str, shown: str) -> None:
    about = meaning(_change(old, new, leaf), PLAN)
    assert f"{about.old} → {about.new}" == shown


def test_without_a_plan_nothing_is_guessed() -> None:
    about = meaning(_change("1", "2", "kmin_bytes"), None)
    assert (str(about.old), str(about.new), about.subject) == ("1", "2", "priority 3 ECN kmin")

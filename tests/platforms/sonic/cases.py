"""Case folders: each holds a ``case.yaml`` with what goes in and what must come out. A new case needs no Python.

``render``: how to build the plan (``ports``, ``declared``, ``globals_mode``, ``qos``: leaves of the RoCE class,
``pfc``: numbers that the profile fixes, ``lossless``), against ``expected.json``.
``read``: command to file, against leaves by port, settings and counters.
``steps``: ``running.json`` and ``desired.json`` (complete databases), against the kinds of steps and what they load.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan
from rocetune.model.qos import PortQos
from rocetune.platforms.sonic import PLATFORM
from tests.platforms.builders import AI_TRAINING, rail_qos, setting, sonic_leaf

HERE = Path(__file__).resolve().parent
CASES: dict[str, Any] = {
    path.parent.name: yaml.safe_load(path.read_text()) for path in sorted(HERE.glob("*/case.yaml"))
}


def lossy(qos: PortQos) -> PortQos:
    """The same rail without a lossless class."""
    kept = tuple(
        replace(entry, lossless=False, pfc=False, watchdog=None, headroom_bytes=None, alpha=None)
        for entry in qos.priorities
    )
    return replace(qos, priorities=kept, watchdog=None)


def planned(given: dict[str, Any]) -> DevicePlan:
    """The plan that a case describes, before it is fitted."""
    given = dict(given)
    qos = rail_qos(**given.pop("qos", {}))
    if not given.pop("lossless", True):
        qos = lossy(qos)
    intent = dict(AI_TRAINING)
    if "pfc" in given:
        roce = {**AI_TRAINING["classes"]["roce"], "pfc": given.pop("pfc")}
        intent["classes"] = {**AI_TRAINING["classes"], "roce": roce}
    declared = given.pop("declared", None)
    plan = sonic_leaf(given.pop("ports", 2), setting(qos=qos, intent=intent), **given)
    if declared is not None:
        plan = replace(plan, device=replace(plan.device, declared=declared))
    return plan


def fitted_case(name: str) -> tuple[DevicePlan, Facts]:
    """The fitted plan of a render case and the declared facts that it was fitted to."""
    plan = planned(CASES[name]["render"])
    facts = PLATFORM.declared(plan)
    return PLATFORM.fit(plan, facts), facts

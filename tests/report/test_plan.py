"""The plan at a glance, and as JSON: a settings table that devices refer to."""

import json

from rocetune.model.outcome import DiffReport
from rocetune.model.plan import Assumption, Plan, PlanProblem
from rocetune.report.plan import plan_json, plan_markdown, plan_text, problems_text, summary


def _plan(report: DiffReport) -> Plan:
    device = report.devices[-1].plan
    assert device is not None
    problem = PlanProblem(
        "leaf1", "the headroom does not fit", "use shorter cables", "ai-training", ("classes", "roce")
    )
    assumed = Assumption("leaf1", "64 MB shared buffer", "declare it")
    return Plan({"leaf1": device}, (device.ports[0].setting,), (assumed,), (problem,))


def test_each_setting_once_with_bytes_microseconds_and_places(report: DiffReport) -> None:
    text = plan_text(_plan(report), ["leaf1"])
    assert text.count("backend-400g-2m") == 1
    assert "150 KB (3 us)" in text
    assert "on leaf1: Ethernet1/1-Ethernet16/1" in text
    assert "leaf1: 64 MB shared buffer (declare it)" in text


def test_problems_say_place_field_and_remedy(report: DiffReport) -> None:
    lines = problems_text(_plan(report).problems).splitlines()
    assert lines == ["error: leaf1: the headroom does not fit (ai-training: classes.roce)", "  = use shorter cables"]


def test_summary_is_last(report: DiffReport) -> None:
    plan = _plan(report)
    assert plan_text(plan, ["leaf1"]).splitlines()[-1] == summary(plan, ["leaf1"])
    assert summary(plan, ["leaf1"]) == "1 device, 16 planned ports, 1 distinct setting; 1 number cannot be."


def test_json_holds_a_setting_once_and_refers_to_it(report: DiffReport) -> None:
    document = json.loads(plan_json(_plan(report), ["leaf1"]))
    assert document["format"] == "rocetune.plan/1"
    assert list(document["settings"]) == ["backend-400g-2m"]
    assert document["devices"]["leaf1"]["ports"]["Ethernet1/1"]["setting"] == "backend-400g-2m"
    why = document["settings"]["backend-400g-2m"]["why"][0]
    assert why["path"] == ["priorities", 3, "kmin_bytes"] and why["rule"] == "ecn.bdp"
    assert document["problems"][0]["remedy"] == "use shorter cables"


def test_markdown(report: DiffReport) -> None:
    assert "| roce | 3 |" in plan_markdown(_plan(report), ["leaf1"])

"""Render, load through the real driver into the emulated switch, read back: the plan, and nothing of anybody else's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rocetune.model.plan import DevicePlan, PortPlan
from rocetune.model.qos import Watchdog, leaves
from rocetune.platforms.arista_eos import PLATFORM
from tests.platforms.arista_eos.push import push
from tests.platforms.arista_eos.rig import Rig
from tests.platforms.builders import STORAGE, eos_leaf, rail_qos, setting

NOT_OBSERVED = {"name", "lossless", "owned", "dscps", "cable_m", "dscp_to_priority"}


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(eos_leaf(2), tmp_path)


def other_plan() -> DevicePlan:
    """Another intent for the same ports: other thresholds, other timers, another name."""
    qos = rail_qos(kmin_bytes=300_000, kmax_bytes=900_000, pmax_percent=5.0, headroom_bytes=120_000, alpha=0.25)
    qos = replace(qos, watchdog=Watchdog(detect_ms=100, restore_ms=300, action="drop"), mtu_bytes=9000)
    return eos_leaf(2, setting("backend-400g-30m", qos))


def assert_state_equals(rig: Rig, plan: DevicePlan) -> None:
    state = rig.state()
    fitted = rig.fitted(plan)
    for item in fitted.managed:
        seen = dict(leaves(state.ports[item.native]))
        for path, want in leaves(item.setting.qos):
            if path[-1] in NOT_OBSERVED:
                continue
            entry = item.setting.qos.priority(int(path[1])) if path[0] == "priorities" else None
            if entry is not None and not entry.owned:
                continue
            assert seen.get(path) == want, (item.native, path)
        points = state.ports[item.native].dscp_to_priority
        assert points is not None
        for dscp, priority in plan.qos.dscp_to_priority:
            assert points[dscp] == priority


def test_push_reads_back_as_the_plan_and_a_second_one_has_nothing_to_do(rig: Rig) -> None:
    push(rig, rig.changes())
    assert_state_equals(rig, rig.plan)
    assert rig.changes() == ()
    assert rig.session().ready() == ()


def test_foreign_lines_survive(rig: Rig) -> None:
    before = rig.running_text()
    push(rig, rig.changes())
    after = rig.running_text().splitlines()
    missing = [line for line in before.splitlines() if line.strip("! ") and line not in after]
    assert missing == []
    assert "qos map dscp 34 to traffic-class 5" in after


def test_a_then_b_equals_b_on_a_clean_switch(rig: Rig, tmp_path: Path) -> None:
    push(rig, rig.changes())
    push(rig, rig.changes(other_plan()))
    clean = Rig(other_plan(), tmp_path / "clean")
    push(clean, clean.changes())
    assert rig.running_text() == clean.running_text()
    assert_state_equals(rig, other_plan())


def test_rollback_of_a_finished_run_equals_before(rig: Rig) -> None:
    before_text, before = rig.running_text(), rig.running()
    push(rig, rig.changes())
    push(rig, rig.back_to(before))
    assert rig.running_text() == before_text


def test_rollback_between_two_intents(rig: Rig) -> None:
    push(rig, rig.changes())
    text, before = rig.running_text(), rig.running()
    push(rig, rig.changes(other_plan()))
    push(rig, rig.back_to(before))
    assert rig.running_text() == text


def test_steps_and_their_undo_are_a_circle(rig: Rig) -> None:
    """All steps of all phases in one session, then every inverse backwards: the session differs in nothing."""
    for plan in (rig.plan, other_plan()):
        changes = rig.changes(plan)
        steps = PLATFORM.steps(changes, rig.running(), rig.facts)
        lines = [line for step in steps for line in step.do.splitlines()]
        lines += [line for step in reversed(steps) for line in step.undo.splitlines()]
        driver = rig.driver()
        driver.load_merge_candidate(config="\n".join(lines))
        assert driver.compare_config() == ""
        driver.discard_config()
        push(rig, changes)


def test_a_port_that_moves_to_a_new_profile_never_stands_without_pfc(rig: Rig) -> None:
    push(rig, rig.changes())
    changes = rig.changes(other_plan())
    scheduler = [change for change in changes if change.phase.name == "SCHEDULER" and change.op != "remove"]
    steps = PLATFORM.steps(scheduler, rig.running(), rig.facts)
    made = next(step for step in steps if step.do.startswith("qos profile ROCETUNE-BACKEND-400G-30M"))
    assert "priority-flow-control priority 3 no-drop" in made.do


def test_two_networks_on_one_switch(tmp_path: Path) -> None:
    storage_qos = rail_qos()
    four = replace(storage_qos.priority(3), priority=4, name="storage", dscps=(20,))  # type: ignore[type-var]
    kept = tuple(entry for entry in storage_qos.priorities if entry.priority != 3)
    storage_qos = replace(
        storage_qos, priorities=tuple(sorted((*kept, four), key=lambda e: e.priority)), mtu_bytes=9000
    )
    storage = setting("storage-100g-3m", storage_qos, STORAGE)
    plan = eos_leaf(2, dscps=((20, 4), (26, 3), (48, 6)))
    second = plan.ports[1]
    plan = replace(plan, ports=(plan.ports[0], PortPlan(second.port, second.native, storage)))
    rig = Rig(plan, tmp_path)
    push(rig, rig.changes())
    assert_state_equals(rig, plan)
    assert rig.changes() == ()


def test_exclusive_map_moves_unnamed_dscps_to_the_default_class(tmp_path: Path) -> None:
    rig = Rig(eos_leaf(1, globals_mode="exclusive"), tmp_path)
    push(rig, rig.changes())
    points = rig.state().ports["Ethernet1/1"].dscp_to_priority
    assert points is not None
    assert (points[26], points[48], points[27], points[34], points[8]) == (3, 6, 0, 0, 0)
    assert set(points[56:]) == {7}
    assert rig.changes() == ()


def test_a_profile_stays_while_a_port_outside_the_scope_uses_it(rig: Rig) -> None:
    push(rig, rig.changes())
    only = replace(other_plan(), ports=other_plan().ports[:1])
    push(rig, rig.changes(only))
    text = rig.running_text()
    assert "qos profile ROCETUNE-BACKEND-400G-2M" in text
    assert rig.changes(only) == ()


def test_removal_of_everything_leaves_the_factory_state_but_for_shared_objects(rig: Rig) -> None:
    push(rig, rig.changes())
    nothing = replace(rig.plan, ports=())
    assert [c for c in rig.changes(nothing) if c.key[0] == "interface"] == []  # a vanished port loses nothing


def test_switched_port_gets_no_mtu_line(tmp_path: Path) -> None:
    rig = Rig(eos_leaf(2), tmp_path)
    rig.driver()._run_commands(["configure", "interface Ethernet2/1", "switchport"])
    rig.facts = rig.read_facts()
    rendered = PLATFORM.render(rig.fitted(), rig.facts).text
    assert rendered.count("   mtu 9214") == 1
    push(rig, rig.changes())
    assert_state_equals(rig, rig.plan)

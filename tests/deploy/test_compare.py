"""The comparison: ownership, globals modes, and the algebra that rollback stands on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocetune.deploy.compare import Ownership, Scope, Unowned, applied, compare, missing
from rocetune.deploy.restore import restoring
from rocetune.model.change import Impact, KeyRule, Phase

RULES = (
    KeyRule(("map", "*"), Phase.BUFFERS, Impact.MARKING, scope="global"),
    KeyRule(("profile", "ROCETUNE-*"), Phase.SCHEDULER, Impact.NONE, scope="ours"),
    KeyRule(("port", "{port}", "pfc"), Phase.PFC, Impact.LINK_BOUNCE),
    KeyRule(("QUEUE", "{port}|*", "scheduler"), Phase.SCHEDULER, Impact.NONE),
)
SCOPE = Scope(frozenset({"eth1", "Ethernet1/1"}), "extend", ("eth9",))


def ops(comparison):
    return [(change.op, change.key) for change in comparison.changes]


def test_foreign_keys_and_unmanaged_ports_are_never_mentioned():
    running = {("ntp", "server"): "x", ("port", "eth9", "pfc"): "on", ("profile", "OTHER"): "y"}
    assert compare(running, {}, RULES, SCOPE).changes == ()


def test_stale_own_objects_are_removed_and_what_matches_is_adopted():
    running = {("profile", "ROCETUNE-A", "queue"): "1", ("port", "eth1", "pfc"): "3"}
    found = compare(running, {("port", "eth1", "pfc"): "3"}, RULES, SCOPE)
    assert ops(found) == [("remove", ("profile", "ROCETUNE-A", "queue"))]
    assert found.adopted == (("port", "eth1", "pfc"),)


@pytest.mark.parametrize(
    ("mode", "expected", "refused"),
    [
        ("extend", [("change", ("map", "26"))], 0),
        ("exclusive", [("change", ("map", "26")), ("remove", ("map", "46"))], 0),
        ("refuse", [], 1),
    ],
)
def test_switch_wide_objects_obey_the_globals_mode(mode, expected, refused):
    running = {("map", "26"): "1", ("map", "46"): "5"}
    found = compare(running, {("map", "26"): "3"}, RULES, Scope(frozenset(), mode, ("eth9",)))
    assert ops(found) == expected
    assert len(found.refused) == refused
    assert all(change.touches == ("eth9",) for change in (*found.changes, *found.refused))


def test_a_port_inside_a_key_element_decides_ownership():
    ownership = Ownership(RULES, {"Ethernet1/1"})
    assert ownership.rule(("QUEUE", "Ethernet1/1|3", "scheduler")) is not None
    assert ownership.rule(("QUEUE", "Ethernet1/10|3", "scheduler")) is None


def test_a_rendered_key_that_no_rule_owns_is_a_defect():
    with pytest.raises(Unowned, match="hostname"):
        compare({}, {("hostname",): "x"}, RULES, SCOPE)


KEYS = st.sampled_from([("map", "1"), ("map", "2"), ("profile", "ROCETUNE-A"), ("port", "eth1", "pfc")])
CONFIGS = st.dictionaries(KEYS, st.sampled_from(["a", "b", "c"]))
EXCLUSIVE = Scope(frozenset({"eth1"}), "exclusive")


@given(CONFIGS, CONFIGS)
def test_applying_the_changes_gives_the_desired_side_and_then_nothing_is_left(running, desired):
    found = compare(running, desired, RULES, EXCLUSIVE)
    result = applied(running, found.changes)
    assert result == desired
    assert missing(result, found.changes) == ()
    assert compare(result, desired, RULES, EXCLUSIVE).changes == ()


@given(CONFIGS, CONFIGS, CONFIGS)
def test_rollback_restores_what_the_run_touched_and_leaves_the_rest(before, desired, noise):
    found = compare(before, desired, RULES, EXCLUSIVE)
    touched = {change.key: change.old for change in found.changes}
    later = dict(applied(before, found.changes))
    later.update({key: value for key, value in noise.items() if key not in touched})
    restored, changes = restoring(later, touched, RULES)
    assert all(restored.get(key) == before.get(key) for key in touched)
    assert applied(later, changes) == restored
    assert all(restored.get(key) == later.get(key) for key in later.keys() - touched.keys())

"""Each mis-setting of the lab is seen by read(), put right by the next push, and its remedy is a line EOS takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocetune.lab.device import Fault
from rocetune.model.qos import leaf
from rocetune.platforms.arista_eos import PLATFORM
from tests.platforms.arista_eos.push import push
from tests.platforms.arista_eos.rig import Rig
from tests.platforms.builders import eos_leaf

PORT = "Ethernet2/1"
CASES: list[tuple[Fault, tuple[Any, ...], Any, Any]] = [
    (Fault("wrong_trust", PORT), ("trust",), "pcp", "dscp"),
    (Fault("mtu", PORT, "1500"), ("mtu_bytes",), 1500, 9214),
    (Fault("mtu", PORT, "4000"), ("mtu_bytes",), 4000, 9214),
    (Fault("pfc_missing", PORT), ("priorities", 3, "pfc"), False, True),
    (Fault("ecn_missing", PORT), ("priorities", 3, "ecn"), False, True),
    (Fault("watchdog_off", PORT), ("priorities", 3, "watchdog"), False, True),
    (Fault("watchdog_off"), ("priorities", 3, "watchdog"), False, True),
]


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    made = Rig(eos_leaf(2), tmp_path)
    push(made, made.changes())
    return made


@pytest.mark.parametrize(("fault", "path", "bent", "healthy"), CASES)
def test_seen_and_put_right(rig: Rig, fault: Fault, path: tuple[Any, ...], bent: Any, healthy: Any) -> None:
    rig.emulator.inject(fault)
    assert leaf(rig.state().ports[PORT], path) == bent
    if fault.port:
        assert leaf(rig.state().ports["Ethernet1/1"], path) == healthy
    push(rig, rig.changes())
    assert leaf(rig.state().ports[PORT], path) == healthy
    assert rig.changes() == ()


def test_wrong_map(rig: Rig) -> None:
    rig.emulator.inject(Fault("wrong_map"))
    state = rig.state()
    points = state.ports[PORT].dscp_to_priority
    assert points is not None and points[26] == 2
    assert "26" in state.evidence[(PORT, "dscp_to_priority", 26)].line
    push(rig, rig.changes())
    points = rig.state().ports[PORT].dscp_to_priority
    assert points is not None and points[26] == 3


@pytest.mark.parametrize(
    ("fault", "path", "want"),
    [
        (Fault("wrong_trust", PORT), ("trust",), "dscp"),
        (Fault("mtu", PORT, "1500"), ("mtu_bytes",), 9214),
        (Fault("pfc_missing", PORT), ("priorities", 3, "pfc"), True),
        (Fault("watchdog_off", PORT), ("priorities", 3, "watchdog"), True),
        (Fault("wrong_map"), ("dscp_to_priority", 26), 3),
        (Fault("wrong_map"), ("priorities", 3, "dscps"), (26,)),
        (None, ("priorities", 3, "bandwidth_percent"), 40),
        (None, ("priorities", 6, "scheduling"), "dwrr"),
        (None, ("watchdog", "action"), "notify"),
        (None, ("dcbx",), "ieee"),
        (None, ("link_up",), False),
    ],
)
def test_remedy_typed_by_a_person_is_taken(rig: Rig, fault: Fault | None, path: tuple[Any, ...], want: Any) -> None:
    if fault:
        rig.emulator.inject(fault)
    lines = PLATFORM.remedy((PORT, *path), want, rig.facts)
    switch_wide = path[-1] == "dscps" or path[0] == "dscp_to_priority"
    assert lines[0] == "configure"
    assert (f"interface {PORT}" in lines) is not switch_wide
    rig.driver()._run_commands(list(lines))
    seen = rig.state().ports[PORT]
    if path == ("dscp_to_priority", 26):
        assert seen.dscp_to_priority is not None and seen.dscp_to_priority[26] == 3
    elif path[-1] == "dscps":
        assert 26 in (leaf(seen, path) or ())
    else:
        assert leaf(seen, path) == want


def test_configuration_and_operation_of_pfc_are_told_apart(rig: Rig) -> None:
    assert rig.state().settings[f"pfc_admin.{PORT}"] == "on"
    rig.emulator.inject(Fault("pfc_missing", PORT))
    assert rig.state().settings[f"pfc_admin.{PORT}"] == "off"


def test_startup_that_differs_is_seen(rig: Rig) -> None:
    assert rig.state().settings["startup"] == "equal"
    rig.driver()._run_commands(["configure", "ntp server 192.0.2.9"])
    assert rig.state().settings["startup"] == "differs"
    assert PLATFORM.remedy(("", "startup"), "equal", rig.facts) == ("write memory",)


def test_evidence_is_the_line_itself(rig: Rig) -> None:
    evidence = rig.state().evidence
    assert evidence[(PORT, "trust")].line == "qos trust dscp"
    assert evidence[(PORT, "priorities", 3, "kmin_bytes")].line.startswith("random-detect ecn minimum-threshold 400000")
    assert evidence[(PORT, "priorities", 3, "pfc")].command == "show priority-flow-control"
    assert PORT in evidence[(PORT, "priorities", 3, "pfc")].line


def test_healthy_switch_has_counters_and_no_problems(rig: Rig) -> None:
    state = rig.state()
    assert state.problems == ()
    sample = state.samples[0].counters[PORT]
    assert sample["pfc_rx"] == 0 and sample["watchdog_storms.3"] == 0 and sample["ecn_marked.3"] == 0
    assert "ecn_marked.6" not in sample  # "-" is not counted, never zero
    assert state.settings[f"lldp_neighbors.{PORT}"] == "1"


def test_switch_that_says_nothing_is_unknown_not_healthy() -> None:
    state = PLATFORM.read("leaf1", {}, PLATFORM.declared(eos_leaf(1)))
    assert state.ports == {} and state.samples == () and state.settings == {}

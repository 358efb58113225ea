"""Words, evidence, fixes, order, phases, and the comparison with a baseline."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocetune.doctor.catalogue import entries
from rocetune.doctor.engine import diagnose, worse
from rocetune.model.change import Change, Comparison, Impact, Phase
from rocetune.model.outcome import DoctorReport
from tests.doctor.rack import Rack, empty, healthy

OFF = ("priorities", 3, "pfc")


def test_evidence_is_the_line_with_the_longest_path() -> None:
    rack = healthy().seen("leaf1", "Ethernet1/1", OFF, False)
    rack.evidence("leaf1", ("Ethernet1/1", "priorities"), "show qos interfaces", "a general line")
    rack.evidence("leaf1", ("Ethernet1/1", *OFF), "show priority-flow-control", "Et1/1  No  -  No")
    evidence = rack.finding("PFC-002").evidence
    assert evidence is not None
    assert (evidence.command, evidence.line) == ("show priority-flow-control", "Et1/1  No  -  No")


def test_evidence_of_a_device_setting() -> None:
    rack = healthy().setting("gpu01", "lldpad", "running")
    rack.evidence("gpu01", ("", "lldpad"), "pgrep lldpad", "4711")
    evidence = rack.finding("DCBX-001").evidence
    assert evidence is not None and evidence.line == "4711"


def test_counters_are_their_own_evidence() -> None:
    evidence = healthy().counter("gpu01", "rail0", "storm_errors", 2).finding("STM-006").evidence
    assert evidence is not None
    assert evidence.command == "counters, 2.0 s apart" and evidence.line == "storm_errors 1000 -> 1002"


def test_remedy_gets_native_port_leaf_and_wanted_value() -> None:
    rack = healthy().seen("gpu01", "rail0", ("host", "cnp_dscp"), 4)
    assert rack.finding("CNP-001").fix == ("gpu01: set ens11np0/host/cnp_dscp to 48",)


def test_catalogue_words_where_no_platform_knows_a_command() -> None:
    rack = healthy().seen("gpu01", "rail0", ("host", "cnp_dscp"), 4)
    report = diagnose(rack.case, lambda device, path, want: (), ["CNP-001"])
    assert report.findings[0].fix == ("Set the NIC's CNP DSCP.",)


def test_second_spelling_of_a_leaf_is_tried() -> None:
    rack = healthy().seen("gpu01", "rail0", ("dscp_to_priority",), (0,) * 64)
    asked = []

    def remedy(device: str, path: tuple[str | int, ...], want: object) -> tuple[str, ...]:
        asked.append((path, want))
        return ("mlnx_qos ...",) if path[-1] == "dscp_to_priority" else ()

    report = diagnose(rack.case, remedy, ["MAP-003"])
    assert report.findings[0].fix == ("mlnx_qos ...",)
    assert asked[0] == (("ens11np0", "priorities", 3, "dscps"), (26,))
    table = asked[1][1]
    assert isinstance(table, tuple) and len(table) == 64 and table[26] == 3 and table[0] is None


def test_isolating_command_names_the_switch_port_first() -> None:
    rack = healthy().counter("gpu01", "rail0", "pfc_tx_us.3", 1_900_000)
    assert rack.finding("STM-010").fix == (
        "on leaf1:",
        "leaf1: set Ethernet1/1/storm to isolate",
        "on gpu01:",
        "gpu01: set ens11np0/storm to reset",
    )


def test_isolation_in_words() -> None:
    rack = healthy().counter("gpu01", "rail0", "pfc_tx_us.3", 1_900_000)
    fix = diagnose(rack.case, lambda device, path, want: (), ["STM-010"]).findings[0].fix
    assert len(fix) == 1
    assert fix[0].startswith("With leaf1 Ethernet1/1 out of service, drain gpu01, then reset its NIC rail0")


def test_the_sender_of_a_storm_is_relieved_in_words_beside_the_commands_of_the_switch() -> None:
    rack = healthy().counter("gpu01", "rail0", "pfc_tx_us.3", 1_900_000)
    fix = (
        diagnose(rack.case, lambda device, path, want: ("shutdown",) if device == "leaf1" else (), ["STM-010"])
        .findings[0]
        .fix
    )
    assert fix[:3] == ("on leaf1:", "shutdown", "on gpu01:")
    assert fix[3].startswith("# ") and "drain gpu01, then reset its NIC rail0" in fix[3]


def test_our_own_commands_are_about_the_device_of_the_finding() -> None:
    rack = healthy().setting("gpu01", "persistence", "absent")
    finding = diagnose(rack.case, lambda device, path, want: ("rocetune apply",), ["FW-004"]).findings[0]
    assert finding.fix == ("rocetune --limit gpu01 apply",)
    assert all(not line.startswith("rocetune ") or " --limit " in line for line in rack.judge().findings[0].fix)


@pytest.mark.parametrize("identity", sorted(entries()))
def test_words_of_the_catalogue_are_sentences_or_commands(identity: str) -> None:
    fix = entries()[identity].fix
    assert fix.endswith(".") or fix.startswith(("rocetune ", "sudo "))


def test_a_push_is_offered_where_the_comparison_found_the_leaf() -> None:
    rack = healthy().seen("leaf1", "Ethernet1/1", ("trust",), "none").setting("gpu01", "lldpad", "running")
    assert not any(item.apply for item in rack.judge().findings)  # not compared
    change = Change(("k",), "change", "a", "b", Phase.BUFFERS, Impact.NONE, origin=("Ethernet1/1", "trust"))
    rack.drift = {"leaf1": Comparison((change,)), "gpu01": Comparison()}
    assert {(item.id, item.apply) for item in rack.judge("MAP-002", "DCBX-001").findings} == {
        ("MAP-002", True),
        ("DCBX-001", False),
    }
    rack.drift = {"leaf1": Comparison((replace(change, origin=("Ethernet1/1", "mtu_bytes")),))}
    assert not rack.finding("MAP-002").apply


@pytest.mark.parametrize(("netdev", "offered"), [("ens11np0", True), ("ens12np0", False)])
def test_a_push_is_offered_for_the_nic_that_differs(netdev: str, offered: bool) -> None:
    rack = healthy().seen("gpu01", "rail0", ("host", "cnp_dscp"), 4)
    change = Change(("k",), "change", "a", "b", Phase.SERVER, Impact.NONE, origin=(netdev, "host", "cnp_dscp"))
    rack.drift = {"gpu01": Comparison((change,))}
    assert rack.finding("CNP-001").apply is offered


class TestScope:
    """What lies outside the chosen scope is skipped; what should have been read stays unknown."""

    def limited(self, *outside: str) -> Rack:
        rack = healthy()
        for name in outside:
            del rack.states[name]
        rack.outside = frozenset(outside)
        return rack

    def test_links_that_lead_outside_are_skipped(self) -> None:
        report = self.limited("gpu01", "gpu02", "leaf2").judge()
        assert report.findings == () and report.verdict == "healthy"
        assert report.skipped == 6  # PFC-003 and MTU-002 of three cables

    def test_a_server_alone(self) -> None:
        report = self.limited("leaf1", "leaf2", "gpu02").judge()
        assert report.verdict == "healthy" and report.skipped == 4

    def test_a_device_of_the_scope_that_was_not_read_stays_unknown(self) -> None:
        rack = self.limited("gpu02")
        del rack.states["gpu01"]
        report = rack.judge("PFC-003")
        assert report.verdict == "unknown" and report.skipped == 2
        assert {item.reason for item in report.findings} == {
            "the other end, gpu01 rail0, was not read",
            "the other end, gpu01 rail1, was not read",
        }

    def test_a_storm_from_outside_is_not_called_healthy(self) -> None:
        rack = self.limited("gpu01", "gpu02", "leaf2")
        rack.counter("leaf1", "Ethernet1/1", "pfc_rx.3", 40_000).counter(
            "leaf1", "Ethernet1/1", "pfc_rx_us.3", 1_900_000
        )
        found = rack.judge("STM-010")
        assert found.verdict == "unknown" and "the root may lie behind it" in found.findings[0].reason

    def test_marks_that_only_the_server_counts(self) -> None:
        rack = self.limited("gpu01").counter("leaf1", "Ethernet1/1", "ecn_marked.3", None)
        report = rack.judge("CTR-003")
        assert report.findings == () and report.skipped == 1

    def test_a_name_that_only_the_other_device_could_confirm(self) -> None:
        rack = self.limited("gpu01").neighbor("leaf1", "Ethernet1/1", ("worker-17.example", "ens11np0"))
        assert rack.judge("DCBX-008").findings == () and rack.judge("DCBX-008").skipped == 1
        rack.neighbor("leaf1", "Ethernet1/1", ("gpu02", "ens11np0"))  # another device of ours: the cable is wrong
        assert rack.finding("DCBX-008").verdict == "fail"


def test_unknown_check_id() -> None:
    with pytest.raises(ValueError, match=r"no check 'PFC-01'; did you mean PFC-0"):
        healthy().judge("PFC-01")


def test_worst_first_and_failures_before_unknowns() -> None:
    rack = healthy()
    rack.seen("gpu01", "rail0", ("host", "storm_prevention_ms"), 0)  # warning
    rack.seen("gpu01", "rail1", ("host", "cnp_dscp"), None)  # error, unknown
    rack.seen("gpu02", "rail0", ("link_pause",), True)  # error
    rack.seen("leaf1", "Ethernet1/1", OFF, False)  # critical
    rack.seen("leaf2", "Ethernet0", OFF, None)  # critical, unknown
    order = [(item.verdict, item.severity) for item in rack.judge().findings]
    assert order == sorted(
        order,
        key=lambda pair: (
            ("fail", "unknown").index(pair[0]),
            ("critical", "error", "warning", "info").index(pair[1]),
        ),
    )
    assert rack.judge().findings[0].id == "PFC-002"


def test_device_without_plan_is_left_alone() -> None:
    rack = healthy()
    del rack.plan["gpu02"]
    report = rack.judge("PFC-001")
    assert report.devices == 3 and report.findings == ()


def test_unread_device_makes_its_links_unknown() -> None:
    rack = healthy()
    del rack.states["gpu02"]
    report = rack.judge("PFC-003", "MTU-002")
    assert report.verdict == "unknown"
    assert {(item.device, item.port, item.reason) for item in report.findings} == {
        ("leaf1", "Ethernet2/1", "the other end, gpu02 rail0, was not read"),
        ("leaf2", "Ethernet8", "the other end, gpu02 rail1, was not read"),
    }


class TestLinks:
    """Both ends of a cable are compared once, whichever end is wrong."""

    @pytest.mark.parametrize(("device", "port"), [("leaf1", "Ethernet1/1"), ("gpu01", "rail0")])
    def test_pfc_is_blamed_on_the_end_that_differs_from_the_plan(self, device: str, port: str) -> None:
        finding = healthy().seen(device, port, OFF, False).finding("PFC-003")
        other = {"leaf1": "gpu01 rail0", "gpu01": "leaf1 Ethernet1/1"}[device]
        assert (finding.device, finding.port, finding.peer) == (device, port, other)

    @pytest.mark.parametrize(("device", "port"), [("leaf1", "Ethernet32/1"), ("leaf2", "Ethernet248")])
    def test_two_switches(self, device: str, port: str) -> None:
        assert healthy().seen(device, port, ("mtu_bytes",), 1500).finding("MTU-002").verdict == "fail"

    def test_both_ends_off_is_no_difference(self) -> None:
        rack = healthy().seen("leaf1", "Ethernet1/1", OFF, False).seen("gpu01", "rail0", OFF, False)
        assert rack.judge("PFC-003").findings == ()

    def test_pauses_are_read_at_either_end(self) -> None:
        rack = healthy().counter("leaf1", "Ethernet1/1", "pfc_rx_us.3", 600_000)
        for name in ("pfc_tx.3", "pfc_tx_us.3"):
            rack.counter("gpu01", "rail0", name, None)
        assert rack.finding("STM-001").port == "rail0"


class TestPhases:
    """During a push only what the finished phases should have made true is judged."""

    def factory(self, phase: Phase) -> Rack:
        """A server and a switch port before anything was pushed."""
        rack = healthy()
        rack.phase = phase
        rack.seen("leaf1", "Ethernet1/1", ("dscp_to_priority",), (0,) * 64)
        rack.seen("leaf1", "Ethernet1/1", ("priorities", 3, "ecn"), False)
        rack.seen("leaf1", "Ethernet1/1", OFF, False)
        rack.seen("leaf1", "Ethernet1/1", ("priorities", 3, "watchdog"), False)
        rack.seen("leaf1", "Ethernet1/1", ("link_pause",), True)
        rack.seen("gpu01", "rail0", OFF, False)
        rack.seen("gpu01", "rail0", ("link_pause",), True)
        rack.seen("gpu01", "rail0", ("host", "roce_tos"), 0)
        return rack

    @pytest.mark.parametrize(
        ("phase", "added"),
        [
            (Phase.BUFFERS, {"MAP-004", "CNP-002"}),
            (Phase.SCHEDULER, {"ECN-001"}),
            (Phase.PFC, {"PFC-002", "PFC-010"}),
            (Phase.WATCHDOG, {"WD-001"}),
            (Phase.SERVER, {"PFC-001"}),
            (Phase.MARKING, {"APP-001", "ECN-011", "SYM-001"}),
        ],
    )
    def test_each_phase_adds_its_checks(self, phase: Phase, added: set[str]) -> None:
        def ids(at: Phase) -> set[str]:
            return {
                item.id
                for root in self.factory(at).judge().findings
                for item in (root, *root.consequences)
                if item.verdict == "fail"
            }

        before = ids(Phase(phase - 1)) if phase > Phase.BUFFERS else set()
        assert ids(phase) - before == added

    def test_global_pause_of_a_server_waits_for_the_server_phase(self) -> None:
        def places(phase: Phase) -> list[str]:
            return [item.device for item in self.factory(phase).judge("PFC-010").findings]

        assert places(Phase.PFC) == ["leaf1"] and places(Phase.SERVER) == ["gpu01", "leaf1"]


class TestWorse:
    """Only new or worse findings count against a push."""

    def judge(self, rack: Rack) -> DoctorReport:
        return rack.judge()

    def test_old_findings_do_not_count(self) -> None:
        rack = healthy().seen("leaf1", "Ethernet1/1", OFF, False)
        assert worse(rack.judge(), rack.judge()) == ()

    def test_new_failure(self) -> None:
        after = healthy().seen("leaf1", "Ethernet1/1", OFF, False)
        new = worse(healthy().judge(), after.judge())
        assert ("PFC-002", "leaf1", "Ethernet1/1", 3) in [(x.id, x.device, x.port, x.priority) for x in new]

    def test_same_check_at_another_place_is_new(self) -> None:
        before = healthy().seen("leaf1", "Ethernet1/1", ("trust",), "pcp")
        after = healthy().seen("leaf1", "Ethernet2/1", ("trust",), "pcp")
        assert [item.port for item in worse(before.judge(), after.judge())] == ["Ethernet2/1"]

    def test_warning_that_became_an_error(self) -> None:
        before = healthy().counter("gpu01", "rail0", "pfc_tx_us.3", 40_000)
        after = healthy().counter("gpu01", "rail0", "pfc_tx_us.3", 190_000)
        after.counter("gpu01", "rail0", "pfc_tx_us.3", 210_000)
        assert [item.id for item in worse(before.judge("STM-001"), after.judge("STM-001"))] == ["STM-001"]
        assert worse(after.judge("STM-001"), before.judge("STM-001")) == ()

    def test_consequence_that_outlives_its_root_is_not_new(self) -> None:
        before = healthy().seen("gpu01", "rail0", OFF, False).counter("gpu01", "rail0", "rx_discards.3", 5)
        after = healthy().counter("gpu01", "rail0", "rx_discards.3", 5)
        assert [item.id for item in after.judge().findings] == ["CTR-002"]
        assert worse(before.judge(), after.judge()) == ()

    def test_setting_that_cannot_be_judged_any_more(self) -> None:
        after = healthy().seen("leaf1", "Ethernet1/1", ("trust",), None)
        assert [item.id for item in worse(healthy().judge(), after.judge())] == ["MAP-002"]

    def test_counters_that_were_reset_are_no_harm(self) -> None:
        after = healthy().counter("gpu01", "rail0", "storm_errors", -5)
        assert worse(healthy().judge(), after.judge()) == ()

    def test_counters_need_a_baseline_of_two_samples(self) -> None:
        before, after = healthy().one_sample("gpu01"), healthy().counter("gpu01", "rail0", "cnp_ignored", 5)
        assert worse(before.judge(), after.judge()) == ()
        assert [item.id for item in worse(healthy().judge(), after.judge())] == ["CTR-008"]

    def test_context_is_never_worse(self) -> None:
        after = healthy()
        after.states["gpu01"] = replace(after.states["gpu01"], problems=("ethtool: not found",))
        assert worse(healthy().judge(), after.judge()) == ()

    def test_first_push_to_an_empty_rack(self) -> None:
        assert worse(empty().judge(), healthy().judge()) == ()

"""Every check: passes on a healthy rack, fails where the catalogue says, is unknown without evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocetune.doctor.catalogue import entries
from rocetune.doctor.verdicts import registered
from rocetune.model.change import Comparison
from rocetune.model.profile import Marking
from tests.doctor.cases import FAILS, GIN, ON_ZERO, UNKNOWN, Case
from tests.doctor.rack import GIGABYTE, GLOBAL, LOCAL, PROFILE, Rack, empty, healthy

# Verdicts that cannot be: what is unknown there is another check's to say.
NEVER_FAILS = {"FW-007"}
NEVER_UNKNOWN = {
    "PFC-004",  # without an observed PFC state PFC-001 and PFC-002 are unknown
    "DCBX-007",
    "DCBX-008",
    "SYM-001",  # unknown only when nothing at all was observed: see the empty rack
    "SYM-002",
    "DRF-003",
}
TESTED_ELSEWHERE = {"GID-002"}  # below: needs two servers


def rack() -> Rack:
    made = healthy()
    made.drift = {name: Comparison() for name in made.plan}
    return made


@pytest.mark.parametrize("case", FAILS, ids=lambda case: case.name)
def test_fails_with_place_severity_and_fix(case: Case) -> None:
    spoiled = rack()
    case.spoil(spoiled)
    finding = spoiled.finding(case.id)
    assert (finding.verdict, finding.device, finding.port, finding.priority) == (
        "fail", case.device, case.port, case.priority,
    )  # fmt: skip
    assert finding.severity == (case.severity or entries()[case.id].severity)
    assert finding.expected and finding.observed and finding.fix and finding.reason


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.name)
def test_is_unknown_without_evidence(case: Case) -> None:
    spoiled = rack()
    case.spoil(spoiled)
    findings = spoiled.judge(case.id).findings
    places = [(item.device, item.port, item.priority) for item in findings]
    assert [item.verdict for item in findings] == ["unknown"] * len(findings)
    assert (case.device, case.port, case.priority) in places
    finding = findings[places.index((case.device, case.port, case.priority))]
    assert finding.severity == (case.severity or entries()[case.id].severity)
    assert finding.reason and not finding.fix


def test_every_check_is_tested() -> None:
    assert {case.id for case in FAILS} | NEVER_FAILS | TESTED_ELSEWHERE == set(registered())
    assert {case.id for case in UNKNOWN} | NEVER_UNKNOWN == set(registered())


@pytest.mark.parametrize("identity", sorted(set(registered()) - {"APP-004"}))
def test_passes_on_the_healthy_rack(identity: str) -> None:
    report = rack().judge(identity)
    assert report.findings == () and report.passed > 0


def test_healthy_rack_is_healthy() -> None:
    report = rack().judge()
    assert report.findings == () and report.verdict == "healthy" and not report.one_sample


def test_nothing_observed_never_passes() -> None:
    report = empty().judge()
    # DCBX-007 is about the inventory, which is there; everything else must be unknown.
    assert [item.id for item in report.findings if item.verdict == "fail"] == []
    assert report.passed == empty().judge("DCBX-007").passed
    assert report.verdict == "unknown" and report.one_sample
    judged = {item.id for item in report.findings}
    silent = set(registered()) - judged
    # These have nothing to say when nothing was seen: another check reports the same leaf as unknown.
    assert silent == {"PFC-004", "DCBX-007", "DCBX-008", "DRF-001", "DRF-003", "APP-004", "FW-007"}


def test_every_leaf_taken_away_alone_never_adds_a_pass() -> None:
    base = rack().judge().passed
    for name, state in rack().states.items():
        for native in state.ports:
            spoiled = rack()
            ports = {key: value for key, value in state.ports.items() if key != native}
            spoiled.states[name] = replace(state, ports=ports)
            assert spoiled.judge().passed < base


class TestMarking:
    """The chain from application to wire."""

    def test_gin_falls_back_to_nccl_ib_tc(self) -> None:
        spoiled = rack()
        GIN(spoiled)
        assert spoiled.judge("APP-004").findings == ()

    def test_missing_forced_class_is_no_matter_when_nccl_marks(self) -> None:
        spoiled = rack().seen("gpu01", "rail0", ("host", "traffic_class"), None)
        assert spoiled.judge("APP-002").findings == ()

    def test_unset_nccl_is_covered_by_the_forced_class(self) -> None:
        assert rack().setting("gpu01", "nccl_ib_tc", "").judge("APP-003").findings == ()

    def test_dscp_without_ect_is_ecn_011_alone(self) -> None:
        spoiled = rack().seen("gpu01", "rail0", ("host", "roce_tos"), 104)
        assert spoiled.judge("APP-001").findings == ()

    def test_not_ect_by_profile_is_no_fault(self) -> None:
        spoiled = rack().seen("gpu01", "rail0", ("host", "roce_tos"), 104)
        spoiled.planned("gpu01", "rail0", ("host", "roce_tos"), 104)
        assert spoiled.judge("ECN-011").findings == ()

    def test_idle_port_gives_no_verdict_about_the_wire(self) -> None:
        idle = rack()
        before = idle.judge("APP-006").passed
        idle.counter("gpu01", "rail0", "tx_bytes.3", 0)
        report = idle.judge("APP-006")
        assert report.findings == () and report.passed == before - 1

    def test_rdma_bytes_counted_apart_ignore_other_traffic(self) -> None:
        busy = rack()
        ON_ZERO(busy)
        busy.counter("gpu02", "rail1", "tx_bytes.3", GIGABYTE).counter("gpu02", "rail1", "rdma_tx_bytes", GIGABYTE)
        assert busy.judge("APP-006").findings == ()

    def test_nccl_is_judged_only_where_the_profile_uses_it(self) -> None:
        roce = PROFILE.classes["roce"]
        by_cm = roce.model_copy(update={"marking": Marking(by=("rdma_cm",))})
        profile = PROFILE.model_copy(update={"classes": {**PROFILE.classes, "roce": by_cm}})
        spoiled = rack().environment("gpu01")
        for port in ("rail0", "rail1"):
            spoiled.profiled("gpu01", port, profile)
        spoiled.setting("gpu01", "nccl_ib_tc", None).setting("gpu01", "gids.ens11np0", None)
        assert spoiled.judge("APP-003", "GID-001").findings == ()


class TestGid:
    """A pinned index."""

    def test_same_index_other_kind(self) -> None:
        pinned = rack()
        for server in ("gpu01", "gpu02"):
            pinned.setting(server, "nccl_ib_gid_index", "3")
        assert pinned.judge("GID-001", "GID-002").findings == ()
        pinned.setting("gpu02", "gids.ens12np0", f"3 RoCE v2 {LOCAL}; 5 RoCE v2 {GLOBAL}")
        finding = pinned.finding("GID-002")
        assert (finding.device, finding.port, finding.severity) == ("gpu02", "rail1", "error")

    def test_pinned_to_v1(self) -> None:
        findings = rack().setting("gpu01", "nccl_ib_gid_index", "2").judge("GID-001").findings
        assert [(item.device, item.port) for item in findings] == [("gpu01", "rail0"), ("gpu01", "rail1")]


class TestNotJudged:
    """What a plan does not ask for, or a platform does not have, gives no verdict."""

    def test_lossy_port(self) -> None:
        lossy = rack()
        for device, port in (("leaf1", "Ethernet1/1"), ("gpu01", "rail0")):
            lossy.planned(device, port, ("priorities", 3, "lossless"), False)
            lossy.planned(device, port, ("priorities", 3, "pfc"), False)
            lossy.seen(device, port, ("priorities", 3, "pfc"), False)
        assert lossy.judge("PFC-001", "PFC-002", "PFC-003", "BUF-001", "WD-001").findings == ()
        assert lossy.seen("gpu01", "rail0", ("trust",), "pcp").finding("MAP-001").port == "rail0"

    def test_headroom_that_the_platform_sizes_by_itself(self) -> None:
        automatic = rack()
        for port in ("Ethernet1/1", "Ethernet2/1", "Ethernet32/1"):
            automatic.planned("leaf1", port, ("priorities", 3, "headroom_bytes"), None)
            automatic.seen("leaf1", port, ("priorities", 3, "headroom_bytes"), None)
        assert automatic.judge("BUF-001", "BUF-002").findings == ()

    def test_headroom_of_a_port_without_pfc_is_not_the_trouble(self) -> None:
        off = rack().seen("leaf2", "Ethernet0", ("priorities", 3, "pfc"), False)
        off.seen("leaf2", "Ethernet0", ("priorities", 3, "headroom_bytes"), 0)
        assert off.judge("BUF-001", "BUF-002").findings == ()

    def test_checks_of_one_os(self) -> None:
        assert rack().setting("leaf1", "big_red_switch", "on").judge("WD-007").findings == ()

    def test_watchdog_off_by_profile(self) -> None:
        off = rack().planned("leaf1", "Ethernet1/1", ("priorities", 3, "watchdog"), False)
        off.seen("leaf1", "Ethernet1/1", ("priorities", 3, "watchdog"), False)
        assert off.judge("WD-001", "WD-002", "WD-003").findings == ()

    def test_poll_interval_that_the_device_chooses(self) -> None:
        auto = rack()
        auto.plan["leaf1"] = replace(auto.plan["leaf1"], qos=replace(auto.plan["leaf1"].qos, watchdog_poll_ms=None))
        auto.planned("leaf1", "Ethernet1/1", ("watchdog", "poll_ms"), None)
        auto.seen("leaf1", "Ethernet1/1", ("watchdog", "poll_ms"), None)
        assert auto.judge("WD-003").findings == ()


class TestOtherEvidence:
    """Where the named evidence is not there and another proves the same."""

    def test_marks_of_a_switch_without_counters_are_judged_at_its_servers(self) -> None:
        quiet = rack().counter("leaf1", "Ethernet1/1", "ecn_marked.3", None)
        assert quiet.judge("CTR-003").findings == ()
        quiet.counter("gpu01", "rail0", "ecn_marked_roce", 9_000)
        assert [(item.device, item.port) for item in quiet.judge("CTR-003").findings] == [("gpu01", "rail0")]

    def test_headroom_on_every_port_was_not_refused(self) -> None:
        silent = rack().setting("leaf2", "headroom_rejected", None)
        assert silent.judge("BUF-006").findings == () and silent.judge("BUF-006").passed == 1

    def test_headroom_that_the_switch_computes_was_not_refused_where_it_runs(self) -> None:
        """The dynamic buffer model: the plan has no number, the switch shows the one it computed."""
        dynamic = rack().setting("leaf2", "headroom_rejected", None)
        for port in ("Ethernet0", "Ethernet8", "Ethernet248"):
            dynamic.planned("leaf2", port, ("priorities", 3, "headroom_bytes"), None)
        assert dynamic.judge("BUF-006").findings == () and dynamic.judge("BUF-006").passed == 1
        dynamic.seen("leaf2", "Ethernet8", ("priorities", 3, "headroom_bytes"), None)
        assert "show buffer information" in dynamic.finding("BUF-006").reason

    def test_what_was_not_read_is_named(self) -> None:
        deaf = rack()
        deaf.states["gpu01"] = replace(deaf.states["gpu01"], problems=("mlnx_qos: command not found",))
        assert deaf.finding("FW-007").reason == "mlnx_qos: command not found"

    def test_queues_that_the_watchdog_does_not_list_had_no_event(self) -> None:
        """SONiC prints only queues with events; the list of stormed queues says that it was asked."""
        sonic = rack().setting("leaf2", "stormed", "")
        for port in ("Ethernet0", "Ethernet8", "Ethernet248"):
            for name in ("watchdog_storms.3", "watchdog_restored.3"):
                sonic.counter("leaf2", port, name, None)
        assert sonic.judge("STM-007").findings == ()
        sonic.setting("leaf2", "stormed", "Ethernet8:3")
        assert sonic.finding("STM-007").port == "Ethernet8"

    def test_first_storm_of_a_queue_that_was_not_listed_before(self) -> None:
        sonic = rack().setting("leaf2", "stormed", "")
        first, last = sonic.states["leaf2"].samples
        before = {name: value for name, value in first.counters["Ethernet0"].items() if "watchdog" not in name}
        after = {**last.counters["Ethernet0"], "watchdog_storms.3": 1, "watchdog_restored.3": 1}
        sonic.states["leaf2"] = replace(
            sonic.states["leaf2"],
            samples=(
                replace(first, counters={**first.counters, "Ethernet0": before}),
                replace(last, counters={**last.counters, "Ethernet0": after}),
            ),
        )
        assert sonic.finding("STM-007").port == "Ethernet0"


def test_a_chip_that_was_not_read_leaves_the_needed_headroom_unknown() -> None:
    blind = rack().planned("leaf2", "Ethernet0", ("priorities", 3, "headroom_bytes"), None)
    assert blind.judge("BUF-001").findings == ()  # the platform sizes it by itself
    plan = blind.plan["leaf2"]
    blind.plan["leaf2"] = replace(plan, device=replace(plan.device, declared={"asic": "Tomahawk 3"}))
    finding = blind.finding("BUF-001")
    assert (finding.verdict, finding.port, blind.judge().verdict) == ("unknown", "Ethernet0", "unknown")
    assert "Tomahawk 3" in finding.reason
    state = blind.states["leaf2"]
    blind.states["leaf2"] = replace(state, facts=replace(state.facts, asic="Tomahawk 3"))
    assert blind.judge("BUF-001").findings == ()


class TestLossCounters:
    """No loss is what every counter of loss says; one that is silent is no witness."""

    @pytest.mark.parametrize("name", ["queue_drops.3", "pg_drops.3"])
    @pytest.mark.parametrize("index", [0, 1])
    def test_a_counter_that_one_sample_lacks(self, name: str, index: int) -> None:
        assert _without(rack(), "leaf2", name, index).finding_ids() == {("CTR-001", "unknown")}

    @pytest.mark.parametrize("name", ["queue_drops.3", "pg_drops.3"])
    def test_a_counter_that_was_not_read_at_all(self, name: str) -> None:
        blind = _without(rack(), "leaf2", name, 0, 1)
        assert blind.finding_ids() == set()  # by the samples alone the device has no such counter
        blind.setting("leaf2", "unread_counters", name.partition(".")[0])
        assert blind.finding_ids() == {("CTR-001", "unknown")}
        assert blind.judge().verdict == "unknown"
        assert all(name in item.reason for item in blind.judge("CTR-001").findings)

    def test_loss_that_one_counter_shows_is_loss(self) -> None:
        lossy = rack().counter("leaf2", "Ethernet0", "queue_drops.3", 4)
        lossy.counter("leaf2", "Ethernet0", "pg_drops.3", None).setting("leaf2", "unread_counters", "pg_drops")
        assert lossy.finding_ids("Ethernet0") == {("CTR-001", "fail")}

    def test_a_device_with_one_kind_of_counter_is_judged_by_it(self) -> None:
        one = _without(rack(), "leaf1", "pg_drops.3", 0, 1).setting("leaf1", "unread_counters", "")
        assert one.judge("CTR-001").findings == ()

    def test_a_nic_without_the_counter_beside_one_that_has_it(self) -> None:
        mixed = rack().counter("gpu01", "rail1", "rx_discards.3", None)
        assert mixed.judge("CTR-002").findings == ()

    @pytest.mark.parametrize("name", ["out_of_sequence", "packet_seq_err", "adaptive_retransmissions", "slow_restarts"])
    def test_a_reset_counter_is_no_zero(self, name: str) -> None:
        reset = rack().counter("gpu01", "rail0", name, -5)
        assert [item.verdict for item in reset.judge("CTR-005", "CTR-007").findings] == ["unknown"]


def _without(spoiled: Rack, device: str, name: str, *indices: int) -> Rack:
    """Take one counter of all ports out of some samples."""
    state = spoiled.states[device]
    samples = list(state.samples)
    for index in indices:
        rows = samples[index].counters.items()
        kept = {port: {key: value for key, value in row.items() if key != name} for port, row in rows}
        samples[index] = replace(samples[index], counters=kept)
    spoiled.states[device] = replace(state, samples=tuple(samples))
    return spoiled


class TestThresholds:
    """Numbers of the catalogue, at their edges."""

    def test_rounding_of_the_chip_is_no_difference(self) -> None:
        # Spectrum programs 150 000 B as 159 744 B (6.5 %); the tolerance is 8 %.
        rounded = rack()
        rounded.planned("leaf1", "Ethernet1/1", ("priorities", 3, "kmin_bytes"), 150_000)
        rounded.seen("leaf1", "Ethernet1/1", ("priorities", 3, "kmin_bytes"), 159_744)
        assert rounded.judge("DRF-003", "ECN-004").findings == ()

    def test_kmin_beyond_80_percent_of_xoff(self) -> None:
        late = rack().seen("leaf2", "Ethernet0", ("priorities", 3, "xoff_bytes"), 1_700_000)
        assert late.judge("ECN-004").findings == ()
        late.seen("leaf2", "Ethernet0", ("priorities", 3, "kmin_bytes"), 1_400_000)
        assert late.finding("ECN-004").verdict == "fail"

    def test_step_marking_as_planned(self) -> None:
        step = rack()
        for name, value in (("kmin_bytes", 300_000), ("kmax_bytes", 300_000), ("pmax_percent", 100.0)):
            step.planned("leaf1", "Ethernet1/1", ("priorities", 3, name), value)
            step.seen("leaf1", "Ethernet1/1", ("priorities", 3, name), value)
        assert step.judge("ECN-003").findings == ()

    def test_lifetime_counters_without_growth_are_history(self) -> None:
        old = rack().counter("leaf1", "Ethernet1/1", "queue_drops.3", 0)
        assert old.judge("CTR-001").findings == ()

    def test_one_percent_of_pause_is_fine(self) -> None:
        assert rack().counter("gpu01", "rail0", "pfc_tx_us.3", 20_000).judge("STM-001").findings == ()

    def test_netdev_mtu_for_rdma_4096(self) -> None:
        assert rack().seen("gpu01", "rail0", ("mtu_bytes",), 4200).judge("MTU-001").findings == ()

    def test_restored_storm_that_is_old(self) -> None:
        assert rack().judge("STM-007").findings == ()

    def test_storm_that_lasts_is_seen_by_one_sample(self) -> None:
        storm = rack().counter("leaf1", "Ethernet1/1", "watchdog_storms.3", 0)  # 1000 storms
        storm.counter("leaf1", "Ethernet1/1", "watchdog_restored.3", -1).one_sample("leaf1")
        last = storm.states["leaf1"].samples[0].counters["Ethernet1/1"]
        assert last["watchdog_storms.3"] == last["watchdog_restored.3"]
        storm.states["leaf1"] = replace(
            storm.states["leaf1"],
            samples=(replace(storm.states["leaf1"].samples[0], counters={
                "Ethernet1/1": {"watchdog_storms.3": 2, "watchdog_restored.3": 1}}),),
        )  # fmt: skip
        failing = [item for item in storm.judge("STM-007").findings if item.verdict == "fail"]
        assert [(item.device, item.port) for item in failing] == [("leaf1", "Ethernet1/1")]

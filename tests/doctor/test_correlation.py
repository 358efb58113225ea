"""Root causes first: what folds under what, and what must not."""

from __future__ import annotations

from rocetune.doctor.catalogue import correlations, entries
from rocetune.doctor.verdicts import registered
from rocetune.model.change import Change, Comparison, Impact, Phase
from rocetune.model.finding import Finding
from tests.doctor.rack import Rack, healthy

OFF = ("priorities", 3, "pfc")


def roots(rack: Rack) -> dict[str, list[str]]:
    """``"id device port"`` of every failing root, with its consequences."""
    return {
        _name(item): sorted(_name(other) for other in item.consequences)
        for item in rack.judge().findings
        if item.verdict == "fail"
    }


def _name(item: Finding) -> str:
    return " ".join(part for part in (item.id, item.device, item.port) if part)


def test_catalogue_and_code_know_the_same_checks() -> None:
    assert set(entries()) == set(registered())
    assert correlations()  # raises when a rule names a stranger


def test_one_missing_pfc_is_one_finding() -> None:
    rack = healthy().seen("gpu01", "rail0", OFF, False)
    assert roots(rack) == {
        "PFC-001 gpu01 rail0": ["PFC-003 gpu01 rail0", "SYM-001 gpu01 rail0"],
    }
    assert rack.judge().findings[0].folded == 2


def test_an_uplink_without_pfc() -> None:
    rack = healthy().seen("leaf1", "Ethernet32/1", OFF, False)
    consequences = [f"{check} leaf1 Ethernet32/1" for check in ("PFC-003", "SYM-004", "WD-002")]
    assert roots(rack) == {"PFC-002 leaf1 Ethernet32/1": consequences}


def test_two_agents_explain_inactive_pfc() -> None:
    """Correlation table: PFC-004 + DCBX-002 are a dual LLDP agent; PFC-003 is suppressed."""
    rack = healthy().seen("leaf1", "Ethernet1/1", OFF, False).setting("leaf1", "pfc_admin.Ethernet1/1", "auto")
    rack.seen("gpu01", "rail0", ("host", "dcbx"), "firmware").setting("gpu01", "lldpad", "running")
    found = roots(rack)["DCBX-002 gpu01 rail0"]
    assert "PFC-004 leaf1 Ethernet1/1" in found and "PFC-003 leaf1 Ethernet1/1" in found
    assert "PFC-002 leaf1 Ethernet1/1" in found  # follows PFC-004


def test_colour_flag_explains_missing_marks() -> None:
    """Correlation table: CTR-004 + ECN-009 are the WRED colour flag; ECN-001 is suppressed."""
    rack = healthy().setting("leaf2", "wred_green_enable", "off").counter("leaf2", "Ethernet0", "pfc_tx.3", 9)
    for port in ("Ethernet0", "Ethernet8", "Ethernet248"):
        rack.counter("leaf2", port, "ecn_marked.3", 0)
    rack.seen("leaf2", "Ethernet8", ("priorities", 3, "ecn"), False)
    assert roots(rack)["ECN-009 leaf2"] == ["CTR-004 leaf2 Ethernet0", "ECN-001 leaf2 Ethernet8"]


def test_missing_headroom_explains_drops_and_the_senders_disorder() -> None:
    """Correlation table: CTR-001 + BUF-002 are missing headroom; CTR-005 of the senders is suppressed."""
    rack = healthy().seen("leaf2", "Ethernet0", ("priorities", 3, "headroom_bytes"), 0)
    disorder = rack.counter("gpu01", "rail1", "packet_seq_err", 50)
    assert "CTR-005 gpu01 rail1" in roots(disorder)  # without drops the headroom does not explain it
    rack.counter("leaf2", "Ethernet0", "pg_drops.3", 7)
    assert roots(rack) == {
        "BUF-002 leaf2 Ethernet0": ["BUF-001 leaf2 Ethernet0", "CTR-001 leaf2 Ethernet0", "CTR-005 gpu01 rail1"]
    }


def test_unset_nccl_explains_the_wire() -> None:
    """Correlation table: APP-006 and NCCL_IB_TC unset are APP-003."""
    rack = healthy().setting("gpu01", "nccl_ib_tc", "0")
    rack.counter("gpu01", "rail0", "tx_bytes.3", 0).counter("gpu01", "rail0", "tx_bytes.0", 2_000_000_000)
    assert roots(rack)["APP-003 gpu01"] == ["APP-006 gpu01 rail0", "ECN-011 gpu01"]


def test_notifications_in_best_effort() -> None:
    """Correlation table: CNP-002 + CTR-003 high are CNP in best effort."""
    rack = healthy().seen("leaf1", "Ethernet1/1", ("dscp_to_priority",), tuple(3 if d == 26 else 0 for d in range(64)))
    rack.counter("leaf1", "Ethernet2/1", "ecn_marked.3", 60_000)
    assert roots(rack) == {"CNP-002 leaf1 Ethernet1/1": ["CTR-003 leaf1 Ethernet2/1"]}


def test_pcp_trust_explains_the_hidden_map() -> None:
    rack = healthy().seen("gpu01", "rail0", ("trust",), "pcp")
    rack.seen("gpu01", "rail0", ("dscp_to_priority",), (None,) * 64)
    assert roots(rack) == {"MAP-001 gpu01 rail0": ["MAP-003 gpu01 rail0", "SYM-001 gpu01 rail0"]}


def test_a_storm_is_named_once() -> None:
    """Correlation table: a slow receiver with many paused servers is one root; victims are suppressed."""
    rack = healthy()
    rack.counter("gpu01", "rail0", "pfc_tx_us.3", 1_990_000).counter("gpu01", "rail0", "storm_warnings", 3)
    rack.counter("leaf1", "Ethernet1/1", "pfc_rx_transitions.3", 0)
    rack.counter("leaf1", "Ethernet1/1", "watchdog_storms.3", 1).counter(
        "leaf1", "Ethernet1/1", "watchdog_restored.3", 1
    )
    rack.counter("leaf1", "Ethernet2/1", "pfc_tx.3", 40_000).counter("gpu02", "rail0", "pfc_rx_us.3", 1_500_000)
    rack.counter("leaf1", "Ethernet32/1", "pfc_tx.3", 40_000).counter("leaf2", "Ethernet248", "pfc_rx.3", 40_000)
    rack.counter("leaf2", "Ethernet8", "pfc_tx.3", 30_000).counter("gpu02", "rail1", "pfc_rx_us.3", 900_000)
    found = roots(rack)
    assert list(found) == ["STM-010 gpu01 rail0"]
    assert {"STM-001 gpu01 rail0", "STM-004 gpu01 rail0", "STM-005 gpu01 rail0", "STM-007 leaf1 Ethernet1/1"} <= set(
        found["STM-010 gpu01 rail0"]
    )
    finding = rack.judge("STM-010").findings[0]
    assert "stops gpu02, leaf1, leaf2" in finding.observed and finding.peer == "leaf1 Ethernet1/1"


def test_two_storms_are_two_roots() -> None:
    rack = healthy()
    for device, port in (("gpu01", "rail0"), ("gpu02", "rail1")):
        rack.counter(device, port, "pfc_tx_us.3", 1_000_000)
    assert [(x.device, x.port) for x in rack.judge("STM-010").findings] == [("gpu01", "rail0"), ("gpu02", "rail1")]


def test_congested_switch_is_no_storm() -> None:
    """Nobody pauses leaf1, and it pauses its servers: incast. There is no sender to isolate."""
    rack = (
        healthy().counter("leaf1", "Ethernet1/1", "pfc_tx.3", 9_000).counter("gpu01", "rail0", "pfc_rx_us.3", 900_000)
    )
    finding = rack.finding("STM-010")
    assert (finding.device, finding.port, finding.severity) == ("leaf1", None, "warning")
    assert "incast" in finding.observed


def test_circle_of_pauses() -> None:
    rack = healthy()
    for device, port in (("leaf1", "Ethernet32/1"), ("leaf2", "Ethernet248")):
        rack.counter(device, port, "pfc_tx.3", 9_000).counter(device, port, "pfc_rx_us.3", 1_000_000)
    finding = rack.finding("STM-010")
    assert finding.severity == "critical" and "leaf1 -> leaf2 -> leaf1" in finding.observed


def _drift(*origins: tuple[str | int, ...]) -> Comparison:
    return Comparison(
        tuple(
            Change(("key", str(index)), "change", "a", "b", Phase.PFC, Impact.NONE, origin=origin)
            for index, origin in enumerate(origins)
        )
    )


def test_drift_that_another_finding_names_is_folded() -> None:
    rack = healthy().seen("leaf1", "Ethernet1/1", OFF, False)
    rack.drift = {name: Comparison() for name in rack.plan}
    rack.drift["leaf1"] = _drift(("Ethernet1/1", *OFF))
    assert "DRF-001 leaf1" in roots(rack)["PFC-002 leaf1 Ethernet1/1"]


def test_drift_beyond_it_stays_visible() -> None:
    rack = healthy().seen("leaf1", "Ethernet1/1", OFF, False)
    rack.drift = {name: Comparison() for name in rack.plan}
    for origin in (("Ethernet1/1", "priorities", 0, "bandwidth_percent"), ()):
        rack.drift["leaf1"] = _drift(("Ethernet1/1", *OFF), origin)
        assert "DRF-001 leaf1" in roots(rack)


def test_stale_boot_settings_follow_a_wrong_hand() -> None:
    """Boot would restore the right value: the wrong one is the trouble. Alone, stale settings are it."""
    rack = healthy().setting("gpu01", "persistence", "stale")
    assert roots(rack) == {"FW-004 gpu01": []}
    rack.seen("gpu01", "rail0", ("host", "cnp_dscp"), 4)
    assert roots(rack) == {"CNP-001 gpu01 rail0": ["FW-004 gpu01", "SYM-001 gpu01 rail0"]}


def test_drift_of_a_server_is_explained_by_what_a_hand_changed() -> None:
    """The changed value and the boot settings that no longer agree with it: one cause."""
    rack = healthy().setting("gpu01", "persistence", "stale").seen("gpu01", "rail0", ("host", "cnp_dscp"), 4)
    stale = Change(("port", "ens11np0", "persist"), "change", "stale", "boot", Phase.SERVER, Impact.NONE)
    drift = _drift(("ens11np0", "host", "cnp_dscp"))
    rack.drift = {"gpu01": Comparison((*drift.changes, stale))}
    assert roots(rack) == {"CNP-001 gpu01 rail0": ["DRF-001 gpu01", "FW-004 gpu01", "SYM-001 gpu01 rail0"]}


def test_drift_of_the_environment_is_explained_by_the_variable() -> None:
    rack = healthy().setting("gpu01", "nccl_ib_tc", "0")
    rack.drift = {"gpu01": _drift(("", "environment", "NCCL_IB_TC"))}
    assert "DRF-001 gpu01" in roots(rack)["APP-003 gpu01"]


def test_stale_is_not_called_a_reboot() -> None:
    stale = healthy().setting("gpu01", "persistence", "stale").finding("FW-004")
    absent = healthy().setting("gpu01", "persistence", "absent").finding("FW-004")
    assert "would restore other settings" in stale.title and "after the last apply" in stale.reason
    assert "nothing restores" in absent.title and stale.reason != absent.reason


def test_a_server_that_lost_everything_is_one_finding() -> None:
    rack = healthy().setting("gpu01", "persistence", "absent").seen("gpu01", "rail0", ("trust",), "pcp")
    assert "MAP-001 gpu01 rail0" in roots(rack)  # one wrong port is named by itself
    for path, value in ((("trust",), "pcp"), (OFF, False), (("host", "roce_tos"), 0)):
        for port in ("rail0", "rail1"):
            rack.seen("gpu01", port, path, value)
    found = roots(rack)
    assert list(found) == ["FW-004 gpu01"]
    assert {"PFC-001 gpu01 rail0", "MAP-001 gpu01 rail1", "PFC-003 gpu01 rail1"} <= set(found["FW-004 gpu01"])
    assert rack.judge().findings[0].fix == ("gpu01: set /persistence to installed",)


def test_drift_of_every_map_entry_is_explained_by_the_trust() -> None:
    """Trust PCP hides the map: its 64 entries differ, and one setting is wrong."""
    rack = healthy().seen("gpu01", "rail0", ("trust",), "pcp").seen("gpu01", "rail0", ("dscp_to_priority",), None)
    for number in (0, 3, 6, 7):
        rack.seen("gpu01", "rail0", ("priorities", number, "dscps"), None)
    rack.drift = {"gpu01": _drift(("ens11np0", "trust"), *(("ens11np0", "dscp_to_priority", n) for n in range(64)))}
    assert "DRF-001 gpu01" in roots(rack)["MAP-001 gpu01 rail0"]


def test_configured_and_not_operating_needs_the_comparison() -> None:
    """PFC-004 is about a configuration that is right: known only when it was compared and holds no difference."""
    rack = healthy().seen("leaf1", "Ethernet1/1", OFF, False)
    assert rack.judge("PFC-004").findings == ()
    rack.drift = {"leaf1": Comparison()}
    assert rack.finding("PFC-004").port == "Ethernet1/1"
    rack.drift = {"leaf1": _drift(("Ethernet1/1", *OFF))}
    assert rack.judge("PFC-004").findings == ()

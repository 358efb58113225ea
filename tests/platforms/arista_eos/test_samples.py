"""Every sample of the collected printouts, read and compared with its hand-made index. Skipped without the samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocetune.model.facts import Facts
from rocetune.model.state import Reply, State
from rocetune.platforms.arista_eos import PLATFORM, counters, facts, keys, names, parse, read
from rocetune.platforms.arista_eos import commands as ask

SHARED = Path(__file__).resolve().parents[3] / "../shared/data/samples/arista_eos"
pytestmark = pytest.mark.skipif(not SHARED.exists(), reason="the collected printouts are not here")


def sample(start: str) -> tuple[str, dict[str, Any]]:
    """Text and reading of the sample whose file starts with these digits."""
    index = yaml.safe_load((SHARED / "index.yaml").read_text())
    entry = next(one for one in index["samples"] if one["file"].startswith(start))
    return (SHARED / entry["file"]).read_text(), entry["reading"]


def counted(command: str, text: str) -> dict[str, dict[str, int]]:
    found = counters.sample({command: Reply(text)})
    assert found is not None
    return {port: dict(values) for port, values in found.counters.items()}


def state(**answers: str) -> State:
    return PLATFORM.read("sw", {getattr(ask, name): Reply(text) for name, text in answers.items()}, Facts("arista_eos"))


def test_pfc_counters() -> None:
    text, reading = sample("01")
    seen = counted(ask.PFC_COUNTERS, text)
    for port, want in reading["ports"].items():
        assert (seen[port]["pfc_rx"], seen[port]["pfc_tx"]) == (want["rx_pfc"], want["tx_pfc"])


def test_ecn_counters_dash_is_not_zero() -> None:
    text, reading = sample("02")
    seen = counted(ask.ECN_COUNTERS, text)
    for port, want in reading["ports"].items():
        for queue, marked in want["ecn_marked"].items():
            assert seen[port].get(f"ecn_marked.{names.priority(int(queue))}") == marked
        assert "ecn_marked.3" not in seen[port]


def test_queue_drops() -> None:
    text, reading = sample("03")
    seen = counted(ask.QUEUE_COUNTERS, text)
    for port, want in reading["ports"].items():
        for tc, drops in want["dropped_pkts"]["unicast"].items():
            assert seen[port][f"queue_drops.{names.priority(int(tc[2:]))}"] == drops
        assert "queue_drops.3" not in seen[port]


def test_fec_counts_are_summed_over_the_phys_that_count() -> None:
    text, reading = sample("05")
    seen = counted(ask.PHY, text)
    for port, want in reading["ports"].items():
        known = [phy["fec_uncorrected"] for phy in want["phys"] if phy["fec_uncorrected"] is not None]
        assert seen[port]["fec_uncorrectable"] == sum(known)


def test_mtu_and_link() -> None:
    text, reading = sample("09")
    seen = state(INTERFACES=text)
    table = json.loads(text)["interfaces"]
    for port, want in reading["ports"].items():
        if port.startswith("Ethernet"):
            assert seen.ports[port].mtu_bytes == want["mtu"]
            assert seen.ports[port].link_up is (want["link"] == "connected")
        assert facts.mode_of(table[port]) == want["mode"]
    assert not set(reading["not_for_roce"]) & set(seen.ports)


def test_ecn_table_keeps_its_unit() -> None:
    text, reading = sample("10")
    want = {int(q): (row["unit"], row["kmin"], row["kmax"]) for q, row in reading["ecn"].items()}
    assert read.ecn_table(text) == want


def test_pfc_table() -> None:
    text, reading = sample("11")
    seen = read.pfc_table(text)
    assert seen is not None
    for port, want in reading["ports"].items():
        row = seen[port]
        assert (row.enabled, sorted(row.priorities), row.active, row.note) == (
            want["pfc_enabled"], want["lossless_priorities"], want["pfc_active"], want["note"],
        )  # fmt: skip


def test_lldp_table() -> None:
    text, reading = sample("13")
    want = {names.interface(port): (row["device"], row["port_id"]) for port, row in reading["neighbours"].items()}
    assert facts.neighbor_table(text) == want
    assert "Management1/1" in want


def test_session_diff_of_profiles() -> None:
    text, reading = sample("16")
    body = "\n".join(line[1:] for line in text.splitlines()[2:])
    found = {key: entry.value for key, entry in parse.scan(body).items()}
    for name, want in reading["qos_profiles"].items():
        assert keys.profile(name) in found
        if "trust" in want:
            assert found[keys.profile(name, "qos trust")] == want["trust"]
        for queue, row in want.get("tx_queues", {}).items():
            at = keys.queue(int(queue))
            row = row or {}
            assert (keys.profile(name, at, "no priority") in found) is row.get("no_priority", False)
            if "bandwidth_percent" in row:
                assert found[keys.profile(name, at, "bandwidth percent")] == str(row["bandwidth_percent"])
            if "bandwidth_guaranteed_percent" in row:
                guaranteed = f"percent {row['bandwidth_guaranteed_percent']}"
                assert found[keys.profile(name, at, "bandwidth guaranteed")] == guaranteed


def test_profile_with_pfc_and_watchdog() -> None:
    text, reading = sample("18")
    found = {key: entry.value for key, entry in parse.scan(text).items()}
    want = reading["qos_profiles"]["test_with_pfc"]
    assert found[keys.profile("test_with_pfc", "priority-flow-control")] == want["pfc"]
    assert found[keys.profile("test_with_pfc", keys.pfc_priority(want["no_drop"][0]))] == "no-drop"
    assert keys.profile("test_with_pfc", keys.pfc_priority(want["drop"][0])) not in found
    timer = want["watchdog_timer"]
    assert found[keys.profile("test_with_pfc", "watchdog timer")] == (
        f"timeout {timer['timeout_s']} polling-interval {timer['polling']} recovery-time {timer['recovery_s']} forced"
    )
    assert found[keys.profile("test_with_pfc", "watchdog action")] == want["watchdog_action"]
    for queue, row in reading["qos_profiles"]["uc_mc_queues_test"]["uc_tx_queues"].items():
        at = keys.profile("uc_mc_queues_test", keys.queue(int(queue)))
        assert ((*at, "no priority") in found) is row.get("no_priority", False)
        curve = row["ecn"]
        words = found[(*at, "random-detect ecn")].split()
        assert (int(words[1]), words[2], int(words[4])) == (curve["kmin"], curve["unit"], curve["kmax"])
        assert int(words[7]) == curve.get("pmax_percent", 100)
        assert int(words[9]) == curve.get("weight", 0)
    port, row = next(iter(reading["interfaces"].items()))
    assert found[keys.port(port, "service-profile")] == row["service_profile"]
    assert keys.port(port, keys.queue(row["ecn_count_queues"][0]), "random-detect ecn count") in found
    world = reading["watchdog_global"]
    assert found[(keys.WATCHDOG, "default timeout")] == str(world["timeout_s"])
    assert found[(keys.WATCHDOG, "default recovery-time")] == str(world["recovery_s"])
    assert found[(keys.WATCHDOG, "default polling-interval")] == str(world["polling_s"])
    assert found[keys.WATCHDOG_ACTION] == world["action"]


def test_refusal_in_eos_words() -> None:
    text, reading = sample("20")
    assert f"% {reading['error']}" in text

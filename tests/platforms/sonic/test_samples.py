"""Every real or upstream printout of SONiC beside the repository is read, and the reading equals its index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocetune.model.facts import Facts
from rocetune.model.state import Reply
from rocetune.platforms.sonic import PLATFORM
from rocetune.platforms.sonic import facts as facts_of
from rocetune.platforms.sonic.counters import counters, storms
from rocetune.platforms.sonic.database import load
from rocetune.platforms.sonic.read import _running_profiles
from rocetune.platforms.sonic.tables import number, speed, tables

SAMPLES = Path(__file__).resolve().parents[4] / "shared/data/samples/sonic"
pytestmark = pytest.mark.skipif(not SAMPLES.exists(), reason="the samples are not beside the repository")
INDEX: dict[str, Any] = (
    {item["file"]: item["reading"] for item in yaml.safe_load((SAMPLES / "index.yaml").read_text())["samples"]}
    if SAMPLES.exists()
    else {}
)


def text(start: str) -> tuple[str, Any]:
    """A sample and its reading, by the start of its file name."""
    name = next(name for name in INDEX if name.startswith(start))
    return (SAMPLES / name).read_text(), INDEX[name]


def database_state(start: str) -> tuple[Any, Any]:
    sample, reading = text(start)
    transcript = {facts_of.CONFIG: Reply(sample)}
    return PLATFORM.read("sw", transcript, PLATFORM.facts(transcript)), reading


def test_stock_database() -> None:
    state, reading = database_state("02_")
    assert state.facts.extra["buffer_model"] == reading["buffer_model"]
    assert state.facts.extra["switch_type"] == reading["switch_type"]
    points = reading["dscp_to_tc"]["exceptions"]
    for name, want in reading["ports"].items():
        port = state.ports[name]
        assert [entry.priority for entry in port.priorities if entry.pfc] == want["pfc_enable"]
        assert not any(entry.watchdog for entry in port.priorities)
        assert (port.cable_m, port.speed_mbps, port.mtu_bytes) == (want["cable_m"], want["speed_mbps"], want["mtu"])
        assert port.dscp_to_priority == tuple(points.get(dscp, 1) for dscp in range(64))
        assert {entry.priority: entry.priority_group for entry in port.priorities} == reading["tc_to_pg"]
        assert port.watchdog is None
        curve = reading["wred"]["AZURE_LOSSLESS"]
        for entry in port.priorities:
            lossless = entry.priority in reading["wred_on_queues"]
            assert entry.ecn is lossless
            if lossless:
                seen = (entry.kmin_bytes, entry.kmax_bytes, entry.pmax_percent)
                assert seen == (curve["green_min"], curve["green_max"], curve["green_prob_pct"])
                assert entry.headroom_bytes == 0  # PFC without a lossless group: no headroom at all


def test_dynamic_model_database() -> None:
    state, reading = database_state("03_")
    assert state.facts.extra["buffer_model"] == "dynamic"
    config = PLATFORM.parse(text("03_")[0], Facts("sonic"))
    assert config["BUFFER_PG", "Ethernet4", "3", "profile"] == "auto"
    assert config["BUFFER_PG", "Ethernet8", "4", "profile"] == reading["buffer_pg"]["Ethernet8"]["3-4"]
    assert ("BUFFER_PG", "Ethernet16", "0", "profile") not in config
    for name, want in reading["ports"].items():
        port = state.ports[name]
        assert (port.speed_mbps, port.mtu_bytes, port.cable_m) == (
            want["speed_mbps"],
            want["mtu"],
            reading["cable_m"][name],
        )
        assert all(entry.headroom_bytes is None for entry in port.priorities)  # computed, and not shown here
    pools = load(text("03_")[0])["BUFFER_POOL"]
    sizes = {name: int(held["size"]) if "size" in held else None for name, held in pools.items()}
    assert sizes == {name: held["size"] for name, held in reading["buffer_pools_bytes"].items()}


def test_pfc_counters() -> None:
    sample, reading = text("04_")
    found = counters({"show pfc counters": sample})
    for direction, name in (("rx_pfc_packets", "pfc_rx"), ("tx_pfc_packets", "pfc_tx")):
        for port, counts in reading[direction].items():
            assert [found[port][f"{name}.{n}"] for n in range(8)] == counts


def test_a_table_that_is_not_there_is_unknown() -> None:
    sample, reading = text("12_")
    found = counters({"show pfc counters": sample, "show pfcwd stats": sample})
    for port, counts in reading["tx_pfc_packets"].items():
        assert [found[port][f"pfc_tx.{n}"] for n in range(8)] == counts
        assert "pfc_rx.3" not in found[port]
    for name, cells in reading["pfcwd"].items():
        port, queue = name.split(":")
        assert found[port][f"watchdog_storms.{queue}"] == cells[1]
        assert found[port][f"watchdog_restored.{queue}"] == cells[2]


@pytest.mark.parametrize("start", ["08_", "10_"])
def test_watchdog_config(start: str) -> None:
    sample, reading = text(start)
    wanted = reading.get("ports") or reading["pfcwd"]
    rows = {row["PORT"]: row for table in tables(sample) if table.header[0] == "PORT" for row in table.rows}
    assert set(rows) == set(wanted)
    for port, want in wanted.items():
        row = rows[port]
        assert row["ACTION"] == want["action"]
        assert number(row["DETECTION TIME"]) == want["detection_ms"]
        assert number(row["RESTORATION TIME"]) == want["restoration_ms"]
        assert (row["HISTORY"] == "" and want["history"] is None) or row["HISTORY"] == "disable"


def test_storms() -> None:
    sample, reading = text("09_")
    seen = {f"{port}:{queue}": status for port, queue, status, _ in storms(sample)}
    assert seen == {name: cells[0] for name, cells in reading.items() if name != "columns"}
    state = PLATFORM.read("sw", {"show pfcwd stats": Reply(sample)}, Facts("sonic"))
    assert state.settings["stormed"].split() == [name for name, status in seen.items() if status == "stormed"]


def test_a_storm_that_comes_and_goes() -> None:
    sample, reading = text("11_")
    shown = [[f"{port}:{queue}", status] for port, queue, status, _ in storms(sample)]
    assert shown == [[name, cells[0]] for step in reading["samples"] for name, cells in step.items()]


def test_drops_and_watermarks() -> None:
    sample, reading = text("16_")
    found = counters({"show priority-group drop counters": sample})
    for port, counts in reading["dropped_packets"].items():
        assert [found[port][f"pg_drops.{n}"] for n in range(8)] == counts
    sample, reading = text("15_")
    rows = {row["Port"]: row for table in tables(sample) for row in table.rows}
    for port, counts in reading["headroom_watermark_bytes"].items():
        assert [number(rows[port][f"PG{n}"]) for n in range(8)] == counts


def test_buffer_information() -> None:
    sample, reading = text("18_")
    for name, want in reading["profiles_bytes"].items():
        held = _running_profiles(sample)[name]
        assert {key: int(value) if value.isdigit() else value for key, value in held.items()} == want


def test_interfaces_status() -> None:
    sample, reading = text("19_")
    rows = {row["Interface"]: row for table in tables(sample) for row in table.rows}
    columns = reading["columns"]
    assert {port for port in reading if port.startswith(("Ethernet", "PortChannel"))} == set(rows)
    for port, row in rows.items():
        want = dict(zip(columns, reading[port], strict=True))
        assert speed(row["Speed"]) == want["speed_mbps"]
        assert number(row["MTU"]) == want["mtu"]
        for header, name in (
            ("FEC", "fec"),
            ("Alias", "alias"),
            ("Oper", "oper"),
            ("Admin", "admin"),
            ("Type", "type"),
        ):
            assert (None if row[header] == "N/A" else row[header]) == want[name], (port, header)


def test_status_without_a_fec_column() -> None:
    sample, _ = text("26_")
    table = next(table for table in tables(sample) if table.header[0] == "Interface")
    assert "FEC" not in table.header
    assert {row["Interface"]: row["Oper"] for row in table.rows}["Ethernet1"] == "up"


def test_fec_counters() -> None:
    sample, reading = text("20_")
    found = counters({"show interfaces counters fec-stats": sample})
    for port in ("Ethernet0", "Ethernet4", "Ethernet8", "Ethernet9"):
        assert found[port]["fec_uncorrectable"] == reading[port][2]


def test_not_available_is_not_zero() -> None:
    sample, _ = text("21_")
    found = counters({"show interfaces counters": sample})
    assert found["Ethernet4"]["rx_discards"] == 1000
    assert "rx_discards" in found["Ethernet0"]


def test_two_neighbours_on_one_port_are_not_one() -> None:
    sample, _ = text("23_")
    config = '{"PORT": {"Ethernet0": {"speed": "100000"}}}'
    facts = PLATFORM.facts({facts_of.CONFIG: Reply(config), facts_of.LLDP: Reply(sample)})
    assert facts.ports["Ethernet0"].neighbor is None
    state = PLATFORM.read("sw", {facts_of.LLDP: Reply(sample)}, facts)
    assert not state.ports


def test_ecn_profiles_without_the_flag() -> None:
    """ECN-009: thresholds and ecn_all, and nothing is marked because the enable flag is absent."""
    sample, reading = text("17_")
    shown = {}
    for block in sample.split("Profile: ")[1:]:
        name, *lines = block.splitlines()
        shown[name.strip()] = dict(line.split() for line in lines if line and not line.startswith("-"))
    assert set(shown) == set(reading["profiles"])
    database = {
        "PORT": {"Ethernet0": {}},
        "QUEUE": {"Ethernet0|3": {"wred_profile": "AZURE_LOSSLESS"}},
        "WRED_PROFILE": shown,
    }
    state = PLATFORM.read("sw", {facts_of.CONFIG: Reply(json.dumps(database))}, Facts("sonic"))
    entry = state.ports["Ethernet0"].priority(3)
    assert entry is not None
    assert entry.ecn is False
    assert entry.kmin_bytes == reading["profiles"]["AZURE_LOSSLESS"]["green_min"]
    assert "wred_green_enable=absent" in state.evidence["Ethernet0", "priorities", 3, "ecn"].line

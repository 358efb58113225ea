"""The emulated EOS switch by itself: its grammar, its words of refusal, its sessions and what it shows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rocetune.lab.device import EapiError, Fault, LabDevice
from rocetune.lab.eos import EosEmulator
from tests.platforms.arista_eos.rig import Cables
from tests.platforms.builders import eos_leaf


class Bench:
    """One switch with two cabled ports and a clock that the test moves."""

    def __init__(self, folder: Path, **declared: str) -> None:
        self.plan = eos_leaf(2)
        self.time = 5_000.0
        self.faults: list[Fault] = []
        ends = {("leaf1", item.port.name): item.port.peer for item in self.plan.ports if item.port.peer}
        self.cables = Cables(ends)  # type: ignore[arg-type]
        self.folder, self.declared = folder, declared
        self.start()

    def start(self) -> None:
        self.switch = EosEmulator(
            LabDevice("leaf1", self.plan, self.folder, lambda: self.time, self.cables, lambda: tuple(self.faults),
                      self.declared)
        )  # fmt: skip

    def json(self, *cmds: str) -> list[Any]:
        return self.switch.run_cmds(["enable", *cmds], "json")[1:]

    def text(self, *cmds: str) -> str:
        return "".join(result["output"] for result in self.switch.run_cmds(["enable", *cmds], "text")[1:])

    def enter(self, *lines: str) -> None:
        self.json("configure", *lines)

    def running(self) -> str:
        return self.text("show running-config")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def refused(bench: Bench, *cmds: str) -> EapiError:
    with pytest.raises(EapiError) as caught:
        bench.json(*cmds)
    return caught.value


def test_first_start_has_ports_foreign_lines_and_no_qos(bench: Bench) -> None:
    text = bench.running()
    assert text.startswith("! Command: show running-config\n! device: leaf1 (DCS-7060DX4-32, EOS-4.36.0F)\n")
    assert text.count("interface Ethernet") == 32
    assert "ntp server 192.0.2.123" in text
    assert "qos map dscp 34 to traffic-class 5" in text
    assert "qos profile" not in text and "priority-flow-control" not in text
    assert bench.text("show startup-config").splitlines()[2:] == text.splitlines()[2:]


def test_state_survives_a_restart_of_the_lab(bench: Bench) -> None:
    bench.enter("hostname other")
    bench.start()
    assert bench.json("show hostname")[0]["hostname"] == "other"


def test_defaults_are_hidden_and_the_map_is_collapsed(bench: Bench) -> None:
    bench.enter(
        "qos map dscp 26 to traffic-class 3",  # the default
        "qos map dscp 0 1 2 3 4 5 6 7 8 9 to traffic-class 0",  # 8 and 9 have it anyway
        "qos map traffic-class 3 to tx-queue 3",
        "qos map traffic-class 6 to tx-queue 2",
        "qos profile P",
        "qos trust dscp",
        "uc-tx-queue 6",
        "priority strict",
        "exit",
        "priority-flow-control pause watchdog port timer timeout 0.20 polling-interval auto recovery-time 0.40",
    )
    text = bench.running()
    assert "qos map dscp 0 1 2 3 4 5 6 7 to traffic-class 0" in text
    assert "to traffic-class 3" not in text
    assert "qos map traffic-class 6 to uc-tx-queue 2" in text
    assert "traffic-class 3 to" not in text
    assert "priority strict" not in text and "uc-tx-queue 6" not in text
    assert "timeout 0.2 polling-interval auto recovery-time 0.4" in text
    assert "qos profile P \n" in text  # EOS prints a blank after the name


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        (("qos map dscp 64 to traffic-class 3",), "Invalid input"),
        (("qos map dscp 26 to traffic-class 8",), "Invalid input"),
        (("qos map traffic-class 7 to tx-queue 3",), "Unavailable command"),
        (("interface Ethernet1/1", "mtu 9216"), "Invalid input"),
        (("interface Ethernet99/1",), "Invalid input"),
        (("qos profile P", "tx-queue 3"), "Invalid input"),  # the chip's queues are called uc-tx-queue
        (("qos profile P", "uc-tx-queue 3", "random-detect ecn count"), "Invalid input"),
        (("qos profile P", "uc-tx-queue 3", "bandwidth percent 101"), "Invalid input"),
        (
            (
                "qos profile P",
                "uc-tx-queue 3",
                "random-detect ecn minimum-threshold 1 bytes maximum-threshold 2 kbytes",
            ),
            "Invalid input",
        ),
        (("priority-flow-control pause watchdog default timeout 0.005",), "Invalid input"),
        (("priority-flow-control pause watchdog default timeout 0.123",), "Invalid input"),
        (("priority-flow-control pause watchdog default polling-interval 31",), "Invalid input"),
        (
            ("priority-flow-control pause watchdog action no-drop",),
            "Unavailable command (not supported on this hardware platform)",
        ),
        (("router bgp 65000",), "Invalid input"),
        (("",), "Incomplete command"),
    ],
)
def test_lines_outside_the_grammar_are_refused(bench: Bench, lines: tuple[str, ...], word: str) -> None:
    error = refused(bench, "configure", *lines)
    assert error.data[-1]["errors"][0].startswith(word)
    position = len(lines) + 2
    assert error.message.startswith(f"CLI command {position} of {position} '{lines[-1]}' failed: ")
    assert len(error.data) == position
    assert error.code == (1000 if word.startswith("Unavailable") else 1002)


def test_jericho_has_tx_queues_and_no_trident_lines(tmp_path: Path) -> None:
    bench = Bench(tmp_path, asic="Jericho 2", model="DCS-7280CR3-32P4")
    bench.enter("qos profile P", "tx-queue 3", "no priority")
    assert "tx-queue 3" in bench.running()
    error = refused(bench, "configure", "platform trident mmu queue profile X")
    assert error.data[-1]["errors"] == ["Unavailable command (not supported on this hardware platform)"]


def test_profile_in_use_is_not_removed(bench: Bench) -> None:
    bench.enter("qos profile P", "qos trust dscp", "interface Ethernet1/1", "service-profile P")
    assert "in use" in refused(bench, "configure", "no qos profile P").data[-1]["errors"][0]
    bench.enter("interface Et1/1", "no service-profile P", "no qos profile P")
    assert "qos profile" not in bench.running()


def test_no_trust_is_a_setting_and_default_is_not(bench: Bench) -> None:
    bench.enter("interface Ethernet1/1", "no qos trust")
    assert "no qos trust" in bench.running()
    bench.enter("interface Ethernet1/1", "default qos trust")
    assert "qos trust" not in bench.running()


def test_a_request_without_enable_may_only_look(bench: Bench) -> None:
    with pytest.raises(EapiError):
        bench.switch.run_cmds(["configure", "hostname x"], "json")


def test_enable_may_carry_a_password(bench: Bench) -> None:
    assert bench.switch.run_cmds([{"cmd": "enable", "input": "x"}, "show hostname"], "json")[1]["hostname"] == "leaf1"


def test_text_only_commands_have_no_json(bench: Bench) -> None:
    assert refused(bench, "show running-config").code == 1003


def test_two_sessions_do_not_merge(bench: Bench) -> None:
    bench.json("configure session a", "ntp server 192.0.2.1", "end")
    bench.json("configure session b", "ntp server 192.0.2.2", "end")
    bench.text("configure session a commit")
    bench.text("configure session b commit")
    text = bench.running()
    assert "192.0.2.2" in text and "192.0.2.1\n" not in text


def test_five_sessions_may_wait(bench: Bench) -> None:
    for number in range(5):
        bench.json(f"configure session s{number}", "end")
    assert "Maximum number" in refused(bench, "configure session s5").data[-1]["errors"][0]
    bench.time += 24 * 3600 + 1
    bench.json("configure session s5", "abort")
    assert bench.json("show configuration sessions")[0]["sessions"] == {}


def test_mode_does_not_outlive_a_request(bench: Bench) -> None:
    bench.json("configure", "interface Ethernet1/1")
    assert refused(bench, "mtu 9000").code == 1002


def test_timer_keys_by_release(tmp_path: Path) -> None:
    for version, top in (("4.36.0F", True), ("4.31.2F", False)):
        bench = Bench(tmp_path / version, os_version=version)
        bench.json("configure session a", "hostname x", "end")
        bench.text("configure session a commit timer 00:02:00")
        detail, uptime = bench.json("show configuration sessions detail", "show version")
        assert ("commitTimerSessionName" in detail) is top
        expires = detail["commitTimerExpireTime"] if top else detail["sessions"]["a"]["commitBy"]
        assert expires - uptime["uptime"] == pytest.approx(120)
        assert detail["sessions"]["a"]["state"] == ("committed" if top else "pendingCommitTimer")


def test_diff_has_two_header_lines_and_is_empty_for_nothing(bench: Bench) -> None:
    bench.json("configure session a", "hostname leaf1", "end")
    assert bench.text("show session-config named a diffs") == ""
    bench.json("configure session a", "hostname x", "end")
    rows = bench.text("show session-config named a diffs").splitlines()
    assert rows[0].startswith("--- system:/running-config")
    assert rows[1].startswith("+++ session:/a-session-config")
    assert "+hostname x" in rows and "-hostname leaf1" in rows


def test_replace_from_the_copy_of_startup(bench: Bench) -> None:
    before = bench.running()
    bench.text("copy startup-config flash:rollback-0")
    bench.enter("hostname x")
    bench.text("configure replace flash:rollback-0")
    assert bench.running() == before


def test_reboot_loses_what_was_not_saved(bench: Bench) -> None:
    bench.enter("ntp server 192.0.2.77")
    boots = bench.switch.boots
    bench.switch.reboot()
    assert "192.0.2.77" not in bench.running()
    assert bench.switch.boots == boots + 1
    assert bench.json("show version")[0]["uptime"] == 0


def test_neighbours_come_from_the_cables(bench: Bench) -> None:
    rows = bench.json("show lldp neighbors")[0]["lldpNeighbors"]
    assert rows == [
        {"port": "Ethernet1/1", "neighborDevice": "gpu01", "neighborPort": "rail0", "ttl": 120},
        {"port": "Ethernet2/1", "neighborDevice": "gpu01", "neighborPort": "rail1", "ttl": 120},
    ]
    shown = bench.json("show interfaces")[0]["interfaces"]
    assert shown["Ethernet1/1"]["lineProtocolStatus"] == "up"
    assert shown["Ethernet9/1"]["lineProtocolStatus"] == "down"


def lossless(bench: Bench, *more: str) -> None:
    bench.enter(
        "qos profile P", "priority-flow-control on", "priority-flow-control priority 3 no-drop", *more,
        "interface Ethernet1/1", "service-profile P",
    )  # fmt: skip


def test_storm_of_the_neighbour_shows_in_counters(bench: Bench) -> None:
    peer = SimpleNamespace(
        device=SimpleNamespace(faults=lambda: (Fault("storm", port="rail0"),)), counters=lambda port: {}
    )
    lossless(bench, "priority-flow-control pause watchdog")
    bench.cables.others["gpu01"] = peer
    bench.json("show priority-flow-control counters")
    bench.time += 2
    pfc, events = bench.json("show priority-flow-control counters", "show priority-flow-control counters watchdog")
    assert pfc["interfaceCounters"]["Ethernet1/1"]["rxFrames"] > 0
    assert pfc["interfaceCounters"]["Ethernet2/1"]["rxFrames"] == 0
    assert events["interfaces"] == {"Ethernet1/1": {"txQueues": {"3": {"stuckCount": 1, "recoveryCount": 0}}}}

    bench.cables.others.clear()
    events = bench.json("show priority-flow-control counters watchdog")[0]
    assert events["interfaces"] == {"Ethernet1/1": {"txQueues": {"3": {"stuckCount": 1, "recoveryCount": 1}}}}
    after = bench.json("show priority-flow-control counters")[0]["interfaceCounters"]["Ethernet1/1"]["rxFrames"]
    assert after >= pfc["interfaceCounters"]["Ethernet1/1"]["rxFrames"]  # counters never fall


def test_without_a_watchdog_a_storm_leaves_no_event(bench: Bench) -> None:
    peer = SimpleNamespace(device=SimpleNamespace(faults=lambda: (Fault("storm"),)), counters=lambda port: {})
    lossless(bench)
    bench.cables.others["gpu01"] = peer
    bench.json("show priority-flow-control counters")
    bench.time += 2
    assert bench.json("show priority-flow-control counters watchdog")[0]["interfaces"] == {}


def test_pause_frames_of_the_neighbour_are_mirrored(bench: Bench) -> None:
    peer = SimpleNamespace(device=SimpleNamespace(faults=lambda: ()), counters=lambda port: {"pfc_tx.3": 41})
    lossless(bench)
    bench.cables.others["gpu01"] = peer
    assert bench.json("show priority-flow-control counters")[0]["interfaceCounters"]["Ethernet1/1"]["rxFrames"] == 41


def test_ecn_is_counted_only_where_the_interface_queue_says_so(bench: Bench) -> None:
    lossless(bench, "uc-tx-queue 3", "random-detect ecn minimum-threshold 256 kbytes maximum-threshold 512 kbytes")
    counts = bench.json("show qos interfaces ecn counters queue")[0]["intfQueueCounters"]
    assert counts["Ethernet1/1"]["queueCounters"]["3"] == "-"
    bench.enter("interface Ethernet1/1", "uc-tx-queue 3", "random-detect ecn count")
    counts = bench.json("show qos interfaces ecn counters queue")[0]["intfQueueCounters"]
    assert counts["Ethernet1/1"]["queueCounters"]["3"] == "0"
    assert "3         kbytes     256         512" in bench.text("show qos interfaces ethernet 1/1 ecn")


def test_faults_are_saved_as_a_person_would_have_done(bench: Bench) -> None:
    for fault in (
        Fault("wrong_trust", "Ethernet1/1"),
        Fault("mtu", "Ethernet1/1", "1500"),
        Fault("wrong_map"),
        Fault("pfc_missing", "Ethernet1/1"),
        Fault("ecn_missing", "Ethernet1/1"),
        Fault("watchdog_off", "Ethernet1/1"),
        Fault("watchdog_off"),
    ):
        assert bench.switch.inject(fault)
        assert bench.running().splitlines()[2:] == bench.text("show startup-config").splitlines()[2:]


@pytest.mark.parametrize(
    "fault", [Fault("wrong_trust"), Fault("mtu", "Ethernet77/1"), Fault("no_such"), Fault("refuse_line")]
)
def test_incomplete_faults_are_told(bench: Bench, fault: Fault) -> None:
    with pytest.raises(ValueError):
        bench.switch.inject(fault)


def test_refused_line_fault(bench: Bench) -> None:
    bench.faults.append(Fault("refuse_line", value="no-drop"))
    assert refused(bench, "configure", "qos profile P", "priority-flow-control priority 3 no-drop").code == 1002

"""The diff says everything a reviewer needs, once."""

import json
import re

from rocetune.model.outcome import DeviceDiff, DiffReport
from rocetune.report.diff import apply_commands, brief_text, diff_json, diff_markdown, diff_text, summary
from rocetune.report.table import Paint


def test_equal_devices_are_said_once(report: DiffReport) -> None:
    text = diff_text(report)
    assert "gpu01-gpu02: applies to 2 devices" in text
    assert text.count("0,0,0,0 → 0,0,0,1") == 1


def test_equal_ports_are_one_line_with_class_bytes_and_microseconds(report: DiffReport) -> None:
    line = next(line for line in diff_text(report).splitlines() if "roce ECN" in line)
    # 1.5 MB at 400 Gbit/s is 1500000*8/400e9 s = 30 us; 150 KB is 3 us
    assert "Ethernet1/1-Ethernet16/1 (16)" in line and "kmin 1.5 MB, 30 us → 150 KB, 3 us" in line
    assert "brief loss" in line


def test_the_long_form_has_native_keys_and_values(report: DiffReport) -> None:
    text = diff_text(report, verbose=True)
    assert "Ethernet1/1-Ethernet16/1 (16 ports)" in text
    line = next(line for line in text.splitlines() if "ecn minimum-threshold" in line)
    assert "interface * / tx-queue 3" in line
    assert "roce ECN kmin" in line
    assert "1500 kbytes (1.5 MB, 30 us) → 150 kbytes (150 KB, 3 us)" in line
    assert "brief loss" in line and "ecn.bdp" in line


def test_device_wide_objects_name_the_other_ports_they_serve(report: DiffReport) -> None:
    assert "device, with 2 ports not managed here" in diff_text(report)
    long = diff_text(report, verbose=True)
    assert "device-wide, also serves Ethernet31/1-Ethernet32/1 (2 ports not managed here)" in long


def test_removals_stand_apart_and_undo_runs_backwards(report: DiffReport) -> None:
    text = diff_text(report, verbose=True)
    assert text.index("not in the plan: removed after the rest") < text.index("- qos profile OLD")
    assert text.index("    qos profile OLD\n") < text.index("    no qos map dscp 26")


def test_rounding_unsupported_assumptions_errors_and_adopted_are_there(report: DiffReport) -> None:
    text = diff_text(report)
    assert "roce ECN kmin: 150000 B is written as 150 kbytes" in text
    assert "leaf1: there is no storm timer on this platform" in text
    assert "leaf1: the shared buffer is 64 MB (read it with show platform)" in text
    assert "gpu04: could not be read: connection refused" in text
    assert "1 already right" in text


def test_phases_come_in_the_order_of_the_push(report: DiffReport) -> None:
    text = diff_text(report)
    assert text.index("phase 1: maps, buffers") < text.index("phase 2: scheduler and ECN")


def test_the_summary_is_the_last_line(report: DiffReport) -> None:
    text = diff_text(report)
    assert text.splitlines()[-1] == summary(report)
    assert summary(report) == (
        "20 settings to change on 3 devices, up to link bounce; 1 setting already right; 1 device could not be read."
    )


def test_no_changes() -> None:
    same = DiffReport((DeviceDiff("leaf1", "arista_eos"),), live=True)
    assert diff_text(same) == "no changes on 1 device."


def test_colour_is_the_only_difference_of_a_terminal(report: DiffReport) -> None:
    coloured = diff_text(report, Paint(True))
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9]+m", "", coloured) == diff_text(report)


def test_undo_is_counted_and_shown_on_demand(report: DiffReport) -> None:
    assert "undo: 3 lines (-v)" in diff_text(report)
    assert "no qos map dscp 26" not in diff_text(report)
    assert "    no qos map dscp 26" in diff_text(report, verbose=True)


def test_the_brief_form_is_one_line_per_group(report: DiffReport) -> None:
    text = brief_text(report)
    rows = [line.split("  ") for line in text.splitlines() if line.startswith("  ")]
    assert [row[1] for row in rows[:3]] == ["devices", "gpu01-gpu02", "leaf1"]
    assert "1 setting each" in text and "gpu04: could not be read" in text and text.endswith(summary(report))


def test_what_forbids_a_push_leaves_no_command_to_push(report: DiffReport) -> None:
    from dataclasses import replace

    assert [words for words, _ in apply_commands(report)] == ["apply --bring-up", "apply --max-impact link_bounce"]
    leaf = report.devices[-1]
    lack = replace(leaf.unsupported[0], blocking=True)
    forbidden = DiffReport((*report.devices[:-1], replace(leaf, unsupported=(lack,))), live=True)
    assert apply_commands(forbidden) == ()
    assert "forbids a push" in diff_text(forbidden)


def test_json_is_complete_and_valid(report: DiffReport) -> None:
    document = json.loads(diff_json(report))
    assert document["format"] == "rocetune.diff/1"
    assert document["changed"] is True and document["impact"] == "link_bounce"
    assert [group["devices"] for group in document["groups"]] == [["gpu01", "gpu02"], ["leaf1"]]
    change = document["groups"][1]["changes"][0]
    assert change["old_sizes"] == {"kmin_bytes": {"bytes": 1_500_000, "us": 30.0}}
    assert change["new_sizes"] == {"kmin_bytes": {"bytes": 150_000, "us": 3.0}}
    assert change["class"] == "roce" and change["why"]["inputs"]["speed_mbps"] == 400_000
    assert document["groups"][1]["undo"][0] == "qos profile OLD"
    by_name = {item["device"]: item for item in document["devices"]}
    assert by_name["gpu04"]["error"] == "connection refused" and by_name["gpu03"]["group"] is None


def test_markdown_is_for_pull_requests(report: DiffReport) -> None:
    text = diff_markdown(report)
    assert text.startswith("**rocetune diff**: 20 settings to change on 3 devices")
    assert "### gpu01-gpu02: applies to 2 devices" in text
    assert "<details><summary>Undo (3 lines)</summary>" in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.count("|") - line.count("\\|") == 9 or "device" in line or line.count("|") == 3

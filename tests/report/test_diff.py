"""The diff says everything a reviewer needs, once."""

import json
import re

from rocetune.model.outcome import DeviceDiff, DiffReport
from rocetune.report.diff import diff_json, diff_markdown, diff_text, summary
from rocetune.report.table import Paint


def test_equal_devices_are_said_once(report: DiffReport) -> None:
    text = diff_text(report)
    assert "gpu01-gpu02: applies to 2 devices" in text
    assert text.count("0,0,0,0 → 0,0,0,1") == 1


def test_equal_ports_are_one_line_with_class_bytes_and_microseconds(report: DiffReport) -> None:
    text = diff_text(report)
    assert "Ethernet1/1-Ethernet16/1 (16 ports)" in text
    line = next(line for line in text.splitlines() if "ecn minimum-threshold" in line)
    assert "interface * / tx-queue 3" in line
    assert "roce ECN kmin" in line
    # 1.5 MB at 400 Gbit/s is 1500000*8/400e9 s = 30 us; 150 KB is 3 us
    assert "1500 kbytes (1.5 MB, 30 µs) → 150 kbytes (150 KB, 3 µs)" in line
    assert "brief loss" in line and "ecn.bdp" in line


def test_device_wide_objects_name_the_other_ports_they_serve(report: DiffReport) -> None:
    assert "device-wide, also serves Ethernet31/1-Ethernet32/1 (2 ports not managed here)" in diff_text(report)


def test_stale_lines_stand_apart_and_undo_runs_backwards(report: DiffReport) -> None:
    text = diff_text(report)
    assert text.index("stale: ours and no longer planned") < text.index("- qos profile OLD")
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
        "20 changes on 3 devices, up to link bounce; 1 setting already right; 1 device could not be read."
    )


def test_no_changes() -> None:
    same = DiffReport((DeviceDiff("leaf1", "arista_eos"),), live=True)
    assert diff_text(same) == "no changes on 1 device."


def test_colour_is_the_only_difference_of_a_terminal(report: DiffReport) -> None:
    coloured = diff_text(report, Paint(True))
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9]+m", "", coloured) == diff_text(report)


def test_long_undo_is_cut_in_text_unless_verbose(report: DiffReport) -> None:
    from dataclasses import replace

    from rocetune.model.change import Step

    leaf = replace(report.devices[-1], steps=tuple(Step("config", "x", f"line {n}") for n in range(40)))
    long = DiffReport((leaf,), live=True)
    assert "… 28 more lines" in diff_text(long)
    assert "    line 0\n" not in diff_text(long)
    assert "    line 0\n" in diff_text(long, verbose=True)


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
    assert text.startswith("**rocetune diff**: 20 changes on 3 devices")
    assert "### gpu01-gpu02: applies to 2 devices" in text
    assert "<details><summary>Undo (3 lines)</summary>" in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.count("|") - line.count("\\|") == 9 or "device" in line or line.count("|") == 3


def test_a_map_of_64_code_points_is_a_few_lines() -> None:
    from rocetune.model.change import Change, Comparison, Impact, Phase

    def entry(dscp: int) -> Change:
        new = "3" if dscp == 26 else "0"
        return Change(("dscp2prio", str(dscp)), "add", None, new, Phase.SERVER, Impact.MARKING)

    changes = tuple(entry(dscp) for dscp in sorted(range(64), key=str))
    text = diff_text(DiffReport((DeviceDiff("gpu01", "linux", Comparison(changes)),), live=True))
    rows = [line.split() for line in text.splitlines() if "dscp2prio" in line]
    assert [row[3] for row in rows] == ["0-25,27-63", "26"]

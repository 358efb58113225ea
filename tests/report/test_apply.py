"""A push report tells what happened, where everything stands and what to type next."""

import json

import pytest

from rocetune.model.change import Phase
from rocetune.model.finding import Finding
from rocetune.model.outcome import ApplyReport, DeviceDiff, DeviceStanding, DiffReport, DoctorReport, PushResult
from rocetune.report.apply import apply_json, apply_markdown, apply_text, next_commands, summary

DIFF = DiffReport((DeviceDiff("gpu01", "linux"), DeviceDiff("leaf1", "arista_eos")), live=True)
HEALTHY = DoctorReport((), passed=10, devices=2)
SICK = DoctorReport((Finding("PFC-001", "critical", "fail", "leaf1", "PFC is off", port="Ethernet1/1"),), 9, 2)


def _results() -> tuple[PushResult, ...]:
    return (
        PushResult("leaf1", Phase.BUFFERS, "canary", "confirmed", seconds=1.25),
        PushResult("gpu02", Phase.SERVER, "wave 1/1", "confirmed", seconds=0.5),
        PushResult("gpu01", Phase.SERVER, "wave 1/1", "confirmed", seconds=2.5),
        PushResult("gpu03", Phase.SERVER, "wave 1/1", "failed", "mlnx_qos: bad value\nmore"),
    )


def test_waves_show_phase_devices_outcome_and_the_slowest_time() -> None:
    text = apply_text(ApplyReport("r1", "mixed", DIFF, _results()))
    lines = text.splitlines()
    assert [line.split("  ")[1] for line in lines[1:]] == ["maps, buffers and headroom"] + ["server QoS"] * 2
    assert "gpu01-gpu02  confirmed  2.5 s" in lines[2]
    assert lines[3].rstrip().endswith("mlnx_qos: bad value")


@pytest.mark.parametrize(
    ("report", "words", "code", "following"),
    [
        (ApplyReport("r1", "unchanged", DIFF, doctor=HEALTHY, seconds=2), "no changes: 2 devices", 0, ()),
        (
            ApplyReport("r1", "applied", DIFF, doctor=HEALTHY, seconds=2),
            "healthy, in 2.0 s (run r1)",
            0,
            ("rollback r1",),
        ),
        (ApplyReport("r1", "applied", DIFF, doctor=SICK), "unhealthy", 1, ("doctor", "rollback r1")),
        (ApplyReport("r1", "refused", DIFF, problems=("no",)), "nothing was changed (1 reason)", 2, ()),
        (ApplyReport("r1", "rolled back", DIFF), "rolled back: 2 devices", 1, ("diff",)),
        (
            ApplyReport("r1", "mixed", DIFF, standings=(DeviceStanding("leaf1", "unknown"),)),
            "mixed: leaf1 unknown",
            3,
            ("apply --resume r1", "rollback r1"),
        ),
    ],
)
def test_verdicts(report: ApplyReport, words: str, code: int, following: tuple[str, ...]) -> None:
    assert words in summary(report)
    assert report.exit_code == code
    assert next_commands(report) == following
    assert json.loads(apply_json(report))["exit_code"] == code


def test_healthy_says_what_it_does_not_stand_on() -> None:
    blind = (Finding("FW-007", "info", "unknown", "gpu01", "t"), Finding("DRF-001", "error", "unknown", "gpu01", "t"))
    report = ApplyReport("r1", "applied", DIFF, doctor=DoctorReport(blind, 9, 2))
    assert report.exit_code == 0
    assert ", healthy as far as it could be judged (without 2 checks: DRF-001, FW-007), in" in summary(report)
    context = ApplyReport("r1", "applied", DIFF, doctor=DoctorReport(blind[:1], 9, 2))
    assert ", healthy, in" in summary(context)


def test_a_reverting_device_says_by_when() -> None:
    report = ApplyReport("r1", "mixed", DIFF, standings=(DeviceStanding("leaf1", "reverting", until=0.0),))
    assert "back to the old configuration by " in apply_text(report)


def test_json_and_markdown_carry_every_result() -> None:
    report = ApplyReport("r1", "mixed", DIFF, _results(), doctor=SICK, problems=("stopped at gpu03",))
    document = json.loads(apply_json(report))
    assert document["format"] == "rocetune.apply/1"
    assert [item["device"] for item in document["results"]] == ["leaf1", "gpu02", "gpu01", "gpu03"]
    assert document["findings"][0]["id"] == "PFC-001" and document["health"] == "unhealthy"
    assert "| server QoS | wave 1/1 | gpu01-gpu02 | confirmed | 2.5 s |" in apply_markdown(report)
    assert "- stopped at gpu03" in apply_markdown(report)


def test_devices_that_stand_alike_share_a_row() -> None:
    standings = (
        *(DeviceStanding(f"gpu0{n}", "old") for n in range(1, 5)),
        DeviceStanding("leaf1", "unknown", detail="gone"),
    )
    lines = apply_text(ApplyReport("r1", "mixed", DIFF, standings=standings)).splitlines()
    assert [line.split() for line in lines[1:]] == [["gpu01-gpu04", "old"], ["leaf1", "unknown", "gone"]]

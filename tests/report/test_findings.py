"""The doctor's report: what a person reads, and the shapes that programs rely on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree as Xml

import pytest

from rocetune.model.finding import Finding
from rocetune.model.outcome import DoctorReport
from rocetune.model.state import Evidence
from rocetune.report.findings import findings_json, findings_junit, findings_markdown, findings_text, summary
from rocetune.report.table import Paint

ROOT = Finding(
    "PFC-002",
    "critical",
    "fail",
    "leaf1",
    "PFC is off on the RoCE priority of the switch port",
    port="Ethernet1/1",
    priority=3,
    expected="PFC on for priority 3",
    observed="off",
    evidence=Evidence("show priority-flow-control", "Et1/1   No   -   No"),
    fix=("configure", "interface Ethernet1/1", "priority-flow-control priority 3 no-drop"),
    reason="congestion on this hop ends in drops",
    path=("Ethernet1/1", "priorities", 3, "pfc"),
    want=True,
    folded=2,
    consequences=(
        Finding("PFC-003", "critical", "fail", "leaf1", "ends differ", port="Ethernet1/1", priority=3),
        Finding("DRF-001", "error", "fail", "leaf1", "running configuration differs from intent"),
    ),
)
STORM = Finding(
    "STM-001",
    "warning",
    "fail",
    "gpu01",
    "server sends pause frames (slow receiver)",
    port="rail0",
    priority=3,
    expected="at most 1 %",
    observed="paused 4 % of the time",
    fix=("look at the server's PCIe link",),
    reason="the bottleneck is inside the server",
    peer="leaf1 Ethernet1/1",
)
BLIND = tuple(
    Finding(
        "CC-001",
        "error",
        "unknown",
        f"gpu{server:02}",
        "DCQCN notification point is off on the RoCE priority",
        port=f"rail{rail}",
        priority=3,
        reason="the device's answers do not show host/np_priorities",
    )
    for server in range(1, 5)
    for rail in range(8)
)
SICK = DoctorReport((ROOT, STORM, *BLIND), passed=800, devices=6, seconds=4.2)
HEALTHY = DoctorReport((), passed=830, devices=6, seconds=4.2)


class TestText:
    def test_a_failure_names_place_proof_and_fix(self) -> None:
        text = findings_text(SICK)
        block = text.split("\n\n")[0].splitlines()
        assert block[0].split() == ["critical", "PFC-002", *ROOT.title.split()]
        rows = {line.split()[0]: " ".join(line.split()[1:]) for line in block[1:]}
        assert rows["where"] == "leaf1 Ethernet1/1, priority 3"
        assert rows["expected"] == "PFC on for priority 3" and rows["observed"] == "off"
        assert rows["evidence"] == "show priority-flow-control: Et1/1 No - No"
        assert rows["explains"] == "DRF-001 leaf1; PFC-003 leaf1 Ethernet1/1"
        assert [line.strip() for line in block[-2:]] == [
            "interface Ethernet1/1",
            "priority-flow-control priority 3 no-drop",
        ]

    def test_columns_line_up(self) -> None:
        block = findings_text(SICK).split("\n\n")[0].splitlines()
        starts = {line.index(line.split(None, 1)[1]) for line in block[1:7]}
        assert len(starts) == 1

    def test_the_same_unknown_of_many_ports_is_one_line(self) -> None:
        text = findings_text(SICK)
        assert text.count("CC-001  ") == 1
        assert "(32 places)" in text and "gpu01-gpu04 rail0-rail7, priority 3: the device's answers" in text

    def test_the_same_failure_of_many_ports_is_one_block(self) -> None:
        many = tuple(
            Finding(
                "MAP-002", "error", "fail", "leaf1", "t", f"Ethernet{n}/1", expected="e", observed="o", fix=(f"{n}",)
            )
            for n in range(1, 17)
        )  # fmt: skip
        text = findings_text(DoctorReport(many, 0, 1))
        assert text.count("MAP-002") == 1 and "leaf1 Ethernet1/1-Ethernet16/1" in text
        assert "on leaf1 Ethernet1/1:" in text and "(13 more places, leaf1 Ethernet4/1-Ethernet16/1: -v" in text
        assert "on leaf1 Ethernet16/1:" in findings_text(DoctorReport(many, 0, 1), verbose=True)

    def test_one_fix_for_all_is_said_once(self) -> None:
        many = tuple(Finding("DRF-001", "error", "fail", f"leaf{n}", "t", fix=("rocetune diff",)) for n in range(4))
        assert findings_text(DoctorReport(many, 0, 4)).count("rocetune --limit leaf0,leaf1,leaf2,leaf3 diff") == 2

    def test_our_own_command_of_many_devices_is_one_line_with_the_readers_options(self) -> None:
        many = tuple(
            Finding("FW-004", "error", "fail", f"gpu{n}", "t", fix=(f"rocetune --limit gpu{n} apply",))
            for n in range(1, 9)
        )
        text = findings_text(DoctorReport(many, 0, 8), again=lambda words: f"rocetune --site s --lab {words}")
        lines = [line.split(None, 1)[1] for line in text.splitlines() if line.startswith("  fix")]
        assert lines == ["rocetune --site s --lab --limit gpu1,gpu2,gpu3,gpu4,gpu5,gpu6,gpu7,gpu8 apply"]

    def test_a_long_fix_is_offered_as_one_push_first(self) -> None:
        long = replace(ROOT, fix=("mlnx_qos " + "--dscp2prio set,26,3 " * 30,), apply=True)
        text = findings_text(DoctorReport((long,), 0, 1), again=lambda words: f"rocetune --lab {words}")
        assert "fix       rocetune --lab --limit leaf1 apply\n" in text and "or by hand:" in text
        short = replace(ROOT, apply=True)
        assert "or by hand" not in findings_text(DoctorReport((short,), 0, 1))
        no_push = replace(long, apply=False)  # a push would not write it
        assert "or by hand" not in findings_text(DoctorReport((no_push,), 0, 1))

    def test_sentences_are_said_once_without_places(self) -> None:
        many = tuple(
            Finding("CTR-008", "error", "fail", f"gpu{n}", "t", "rail0", fix=("Find the loss.",)) for n in range(3)
        )
        text = findings_text(DoctorReport(many, 0, 3))
        assert "  fix       Find the loss.\n" in text and text.count("Find the loss.") == 1

    def test_different_reasons_are_all_named(self) -> None:
        blind = tuple(
            Finding("FW-007", "info", "unknown", device, "something could not be read", reason=reason)
            for device, reason in (("leaf1", "show x: denied"), ("leaf2", "show x: denied"), ("gpu01", "no mlnx_qos"))
        )
        text = findings_text(DoctorReport(blind, 0, 3))
        assert "leaf1-leaf2: show x: denied" in text and "gpu01: no mlnx_qos" in text

    def test_skipped_links_are_said_once_and_the_verdict_stays(self) -> None:
        text = findings_text(replace(HEALTHY, skipped=12))
        assert text.count("12 link checks skipped: the other end is outside --limit") == 1
        assert text.splitlines()[-1].startswith("healthy: nothing fails;")

    def test_a_healthy_summary_names_what_could_not_be_judged_the_gravest_first(self) -> None:
        blind = tuple(
            Finding(name, severity, "unknown", "gpu01", "t", reason="not read")  # type: ignore[arg-type]
            for name, severity in (
                ("FW-007", "info"),
                ("WD-008", "warning"),
                ("DRF-001", "error"),
                ("APP-001", "error"),
                ("CC-001", "error"),
            )
        )
        report = replace(HEALTHY, findings=blind)
        assert report.verdict == "healthy"
        assert summary(report).startswith(
            "healthy: nothing fails; 5 checks (DRF-001, APP-001, CC-001, WD-008 and 1 more) "
            "could not be judged on 1 device;"
        )
        assert "DRF-001" in findings_text(report).splitlines()[-1]

    def test_summary_is_last_and_the_next_command_before_it(self) -> None:
        lines = findings_text(SICK).splitlines()
        assert lines[-1] == (
            "unhealthy: 2 findings (1 critical, 1 warning) on 2 ports of 2 devices; "
            "1 check (CC-001) could not be judged on 32 ports of 4 devices; 800 passed on 6 devices in 4.2 s."
        )
        assert lines[-2] == "Next: rocetune --limit leaf1 diff"  # the drift hides under the root cause
        assert "Next: rocetune --lab --limit leaf1 diff" in findings_text(
            SICK, again=lambda command: f"rocetune --lab {command}"
        )

    def test_healthy_is_one_line(self) -> None:
        assert findings_text(HEALTHY) == "healthy: nothing fails; 830 passed on 6 devices in 4.2 s."

    def test_unreachable_devices(self) -> None:
        text = findings_text(DoctorReport((), 10, 3, unreachable=("gpu03", "gpu04")))
        assert "not reached: gpu03-gpu04" in text and "Next: rocetune --limit gpu03,gpu04 doctor" in text
        assert text.splitlines()[-1].startswith("unknown: nothing fails; 10 passed; 2 devices not reached")

    def test_one_sample_is_said(self) -> None:
        assert "Counters were read once only" in findings_text(DoctorReport(BLIND, 0, 4, one_sample=True))

    def test_no_colour_unless_asked(self) -> None:
        assert "\x1b" not in findings_text(SICK)
        assert "\x1b[31mcritical" in findings_text(SICK, Paint(True))

    def test_a_devices_answer_cannot_steer_the_terminal(self) -> None:
        evil = Finding("X-1", "error", "fail", "leaf1", "t", evidence=Evidence("show x", "a\x1b[2Jb\x07c\nd"))
        assert "\x1b" not in findings_text(DoctorReport((evil,), 0, 1))


class TestJson:
    FINDING = (
        "id severity verdict device port priority title expected observed evidence fix apply reason peer folded "
        "consequences"
    )

    def test_schema_is_stable(self) -> None:
        document = json.loads(findings_json(SICK))
        assert list(document) == [
            "format", "verdict", "summary", "devices", "passed", "skipped", "unreachable", "seconds", "one_sample",
            "findings",
        ]  # fmt: skip
        assert document["format"] == "rocetune.doctor/1"
        assert all(list(item) == self.FINDING.split() for item in document["findings"])

    def test_values(self) -> None:
        first = json.loads(findings_json(SICK))["findings"][0]
        assert first["id"] == "PFC-002" and first["port"] == "Ethernet1/1" and first["priority"] == 3
        assert first["evidence"] == {"command": "show priority-flow-control", "line": "Et1/1   No   -   No"}
        assert first["fix"][0] == "configure" and first["peer"] is None and first["folded"] == 2
        assert first["consequences"][1] == {
            "id": "DRF-001", "severity": "error", "verdict": "fail", "device": "leaf1", "port": None, "priority": None,
        }  # fmt: skip

    def test_healthy(self) -> None:
        document = json.loads(findings_json(HEALTHY))
        assert (document["verdict"], document["findings"], document["passed"]) == ("healthy", [], 830)


class TestJunit:
    def test_it_parses_and_counts(self) -> None:
        root = Xml.fromstring(findings_junit(SICK))
        suite = root.find("testsuite")
        assert root.tag == "testsuites" and suite is not None
        assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
            "34", "2", "0", "32",
        )  # fmt: skip
        case = suite.find("testcase")
        assert case is not None and case.get("classname") == "leaf1:Ethernet1/1"
        failure = case.find("failure")
        assert failure is not None and failure.get("message") == "expected PFC on for priority 3, observed off"
        assert "fix: interface Ethernet1/1" in (failure.text or "")

    def test_critical_unknown_and_unreached_are_errors(self) -> None:
        blind = Finding("PFC-001", "critical", "unknown", "gpu01", "t", reason="not read")
        suite = Xml.fromstring(findings_junit(DoctorReport((blind,), 0, 2, unreachable=("gpu02",)))).find("testsuite")
        assert suite is not None and suite.get("errors") == "2"

    def test_healthy_has_a_passing_case(self) -> None:
        suite = Xml.fromstring(findings_junit(HEALTHY)).find("testsuite")
        assert suite is not None and suite.get("tests") == "1" and suite.get("failures") == "0"

    @pytest.mark.parametrize("text", ["<&>\"'", "bell \x07 escape \x1b", "参数网"])
    def test_any_text_is_legal_xml(self, text: str) -> None:
        odd = Finding("X-1", "error", "fail", "leaf1", text, observed=text, evidence=Evidence(text, text), fix=(text,))
        Xml.fromstring(findings_junit(DoctorReport((odd,), 0, 1)))


class TestMarkdown:
    def test_tables_and_fix_block(self) -> None:
        text = findings_markdown(SICK)
        assert text.startswith("## Doctor: unhealthy\n")
        assert "| critical | PFC-002 |" in text and "### Could not be judged" in text
        assert "```\nconfigure\ninterface Ethernet1/1\n" in text and text.endswith("\n")

    def test_pipes_do_not_break_the_table(self) -> None:
        odd = Finding("X-1", "error", "fail", "leaf1", "a|b", observed="c\nd")
        row = next(line for line in findings_markdown(DoctorReport((odd,), 0, 1)).splitlines() if "X-1" in line)
        assert "a\\|b" in row and "c<br>d" in row


def test_summary_counts_by_severity() -> None:
    assert summary(SICK).startswith("unhealthy: 2 findings (1 critical, 1 warning) on 2 ports of 2 devices;")


def test_counts_are_of_findings_as_listed() -> None:
    many = tuple(replace(ROOT, port=f"Ethernet{number}/1", consequences=(), folded=0) for number in range(1, 13))
    report = DoctorReport((*many, replace(STORM, port=None)), 5, 3)
    assert summary(report) == (
        "unhealthy: 2 findings (1 critical, 1 warning) on 12 ports of 2 devices; 5 passed on 3 devices."
    )
    assert len(findings_text(report).split("\n\n")) == 3  # two findings, and the end


@pytest.mark.parametrize("writer", [findings_json, findings_markdown, findings_junit])
def test_every_format_puts_the_readers_options_into_our_commands(writer: Callable[..., str]) -> None:
    lost = Finding("FW-004", "error", "fail", "gpu01", "t", fix=("rocetune --limit gpu01 apply",), apply=True)
    text = writer(DoctorReport((lost,), 0, 1), lambda words: f"rocetune --lab {words}")
    assert "rocetune --lab --limit gpu01 apply" in text and "rocetune --limit" not in text

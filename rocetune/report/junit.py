"""The doctor's report as JUnit XML: one test case per finding, so that a CI page lists what is wrong.

A failing check is a failure; one that could not be judged is skipped when it is harmless and an error when it is
critical, as the verdict does. Passed checks are a property of the suite: their places are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from xml.etree import ElementTree as Xml

from rocetune.model.finding import Finding
from rocetune.model.outcome import DoctorReport

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # not allowed in XML 1.0


Fix = Callable[[Finding], Sequence[str]]


def junit(report: DoctorReport, fix: Fix = lambda item: item.fix) -> str:
    """The document, with its declaration. ``fix`` says what a person types."""
    cases = [_case(item, fix) for item in report.findings] + [_unreached(name) for name in report.unreachable]
    if not cases:
        cases = [Xml.Element("testcase", classname="doctor", name=f"{report.passed} checks passed")]
    suite = Xml.Element(
        "testsuite",
        name="rocetune doctor",
        tests=str(len(cases)),
        failures=str(_count(cases, "failure")),
        errors=str(_count(cases, "error")),
        skipped=str(_count(cases, "skipped")),
        time=f"{report.seconds:.3f}",
    )
    properties = Xml.SubElement(suite, "properties")
    counts = {"verdict": report.verdict, "passed": report.passed, "skipped": report.skipped, "devices": report.devices}
    for name, value in counts.items():
        Xml.SubElement(properties, "property", name=name, value=str(value))
    suite.extend(cases)
    root = Xml.Element("testsuites")
    root.append(suite)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True)


def _case(item: Finding, fix: Fix) -> Xml.Element:
    place = ":".join([item.device, *([item.port] if item.port else [])])
    priority = "" if item.priority is None else f" priority {item.priority}"
    case = Xml.Element("testcase", classname=_clean(place), name=_clean(f"{item.id} {item.title}{priority}"))
    if item.verdict == "fail":
        kind = "skipped" if item.severity == "info" else "failure"
    else:
        kind = "error" if item.severity == "critical" else "skipped"
    message = f"expected {item.expected}, observed {item.observed}" if item.verdict == "fail" else item.reason
    result = Xml.SubElement(case, kind, message=_clean(message))
    if kind != "skipped":
        result.set("type", item.severity)
    result.text = _clean("\n".join(_details(item, fix)))
    return case


def _details(item: Finding, fix: Fix) -> list[str]:
    lines = [item.reason] if item.reason else []
    if item.evidence is not None:
        lines.append(f"evidence: {item.evidence.command}: {item.evidence.line}")
    lines += [f"fix: {line}" for line in fix(item)]
    lines += [f"explains: {other.id} {other.device} {other.port or ''}".rstrip() for other in item.consequences]
    return lines


def _unreached(device: str) -> Xml.Element:
    case = Xml.Element("testcase", classname=_clean(device), name="device reached")
    Xml.SubElement(case, "error", message="not reached", type="unreachable")
    return case


def _count(cases: list[Xml.Element], kind: str) -> int:
    return sum(case.find(kind) is not None for case in cases)


def _clean(text: str) -> str:
    return _ILLEGAL.sub("?", text)

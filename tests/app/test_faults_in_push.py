"""Trouble in a push: every device ends old, new, or reverting by a known time, and the tool says which."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocetune.app.applying import resume
from rocetune.app.diffing import diff
from rocetune.app.errors import UseError
from rocetune.deploy import journal as journals
from rocetune.model.outcome import ApplyReport
from tests.app.rack import Rack, rack

pytestmark = pytest.mark.lab


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Rack]:
    with rack(tmp_path) as served:
        yield served


def running(site: Rack) -> dict[str, object]:
    return {item.device: item.comparison.changes for item in diff(site.ws).devices}


def standings(report: ApplyReport) -> dict[str, str]:
    return {item.device: item.standing for item in report.standings}


def test_an_unreachable_device_stops_the_run_before_any_write(site: Rack) -> None:
    before = running(site)
    site.lab.fault("gpu01", "unreachable")
    report = site.apply()
    assert (report.verdict, report.exit_code) == ("refused", 2)
    assert any(text.startswith("gpu01:") for text in report.problems)
    assert journals.runs(site.ws.state) == ()
    site.lab.clear()
    assert running(site) == before


@pytest.mark.parametrize(("device", "line"), [("leaf1", "priority-flow-control"), ("gpu01", "mlnx_qos")])
def test_a_refused_line_takes_the_whole_run_back(site: Rack, device: str, line: str) -> None:
    before = running(site)
    site.lab.fault(device, "refuse_line", value=line)
    report = site.apply()
    assert report.verdict == "rolled back", report.problems
    assert report.exit_code == 1
    assert any(device in text for text in report.problems)
    assert set(standings(report).values()) == {"old"}
    site.lab.clear()
    assert running(site) == before
    assert site.apply().verdict == "applied"


def test_where_even_the_undo_is_refused_the_device_reverts_by_itself_and_the_tool_says_so(site: Rack) -> None:
    before = running(site)
    site.lab.fault("leaf2", "refuse_line", value="PORT_QOS_MAP")
    report = site.apply()
    assert (report.verdict, report.exit_code) == ("mixed", 3)
    stuck = next(item for item in report.standings if item.device == "leaf2")
    assert stuck.standing == "reverting"
    assert stuck.until is not None
    site.lab.clear()
    with pytest.raises(UseError, match="not settled"):
        site.apply()
    assert resume(site.ws, yes_confirm=lambda report: False).verdict == "refused"
    assert running(site) == before
    assert site.apply().verdict == "applied"


def test_a_second_run_at_once_is_refused_with_the_first_ones_id(site: Rack) -> None:
    seen: list[str] = []

    def meanwhile(report: object) -> bool:
        with pytest.raises(UseError) as refused:
            site.apply()
        seen.append(refused.value.text)
        return True

    first = site.apply(yes_confirm=meanwhile)
    assert first.verdict == "applied"
    assert first.run in seen[0]


def test_an_impact_beyond_the_limit_is_refused(site: Rack) -> None:
    report = site.apply(bring_up=False)
    assert report.verdict == "refused"
    assert any("--max-impact" in text for text in report.problems)


@pytest.mark.parametrize("device", ["leaf1", "leaf2", "gpu01"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_cut_in_the_middle_is_survived_or_taken_back(site: Rack, device: str, when: str) -> None:
    words = {"leaf1": "commit timer", "leaf2": "config checkpoint", "gpu01": "systemd-run"}
    before = running(site)
    site.lab.fault(device, "drop_session", value=f"{when}:{words[device]}", count=1)
    report = site.apply()
    assert report.verdict in ("applied", "rolled back"), report.problems
    site.lab.clear()
    after = running(site)
    if report.verdict == "applied":
        assert not any(after.values())
    else:
        assert after == before
        assert site.apply().verdict == "applied"


def test_resume_without_a_cut_off_run_says_so(site: Rack) -> None:
    with pytest.raises(UseError, match="nothing to resume"):
        resume(site.ws)

"""The main job: a rack from factory settings to healthy, unchanged the second time, and back again."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocetune.app.applying import rollback
from rocetune.app.diagnosis import doctor
from rocetune.app.diffing import diff
from tests.app.rack import rack


@pytest.mark.lab
def test_bring_up_then_nothing_to_do_then_back(tmp_path: Path) -> None:
    with rack(tmp_path) as site:
        before = {item.device: item.comparison for item in diff(site.ws).devices}
        first = site.apply()
        assert first.verdict == "applied", first.problems
        assert first.doctor is not None and first.doctor.verdict == "healthy", first.doctor.findings
        assert {item.standing for item in first.standings} == {"new"}

        second = site.apply()
        assert second.verdict == "unchanged"
        assert second.exit_code == 0
        assert doctor(site.ws, interval_s=0.2).verdict == "healthy"

        back = rollback(site.ws, first.run)
        assert back.verdict == "applied", back.problems
        after = {item.device: item.comparison for item in diff(site.ws).devices}
        assert {name: found.changes for name, found in after.items()} == {
            name: found.changes for name, found in before.items()
        }

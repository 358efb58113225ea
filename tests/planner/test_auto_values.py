"""docs/auto-values.md says what the planner says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "auto_values.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("auto_values", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(script: ModuleType) -> None:
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "run: python scripts/auto_values.py"


def test_every_chip_has_its_speeds_and_nothing_is_infeasible(script: ModuleType) -> None:
    rows = list(script.rows())
    assert {row[0] for row in rows} == set(script.CHIPS)
    assert {row[1] for row in rows} == {"25G", "100G", "200G", "400G", "800G"}
    assert not [row for row in rows if "cannot be" in row[4]]

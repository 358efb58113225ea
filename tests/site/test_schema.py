"""JSON Schemas: shipped files are what the models say, and agree with the loader on the shipped site."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rocetune.model.profile import ClassIntent, Profile
from rocetune.site.schema import KINDS, Kind, file_name, schema, text

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("kind", KINDS)
def test_shipped_schemas_are_generated(kind: Kind) -> None:
    shipped = (ROOT / "schemas" / file_name(kind)).read_text(encoding="utf-8")
    assert shipped == text(kind), "run: python -m rocetune.site.schema schemas"


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_closed_and_resolvable(kind: Kind) -> None:
    made = schema(kind)
    assert made["$schema"] == "https://json-schema.org/draft/2020-12/schema"

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            reference = value.get("$ref")
            if isinstance(reference, str):
                assert reference.removeprefix("#/$defs/") in made["$defs"]
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(made)


def test_every_key_of_a_profile_is_in_the_schema() -> None:
    made = schema("profile")
    assert set(made["properties"]) == set(Profile.model_fields)
    assert set(made["$defs"]["ClassIntent"]["properties"]) == set(ClassIntent.model_fields)
    assert made["$defs"]["ClassIntent"]["required"] == ["priority"]
    assert "required" not in made["$defs"]["ClassIntentPart"]
    assert "off" in made["$defs"]["Ecn"]["properties"]["objective"]["enum"]


def test_quantities_have_patterns_that_take_what_the_parser_takes() -> None:
    watchdog = schema("profile")["$defs"]["WatchdogIntent"]["properties"]
    assert re.search(watchdog["detect"]["pattern"], "200ms")
    assert not re.search(watchdog["detect"]["pattern"], "200")
    assert watchdog["detect"]["default"] == "200ms"


def test_sample_files_point_editors_at_their_schema() -> None:
    for path in (*ROOT.glob("inventory/*.yaml"), *ROOT.glob("profiles/*.yaml"), ROOT / "rocetune.yaml"):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        match = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
        assert match, path
        assert json.loads((path.parent / match[1]).read_text(encoding="utf-8"))["title"]

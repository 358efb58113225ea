"""The YAML reader: YAML 1.2 scalars, places, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from rocetune.site import yaml
from rocetune.site.errors import Problems
from rocetune.site.sources import Map, Seq, Sources, find


def read(tmp_path: Path, text: str) -> tuple[Any, Problems]:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    problems = Problems(Sources(tmp_path))
    return yaml.load(path, problems.sources, problems), problems


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # YAML 1.2.2, section 10.3.2, and the words of 1.1 that are plain strings there
        ("off", "off"), ("on", "on"), ("yes", "yes"), ("no", "no"), ("y", "y"), ("10:30", "10:30"),
        ("1_000", "1_000"), ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("0o17", 15), ("017", 17), ("0x1F", 31), ("-7", -7), ("+3", 3), ("0.5", 0.5), (".5", 0.5), ("1e3", 1000.0),
        ("2024-01-01", "2024-01-01"), ("0-7", "0-7"), ("50%", "50%"), ("200ms", "200ms"), ("-", "-"), (".", "."),
        ("1.", 1.0), ("<<", "<<"), ("=", "="),
    ],
)  # fmt: skip
def test_plain_scalars_are_those_of_yaml_1_2(text: str, value: Any) -> None:
    assert yaml.scalar(text) == value
    assert type(yaml.scalar(text)) is type(value)


@given(st.from_regex(r"[-+.0-9eExoa-f]{1,8}", fullmatch=True))
def test_number_like_scalars_agree_with_a_yaml_1_2_library(text: str) -> None:
    other = YAML(typ="safe", pure=True)
    try:
        expected = other.load(f"x: {text}")["x"]
    except Exception:  # not one plain scalar, or something ruamel trips over
        return
    if isinstance(expected, str | int | float) and not isinstance(expected, bool):
        assert yaml.scalar(text) == expected


def test_quoted_scalars_stay_text(tmp_path: Path) -> None:
    assert read(tmp_path, "a: '1'\nb: \"true\"\nc: !!str 5\n")[0] == {"a": "1", "b": "true", "c": "5"}


def test_every_node_has_its_place(tmp_path: Path) -> None:
    data, problems = read(tmp_path, "one: 1\nlist:\n  - a\n  - {deep: x, other: y}\n")
    where = {
        ("one",): "x.yaml:1:6",
        ("list",): "x.yaml:3:3",
        ("list", 0): "x.yaml:3:5",
        ("list", 1): "x.yaml:4:5",
        ("list", 1, "other"): "x.yaml:4:22",
        ("list", 1, "absent"): "x.yaml:4:5",
    }
    for path, expected in where.items():
        place = find(data, path)
        assert place is not None
        assert str(problems.sources.position(place)) == expected
    key = find(data, ("list", 1, "other"), key=True)
    assert key is not None
    assert str(problems.sources.position(key)) == "x.yaml:4:15"


@pytest.mark.parametrize(
    ("text", "place", "reason", "remedy"),
    [
        ("a: 1\nb: 2\na: 3\n", "3:1", "key 'a' appears twice", "line 1"),
        ("a:\n  b: 1\n  b: 2\n", "3:3", "key 'b' appears twice", "line 2"),
        ("a:\n\tb: 1\n", "2:1", "a tab stands where YAML wants spaces", "spaces"),
        ("a: 1\n---\nb: 2\n", "2:1", "a second document", "split"),
        ("a: b: c\n", "1:5", "a second ': '", "quotes"),
        ("a: [1, 2\nb: 3\n", "2:2", "bracket or comma is missing", "close"),
        ("a: 'x\n", "2:1", "a quote or bracket is never closed", "close"),
        ("a: !!python/object:os.system x\n", "1:4", "tag", "without a tag"),
        ("a: *nowhere\n", "1:4", "not defined", "define it first"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "3:3", "merge keys", "extends"),
        ("? [a, b]\n: 1\n", "1:3", "a key must be a plain word", "quotes"),
        ("a: {b}: c\n", "1:7", "", ""),
    ],
)
def test_refused_with_place_and_remedy(tmp_path: Path, text: str, place: str, reason: str, remedy: str) -> None:
    _, problems = read(tmp_path, text)
    assert len(problems.errors) == 1
    error = problems.errors[0]
    assert error.place == f"x.yaml:{place}"
    assert reason in error.text
    assert remedy in error.remedy


def test_anchors_work_and_are_bounded(tmp_path: Path) -> None:
    assert read(tmp_path, "a: &x [1, 2]\nb: *x\n")[0] == {"a": [1, 2], "b": [1, 2]}
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    _, problems = read(tmp_path, bomb)
    assert "aliases unfold" in problems.errors[0].text


def test_depth_is_bounded(tmp_path: Path) -> None:
    _, problems = read(tmp_path, "a: " + "[" * 500 + "]" * 500)
    assert "nested deeper" in problems.errors[0].text


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"a: \xff\n")
    problems = Problems(Sources(tmp_path))
    assert yaml.load(tmp_path / "x.yaml", problems.sources, problems) is None
    assert problems.errors[0].text.startswith("not UTF-8")


def test_control_characters(tmp_path: Path) -> None:
    _, problems = read(tmp_path, "a: 1\nb: x\x01y\n")
    assert problems.errors[0].place.startswith("x.yaml:2")


def test_empty_file_is_an_empty_mapping(tmp_path: Path) -> None:
    assert read(tmp_path, "# nothing\n")[0] == {}


def test_stream_hands_out_entries_and_finds_duplicates(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: {x: 1}\nb: 2\na: 3\n", encoding="utf-8")
    problems = Problems(Sources(tmp_path))
    entries = list(yaml.stream(path, problems.sources, problems, Map))
    assert [(entry.key, entry.value) for entry in entries] == [("a", {"x": 1}), ("b", 2)]
    assert "appears twice" in problems.errors[0].text


def test_stream_says_what_the_file_must_hold(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\n", encoding="utf-8")
    problems = Problems(Sources(tmp_path))
    assert list(yaml.stream(path, problems.sources, problems, Seq)) == []
    assert problems.errors[0].text == "x.yaml must hold a list"


def test_the_python_parser_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: {b: [1, off, 'x']}\nc:\n  - d: 0o17\n"
    fast, _ = read(tmp_path, text)
    monkeypatch.setattr(pyyaml, "__with_libyaml__", False)
    slow, problems = read(tmp_path, text)
    assert slow == fast == {"a": {"b": [1, "off", "x"]}, "c": [{"d": 15}]}
    assert find(slow, ("c", 0, "d")) is not None
    assert problems.errors == []

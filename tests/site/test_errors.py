"""How an error looks, and that no secret is ever shown in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocetune.site.errors import Problems, SiteError, SiteErrors, closest, suggest
from rocetune.site.sources import Sources, masked


def test_an_error_shows_line_caret_and_remedy() -> None:
    error = SiteError("profiles/ai.yaml", 3, 7, "priority 9 is out of range", "0 to 7", "  x: {priority: 9}")
    assert error.render().splitlines() == [
        "profiles/ai.yaml:3:7: priority 9 is out of range",
        "    3 |   x: {priority: 9}",
        "      |       ^",
        "      = 0 to 7",
    ]


def test_a_long_line_is_cut_around_its_caret() -> None:
    line = "a: " + "x" * 300 + "HERE" + "y" * 300
    rendered = SiteError("f", 1, line.index("HERE") + 1, "wrong", "", line).render().splitlines()
    assert "HERE" in rendered[1]
    assert len(rendered[1]) < 120
    assert rendered[2].index("^") == rendered[1].index("HERE")


def test_all_errors_are_in_the_text_of_the_exception() -> None:
    both = SiteErrors([SiteError("a", 1, 1, "first"), SiteError("b", 0, 0, "second")])
    assert "a:1:1: first" in str(both)
    assert "b: second" in str(both)


@pytest.mark.parametrize(
    ("line", "previous"),
    [
        ("  password: hunter2", ""),
        ("  netmiko: {password: hunter2, port: 22}", ""),
        ("  'password' : \"hunter2\"", ""),
        ("  enable_secret: hunter2 # the old one", ""),
        ("    hunter2", "  password:"),
        ("    hunter2", "  password: >-"),
        ("    hunter2", "  password:   # see vault"),
        ("extras: {optional_args: {secret: hunter2}}", ""),
    ],
)
def test_secrets_are_blotted_out(line: str, previous: str) -> None:
    shown = masked(line, previous)
    assert "hunter2" not in shown
    assert len(shown) == len(line)


def test_other_lines_are_shown_as_they_are() -> None:
    assert masked("  hostname: 192.0.2.1", "leaf1:") == "  hostname: 192.0.2.1"


def test_did_you_mean() -> None:
    assert closest("detetc", ["detect", "restore"]) == "detect"
    assert suggest("leaf01", ["leaf1", "gpu1"]) == "did you mean leaf1?"
    assert suggest("zzz", ["a", "b"], "groups") == "groups: a, b"


@pytest.mark.parametrize(
    ("line", "previous"),
    [
        ("hostname: '{" + "-" * 100_000 + "}'", ""),
        ("x: " + "password" * 12_000, ""),
        ("x: y", "password: " + ":&" * 50_000 + " z"),
        ("x: " + "password: " * 10_000, ""),
    ],
)
def test_the_longest_line_is_masked_at_once(line: str, previous: str) -> None:
    assert len(masked(line, previous)) == len(line)


def test_a_huge_value_is_not_repeated_in_full() -> None:
    problems = Problems(Sources(Path()))
    problems.error(None, "wrong: " + "x" * 100_000, "y" * 100_000, file="f")
    assert len(problems.errors[0].render()) < 2500

"""The shared Jinja environment: nothing that could end a line or start another word gets into a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError
from jinja2.exceptions import SecurityError

from rocetune.platforms.templating import BadValue, environment


def rendered(source: str, **values: Any) -> str:
    return environment("arista_eos").from_string(source).render(**values)


@pytest.mark.parametrize("bad", ["a b", "a\nb", "", "a;b", "`id`", "$(id)", "-x", "é", "a'b", True, None, 1.5])
def test_word_refuses_what_is_not_one_word(bad: Any) -> None:
    with pytest.raises(BadValue):
        rendered("{{ x | word }}", x=bad)


@pytest.mark.parametrize("good", ["Ethernet1/1", "ROCETUNE-X", "0000:1a:00.0", "a@b", 3])
def test_word_passes_names(good: Any) -> None:
    assert rendered("{{ x | word }}", x=good) == str(good)


@pytest.mark.parametrize("bad", ["a\nb", "a\rb", "a\x1bb", "tab\t", "é"])
def test_line_refuses_control_characters(bad: str) -> None:
    with pytest.raises(BadValue):
        rendered("{{ x | line }}", x=bad)


@pytest.mark.parametrize("bad", [1.0, "1", True, None])
def test_whole_takes_integers_only(bad: Any) -> None:
    with pytest.raises(BadValue):
        rendered("{{ x | whole }}", x=bad)


@pytest.mark.parametrize(
    ("value", "text"), [(0.2, "0.2"), (0.20, "0.2"), (10.001, "10.001"), (60.0, "60"), (1e-7, "0")]
)
def test_decimal_has_one_spelling(value: float, text: str) -> None:
    assert rendered("{{ x | decimal }}", x=value) == text


def test_shell_words_are_quoted() -> None:
    assert rendered("{{ x | shell }}", x="a b;$c") == "'a b;$c'"


def test_unknown_names_none_and_the_sandbox() -> None:
    with pytest.raises(UndefinedError):
        rendered("{{ nothing }}")
    with pytest.raises(BadValue):
        rendered("{{ x }}", x=None)
    with pytest.raises(SecurityError):
        rendered("{{ ''.__class__.__mro__ }}")


def test_a_site_overrides_single_files(tmp_path: Path) -> None:
    (tmp_path / "arista_eos").mkdir()
    (tmp_path / "arista_eos" / "config.j2").write_text("mine {{ device | word }}\n")
    assert environment("arista_eos", tmp_path).get_template("config.j2").render(device="leaf1") == "mine leaf1\n"

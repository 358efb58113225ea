"""Shared options work before and after the command's name; colour is for terminals."""

import io
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from rocetune.cli import main
from rocetune.cli.options import Settings, settings, shared


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "arguments",
    [
        ["--site", "here", "--lab", "--format", "json", "probe"],
        ["probe", "--site", "here", "--lab", "--format", "json"],
        ["--site", "there", "--lab", "probe", "--site", "here", "--format", "json"],
    ],
)
def test_before_and_after(arguments: list[str]) -> None:
    seen: list[Settings] = []

    @click.group()
    @shared
    def group() -> None: ...

    @group.command()
    @shared
    def probe() -> None:
        seen.append(settings())

    done = CliRunner().invoke(group, arguments)
    assert done.exit_code == 0, done.output
    assert (seen[0].site, seen[0].lab, seen[0].format, seen[0].limit) == (Path("here"), True, "json", None)


def test_no_colour_for_pipes_no_color_and_dumb_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    options = Settings()
    assert options.paint(Terminal()).on
    assert not options.paint(io.StringIO()).on
    monkeypatch.setenv("NO_COLOR", "1")
    assert not options.paint(Terminal()).on
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert not options.paint(Terminal()).on
    monkeypatch.setenv("TERM", "xterm")
    options.no_color = True
    assert not options.paint(Terminal()).on


def test_the_next_command_repeats_where_we_are() -> None:
    options = Settings()
    assert options.again("doctor") == "rocetune doctor"
    options.site, options.lab = Path("my rack"), True
    assert options.again("doctor") == "rocetune --site 'my rack' --lab doctor"


@pytest.mark.parametrize(
    ("said", "spoken"),
    [
        ("use: rocetune apply", "use: rocetune --lab apply"),
        ("run: rocetune lab stop && rocetune lab start", "run: rocetune lab stop && rocetune lab start"),
        ("run `rocetune diff` first", "run `rocetune --lab diff` first"),
        ("rocetune apply and rocetune doctor", "rocetune --lab apply and rocetune --lab doctor"),
        ("b.json is not a rocetune bundle", "b.json is not a rocetune bundle"),
        ("/opt/rocetune plans are kept", "/opt/rocetune plans are kept"),
        ("pip install 'rocetune[lab]'", "pip install 'rocetune[lab]'"),
    ],
)
def test_only_commands_get_the_callers_options(said: str, spoken: str) -> None:
    options = Settings()
    options.lab = True
    assert options.spoken(said) == spoken


def test_a_format_that_a_command_cannot_write_is_a_usage_error() -> None:
    done = CliRunner().invoke(main, ["--format", "junit", "platforms"])
    assert done.exit_code == 2
    assert "text, json, markdown, not junit" in done.output

"""Help is fast, complete and forgiving."""

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from rocetune import __version__
from rocetune.cli import COMMANDS, main

HEAVY = (
    "pydantic",
    "rich",
    "jinja2",
    "netmiko",
    "napalm",
    "nornir",
    "yaml",
    "ruamel",
    "paramiko",
    "asyncssh",
    "aiohttp",
)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["completion", "--help"]])
def test_help_imports_click_alone(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom rocetune.cli import main\n"
        f"try: main({arguments!r}, prog_name='rocetune')\nexcept SystemExit as end: assert not end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
        "print([name for name in sys.modules if name.startswith('rocetune.') and 'cli' not in name], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.splitlines() == ["[]", "[]"]


def test_help_lists_every_command_with_its_exit_codes() -> None:
    text = CliRunner().invoke(main, ["--help"]).output
    for name, (_, words) in COMMANDS.items():
        assert f"  {name} " in text and words.split()[0] in text
    assert "3 needs a person" in text


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_loads_and_takes_the_shared_options(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None and command.help
    options = {option for parameter in command.params for option in parameter.opts}
    assert {"--site", "--inventory", "--limit", "--lab", "--format", "--no-color", "-v"} <= options


def test_a_mistyped_command_gets_a_suggestion() -> None:
    done = CliRunner().invoke(main, ["aply"])
    assert done.exit_code == 2
    assert "Did you mean 'apply'?" in done.output


def test_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == f"rocetune {__version__}\n"


@pytest.mark.parametrize(
    ("shell", "word"), [("bash", "complete -o"), ("zsh", "#compdef rocetune"), ("fish", "complete ")]
)
def test_completion_scripts(shell: str, word: str) -> None:
    done = CliRunner().invoke(main, ["completion", shell])
    assert done.exit_code == 0
    assert word in done.output and "_ROCETUNE_COMPLETE" in done.output


def test_completion_offers_the_commands() -> None:
    from click.shell_completion import ShellComplete

    found = ShellComplete(main, {}, "rocetune", "_ROCETUNE_COMPLETE").get_completions([], "do")
    assert [item.value for item in found] == ["doctor"]

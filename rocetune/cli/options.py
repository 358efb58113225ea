"""Options that every command shares, accepted before and after the command's name.

Imports click alone: ``rocetune --help`` loads this file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rocetune.app.workspace import Workspace
    from rocetune.report.table import Paint

Function = TypeVar("Function", bound=Callable[..., Any])
FORMATS = ("text", "json", "markdown", "junit")


class Settings:
    """What the shared options said. ``wrote`` turns true once a command may have changed a device."""

    def __init__(self) -> None:
        self.site = Path()
        self.inventory: Path | None = None
        self.limit: str | None = None
        self.lab = False
        self.format = "text"
        self.no_color = False
        self.verbose = False
        self.wrote = False

    def workspace(self) -> Workspace:
        """The site, loaded. Raises the site's errors, all of them at once."""
        from rocetune.app.workspace import open_workspace

        return open_workspace(self.site, inventory=self.inventory, lab=self.lab)

    @property
    def lab_root(self) -> Path:
        """The lab's folder, without loading the site."""
        from rocetune.app.workspace import STATE

        return self.site.resolve() / STATE / "lab"

    @property
    def state(self) -> Path:
        """Where runs are journaled, without loading the site."""
        return self.lab_root / "state" if self.lab else self.lab_root.parent

    def paint(self, stream: Any = None) -> Paint:
        """Colour for a terminal, unless NO_COLOR (https://no-color.org) or --no-color forbids it."""
        from rocetune.report.table import Paint

        stream = sys.stdout if stream is None else stream
        plain = self.no_color or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        return Paint(not plain and stream is not None and stream.isatty())

    def written(self, *formats: str) -> str:
        """The asked format, if this command can write it. Raises UsageError with those it can."""
        if self.format not in formats:
            raise click.UsageError(f"this command writes {', '.join(formats)}, not {self.format}.")
        return self.format

    def next(self, commands: Sequence[tuple[str, str]]) -> None:
        """Print what to type next, most useful first; each command of ``rocetune`` with the reason for it, or ""."""
        for index, (command, why) in enumerate(commands):
            click.echo(("Next: " if index == 0 else "  or: ") + self.again(command) + (f"   # {why}" if why else ""))

    def scoped(self, command: str) -> str:
        """A command for the same devices as this one."""
        return f"{command} --limit {_quote(self.limit)}" if self.limit else command

    def again(self, command: str) -> str:
        """A rocetune command line for the same site, to show as the next thing to type."""
        words = ["rocetune"]
        if self.site != Path():
            words += ["--site", _quote(str(self.site))]
        if self.inventory is not None:
            words += ["--inventory", _quote(str(self.inventory))]
        if self.lab and command.split()[:1] != ["lab"]:  # the lab's own commands need no telling
            words.append("--lab")
        return " ".join([*words, command])

    def spoken(self, text: str) -> str:
        """Words for people, with this command's site and lab in every command of ours that they name."""
        from rocetune.cli import COMMANDS

        known = "|".join(sorted(COMMANDS))
        return re.sub(rf"(?<![\w/.-])rocetune ((?:{known})\b)", lambda found: self.again(found[1]), text)


def _quote(text: str) -> str:
    from shlex import quote

    return quote(text)


def _store(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Keep a shared option where it was given; silence elsewhere overrides nothing."""
    settings = ctx.ensure_object(Settings)
    if ctx.get_parameter_source(param.name or "") is click.core.ParameterSource.COMMANDLINE:
        setattr(settings, param.name or "", value)
    return value


def shared(function: Function) -> Function:
    """Add the shared options to a command. Their values arrive in :class:`Settings`, not as arguments."""
    folder = click.Path(path_type=Path, file_okay=False)
    common: dict[str, Any] = {"callback": _store, "expose_value": False}
    for option in reversed(
        (
            click.option("--site", type=folder, metavar="DIR", help="The site's folder (default: here).", **common),
            click.option("--inventory", type=folder, metavar="DIR", help="Inventory instead of the site's.", **common),
            click.option(
                "--limit",
                metavar="EXPR",
                help="Only these devices: 'leaf*,role=gpu+group=pod1' (, or; + and).",
                **common,
            ),
            click.option("--lab", is_flag=True, help="Against the emulated devices of this inventory.", **common),
            click.option("--format", type=click.Choice(FORMATS), help="How results are written.", **common),
            click.option("--no-color", is_flag=True, help="No colour; NO_COLOR does the same.", **common),
            click.option("--verbose", "-v", is_flag=True, help="More detail.", **common),
        )
    ):
        function = option(function)
    return function


def settings() -> Settings:
    """The shared options of the running command."""
    return click.get_current_context().ensure_object(Settings)

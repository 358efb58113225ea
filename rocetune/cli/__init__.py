"""The command line. One file per command; ``--help`` imports click alone.

The group is lazy: it knows every command's module, attribute and help line from a static table, so listing
them loads none of them.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from rocetune import __version__
from rocetune.cli.options import Settings, shared
from rocetune.cli.streams import lasting, trouble

_HELP = """Bring up and keep a lossless RoCE v2 fabric from one profile.

A site is a folder with profiles/, inventory/ and rocetune.yaml. Start one with `rocetune init`.
"""
_EPILOG = "Exit codes: 0 nothing to report, 1 differences or findings, 2 trouble before any change, 3 needs a person."

_LOST = 2  # results that could not be written

COMMANDS: dict[str, tuple[str, str]] = {  # name -> (module under rocetune.cli, one help line)
    "init": ("init", "Start a site from the sample rack."),
    "validate": ("validate", "Show every error of the site at once."),
    "schema": ("schema", "Print the JSON Schema of a site file."),
    "plan": ("plan", "Show every number and why it is that number."),
    "headroom": ("headroom", "Calculate the PFC headroom of a port, without a site."),
    "ecn": ("ecn", "Calculate ECN thresholds of a port and their bounds, without a site."),
    "dcqcn": ("dcqcn", "Calculate where DCQCN settles, without a site."),
    "asics": ("asics", "Show the switch chips whose buffers are known."),
    "render": ("render", "Write each device's configuration."),
    "diff": ("diff", "Show what would change, how risky it is and how it is undone."),
    "apply": ("apply", "Push the plan with rollback armed, then check health."),
    "rollback": ("rollback", "Undo a finished run."),
    "doctor": ("doctor", "Compare the fabric with its plan and name what is wrong."),
    "collect": ("collect", "Save what the doctor needs into one bundle."),
    "platforms": ("platforms", "Show the supported platforms and how safe each one is."),
    "lab": ("lab", "Rehearse against emulated devices on this machine."),
    "completion": ("completion", "Print a shell completion script."),
}


class Program(click.Group):
    """The lazy group, and the one place where an exception becomes a message and an exit code."""

    wrote = False  # whether the command may have changed a device

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        from importlib import import_module

        command = import_module(f"rocetune.cli.{entry[0]}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            hint = f" Did you mean {near[0]!r}?" if near else " See `rocetune --help`."
            raise click.UsageError(f"there is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command line. Whoever stops reading changes neither its work nor, once it wrote, its exit code."""
        self.wrote = False
        with lasting() as ends:
            try:
                return super().main(*args, **extra)
            except SystemExit as end:
                sys.stdout.flush()
                words = trouble(ends)
                if not words:
                    raise
                click.echo(words, err=True)
                raise SystemExit(end.code if self.wrote else _LOST) from end

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (Exception, KeyboardInterrupt) as error:
            from rocetune.cli.failure import report

            ctx.exit(report(error, ctx.obj))
        finally:
            self.wrote = ctx.ensure_object(Settings).wrote


@click.group(cls=Program, help=_HELP, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rocetune", message="%(prog)s %(version)s")
@shared
def main() -> None:
    """Parse the options that every command shares."""

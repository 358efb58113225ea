"""``rocetune diff``: what would change, how risky it is, how it is undone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocetune.cli.live import accept_new_host_keys
from rocetune.cli.options import Settings, settings, shared

if TYPE_CHECKING:
    from rocetune.model.outcome import DiffReport


@click.command(help="Show what would change, how risky it is and how it is undone. Changes nothing.")
@click.option(
    "--running",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Offline: saved running configurations, one <device><suffix> each.",
)
@accept_new_host_keys
@shared
def command(running: Path | None, accept_new_host_keys: bool) -> None:
    """Exit 0 without differences, 1 with some, 2 when a device could not be read."""
    from rocetune.app.diffing import diff
    from rocetune.cli.progress import Steps

    shared_options = settings()
    shared_options.written("text", "json", "markdown")
    workspace = shared_options.workspace()
    with Steps(shared_options) as steps:
        report = diff(
            workspace, shared_options.limit, running, progress=steps, accept_new_host_keys=accept_new_host_keys
        )
    show(report, shared_options)
    if report.failed:
        raise click.exceptions.Exit(2)
    if report.changed:
        if report.live and shared_options.format == "text":
            from rocetune.report.diff import apply_commands

            shared_options.next([(shared_options.scoped(words), why) for words, why in apply_commands(report)])
        raise click.exceptions.Exit(1)


def show(report: DiffReport, options: Settings) -> None:
    """Print a diff in the asked format."""
    from rocetune.report.diff import diff_json, diff_markdown, diff_text

    if options.format == "json":
        click.echo(diff_json(report))
    elif options.format == "markdown":
        click.echo(diff_markdown(report), nl=False)
    else:
        click.echo(diff_text(report, options.paint(), options.verbose))

"""``rocetune doctor``: what is wrong, where, and the exact fix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocetune.cli.live import accept_new_host_keys
from rocetune.cli.options import Settings, settings, shared

if TYPE_CHECKING:
    from rocetune.model.outcome import DoctorReport


@click.command(help="Compare the fabric with its plan and name what is wrong, live or from a bundle of `collect`.")
@click.argument("bundle", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@click.option("--interval", type=click.FloatRange(0, 3600), default=2.0, metavar="SECONDS", help="Between two samples.")
@accept_new_host_keys
@shared
def command(bundle: Path | None, interval: float, accept_new_host_keys: bool) -> None:
    """Exit 0 when healthy, 1 with findings or unknowns, 2 when no device could be read."""
    from rocetune.app.diagnosis import doctor
    from rocetune.cli.progress import Steps

    shared_options = settings()
    shared_options.written("text", "json", "markdown", "junit")
    workspace = shared_options.workspace()
    with Steps(shared_options) as steps:
        report = doctor(
            workspace, shared_options.limit, bundle, interval, steps, accept_new_host_keys=accept_new_host_keys
        )
    show(report, shared_options)
    if report.devices and len(report.unreachable) == report.devices:
        raise click.exceptions.Exit(2)
    if report.verdict != "healthy":
        raise click.exceptions.Exit(1)


def show(report: DoctorReport, options: Settings) -> str:
    """Print findings in the asked format; what was printed."""
    from rocetune.report import findings

    if options.format == "json":
        text = findings.findings_json(report, options.again)
    elif options.format == "junit":
        text = findings.findings_junit(report, options.again)
    elif options.format == "markdown":
        text = findings.findings_markdown(report, options.again)
    else:
        text = findings.findings_text(report, options.paint(), options.verbose, options.again)
    click.echo(text, nl=not text.endswith("\n"))
    return text

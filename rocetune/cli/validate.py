"""``rocetune validate``: every error of the site at once, and the numbers that cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from rocetune.cli.options import Settings, settings, shared

if TYPE_CHECKING:
    from rocetune.site.errors import SiteError


@click.command(help="Show every error of the site's files at once, and every number that cannot be.")
@shared
def command() -> None:
    """Exit 0 when a plan can be made of the site, 2 otherwise."""
    from rocetune.app.planning import make_plan, with_refusals
    from rocetune.report.table import counted
    from rocetune.site.errors import SiteErrors

    shared_options = settings()
    shared_options.written("text", "json")
    try:
        workspace = shared_options.workspace()
    except SiteErrors as error:
        _print(shared_options, error.errors, error.warnings, "")
        raise click.exceptions.Exit(2) from error
    plan = with_refusals(make_plan(workspace))
    found = [(problem.warning, workspace.site.explain(problem)) for problem in plan.problems]
    errors = [item for warning, item in found if not warning]
    warnings = [*workspace.site.warnings, *(item for warning, item in found if warning)]
    ports = sum(len(device.ports) for device in plan.devices.values())
    size = f"{counted(len(plan.devices), 'device')}, {counted(ports, 'planned port')}"
    _print(shared_options, errors, warnings, size, len(workspace.site.unassigned_ports()))
    if errors:
        raise click.exceptions.Exit(2)


def _print(
    options: Settings,
    errors: Sequence[SiteError],
    warnings: Sequence[SiteError],
    size: str,
    unassigned: int | None = None,
) -> None:
    """All errors, then a summary. ``unassigned``: listed ports without a network; None when the site did not load."""
    if options.format == "json":
        _print_json(errors, warnings, unassigned)
        return
    from rocetune.report.table import counted

    paint = options.paint()
    for kind, shade, items in (("error", "bad", errors), ("warning", "warn", warnings)):
        for item in items:
            click.echo(f"{paint(shade, kind)}: {options.spoken(item.render())}\n")
    if unassigned:
        verb = "belongs" if unassigned == 1 else "belong"
        click.echo(f"{counted(unassigned, 'listed port')} {verb} to no network: nothing is planned there.")
    beside = f", {counted(len(warnings), 'warning')}" if warnings else ""
    if errors:
        click.echo(paint("bad", f"{counted(len(errors), 'error')}{beside}."))
    else:
        click.echo(paint("good", f"valid: {size}{beside}."))


def _print_json(errors: Sequence[SiteError], warnings: Sequence[SiteError], unassigned: int | None) -> None:
    from rocetune.report.table import to_json

    def place(item: SiteError) -> dict[str, object]:
        return {
            "file": item.file,
            "line": item.line or None,
            "column": item.column or None,
            "text": item.text,
            "remedy": item.remedy,
            "source_line": item.source_line,
        }

    document = {
        "format": "rocetune.validate/1",
        "valid": not errors,
        "errors": [place(item) for item in errors],
        "warnings": [place(item) for item in warnings],
        "unassigned_ports": unassigned,
    }
    click.echo(to_json(document))

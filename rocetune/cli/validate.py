"""``rocetune validate``: every error of the site at once, and the numbers that cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rocetune.cli.options import Settings, settings, shared

if TYPE_CHECKING:
    from rocetune.model.plan import Plan
    from rocetune.site.errors import SiteError


@click.command(help="Show every error of the site's files at once, and every number that cannot be.")
@shared
def command() -> None:
    """Exit 0 when a plan can be made of the site, 2 otherwise."""
    from rocetune.app.planning import make_plan
    from rocetune.site.errors import SiteErrors

    shared_options = settings()
    shared_options.written("text", "json")
    try:
        workspace = shared_options.workspace()
    except SiteErrors as error:
        _print(shared_options, error.errors, error.warnings, None)
        raise click.exceptions.Exit(2) from error
    plan = make_plan(workspace)
    _print(shared_options, (), workspace.site.warnings, plan)
    if any(not problem.warning for problem in plan.problems):
        raise click.exceptions.Exit(2)


def _print(
    options: Settings, errors: tuple[SiteError, ...], warnings: tuple[SiteError, ...], plan: Plan | None
) -> None:
    if options.format == "json":
        _print_json(errors, warnings, plan)
        return
    from rocetune.report.plan import problems_text
    from rocetune.report.table import counted

    paint = options.paint()
    for item in errors:
        click.echo(f"{paint('bad', 'error')}: {item.render()}")
    for item in warnings:
        click.echo(f"{paint('warn', 'warning')}: {item.render()}")
    if plan is not None and plan.problems:
        click.echo(problems_text(plan.problems, paint))
    problems = plan.problems if plan else ()
    wrong = len(errors) + sum(not problem.warning for problem in problems)
    beside = len(warnings) + sum(problem.warning for problem in problems)
    tail = f", {counted(beside, 'warning')}" if beside else ""
    if wrong:
        click.echo(paint("bad", f"{counted(wrong, 'error')}{tail}."))
    elif plan is not None:
        ports = sum(len(device.ports) for device in plan.devices.values())
        words = f"valid: {counted(len(plan.devices), 'device')}, {counted(ports, 'planned port')}{tail}."
        click.echo(paint("good", words))


def _print_json(errors: tuple[SiteError, ...], warnings: tuple[SiteError, ...], plan: Plan | None) -> None:
    from rocetune.report.encode import problem_json
    from rocetune.report.table import to_json

    def place(item: SiteError) -> dict[str, Any]:
        return {
            "file": item.file,
            "line": item.line,
            "column": item.column,
            "text": item.text,
            "remedy": item.remedy,
            "source_line": item.source_line,
        }

    problems = plan.problems if plan else ()
    document = {
        "format": "rocetune.validate/1",
        "valid": not errors and all(problem.warning for problem in problems),
        "errors": [place(item) for item in errors],
        "warnings": [place(item) for item in warnings],
        "problems": [problem_json(problem) for problem in problems],
    }
    click.echo(to_json(document))

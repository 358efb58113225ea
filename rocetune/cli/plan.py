"""``rocetune plan``: every number and why it is that number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from rocetune.cli.options import Settings, settings, shared

if TYPE_CHECKING:
    from rocetune.model.plan import Plan


@click.command(help="Show every number and why it is that number, for the whole fabric or one device or port.")
@click.option("--explain", metavar="DEV[:PORT]", help="All numbers of one device or port with their arithmetic.")
@click.option(
    "--compare",
    "compared",
    metavar="PRESET ...",
    multiple=True,
    help="The plan's marking curves beside vendor presets by name, or beside all of them: --compare all.",
)
@click.argument("more", metavar="", nargs=-1)
@shared
def command(explain: str | None, compared: tuple[str, ...], more: tuple[str, ...]) -> None:
    """Print the plan; exit 2 when a number in it cannot be."""
    from rocetune.app.planning import make_plan, select, with_refusals
    from rocetune.report.plan import plan_json, plan_markdown, plan_text

    shared_options = settings()
    form = shared_options.written("text", "json", "markdown")
    workspace = shared_options.workspace()
    if more and not compared:
        raise click.UsageError(f"{more[0]!r} belongs to no option: names of presets follow --compare")
    if compared and explain is not None:
        raise click.UsageError("--explain and --compare are two questions: ask one at a time")
    plan = with_refusals(make_plan(workspace))
    if compared:
        _compare(plan, select(workspace, plan, shared_options.limit), (*compared, *more), form, shared_options)
    elif explain is not None:
        from rocetune.app.planning import as_taken
        from rocetune.report.explain import explain_json, explain_text, find

        device, _ = find(plan, explain)
        taken = as_taken(plan, device.device.name)
        text = (explain_json if form == "json" else explain_text)(taken, explain, plan)
        click.echo(f"```text\n{text}\n```" if form == "markdown" else text)
    else:
        names = select(workspace, plan, shared_options.limit)
        if form == "json":
            click.echo(plan_json(plan, names))
        elif form == "markdown":
            click.echo(plan_markdown(plan, names), nl=False)
        else:
            click.echo(plan_text(plan, names, shared_options.paint()))
    if any(not problem.warning for problem in plan.problems):
        raise click.exceptions.Exit(2)


def _compare(plan: Plan, names: Sequence[str], compared: Sequence[str], form: str, options: Settings) -> None:
    from rocetune.app.planning import compare_curves
    from rocetune.report.compare import compare_json, compare_markdown, compare_text

    found = compare_curves(plan, names, compared)
    if form == "json":
        click.echo(compare_json(found))
    elif form == "markdown":
        click.echo(compare_markdown(found, verbose=options.verbose), nl=False)
    else:
        click.echo(compare_text(found, options.paint(), verbose=options.verbose))

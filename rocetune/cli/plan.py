"""``rocetune plan``: every number and why it is that number."""

from __future__ import annotations

import click

from rocetune.cli.options import settings, shared


@click.command(help="Show every number and why it is that number, for the whole fabric or one device or port.")
@click.option("--explain", metavar="DEV[:PORT]", help="All numbers of one device or port with their arithmetic.")
@shared
def command(explain: str | None) -> None:
    """Print the plan; exit 2 when a number in it cannot be."""
    from rocetune.app.planning import make_plan, select
    from rocetune.report.plan import plan_json, plan_markdown, plan_text

    shared_options = settings()
    form = shared_options.written("text", "json", "markdown")
    workspace = shared_options.workspace()
    plan = make_plan(workspace)
    if explain is not None:
        from rocetune.report.explain import explain_json, explain_text

        click.echo(explain_json(plan, explain) if form == "json" else explain_text(plan, explain))
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

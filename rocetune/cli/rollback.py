"""``rocetune rollback RUN``: give back what a run changed."""

from __future__ import annotations

import click

from rocetune.cli.apply import IMPACTS, consent, finish
from rocetune.cli.live import accept_new_host_keys, wave, yes
from rocetune.cli.options import settings, shared


@click.command(help="Give every setting that a run changed the value it had before, by the same safe push.")
@click.argument("run")
@yes
@click.option("--max-impact", type=click.Choice(IMPACTS), default="all_ports", help="The most that traffic may feel.")
@wave
@accept_new_host_keys
@shared
def command(run: str, yes: bool, max_impact: str, wave: int | None, accept_new_host_keys: bool) -> None:
    """Exit 0 when all was given back, else as for apply."""
    from rocetune.app.applying import rollback
    from rocetune.cli.progress import Steps
    from rocetune.model.change import Impact

    shared_options = settings()
    shared_options.written("text", "json", "markdown")
    workspace = shared_options.workspace()
    with Steps(shared_options) as steps:
        report = rollback(
            workspace,
            run,
            shared_options.limit,
            yes_confirm=consent(shared_options, steps, yes),
            wave=wave or workspace.site.settings.limits.wave,
            max_impact=Impact[max_impact.upper()],
            progress=steps,
            accept_new_host_keys=accept_new_host_keys,
        )
    finish(report, shared_options, undoing=run)

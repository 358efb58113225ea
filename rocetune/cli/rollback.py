"""``rocetune rollback RUN``: give back what a run changed."""

from __future__ import annotations

import time

import click

from rocetune.cli import complete
from rocetune.cli.apply import IMPACTS, consent, finish, writing
from rocetune.cli.live import accept_new_host_keys, wave, yes
from rocetune.cli.options import Settings, settings, shared

_NEWEST = 10  # runs that are listed


@click.command(
    help="Give every setting that a run changed the value it had before, by the same safe push. What traffic felt "
    "when the run was applied it feels again, link bounces too, unless --max-impact says less. Without RUN: "
    "list the runs."
)
@click.argument("run", required=False, shell_complete=complete.runs)
@yes
@click.option(
    "--max-impact",
    type=click.Choice(IMPACTS),
    default="all_ports",
    show_default=True,
    help="The most that live traffic may feel; more is refused.",
)
@wave
@accept_new_host_keys
@shared
def command(run: str | None, yes: bool, max_impact: str, wave: int | None, accept_new_host_keys: bool) -> None:
    """Exit 0 when all was given back, else as for apply."""
    from rocetune.app.applying import rollback
    from rocetune.app.errors import UseError
    from rocetune.cli.progress import Steps
    from rocetune.deploy import journal
    from rocetune.model.change import Impact

    shared_options = settings()
    shared_options.written("text", "json", "markdown")
    workspace = shared_options.workspace()
    if run is None or run not in journal.runs(shared_options.state):
        problem = "name the run to give back" if run is None else f"there is no run {run!r}"
        raise UseError(problem, _listed(shared_options))
    with Steps(shared_options) as steps:
        report = rollback(
            workspace,
            run,
            shared_options.limit,
            yes_confirm=consent(shared_options, steps, yes),
            wave=wave or workspace.site.settings.limits.wave,
            max_impact=Impact[max_impact.upper()],
            progress=writing(shared_options, steps, first="push"),
            accept_new_host_keys=accept_new_host_keys,
        )
    finish(report, shared_options, undoing=run)


def _listed(options: Settings) -> str:
    """The newest runs, one line each."""
    from rocetune.deploy import journal
    from rocetune.report.ranges import compact
    from rocetune.report.table import table

    known = [journal.read(options.state, run) for run in journal.runs(options.state)[-_NEWEST:]]
    rows = [
        [
            record.run,
            time.strftime("%Y-%m-%d %H:%M", time.localtime(record.started)),
            record.command,
            record.verdict or "cut off",
            compact(record.devices, limit=4),
        ]
        for record in reversed(known)
    ]
    return table(rows, ["run", "at", "command", "ended", "devices"]) or "there was no run yet"

"""``rocetune apply``: push the plan with the undo armed first, then check health."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from rocetune.cli.live import accept_new_host_keys, wave, yes
from rocetune.cli.options import Settings, settings, shared

if TYPE_CHECKING:
    from rocetune.app.workspace import Workspace
    from rocetune.cli.progress import Steps
    from rocetune.model.outcome import ApplyReport, DiffReport, Progress

IMPACTS = ("none", "marking", "brief_loss", "link_bounce", "all_ports", "reboot")


@click.command(help="Push the plan in phases and waves with rollback armed, then check health.")
@yes
@click.option("--bring-up", is_flag=True, help="The rack is not in service: accept link bounces.")
@click.option(
    "--max-impact",
    type=click.Choice(IMPACTS),
    default=None,
    help="The most that live traffic may feel (default: marking; with --bring-up link_bounce).",
)
@wave
@click.option("--keep", is_flag=True, help="After a failure keep the phases that were confirmed.")
@click.option(
    "--resume",
    "run",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[RUN]",
    help="Finish a run that was cut off.",
)
@accept_new_host_keys
@shared
def command(
    yes: bool,
    bring_up: bool,
    max_impact: str | None,
    wave: int | None,
    keep: bool,
    run: str | None,
    accept_new_host_keys: bool,
) -> None:
    """Exit 0 applied and healthy (or nothing to do), 1 findings or cleanly rolled back, 2 refused, 3 needs a person."""
    from rocetune.app.applying import apply, resume
    from rocetune.cli.progress import Steps
    from rocetune.model.change import Impact

    shared_options = settings()
    shared_options.written("text", "json", "markdown")
    workspace = shared_options.workspace()
    impact = Impact[(max_impact or ("link_bounce" if bring_up else "marking")).upper()]
    if run is None and shared_options.format == "text":
        _plan_summary(workspace, shared_options)
    wave = wave or workspace.site.settings.limits.wave
    with Steps(shared_options) as steps:
        ask = consent(shared_options, steps, yes)
        if run is not None:
            report = resume(
                workspace,
                run or None,
                yes_confirm=ask,
                bring_up=bring_up,
                max_impact=impact,
                wave=wave,
                progress=_writing(shared_options, steps),
                accept_new_host_keys=accept_new_host_keys,
            )
        else:
            report = apply(
                workspace,
                shared_options.limit,
                bring_up=bring_up,
                max_impact=impact,
                yes_confirm=ask,
                wave=wave,
                accept_new_host_keys=accept_new_host_keys,
                keep=keep,
                progress=steps,
            )
    finish(report, shared_options)


def _writing(options: Settings, steps: Steps) -> Callable[[Progress], None]:
    """Settling what was cut off writes before anything is asked: from the first device on, trouble needs a person."""

    def report(step: Progress) -> None:
        options.wrote = True
        steps(step)

    return report


def consent(options: Settings, steps: Steps, yes: bool) -> Callable[[DiffReport], bool]:
    """A function that shows the diff and asks. Raises UsageError where nobody can answer."""

    def ask(report: DiffReport) -> bool:
        from rocetune.report.diff import diff_text

        steps.pause()
        stream = options.format != "text"  # a program reads stdout: the diff goes to stderr then
        paint = options.paint(sys.stderr if stream else sys.stdout)
        click.echo(diff_text(report, paint, options.verbose), err=stream)
        if not yes:
            if not _somebody_is_here():
                raise click.UsageError("nobody is here to confirm; nothing was changed. Add --yes to go on.")
            if not click.confirm("Apply this?", default=False, err=stream):
                return False
        options.wrote = True
        return True

    return ask


def _somebody_is_here() -> bool:
    return sys.stdin.isatty()


def finish(report: ApplyReport, options: Settings, undoing: str = "") -> None:
    """Print the outcome, the next command, and the summary last; leave with the report's exit code."""
    from rocetune.report.apply import apply_json, apply_markdown, apply_text, next_commands, summary

    if options.format == "json":
        click.echo(apply_json(report, undoing))
    elif options.format == "markdown":
        click.echo(apply_markdown(report, undoing), nl=False)
    else:
        paint = options.paint()
        text = apply_text(report, paint)
        if text:
            click.echo("\n" + text + "\n")
        following = list(next_commands(report, undoing))
        if report.doctor is not None and report.doctor.findings:
            from rocetune.cli.doctor import show

            show(report.doctor, options)  # ends with its own next command
            following = ["", *(line for line in following if line != "doctor")]
        for index, line in enumerate(following):
            if line:
                click.echo(("Next: " if index == 0 else "  or: ") + options.again(line))
        shade = {0: "good", 1: "warn"}.get(report.exit_code, "bad")
        click.echo(paint(shade, summary(report, undoing)))
    if report.exit_code:
        raise click.exceptions.Exit(report.exit_code)


def _plan_summary(workspace: Workspace, options: Settings) -> None:
    from rocetune.app.planning import make_plan, select
    from rocetune.report.plan import summary

    plan = make_plan(workspace)
    click.echo("plan: " + summary(plan, select(workspace, plan, options.limit)))

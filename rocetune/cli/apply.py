"""``rocetune apply``: push the plan with the undo armed first, then check health."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from rocetune.cli.live import accept_new_host_keys, wave, yes
from rocetune.cli.options import Settings, settings, shared

if TYPE_CHECKING:
    from rocetune.app.workspace import Workspace
    from rocetune.cli.progress import Steps
    from rocetune.model.change import Impact
    from rocetune.model.outcome import ApplyReport, DiffReport, Progress

_REASONS = {"rollback": "give back what this run changed"}
_SHOWN = 40  # lines of a diff that are shown before the question; a longer one is summed up
IMPACTS = ("none", "marking", "brief_loss", "link_bounce", "all_ports", "reboot")


@click.command(help="Push the plan in phases and waves with rollback armed, then check health.")
@yes
@click.option("--bring-up", is_flag=True, help="The rack is not in service: accept link bounces.")
@click.option(
    "--max-impact",
    type=click.Choice(IMPACTS),
    default=None,
    help="The most that live traffic may feel; more is refused (default: marking; with --bring-up link_bounce).",
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
                shared_options.limit,
                keep=keep,
                yes_confirm=ask,
                bring_up=bring_up,
                max_impact=impact,
                wave=wave,
                progress=writing(shared_options, steps),
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
                progress=writing(shared_options, steps, first="push"),
            )
    finish(report, shared_options, limit=impact)


def writing(options: Settings, steps: Steps, first: str = "") -> Callable[[Progress], None]:
    """Progress that tells when writing begins: at the stage ``first``, else at once.

    From there on trouble needs a person. Settling what was cut off writes before anything is asked; a push reads
    its baseline first.
    """

    def report(step: Progress) -> None:
        options.wrote = options.wrote or step.stage == first or not first
        steps(step)

    return report


def consent(options: Settings, steps: Steps, yes: bool) -> Callable[[DiffReport], bool]:
    """A function that shows the diff, a long one summed up, and asks. Raises UseError where nobody can answer."""

    def ask(report: DiffReport) -> bool:
        from rocetune.app.errors import UseError
        from rocetune.report.changes import impact_words
        from rocetune.report.diff import report_impact

        steps.pause()
        stream = options.format != "text"  # a program reads stdout: the diff goes to stderr then
        click.echo(_shown(report, options, sys.stderr if stream else sys.stdout), err=stream)
        if yes:
            return True
        if not _somebody_is_here():
            raise UseError("nobody is here to confirm; nothing was changed", "add --yes to go on without the question")
        worst = report_impact(report)
        return click.confirm(f"Apply this (impact up to {impact_words(worst)})?", default=False, err=stream)

    return ask


def _shown(report: DiffReport, options: Settings, stream: Any) -> str:
    from rocetune.report.diff import brief_text, diff_text

    paint = options.paint(stream)
    whole = diff_text(report, paint, options.verbose)
    if options.verbose or whole.count("\n") < _SHOWN:
        return whole
    return (
        f"{brief_text(report, paint)}\nEvery setting: {options.again(options.scoped('diff'))}, or this command with -v."
    )


def _somebody_is_here() -> bool:
    return sys.stdin.isatty()


def finish(report: ApplyReport, options: Settings, undoing: str = "", limit: Impact | None = None) -> None:
    """Print the outcome, the next command, and the summary last; leave with the report's exit code.

    ``limit`` is the impact that was accepted: what went beyond it is the reason of a refusal.
    """
    from rocetune.report.apply import apply_json, apply_markdown, apply_text, next_commands, summary
    from rocetune.report.diff import apply_commands, brief_text, report_impact

    if options.format == "json":
        click.echo(apply_json(report, undoing))
    elif options.format == "markdown":
        click.echo(apply_markdown(report, undoing), nl=False)
    else:
        paint = options.paint()
        following = [(line, _REASONS.get(line.split()[0], "")) for line in next_commands(report, undoing)]
        if limit is not None and report.verdict == "refused" and report_impact(report.diff) > limit:
            click.echo("\n" + brief_text(report.diff, paint))
            following = [("diff", "every setting"), *apply_commands(report.diff)]
            following = [(options.scoped(words), why) for words, why in following]
        text = apply_text(report, paint)
        if text:
            click.echo("\n" + options.spoken(text) + "\n")
        if report.doctor is not None and report.doctor.findings:
            from rocetune.cli.doctor import show

            _after_findings(options, show(report.doctor, options), following)
        else:
            options.next(following)
        shade = {0: "good", 1: "warn"}.get(report.exit_code, "bad")
        click.echo(paint(shade, summary(report, undoing)))
    if report.exit_code:
        raise click.exceptions.Exit(report.exit_code)


def _after_findings(options: Settings, shown: str, following: Sequence[tuple[str, str]]) -> None:
    """The doctor's own text may end with the next command; what can be done instead comes after it."""
    if not any(line.startswith("Next: ") for line in shown.splitlines()):
        options.next(following)
        return
    for words, why in following:
        if not words.startswith("doctor"):
            click.echo(f"  or: {options.again(words)}" + (f"   # {why}" if why else ""))


def _plan_summary(workspace: Workspace, options: Settings) -> None:
    from rocetune.app.planning import make_plan, select
    from rocetune.report.plan import summary

    plan = make_plan(workspace)
    click.echo("plan: " + summary(plan, select(workspace, plan, options.limit)))

"""``rocetune collect``: what the doctor needs in one bundle, or running configurations for an offline diff."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from rocetune.cli.live import accept_new_host_keys
from rocetune.cli.options import Settings, settings, shared

_BUNDLE = Path("rocetune-bundle.json")


@click.command(
    help="Save what the doctor needs into one bundle, or with --running each device's running configuration for "
    "`diff --running`. Secrets are always cut out. Both are judged with the site at hand."
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help=f"The bundle (default: {_BUNDLE}).",
)
@click.option(
    "--running",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="No bundle: running configurations, one <device><suffix> each, there.",
)
@click.option("--redact", is_flag=True, help="Hide IP and MAC addresses in the bundle too.")
@click.option("--interval", type=click.FloatRange(0, 3600), default=5.0, metavar="SECONDS", help="Between two samples.")
@accept_new_host_keys
@shared
def command(
    output: Path | None, running: Path | None, redact: bool, interval: float, accept_new_host_keys: bool
) -> None:
    """Exit 0 when every device answered, 1 when some did, 2 when none did."""
    from rocetune.app.collecting import collect, save_running
    from rocetune.cli.progress import Steps

    shared_options = settings()
    shared_options.written("text", "json")
    if running is not None and (output is not None or redact):
        raise click.UsageError("--running goes without --output and --redact.")
    workspace = shared_options.workspace()
    limit = shared_options.limit
    with Steps(shared_options) as steps:
        if running is not None:
            saved = save_running(workspace, running, limit, steps, accept_new_host_keys=accept_new_host_keys)
            devices, failed = sorted(saved.files), saved.failed
        else:
            bundle = collect(workspace, limit, interval, redact, steps, accept_new_host_keys=accept_new_host_keys)
            devices, failed = sorted(bundle.devices), bundle.failed
            if devices:
                bundle.save(output or _BUNDLE)
    _show(shared_options, output or _BUNDLE, running, devices, failed)
    if failed:
        raise click.exceptions.Exit(1 if devices else 2)


def _show(options: Settings, bundle: Path, running: Path | None, devices: list[str], failed: Mapping[str, str]) -> None:
    from shlex import quote

    from rocetune.report.table import counted, to_json

    if options.format == "json":
        where = {"bundle": str(bundle) if devices and running is None else None}
        where["running"] = str(running) if devices and running is not None else None
        click.echo(to_json({"format": "rocetune.collect/1", **where, "devices": devices, "failed": dict(failed)}))
        return
    for name, reason in failed.items():
        click.echo(f"{name}: not collected: {reason}", err=True)
    if not devices:
        click.echo("nothing was collected.")
        return
    click.echo(f"{counted(len(devices), 'device')} in {running or bundle}.")
    options.lab = False  # what follows reads files
    following = options.scoped(f"diff --running {quote(str(running))}") if running else f"doctor {quote(str(bundle))}"
    options.next([(following, "")])

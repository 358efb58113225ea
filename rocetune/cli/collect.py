"""``rocetune collect``: what the doctor needs, saved in one bundle."""

from __future__ import annotations

from pathlib import Path

import click

from rocetune.cli.live import accept_new_host_keys
from rocetune.cli.options import settings, shared


@click.command(help="Save what the doctor needs into one bundle. Secrets are always cut out.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), default="rocetune-bundle.json", metavar="FILE"
)
@click.option("--redact", is_flag=True, help="Hide IP and MAC addresses too.")
@click.option("--interval", type=click.FloatRange(0, 3600), default=5.0, metavar="SECONDS", help="Between two samples.")
@accept_new_host_keys
@shared
def command(output: Path, redact: bool, interval: float, accept_new_host_keys: bool) -> None:
    """Exit 0 when every device answered, 1 when some did, 2 when none did."""
    from rocetune.app.collecting import collect
    from rocetune.cli.progress import Steps
    from rocetune.report.table import counted, to_json

    shared_options = settings()
    form = shared_options.written("text", "json")
    workspace = shared_options.workspace()
    with Steps(shared_options) as steps:
        bundle = collect(
            workspace, shared_options.limit, interval, redact, steps, accept_new_host_keys=accept_new_host_keys
        )
    if bundle.devices:
        bundle.save(output)
    if form == "json":
        path = str(output) if bundle.devices else None
        document = {"format": "rocetune.collect/1", "bundle": path, "devices": sorted(bundle.devices)}
        click.echo(to_json({**document, "failed": dict(bundle.failed)}))
    else:
        for name, reason in bundle.failed.items():
            click.echo(f"{name}: not collected: {reason}", err=True)
        if bundle.devices:
            click.echo(f"{counted(len(bundle.devices), 'device')} in {output}.")
            click.echo(f"Next: {shared_options.again(f'doctor {output}')}")
        else:
            click.echo("nothing was collected.")
    if bundle.failed:
        raise click.exceptions.Exit(1 if bundle.devices else 2)

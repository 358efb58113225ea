"""``rocetune init``: start a site."""

from __future__ import annotations

from pathlib import Path

import click

from rocetune.cli.options import settings, shared


@click.command(help="Start a site in DIR (default: here) from the sample rack. Nothing is overwritten.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="[DIR]", required=False)
@shared
def command(folder: Path | None) -> None:
    """Copy profiles, a sample inventory and rocetune.yaml."""
    from rocetune.app.scaffold import scaffold

    shared_options = settings()
    root = folder or shared_options.site
    for path in scaffold(root):
        click.echo(path)
    shared_options.site = root
    click.echo("Edit inventory/ and rocetune.yaml to describe your rack.")
    click.echo(f"Next: {shared_options.again('validate')}")

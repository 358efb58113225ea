"""``rocetune init``: start a site."""

from __future__ import annotations

from pathlib import Path

import click

from rocetune.cli.options import settings, shared


@click.command(help="Start a site in DIR (default: here) from the sample rack. Overwrites nothing.")
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), metavar="[DIR]", required=False)
@shared
def command(folder: Path | None, force: bool) -> None:
    """Copy profiles, a sample inventory and rocetune.yaml."""
    from rocetune.site.scaffold import init

    shared_options = settings()
    root = folder or shared_options.site
    for path in init(root, force):
        click.echo(path)
    shared_options.site = root
    click.echo("Edit inventory/ and rocetune.yaml to describe your rack.")
    click.echo(f"Next: {shared_options.again('validate')}")

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
    from rocetune.app.errors import UseError
    from rocetune.site.errors import SiteErrors
    from rocetune.site.scaffold import init

    shared_options = settings()
    root = folder or shared_options.site
    try:
        written = init(root, force)
    except SiteErrors as error:
        count = len(error.errors)
        words = f"{count} of its files are there already" if count > 1 else f"{error.errors[0].file} is there already"
        raise UseError(
            f"{root} is a site: {words}; nothing was written", "choose an empty folder, or overwrite them with --force"
        ) from error
    for path in written:
        click.echo(path)
    shared_options.site = root
    click.echo("Edit inventory/ and rocetune.yaml to describe your rack.")
    click.echo(f"Next: {shared_options.again('validate')}")

"""``rocetune schema``: JSON Schema of the files of a site, for editors."""

from __future__ import annotations

import click

from rocetune.cli.options import shared

KINDS = ("profile", "inventory", "links", "site")


@click.command(help="Print the JSON Schema of a profile, the inventory, the links or rocetune.yaml.")
@click.argument("kind", type=click.Choice(KINDS))
@shared
def command(kind: str) -> None:
    """One schema on stdout."""
    from rocetune.report.table import to_json
    from rocetune.site.schema import schema

    click.echo(to_json(schema(kind)))

"""``rocetune schema``: JSON Schema of the files of a site, for editors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rocetune.cli.options import shared

if TYPE_CHECKING:
    from rocetune.site.schema import Kind

KINDS = ("profile", "inventory", "defaults", "links", "site")  # those of rocetune.site.schema


@click.command(help="Print the JSON Schema of a profile, the inventory, its defaults, the links or rocetune.yaml.")
@click.argument("kind", type=click.Choice(KINDS))
@shared
def command(kind: Kind) -> None:
    """One schema on stdout, the same bytes as the shipped file."""
    from rocetune.site.schema import text

    click.echo(text(kind), nl=False)

"""``rocetune platforms``: what is supported, how safely, and what is only believed."""

from __future__ import annotations

import click

from rocetune.cli import complete
from rocetune.cli.options import settings, shared


@click.command(help="Show the supported platforms: transport, safety, confirmed and unconfirmed facts.")
@click.argument("name", required=False, shell_complete=complete.platforms)
@shared
def command(name: str | None) -> None:
    """One row per platform, or everything about one."""
    from rocetune import platforms
    from rocetune.report.platforms import platform_text, platforms_json, platforms_markdown, platforms_text

    shared_options = settings()
    form = shared_options.written("text", "json", "markdown")
    if name is not None and name not in platforms.names():
        raise click.UsageError(f"there is no platform {name!r}; known: {', '.join(platforms.names())}.")
    found = [platforms.get(known) for known in platforms.names() if name in (None, known)]
    if form == "json":
        click.echo(platforms_json(found))
    elif form == "markdown":
        click.echo(platforms_markdown(found), nl=False)
    elif name is not None:
        click.echo(platform_text(found[0], shared_options.paint()))
    else:
        click.echo(platforms_text(found))
        click.echo("Next: rocetune platforms NAME")

"""``rocetune asics``: the chips whose buffers are known, and how sure the figures are."""

from __future__ import annotations

import click

from rocetune.cli import complete
from rocetune.cli.options import settings, shared


@click.command(
    help="List the known switch chips with buffer, cell size and headroom preset, or show one of them in full.",
    epilog="NAME in any spelling: 'Tomahawk 3', TH3, BCM56980, Spectrum-4, or a switch model such as Z9332F.",
)
@click.argument("name", required=False, shell_complete=complete.asics)
@shared
def command(name: str | None) -> None:
    """One row per chip, or everything about one."""
    from rocetune.app.knowing import known_at
    from rocetune.report.asics import asic_markdown, asic_text, asics_json, asics_markdown, asics_text

    shared_options = settings()
    form = shared_options.written("text", "json", "markdown")
    known = known_at(shared_options.site).asics
    found = list(known)
    if name is not None:
        from rocetune.app.asking import chip_named

        asic = chip_named(name, None, known, option="NAME").asic
        assert asic is not None
        found = [asic]
    if form == "json":
        click.echo(asics_json(found))
    elif form == "markdown":
        click.echo(asic_markdown(found[0]) if name else asics_markdown(found), nl=False)
    elif name is not None:
        click.echo(asic_text(found[0], shared_options.paint()))
        port = f"--speed {found[0].port_gbps or 100}G --length 30m --asic {found[0].key}"
        if found[0].reference is None and found[0].cell_bytes is None:
            port += " --cell 254B"  # an example: the chip's own is not published
        shared_options.next([(f"headroom {port}", "the headroom of a port")])
    else:
        click.echo(asics_text(found))
        shared_options.next([(f"asics {found[0].key}", "one chip in full")])

"""Options of commands that talk to devices."""

from __future__ import annotations

import click

accept_new_host_keys = click.option(
    "--accept-new-host-keys", is_flag=True, help="Trust host keys never seen before, and remember them for this site."
)
yes = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation. Never raises the accepted impact.")
wave = click.option(
    "--wave",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Devices at a time after the first (default: the site's, 8).",
)

"""What the calculators have in common: options of a port and of its switch, and how an answer is printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from rocetune.cli import complete, quantity
from rocetune.cli.options import settings
from rocetune.cli.typed import carried

ASIC = click.option("--asic", metavar="NAME", shell_complete=complete.asics, help="Chip or switch model, any spelling.")
MODEL = click.option("--model", metavar="MODEL", shell_complete=complete.models, help="Model or SONiC hardware SKU.")
MTU = click.option(
    "--mtu", type=quantity.MTU, metavar="BYTES", default=9216, help="Largest frame of the port, any class (9216)."
)
RDMA_MTU = click.option(
    "--rdma-mtu",
    "--priority-mtu",
    type=quantity.RDMA_MTU,
    metavar="BYTES",
    default=4096,
    help="RDMA MTU of the lossless priority (4096); another number is its whole frame.",
)
CELL = click.option(
    "--cell", type=quantity.CELL, metavar="SIZE", help="Buffer cell, where the chip's is not known: 254B."
)
DELAY = click.option("--delay", type=quantity.DELAY, metavar="TIME", help="MAC, PHY and FEC of both ends, as in 200ns.")
TABLE = click.option(
    "--table",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Your own headroom table first: pg_profile_lookup.ini, or CSV with speed_mbps, cable_m, xoff_bytes.",
)
NO_TABLE = click.option(
    "--no-table", is_flag=True, help="Compute the headroom, even where a published table has a row."
)
QUANTA_800G = click.option("--quanta-800g", type=click.Choice(["1810", "905"]), help="Peer's reaction at 800G (1810).")
PLATFORM = click.option(
    "--platform",
    metavar="NAME",
    shell_complete=complete.platforms,
    help="What the switch runs: sonic, arista_eos (else as if SONiC).",
)
PORTS = click.option("--ports", type=quantity.PORTS, metavar="N", help="Ports like this one on the switch.")
LOSSLESS = click.option("--lossless", type=quantity.PRIORITIES, metavar="N", help="Lossless priorities per port (1).")
ALPHA = click.option(
    "--alpha",
    type=quantity.ALPHA,
    metavar="A",
    help="Dynamic threshold factor of the buffer (on SONiC that of the switch's own table, else 1).",
)


def site_quanta(stated: str | None, known: int) -> bool:
    """Whether the site's 800G quanta count, and are not the default."""
    from rocetune.tuning.wire import QUANTA_800G

    return stated is None and known != QUANTA_800G


def running(platform: str | None) -> dict[str, Any]:
    """What counts on a platform: ``sonic``, SONiC's tables and pools (None: nobody said), and ``alphas``, its steps.

    Raises UsageError for an unknown name.
    """
    if platform is None:
        return {"sonic": None, "alphas": ""}
    from rocetune import platforms

    known = [name for name in platforms.names() if name != "linux"]  # what servers run, as in the inventory
    if platform not in known:
        raise click.UsageError(f"--platform: there is no switch platform {platform!r}; known: {', '.join(known)}.")
    found = platforms.get(platform)
    return {"sonic": found.sonic_tables, "alphas": found.alphas}


def put(
    form: str,
    answer: Any,
    *,
    text: Callable[[Any], str],
    as_json: Callable[[Any], str],
    as_markdown: Callable[[Any], str],
) -> None:
    """Print an answer in one of three forms; its next commands carry the options that were typed."""
    drawn = click.get_current_context().params.get("plot")
    follow = [item for item in answer.follow if not drawn or "--plot" not in dict(item.options)]
    answer = replace(answer, next=carried(follow))
    if form == "json":
        click.echo(as_json(answer))
    elif form == "markdown":
        click.echo(as_markdown(answer), nl=False)
    else:
        click.echo(text(answer))
        settings().next(answer.next)


def fits(answer: Any) -> None:
    """Exit 2 where a switch could not do what the answer says."""
    if any(not problem.warning for problem in answer.problems):
        raise click.exceptions.Exit(2)

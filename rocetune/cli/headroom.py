"""``rocetune headroom``: what one lossless priority of a port needs above XOFF, and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from rocetune.cli import complete, quantity
from rocetune.cli.options import settings, shared
from rocetune.cli.typed import Typed, carried


@click.command(
    cls=Typed,
    help="PFC headroom of a port with its arithmetic; with --ports, whether a whole switch of them fits.",
    epilog="Example: rocetune headroom --speed 400G --length 30m --asic tomahawk3 --ports 32 --lossless 2",
)
@click.option("--speed", type=quantity.SPEED, metavar="SPEED", required=True, help="Port speed, as in 400G.")
@click.option("--length", type=quantity.LENGTH, metavar="LENGTH", required=True, help="Cable length: 0.5m, 30m, 2km.")
@click.option("--asic", metavar="NAME", shell_complete=complete.asics, help="Chip or switch model in any spelling.")
@click.option("--model", metavar="MODEL", shell_complete=complete.models, help="Switch model or SONiC hardware SKU.")
@click.option("--mtu", type=quantity.MTU, metavar="BYTES", default=9216, help="Largest frame of the port (9216).")
@click.option(
    "--rdma-mtu",
    "--priority-mtu",
    type=quantity.RDMA_MTU,
    metavar="BYTES",
    default=4096,
    help="RDMA MTU of the lossless priority (4096); another number is its whole frame.",
)
@click.option("--cell", type=quantity.CELL, metavar="SIZE", help="Buffer cell, where the chip is not listed: 254B.")
@click.option("--delay", type=quantity.DELAY, metavar="TIME", help="MAC, PHY and FEC of both ends, as in 200ns.")
@click.option(
    "--table",
    "own",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Your own table before all others: pg_profile_lookup.ini, or CSV with speed_mbps, cable_m, xoff_bytes.",
)
@click.option("--no-table", is_flag=True, help="Compute, even where the platform's published table has a row.")
@click.option("--quanta-800g", type=click.Choice(["1810", "905"]), help="Peer's reaction at 800G (1810).")
@click.option("--ports", type=quantity.PORTS, metavar="N", help="Ports like this one on the switch: need and fit.")
@click.option("--lossless", type=quantity.PRIORITIES, metavar="N", help="Lossless priorities per port, with --ports.")
@click.option("--alpha", type=quantity.ALPHA, metavar="A", default=1.0, help="Dynamic threshold factor, with --ports.")
@click.option("--plot", type=quantity.PLOT, metavar="FILE", help="Draw headroom over cable length, .svg or .png.")
@shared
def command(
    speed: int,
    length: float,
    asic: str | None,
    model: str | None,
    mtu: int,
    rdma_mtu: int,
    cell: int | None,
    delay: float | None,
    own: Path | None,
    no_table: bool,
    quanta_800g: str | None,
    ports: int | None,
    lossless: int | None,
    alpha: float,
    plot: Path | None,
) -> None:
    """Print the answer; exit 2 when it does not fit."""
    from rocetune.app.calculating import HeadroomAsk, calculate_headroom, chip_named, table_file
    from rocetune.app.knowing import known_at
    from rocetune.report.calculators import headroom_json, headroom_markdown, headroom_text

    shared_options = settings()
    form = shared_options.written("text", "json", "markdown")
    if own is not None and no_table:
        raise click.UsageError("--table and --no-table exclude each other: give one of them.")
    if own is not None and delay is not None:
        raise click.UsageError("--table and --delay exclude each other: a row has its delay in it.")
    if lossless is not None and ports is None:
        raise click.UsageError("--lossless needs --ports: together they are what the switch must hold.")
    known = known_at(shared_options.site)
    chip = chip_named(asic, model, known.asics)
    ask = HeadroomAsk(
        speed_mbps=speed,
        cable_m=length,
        chip=chip,
        mtu_bytes=mtu,
        rdma_mtu=rdma_mtu,
        cell_bytes=cell,
        delay_ns=delay,
        table=table_file(own) if own else None if no_table else known.own_table(chip.model),
        lookup=not no_table,
        at_800g=int(quanta_800g or known.quanta_800g),
        ports=ports,
        lossless=lossless,
        alpha=alpha,
    )
    answer = calculate_headroom(ask)
    if plot is not None:
        from rocetune.app.plotting import plot_headroom

        plot_headroom(answer, ask, plot)
    answer = replace(answer, next=carried(answer.follow))
    if form == "json":
        click.echo(headroom_json(answer))
    elif form == "markdown":
        click.echo(headroom_markdown(answer), nl=False)
    else:
        click.echo(headroom_text(answer, shared_options.paint()))
        shared_options.next(answer.next)
    quantity.drawn(plot)
    if any(not problem.warning for problem in answer.problems):
        raise click.exceptions.Exit(2)

"""``rocetune headroom``: what one lossless priority of a port needs above XOFF, and why."""

from __future__ import annotations

from pathlib import Path

import click

from rocetune.cli import calculator, quantity
from rocetune.cli.options import settings, shared
from rocetune.cli.typed import Typed


@click.command(
    cls=Typed,
    help="PFC headroom of a port with its arithmetic; with --ports, whether a whole switch of them fits.",
    epilog="Example: rocetune headroom --speed 400G --length 30m --asic tomahawk3 --ports 32 --lossless 2",
)
@click.option("--speed", type=quantity.SPEED, metavar="SPEED", required=True, help="Port speed, as in 400G.")
@click.option("--length", type=quantity.LENGTH, metavar="LENGTH", required=True, help="Cable length: 0.5m, 30m, 2km.")
@calculator.ASIC
@calculator.MODEL
@calculator.PLATFORM
@calculator.MTU
@calculator.RDMA_MTU
@calculator.CELL
@calculator.DELAY
@calculator.TABLE
@calculator.NO_TABLE
@calculator.QUANTA_800G
@calculator.PORTS
@calculator.LOSSLESS
@calculator.ALPHA
@click.option("--plot", type=quantity.PLOT, metavar="FILE", help="Draw headroom over cable length, .svg or .png.")
@shared
def command(
    speed: int,
    length: float,
    asic: str | None,
    model: str | None,
    platform: str | None,
    mtu: int,
    rdma_mtu: int,
    cell: int | None,
    delay: float | None,
    table: Path | None,
    no_table: bool,
    quanta_800g: str | None,
    ports: int | None,
    lossless: int | None,
    alpha: float | None,
    plot: Path | None,
) -> None:
    """Print the answer; exit 2 when it does not fit."""
    from rocetune.app.asking import HeadroomAsk, chip_named, table_file
    from rocetune.app.calculating import calculate_headroom
    from rocetune.app.knowing import known_at
    from rocetune.report.calculators import headroom_json, headroom_markdown, headroom_text

    shared_options = settings()
    form = shared_options.written("text", "json", "markdown")
    if table is not None and no_table:
        raise click.UsageError("--table and --no-table exclude each other: give one of them.")
    if table is not None and delay is not None:
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
        table=table_file(table) if table else None if no_table else known.own_table(chip.model),
        lookup=not no_table,
        **calculator.running(platform),
        at_800g=int(quanta_800g or known.quanta_800g),
        site_quanta=calculator.site_quanta(quanta_800g, known.quanta_800g),
        ports=ports,
        lossless=lossless,
        alpha=alpha,
    )
    answer = calculate_headroom(ask)
    if plot is not None:
        from rocetune.app.plotting import plot_headroom

        plot_headroom(answer, ask, plot)
    calculator.put(
        form,
        answer,
        text=lambda one: headroom_text(one, shared_options.paint()),
        as_json=headroom_json,
        as_markdown=headroom_markdown,
    )
    quantity.drawn(plot)
    calculator.fits(answer)

"""``rocetune ecn``: marking thresholds of a port in bytes and microseconds, and what bounds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rocetune.cli import calculator, complete, quantity
from rocetune.cli.options import settings, shared
from rocetune.cli.typed import Typed


@click.command(
    cls=Typed,
    help="ECN thresholds of a port from round trip and buffer, with the bounds that keep marking ahead of PFC.",
    epilog="Example: rocetune ecn --speed 400G --rtt 8us --asic Z9332F --ports 32 --lossless 2 --length 30m",
)
@click.option("--speed", type=quantity.SPEED, metavar="SPEED", help="Port speed, as in 400G.")
@click.option("--rtt", type=quantity.RTT, metavar="TIME", help="Round trip without load, as in 8us.")
@click.option(
    "--tiers", type=click.IntRange(1, 3), help="Switch tiers instead of --rtt: 8 us up to two, 12 us for three."
)
@calculator.ASIC
@calculator.MODEL
@calculator.PLATFORM
@calculator.PORTS
@calculator.LOSSLESS
@click.option("--length", type=quantity.LENGTH, metavar="LENGTH", help="Cable length (30m).")
@calculator.CELL
@calculator.DELAY
@calculator.QUANTA_800G
@calculator.TABLE
@calculator.NO_TABLE
@calculator.ALPHA
@calculator.MTU
@calculator.RDMA_MTU
@click.option(
    "--objective",
    type=click.Choice(["latency", "balanced", "throughput"]),
    help="Short queues, full links, or between (balanced).",
)
@click.option("--flows", type=quantity.FLOWS, metavar="N", help="Flows that meet at the port (64).")
@click.option(
    "--dcqcn", type=click.Choice(["firmware", "paper", "scaled"]), default="firmware", help="The senders' set."
)
@click.option("--preset", metavar="NAME", shell_complete=complete.ecn_presets, help="A published curve by name.")
@click.option(
    "--compare",
    metavar="PRESET ...",
    multiple=True,
    shell_complete=complete.ecn_presets,
    help="Published curves beside it by name, or all of them: --compare all.",
)
@click.option("--list-presets", is_flag=True, help="List the published curves with their sources.")
@click.option("--plot", type=quantity.PLOT, metavar="FILE", help="Draw the curve among its bounds, .svg or .png.")
@click.argument("more", metavar="", nargs=-1, shell_complete=complete.ecn_presets)
@shared
def command(list_presets: bool, plot: Path | None, more: tuple[str, ...], **asked: Any) -> None:
    """Print the answer; exit 2 when marking would come after PFC or the headroom does not fit."""
    shared_options = settings()
    form = shared_options.written("text", "json", "markdown")
    if more and not asked["compare"]:
        raise click.UsageError(f"{more[0]!r} belongs to no option: names of presets follow --compare.")
    if any(not name.strip(" ,") for name in (*asked["compare"], *more)):
        raise click.UsageError("--compare: a name is empty; `rocetune ecn --list-presets` lists them.")
    if list_presets:
        _list(form)
        return
    if asked["speed"] is None:
        raise click.UsageError("Missing option '--speed': the port's speed, as in --speed 400G.")
    for one, other in (("rtt", "tiers"), ("objective", "preset"), ("table", "no_table"), ("table", "delay")):
        if asked[one] and asked[other]:
            other = other.replace("_", "-")
            raise click.UsageError(f"--{one} and --{other} answer the same question: give one of them.")
    for name in ("ports", "lossless"):
        if asked[name] is not None and asked["asic"] is None and asked["model"] is None:
            raise click.UsageError(f"--{name} needs --asic: whose buffer do they share?")
    _answer(form, plot, (*asked["compare"], *more), asked)


def _answer(form: str, plot: Path | None, compare: tuple[str, ...], asked: dict[str, Any]) -> None:
    from rocetune.app.asking import chip_named, table_file
    from rocetune.app.knowing import known_at
    from rocetune.app.marking import DEFAULT_LENGTH_M, EcnAsk, calculate_ecn
    from rocetune.report.curves import ecn_json, ecn_markdown, ecn_text

    known = known_at(settings().site)
    chip = chip_named(asked["asic"], asked["model"], known.asics)
    own = None if asked["no_table"] else known.own_table(chip.model)
    answer = calculate_ecn(
        EcnAsk(
            speed_mbps=asked["speed"],
            rtt_us=asked["rtt"],
            tiers=asked["tiers"],
            cable_m=DEFAULT_LENGTH_M if asked["length"] is None else asked["length"],
            length_stated=asked["length"] is not None,
            chip=chip,
            ports=asked["ports"],
            lossless=asked["lossless"],
            alpha=asked["alpha"],
            cell_bytes=asked["cell"],
            delay_ns=asked["delay"],
            at_800g=int(asked["quanta_800g"] or known.quanta_800g),
            site_quanta=calculator.site_quanta(asked["quanta_800g"], known.quanta_800g),
            table=table_file(asked["table"]) if asked["table"] else own,
            lookup=not asked["no_table"],
            **calculator.running(asked["platform"]),
            mtu_bytes=asked["mtu"],
            rdma_mtu=asked["rdma_mtu"],
            objective=asked["objective"] or "balanced",
            preset=asked["preset"],
            compare=compare,
            flows=asked["flows"],
            dcqcn=asked["dcqcn"],
        )
    )
    if plot is not None:
        from rocetune.app.plotting import plot_marking

        plot_marking(answer, plot)
    calculator.put(
        form,
        answer,
        text=lambda one: ecn_text(one, settings().paint(), verbose=settings().verbose),
        as_json=ecn_json,
        as_markdown=lambda one: ecn_markdown(one, verbose=settings().verbose),
    )
    quantity.drawn(plot)
    calculator.fits(answer)


def _list(form: str) -> None:
    from rocetune.report.curves import presets_json, presets_markdown, presets_text
    from rocetune.tuning.presets import ecn_presets

    found = ecn_presets().values()
    if form == "json":
        click.echo(presets_json(found))
    elif form == "markdown":
        click.echo(presets_markdown(found), nl=False)
    else:
        click.echo(presets_text(found))
        settings().next([("ecn --speed 400G --rtt 8us --preset hpcc", "what one means at a speed")])

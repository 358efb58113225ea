"""``rocetune dcqcn``: parameters of a NIC, and where its flows settle on a marking curve."""

from __future__ import annotations

import re

import click

from rocetune.cli import calculator, complete, quantity
from rocetune.cli.options import settings, shared
from rocetune.cli.typed import Typed


def _fixed(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, int]:
    """``NAME=VALUE`` pairs; names and ranges are checked where the parameters are known."""
    found = {}
    for text in value:
        match = re.fullmatch(r"\s*([a-z0-9_]+)\s*=\s*([0-9]{1,10})\s*", text)
        if match is None:
            raise click.BadParameter(f"{text!r} is not NAME=NUMBER, as in rpg_ai_rate=80", ctx, param)
        if match[1] in found:
            raise click.BadParameter(f"{match[1]} is set twice: once is enough", ctx, param)
        found[match[1]] = int(match[2])
    return found


@click.command(
    cls=Typed,
    help="DCQCN parameters of a NIC and the marking probability, queue and CNP load at which its flows settle.",
    epilog="Example: rocetune dcqcn --speed 400G --flows 64 --preset scaled --kmin 400KB --kmax 1600KB",
)
@click.option("--speed", type=quantity.SPEED, metavar="SPEED", required=True, help="Port speed, as in 400G.")
@click.option("--flows", type=quantity.FLOWS, metavar="N", required=True, help="Flows that meet at the port.")
@click.option(
    "--preset",
    type=click.Choice(["firmware", "paper", "scaled"]),
    default="firmware",
    help="firmware: the NIC keeps its own (default); paper: SIGCOMM 2015; scaled: rates by link speed.",
)
@click.option("--kmin", type=quantity.SIZE, metavar="SIZE", help="Queue where marking starts, as in 400KB.")
@click.option("--kmax", type=quantity.SIZE, metavar="SIZE", help="Queue from which every packet is marked.")
@click.option("--pmax", type=quantity.PERCENT, metavar="SHARE", help="Share of packets marked at kmax, as in 20%.")
@calculator.RDMA_MTU
@click.option(
    "--set",
    "fixed",
    metavar="NAME=NUMBER",
    multiple=True,
    callback=_fixed,
    shell_complete=complete.dcqcn_parameters,
    help="A parameter in the NIC's own unit, by its mlx5 name; may be given often.",
)
@shared
def command(
    speed: int,
    flows: int,
    preset: str,
    kmin: int | None,
    kmax: int | None,
    pmax: float | None,
    rdma_mtu: int,
    fixed: dict[str, int],
) -> None:
    """Print parameters and prediction."""
    from rocetune.app.senders import DcqcnAsk, calculate_dcqcn
    from rocetune.report.curves import dcqcn_json, dcqcn_markdown, dcqcn_text

    shared_options = settings()
    form = shared_options.written("text", "json", "markdown")
    answer = calculate_dcqcn(
        DcqcnAsk(
            speed_mbps=speed,
            flows=flows,
            preset=preset,  # type: ignore[arg-type]
            kmin_bytes=kmin,
            kmax_bytes=kmax,
            pmax_percent=pmax,
            rdma_mtu=rdma_mtu,
            fixed=fixed,
        )
    )
    calculator.put(
        form,
        answer,
        text=lambda one: dcqcn_text(one, shared_options.paint()),
        as_json=dcqcn_json,
        as_markdown=dcqcn_markdown,
    )

"""``rocetune lab``: emulated devices on loopback, for rehearsal and tests; no proof about a real ASIC."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocetune.cli.options import settings, shared

if TYPE_CHECKING:
    from rocetune.lab.control import Status


@click.group(help="Rehearse against emulated devices of this inventory. Emulation proves nothing about a real ASIC.")
@shared
def command() -> None:
    """Start, stop and disturb the lab."""


def _root() -> Path:
    from rocetune.app.workspace import STATE

    return settings().site.resolve() / STATE / "lab"


@command.command(help="Start the devices in the background. What they held at the last stop is kept.")
@click.option("--latency", type=click.FloatRange(0, 60_000), default=0.0, metavar="MS", help="Added to every request.")
@shared
def start(latency: float) -> None:
    """Fails with a remedy when one runs already or the extra is missing."""
    from rocetune.app.planning import make_plan
    from rocetune.lab import control

    shared_options = settings()
    workspace = shared_options.workspace()
    control.start(workspace.lab_root, make_plan(workspace), site=workspace.root, latency_ms=latency)
    _show(control.status(workspace.lab_root))
    shared_options.lab = True
    if shared_options.format == "text":
        click.echo(f"Next: {shared_options.again('diff')}")


@command.command(help="Stop the devices. They keep what they hold.")
@shared
def stop() -> None:
    """Stopping a lab that does not run is no error."""
    from rocetune.lab import control

    click.echo("stopped." if control.stop(_root()) else "no lab was running.")


@command.command(help="Show the devices, where they listen and their faults.")
@shared
def status() -> None:
    """Exit 1 when no lab runs."""
    from rocetune.lab import control

    found = control.status(_root())
    _show(found)
    if not found.running:
        raise click.exceptions.Exit(1)


@command.command(help="Put every device back to factory state. Stops the lab if it runs.")
@shared
def reset() -> None:
    """Forget what the devices hold, all faults and the clock."""
    from rocetune.lab import control

    control.stop(_root())
    control.reset(_root())
    click.echo("the lab is at factory state.")


@command.command(help="Set a fault, or lift faults with --clear. Without arguments: list the faults there are.")
@click.argument("device", required=False)
@click.argument("name", required=False)
@click.argument("value", required=False)
@click.option("--port", metavar="PORT", help="The port it strikes.")
@click.option(
    "--count", type=click.IntRange(0), default=0, metavar="N", help="How often it strikes (0: until cleared)."
)
@click.option("--clear", is_flag=True, help="Lift the faults of DEVICE (all), or the one of this NAME.")
@shared
def fault(device: str | None, name: str | None, value: str | None, port: str | None, count: int, clear: bool) -> None:
    """A fault that changes a setting stays until it is mended, as in life."""
    from rocetune.lab import control
    from rocetune.lab.device import Fault
    from rocetune.report.table import counted

    if clear:
        gone = control.clear_faults(_root(), device, name)
        click.echo(f"{counted(len(gone), 'fault')} lifted.")
    elif device is None:
        _list_faults(control.status(_root()))
    elif name is None:
        raise click.UsageError("name the fault too; `rocetune lab fault` lists them.")
    else:
        click.echo(f"{device}: {control.set_fault(_root(), device, Fault(name, port, value, count))}")


@command.command(help="Put the lab's clock forward, so that its timers fire.")
@click.argument("seconds", type=click.FloatRange(min=0, min_open=True))
@shared
def advance(seconds: float) -> None:
    """For rehearsing a revert timer without waiting for it."""
    from rocetune.lab import control

    click.echo(f"the lab is {control.advance_clock(_root(), seconds):g} s ahead.")


def _list_faults(found: Status) -> None:
    from rocetune.report.table import table

    if not found.known_faults:
        raise click.UsageError(f"no lab was started here; start one with: {settings().again('lab start')}")
    for platform, faults in found.known_faults.items():
        click.echo(f"{platform}\n{table([[name, text] for name, text in faults.items()], indent='  ')}")


def _show(found: Status) -> None:
    from rocetune.report.table import counted, table, to_json

    if settings().written("text", "json") == "json":
        click.echo(to_json(_document(found)))
        return
    rows = [
        [
            item.name,
            item.platform,
            item.transport,
            str(item.port or "-"),
            ", ".join(_fault(e.fault) for e in item.faults),
        ]
        for item in found.devices
    ]
    if rows:
        click.echo(table(rows, ["device", "platform", "transport", "port", "faults"], right=[3]))
    words = f"{counted(len(rows), 'emulated device')} on loopback" if found.running else "no lab is running"
    latency = f", {found.latency_ms:g} ms latency" if found.running and found.latency_ms else ""
    click.echo(f"{words}{latency}.")


def _fault(fault: object) -> str:
    from rocetune.lab.device import Fault

    assert isinstance(fault, Fault)
    return " ".join(filter(None, (fault.name, fault.port, fault.value)))


def _document(found: Status) -> dict[str, object]:
    return {
        "format": "rocetune.lab/1",
        "running": found.running,
        "latency_ms": found.latency_ms,
        "clock_ahead_s": found.clock_ahead_s,
        "devices": [
            {
                "device": item.name,
                "platform": item.platform,
                "transport": item.transport,
                "port": item.port,
                "faults": [_fault(entry.fault) for entry in item.faults],
            }
            for item in found.devices
        ],
    }

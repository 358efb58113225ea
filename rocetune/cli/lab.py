"""``rocetune lab``: emulated devices on loopback, for rehearsal and tests; no proof about a real ASIC."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocetune.cli import complete
from rocetune.cli.options import settings, shared

if TYPE_CHECKING:
    from rocetune.lab.control import Status


@click.group(help="Rehearse against emulated devices of this inventory. Emulation proves nothing about a real ASIC.")
@shared
def command() -> None:
    """Start, stop and disturb the lab."""


def _root() -> Path:
    return settings().lab_root


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
    if shared_options.format == "text":
        shared_options.lab = True
        shared_options.next([("diff", "")])


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

    stopped = control.stop(_root())
    control.reset(_root())
    click.echo(f"{'the lab was stopped; ' if stopped else ''}its devices are at factory state.")
    settings().next([("lab start", "")])


@command.command(
    "ssh",
    help="Log in to an emulated device, or run COMMAND there. Devices behind eAPI take commands separated by ';'.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@shared
@click.argument("device", shell_complete=complete.lab_devices)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND]...")
def ssh(device: str, words: tuple[str, ...]) -> None:
    """Ends with the command's own exit status."""
    from rocetune.lab.login import login

    status = login(_root(), device, words[1:] if words[:1] == ("--",) else words, click.echo)
    if status:
        raise click.exceptions.Exit(status)


@command.command(help="Set a fault, or lift faults with --clear. Without arguments: list the faults there are.")
@click.argument("device", required=False, shell_complete=complete.lab_devices)
@click.argument("name", required=False, shell_complete=complete.faults)
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
        from rocetune.lab.errors import LabNotRunning

        raise LabNotRunning("no lab was started here", f"start one with: {settings().again('lab start')}")
    for platform, faults in found.known_faults.items():
        click.echo(f"{platform}\n{table([[name, text] for name, text in faults.items()], indent='  ')}")
    device = next(item for item in found.devices if found.known_faults.get(item.platform))
    name = next(iter(found.known_faults[device.platform]))
    settings().next([(f"lab fault {device.name} {name}", "--port PORT and a VALUE where the list says so")])


def _show(found: Status) -> None:
    from rocetune.lab.faults import lasting
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
    if any(not lasting(entry.fault.name) for item in found.devices for entry in item.faults):
        click.echo("Faults that change a setting are listed until `lab fault --clear`, also when it was mended since.")
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

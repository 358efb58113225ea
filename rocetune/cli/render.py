"""``rocetune render``: the configuration of each device, the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import click

from rocetune.cli.options import settings, shared


@click.command(help="Write each device's configuration, from what the inventory declares. No device is asked.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="One file per device there."
)
@shared
def command(output: Path | None) -> None:
    """Print, or write to a folder as <device><suffix> with side files under <device>/."""
    from rocetune import platforms
    from rocetune.app.planning import make_plan, refuse_problems, render, select
    from rocetune.report.table import counted, to_json

    shared_options = settings()
    form = shared_options.written("text", "json")
    workspace = shared_options.workspace()
    plan = make_plan(workspace)
    refuse_problems(plan)
    documents: dict[str, object] = {}
    written = 0
    for name, rendered in render(workspace, plan, select(workspace, plan, shared_options.limit)):
        suffix = platforms.get(plan.devices[name].device.platform).running_suffix
        if output is not None:
            _write(output / f"{name}{suffix}", rendered.text)
            for file, text in sorted(rendered.files.items()):
                _write(output / name / file, text)
            written += 1
        elif form == "json":
            documents[name] = {"text": rendered.text, "files": dict(rendered.files)}
        else:
            click.echo(f"# ---- {name}{suffix}\n{rendered.text.rstrip()}\n")
            for file, text in sorted(rendered.files.items()):
                click.echo(f"# ---- {name}/{file}\n{text.rstrip()}\n")
    if output is not None:
        click.echo(f"{counted(written, 'device')} written to {output}.", err=form == "json")
    if form == "json" and output is None:
        click.echo(to_json({"format": "rocetune.render/1", "devices": documents}))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())

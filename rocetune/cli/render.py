"""``rocetune render``: the configuration of each device, the same bytes every time."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocetune.cli.options import settings, shared

if TYPE_CHECKING:
    from rocetune.model.change import Rendered


@click.command(help="Write each device's configuration, from what the inventory declares. No device is asked.")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="One file per device there."
)
@shared
def command(output: Path | None) -> None:
    """Print, or write to a folder as <device><suffix> with side files under <device>/."""
    from rocetune import platforms
    from rocetune.app.planning import make_plan, refuse_problems, render, select, with_refusals
    from rocetune.report.plan import problems_text
    from rocetune.report.table import counted, to_json

    shared_options = settings()
    form = shared_options.written("text", "json")
    workspace = shared_options.workspace()
    plan = with_refusals(make_plan(workspace))
    refuse_problems(plan)
    if plan.problems:  # warnings; on stderr, as what is printed may be a configuration
        click.echo(problems_text(plan.problems, shared_options.paint(sys.stderr)) + "\n", err=True)
    # Everything is rendered before the first byte is written: a device that cannot be rendered leaves no half output.
    documents = {
        name: (platforms.get(plan.devices[name].device.platform).running_suffix, rendered)
        for name, rendered in render(workspace, plan, select(workspace, plan, shared_options.limit))
    }
    if output is not None:
        _write(output, documents)
        click.echo(f"{counted(len(documents), 'device')} written to {output}.", err=form == "json")
    elif form == "json":
        devices = {name: {"text": item.text, "files": dict(item.files)} for name, (_, item) in documents.items()}
        click.echo(to_json({"format": "rocetune.render/1", "devices": devices}))
    else:
        for path, text in _files(documents):
            click.echo(f"# ---- {path}\n{text.rstrip()}\n")


def _files(documents: Mapping[str, tuple[str, Rendered]]) -> Iterator[tuple[str, str]]:
    """Relative path and text of every file."""
    for name, (suffix, rendered) in documents.items():
        yield f"{name}{suffix}", rendered.text
        for file, text in sorted(rendered.files.items()):
            yield f"{name}/{file}", text


def _write(folder: Path, documents: Mapping[str, tuple[str, Rendered]]) -> None:
    """Write all beside the folder's files first and put them in place last: a full disk leaves what was there."""
    from shutil import rmtree
    from tempfile import mkdtemp

    folder.mkdir(parents=True, exist_ok=True)
    draft = Path(mkdtemp(prefix=".rendering-", dir=folder))
    try:
        for path, text in _files(documents):
            (draft / path).parent.mkdir(parents=True, exist_ok=True)
            (draft / path).write_bytes(text.encode())
        for path, _ in _files(documents):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (draft / path).replace(folder / path)
    finally:
        rmtree(draft, ignore_errors=True)

"""``rocetune completion``: a script for the shell to load."""

from __future__ import annotations

import click

from rocetune.cli.options import shared

_WHERE = {
    "bash": 'add to ~/.bashrc:  eval "$(rocetune completion bash)"',
    "zsh": 'add to ~/.zshrc:  eval "$(rocetune completion zsh)"',
    "fish": "rocetune completion fish > ~/.config/fish/completions/rocetune.fish",
}


_HELP = "Print a completion script.\n\n\b\n" + "\n".join(f"{shell}: {how}" for shell, how in _WHERE.items())


@click.command(help=_HELP)
@click.argument("shell", type=click.Choice(sorted(_WHERE)))
@shared
def command(shell: str) -> None:
    """Print the script of one shell."""
    from click.shell_completion import get_completion_class

    from rocetune.cli import main

    maker = get_completion_class(shell)
    assert maker is not None
    click.echo(maker(main, {}, "rocetune", "_ROCETUNE_COMPLETE").source())

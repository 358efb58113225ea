"""Exceptions as people read them: place, reason, remedy; never a traceback unless asked for with -v."""

from __future__ import annotations

import traceback

import click

from rocetune.cli.options import Settings

TROUBLE = 2  # before any change
NEEDS_A_PERSON = 3  # a device may have been written


def report(error: BaseException, settings: Settings | None) -> int:
    """Print one failure to stderr and return the exit code."""
    settings = settings or Settings()
    if settings.verbose and not isinstance(error, KeyboardInterrupt | click.Abort):
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    click.echo(settings.spoken(message(error, settings)), err=True)
    if settings.wrote:
        click.echo(f"A device may have been written. Next: {settings.again('apply --resume')}", err=True)
        return NEEDS_A_PERSON
    return TROUBLE


def message(error: BaseException, settings: Settings) -> str:
    """The words for one exception."""
    from rocetune.app.errors import UseError
    from rocetune.lab.errors import LabError
    from rocetune.platforms.base import DeviceError, LinkLost, Unreachable
    from rocetune.site.errors import SiteErrors

    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "Interrupted." if settings.wrote else "Interrupted; nothing was changed."
    if isinstance(error, SiteErrors):
        return str(error)
    if isinstance(error, UseError | LabError):
        if error.remedy and error.text.endswith(error.remedy):  # a text that came with its remedy
            return f"{error.text[: -len(error.remedy)].rstrip(' :')}\n  {error.remedy}"
        return error.text + ("\n  " + error.remedy.replace("\n", "\n  ") if error.remedy else "")
    if isinstance(error, Unreachable):
        remedy = "Check its address and port in the inventory, and the way to it (VPN, jump host)."
        return f"{error.device}: cannot be reached: {error.text}\n  {remedy}"
    if isinstance(error, LinkLost):
        return f"{error.device}: the connection ended during `{error.command}`: {error.text}"
    if isinstance(error, DeviceError):
        return f"{error.device}: `{error.command}` was refused: {error.text}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, ValueError | LookupError | RuntimeError | OSError):
        text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        return text or type(error).__name__
    return (
        f"Internal error: {type(error).__name__}: {error}\n"
        f"  This is a defect of rocetune. Run the command again with -v and report what it prints."
    )

"""Progress of long work on stderr: a live line on a terminal, plain lines in logs and pipes."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from rocetune.cli.options import Settings
    from rocetune.model.outcome import Progress

_ROUTINE = frozenset({"connected", "ok", "read", "confirmed"})  # said of every device; few are logged
_LASTING = frozenset({"push", "precheck", "canary", "wave", "confirm", "revert", "rollback", "resume"})


class Steps:
    """Prints :class:`Progress`. Called from several threads; ``pause`` clears the live line before a question.

    Never raises for a stream that cannot be written: it falls silent.
    """

    def __init__(self, settings: Settings) -> None:
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._status: Any = None
        self._gone = False  # nobody reads any more
        self._live = sys.stderr.isatty() and settings.format == "text" and bool(settings.paint(sys.stderr).on)
        self._paint = settings.paint(sys.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pause()

    def __call__(self, step: Progress) -> None:
        with self._lock, self._silenced():
            if self._gone:
                return
            if self._live:
                self._show(step)
            elif self._worth_a_line(step):
                click.echo(self._line(step), err=True)

    def pause(self) -> None:
        """Take the live line away; the next step brings it back."""
        if self._status is not None:
            with self._silenced():
                self._status.stop()
            self._status = None

    @contextmanager
    def _silenced(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError):  # broken pipe, full disk, closed file
            self._gone = True

    def _show(self, step: Progress) -> None:
        if step.text not in _ROUTINE and (step.stage in _LASTING or step.device):
            self.pause()
            click.echo(self._line(step), err=True)
            return
        if self._status is None:
            from rich.console import Console

            self._status = Console(stderr=True, highlight=False).status("")
            self._status.start()
        from rich.text import Text

        self._status.update(Text(_words(step)))

    def _worth_a_line(self, step: Progress) -> bool:
        if step.text not in _ROUTINE:
            return True
        if step.done == step.total:
            return step.text != "confirmed" or step.total > 10  # the next wave's line says as much
        return step.total > 10 and step.done % (step.total // 10) == 0

    def _line(self, step: Progress) -> str:
        elapsed = self._paint("dim", f"[{time.monotonic() - self._started:6.1f} s]")
        return f"{elapsed} {_words(step)}"


def _words(step: Progress) -> str:
    if step.device and step.text in _ROUTINE and step.done == step.total > 1:
        return f"{step.stage}: {step.done}/{step.total} devices"
    count = f" ({step.done}/{step.total})" if step.total and step.device else ""
    return f"{step.stage}: " + (f"{step.device}: " if step.device else "") + step.text + count

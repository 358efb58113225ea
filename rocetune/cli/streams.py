"""Standard streams that survive their reader: a pipe that closed or a disk that is full stops words, never work.

``rocetune apply | head -1`` must not break off between arming an undo and confirming, nor end with another code
than its report's. So while a command runs, what is written to a stream that failed is dropped, and the failure is
remembered. A stream that was closed before the start is opened on nothing: else the next file that is opened would
get its number, and a child's output.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

_NAMES = ("stdin", "stdout", "stderr")


class Lasting(io.RawIOBase):
    """The unbuffered end of a stream. After the first failure, kept in ``lost``, everything is swallowed."""

    def __init__(self, raw: io.FileIO) -> None:
        self._raw = raw
        self.lost: OSError | None = None

    def write(self, data: Any) -> int | None:
        if self.lost is None:
            try:
                return self._raw.write(data)
            except OSError as error:
                self.lost = error
        return memoryview(data).nbytes

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._raw.isatty()

    def fileno(self) -> int:
        return self._raw.fileno()


@contextmanager
def lasting() -> Iterator[dict[str, Lasting]]:
    """Replace the process's output streams meanwhile; those of a test runner stay as they are."""
    _open_closed()
    before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    ends: dict[str, Lasting] = {}
    for name, stream in before.items():
        buffer = getattr(stream, "buffer", None)
        raw = getattr(buffer, "raw", buffer)  # python -u has no buffer between
        if isinstance(raw, io.FileIO):
            stream.flush()
            ends[name] = Lasting(raw)
            setattr(sys, name, _text(ends[name], stream))
    try:
        yield ends
    finally:
        for name, stream in before.items():
            if name in ends:
                getattr(sys, name).flush()
            setattr(sys, name, stream)


def trouble(ends: dict[str, Lasting]) -> str:
    """Why results did not arrive, or "". A reader that went away has what it wanted."""
    lost = ends["stdout"].lost if "stdout" in ends else None
    if lost is None or lost.errno == errno.EPIPE:
        return ""
    return f"standard output: {lost.strerror}; results are lost"


def _text(end: Lasting, stream: TextIO) -> TextIO:
    buffered = io.BufferedWriter(end)
    errors = stream.errors if stream.errors not in (None, "strict") else "backslashreplace"
    return io.TextIOWrapper(buffered, stream.encoding, errors, line_buffering=getattr(stream, "line_buffering", False))


def _open_closed() -> None:
    for number, name in enumerate(_NAMES):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115

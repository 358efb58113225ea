"""Clocks of the lab: timers of emulated devices never sleep, they compare with an injected ``now``."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

CLOCK_FILE = "clock.json"


class ManualClock:
    """A clock for tests: stands still until it is advanced. Seconds since epoch."""

    def __init__(self, start: float = 1_760_000_000.0) -> None:
        self._now = start

    def __call__(self) -> float:
        return self._now

    def advance(self, seconds: float) -> float:
        """Move forward; the new time."""
        if seconds < 0:
            raise ValueError("a clock does not run backwards")
        self._now += seconds
        return self._now


class OffsetClock:
    """Real time plus the offset kept in the lab's folder, so that a person can skip a revert timer."""

    def __init__(self, root: Path) -> None:
        self._file = root / CLOCK_FILE
        self._seen: tuple[int, int] | None = None
        self._offset = 0.0

    def __call__(self) -> float:
        try:
            stat = self._file.stat()
        except FileNotFoundError:
            return time.time()
        if (stat.st_mtime_ns, stat.st_ino) != self._seen:
            self._seen = (stat.st_mtime_ns, stat.st_ino)
            self._offset = read_offset(self._file.parent)
        return time.time() + self._offset


def read_offset(root: Path) -> float:
    """Seconds that the lab's clock is ahead of real time."""
    try:
        return float(json.loads((root / CLOCK_FILE).read_text())["offset_s"])
    except (FileNotFoundError, ValueError, KeyError):
        return 0.0


def advance(root: Path, seconds: float) -> float:
    """Put the lab's clock forward; the new offset in seconds."""
    if seconds < 0:
        raise ValueError("a clock does not run backwards")
    offset = read_offset(root) + seconds
    draft = root / f".{CLOCK_FILE}.{os.getpid()}"
    draft.write_text(json.dumps({"offset_s": offset}) + "\n")
    draft.replace(root / CLOCK_FILE)
    return offset

"""What a run did, written before it was done: JSON lines, each flushed to disk before the next step.

One file per run, ``<state>/runs/<run>/journal.jsonl``. Only owned configuration keys enter it; credentials never
come near this module. A torn last line (power loss) is ignored on reading.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocetune.model.change import Change, Config, Key, Phase
from rocetune.model.transaction import Token

_FILE = "journal.jsonl"
_RUN = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)


def new_run_id(now: float | None = None) -> str:
    """A run id that sorts by time and is safe in file, session and unit names: ``20261130T165301-3f2a``."""
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
    return f"{stamp}-{secrets.token_hex(2)}"


@dataclass(slots=True)
class TokenRecord:
    """One transaction as journaled. ``outcome`` None: the process ended before it was known."""

    token: Token
    changes: tuple[tuple[Key, str | None, str | None], ...]
    at: float
    revert_in_s: int
    outcome: str | None = None


@dataclass(slots=True)
class RunRecord:
    """A run read back. ``verdict`` None: it never ended, ``apply --resume`` or ``rollback`` finishes it."""

    run: str
    command: str = ""
    started: float = 0.0
    version: str = ""
    devices: tuple[str, ...] = ()
    platforms: Mapping[str, str] = field(default_factory=dict)
    before: dict[str, Config] = field(default_factory=dict)
    tokens: list[TokenRecord] = field(default_factory=list)
    verdict: str | None = None

    def touched(self, device: str) -> dict[Key, str | None]:
        """The keys this run may have written on a device, each with the value it had before the run."""
        saved = self.before.get(device, {})
        return {
            key: saved.get(key)
            for record in self.tokens
            if record.token.device == device
            for key, _, _ in record.changes
        }


class Journal:
    """The one writer of a run's file; safe to call from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._seq = 0
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    @classmethod
    def create(cls, state: Path, run: str, **header: Any) -> Journal:
        """A new run's journal with its first record on disk."""
        journal = cls(state / "runs" / run / _FILE)
        journal.write("start", run=run, **header)
        _sync_folder(journal.path.parent.parent)
        return journal

    @classmethod
    def reopen(cls, state: Path, run: str) -> Journal:
        """Append to an existing run; a last line torn by a crash is cut off first."""
        path = state / "runs" / run / _FILE
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            os.truncate(path, len(whole))
        journal = cls(path)
        journal._seq = whole.count(b"\n")
        return journal

    def write(self, kind: str, **fields: Any) -> None:
        """One record, on disk when this returns. Raises OSError, and then nothing of the record is in the file."""
        with self._lock:
            line = json.dumps({"seq": self._seq + 1, "at": time.time(), "kind": kind, **fields}, separators=(",", ":"))
            start = os.lseek(self._file, 0, os.SEEK_END)
            try:
                self._put(line.encode() + b"\n")
                os.fsync(self._file)
            except OSError:
                os.ftruncate(self._file, start)  # a torn line would swallow the next one
                raise
            self._seq += 1

    def _put(self, data: bytes) -> None:
        """All of it: a write to a disk that fills up may be short without an error."""
        while data:
            data = data[os.write(self._file, data) :]

    def before(self, device: str, config: Config) -> None:
        """The owned scope of a device before anything is written to it."""
        self.write("before", device=device, config=[[*key, value] for key, value in sorted(config.items())])

    def intent(self, token: Token, changes: Sequence[Change], revert_in_s: int) -> None:
        """What is about to be written, before it is."""
        self.write(
            "intent",
            **_token_fields(token),
            revert_in_s=revert_in_s,
            changes=[[list(change.key), change.old, change.new] for change in changes],
        )

    def outcome(self, token: Token, outcome: str, detail: str = "") -> None:
        """How a transaction ended."""
        self.write("outcome", **_token_fields(token), outcome=outcome, detail=detail)

    def end(self, verdict: str) -> None:
        """The run is over and every device's standing is known."""
        self.write("end", verdict=verdict)

    def close(self) -> None:
        """Release the file."""
        os.close(self._file)


def _token_fields(token: Token) -> dict[str, Any]:
    return {"run": token.run, "device": token.device, "phase": token.phase.name, "removal": token.removal}


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Damaged(Exception):
    """A journal that cannot be read. ``path`` and ``line`` say where."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: the journal is damaged: {reason}")
        self.path, self.line = path, line


def runs(state: Path) -> tuple[str, ...]:
    """Ids of all journaled runs, oldest first."""
    return tuple(sorted(path.parent.name for path in (state / "runs").glob(f"*/{_FILE}")))


def read(state: Path, run: str) -> RunRecord:
    """A run's record. Raises KeyError with the known runs when there is none, Damaged when it cannot be read."""
    path = state / "runs" / run / _FILE
    if not _RUN.fullmatch(run) or not path.exists():
        known = ", ".join(runs(state)[-5:]) or "none"
        raise KeyError(f"no run {run!r}; newest runs: {known}")
    record = RunRecord(run)
    try:
        *whole, _torn = path.read_bytes().split(b"\n")  # a last line without its end was torn: nothing came after it
    except OSError as error:
        raise Damaged(path, 0, error.strerror or str(error)) from error
    for number, line in enumerate(whole, 1):
        try:
            _replay(record, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise Damaged(path, number, f"{type(error).__name__}: {error}") from error
    return record


def unfinished(state: Path) -> RunRecord | None:
    """The newest run that never ended, or None."""
    for run in reversed(runs(state)):
        record = read(state, run)
        if record.verdict is None:
            return record
    return None


def _replay(record: RunRecord, entry: Mapping[str, Any]) -> None:
    kind = entry["kind"]
    if kind == "start":
        record.command, record.started = entry.get("command", ""), entry["at"]
        record.version, record.devices = entry.get("version", ""), tuple(entry.get("devices", ()))
        record.platforms = entry.get("platforms", {})
    elif kind == "before":
        record.before.setdefault(entry["device"], {tuple(row[:-1]): row[-1] for row in entry["config"]})
    elif kind == "intent":
        record.tokens.append(
            TokenRecord(
                _token(entry),
                tuple((tuple(key), old, new) for key, old, new in entry["changes"]),
                entry["at"],
                entry["revert_in_s"],
            )
        )
    elif kind == "outcome":
        token = _token(entry)
        for known in reversed(record.tokens):
            if known.token == token:
                known.outcome = entry["outcome"]
                break
    elif kind == "end":
        record.verdict = entry["verdict"]


def _token(entry: Mapping[str, Any]) -> Token:
    return Token(entry["run"], entry["device"], Phase[entry["phase"]], entry["removal"])


class Busy(Exception):
    """Another rocetune works on this site. ``run`` is its run id."""

    def __init__(self, run: str) -> None:
        super().__init__(f"run {run or '(starting)'} is at work on this site")
        self.run = run


class SiteLock:
    """One push per site at a time. The kernel drops the lock when the holder dies, however it dies."""

    def __init__(self, state: Path, run: str) -> None:
        """Take the lock. Raises Busy with the holder's run, OSError when the folder cannot be used."""
        state.mkdir(parents=True, exist_ok=True)
        self._file = os.open(state / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._file, 200).decode(errors="replace").strip()
            os.close(self._file)
            raise Busy(holder) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, run.encode(), 0)

    def close(self) -> None:
        """Let the next one in."""
        os.ftruncate(self._file, 0)
        os.close(self._file)

"""The list of injected troubles, kept in one file that the lab re-reads when it changes.

The command line and the lab are two processes: both write ``faults.json`` under a lock; what the lab did
about an entry (injected once, how often a counted one has struck) is kept per device beside its state.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rocetune.lab.device import Fault
from rocetune.lab.errors import LabError

FAULTS_FILE = "faults.json"
FRAME_FAULTS: Mapping[str, str] = {
    "unreachable": "connections are refused and open ones cut",
    "slow": "every request takes VALUE milliseconds longer",
    "drop_session": "the connection is cut at a request that contains VALUE (before:TEXT not executed, "
    "after:TEXT executed and the answer lost), COUNT times",
    "reboot": "power cycle: what was not persisted is lost",
}


_LASTING = frozenset({*FRAME_FAULTS, "storm", "refuse_line", "foreign_session", "headroom_refused"})
_DEFAULT = re.compile(r"VALUE, default (\S+?)(?=[),])|VALUE \((\S+)\)")
_CHOICE = re.compile(r"\(VALUE: [^)]*\)|\(or VALUE, as [^)]*\)")


def lasting(name: str) -> bool:
    """Whether a fault strikes as long as it is set; others change a setting once and are mended by hand."""
    return name in _LASTING


def filled(text: str, fault: Fault) -> str:
    """A fault's one line with its port and value in place of the words PORT and VALUE."""
    port, value = fault.port, fault.value
    if port is not None:
        text = text.removeprefix(f"{port}: ")
        text = re.sub(r"\bPORT\b", lambda _: port, text)
    text = _CHOICE.sub(lambda _: f"({value})" if value is not None else "", text)
    text = _DEFAULT.sub(lambda hit: value if value is not None else (hit[1] or hit[2]), text)
    if value is not None:
        text = re.sub(r"\bVALUE\b", lambda _: value, text)
    return " ".join(text.split()).replace(" )", ")")


@dataclass(frozen=True, slots=True)
class Entry:
    """One fault of one device with its number in the list."""

    id: int
    device: str
    fault: Fault


class FaultBook:
    """The faults file of one lab folder. Raises LabError when the file is damaged."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._file = root / FAULTS_FILE
        self._seen: tuple[int, int, int] | None = None
        self._entries: tuple[Entry, ...] = ()

    def entries(self) -> tuple[Entry, ...]:
        """All faults now; the file is read again only when it changed."""
        try:
            stat = self._file.stat()
        except FileNotFoundError:
            self._seen, self._entries = None, ()
            return ()
        mark = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
        if mark != self._seen:
            self._entries = tuple(_load(self._file))
            self._seen = mark
        return self._entries

    def of(self, device: str) -> tuple[Entry, ...]:
        """Faults of one device."""
        return tuple(entry for entry in self.entries() if entry.device == device)

    def add(self, device: str, fault: Fault) -> Entry:
        """Set a fault."""
        with self._locked():
            serial = self._serial() + 1
            entry = Entry(serial, device, fault)
            self._store((*self.entries(), entry), serial)
        return entry

    def remove(self, wanted: Callable[[Entry], bool]) -> tuple[Entry, ...]:
        """Lift faults; those that were lifted."""
        with self._locked():
            gone = tuple(entry for entry in self.entries() if wanted(entry))
            if gone:
                self._store(tuple(entry for entry in self.entries() if entry not in gone), self._serial())
        return gone

    def _serial(self) -> int:
        try:
            return int(json.loads(self._file.read_text())["serial"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return 0

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._root.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._root / f".{FAULTS_FILE}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _store(self, entries: tuple[Entry, ...], serial: int) -> None:
        rows = [{"id": entry.id, "device": entry.device, **asdict(entry.fault)} for entry in entries]
        draft = self._root / f".{FAULTS_FILE}.{os.getpid()}"
        draft.write_text(json.dumps({"serial": serial, "faults": rows}, indent=1) + "\n")
        draft.replace(self._file)


def _load(path: Path) -> Iterator[Entry]:
    try:
        for row in json.loads(path.read_text())["faults"]:
            fault = Fault(row["name"], row.get("port"), row.get("value"), int(row.get("count", 0)))
            yield Entry(int(row["id"]), row["device"], fault)
    except (ValueError, KeyError, TypeError) as error:
        raise LabError(f"{path} is damaged ({error})", "remove the file: that clears all faults") from error


class Deeds:
    """What the frame did about the faults of one device; survives a restart of the lab."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "deeds.json"
        try:
            table = json.loads(self._file.read_text())
        except (FileNotFoundError, ValueError):
            table = {}
        self.injected: dict[str, str] = dict(table.get("injected", {}))  # fault id -> what inject() said
        self.failed: dict[str, str] = dict(table.get("failed", {}))  # fault id -> why it was refused
        self.struck: dict[str, int] = dict(table.get("struck", {}))  # fault id -> times it cut a connection
        self.kept: dict[str, list[str | int | None]] = dict(table.get("kept", {}))  # fault id -> the fault, to clear it

    def save(self) -> None:
        """Write to disk."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        draft = self._file.with_suffix(f".{os.getpid()}")
        draft.write_text(
            json.dumps(
                {"injected": self.injected, "failed": self.failed, "struck": self.struck, "kept": self.kept}, indent=1
            )
            + "\n"
        )
        draft.replace(self._file)

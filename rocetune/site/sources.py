"""Which files a site was read from, and where in them a value stands.

A place is one integer (file, line, column packed), so that a file of a million values keeps its positions in a
few megabytes. Lines are read back from disk only when an error has to show one.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Place = int
_LINE_BITS, _COLUMN_BITS = 28, 16
_LAST_COLUMN = (1 << _COLUMN_BITS) - 1
SECRET_WORDS = ("password", "secret", "passphrase", "token", "community", "private_key", "api_key")
_SECRET_KEY = re.compile(rf"({'|'.join(SECRET_WORDS)})[\"']?\s*:", re.IGNORECASE)
# It starts at the word itself and bounds what may follow: a line of 100,000 letters must not cost their square.
_SECRET_VALUE = re.compile(
    rf"((?:{'|'.join(SECRET_WORDS)})[\w\"'-]{{0,64}}\s*:\s*)(\"[^\"]*\"?|'[^']*'?|[^,}}\]#]+)", re.IGNORECASE
)


def pack(file: int, line: int, column: int) -> Place:
    """One place from zero-based line and column."""
    return (file << (_LINE_BITS + _COLUMN_BITS)) | (line << _COLUMN_BITS) | min(column, _LAST_COLUMN)


class Map(dict[Any, Any]):
    """A YAML mapping with the places of its keys and values, and its own."""

    __slots__ = ("marks", "start")

    def __init__(self, start: Place = 0) -> None:
        super().__init__()
        self.start = start
        self.marks = array("Q")  # key place, value place, in insertion order

    def put(self, key: Any, value: Any, key_place: Place, value_place: Place) -> None:
        """Add a new key with its places."""
        self[key] = value
        self.marks.append(key_place)
        self.marks.append(value_place)

    def places(self, key: Any) -> tuple[Place, Place] | None:
        """(place of the key, place of its value)."""
        for index, known in enumerate(self):
            if known == key and type(known) is type(key):
                return self.marks[2 * index], self.marks[2 * index + 1]
        return None


class Seq(list[Any]):
    """A YAML sequence with the places of its items, and its own."""

    __slots__ = ("marks", "start")

    def __init__(self, start: Place = 0) -> None:
        super().__init__()
        self.start = start
        self.marks = array("Q")

    def put(self, value: Any, place: Place) -> None:
        """Append an item with its place."""
        self.append(value)
        self.marks.append(place)


def find(data: Any, path: Iterable[Any], *, key: bool = False) -> Place | None:
    """The deepest place known on the way along ``path``; with ``key`` the last step's key instead of its value."""
    place: Place | None = getattr(data, "start", None)
    steps = list(path)
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        if isinstance(data, Map) and step in data:
            found = data.places(step)
            if found is not None:
                place = found[0] if key and last else found[1]
            data = data[step]
        elif isinstance(data, Seq) and isinstance(step, int) and 0 <= step < len(data):
            place, data = data.marks[step], data[step]
        else:
            break
    return place


def without(tree: Map, name: str) -> Map:
    """A copy without one key, places kept."""
    result = Map(tree.start)
    for key, value in tree.items():
        if key != name:
            result.put(key, value, *(tree.places(key) or (tree.start, tree.start)))
    return result


def overlay(base: Map, change: Map) -> Map:
    """``change`` over ``base``, mapping by mapping, in the order of ``base``, every place that of its own file."""
    result = Map(change.start)
    for key, value in base.items():
        inner = change.get(key, value)
        if isinstance(inner, Map) and isinstance(value, Map) and key in change:
            inner = overlay(value, inner)
        owner = change if key in change else base
        result.put(key, inner, *(owner.places(key) or (owner.start, owner.start)))
    for key, value in change.items():
        if key not in base:
            result.put(key, value, *(change.places(key) or (change.start, change.start)))
    return result


def own_index(items: Seq, number: int) -> int:
    """The position of an item among those of its own file: a joined list holds items of several files."""
    shift = _LINE_BITS + _COLUMN_BITS
    file = items.marks[number] >> shift
    return sum(1 for mark in items.marks[:number] if mark >> shift == file)


@dataclass(frozen=True, slots=True)
class Position:
    """A place for people: line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Sources:
    """The files of one site."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._paths: list[Path] = []
        self._shown: tuple[int, list[str]] = (-1, [])

    def add(self, path: Path) -> int:
        """Register a file; its number."""
        self._paths.append(path)
        return len(self._paths) - 1

    def shown(self, path: Path) -> str:
        """The path as people see it: relative to the site where it lies inside."""
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return path.as_posix()

    def position(self, place: Place) -> Position:
        """A packed place for people."""
        file = place >> (_LINE_BITS + _COLUMN_BITS)
        line = (place >> _COLUMN_BITS) & ((1 << _LINE_BITS) - 1)
        return Position(self.shown(self._paths[file]), line + 1, (place & _LAST_COLUMN) + 1)

    def line(self, place: Place) -> str:
        """The text of the line, without secrets; empty when the file cannot be read any more."""
        file = place >> (_LINE_BITS + _COLUMN_BITS)
        wanted = (place >> _COLUMN_BITS) & ((1 << _LINE_BITS) - 1)
        lines = self._lines(file)
        return masked(lines[wanted].rstrip("\r"), lines[wanted - 1] if wanted else "") if wanted < len(lines) else ""

    def _lines(self, file: int) -> list[str]:
        """The lines of a file, kept until another file is asked for: errors come in clusters."""
        if self._shown[0] != file:
            try:
                text = self._paths[file].read_text(encoding="utf-8-sig", errors="replace")
            except OSError:
                text = ""
            self._shown = (file, text.split("\n"))
        return self._shown[1]


def masked(line: str, previous: str = "") -> str:
    """The line with the values of secret-bearing keys blotted out, as wide as they were."""
    tail = previous.split("#", 1)[0].rstrip()
    if tail and _SECRET_KEY.search(tail) and re.search(r":\s*([|>][-+0-9]*|&\S+|!\S+)?$", tail[-200:]):
        return re.sub(r"\S", "*", line)
    return _SECRET_VALUE.sub(lambda found: found[1] + re.sub(r"\S", "*", found[2]), line)

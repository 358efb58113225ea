"""Plain aligned tables and the little colour that text reports use.

Widths are terminal cells: East Asian wide characters take two, combining marks none, so a table with Chinese
network names still lines up. Colour is a property of the reader's terminal, never of the report: writers get
a :class:`Paint` and plain text is the default.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_CODES = {"good": "32", "warn": "33", "bad": "31", "dim": "2", "bold": "1", "add": "32", "remove": "31"}


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours a word when ``on``; otherwise returns it as it came."""

    on: bool = False

    def __call__(self, kind: str, text: str) -> str:
        code = _CODES.get(kind)
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and code and text else text


PLAIN = Paint(False)


def width(text: str) -> int:
    """Terminal cells that a text takes; colour codes take none."""
    plain = _ANSI.sub("", text)
    if plain.isascii():
        return len(plain)
    return sum(_cells(char) for char in plain)


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def pad(text: str, cells: int, right: bool = False) -> str:
    """The text filled with spaces up to a number of cells."""
    fill = " " * max(0, cells - width(text))
    return fill + text if right else text + fill


def table(rows: Sequence[Sequence[str]], head: Sequence[str] = (), indent: str = "", right: Sequence[int] = ()) -> str:
    """Rows as aligned columns, two spaces apart, no trailing blanks.

    ``right`` lists the columns that hold numbers. Returns "" for no rows. Every row must have the same length
    as the head where there is one.
    """
    if not rows:
        return ""
    every = [list(head), *map(list, rows)] if head else [list(row) for row in rows]
    if len({len(row) for row in every}) > 1:
        raise ValueError("table rows differ in length")
    widths = [max(width(row[index]) for row in every) for index in range(len(every[0]))]
    lines = []
    for row in every:
        cells = (pad(cell, widths[index], index in right) for index, cell in enumerate(row))
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def markdown_table(rows: Sequence[Sequence[str]], head: Sequence[str]) -> str:
    """Rows as a markdown table; pipes and line ends inside cells are escaped."""
    lines = ["| " + " | ".join(map(cell, head)) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    return "\n".join(lines)


def cell(text: str) -> str:
    """A text that cannot break out of one markdown table cell."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\r", "").replace("\n", "<br>")


def fenced(text: str, language: str = "") -> str:
    """A markdown code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def to_json(document: Mapping[str, object]) -> str:
    """One JSON document as every command prints it: two spaces, sorted by the writer, UTF-8 kept."""
    return json.dumps(document, indent=2, ensure_ascii=False)


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 device``, ``3 devices``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """``0.8 s``, ``42 s`` or ``3 min 05 s``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02} s"

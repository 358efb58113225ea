"""SONiC's printed tables, read by header name: columns come and go by release, and a missing value is ``N/A``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_DASHES = re.compile(r"-+(?:\s+-+)*")
_PROMPT = re.compile(r"\S+@\S+:.*[#$].*")
_GAP = re.compile(r" {2,}")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: cells by header text, and the line itself as evidence."""

    cells: Mapping[str, str]
    line: str

    def __getitem__(self, header: str) -> str:
        return self.cells.get(header, "")


@dataclass(frozen=True, slots=True)
class Table:
    """One table. ``title`` is the line above the header, "" without one."""

    title: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]


def tables(text: str) -> tuple[Table, ...]:
    """All tables of a text: a header line followed by a line of dashes whose groups give the column bounds."""
    lines = [line.rstrip() for line in text.splitlines()]
    found = []
    for number in range(1, len(lines)):
        if not _DASHES.fullmatch(lines[number].strip()) or " " not in lines[number].strip():
            continue
        bounds = [match.span() for match in re.finditer(r"-+", lines[number])]
        cells = _split(lines[number - 1], bounds)
        if cells is None or not all(cells):
            continue
        rows = []
        for line in lines[number + 1 :]:
            if not line.strip() or _DASHES.fullmatch(line.strip()) or _PROMPT.fullmatch(line):
                break
            row = _split(line, bounds)
            if row is None:
                break
            rows.append(Row(dict(zip(cells, row, strict=True)), line))
        title = lines[number - 2].strip() if number >= 2 else ""
        found.append(Table(title, tuple(cells), tuple(rows)))
    return tuple(found)


def _split(line: str, bounds: list[tuple[int, int]]) -> list[str] | None:
    """Cells of a line. Values may be wider than the dashes of a hand-cut table, so gaps decide where they agree."""
    by_gap = [part for part in _GAP.split(line.strip()) if part]
    if len(by_gap) == len(bounds):
        return by_gap
    cells = []
    for place, (start, _) in enumerate(bounds):
        end = bounds[place + 1][0] if place + 1 < len(bounds) else None
        cells.append(line[start:end].strip())
    return cells if any(cells) else None


def number(text: str) -> int | None:
    """A counter: thousands separators allowed, ``N/A`` is unknown."""
    plain = text.replace(",", "").strip()
    return int(plain) if plain.isdigit() else None


def speed(text: str) -> int | None:
    """Mbit/s from ``400G``, ``1000M`` or ``1.6T``."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([MGT])", text.strip())
    return round(float(match[1]) * {"M": 1, "G": 1000, "T": 1_000_000}[match[2]]) if match else None

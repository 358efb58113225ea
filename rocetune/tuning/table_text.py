"""Headroom tables as such: rows, the questions put to them, and a user's own table as text."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass


class TableError(ValueError):
    """A table that cannot be read: the line (1 is the first), what is wrong, and what would be right."""

    def __init__(self, line: int, text: str, remedy: str) -> None:
        super().__init__(f"line {line}: {text}: {remedy}")
        self.line, self.text, self.remedy = line, text, remedy


@dataclass(frozen=True, slots=True)
class Row:
    """One row. What a source does not tell is None."""

    speed_mbps: int
    cable_m: float
    xoff_bytes: int  # headroom: what may arrive after XOFF
    size_bytes: int | None = None  # reserved for the priority group alone
    xon_bytes: int | None = None
    xon_offset_bytes: int | None = None
    threshold: int | None = None  # log2(alpha); bytes where the pool is static


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table. ``private``: xoff lies inside ``size_bytes``; else it is drawn from the shared headroom pool."""

    name: str  # the hardware SKU of the file that was read
    asic: str  # key of asics.yaml; empty for a user's table
    models: tuple[str, ...]  # SONiC hardware SKUs and platform models that it belongs to
    rows: tuple[Row, ...]  # by speed, then by length
    private: bool = False
    source: str = ""
    confidence: str = "high"
    note: str = ""
    maker: str = ""
    also: tuple[str, ...] = ()  # further chips that the sources name for it
    partial: bool = False  # only the rows that other publications quote

    def row(self, speed_mbps: int, cable_m: float) -> Row | None:
        """The row of exactly this speed and of the shortest listed length that is long enough, or None."""
        fit = (item for item in self.rows if item.speed_mbps == speed_mbps and item.cable_m >= cable_m - 1e-9)
        return min(fit, key=lambda item: item.cable_m, default=None)

    @property
    def empty(self) -> bool:
        """True where the platform ships a table without any row."""
        return not self.rows

    def fitting(self, speed_mbps: int, cable_m: float) -> Row | None:
        """What a port of a listed speed gets: the row itself, else the smallest that no shorter or slower one is for.

        None where the table does not list the speed, or not so long a cable.
        """
        row = self.row(speed_mbps, cable_m)
        if row is None or row.cable_m <= cable_m + 1e-9:
            return row
        return min(self.dominating(speed_mbps, cable_m), key=lambda item: item.xoff_bytes)

    def dominated(self, speed_mbps: int, cable_m: float) -> Row | None:
        """The largest row of no higher speed and no greater length, or that a slower port gets: a lower bound."""
        fit = [item for item in self.rows if item.speed_mbps <= speed_mbps and item.cable_m <= cable_m + 1e-9]
        for speed in {item.speed_mbps for item in self.rows if item.speed_mbps < speed_mbps}:
            slower = self.fitting(speed, cable_m)
            fit += [slower] if slower is not None else []
        return max(fit, key=lambda item: item.xoff_bytes, default=None)

    def dominating(self, speed_mbps: int, cable_m: float) -> tuple[Row, ...]:
        """Rows of no lower speed and no smaller length: each an upper bound."""
        return tuple(item for item in self.rows if item.speed_mbps >= speed_mbps and item.cable_m >= cable_m - 1e-9)


MOST_BYTES = 1_000_000  # of a table's text; a published one has some kilobytes
_LENGTH = re.compile(r"([0-9]{1,7}(?:\.[0-9]{1,6})?)\s*(m|km)?", re.IGNORECASE | re.ASCII)
_SPEEDS_MBPS = (100, 3_200_000)  # Fast Ethernet to twice of what is in use
_FAST_ETHERNET, _GIGABIT = 100, 1000  # nothing between them: 400 was meant as 400G
_MOST_XOFF_BYTES = 10**9  # a lossless group with a gigabyte of headroom is a slip of the hand
_MOST_M = 200_000
_MOST_LINE = 1000  # characters; some tables have many columns of their own
_HEADINGS = {
    "speed": "speed",
    "speed_mbps": "speed",
    "cable": "cable",
    "cable_m": "cable",
    "length": "cable",
    "size": "size",
    "size_bytes": "size",
    "xon": "xon",
    "xon_bytes": "xon",
    "xoff": "xoff",
    "xoff_bytes": "xoff",
    "headroom_bytes": "xoff",
    "threshold": "threshold",
    "xon_offset": "xon_offset",
    "xon_offset_bytes": "xon_offset",
}
_OTHERS = ("size", "xon", "xon_offset", "threshold")  # of a Row, in its order
_INI_COLUMNS = ("speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset")


def read_table(text: str, name: str) -> PublishedTable:
    """A user's table: SONiC's ``pg_profile_lookup.ini``, or CSV with a heading. Raises TableError.

    Speeds are Mbit/s, sizes bytes, lengths metres with or without ``m``. Needed are speed, cable and xoff.
    """
    if len(text) > MOST_BYTES:
        raise TableError(1, f"the table has more than {MOST_BYTES:,} characters", "no headroom table is so long")
    columns: tuple[str, ...] | None = None
    rows: dict[tuple[int, float], Row] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip()
        if not bare or bare.startswith(("#", ";")):
            continue
        if len(bare) > _MOST_LINE:
            raise TableError(number, f"{bare[:20]!r}... has {len(bare)} characters", "a row is some short numbers")
        cells = [cell.strip() for cell in (next(csv.reader([bare])) if "," in bare else bare.split())]
        if columns is None:
            columns = _heading(cells, number)
            if columns is not None:
                continue
            columns = _INI_COLUMNS
        row = _read_row(cells, columns, number)
        if (row.speed_mbps, row.cable_m) in rows:
            raise TableError(number, f"{row.speed_mbps} Mbit/s at {row.cable_m:g} m is listed twice", "keep one row")
        rows[row.speed_mbps, row.cable_m] = row
    if not rows:
        raise TableError(1, "no row is in the table", "one row is: speed 400000, cable 40m, size, xon, xoff, threshold")
    listed = sorted(rows.values(), key=lambda row: (row.speed_mbps, row.cable_m))
    private = all(
        row.size_bytes is not None and row.size_bytes >= row.xoff_bytes + (row.xon_bytes or 0) for row in listed
    )
    return PublishedTable(name, "", (), tuple(listed), private, f"{name} (a table of yours)", "high")


def _heading(cells: list[str], number: int) -> tuple[str, ...] | None:
    """Columns of a heading; None where the first line is a row already."""
    names = [cell.lower() for cell in cells]
    if not any(name in _HEADINGS for name in names):
        return None
    columns = tuple(_HEADINGS.get(name, "") for name in names)
    twice = next((name for name in columns if name and columns.count(name) > 1), "")
    if twice:
        raise TableError(number, f"two columns mean {twice}", "keep one of them")
    missing = [name for name in ("speed", "cable", "xoff") if name not in columns]
    if missing:
        raise TableError(number, f"no column {missing[0]}", "the heading needs speed_mbps, cable_m and xoff_bytes")
    return columns


def _read_row(cells: list[str], columns: tuple[str, ...], number: int) -> Row:
    found = dict(zip(columns, cells, strict=False))
    missing = [name for name in ("speed", "cable", "xoff") if not found.get(name)]
    if missing:
        raise TableError(number, f"no value for {missing[0]}", "a row is: speed cable size xon xoff threshold")
    length = _LENGTH.fullmatch(found["cable"])
    if length is None:
        raise TableError(number, f"{found['cable']!r} is not a cable length", "write metres, as in 40m")
    metres = float(length[1]) * (1000 if (length[2] or "m").lower() == "km" else 1)
    speed, xoff = _number(found, "speed", number), _number(found, "xoff", number)
    assert speed is not None and xoff is not None
    if speed <= 0 or xoff <= 0 or metres <= 0:
        raise TableError(number, "speed, length and xoff must be greater than zero", "as in 400000 40m ... 201930")
    if not _SPEEDS_MBPS[0] <= speed <= _SPEEDS_MBPS[1] or _FAST_ETHERNET < speed < _GIGABIT:
        raise TableError(number, f"{speed} Mbit/s is the speed of no port", "write Mbit/s, as in 400000 for 400G")
    if metres > _MOST_M:
        raise TableError(number, f"{metres:g} m is no cable", "write metres, as in 40m; is the unit right?")
    if xoff > _MOST_XOFF_BYTES:
        raise TableError(number, f"xoff {xoff:,} B is more than any chip holds", "write bytes, as in 201930")
    others = {name: _number(found, name, number, signed=name == "threshold") for name in _OTHERS}
    for name, value in others.items():
        if value is not None and abs(value) > _MOST_XOFF_BYTES:
            raise TableError(number, f"{name} {value:,} is more than any chip holds", "correct the column")
    return Row(speed, metres, xoff, *others.values())


def _number(found: Mapping[str, str], name: str, line: int, *, signed: bool = False) -> int | None:
    text = found.get(name, "")
    if not text:
        return None
    if not re.fullmatch(r"-?[0-9]{1,12}" if signed else r"[0-9]{1,12}", text):
        want = "Mbit/s, as in 400000" if name == "speed" else "a whole number of bytes, as in 201930"
        raise TableError(line, f"{name} {text!r} is not a number", f"write {want}")
    return int(text)

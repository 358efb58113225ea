"""Statistics for tables that are not shipped: a CSV of the same shape, group by group, against what ports would get.

A file that cannot be is a :class:`BadFile` with place and reason.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocetune.tuning.asics import Asic, table
from rocetune.tuning.headroom import EmptyTable, headroom
from rocetune.tuning.published import PublishedTable, asic_of
from rocetune.tuning.table_text import TableError, read_table

HEADING = ("ASIC", "table", "mode", "rows", "exact", "median", "lowest", "highest", "below", "refused")
MODES = ("own table", "default", "lookup off", "bare chip")
_NEEDS = "needs hwsku (or model), speed_mbps, cable_m and xoff_bytes"
_MOST_BYTES = 10_000_000


class BadFile(Exception):
    """A CSV that cannot be: ``file:line: reason``."""


@dataclass(frozen=True)
class Group:
    """Rows of one hardware SKU: (line, Mbit/s, metres, bytes)."""

    asic: str  # as the file names it
    model: str
    rows: tuple[tuple[int, int, float, int], ...]


def percent(value: float) -> str:
    return f"{value * 100:+.1f} %" if abs(value) >= 0.0005 else "0"


def other_tables(path: Path) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Heading and rows of the statistics. Raises BadFile."""
    found = [(group, _chip_of(group)) for group in _groups(path)]
    return HEADING, [
        (
            asic.name if asic else f"{group.asic or 'not stated'} (unknown)",
            group.model,
            mode,
            *_statistics(asic, group, mode),
        )
        for group, asic in found
        for mode in MODES
    ]


def _groups(path: Path) -> list[Group]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            text = stream.read(_MOST_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: {getattr(error, 'strerror', None) or 'no text'}") from None
    found: dict[tuple[str, str], list[tuple[int, int, float, int]]] = {}
    for number, cells in enumerate(_cells(path, text), start=2):
        try:
            model = cells.get("hwsku") or cells["model"]
            speed, cable, xoff = (cells[name] or "" for name in ("speed_mbps", "cable_m", "xoff_bytes"))
        except KeyError as error:
            raise BadFile(f"{path}:{number}: {_NEEDS}: no column {error}") from None
        row = _row(path, number, model, ",".join((speed, cable, xoff)))
        found.setdefault((_key(cells.get("asic") or "", model), model), []).append(row)
    for (_, model), rows in found.items():
        _check_places(path, model, rows)
    if not found:
        raise BadFile(f"{path}: no row is in it: {_NEEDS}")
    return [Group(asic, model, tuple({row[1:]: row for row in rows}.values())) for (asic, model), rows in found.items()]


def _key(asic: str, model: str) -> str:
    """The chip by its own name, however the file spells it."""
    found = _chip_named(asic, model)
    return found.name if found is not None else asic


def _row(path: Path, number: int, model: str, text: str) -> tuple[int, int, float, int]:
    """One row, by the rules of a table of one's own."""
    try:
        (row,) = read_table(f"speed_mbps,cable_m,xoff_bytes\n{text}", model).rows
    except TableError as error:
        raise BadFile(f"{path}:{number}: {error.text}: {error.remedy}") from None
    return number, row.speed_mbps, row.cable_m, row.xoff_bytes


def _check_places(path: Path, model: str, rows: Sequence[tuple[int, int, float, int]]) -> None:
    """One place has one number: another row of it would be another table. The same row again is one."""
    seen: dict[tuple[int, float], tuple[int, int]] = {}
    for line, speed, cable, xoff in rows:
        first = seen.setdefault((speed, cable), (line, xoff))
        if first[1] != xoff:
            raise BadFile(f"{path}:{line}: {model} has {speed} Mbit/s at {cable:g} m in line {first[0]} already")


def _cells(path: Path, text: str) -> Iterator[dict[str, str]]:
    try:
        yield from csv.DictReader(text.splitlines())
    except csv.Error as error:
        raise BadFile(f"{path}: {error}") from None


def _chip_of(group: Group) -> Asic | None:
    return _chip_named(group.asic, group.model)


def _chip_named(asic: str, model: str) -> Asic | None:
    """By the SKU, which knows best; else by the file's own word for the chip."""
    known = table().get(asic_of(model))
    words = asic.split("(")[0].replace("Innovium/", "").strip()
    stated = table().find(words) if words else None
    return known or stated or table().by_model(model)


def _statistics(asic: Asic | None, group: Group, mode: str) -> tuple[object, ...]:
    errors: list[float] = []
    refused = 0
    own = _as_table(group) if mode == "own table" else None
    for _, speed, cable, xoff in group.rows:
        try:
            if mode == "bare chip":
                made = headroom(speed, cable, asic)
            else:
                made = headroom(speed, cable, asic, model=group.model, table=own, lookup=mode != "lookup off")
        except (EmptyTable, ValueError):
            refused += 1
            continue
        errors.append(made.headroom_bytes / xoff - 1)
    if not errors:
        return len(group.rows), 0, "-", "-", "-", 0, refused
    ends = (percent(statistics.median(errors)), percent(min(errors)), percent(max(errors)))
    return len(group.rows), sum(not item for item in errors), *ends, sum(item < 0 for item in errors), refused


def _as_table(group: Group) -> PublishedTable:
    rows: Sequence[str] = [f"{speed},{cable:g},{xoff}" for _, speed, cable, xoff in group.rows]
    lines = dict.fromkeys(rows)  # a row that stands twice is one
    return read_table("\n".join(["speed_mbps,cable_m,xoff_bytes", *lines]), group.model)

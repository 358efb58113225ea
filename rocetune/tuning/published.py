"""Headroom tables that vendors publish, found by hardware SKU or model.

A table says for (port speed, cable length) what one lossless priority group reserves. SONiC matches both exactly
(buffermgrd does not interpolate); here a length is rounded up to the next one that is listed, and the caller says so.

Data: ``data/headroom_tables.yaml`` and ``.csv``, from sonic-net/sonic-buildimage ``pg_profile_lookup.ini``.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

import yaml

from rocetune.tuning.table_text import PublishedTable, Row, TableError, read_table

__all__ = [
    "SHORTEST_MODEL",
    "EmptyTable",
    "Match",
    "PublishedTable",
    "Row",
    "TableError",
    "asic_of",
    "maker_of",
    "match",
    "published",
    "read_table",
    "squeeze",
    "table_of",
]

_REPOSITORY = "sonic-buildimage"
_NEAR = 0.9  # likeness of a mistyped hardware SKU
SHORTEST_MODEL = 5  # letters of a model name below which it is too likely part of another word


class EmptyTable(ValueError):
    """The platform's own table has no rows, so that no headroom follows from it."""


@dataclass(frozen=True, slots=True)
class Match:
    """What is known of a model's table.

    ``exact``: the text names one hardware SKU. ``absent``: upstream has a table for it that is not among ours, so
    that ``tables`` are only those of siblings.
    """

    tables: tuple[PublishedTable, ...]
    exact: bool
    absent: tuple[str, ...] = ()

    @property
    def own(self) -> bool:
        """True where the tables answer for the model itself."""
        return bool(self.tables) and not self.absent


@dataclass(frozen=True, slots=True)
class _Index:
    tables: tuple[PublishedTable, ...]
    exact: Mapping[str, tuple[int, ...]]  # squeezed SKU -> numbers of tables
    models: Mapping[str, tuple[int, ...]]  # squeezed model -> numbers of tables
    absent_exact: Mapping[str, str]
    absent_models: Mapping[str, tuple[str, ...]]
    makers: Mapping[str, str]  # squeezed model or SKU -> maker
    absent_asics: Mapping[str, str] = field(default_factory=dict)


def squeeze(text: str) -> str:
    """A name without case, blanks and separators."""
    return re.sub(r"[^a-z0-9+]", "", text.lower())


_PREFIXES = ("arista", "dellemc", "dell", "nokia")
_LINES = ("acs", "mellanox")  # NVIDIA's two lines of SKUs: headroom of its own, and the shared pool


def _spellings(sku: str, path: str) -> Iterable[str]:
    """A SKU as it stands, without its maker, and the path of its file."""
    plain = squeeze(sku)
    yield plain
    for prefix in _PREFIXES:
        if plain.startswith(prefix):
            yield plain.removeprefix(prefix)
            break
    yield squeeze(path)
    yield squeeze(f"device/{path}/pg_profile_lookup.ini")


@cache
def _index() -> _Index:
    folder = resources.files("rocetune.tuning").joinpath("data")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = folder.joinpath("headroom_tables.yaml").read_text(encoding="utf-8")
    described: dict[str, Any] = yaml.load(text, Loader=loader)
    rows: dict[str, list[Row]] = {}
    for cells in csv.DictReader(io.StringIO(folder.joinpath("headroom_tables.csv").read_text(encoding="utf-8"))):
        rows.setdefault(cells["hwsku"], []).append(
            Row(
                int(cells["speed_mbps"]),
                float(cells["cable_m"]),
                int(cells["xoff_bytes"]),
                *(
                    int(cells[name]) if cells[name] else None
                    for name in ("size_bytes", "xon_bytes", "xon_offset_bytes", "threshold")
                ),
            )
        )
    tables: list[PublishedTable] = []
    exact: dict[str, list[int]] = {}
    models: dict[str, list[int]] = {}
    makers: dict[str, str] = {}
    for number, block in enumerate(described["tables"]):
        tables.append(_table(block, rows.get(block["hwsku"], []), described["commit"]))
        for name in _spellings(block["hwsku"], block["path"]):
            exact.setdefault(name, []).append(number)
            makers.setdefault(name, block["maker"])
        for name in map(squeeze, block.get("models", ())):
            models.setdefault(name, []).append(number)
            makers.setdefault(name, block["maker"])
    absent_exact: dict[str, str] = {}
    absent_models: dict[str, list[str]] = {}
    absent_asics: dict[str, str] = {}
    for block in described["absent"]:
        for name in _spellings(block["hwsku"], block["path"]):
            absent_exact[name] = block["hwsku"]
            makers.setdefault(name, block["maker"])
            absent_asics[name] = block["asic"]
        for name in map(squeeze, block.get("models", ())):
            absent_models.setdefault(name, []).append(block["hwsku"])
            makers.setdefault(name, block["maker"])
            absent_asics[name] = block["asic"]
    return _Index(
        tuple(tables),
        {name: tuple(dict.fromkeys(numbers)) for name, numbers in exact.items()},
        {name: tuple(dict.fromkeys(numbers)) for name, numbers in models.items()},
        absent_exact,
        {name: tuple(skus) for name, skus in absent_models.items()},
        makers,
        absent_asics,
    )


def _table(block: Mapping[str, Any], rows: list[Row], commit: str) -> PublishedTable:
    return PublishedTable(
        name=block["hwsku"],
        asic=block["asic"],
        models=(block["hwsku"], *block.get("models", ())),
        rows=tuple(sorted(rows, key=lambda row: (row.speed_mbps, row.cable_m))),
        private=block.get("private", False),
        source=f"{_REPOSITORY} device/{block['path']}/pg_profile_lookup.ini at {commit[:12]}",
        confidence=block.get("confidence", "high"),
        note=block.get("note", ""),
        maker=block["maker"],
        also=tuple(block.get("also", ())),
        partial=block.get("partial", False),
    )


def published() -> tuple[PublishedTable, ...]:
    """The shipped tables."""
    return _index().tables


@cache
def match(model: str | None) -> Match | None:
    """Tables of a hardware SKU or model in any spelling: ``DellEMC-Z9332f-O32``, ``Z9332F-ON``, ``DCS-7060X6-64PE-B``.

    The SKU itself comes first; else the longest known model name within the text, with all its tables.
    """
    wanted = squeeze(model or "")
    if not wanted:
        return None
    index = _index()
    if wanted in index.exact:
        return Match(tuple(index.tables[number] for number in index.exact[wanted]), exact=True)
    known = {*index.models, *index.absent_models}
    hits = [name for name in known if len(name) >= SHORTEST_MODEL and name in wanted]
    longest = max(hits, key=len, default="")
    tables = tuple(index.tables[number] for number in index.models.get(longest, ()))
    absent = index.absent_models.get(longest, ())
    line = next((word for word in _LINES if str(model).lower().startswith(f"{word}-")), "")  # as a SKU is spelled
    if line:
        tables = tuple(table for table in tables if squeeze(table.name).startswith(line)) or tables
        absent = tuple(name for name in absent if squeeze(name).startswith(line))
    if wanted in index.absent_exact:
        return Match(tables, exact=True, absent=(index.absent_exact[wanted],))
    if not longest:
        return None
    return Match(tables, exact=False, absent=absent)


def near_sku(text: str, asic: str | None = None) -> str:
    """The known hardware SKU that a text which is none was likely meant to be; empty where none is near.

    ``asic``: only of boards with this chip. A plain model, as in ``ACS-MSN4600``, is no mistyped SKU.
    """
    names = {squeeze(table.name): table.name for table in published() if asic in (None, table.asic, *table.also)}
    wanted = squeeze(text)
    index = _index()
    plain = any(wanted.endswith(name) for name in (*index.models, *index.absent_models) if len(name) >= SHORTEST_MODEL)
    if plain or wanted in index.exact or wanted in index.absent_exact:
        return ""
    found = difflib.get_close_matches(wanted, names, n=1, cutoff=_NEAR)
    return names[found[0]] if found else ""


def table_of(model: str | None) -> PublishedTable | None:
    """The table of a hardware SKU or model, or None.

    Where a model has several, one table of the largest rows is made of them, and its note says so.
    """
    found = match(model)
    return merged(found, str(model)) if found is not None and found.own else None


@cache
def merged(found: Match, name: str) -> PublishedTable | None:
    """The tables of a match as one: at each listed place the largest row that any of them has. None without tables.

    No vendor wrote these rows, so none is less than one for less speed or length.
    """
    filled = tuple(table for table in found.tables if table.rows) or found.tables
    if len(filled) <= 1:
        return filled[0] if filled else None
    places = sorted({(row.speed_mbps, row.cable_m) for table in filled for row in table.rows})
    rows = [(place, max(_rows(filled, *place), key=lambda item: item.xoff_bytes)) for place in places]
    rows = [
        (
            here,
            replace(
                row, xoff_bytes=max(other.xoff_bytes for at, other in rows if at[0] <= here[0] and at[1] <= here[1])
            ),
        )
        for here, row in rows
    ]
    first, names = filled[0], ", ".join(table.name for table in filled)
    return PublishedTable(
        name=name,
        asic=first.asic,
        models=tuple(dict.fromkeys(name for table in filled for name in table.models)),
        rows=tuple(replace(row, speed_mbps=speed, cable_m=cable) for (speed, cable), row in rows),
        private=all(table.private for table in filled),
        source=", ".join(table.source.split(" at ")[0] for table in filled),
        note=f"the largest rows of {names}: which of them the switch runs is not known",
        maker=first.maker,
    )


def _rows(tables: Iterable[PublishedTable], speed_mbps: int, cable_m: float) -> list[Row]:
    return [row for table in tables if (row := table.row(speed_mbps, cable_m)) is not None]


def maker_of(model: str | None) -> str:
    """Who made a model, as the tables name makers; empty where the name does not say."""
    wanted = squeeze(model or "")
    if not wanted:
        return ""
    index = _index()
    if wanted in index.makers:
        return index.makers[wanted]
    hits = [name for name in index.makers if len(name) >= SHORTEST_MODEL and name in wanted]
    if hits:
        return index.makers[max(hits, key=len)]
    first = re.split(r"[^a-z0-9]+", (model or "").lower())
    words = {
        "dcs": "arista",
        "dellemc": "dell",
        "force10": "dell",
        "acs": "nvidia",
        "mellanox": "nvidia",
        "nh": "nexthop",
    }
    names = {table.maker for table in index.tables}
    return next((words.get(word, word) for word in first if words.get(word, word) in names), first[0] if first else "")


def asic_of(model: str | None) -> str:
    """Key of the chip that the tables give for a SKU or model; empty where none does."""
    found = match(model)
    if found is None:
        return ""
    if found.tables:
        return found.tables[0].asic
    index, wanted = _index(), squeeze(model or "")
    hits = [name for name in index.absent_asics if len(name) >= SHORTEST_MODEL and name in wanted]
    return index.absent_asics[max(hits, key=len)] if hits else ""

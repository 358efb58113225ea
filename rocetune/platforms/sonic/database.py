"""CONFIG_DB as data: nested or flat JSON in, one nested shape out; index ranges; the model that all else works on.

Every value in CONFIG_DB is a string. Releases up to 202106 wrote references in brackets
(``[SCHEDULER|scheduler.1]``); they are read and never written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Fields = dict[str, str]
Database = dict[str, dict[str, Fields]]  # table -> key -> field -> value

RANGED = ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE")  # keys end in an index or an index range
AUTO_PROFILE = re.compile(r"pg_lossless_(\d+)_(\d+)m_profile")  # written by the switch's buffer manager
_REFERENCE = re.compile(r"\[[A-Z0-9_]+[|:]([^\]|:]+)\]")
_RANGE = re.compile(r"(\d{1,2})-(\d{1,2})")


class NotConfigDb(ValueError):
    """The text is not a CONFIG_DB dump."""


def load(text: str) -> Database:
    """Nested form of a CONFIG_DB dump, nested (``config_db.json``) or flat (``TABLE|key``). Raises NotConfigDb."""
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise NotConfigDb(
            f"this is not a CONFIG_DB in JSON ({error}): save it with sonic-cfggen -d --print-data"
        ) from None
    if not isinstance(raw, dict):
        raise NotConfigDb("a CONFIG_DB is a JSON object of tables: save it with sonic-cfggen -d --print-data")
    result: Database = {}
    for name, content in raw.items():
        if not isinstance(content, dict):
            raise NotConfigDb(f"table {name} holds {type(content).__name__}, not entries")
        if "|" in name:
            table, key = name.split("|", 1)
            result.setdefault(table, {})[key] = _fields(content)
        else:
            entries = result.setdefault(name, {})
            for key, fields in content.items():
                entries[key] = _fields(fields if isinstance(fields, dict) else {})
    return result


def _fields(raw: Mapping[str, Any]) -> Fields:
    return {name: _value(value) for name, value in raw.items() if name != "NULL"}


def _value(raw: Any) -> str:
    text = ",".join(str(item) for item in raw) if isinstance(raw, list) else str(raw)
    return _REFERENCE.sub(r"\1", text)


def dump(database: Mapping[str, Mapping[str, Any]]) -> str:
    """Deterministic JSON, one entry per line."""
    lines = []
    for table in sorted(database):
        entries = [f"    {json.dumps(key)}: {json.dumps(database[table][key])}" for key in natural(database[table])]
        lines.append(f"  {json.dumps(table)}: {{\n" + ",\n".join(entries) + "\n  }")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def compact(database: Mapping[str, Mapping[str, Any]]) -> str:
    """Deterministic JSON, one table per line: for what only programs read."""
    lines = [f"{json.dumps(table)}: {json.dumps(database[table], sort_keys=True)}" for table in sorted(database)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def natural(keys: Any) -> list[str]:
    """Sorted as people count: Ethernet8 before Ethernet16."""
    return sorted(keys, key=lambda text: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)])


def indexes(text: str) -> tuple[int, ...]:
    """The indexes of a key's last part: ``3`` or ``3-4``. Empty where it is neither."""
    if text.isdigit():
        return (int(text),)
    match = _RANGE.fullmatch(text)
    return tuple(range(int(match[1]), int(match[2]) + 1)) if match else ()


def spans(numbers: Iterable[int]) -> tuple[str, ...]:
    """Indexes as key parts, neighbours joined: 3, 4, 6 become ``3-4`` and ``6``, as the switch writes them."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return tuple(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def expanded(entries: Mapping[str, Fields]) -> Iterator[tuple[str, int, str, Fields]]:
    """(owner, index, key, fields) of a ranged table: what each single index has."""
    for key, fields in entries.items():
        owner, _, last = key.rpartition("|")
        for index in indexes(last):
            yield owner, index, key, fields


def overlaps(database: Mapping[str, Mapping[str, Fields]]) -> tuple[str, ...]:
    """Keys of one table that claim an index twice (BUF-014): a later delete of one empties the other."""
    found = []
    for table in RANGED:
        seen: dict[tuple[str, int], str] = {}
        for owner, index, key, _ in expanded(database.get(table, {})):
            other = seen.setdefault((owner, index), key)
            if other != key:
                found.append(f"{table}|{other} and {table}|{key}")
    return tuple(sorted(set(found)))


def copy(database: Mapping[str, Mapping[str, Fields]]) -> Database:
    """A deep copy that may be edited."""
    return {table: {key: dict(fields) for key, fields in entries.items()} for table, entries in database.items()}


def cable_object(database: Mapping[str, Mapping[str, Fields]], port: str | None = None) -> str:
    """Name of the CABLE_LENGTH entry that holds a port; stock images call it AZURE."""
    entries = database.get("CABLE_LENGTH", {})
    for name in sorted(entries):
        if port is not None and port in entries[name]:
            return name
    return min(entries, default="AZURE")


def lossless_profile(name: str, profiles: Mapping[str, Fields]) -> bool:
    """Whether a priority-group profile reserves headroom. ``NULL`` asks the dynamic model to compute one."""
    if name == "NULL" or AUTO_PROFILE.fullmatch(name) or name.startswith("ROCETUNE"):
        return True
    if name in profiles:
        fields = profiles[name]
        return int(fields.get("xoff", "0") or 0) > 0 or "lossless" in name
    return "lossless" in name

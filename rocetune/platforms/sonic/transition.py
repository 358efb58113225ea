"""From one CONFIG_DB to another: what to load, delete and wait for, in the order that hurts least.

The order is that of the reference, section 2.1: objects before their bindings, watchdogs stopped around a PFC change,
range keys deleted and let go of by APPL_DB before their parts are added (orchagent would otherwise point the
priority group at the null profile), objects nobody uses any more last. ``config apply-patch`` is never used: it shuts
every port whose bindings change.

The inverse of ``transition(a, b)`` is ``transition(b, a)``; both write absolute values, so each may be run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rocetune.platforms.sonic import groups
from rocetune.platforms.sonic.database import AUTO_PROFILE, RANGED, Database, Fields, copy, expanded, indexes, natural
from rocetune.platforms.sonic.owned import OBJECTS, PFC_FIELDS

Load = dict[str, dict[str, Fields | None]]  # None deletes the entry
BINDINGS = ("BUFFER_PG", "BUFFER_QUEUE", "CABLE_LENGTH", "PORT", "PORT_QOS_MAP", "QUEUE")
SHARED = ("CABLE_LENGTH", "PORT", "PORT_QOS_MAP")  # entries that also hold fields of others
_APPL_TABLES = {"BUFFER_PG": "BUFFER_PG_TABLE", "BUFFER_QUEUE": "BUFFER_QUEUE_TABLE"}


@dataclass(frozen=True, slots=True)
class Act:
    """One action on the switch.

    ``load``: a partial CONFIG_DB. ``unset``: fields to remove (``names`` = entry, fields...), which a load cannot do.
    ``stop``: watchdogs of ports. ``gone``: keys that APPL_DB must let go of. ``have``: profiles that the switch must
    have made itself. ``settle``: time for the switch's own daemons.
    """

    kind: Literal["load", "unset", "stop", "gone", "have", "settle"]
    load: Load = field(default_factory=dict)
    names: tuple[str, ...] = ()
    note: str = ""


def transition(before: Database, after: Database, *, complete: bool = True) -> tuple[Act, ...]:
    """Actions that turn ``before`` into ``after`` in the tables rocetune may write.

    ``complete`` False: the databases hold owned keys only, so nothing is said about what the switch writes itself.
    """
    acts: list[Act] = []
    _write(acts, OBJECTS, before, after, "objects first: nothing uses a new one yet, a used one is edited in place")
    stopped = _stopped(before, after)
    if stopped:
        acts.append(
            Act("stop", names=tuple(stopped), note="a running watchdog does not see changes: stop, change, start")
        )
    gone = _deleted(RANGED, before, after)
    if gone:
        acts.append(Act("load", load=gone, note="range keys and stale indexes go first"))
        keys = [
            f"{_APPL_TABLES[table]}:{key.replace('|', ':')}"
            for table in _APPL_TABLES
            for key in natural(gone.get(table, {}))
        ]
        if keys:
            acts.append(Act("gone", names=tuple(keys), note="adding too early would leave the null profile behind"))
    touch = _untold(before, after) if complete else {}
    _rebind(touch, gone, after)
    _write(acts, BINDINGS, before, after, "bindings: config load, no port bounce", touch=touch)
    acts += _override(before, after) if complete else []
    made = _own_profiles(before, after) if complete else []
    if made:
        acts.append(Act("have", names=tuple(made), note="the switch writes its own headroom profiles"))
    rest = _deleted(OBJECTS, before, after)
    if rest:
        acts.append(Act("load", load=rest, note="objects that nothing uses any more"))
    _watchdogs(acts, before, after, stopped)
    return tuple(acts)


def _write(
    acts: list[Act], tables: tuple[str, ...], before: Database, after: Database, note: str, touch: Load | None = None
) -> None:
    load: Load = {}
    unset: list[Act] = []
    for table in tables:
        old, new = before.get(table, {}), after.get(table, {})
        shared = old if table in SHARED else {}  # an entry of these is not ours as a whole: only fields go
        for key in dict.fromkeys([*new, *shared]):
            fields, known = new.get(key, {}), old.get(key, {})
            changed = {name: value for name, value in fields.items() if known.get(name) != value}
            lost = sorted(known.keys() - fields.keys())
            # Removing pfc_enable does nothing before 202111; an empty list turns PFC off in every release.
            changed |= {name: "" for name in lost if table == "PORT_QOS_MAP" and name in PFC_FIELDS}
            lost = [name for name in lost if name not in changed]
            if changed:
                load.setdefault(table, {})[key] = changed
            if lost:
                unset.append(Act("unset", names=(f"{table}|{key}", *lost), note="a load cannot remove a single field"))
    for table, entries in (touch or {}).items():
        for key, again in entries.items():
            entry = load.setdefault(table, {})
            entry[key] = {**(again or {}), **(entry.get(key) or {})}
    if load:
        acts.append(Act("load", load=load, note=note))
    acts += unset


def _deleted(tables: tuple[str, ...], before: Database, after: Database) -> Load:
    """Entries to delete, but only of tables where the entry as a whole is ours or the port's."""
    found: Load = {}
    for table in tables:
        for key in before.get(table, {}).keys() - after.get(table, {}).keys():
            found.setdefault(table, {})[key] = None
    return found


def _stopped(before: Database, after: Database) -> list[str]:
    """Ports whose running watchdog must be stopped: it changes, or what it watches does."""
    ports = []
    for port, fields in before.get("PFC_WD", {}).items():
        maps = [database.get("PORT_QOS_MAP", {}).get(port, {}) for database in (before, after)]
        moved = any(maps[0].get(name, "") != maps[1].get(name, "") for name in PFC_FIELDS)
        if port != "GLOBAL" and (moved or fields != after.get("PFC_WD", {}).get(port)):
            ports.append(port)
    return natural(ports)


def _watchdogs(acts: list[Act], before: Database, after: Database, stopped: list[str]) -> None:
    load: dict[str, Fields | None] = {}
    old = before.get("PFC_WD", {})
    for port, fields in after.get("PFC_WD", {}).items():
        if port in stopped or old.get(port) != fields:
            load[port] = dict(fields)
    for port in old.keys() - after.get("PFC_WD", {}).keys():
        if port not in stopped:
            load[port] = None
    if load:
        acts.append(
            Act("load", load={"PFC_WD": load}, note="watchdog last: it reads the queues it watches when it starts")
        )


def _own_profiles(before: Database, after: Database) -> list[str]:
    """Headroom profiles that the switch is to make, where PFC is on: without them a group has no headroom at all."""
    found = set()
    for port, index, _, fields in expanded(after.get("BUFFER_PG", {})):
        name = fields.get("profile", "")
        if AUTO_PROFILE.fullmatch(name) and str(index) in _pfc(after, port) and _touched(before, after, port, name):
            found.add(name)
        elif AUTO_PROFILE.fullmatch(name) and str(index) in _pfc(after, port):
            found |= _renamed(before, after, port)
    return natural(found)


def _renamed(before: Database, after: Database, port: str) -> set[str]:
    """The profile that the switch makes when a cable length changes."""
    speed = after.get("PORT", {}).get(port, {}).get("speed", "")
    old, new = (
        next((entry[port] for entry in database.get("CABLE_LENGTH", {}).values() if port in entry), "")
        for database in (before, after)
    )
    return {f"pg_lossless_{speed}_{new}_profile"} if speed and new and old != new else set()


def _pfc(database: Database, port: str) -> list[str]:
    return database.get("PORT_QOS_MAP", {}).get(port, {}).get("pfc_enable", "").split(",")


def _touched(before: Database, after: Database, port: str, profile: str) -> bool:
    moved = before.get("BUFFER_PG", {}) != after.get("BUFFER_PG", {}) or _pfc(before, port) != _pfc(after, port)
    return moved and profile not in before.get("BUFFER_PROFILE", {})


def _rebind(touch: Load, gone: Load, after: Database) -> None:
    """A deleted key takes the binding of every index it covered: whatever still claims one is written again."""
    for table, entries in gone.items():
        lost = {(key.rpartition("|")[0], index) for key in entries for index in indexes(key.rpartition("|")[2])}
        for owner, index, key, fields in expanded(after.get(table, {})):
            if (owner, index) in lost:
                touch.setdefault(table, {})[key] = dict(fields)


def _override(before: Database, after: Database) -> list[Act]:
    """A fixed headroom is bound again after the buffer manager wrote its own over it."""
    ports = groups.overridden(before, after)
    if not ports:
        return []
    held = after.get("BUFFER_PG", {})
    again: Load = {"BUFFER_PG": {key: dict(held[key]) for key in natural(held) if key.split("|")[0] in ports}}
    foreign = [key for keys in ports.values() for key in keys if key not in held]
    acts = [Act("settle", note="the buffer manager answers a PFC change with its own profile")]
    if foreign:
        drop: Load = {"BUFFER_PG": dict.fromkeys(foreign)}
        acts.append(Act("load", load=drop, note="its range would claim our indexes a second time"))
        acts.append(Act("gone", names=tuple(f"BUFFER_PG_TABLE:{key.replace('|', ':')}" for key in foreign)))
    return [*acts, Act("load", load=again, note="the profile's fixed headroom over the switch's own")]


def _untold(before: Database, after: Database) -> Load:
    """PFC lists to write again unchanged: the buffer manager makes a missing profile when it hears of PFC."""
    found: Load = {}
    for port, index, _, fields in expanded(after.get("BUFFER_PG", {})):
        name = fields.get("profile", "")
        told = _pfc(before, port) != _pfc(after, port)
        ready = AUTO_PROFILE.fullmatch(name) and str(index) in _pfc(after, port)
        if ready and not told and _touched(before, after, port, name):
            found.setdefault("PORT_QOS_MAP", {})[port] = {"pfc_enable": ",".join(_pfc(after, port))}
    return found


def merged(database: Database, load: Mapping[str, Mapping[str, Fields | None]]) -> Database:
    """The database after a load of single-index entries; a range key that covers a changed index falls apart."""
    result = copy(database)
    for table, entries in load.items():
        content = result.setdefault(table, {})
        for key, fields in entries.items():
            owner, _, last = key.rpartition("|")
            if table in RANGED and owner and indexes(last):
                for index in indexes(last):
                    _assign(content, owner, index, fields)
            elif fields is None:
                content.pop(key, None)
            else:
                content.setdefault(key, {}).update(fields)
    return result


def _assign(content: dict[str, Fields], owner: str, index: int, fields: Fields | None) -> None:
    single = f"{owner}|{index}"
    covering = [
        key for other, number, key, _ in expanded(content) if other == owner and number == index and key != single
    ]
    if fields is not None and single not in content and len(covering) == 1:
        said = content[covering[0]]
        if all(said.get(name) == value for name, value in fields.items()):
            return  # the range says it already
    for key in covering:
        parts = content.pop(key)
        for number in indexes(key.rpartition("|")[2]):
            content.setdefault(f"{owner}|{number}", dict(parts))
    if fields is None:
        content.pop(single, None)
    else:
        content.setdefault(single, {}).update(fields)


def without(database: Database, entry: str, fields: tuple[str, ...]) -> Database:
    """The database after removing single fields of one entry; an entry without fields is gone."""
    table, _, key = entry.partition("|")
    result = copy(database)
    content = result.get(table, {})
    owner, _, last = key.rpartition("|")
    if table in RANGED and key not in content:
        for index in indexes(last):
            now = next(
                (parts for other, number, _, parts in expanded(content) if (other, number) == (owner, index)), {}
            )
            kept = {name: value for name, value in now.items() if name not in fields}
            _assign(content, owner, index, None)
            if kept:
                _assign(content, owner, index, kept)
        return result
    for name in fields:
        content.get(key, {}).pop(name, None)
    if key in content and not content[key]:
        del content[key]
    return result

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
BINDINGS = ("BUFFER_PG", "BUFFER_QUEUE", "PORT", "PORT_QOS_MAP", "QUEUE")
SHARED = ("CABLE_LENGTH", "PORT", "PORT_QOS_MAP")  # entries that also hold fields of others
_APPL_TABLES = {"BUFFER_PG": "BUFFER_PG_TABLE", "BUFFER_QUEUE": "BUFFER_QUEUE_TABLE"}


@dataclass(frozen=True, slots=True)
class Act:
    """One action on the switch.

    ``load``: a partial CONFIG_DB. ``unset``: fields to remove (``names`` = entry, fields...), which a load cannot do.
    ``stop``: watchdogs of ports. ``gone``: keys that APPL_DB must let go of. ``have``: profiles that the switch must
    have made itself.
    """

    kind: Literal["load", "unset", "stop", "gone", "have"]
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
    _write(acts, ("CABLE_LENGTH",), before, after, "lengths before ports: headroom is looked up when a port is written")
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
    found = {
        name
        for port, index, _, fields in expanded(after.get("BUFFER_PG", {}))
        if AUTO_PROFILE.fullmatch(name := fields.get("profile", ""))
        and index in groups.pfc_list(after, port)
        and name not in before.get("BUFFER_PROFILE", {})
    }
    return natural(found)


def _rebind(touch: Load, gone: Load, after: Database) -> None:
    """A deleted key takes the binding of every index it covered: whatever still claims one is written again."""
    for table, entries in gone.items():
        lost = {(key.rpartition("|")[0], index) for key in entries for index in indexes(key.rpartition("|")[2])}
        for owner, index, key, fields in expanded(after.get(table, {})):
            if (owner, index) in lost:
                touch.setdefault(table, {})[key] = dict(fields)


def _untold(before: Database, after: Database) -> Load:
    """Ports to write again unchanged: the buffer manager looks headroom up when it hears of a port, not of a cable."""
    found: Load = {}
    for port, index, _, fields in expanded(after.get("BUFFER_PG", {})):
        own = AUTO_PROFILE.fullmatch(fields.get("profile", "")) and index in groups.pfc_list(after, port)
        held = after.get("PORT", {}).get(port, {})
        missing = fields.get("profile", "") not in before.get("BUFFER_PROFILE", {})
        if own and "mtu" in held and (missing or groups.length(before, port) != groups.length(after, port)):
            found.setdefault("PORT", {})[port] = {"mtu": held["mtu"]}
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

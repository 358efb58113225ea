"""Changes of the flat map to ordered native steps, and steps back to what they mean for a database."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rocetune.model.change import Change, Config, Key, Step
from rocetune.model.facts import Facts
from rocetune.platforms.sonic import groups
from rocetune.platforms.sonic.database import Database, copy, dump
from rocetune.platforms.sonic.parse import AUTO
from rocetune.platforms.sonic.render import own_profile
from rocetune.platforms.sonic.transition import Act, Load, merged, transition, without


def steps(changes: Sequence[Change], running: Config, facts: Facts) -> tuple[Step, ...]:
    """Ordered steps; ``do`` and ``undo`` are CONFIG_DB parts in JSON (``null`` deletes) or shell commands."""
    target = dict(running)
    for change in changes:
        if change.new is None:
            target.pop(change.key, None)
        else:
            target[change.key] = change.new
    # Both sides name the switch's own profiles alike: when a cable length changes it rebinds them itself, and a write
    # of ours beside that would claim the same index twice.
    before, after = database(running, target, facts), database(target, target, facts)
    keys = tuple(change.key for change in changes)
    return tuple(_step(act, before, keys) for act in transition(before, after, complete=False))


def database(config: Config, cables: Config, facts: Facts) -> Database:
    """The flat map as CONFIG_DB entries with single indexes; ``auto`` becomes the switch's own profile name.

    ``cables`` is the map whose cable lengths decide those names.
    """
    result: Database = {}
    lengths: dict[str, str] = {key[-1]: value for key, value in cables.items() if key[0] == "CABLE_LENGTH"}
    for path, value in config.items():
        result.setdefault(path[0], {}).setdefault("|".join(path[1:-1]), {})[path[-1]] = value
    for key, fields in result.get("BUFFER_PG", {}).items():
        if fields.get("profile") == AUTO:
            port = key.split("|")[0]
            known = facts.ports.get(port)
            length = lengths.get(port, "")
            metres = float(length[:-1]) if length[:-1].isdigit() else None
            fields["profile"] = own_profile(known.speed_mbps if known else None, metres, facts)
    return result


def _step(act: Act, before: Database, keys: tuple[Key, ...]) -> Step:
    touched = tuple(key for key in keys if _concerns(act, key))
    if act.kind == "load":
        return Step("load", dump(act.load), dump(_old(act.load, before)), touched, act.note)
    if act.kind == "unset":
        table, _, key = act.names[0].partition("|")
        old = before.get(table, {}).get(key, {})
        entry: Load = {table: {key: {name: old[name] for name in act.names[1:] if name in old}}}
        command = f'sudo sonic-db-cli CONFIG_DB HDEL "{act.names[0]}" {" ".join(act.names[1:])}'
        return Step("unset", command, dump(entry), touched, act.note)
    if act.kind == "stop":
        old_watchdogs: Load = {"PFC_WD": {port: dict(before["PFC_WD"][port]) for port in act.names}}
        return Step("stop", f"sudo pfcwd stop {' '.join(act.names)}", dump(old_watchdogs), touched, act.note)
    return Step(act.kind, "\n".join(act.names), "", (), act.note)


def _old(load: Load, before: Database) -> Load:
    """The same entries as they were; None for those that did not exist."""
    result: Load = {}
    for table, entries in load.items():
        for key, fields in entries.items():
            old = before.get(table, {}).get(key)
            if old is not None and fields is not None:
                old = {name: old[name] for name in fields if name in old} or None
            result.setdefault(table, {})[key] = old
    return result


def _concerns(act: Act, key: Key) -> bool:
    entry = "|".join(key[1:-1])
    if act.kind == "load":
        fields = act.load.get(key[0], {}).get(entry, {})
        return entry in act.load.get(key[0], {}) and (fields is None or key[-1] in fields)
    if act.kind == "unset":
        return act.names[0] == f"{key[0]}|{entry}" and key[-1] in act.names[1:]
    return act.kind == "stop" and key[0] == "PFC_WD" and key[1] in act.names


def target(live: Database, planned: Sequence[Step]) -> Database:
    """What a complete live database becomes by these steps; range keys are resolved here."""
    result = copy(live)
    for step in planned:
        if step.kind == "load":
            result = merged(result, json.loads(step.do))
        elif step.kind == "unset":
            _, entry, fields = step.do.split('"', 2)
            result = without(result, entry, tuple(fields.split()))
        elif step.kind == "stop":
            for port in step.do.split()[3:]:
                result.get("PFC_WD", {}).pop(port, None)
    for name in ("QUEUE", "BUFFER_QUEUE", "BUFFER_PG"):
        content = result.get(name, {})
        for key in [key for key, fields in content.items() if not fields]:
            del content[key]
    groups.as_switch_writes(live, result)
    return result

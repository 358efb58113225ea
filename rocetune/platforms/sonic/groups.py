"""Priority groups beside the switch's own buffer manager (traditional model).

buffermgrd looks headroom up when ``pfc_enable`` changes and whenever a PORT entry is written, and then writes
``BUFFER_PG|port|<range>`` for the whole PFC list, over whatever is there; a cable length it only remembers, and with
length ``0m`` it leaves the port alone. It never takes an old key away. So our keys must be the ones it will write, or
one index is claimed twice, and a later delete of either leaves the null profile behind (sonic-swss
cfgmgr/buffermgr.cpp, orchagent/bufferorch.cpp).
"""

from __future__ import annotations

from rocetune.platforms.sonic.database import AUTO_PROFILE, Database, Fields, expanded, spans

BY_HAND = "0m"  # a cable length that keeps buffermgrd away from a port


def traditional(database: Database) -> bool:
    """Whether buffermgrd looks headroom up in its table; true where nothing is said."""
    return database.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model") != "dynamic"


def pfc_list(database: Database, port: str) -> tuple[int, ...]:
    """Priorities with PFC on a port."""
    text = database.get("PORT_QOS_MAP", {}).get(port, {}).get("pfc_enable", "")
    return tuple(sorted(int(part) for part in text.split(",") if part.isdigit()))


def length(database: Database, port: str) -> str:
    """The configured cable length of a port, "" without one."""
    return next((entry[port] for entry in database.get("CABLE_LENGTH", {}).values() if port in entry), "")


def own_name(database: Database, port: str) -> str | None:
    """The profile that buffermgrd binds on a port, or None where it binds none or that is not known."""
    speed, cable = database.get("PORT", {}).get(port, {}).get("speed", ""), length(database, port)
    return f"pg_lossless_{speed}_{cable}_profile" if speed and cable not in ("", BY_HAND) else None


def as_switch_writes(before: Database, after: Database) -> None:
    """Give the groups of ``after`` the keys that buffermgrd is going to write."""
    if not traditional(after):
        return
    content = after.setdefault("BUFFER_PG", {})
    for port in _told(before, after):
        held = {index: (key, fields) for owner, index, key, fields in expanded(content) if owner == port}
        own = {index for index, (_, fields) in held.items() if AUTO_PROFILE.fullmatch(fields.get("profile", ""))}
        wanted, name = set(pfc_list(after, port)), own_name(after, port)
        if name is None or any(index in held and index not in own for index in wanted):
            _singles(content, port, held)
            continue
        for key in {held[index][0] for index in own}:
            content.pop(key, None)
        content.update({f"{port}|{span}": {"profile": name} for span in spans(wanted)})
        content.update({f"{port}|{index}": dict(held[index][1]) for index in own - wanted})


def _told(before: Database, after: Database) -> tuple[str, ...]:
    """Ports that buffermgrd will hear of, or whose groups we write."""
    found = []
    for port in after.get("PORT", {}):
        sides = [
            (
                pfc_list(database, port),
                length(database, port),
                database.get("PORT", {}).get(port),
                {(index, fields.get("profile")) for owner, index, _, fields in _groups(database, port)},
            )
            for database in (before, after)
        ]
        if sides[0] != sides[1]:
            found.append(port)
    return tuple(found)


def _groups(database: Database, port: str) -> list[tuple[str, int, str, Fields]]:
    mine = {key: fields for key, fields in database.get("BUFFER_PG", {}).items() if key.startswith(f"{port}|")}
    return list(expanded(mine))


def _singles(content: dict[str, Fields], port: str, held: dict[int, tuple[str, Fields]]) -> None:
    for index, (key, fields) in held.items():
        if "-" in key.rpartition("|")[2]:
            content.pop(key, None)
            content[f"{port}|{index}"] = dict(fields)

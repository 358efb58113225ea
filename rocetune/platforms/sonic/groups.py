"""Priority groups beside the switch's own buffer manager (traditional model).

Whenever PFC changes on a port, buffermgrd writes ``BUFFER_PG|port|<range>`` for the whole PFC list and never takes an
old key away. Keys of ours must be the ones it will write, or one index is claimed twice, and a later delete of either
leaves the null profile behind (sonic-swss cfgmgr/buffermgr.cpp, orchagent/bufferorch.cpp).
"""

from __future__ import annotations

from rocetune.platforms.sonic.database import AUTO_PROFILE, Database, Fields, expanded, spans


def traditional(database: Database) -> bool:
    """Whether buffermgrd looks headroom up in its table; true where nothing is said."""
    return database.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model") != "dynamic"


def pfc_list(database: Database, port: str) -> tuple[int, ...]:
    """Priorities with PFC on a port."""
    text = database.get("PORT_QOS_MAP", {}).get(port, {}).get("pfc_enable", "")
    return tuple(sorted(int(part) for part in text.split(",") if part.isdigit()))


def own_name(database: Database, port: str) -> str | None:
    """The profile that buffermgrd binds on a port, or None where speed or length is not known."""
    speed = database.get("PORT", {}).get(port, {}).get("speed", "")
    length = next((entry[port] for entry in database.get("CABLE_LENGTH", {}).values() if port in entry), "")
    return f"pg_lossless_{speed}_{length}_profile" if speed and length not in ("", "0m") else None


def retold(before: Database, after: Database) -> tuple[str, ...]:
    """Ports whose PFC list changes: buffermgrd will write their groups."""
    ports = before.get("PORT_QOS_MAP", {}).keys() | after.get("PORT_QOS_MAP", {}).keys()
    return tuple(sorted(port for port in ports if pfc_list(before, port) != pfc_list(after, port)))


def as_switch_writes(before: Database, after: Database) -> None:
    """Give the groups of ``after`` the keys that buffermgrd is going to write."""
    if not traditional(after):
        return
    content = after.setdefault("BUFFER_PG", {})
    for port in retold(before, after):
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


def _singles(content: dict[str, Fields], port: str, held: dict[int, tuple[str, Fields]]) -> None:
    for index, (key, fields) in held.items():
        if "-" in key.rpartition("|")[2]:
            content.pop(key, None)
            content[f"{port}|{index}"] = dict(fields)


def overridden(before: Database, after: Database) -> dict[str, tuple[str, ...]]:
    """Ports with a fixed headroom whose groups buffermgrd overwrites when told of PFC -> the keys it will write."""
    found: dict[str, tuple[str, ...]] = {}
    if not traditional(after):
        return found
    for port in retold(before, after):
        fixed = [
            index
            for owner, index, _, fields in expanded(after.get("BUFFER_PG", {}))
            if owner == port
            and not AUTO_PROFILE.fullmatch(fields.get("profile", ""))
            and index in pfc_list(after, port)
        ]
        if fixed:
            found[port] = tuple(f"{port}|{span}" for span in spans(pfc_list(after, port)))
    return found

"""hosts.yaml, groups.yaml and defaults.yaml: read, checked, and resolved as Nornir resolves them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from rocetune.model import names
from rocetune.model.invalid import Invalid
from rocetune.model.inventory import ConnectionEntry, DefaultsEntry, DeviceData, GroupEntry, HostEntry
from rocetune.site import secrets, yaml
from rocetune.site.errors import Problems, closest, suggest
from rocetune.site.ranges import RangeError, Template, expand
from rocetune.site.sources import SECRET_WORDS, Map, Place, find, without
from rocetune.site.validate import validate

MAX_DEVICES = 100_000
_DATA_KEYS = tuple(DeviceData.model_fields)
_ATTRIBUTES = ("hostname", "port", "username", "password", "platform")


@dataclass(frozen=True, slots=True)
class Host:
    """One device as Nornir would see it, groups and defaults resolved.

    ``groups`` are the ones the host names, ``all_groups`` with their parents in Nornir's order. ``data`` is the
    merged free data and shared between hosts: do not change it.
    """

    name: str
    hostname: str
    port: int | None
    username: str | None
    password: SecretStr | None
    platform: str | None
    groups: tuple[str, ...]
    all_groups: tuple[str, ...]
    data: Mapping[str, Any]
    connection_options: Mapping[str, ConnectionEntry]

    def options(self, plugin: str) -> dict[str, Any]:
        """Options of one connection plug-in ("napalm", "netmiko") as one flat mapping, empty without an entry.

        ``extras`` with NAPALM's ``optional_args`` laid open, and hostname, port, username, password or platform where
        the plug-in has its own.
        """
        entry = self.connection_options.get(plugin)
        if entry is None:
            return {}
        flat = dict(entry.extras or {})
        flat.update(flat.pop("optional_args", None) or {})
        own = {name: getattr(entry, name) for name in _ATTRIBUTES}
        return {**flat, **{name: value for name, value in own.items() if value is not None}}


@dataclass(slots=True)
class Node:
    """One entry of a file with what is needed to speak about it."""

    entry: Any
    raw: Map
    place: Place
    sound: bool = True


@dataclass(frozen=True, slots=True)
class Resolved:
    """What all hosts of one entry share."""

    values: Mapping[str, Any]  # the attributes of _ATTRIBUTES
    data: Mapping[str, Any]  # merged raw data, as Nornir merges it
    typed: Mapping[str, Any]  # rocetune's keys, validated
    ports_raw: Map | None  # where typed["ports"] was written
    connection_options: Mapping[str, ConnectionEntry]
    all_groups: tuple[str, ...]
    places: Mapping[str, Place]  # where each attribute and each of rocetune's keys was written that won


@dataclass(slots=True)
class Inventory:
    """All hosts, with the shared part of each."""

    hosts: dict[str, Host] = field(default_factory=dict)
    shared: dict[str, Resolved] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    indexes: dict[str, Mapping[str, int]] = field(default_factory=dict)  # of hosts that came from a range
    broken: set[str] = field(default_factory=set)  # named, but with an error noted

    def place(self, name: str, key: str = "") -> Place | None:
        """Where the value of a host was written, be it in a group or in the defaults; else the host itself."""
        shared = self.shared.get(name)
        found = shared.places.get(key) if shared is not None else None
        return self.places.get(name) if found is None else found


def load_inventory(folder: Path, problems: Problems) -> Inventory:
    """Read a folder. Errors go to ``problems``; what could be read is returned."""
    inventory = Inventory()
    noted = len(problems.errors)
    if not yaml.exists(folder / "hosts.yaml", problems):
        if len(problems.errors) > noted:
            return inventory
        problems.error(
            None,
            "there is no hosts.yaml",
            "create it, or run `rocetune init` in a new folder",
            file=problems.sources.shown(folder),
        )
        return inventory
    defaults = _defaults(folder / "defaults.yaml", problems)
    groups = dict(_nodes(folder / "groups.yaml", GroupEntry, problems))
    for name, group in groups.items():
        _check_name(names.group, name, group.place, problems)
        _known_groups(group, groups, problems)
    _circles(groups, problems)
    for pattern, node in _nodes(folder / "hosts.yaml", HostEntry, problems):
        _known_groups(node, groups, problems)
        sound = node.sound and all(groups[name].sound for name in extended(node, groups))
        shared = _resolve(node, groups, defaults) if sound else None
        _add(inventory, pattern, node, shared, problems)
        if len(inventory.hosts) > MAX_DEVICES:
            problems.error(node.place, f"more than {MAX_DEVICES} devices", "split the site")
            break
    _same_address(inventory, problems)
    return inventory


def _nodes(path: Path, model: type[GroupEntry], problems: Problems) -> Iterator[tuple[str, Node]]:
    """The entries of hosts.yaml or groups.yaml. An entry with errors comes without its content, marked unsound.

    An entry is handed out when the next line is known: a key at the left edge or a line that is no YAML belonged to
    it, so it is not whole.
    """
    if not yaml.exists(path, problems):
        return
    same_ports: dict[str, tuple[Any, Any]] = {}
    foreign: set[str] = set()  # data keys of other tools, warned about once
    held: tuple[str, Node] | None = None
    noted = len(problems.errors)
    for name, raw, place in (
        (item.key, item.value, item.place) for item in yaml.stream(path, problems.sources, problems, Map)
    ):
        if not isinstance(name, str):
            problems.error(place, f"{name!r} is read as a number, not a name", f'put it into quotes: "{name}"')
            continue
        if name in model.model_fields and (name == "data" or not isinstance(raw, Map)):
            problems.error(place, f"{name} stands where a name is expected", "indent it under the entry above")
            if held is not None:
                held[1].sound = False
            continue
        if held is not None:
            yield held
        raw = Map(place) if raw is None else raw
        entry = None
        if isinstance(raw, Map):
            raw, entry = _entry(model, name, raw, same_ports, problems)
            _lint(raw, problems, name, foreign)
        else:
            problems.error(place, f"{name} needs a mapping", "as in {platform: sonic, groups: [leaf]}")
            raw = Map(place)
        held = name, Node(entry or model(), raw, place, entry is not None)
        noted = len(problems.errors)
    if held is not None:
        held[1].sound = held[1].sound and noted == len(problems.errors)
        yield held


def _entry(
    model: type[GroupEntry], name: str, raw: Map, same_ports: dict[str, tuple[Any, Any]], problems: Problems
) -> tuple[Map, GroupEntry | None]:
    """One entry validated. Equal ``ports`` of many hosts are validated once and kept once."""
    data = raw.get("data")
    ports = data.get("ports") if isinstance(data, Map) else None
    if not isinstance(data, Map) or not isinstance(ports, Map):
        return raw, validate(model, raw, problems, prefix=f"{name}: ")
    key = repr(ports)
    known = same_ports.get(key)
    if known is None:
        entry = validate(model, raw, problems, prefix=f"{name}: ")
        if entry is not None:
            same_ports[key] = (ports, entry.data.ports)
        return raw, entry
    raw["data"] = data = without(data, "ports")
    entry = validate(model, raw, problems, prefix=f"{name}: ")
    data.put("ports", known[0], data.start, data.start)
    if entry is not None:
        entry = entry.model_copy(update={"data": entry.data.model_copy(update={"ports": known[1]})})
    return raw, entry


def _defaults(path: Path, problems: Problems) -> Node:
    empty = Node(DefaultsEntry(), Map(), 0)
    if not yaml.exists(path, problems):
        return empty
    raw = yaml.load(path, problems.sources, problems)
    if raw is None:
        return empty
    entry = validate(DefaultsEntry, raw, problems)
    _lint(raw, problems, "defaults", set())
    return empty if entry is None else Node(entry, raw, raw.start)


def _lint(raw: Map, problems: Problems, name: str, foreign: set[str]) -> None:
    """Warn about secrets in the file and about data keys that are nearly ours."""
    for path in _secret_paths(raw, ()):
        problems.warn(
            find(raw, path, key=True),
            f"{name}: a secret stands in plain text in the inventory ({'.'.join(map(str, path))})",
            f"remove it; use SSH keys, an agent, the keyring, or the environment ({secrets.variable()}, "
            f"{secrets.variable('GROUP')})",
        )
    data = raw.get("data")
    if isinstance(data, Map):
        for key in data:
            if key in _DATA_KEYS or not isinstance(key, str):
                continue
            hit = closest(key, _DATA_KEYS)
            place = find(data, (key,), key=True)
            if hit is not None:
                problems.error(place, f"{name}: unknown key {key!r} in data", f"did you mean {hit}?")
            elif key not in foreign:
                foreign.add(key)
                problems.warn(
                    place,
                    f"rocetune does not read {key!r} in data; it is left to other tools",
                    "a fact that a platform understands belongs under facts:",
                )


def _secret_paths(raw: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if not isinstance(raw, dict) or len(path) > 8:
        return
    for key, value in raw.items():
        if key == "ports" and path == ("data",):
            continue
        secret = isinstance(key, str) and any(word in key.lower() for word in SECRET_WORDS)
        if secret and isinstance(value, str) and value:
            yield (*path, key)
        elif isinstance(value, dict):
            yield from _secret_paths(value, (*path, key))


def _check_name(check: Callable[[str], str], name: str, place: Place, problems: Problems) -> None:
    try:
        check(name)
    except Invalid as error:
        problems.error(place, error.faults[0].text, error.faults[0].remedy)


def _known_groups(node: Node, groups: Mapping[str, Node], problems: Problems) -> None:
    """Complain about groups that do not exist and mark the node unsound."""
    for number, name in enumerate(node.entry.groups):
        if name not in groups:
            node.sound = False
            problems.error(
                find(node.raw, ("groups", number)), f"there is no group {name!r}", suggest(name, groups, "groups")
            )


def _circles(groups: Mapping[str, Node], problems: Problems) -> None:
    """Complain about groups that contain each other; no chain is too long for it."""
    done: set[str] = set()
    for first in groups:
        above: dict[str, Iterator[str]] = {} if first in done else {first: iter(groups[first].entry.groups)}
        while above:
            last = next(reversed(above))
            name = next(above[last], None)
            if name is None:
                done.add(last)
                del above[last]
            elif name in above:
                names_ = list(above)
                chain = (*names_[names_.index(name) :], name)
                itself = len(chain) == 2
                problems.error(
                    find(groups[last].raw, ("groups",)),
                    f"group {name} contains itself"
                    if itself
                    else f"groups contain each other in a circle: {' → '.join(chain)}",
                    f"remove {name} from the groups of {last}",
                )
            elif name in groups and name not in done:
                above[name] = iter(groups[name].entry.groups)


def extended(node: Node, groups: Mapping[str, Node]) -> tuple[str, ...]:
    """Groups of a node with their parents, depth first and each once: Nornir's order. Unknown ones are left out."""
    order: dict[str, None] = {}
    waiting = list(reversed(node.entry.groups))
    while waiting:
        name = waiting.pop()
        if name in groups and name not in order:
            order[name] = None
            waiting.extend(reversed(groups[name].entry.groups))
    return tuple(order)


def _resolve(node: Node, groups: Mapping[str, Node], defaults: Node) -> Resolved:
    all_groups = extended(node, groups)
    chain = [node, *(groups[name] for name in all_groups), defaults]
    values = {
        name: next((value for item in chain if (value := getattr(item.entry, name)) is not None), None)
        for name in _ATTRIBUTES
    }
    data: dict[str, Any] = {}
    typed: dict[str, Any] = {}
    ports_raw: Map | None = None
    places: dict[str, Place] = {}
    for item in chain:
        for key in _ATTRIBUTES:
            if item.raw.get(key) is not None:
                places.setdefault(key, find(item.raw, (key,)) or item.place)
        for key, value in (item.raw.get("data") or {}).items():
            data.setdefault(key, value)
        for key in _DATA_KEYS:
            value = getattr(item.entry.data, key)
            if value is not None and key not in typed:
                typed[key] = value
                places[key] = find(item.raw, ("data", key)) or item.place
                if key == "ports":
                    ports_raw = item.raw["data"]["ports"]
    plugins = dict.fromkeys(name for item in chain for name in item.entry.connection_options)
    options = {name: _options(list(_option_chain(name, node, groups, defaults))) for name in plugins}
    return Resolved(values, data, typed, ports_raw, options, all_groups, places)


def _option_chain(plugin: str, node: Node, groups: Mapping[str, Node], defaults: Node) -> Iterator[ConnectionEntry]:
    """Nornir's order for connection options: each group is asked together with the defaults before the next group.

    So the defaults stand behind the first node that has no groups; where they come again nothing is left to say.
    """
    order = [node, *(groups[name] for name in extended(node, groups))]
    first = next((place for place, item in enumerate(order) if not item.entry.groups), len(order) - 1)
    order.insert(first + 1, defaults)
    return (item.entry.connection_options[plugin] for item in order if plugin in item.entry.connection_options)


def _options(entries: list[ConnectionEntry]) -> ConnectionEntry:
    """First value of each field wins, nearest first; extras are not merged but taken whole."""
    fields = {
        name: next((value for entry in entries if (value := getattr(entry, name)) is not None), None)
        for name in ConnectionEntry.model_fields
    }
    return ConnectionEntry.model_construct(**fields)


def _add(inventory: Inventory, pattern: str, node: Node, shared: Resolved | None, problems: Problems) -> None:
    """The hosts of one entry; without ``shared`` only their names are remembered."""
    try:
        if shared is None:
            inventory.broken.update(name for name, _ in expand(pattern))
            return
        hostname = shared.values["hostname"]
        template = Template(hostname) if hostname is not None and "{" in hostname else None
        password = shared.values["password"] or secrets.from_environment(shared.all_groups)
        username = shared.values["username"] or secrets.user_from_environment(shared.all_groups)
        for name, indexes in expand(pattern):
            names.device(name)
            written = shared.places.get("hostname", node.place)
            address = _address(template or hostname or name, indexes, written, problems) or name
            if name in inventory.hosts:
                first = problems.sources.position(inventory.places[name])
                problems.error(
                    node.place,
                    f"device {name} is already defined in {first}",
                    "write each device once: split the range",
                )
                return
            inventory.hosts[name] = Host(
                name, address, shared.values["port"], username, password, shared.values["platform"],
                node.entry.groups, shared.all_groups, shared.data, shared.connection_options,
            )  # fmt: skip
            inventory.shared[name] = shared
            inventory.places[name] = node.place
            if len(indexes) > 1:
                inventory.indexes[name] = indexes
    except RangeError as error:
        problems.error(node.place, f"{pattern}: {error.text}", error.remedy)
    except Invalid as error:
        problems.error(node.place, error.faults[0].text, error.faults[0].remedy)


def _same_address(inventory: Inventory, problems: Problems) -> None:
    """Devices that every connection would reach at one address and port: one of them would be changed for all."""
    options: dict[int, tuple[Any, ...]] = {}  # devices of one entry share their options
    at: dict[tuple[Any, ...], list[str]] = {}
    for name, host in inventory.hosts.items():
        if inventory.shared[name].typed.get("manage") == "none":
            continue
        own = host.connection_options
        if id(own) not in options:
            options[id(own)] = tuple((plugin, own[plugin].model_dump_json()) for plugin in sorted(own))
        at.setdefault((names.same_host(host.hostname), host.port, options[id(own)]), []).append(name)
    for (_, port, _), same in at.items():
        if len(same) > 1:
            listed = ", ".join(same[:8]) + (f" and {len(same) - 8} more" if len(same) > 8 else "")
            where = inventory.hosts[same[0]].hostname + (f" port {port}" if port else "")
            problems.error(
                inventory.place(same[1], "hostname"),
                f"{listed} have one and the same address, {where}",
                'give each its own; in a range as in hostname: "192.0.2.{100+n}"',
            )


def _address(text: str | Template, indexes: Mapping[str, int], place: Place, problems: Problems) -> str | None:
    """An address, or None after noting an error where it was written."""
    try:
        return names.hostname(text if isinstance(text, str) else text.fill(indexes))
    except RangeError as error:
        problems.error(place, error.text, error.remedy)
        return None
    except Invalid as error:
        problems.error(place, error.faults[0].text, error.faults[0].remedy)
        return None

"""hosts.yaml, groups.yaml and defaults.yaml: read, checked, and resolved as Nornir resolves them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from rocetune.model import names
from rocetune.model.invalid import Invalid
from rocetune.model.inventory import ConnectionEntry, DefaultsEntry, DeviceData, GroupEntry, HostEntry, PortEntry
from rocetune.site import secrets, yaml
from rocetune.site.errors import Problems, closest, suggest
from rocetune.site.ranges import RangeError, Template, expand
from rocetune.site.sources import SECRET_WORDS, Map, Place, find
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


@dataclass(slots=True)
class Node:
    """One entry of a file with what is needed to speak about it."""

    entry: Any
    raw: Map
    place: Place


@dataclass(frozen=True, slots=True)
class Resolved:
    """What all hosts of one entry share."""

    values: Mapping[str, Any]  # the attributes of _ATTRIBUTES
    data: Mapping[str, Any]  # merged raw data, as Nornir merges it
    typed: Mapping[str, Any]  # rocetune's keys, validated
    ports_raw: Map | None  # where typed["ports"] was written
    connection_options: Mapping[str, ConnectionEntry]
    all_groups: tuple[str, ...]


@dataclass(slots=True)
class Inventory:
    """All hosts, with the shared part of each."""

    hosts: dict[str, Host] = field(default_factory=dict)
    shared: dict[str, Resolved] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    indexes: dict[str, Mapping[str, int]] = field(default_factory=dict)  # of hosts that came from a range


def load_inventory(folder: Path, problems: Problems) -> Inventory:
    """Read a folder. Errors go to ``problems``; what could be read is returned."""
    inventory = Inventory()
    shown = problems.sources.shown(folder)
    if not (folder / "hosts.yaml").is_file():
        problems.error(None, "there is no hosts.yaml", "create it, or run `rocetune init` in a new folder", file=shown)
        return inventory
    defaults = _defaults(folder / "defaults.yaml", problems)
    groups = dict(_nodes(folder / "groups.yaml", GroupEntry, problems, "group"))
    hosts = dict(_nodes(folder / "hosts.yaml", HostEntry, problems, "host"))
    for name, node in groups.items():
        _check_name(names.group, name, node, problems)
    for node in (*groups.values(), *hosts.values()):
        _known_groups(node, groups, problems)
    _circles(groups, problems)
    if not problems.errors:
        for pattern, node in hosts.items():
            _add(inventory, pattern, node, _resolve(node, groups, defaults), problems)
            if len(inventory.hosts) > MAX_DEVICES:
                problems.error(node.place, f"more than {MAX_DEVICES} devices", "split the site")
                break
    return inventory


def _nodes(path: Path, model: type[GroupEntry], problems: Problems, what: str) -> Iterator[tuple[str, Node]]:
    if not path.is_file():
        return
    tree = yaml.load(path, problems.sources, problems)
    if tree is None:
        return
    if not isinstance(tree, Map):
        problems.error(find(tree, ()), f"{path.name} is a mapping of {what} names", f"write {what}-name: {{...}}")
        return
    for index, (name, raw) in enumerate(tree.items()):
        place = tree.marks[2 * index]
        if not isinstance(name, str):
            problems.error(place, f"{name!r} is read as a number, not a name", f'put it into quotes: "{name}"')
            continue
        raw = Map(place) if raw is None else raw
        if not isinstance(raw, Map):
            problems.error(place, f"{what} {name} needs a mapping", "as in {platform: sonic, groups: [leaf]}")
            continue
        entry = validate(model, raw, problems, prefix=f"{name}: ")
        _lint(raw, problems, name)
        if entry is not None:
            yield name, Node(entry, raw, place)


def _defaults(path: Path, problems: Problems) -> Node:
    empty = Node(DefaultsEntry(), Map(), 0)
    if not path.is_file():
        return empty
    raw = yaml.load(path, problems.sources, problems)
    if raw is None:
        return empty
    if not isinstance(raw, Map):
        problems.error(find(raw, ()), "defaults.yaml is a mapping", "as in username: admin")
        return empty
    entry = validate(DefaultsEntry, raw, problems)
    _lint(raw, problems, "defaults")
    return empty if entry is None else Node(entry, raw, raw.start)


def _lint(raw: Map, problems: Problems, name: str) -> None:
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
            if hit is not None:
                problems.error(
                    find(data, (key,), key=True), f"{name}: unknown key {key!r} in data", f"did you mean {hit}?"
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


def _check_name(check: Any, name: str, node: Node, problems: Problems) -> bool:
    try:
        check(name)
    except Invalid as error:
        fault = error.faults[0]
        problems.error(node.place, fault.text, fault.remedy)
        return False
    return True


def _known_groups(node: Node, groups: Mapping[str, Node], problems: Problems) -> None:
    for number, name in enumerate(node.entry.groups):
        if name not in groups:
            problems.error(
                find(node.raw, ("groups", number)), f"there is no group {name!r}", suggest(name, groups, "groups")
            )


def _circles(groups: Mapping[str, Node], problems: Problems) -> None:
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            chain = (*above[above.index(name) :], name)
            problems.error(
                find(groups[above[-1]].raw, ("groups",)),
                f"groups contain each other in a circle: {' → '.join(chain)}",
                "remove one of them from the other's groups",
            )
        elif name not in done and name in groups:
            for parent in groups[name].entry.groups:
                visit(parent, (*above, name))
            done.add(name)

    for name in groups:
        visit(name, ())


def extended(node: Node, groups: Mapping[str, Node]) -> tuple[str, ...]:
    """Groups of a node with their parents, depth first and each once: Nornir's order."""
    order: list[str] = []
    for name in node.entry.groups:
        for item in (name, *extended(groups[name], groups)):
            if item not in order:
                order.append(item)
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
    for item in chain:
        for key, value in (item.raw.get("data") or {}).items():
            data.setdefault(key, value)
        for key in _DATA_KEYS:
            value = getattr(item.entry.data, key)
            if value is not None and key not in typed:
                typed[key] = value
                if key == "ports":
                    ports_raw = item.raw["data"]["ports"]
    options = {
        name: _options([item.entry.connection_options[name] for item in chain if name in item.entry.connection_options])
        for name in dict.fromkeys(name for item in chain for name in item.entry.connection_options)
    }
    return Resolved(values, data, typed, ports_raw, options, all_groups)


def _options(entries: list[ConnectionEntry]) -> ConnectionEntry:
    """First value of each field wins, nearest first; extras are not merged but taken whole."""
    fields = {
        name: next((value for entry in entries if (value := getattr(entry, name)) is not None), None)
        for name in ConnectionEntry.model_fields
    }
    return ConnectionEntry.model_construct(**fields)


def _add(inventory: Inventory, pattern: str, node: Node, shared: Resolved, problems: Problems) -> None:
    """The hosts of one entry."""
    hostname = shared.values["hostname"]
    try:
        template = Template(hostname) if hostname is not None and "{" in hostname else None
        password = shared.values["password"] or secrets.from_environment(shared.all_groups)
        username = shared.values["username"] or secrets.user_from_environment(shared.all_groups)
        for name, indexes in expand(pattern):
            names.device(name)
            address = template.fill(indexes) if template else (hostname or name)
            names.hostname(address)
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


@dataclass(frozen=True, slots=True)
class PortSpec:
    """One declared port, range resolved."""

    name: str
    entry: PortEntry
    rail: int | None
    select: str | None
    declared: tuple[tuple[str, str], ...]


_CHECKS = {"select": names.select, "netdev": names.netdev, "pci": names.pci, "rdma": names.rdma}


def port_specs(ports: Mapping[str, PortEntry], raw: Map | None, problems: Problems) -> dict[str, PortSpec]:
    """All ports of one ``ports`` mapping by name."""
    result: dict[str, PortSpec] = {}
    for pattern, entry in ports.items():
        place = find(raw, (pattern,), key=True)
        try:
            members = list(expand(pattern))
            columns = {name: _column(name, getattr(entry, name), len(members)) for name in _CHECKS}
            rail = Template(entry.rail) if isinstance(entry.rail, str) else None
            for number, (name, indexes) in enumerate(members):
                names.port(name)
                if name in result:
                    raise RangeError(f"port {name} is listed twice", "write each port once: split the range")
                made = {
                    key: _CHECKS[key](values[number].fill(indexes))
                    for key, values in columns.items()
                    if values is not None
                }
                number_of_rail = rail.number(indexes) if rail else entry.rail
                result[name] = PortSpec(
                    name, entry, number_of_rail if isinstance(number_of_rail, int) else None,  # for the type checker
                    _selector(name, made), _declared(entry, made),
                )  # fmt: skip
        except RangeError as error:
            problems.error(place, f"ports {pattern}: {error.text}", error.remedy)
        except Invalid as error:
            problems.error(place, f"ports {pattern}: {error.faults[0].text}", error.faults[0].remedy)
    _same_hardware(result, raw, problems)
    return result


def _column(name: str, value: str | tuple[str, ...] | None, count: int) -> list[Template] | None:
    if value is None:
        return None
    if isinstance(value, str):
        template = Template(value)
        if template.constant and count > 1:
            raise RangeError(
                f"{name} {value!r} is the same for {count} ports", f"use {{n}} or a list of {count} values"
            )
        return [template] * count
    if len(value) != count:
        raise RangeError(f"{name} lists {len(value)} values for {count} ports", "give one value per port")
    return [Template(item) for item in value]


def _selector(name: str, made: Mapping[str, str]) -> str | None:
    for kind in ("netdev", "pci"):
        if "select" not in made and kind in made:
            return f"{kind}:{made[kind]}"
    if "select" in made:
        return made["select"]
    for kind, pattern in (("pci", names.PCI), ("mac", names.MAC)):
        if pattern.fullmatch(name.lower()):
            return f"{kind}:{name.lower()}"
    return None


def _declared(entry: PortEntry, made: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    facts = {key: made[key] for key in ("netdev", "pci", "rdma") if key in made}
    if entry.nic is not None:
        facts["nic"] = entry.nic
    return tuple(sorted(facts.items()))


def _same_hardware(specs: Mapping[str, PortSpec], raw: Map | None, problems: Problems) -> None:
    seen: dict[str, str] = {}
    for name, spec in specs.items():
        for key, value in (*spec.declared, ("select", spec.select)):
            if value is None or key == "nic":
                continue
            first = seen.setdefault(f"{key} {value}", name)
            if first != name:
                problems.error(
                    raw.start if raw is not None else None,
                    f"ports {first} and {name} are bound to the same {key} {value}",
                    "bind each port to its own hardware",
                )

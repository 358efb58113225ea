"""Inventory, cabling and networks joined into a Fabric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from typing import Any

from rocetune.model import names
from rocetune.model.fabric import Device, Fabric, Manage, Network, Port
from rocetune.model.invalid import Invalid
from rocetune.model.inventory import PortMatch, SiteSettings
from rocetune.model.profile import Profile
from rocetune.site.cabling import Cabling, End
from rocetune.site.errors import Problems, suggest
from rocetune.site.inventory import Inventory, Resolved
from rocetune.site.port_names import PORT_NAMES, impossible
from rocetune.site.ports import PortSpec, port_specs
from rocetune.site.ranges import RangeError, Template
from rocetune.site.sources import Map, Place, find

_FACTS = ("asic", "model", "hwsku", "os_version", "buffer_model")
_STRENGTH: Mapping[Manage, int] = {"none": 0, "observe": 1, "full": 2}


def platform_names() -> tuple[str, ...]:
    """Platforms that are installed, by entry point; nothing is imported."""
    return tuple(sorted({entry.name for entry in entry_points(group="rocetune.platforms")}))


def devices(inventory: Inventory, problems: Problems, *, complete: bool = True) -> dict[str, Device]:
    """Every host as a Device. ``complete`` False: the files have errors, so a missing platform is no news."""
    known = platform_names()
    facts: dict[int, dict[str, str]] = {}
    result: dict[str, Device] = {}
    for name, host in inventory.hosts.items():
        shared = inventory.shared[name]
        typed = shared.typed
        if host.platform is None:
            if not complete:
                continue
            problems.error(
                inventory.places[name],
                f"{name} has no platform",
                f"set platform in the host or a group: {', '.join(known)}",
            )
            continue
        if host.platform not in known and typed.get("manage") != "none":
            problems.error(
                inventory.place(name, "platform"),
                f"platform {host.platform} of {name} is not installed",
                suggest(host.platform, known, "platforms"),
            )
            continue
        if id(shared) not in facts:
            facts[id(shared)] = {
                **(typed.get("facts") or {}), **{key: typed[key] for key in _FACTS if key in typed}
            }  # fmt: skip
        result[name] = Device(
            name=name,
            kind=typed.get("kind") or ("server" if host.platform == "linux" else "switch"),
            platform=host.platform,
            role=typed.get("role"),
            groups=host.all_groups,
            manage=typed.get("manage", "full"),
            globals_mode=typed.get("globals", "extend"),
            declared=facts[id(shared)],
            failure_domain=_domain(name, typed.get("failure_domain"), inventory, problems),
        )
    return result


def _domain(name: str, text: str | None, inventory: Inventory, problems: Problems) -> str | None:
    if text is None:
        return None
    try:
        return names.device(Template(text).fill(inventory.indexes.get(name, {})) if "{" in text else text)
    except RangeError as error:
        problems.error(inventory.place(name, "failure_domain"), f"failure_domain: {error.text}", error.remedy)
    except Invalid as error:
        fault = error.faults[0]
        problems.error(inventory.place(name, "failure_domain"), f"failure_domain: {fault.text}", fault.remedy)
    return None


def specs_by_device(inventory: Inventory, problems: Problems) -> dict[str, Mapping[str, PortSpec] | None]:
    """Declared ports of each device, one dictionary per distinct ``ports`` mapping."""
    cache: dict[int, Mapping[str, PortSpec]] = {}
    result: dict[str, Mapping[str, PortSpec] | None] = {}
    for name in inventory.broken:
        result[name] = None
    for name, shared in inventory.shared.items():
        ports = shared.typed.get("ports")
        if ports is None:
            result[name] = None
            continue
        if id(ports) not in cache:
            cache[id(ports)] = port_specs(ports, shared.ports_raw, problems)
        result[name] = cache[id(ports)]
    return result


class _Networks:
    """Which network a port belongs to, by what it says itself or by the site's matchers."""

    def __init__(self, settings: SiteSettings, known: bool) -> None:
        self.known = known  # False: rocetune.yaml has errors, so an unknown network is no news
        self.matchers = [(name, entry.ports) for name, entry in settings.networks.items() if entry.ports is not None]
        self.names = tuple(settings.networks)
        used = {field for _, match in self.matchers for field in match.model_fields_set}
        self._by_device, self._by_name = "device" in used, "name" in used
        self._cache: dict[tuple[Any, ...], tuple[str, ...]] = {}
        self.used: set[str] = set()  # networks whose matcher took a port

    def of(self, device: Device, port: str, role: str | None, rail: int | None) -> tuple[str, ...]:
        """Names of all networks whose matcher takes the port."""
        key = (device.role, device.groups, role, rail, device.name if self._by_device else None,
               port if self._by_name else None)  # fmt: skip
        found = self._cache.get(key)
        if found is None:
            found = tuple(name for name, match in self.matchers if _matches(match, device, port, role, rail))
            self._cache[key] = found
            self.used.update(found)
        return found


def _matches(match: PortMatch, device: Device, port: str, role: str | None, rail: int | None) -> bool:
    asked: tuple[tuple[tuple[Any, ...] | None, tuple[Any, ...]], ...] = (
        (match.role, (role,)),
        (match.device_role, (device.role,)),
        (match.device, (device.name,)),
        (match.group, device.groups),
        (match.rail, (rail,)),
        (match.name, (port,)),
    )
    return all(wanted is None or any(value in wanted for value in values) for wanted, values in asked)


def build(
    found: Mapping[str, Device],
    specs: Mapping[str, Mapping[str, PortSpec] | None],
    inventory: Inventory,
    cabling: Cabling,
    settings: SiteSettings,
    profiles: Mapping[str, Profile],
    problems: Problems,
    *,
    settings_sound: bool = True,
) -> tuple[Fabric, set[str]]:
    """The fabric and the networks whose matcher took a port; conflicts of networks go to ``problems``."""
    matchers = _Networks(settings, settings_sound)
    resolver = _Resolver(found, specs, inventory, cabling, matchers, problems)
    networks = {
        name: Network(name, None if entry.profile == "none" else profiles.get(entry.profile), entry.rtt, entry.flows)
        for name, entry in settings.networks.items()
    }
    ports = {name: resolver.ports(device) for name, device in found.items()}
    planned = {name for name, network in networks.items() if network.profile is not None}
    for name, device in found.items():
        if device.platform in PORT_NAMES and device.kind == "switch":
            resolver.check_names(device, (port for port in ports[name] if port.network in planned))
    return Fabric(found, ports, networks), matchers.used


class _Resolver:
    def __init__(
        self,
        found: Mapping[str, Device],
        specs: Mapping[str, Mapping[str, PortSpec] | None],
        inventory: Inventory,
        cabling: Cabling,
        networks: _Networks,
        problems: Problems,
    ) -> None:
        self.devices, self.specs, self.inventory = found, specs, inventory
        self.cabling, self.networks, self.problems = cabling, networks, problems
        self._told: set[tuple[Any, ...]] = set()

    def ports(self, device: Device) -> tuple[Port, ...]:
        """Declared ports in their order, then linked ones that were not declared."""
        specs = self.specs.get(device.name) or {}
        ends = self.cabling.ends.get(device.name, {})
        listed = list(specs) + [name for name in ends if name not in specs]
        return tuple(self._port(device, name, specs.get(name), ends.get(name)) for name in listed)

    def check_names(self, device: Device, ports: Iterable[Port]) -> None:
        """Complain about planned ports that the device's platform cannot have, once per place."""
        for port in ports:
            remedy = impossible(device.platform, port.name) if port.manage != "none" else None
            if remedy is None:
                continue
            spec = (self.specs.get(device.name) or {}).get(port.name)
            end = self.cabling.ends.get(device.name, {}).get(port.name)
            place = self._port_place(device, spec, end)
            if ("name", place) not in self._told:
                self._told.add(("name", place))
                text = f"{device.name}:{port.name} is no port of platform {device.platform}"
                self.problems.error(place, text, remedy)

    def _port_place(self, device: Device, spec: PortSpec | None, end: End | None) -> Place | None:
        """Where a port was written: under ports, else in its link, else its device."""
        shared = self.inventory.shared[device.name]
        if spec is not None and isinstance(shared.ports_raw, Map):
            pattern = next((key for key, entry in shared.typed["ports"].items() if entry is spec.entry), None)
            return find(shared.ports_raw, (pattern,), key=True)
        return end.cable.place if end is not None else self.inventory.places.get(device.name)

    def _port(self, device: Device, name: str, spec: PortSpec | None, end: End | None) -> Port:
        entry = spec.entry if spec is not None else None
        link = end.cable.traits if end is not None else None
        manage: Manage = (entry.manage if entry is not None else None) or device.manage
        if _STRENGTH[device.manage] < _STRENGTH[manage]:
            manage = device.manage
        role = self._role(device, spec, end)
        return Port(
            device=device.name,
            name=name,
            role=role,
            network=self._network(device, name, spec, end),
            rail=self._rail(device.name, name, spec, end),
            speed_mbps=end.speed_mbps if end and end.speed_mbps else (entry.speed if entry else None),
            medium=link.medium if link else None,
            cable_m=link.length_m if link else None,
            manage=manage,
            peer=end.peer if end else None,
            link_role=self._link_role(device, end),
            select=spec.select if spec else None,
            lag=link.lag(end.side, device.kind == "server") if link and end else None,
            mlag=link.mlag if link and device.kind == "switch" else None,
            breakout=link.breakout if link and device.kind == "switch" else None,
            declared=spec.declared if spec else (),
        )

    def _link_role(self, device: Device, end: End | None) -> str | None:
        if end is None:
            return None
        if end.cable.traits.role is not None:
            return end.cable.traits.role
        peer = self.devices.get(end.peer[0])
        return "host" if device.kind == "server" or (peer is not None and peer.kind == "server") else "fabric"

    def _role(self, device: Device, spec: PortSpec | None, end: End | None) -> str | None:
        if spec is not None and spec.entry.role is not None:
            return spec.entry.role
        role = self._link_role(device, end)
        return None if role == "host" else role

    def _rail(self, device: str, name: str, spec: PortSpec | None, end: End | None) -> int | None:
        own = spec.rail if spec is not None else None
        if own is None and end is not None:
            own = end.rail
            if own is None:
                peer = (self.specs.get(end.peer[0]) or {}).get(end.peer[1])
                own = peer.rail if peer is not None else None
        elif own is not None and end is not None and end.rail is not None and end.rail != own:
            self._once(("rail", end.cable.number), end, f"{device}:{name} is on rail {own}, the link says {end.rail}",
                       "correct rail in the link or in the inventory")  # fmt: skip
        return own

    def _own_network(self, device: Device, name: str, spec: PortSpec | None, end: End | None) -> str | None:
        """The network a port has without looking across its cable."""
        rail = spec.rail if spec is not None and spec.rail is not None else (end.rail if end else None)
        found = self.networks.of(device, name, self._role(device, spec, end), rail)
        if spec is not None and spec.entry.network is not None:
            return spec.entry.network
        if end is not None and end.cable.traits.network is not None:
            return end.cable.traits.network
        if len(found) > 1 and ("match", found) not in self._told:
            self._told.add(("match", found))
            self.problems.error(
                self.inventory.places.get(device.name),
                f"{device.name}:{name} is taken by several networks: {', '.join(found)}",
                "make their ports matchers in rocetune.yaml exclude each other",
            )
        return found[0] if found else None

    def _network(self, device: Device, name: str, spec: PortSpec | None, end: End | None) -> str | None:
        own = self._own_network(device, name, spec, end)
        if own is not None and self.networks.known and own not in self.networks.names:
            self._unknown(device, name, own, spec, end)
        if end is None:
            return own
        peer = self.devices.get(end.peer[0])
        if peer is None:
            return own
        peer_end = self.cabling.ends[end.peer[0]].get(end.peer[1])
        theirs = self._own_network(peer, end.peer[1], (self.specs.get(peer.name) or {}).get(end.peer[1]), peer_end)
        if own is not None and theirs is not None and own != theirs:
            self._once(
                ("net", end.cable.number), end,
                f"{device.name}:{name} is in network {own}, {':'.join(end.peer)} in {theirs}",
                "both ends of a cable belong to one network",
            )  # fmt: skip
        return own if own is not None else theirs

    def _unknown(self, device: Device, name: str, network: str, spec: PortSpec | None, end: End | None) -> None:
        if ("unknown", network) in self._told:
            return
        self._told.add(("unknown", network))
        shared: Resolved = self.inventory.shared[device.name]
        place = self.inventory.places[device.name]
        if spec is not None and spec.entry.network == network and isinstance(shared.ports_raw, Map):
            pattern = next((key for key, entry in shared.typed["ports"].items() if entry is spec.entry), None)
            place = find(shared.ports_raw, (pattern, "network")) or place
        elif end is not None:
            place = end.cable.place
        self.problems.error(
            place,
            f"there is no network {network!r} ({device.name}:{name})",
            suggest(network, self.networks.names, "networks in rocetune.yaml"),
        )

    def _once(self, key: tuple[Any, ...], end: End, text: str, remedy: str) -> None:
        if key not in self._told:
            self._told.add(key)
            self.problems.error(end.cable.place, text, remedy)

"""What matches nothing: a typing error in a network's matcher or in an override must not pass in silence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from rocetune.model.fabric import Device, Fabric, Port
from rocetune.model.inventory import PortMatch, SiteSettings
from rocetune.model.profile import Match, Profile
from rocetune.model.units import show_speed
from rocetune.site.effective import label_of
from rocetune.site.errors import Problems, suggest
from rocetune.site.sources import Map, find

# Roles that a profile made for many sites may name without every site having them.
USUAL_ROLES = frozenset(
    (
        "leaf",
        "spine",
        "superspine",
        "super-spine",
        "core",
        "border",
        "fabric",
        "gpu",
        "compute",
        "storage",
        "rail",
        "mgmt",
    )
)
_MANY = {
    "role": "roles of ports",
    "device_role": "roles of devices",
    "device": "devices",
    "group": "groups",
    "rail": "rails",
    "name": "names of ports",
    "speed": "speeds",
    "cable": "cables",
}


def check_matchers(fabric: Fabric, settings: SiteSettings, tree: Map, used: Set[str], problems: Problems) -> None:
    """A network's matcher takes at least one port, and each of its values occurs. ``used``: networks that have one."""
    matchers = {name: entry.ports for name, entry in settings.networks.items() if entry.ports is not None}
    if not matchers:
        return
    known = _known_ports(fabric)
    if not known["name"]:
        problems.warn(
            find(tree, ("networks",), key=True),
            "the inventory lists no port, so no network has one",
            "list ports under data: ports: of a device or a group, or cables in links.yaml",
        )
        return
    for network, match in matchers.items():
        _check_matcher(network, match, network in used, known, tree, problems)


def _known_ports(fabric: Fabric) -> Mapping[str, set[Any]]:
    known: dict[str, set[Any]] = defaultdict(set)
    for device in fabric.devices.values():
        known["device"].add(device.name)
        known["device_role"].add(device.role)
        known["group"].update(device.groups)
        for port in fabric.ports.get(device.name, ()):
            known["role"].add(port.role)
            known["rail"].add(port.rail)
            known["name"].add(port.name)
    for values in known.values():
        values.discard(None)
    return known


def _check_matcher(
    network: str, match: PortMatch, used: bool, known: Mapping[str, set[Any]], tree: Map, problems: Problems
) -> None:
    at = ("networks", network, "ports")
    given = {name: values for name in PortMatch.model_fields if (values := getattr(match, name)) is not None}
    strange = [
        (name, number, value)
        for name, values in given.items()
        for number, value in enumerate(values)
        if value not in known[name]
    ]
    note = problems.warn if used else problems.error
    for name, number, value in strange:
        note(
            find(tree, (*at, name, number)),
            f"networks.{network}.ports.{name}: {_none_has(name, value)}"
            + ("" if used else f", so network {network} has no port"),
            _nearest(name, value, known[name]),
        )
    if not used and not strange:
        words = " and ".join(f"{name} {' or '.join(map(str, values))}" for name, values in given.items())
        problems.error(
            find(tree, at),
            f"networks.{network}.ports: no port has {words}" + (" together" if len(given) > 1 else " as its own"),
            "leave one of the conditions out, correct the ports in the inventory, or remove the matcher",
        )


def _none_has(name: str, value: Any) -> str:
    return {
        "role": f"no port has the role {value!r}",
        "device_role": f"no device has the role {value!r}",
        "device": f"there is no device {value!r}",
        "group": f"no device is in a group {value!r}",
        "rail": f"no port is on rail {value}",
        "name": f"no device has a port {value!r}",
        "speed": f"no port runs at {value}",
        "cable": f"no cable is {value}",
    }[name]


def _nearest(name: str, value: Any, known: Collection[Any]) -> str:
    if name in ("rail", "speed", "cable"):  # no words that could be mistyped
        return f"{_MANY[name]}: {', '.join(map(str, sorted(known))) or 'none is stated'}"
    return suggest(str(value), map(str, known), _MANY[name])


@dataclass(slots=True)
class _Use:
    """One profile on the ports that it is for."""

    networks: tuple[str, ...]
    known: dict[str, set[Any]] = field(default_factory=lambda: defaultdict(set))
    hit: set[int] = field(default_factory=set)  # numbers of overrides that match a port


class Overrides:
    """Collects which overrides match a port, to name those that match none."""

    def __init__(self, fabric: Fabric) -> None:
        networks: dict[str, list[str]] = {}
        self._profiles: dict[str, Profile] = {}
        for name, network in fabric.networks.items():
            if network.profile is not None and network.profile.overrides:
                networks.setdefault(network.profile.name, []).append(name)
                self._profiles[network.profile.name] = network.profile
        self._uses = {name: _Use(tuple(found)) for name, found in networks.items()}
        self._owners = {
            name: network.profile.name for name, network in fabric.networks.items() if network.profile is not None
        }

    def seen(self, profile: Profile, device: Device, port: Port, chosen: tuple[int, ...]) -> None:
        """One kind of port that the profile is for, and the overrides that match it."""
        use = self._uses[profile.name]
        use.hit.update(chosen)
        known = use.known
        known["role"].update(role for role in (device.role, port.role) if role is not None)
        known["group"].update(device.groups)
        known["device"].add(device.name)
        for name, value in (("rail", port.rail), ("speed", port.speed_mbps), ("cable", port.medium)):
            if value is not None:
                known[name].add(value)

    def report(self, trees: Mapping[str, Map], problems: Problems) -> None:
        """Warn about each override that matches no port."""
        for name, use in self._uses.items():
            for number, override in enumerate(self._profiles[name].overrides):
                if number in use.hit or not use.known:
                    continue
                reasons = list(self._reasons(override.match, use, name))
                if reasons:
                    problems.warn(
                        find(trees[name], ("overrides", number, "match")),
                        f"{label_of(number, override)} matches no port of network {', '.join(use.networks)}: "
                        + ", and ".join(text for text, _ in reasons),
                        next((remedy for _, remedy in reasons if remedy.startswith("did you mean")), reasons[0][1]),
                    )

    def _reasons(self, match: Match, use: _Use, profile: str) -> Iterator[tuple[str, str]]:
        """(why, remedy) for each value that no port has; nothing where the profile may be made for other sites too."""
        if match.network is not None and match.network not in use.networks:
            owner = self._owners.get(match.network)
            text = f"network {match.network} has profile {owner}" if owner else f"there is no network {match.network!r}"
            yield text, suggest(match.network, use.networks, f"networks with profile {profile}")
        strange = [
            name
            for name in ("role", "rail", "speed", "cable", "device", "group")
            if getattr(match, name) is not None and getattr(match, name) not in use.known[name]
        ]
        if strange == ["role"] and match.role in USUAL_ROLES and match.network in (None, *use.networks):
            return
        for name in strange:
            value, known = getattr(match, name), use.known[name]
            if name == "speed":
                value, known = show_speed(value), set(map(show_speed, known))
            text = _none_has(name, value)
            yield text.replace("no port has the role", "no port or device has the role"), _nearest(name, value, known)
        if not strange and match.network in (None, *use.networks):
            yield "no port has all of it together", "leave one of the conditions out"

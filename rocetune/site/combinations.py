"""Overrides against the ports of the site: each must match one, and those that meet must make a sound profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from rocetune.model.fabric import Device, Fabric, Port
from rocetune.model.profile import Profile
from rocetune.site.effective import combined, label_of, matches
from rocetune.site.errors import Problems
from rocetune.site.matching import Overrides
from rocetune.site.sources import Map, find
from rocetune.site.validate import explained


def check_combinations(fabric: Fabric, trees: Mapping[str, Map], problems: Problems) -> None:
    """Check each set of overrides that really meets on a port of the fabric, once; name those that match none."""
    overridden = {
        name: network.profile
        for name, network in fabric.networks.items()
        if network.profile is not None and network.profile.overrides
    }
    if not overridden:
        return
    by_device = any(item.match.device is not None for profile in overridden.values() for item in profile.overrides)
    matched = Overrides(fabric)
    seen: set[tuple[Any, ...]] = set()
    checked: set[tuple[str, tuple[int, ...]]] = set()
    for name, ports in fabric.ports.items():
        device = fabric.devices[name]
        for port in ports:
            profile = overridden.get(port.network or "")
            if profile is None:
                continue
            key = (port.network, device.role, port.role, port.rail, port.speed_mbps, port.medium, device.groups,
                   name if by_device else None)  # fmt: skip
            if key in seen:
                continue
            seen.add(key)
            chosen = chosen_for(profile, device, port)
            matched.seen(profile, device, port, chosen)
            if len(chosen) > 1 and (profile.name, chosen) not in checked:
                checked.add((profile.name, chosen))
                _check(profile, chosen, f"{name}:{port.name}", trees[profile.name], problems)
    matched.report(trees, problems)


def chosen_for(profile: Profile, device: Device, port: Port) -> tuple[int, ...]:
    """Numbers of the overrides that match one port."""
    roles = {role for role in (device.role, port.role) if role is not None}
    where = {
        "network": port.network,
        "rail": port.rail,
        "speed": port.speed_mbps,
        "cable": port.medium,
        "device": device.name,
    }
    return tuple(
        number for number, item in enumerate(profile.overrides) if matches(item.match, roles, set(device.groups), where)
    )


def _check(profile: Profile, chosen: tuple[int, ...], where: str, tree: Map, problems: Problems) -> None:
    data = combined(profile, chosen)
    try:
        Profile.model_validate(data)
    except ValidationError as error:
        labels = " and ".join(label_of(number, profile.overrides[number]) for number in chosen)
        place = find(tree, ("overrides", chosen[-1]))
        for _, fault, _ in explained(Profile, data, error):
            problems.error(place, f"{labels} meet on {where}: {fault.text}", fault.remedy)

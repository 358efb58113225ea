"""The profile as one kind of port has it: overrides applied, and who decided what."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rocetune.model.profile import Match, Override, Profile
from rocetune.model.units import show_speed

_FIELDS = ("mtu", "host_mtu", "rdma_mtu", "classes", "dcqcn")


def effective(
    profile: Profile,
    *,
    role: str | Collection[str] | None = None,
    network: str | None = None,
    rail: int | None = None,
    speed_mbps: int | None = None,
    medium: str | None = None,
    device: str | None = None,
    groups: Collection[str] = (),
) -> tuple[Profile, tuple[tuple[str, str], ...]]:
    """The profile with all matching overrides applied in order, and (field, override) for each field they set.

    ``role`` is one role or several (the device's and the port's). The result has no overrides left. Pure; worth
    caching by the caller per distinct combination. Raises pydantic's ValidationError where several overrides
    together contradict themselves; each one alone was checked when the site was read.
    """
    roles = {role} if isinstance(role, str) else set(role or ())
    where: dict[str, Any] = {
        "network": network,
        "rail": rail,
        "speed": speed_mbps,
        "cable": medium,
        "device": device,
    }
    chosen = [number for number, item in enumerate(profile.overrides) if matches(item.match, roles, set(groups), where)]
    return applied(profile, chosen)


def matches(match: Match, roles: set[str], groups: set[str], where: Mapping[str, Any]) -> bool:
    """True when every field that the match gives agrees."""
    if match.role is not None and match.role not in roles:
        return False
    if match.group is not None and match.group not in groups:
        return False
    return all(getattr(match, name) in (None, value) for name, value in where.items())


def applied(profile: Profile, chosen: Collection[int]) -> tuple[Profile, tuple[tuple[str, str], ...]]:
    """The profile with the overrides of these numbers applied in order."""
    if not profile.overrides:
        return profile, ()
    winners: dict[str, str] = {}
    for number in chosen:
        override = profile.overrides[number]
        label = label_of(number, override)
        winners.update(dict.fromkeys(leaf_paths(_change(override)), label))
    return Profile.model_validate(combined(profile, chosen)), tuple(sorted(winners.items()))


def combined(profile: Profile, chosen: Collection[int]) -> dict[str, Any]:
    """The same as plain data, not validated."""
    base = profile.model_dump(exclude_unset=True, exclude={"overrides"})
    for number in chosen:
        base = merge(base, _change(profile.overrides[number]))
    return base


def _change(override: Override) -> dict[str, Any]:
    return {name: getattr(override, name) for name in _FIELDS if name in override.model_fields_set}


def label_of(number: int, override: Override) -> str:
    """``profiles/mine.yaml override 2 (role=spine, speed=400G)``: counted from 1 in its own file."""
    given = {
        name: getattr(override.match, name) for name in Match.model_fields if name in override.match.model_fields_set
    }
    if "speed" in given:
        given["speed"] = show_speed(given["speed"])
    origin = override.origin or f"override {number + 1}"
    return f"{origin} ({', '.join(f'{name}={value}' for name, value in given.items())})"


def merge(base: Any, change: Any) -> Any:
    """Mappings are merged key by key; anything else is replaced."""
    if isinstance(base, Mapping) and isinstance(change, Mapping):
        result = dict(base)
        for key, value in change.items():
            result[key] = merge(result[key], value) if key in result else merge({}, value)
        return result
    return {key: merge({}, value) for key, value in change.items()} if isinstance(change, Mapping) else change


def leaf_paths(value: Any, prefix: str = "") -> Iterator[str]:
    """Dotted paths of all values that are not mappings."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from leaf_paths(inner, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix

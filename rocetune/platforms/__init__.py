"""Vendor knowledge: one package per switch OS, one per NIC family under ``linux``. See ``base`` for the contract."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import cast

from rocetune.platforms.base import Platform

GROUP = "rocetune.platforms"


def names() -> tuple[str, ...]:
    """Names of all registered platforms, sorted."""
    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)}))


@cache
def get(name: str) -> Platform:
    """The platform of this name. Raises KeyError with the known names."""
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            return cast(Platform, entry.load())
    raise KeyError(f"no platform {name!r}; known: {', '.join(names())}")

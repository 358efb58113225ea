"""The one comparison currency: a flat map of owned keys, and what differs in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from rocetune.model.plan import Why
from rocetune.model.qos import Path

Key = tuple[str, ...]  # the platform's own nesting: ("qos profile", "ROCETUNE-X", "uc-tx-queue 3", "bandwidth")
Config = Mapping[Key, str]  # canonical values; "" = present without a value


class Impact(IntEnum):
    """What live traffic feels when a key changes, worst last."""

    NONE = 0
    MARKING = 1
    BRIEF_LOSS = 2
    LINK_BOUNCE = 3
    ALL_PORTS = 4
    REBOOT = 5


class Phase(IntEnum):
    """Order of a push over the whole scope; removal runs in reverse."""

    BUFFERS = 1  # maps, buffers and headroom
    SCHEDULER = 2  # scheduler and ECN
    PFC = 3
    WATCHDOG = 4
    SERVER = 5
    MARKING = 6


@dataclass(frozen=True, slots=True)
class KeyRule:
    """One row of a platform's ownership table: vendor knowledge as data.

    ``pattern`` has one fnmatch pattern per key element; the word ``{port}`` stands for a managed port's native
    name. A pattern shorter than the key matches every key below it. First match wins. ``scope`` "global" keys
    are switch-wide and obey the device's ``globals`` mode: extend never removes, exclusive does, refuse
    never writes. "ours" keys bear our own name and are always ours to remove.
    """

    pattern: tuple[str, ...]
    phase: Phase
    impact: Impact
    note: str = ""
    scope: Literal["port", "global", "ours"] = "port"


@dataclass(frozen=True, slots=True)
class Change:
    """One owned key, old to new. ``touches`` names other ports that a switch-wide object also serves."""

    key: Key
    op: Literal["add", "change", "remove"]
    old: str | None
    new: str | None
    phase: Phase
    impact: Impact
    note: str = ""
    origin: Path = ()  # (native port or "", leaf path...) in the plan, where one is known
    why: Why | None = None
    touches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that one compare found. ``adopted`` already matched; ``refused`` would need a write to a
    switch-wide object although the device says ``globals: refuse``."""

    changes: tuple[Change, ...] = ()
    adopted: tuple[Key, ...] = ()
    refused: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One native action with its inverse. ``kind`` is understood by the platform's session only.

    ``do`` and ``undo`` are what is sent; for text platforms they are configuration or shell lines.
    """

    kind: str
    do: str
    undo: str
    keys: tuple[Key, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What the templates made: the configuration text, and side files by name."""

    text: str
    files: Mapping[str, str] = field(default_factory=dict)

"""A diff ordered for reading: equal devices together, equal ports together, phase by phase.

Devices form one group only when their changes, steps and adopted keys are equal in every detail, so what is
said of a group is true of each member.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rocetune.model.change import Change, Impact, Key, Phase
from rocetune.model.outcome import DeviceDiff, DiffReport
from rocetune.model.plan import DevicePlan
from rocetune.report.amounts import Meaning, meaning
from rocetune.report.ranges import compact, natural, spans

PHASE_WORDS = {
    Phase.BUFFERS: "maps, buffers and headroom",
    Phase.SCHEDULER: "scheduler and ECN",
    Phase.PFC: "PFC",
    Phase.WATCHDOG: "PFC watchdog",
    Phase.SERVER: "server QoS",
    Phase.MARKING: "application marking",
}


def impact_words(impact: Impact) -> str:
    """``brief loss``, ``link bounce`` ..."""
    return impact.name.lower().replace("_", " ")


@dataclass(frozen=True, slots=True)
class Group:
    """Devices with one and the same difference. ``first`` stands for all of them."""

    devices: tuple[str, ...]
    first: DeviceDiff

    @property
    def impact(self) -> Impact:
        """The worst impact of any change in it."""
        return max((change.impact for change in self.first.comparison.changes), default=Impact.NONE)


@dataclass(frozen=True, slots=True)
class Line:
    """One change, or the same change on several ports. ``ports`` empty: the whole device."""

    change: Change
    meaning: Meaning
    key: tuple[str, ...]  # with ``*`` where a port's name stood, when there are several ports
    ports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of one phase on one set of ports."""

    phase: Phase
    ports: tuple[str, ...]
    touches: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def place(self) -> str:
        """Which ports, in few words."""
        if self.ports:
            return compact(self.ports) + (f" ({len(self.ports)} ports)" if len(self.ports) > 1 else "")
        if self.touches:
            return f"device-wide, also serves {compact(self.touches)} ({len(self.touches)} ports not managed here)"
        return "the device"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the ownership table remarks on these changes, each once."""
        notes = ((line.change.impact, line.change.note) for line in self.lines if line.change.note)
        return tuple(f"{impact_words(impact)}: {note}" for impact, note in dict.fromkeys(notes))


def groups(report: DiffReport) -> tuple[Group, ...]:
    """Devices that differ, equal ones together, in natural order of their first device."""
    found: dict[object, list[DeviceDiff]] = {}
    for item in report.devices:
        if item.error is None and (item.comparison.changes or item.comparison.refused):
            found.setdefault((item.platform, item.comparison, item.steps, item.native), []).append(item)
    result = [Group(tuple(sorted((item.device for item in same), key=natural)), same[0]) for same in found.values()]
    return tuple(sorted(result, key=lambda group: natural(group.devices[0])))


def settings_in(keys: Iterable[Key]) -> int:
    """How many settings these keys are: a map of code points or priorities is one, however many entries it has."""
    return len({key[:-1] if key[-1].isdigit() else key for key in keys})


def sections(changes: Iterable[Change], plan: DevicePlan | None, *, joined: bool = True) -> tuple[Section, ...]:
    """Changes by phase, then by the ports they share; the order of keys is kept.

    ``joined``: rows that differ in the number at the key's end alone become one.
    """
    finder = _PortFinder(plan)
    merged: dict[object, list[tuple[Change, str]]] = {}
    for change in changes:
        port, key = finder(change)
        path = change.origin[1:] if change.origin else ()
        about = replace(meaning(change, plan), speed_mbps=None)
        what = (key, change.op, change.old, change.new, path, about)
        merged.setdefault((*what, change.phase, change.impact, change.note, change.touches), []).append((change, port))
    by_place: dict[tuple[Phase, tuple[str, ...], tuple[str, ...]], list[Line]] = {}
    for same in merged.values():
        first = same[0][0]
        ports = tuple(sorted({port for _, port in same if port}, key=natural))
        line = Line(first, meaning(first, plan), finder(first)[1] if len(ports) > 1 else first.key, ports)
        by_place.setdefault((first.phase, ports, first.touches), []).append(line)
    found = [
        Section(phase, ports, touches, _joined(lines) if joined else tuple(lines))
        for (phase, ports, touches), lines in by_place.items()
    ]
    return tuple(sorted(found, key=lambda item: (item.phase, bool(item.ports))))


def _joined(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Rows that differ in the number at the key's end alone, such as a DSCP map's, become one row."""
    result: dict[object, list[Line]] = {}
    for line in lines:
        change = line.change
        number = line.key[-1].isdigit()
        same = (line.key[:-1], change.op, change.old, change.new, change.impact, change.note, line.meaning)
        result.setdefault(same if number else line.key, []).append(line)
    return tuple(_row_of(same) for same in result.values())


def _row_of(same: Sequence[Line]) -> Line:
    first = same[0]
    if len(same) == 1:
        return first
    return replace(first, key=(*first.key[:-1], spans(int(line.key[-1]) for line in same)))


def roundings(changes: Sequence[Change], plan: DevicePlan | None) -> tuple[str, ...]:
    """What the platform rounded, each once."""
    found: dict[str, None] = {}
    for change in changes:
        if change.why and change.why.rounding:
            found[f"{meaning(change, plan).subject or ' / '.join(change.key)}: {change.why.rounding}"] = None
    return tuple(found)


class _PortFinder:
    """Tells a change's port and its key with the port's name replaced, so that equal ports can be merged."""

    def __init__(self, plan: DevicePlan | None) -> None:
        names = {name: item.native for item in (plan.ports if plan else ()) for name in (item.native, item.port.name)}
        self._native = names
        words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<![\w/.])(?:{words})(?![\w/.])") if words else None

    def __call__(self, change: Change) -> tuple[str, tuple[str, ...]]:
        """An object that serves many ports has no port's name in its key: it is device-wide, whatever its origin."""
        pattern = self._pattern
        if pattern is None:
            return "", change.key
        match = next((found for part in change.key if (found := pattern.search(part))), None)
        if match is None:
            return "", change.key
        port = self._native[match[0]]
        return port, tuple(pattern.sub(lambda hit: self._starred(hit[0], port), part) for part in change.key)

    def _starred(self, name: str, port: str) -> str:
        return "*" if self._native[name] == port else name

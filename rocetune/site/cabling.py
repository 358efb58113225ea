"""links.yaml: named indexes unfolded, both ends found, and every cable checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rocetune.model.inventory import LagEnds, LinkEntry
from rocetune.model.names import port as port_name
from rocetune.model.units import show_speed
from rocetune.site import yaml
from rocetune.site.errors import Problems, suggest
from rocetune.site.ports import PortSpec
from rocetune.site.ranges import MAX_EXPANSION, RangeError, Template, expand, index, shown
from rocetune.site.sources import Map, Place, Seq, find
from rocetune.site.validate import validate

# Longest cable per medium and port speed (Mbit/s, inclusive upper end), metres. Source: reference tuning.md 7.3, where
# the values are IEEE reaches; DAC falls with the lane rate (100GBASE-CR4 5 m, 200G/400G-CR 3 m, 800G DAC 2 to 3 m).
# Media that are not listed (aec, er, zr) have no limit here.
REACH_M: Mapping[str, tuple[tuple[int, float], ...]] = {
    "dac": ((100_000, 5), (1_600_000, 3)),
    "aoc": ((1_600_000, 100),),
    "vr": ((1_600_000, 50),),
    "sr": ((1_600_000, 100),),
    "dr": ((1_600_000, 500),),
    "fr": ((1_600_000, 2_000),),
    "lr": ((1_600_000, 10_000),),
}


def reach_m(medium: str | None, speed_mbps: int | None) -> float | None:
    """Longest cable of a medium at a speed; without a speed that of the slowest. None where no limit is known."""
    rows = REACH_M.get(medium or "", ())
    return next((length for top, length in rows if speed_mbps is None or speed_mbps <= top), None)


@dataclass(frozen=True, slots=True)
class Traits:
    """What a link says besides its ends; one object for all links that say the same."""

    medium: str | None
    length_m: float | None
    role: str | None
    network: str | None
    lag_a: str | None
    lag_b: str | None
    bond: str | None
    mlag: int | None
    breakout: tuple[str, int] | None

    def lag(self, side: str, server: bool) -> str | None:
        """The aggregate that one end belongs to."""
        if server and self.bond is not None:
            return self.bond
        return self.lag_a if side == "a" else self.lag_b


def traits_of(entry: LinkEntry) -> Traits:
    """The traits of one entry. A plain ``lag`` is meant for the switch ends."""
    lag = entry.lag
    lag_a, lag_b = (lag.a, lag.b) if isinstance(lag, LagEnds) else (lag, None if entry.bond else lag)
    breakout = (entry.breakout.parent, entry.breakout.lane) if entry.breakout else None
    return Traits(
        entry.medium, entry.length, entry.role, entry.network, lag_a, lag_b, entry.bond, entry.mlag, breakout
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cable:
    """One entry of links.yaml."""

    number: int
    traits: Traits
    place: Place


@dataclass(frozen=True, slots=True)
class End:
    """One end of one link, from that end's point of view."""

    cable: Cable
    side: str  # "a" or "b"
    peer: tuple[str, str]
    rail: int | None
    speed_mbps: int | None


@dataclass(slots=True)
class _Tally:
    """Errors of one entry: the first of each kind is shown, the rest is counted."""

    first: tuple[Place | None, str, str]
    more: int = 0


class Cabling:
    """All links of a site, by device and port."""

    def __init__(
        self, known: Mapping[str, Mapping[str, PortSpec] | None], problems: Problems, *, complete: bool = True
    ) -> None:
        """``complete`` False: the inventory has errors, so an unknown device is no news."""
        self.known = known  # device -> its declared ports; None where it declares none
        self.problems = problems
        self.ends: dict[str, dict[str, End]] = {name: {} for name in known}
        self.complete = complete
        self._tallies: dict[tuple[int, str], _Tally] = {}
        self._traits: dict[Traits, Traits] = {}
        self._names: dict[str, str] = {name: name for name in known}  # one string object per name

    def read(self, path: Path) -> None:
        """Read one file."""
        for item in yaml.stream(path, self.problems.sources, self.problems, Seq):
            entry = validate(LinkEntry, item.value, self.problems, place=item.place)
            if entry is not None:
                self._entry(item.key, entry, item.value)
        for tally in self._tallies.values():
            place, text, remedy = tally.first
            more = f" (and {tally.more} more like it on this line)" if tally.more else ""
            self.problems.error(place, text + more, remedy)

    def _note(self, number: int, kind: str, place: Place | None, text: str, remedy: str = "") -> None:
        tally = self._tallies.get((number, kind))
        if tally is None:
            self._tallies[number, kind] = _Tally((place, text, remedy))
        else:
            tally.more += 1

    def _entry(self, number: int, entry: LinkEntry, raw: Map) -> None:
        traits = traits_of(entry)
        cable = Cable(number, self._traits.setdefault(traits, traits), raw.start)
        self._reach(number, entry, raw, entry.speed)
        ranges = self._ranges(entry, raw)
        try:
            for a, b, rail, values in _unfold(entry, ranges) if ranges is not None else ():
                self._link(cable, entry, raw, a, b, rail, values)
        except RangeError as error:
            self.problems.error(_blame(raw, error.text), error.text, error.remedy)

    def _reach(self, number: int, entry: LinkEntry, raw: Map, speed: int | None) -> None:
        reach = reach_m(entry.medium, speed)
        if reach is not None and entry.length is not None and entry.length > reach:
            at = f" at {show_speed(speed)}" if speed else ""
            self._note(
                number,
                "reach",
                find(raw, ("length",)),
                f"{entry.length:g} m is beyond the reach of {entry.medium}{at}, {reach:g} m",
                "correct the length, or choose another medium",
            )

    def _ranges(self, entry: LinkEntry, raw: Map) -> dict[str, tuple[int, ...]] | None:
        """The values of each index, None after noting an error."""
        result: dict[str, tuple[int, ...]] = {}
        for name, value in entry.for_.items():
            try:
                result[name] = index(value)
            except RangeError as error:
                self.problems.error(find(raw, ("for", name)), f"index {name}: {error.text}", error.remedy)
        return result if len(result) == len(entry.for_) else None

    def _link(
        self, cable: Cable, entry: LinkEntry, raw: Map, a: str, b: str, rail: int | None, values: Mapping[str, int]
    ) -> None:
        hint = f" ({shown(values)})" if values else ""
        ends = [self._end(cable.number, raw, side, text, hint) for side, text in (("a", a), ("b", b))]
        if ends[0] is None or ends[1] is None:
            return
        if ends[0] == ends[1]:
            self._note(cable.number, "self", cable.place, f"{a} is linked to itself{hint}", "name two different ports")
            return
        speed = self._speed(cable, entry, raw, ends[0], ends[1], hint)
        if entry.speed is None and speed is not None:
            self._reach(cable.number, entry, raw, speed)
        for side, own, peer in (("a", ends[0], ends[1]), ("b", ends[1], ends[0])):
            device, port = own
            taken = self.ends[device].get(port)
            if taken is not None:
                where = "this line" if taken.cable is cable else str(self.problems.sources.position(taken.cable.place))
                self._note(
                    cable.number, f"twice {side}", find(raw, (side,)),
                    f"{device}:{port} is linked twice: to {':'.join(taken.peer)} in {where}, "
                    f"and to {':'.join(peer)}{hint}",
                    "a port takes one cable: " + self._unused(entry, side),
                )  # fmt: skip
                continue
            self.ends[device][port] = End(cable, side, peer, rail, speed)

    @staticmethod
    def _unused(entry: LinkEntry, side: str) -> str:
        idle = [name for name in entry.for_ if name not in Template(getattr(entry, side)).names]
        return f"index {', '.join(idle)} is not used in {side}" if idle else "correct one of the two links"

    def _end(self, number: int, raw: Map, side: str, text: str, hint: str) -> tuple[str, str] | None:
        device, colon, port = text.partition(":")
        place = find(raw, (side,))
        if not colon or not port:
            self._note(number, f"form {side}", place, f"{text!r} does not name a port", "write device:port")
            return None
        if device not in self.known:
            if not self.complete:
                return None
            self._note(
                number, f"device {side}", place, f"{device} is not a device of the inventory{hint}",
                suggest(device, self.known, "devices"),
            )  # fmt: skip
            return None
        ports = self.known[device]
        if ports is not None and port not in ports:
            self._note(
                number, f"port {side}", place, f"{device} has no port {port}{hint}", suggest(port, ports, "its ports")
            )
            return None
        if ports is None:
            try:
                port_name(port)
            except ValueError as error:
                self._note(number, f"name {side}", place, str(error))
                return None
        return self._names[device], self._names.setdefault(port, port)

    def _speed(
        self, cable: Cable, entry: LinkEntry, raw: Map, a: tuple[str, str], b: tuple[str, str], hint: str
    ) -> int | None:
        """The link's speed; complains where an end cannot have it."""
        specs = [(end, (self.known[end[0]] or {}).get(end[1])) for end in (a, b)]
        fixed = [(end, spec.entry.speed) for end, spec in specs if spec is not None and spec.entry.speed is not None]
        speed = entry.speed or (fixed[0][1] if fixed else None)
        if speed is None:
            return None
        place = find(raw, ("speed",)) if "speed" in raw else cable.place
        for end, own in fixed:
            if own != speed:
                other = "the link" if entry.speed else ":".join(fixed[0][0])
                self._note(
                    cable.number, "speed", place,
                    f"{':'.join(end)} runs at {show_speed(own or 0)}, {other} at {show_speed(speed)}{hint}",
                    "both ends and the link need one speed",
                )  # fmt: skip
        for end, spec in specs:
            if spec is not None and spec.entry.speeds and speed not in spec.entry.speeds:
                self._note(
                    cable.number, f"speeds {end[0]}", place, f"{':'.join(end)} cannot run at {show_speed(speed)}{hint}",
                    f"it can run at {', '.join(map(show_speed, spec.entry.speeds))}",
                )  # fmt: skip
        return speed


def _blame(raw: Map, text: str) -> Place | None:
    """The end whose text an error quotes, else the whole link."""
    for name in ("a", "b", "rail"):
        value = raw.get(name)
        if isinstance(value, str) and (repr(value) in text or any(p in value for p in _braced(text))):
            return find(raw, (name,))
    return find(raw, ("for",)) if "for" in raw else raw.start


def _braced(text: str) -> Iterator[str]:
    start = text.find("{")
    if start >= 0 and "}" in text[start:]:
        yield text[start : text.index("}", start)]


def _unfold(
    entry: LinkEntry, ranges: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[str, str, int | None, dict[str, int]]]:
    """(a, b, rail, index values) for every cable of an entry. Raises RangeError."""
    if not entry.for_ and not any(mark in entry.a + entry.b + str(entry.rail) for mark in "{}[]"):
        yield entry.a, entry.b, None if entry.rail is None else _number(entry.rail, {}), {}
        return
    total = 1
    for numbers in ranges.values():
        total *= len(numbers)
    if total > MAX_EXPANSION:
        raise RangeError(f"the link stands for {total} cables, more than {MAX_EXPANSION}", "split it")
    a, b = Template(entry.a), Template(entry.b)
    for template in (a, b):
        for name in sorted(template.names - set(ranges)):
            known = f"known: {', '.join(ranges)}" if ranges else "add it: for: {" + name + ": 0-7}"
            raise RangeError(f"{template.text!r} uses {name}, which is no index here", known)
    for name in ranges:
        if name not in a.names and name not in b.names:
            raise RangeError(
                f"index {name} is used in neither end", f"use {{{name}}} in a and b, or remove it from for"
            )
    for combination in product(*ranges.values()):
        values = dict(zip(ranges, combination, strict=True))
        number = None if entry.rail is None else _number(entry.rail, values)
        filled_a, filled_b = a.fill(values), b.fill(values)
        if "[" in filled_a or "[" in filled_b:
            yield from _zipped(filled_a, filled_b, number, values)
        else:
            yield filled_a, filled_b, number, values


def _number(value: int | str, values: Mapping[str, int]) -> int:
    return Template(value).number(values) if isinstance(value, str) else value


def _zipped(
    a: str, b: str, rail: int | None, values: dict[str, int]
) -> Iterator[tuple[str, str, int | None, dict[str, int]]]:
    """Bracket ranges of both ends, paired one to one."""
    left, right = [name for name, _ in expand(a)], [name for name, _ in expand(b)]
    if len(left) != len(right):
        raise RangeError(
            f"the ranges do not pair up: {a!r} names {len(left)} ports, {b!r} names {len(right)}",
            "give both ends the same number of ports",
        )
    for one, other in zip(left, right, strict=True):
        yield one, other, rail, values

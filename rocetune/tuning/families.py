"""Headroom presets: per chip, and per platform family of a chip where its published table says more.

Three forms: a fit with three parameters (:class:`Fit`), NVIDIA's sum of parts (:class:`Parts`), and one line per port
speed (:class:`Lines`). Data: ``data/headroom_presets.yaml``, fitted to the tables of :mod:`rocetune.tuning.published`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import yaml

from rocetune.tuning import wire


@dataclass(frozen=True, slots=True)
class Fit:
    """Headroom preset fitted to a published table: ``base + fixed_us * R + wire_factor * 2LR/v``."""

    base_bytes: float
    fixed_us: float
    wire_factor: float
    error_percent: float  # worst error of the fit; the planned number is raised by it


@dataclass(frozen=True, slots=True)
class Parts:
    """Headroom preset as a sum of parts (NVIDIA's calculation). ``response_bytes`` None: the IEEE limit."""

    mac_phy_bytes: float
    response_bytes: float | None
    delay_ns: float = 0.0
    factor: float | None = None  # cell inflation; None: all packets small
    frame_bytes: int = 1024  # the lossless frame that the table was built with
    quanta_800g: int | None = None  # what the table was built with, where it has 800G
    port_frame_bytes: int = 9216  # the port MTU that the table was built with
    share: float = 1.0  # of the whole sum


@dataclass(frozen=True, slots=True)
class Line:
    """At one port speed: the larger of a few ``base_bytes + factor * 2LR/v``."""

    speed_mbps: int
    pieces: tuple[tuple[float, float], ...]  # (base_bytes, factor)

    def bytes_at(self, cable_m: float) -> float:
        """Not rounded."""
        flight = wire.cable_round_trip_bytes(self.speed_mbps, cable_m)
        return max(base + factor * flight for base, factor in self.pieces)


@dataclass(frozen=True, slots=True)
class Lines:
    """Headroom preset with a line per port speed, never below a row of its table."""

    lines: tuple[Line, ...]  # by speed
    error_percent: float
    most_m: float | None = None  # of a table with one value for all lengths: no longer cable than it lists

    def bytes_at(self, speed_mbps: int, cable_m: float) -> tuple[float, Line]:
        """Bytes, not rounded, and the line that decided.

        A speed between two lines takes the faster one. No speed gets less than a slower one, whatever its line says.
        Beyond the fastest line the whole grows with the speed.
        """
        reached = next((number for number, line in enumerate(self.lines) if line.speed_mbps >= speed_mbps), None)
        usable = self.lines if reached is None else self.lines[: reached + 1]
        found = [(line.bytes_at(cable_m), line) for line in usable]
        if reached is None:
            last = self.lines[-1]
            scale = speed_mbps / last.speed_mbps
            faster = Line(speed_mbps, tuple((base * scale, factor) for base, factor in last.pieces))
            found.append((faster.bytes_at(cable_m), faster))
        return max(found, key=lambda item: item[0])

    def covers(self, cable_m: float) -> bool:
        """False beyond the longest cable of a flat table."""
        return self.most_m is None or cable_m <= self.most_m

    def alone(self, speeds_mbps: Collection[int]) -> Lines:
        """The lines of these speeds without the slower ones, which may be above them."""
        return replace(self, lines=tuple(line for line in self.lines if line.speed_mbps in speeds_mbps))


Preset = Fit | Parts | Lines


@dataclass(frozen=True, slots=True)
class Apart:
    """A second rule that one table follows at some of the lengths, or for some of the speeds, that it lists.

    ``as_m`` and ``most_mbps``: its rows are those of that longer cable, or of no faster a port than that.
    """

    table: str
    preset: Preset
    cable_m: tuple[float, ...] = ()  # empty: all
    speed_mbps: tuple[int, ...] = ()  # empty: all
    as_m: float | None = None
    most_mbps: int | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """The preset of one or several tables that were calculated alike."""

    name: str
    preset: Preset
    tables: tuple[str, ...]  # names of published tables
    reference: tuple[str, ...] = ()  # chips that get it without a model
    fallback: str = ""  # chip vendor whose platforms may share this table whatever their chip
    note: str = ""
    confidence: str = "high"  # of the table that it was fitted to, as far as it goes
    apart: tuple[Apart, ...] = ()

    def second_rule(self, table: str, speed_mbps: int, cable_m: float) -> Apart | None:
        """The rule that one of its tables follows at a place that the table lists, where it is not the family's."""
        for rule in self.apart:
            here = cable_m in (rule.cable_m or (cable_m,)) and speed_mbps in (rule.speed_mbps or (speed_mbps,))
            if rule.table == table and here:
                return rule
        return None


def _parts(block: Mapping[str, Any]) -> Parts:
    response = None if block.get("quanta") else float(block["response_bytes"])
    return Parts(
        float(block["mac_phy_bytes"]),
        response,
        float(block.get("delay_ns", 0)),
        float(block["factor"]),
        int(block["frame_bytes"]),
        block.get("quanta_800g"),
        int(block.get("port_frame_bytes", 9216)),
        float(block.get("share", 1)),
    )


def _lines(block: Mapping[str, Any]) -> Lines:
    rows = block["lines"]
    made = (Line(int(speed), tuple((float(b), float(f)) for b, f in rows[speed])) for speed in sorted(rows))
    return Lines(tuple(made), float(block.get("error_percent", 0)), block.get("most_m"))


def _preset(block: Mapping[str, Any]) -> Preset:
    return _parts(block["parts"]) if "parts" in block else _lines(block)


def _apart(family: Mapping[str, Any], block: Mapping[str, Any]) -> Apart:
    """``parts`` has what differs from the family's own; ``lines`` are whole; ``alone``: the family's without others."""
    speeds = tuple(block.get("speed_mbps", ()))
    if "parts" in block:
        preset: Preset = _parts({**family["parts"], **block["parts"]})
    elif block.get("alone"):
        preset = _lines(family).alone(speeds)
    else:
        preset = _preset(block if "lines" in block else family)
    lengths = tuple(float(length) for length in block.get("cable_m", ()))
    return Apart(block["table"], preset, lengths, speeds, block.get("as_m"), block.get("most_mbps"))


@cache
def families() -> Mapping[str, Family]:
    """All presets of platform families, by name."""
    text = resources.files("rocetune.tuning").joinpath("data/headroom_presets.yaml").read_text(encoding="utf-8")
    blocks = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))["presets"]
    return {
        name: Family(
            name,
            _preset(block),
            tuple(block["tables"]),
            tuple(block.get("reference", ())),
            block.get("fallback", ""),
            block.get("note", ""),
            block.get("confidence", "high"),
            tuple(_apart(block, item) for item in block.get("apart", ())),
        )
        for name, block in blocks.items()
    }


@cache
def family_of(table: str) -> Family | None:
    """The preset fitted to a published table, by the table's name."""
    return next((item for item in families().values() if table in item.tables and not item.fallback), None)


@cache
def reference_of(asic: str) -> Family | None:
    """The preset that a bare chip (key of asics.yaml) gets in place of its three-parameter fit."""
    return next((item for item in families().values() if asic in item.reference), None)


@cache
def fallback_of(vendor: str) -> Family | None:
    """The table that makers of a vendor's chips reuse most."""
    return next((item for item in families().values() if item.fallback == vendor), None)

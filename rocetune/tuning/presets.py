"""Marking curves that vendors, papers and guides publish, by name.

A preset says what its source says: bytes, percent of a queue's buffer, or Arista's segments. Where a curve is asked
for in bytes, the Why tells what had to be assumed and what the bytes mean in time at the speed at hand: a fixed number
of bytes is a quarter of the time at 400G that it was at 100G.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal

import yaml

from rocetune.model.plan import Why
from rocetune.model.units import show_speed
from rocetune.tuning.duration import show_us
from rocetune.tuning.wire import positive

Confidence = Literal["high", "medium", "low"]
Unit = Literal["bytes", "percent", "segments"]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A preset at one speed, in bytes."""

    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: float
    why: Why


@dataclass(frozen=True, slots=True)
class EcnPreset:
    """One published curve. ``kmin`` and ``kmax`` are in ``unit``; ``speeds_mbps`` None: the source says any speed."""

    name: str
    title: str
    vendor: str
    source: str
    confidence: Confidence
    note: str
    unit: Unit
    kmin: float
    kmax: float
    pmax_percent: float
    pmax_assumed: str  # why this pmax, where the source states none; else empty
    per_mbps: int | None  # the thresholds belong to this speed and grow with it
    speeds_mbps: tuple[int, int] | None  # least and most that it was made for
    asics: tuple[str, ...]  # empty: the source does not say

    @property
    def made_for(self) -> str:
        """Speeds and chips it was made for, in words."""
        speeds = "any speed"
        if self.speeds_mbps is not None:
            speeds = " to ".join(dict.fromkeys(show_speed(speed) for speed in self.speeds_mbps))
        return f"{speeds}, {', '.join(self.asics)}" if self.asics else f"{speeds}, chip not stated"

    def covers(self, speed_mbps: int) -> bool:
        """True where the source means this speed too."""
        return self.speeds_mbps is None or self.speeds_mbps[0] <= speed_mbps <= self.speeds_mbps[1]

    def thresholds(self, speed_mbps: int, queue_bytes: int | None = None) -> Thresholds:
        """The curve in bytes at a speed. ``queue_bytes`` is the buffer that a queue may take, for percent presets.

        Raises ValueError for a speed that cannot be, a percent preset without ``queue_bytes``, and a preset in
        segments, whose size nobody publishes. A speed it was not made for is allowed and told in the Why.
        """
        positive(speed_mbps, "a port speed", "400000 Mbit/s")
        kmin, kmax, step = self._in_bytes(speed_mbps, queue_bytes)
        steps = [
            f"preset {self.name} ({self.title}), made for {self.made_for}",
            step,
            f"at {show_speed(speed_mbps)}: kmin {kmin:,} B = {show_us(kmin, speed_mbps)}, kmax {kmax:,} B = "
            f"{show_us(kmax, speed_mbps)}",
        ]
        if not self.covers(speed_mbps):
            steps.append(self._elsewhere(speed_mbps))
        steps.append(
            f"pmax {self.pmax_percent:g} %: not stated, assumed {self.pmax_assumed}"
            if self.pmax_assumed
            else f"pmax {self.pmax_percent:g} %"
        )
        if self.note:
            steps.append(self.note)
        inputs: tuple[tuple[str, int | str], ...] = (("preset", self.name), ("speed_mbps", speed_mbps))
        if self.unit == "percent" and queue_bytes is not None:
            inputs = (*inputs, ("queue_bytes", queue_bytes))
        rounding = "to whole bytes" if self.unit == "percent" or self.per_mbps else ""
        source = f"{self.source} (confidence {self.confidence})"
        why = Why("ecn.preset", inputs, tuple(steps), rounding=rounding, source=source)
        return Thresholds(kmin, kmax, self.pmax_percent, why)

    def _in_bytes(self, speed_mbps: int, queue_bytes: int | None) -> tuple[int, int, str]:
        if self.unit == "segments":
            raise ValueError(
                f"{self.name} is written in segments ({self.kmin:g} to {self.kmax:g}), whose size depends on the chip "
                "and is not confirmed: it cannot be turned into bytes. Write kmin and kmax, or choose a preset in bytes"
            )
        if self.unit == "percent":
            if queue_bytes is None:
                raise ValueError(
                    f"{self.name} is {self.kmin:g} to {self.kmax:g} percent of the queue's buffer: say how many bytes "
                    "a queue may take (alpha x S / (1 + alpha) for one congested queue)"
                )
            positive(queue_bytes, "the buffer of a queue", "4194304 bytes")
            kmin, kmax = (round(queue_bytes * share / 100) for share in (self.kmin, self.kmax))
            return kmin, kmax, f"{self.kmin:g} and {self.kmax:g} % of {queue_bytes:,} B"
        if self.per_mbps is not None:
            factor = speed_mbps / self.per_mbps
            kmin, kmax = max(1, round(self.kmin * factor)), max(1, round(self.kmax * factor))
            per = f"per {show_speed(self.per_mbps)}, times {factor:g}"
            return kmin, kmax, f"{self.kmin:,.0f} and {self.kmax:,.0f} B {per}"
        return int(self.kmin), int(self.kmax), f"{self.kmin:,.0f} and {self.kmax:,.0f} B, not scaled with the speed"

    def _elsewhere(self, speed_mbps: int) -> str:
        assert self.speeds_mbps is not None
        least, most = self.speeds_mbps
        near = least if speed_mbps < least else most
        text = f"not made for {show_speed(speed_mbps)}"
        if self.per_mbps is not None or self.unit == "percent":
            return f"{text}: scaled by the same rule"
        then, now = show_us(self.kmax, near), show_us(self.kmax, speed_mbps)
        return f"{text}: the bytes stay and the time changes, kmax was {then} at {show_speed(near)} and is {now} here"


@cache
def ecn_presets() -> Mapping[str, EcnPreset]:
    """All shipped presets by name, read once."""
    text = resources.files("rocetune.tuning").joinpath("data/ecn_presets.yaml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    rows = yaml.load(text, Loader=loader)["presets"]
    return MappingProxyType({name: _preset(name, row) for name, row in rows.items()})


def ecn_preset(name: str) -> EcnPreset:
    """A preset by name, without regard to case, blanks and underscores. Raises ValueError with a suggestion."""
    wanted = re.sub(r"[\s_]+", "-", name.strip().lower())
    found = ecn_presets().get(wanted)
    if found is not None:
        return found
    family = [known for known in ecn_presets() if wanted and known.startswith(f"{wanted}-")]
    near = family or difflib.get_close_matches(wanted, ecn_presets(), n=3, cutoff=0.7)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(ecn_presets())}"
    raise ValueError(f"{name[:60]!r} is no ECN preset: {hint}")


def _preset(name: str, row: Mapping[str, Any]) -> EcnPreset:
    speeds = row.get("gbps")
    per = row.get("per_gbps")
    return EcnPreset(
        name=name,
        title=row["title"],
        vendor=row["vendor"],
        source=row["source"],
        confidence=row["confidence"],
        note=row.get("note", ""),
        unit=row.get("unit", "bytes"),
        kmin=row["kmin"],
        kmax=row["kmax"],
        pmax_percent=float(row["pmax"] if "pmax" in row else row["assumed_pmax"]),
        pmax_assumed="" if "pmax" in row else row["assumed_because"],
        per_mbps=per * 1000 if per else None,
        speeds_mbps=(speeds[0] * 1000, speeds[1] * 1000) if speeds else None,
        asics=tuple(row.get("asics", ())),
    )

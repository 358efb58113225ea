"""Two samples of counters to what happened between them.

A counter that went backwards was reset: there is no rate. A large value that did not move is history and no
live problem, so only differences are judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocetune.model.state import Evidence, Sample, State

_NOTHING: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Rates:
    """Counters of one port over the time between the first and the last sample."""

    seconds: float  # 0.0: fewer than two samples
    first: Mapping[str, int]
    last: Mapping[str, int]

    def delta(self, name: str) -> int | None:
        """How much a counter grew; None when it is absent, was reset, or there is one sample only."""
        if self.seconds <= 0 or name not in self.first or name not in self.last:
            return None
        grown = self.last[name] - self.first[name]
        return grown if grown >= 0 else None

    def rate(self, name: str) -> float | None:
        """Growth per second, or None as :meth:`delta`."""
        grown = self.delta(name)
        return None if grown is None else grown / self.seconds

    def total(self, *names: str) -> int | None:
        """Sum of the deltas that are known; None when none is."""
        known = [grown for name in names if (grown := self.delta(name)) is not None]
        return sum(known) if known else None

    def why_unknown(self, *names: str) -> str:
        """A clause that says why no delta of these counters is known."""
        listed = ", ".join(names)
        if not self.first and not self.last:
            return f"the device shows no counters for this port ({listed})"
        if self.seconds <= 0:
            return "one sample only: a rate needs two"
        if any(name in self.first and name in self.last for name in names):
            return f"{listed} was reset between the samples: collect again"
        return f"the device does not show {listed}"

    def evidence(self, *names: str) -> Evidence | None:
        """Both values of each counter that is there."""
        shown = [
            f"{name} {self.first[name]} -> {self.last[name]}"
            for name in names
            if name in self.first and name in self.last
        ]
        if not shown:
            return None
        return Evidence(f"counters, {self.seconds:.1f} s apart", ", ".join(shown))


def rates(state: State, native: str) -> Rates:
    """Rates of one port ("" = the device) from the first and the last sample of a state."""
    first, last = _ends(state.samples)
    if last is None:
        return Rates(0.0, _NOTHING, _NOTHING)
    before = first.counters.get(native, _NOTHING) if first is not None else _NOTHING
    seconds = last.at - first.at if first is not None else 0.0
    return Rates(max(seconds, 0.0), before, last.counters.get(native, _NOTHING))


def _ends(samples: tuple[Sample, ...]) -> tuple[Sample | None, Sample | None]:
    if not samples:
        return None, None
    return (samples[0] if len(samples) > 1 else None), samples[-1]

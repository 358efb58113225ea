"""How much one end of a cable pauses the other, from the counters of either end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocetune.doctor.case import Place
from rocetune.model.state import Evidence

LIGHT_DUTY = 0.01  # of the time paused by a server: worth a warning (ours, tunable)
HEAVY_DUTY = 0.10  # an error (ours, tunable)
STUCK_DUTY = 0.95  # practically always paused
HEAVY_FRAMES_PER_S = 1000.0  # the published slow-receiver symptom is thousands per second


@dataclass(frozen=True, slots=True)
class Pause:
    """What was seen of ``sender`` pausing ``receiver`` on one priority. None: not known from either end."""

    duty: float | None  # share of the time paused, 0..1
    frames_per_s: float | None
    transitions: int | None  # XOFF to XON
    seconds: float
    evidence: Evidence | None
    unknown: str = ""

    @property
    def known(self) -> bool:
        return self.duty is not None or self.frames_per_s is not None

    @property
    def light(self) -> bool:
        """More than a well receiver needs."""
        return (self.duty or 0.0) > LIGHT_DUTY or self.heavy

    @property
    def heavy(self) -> bool:
        """In the range of a slow receiver."""
        return (self.duty or 0.0) > HEAVY_DUTY or (self.frames_per_s or 0.0) > HEAVY_FRAMES_PER_S

    @property
    def words(self) -> str:
        """For people."""
        parts = []
        if self.duty is not None:
            parts.append(f"paused {self.duty:.0%} of the time")
        if self.frames_per_s is not None:
            parts.append(f"{self.frames_per_s:.0f} pause frames/s")
        return ", ".join(parts) or "not observed"


def pause(sender: Place, receiver: Place | None, priority: int) -> Pause:
    """``sender``'s transmitted and ``receiver``'s received pauses of one priority: the end that counts more."""
    return _counted([(sender, "tx"), *([(receiver, "rx")] if receiver is not None else [])], priority)


def received(receiver: Place, sender: Place | None, priority: int) -> Pause:
    """The same, where the sender need not have been read."""
    return _counted([*([(sender, "tx")] if sender is not None else []), (receiver, "rx")], priority)


def _counted(ends: Sequence[tuple[Place, str]], priority: int) -> Pause:
    duty: float | None = None
    frames: float | None = None
    transitions: int | None = None
    seconds, evidence, gaps = 0.0, None, []
    for place, way in ends:
        rates = place.rates
        us, count = rates.rate(f"pfc_{way}_us.{priority}"), _frames(place, way, priority)
        names = (f"pfc_{way}_us.{priority}", f"pfc_{way}.{priority}", f"pfc_{way}", f"pfc_{way}_transitions.{priority}")
        duty = _more(duty, None if us is None else min(us / 1e6, 1.0))
        frames = _more(frames, count)
        if way == "rx":
            transitions = rates.delta(f"pfc_rx_transitions.{priority}")
        if us is not None or count is not None:
            seconds = max(seconds, rates.seconds)
            evidence = evidence or rates.evidence(*names)
        else:
            gaps.append(f"{place.label}: {rates.why_unknown(*names[:2])}")
    if frames == 0 and duty is None:
        duty = 0.0  # XOFF lasts 65535 quanta and must be refreshed: no frame, no pause
    return Pause(duty, frames, transitions, seconds, evidence, "; ".join(gaps))


def _more(one: float | None, two: float | None) -> float | None:
    return max((value for value in (one, two) if value is not None), default=None)


def _frames(place: Place, way: str, priority: int) -> float | None:
    """Frames per second; a port total serves where only this priority pauses."""
    rate = place.rates.rate(f"pfc_{way}.{priority}")
    if rate is None and [entry.priority for entry in place.paused()] == [priority]:
        return place.rates.rate(f"pfc_{way}")
    return rate

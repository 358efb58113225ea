"""What a use case hands to the report writers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from rocetune.model.change import Comparison, Phase, Step
from rocetune.model.finding import Finding
from rocetune.model.plan import Assumption, DevicePlan, Unsupported


@dataclass(frozen=True, slots=True)
class DeviceDiff:
    """One device: what would change and how. ``error`` set: it could not be read, the rest is empty.

    ``plan`` is the fitted plan: writers take class names, speeds and byte values from it where it is there.
    """

    device: str
    platform: str
    comparison: Comparison = Comparison()
    steps: tuple[Step, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    facts_source: str = "declared"
    native: str = ""  # the device's own diff, where it makes one
    error: str | None = None
    plan: DevicePlan | None = None


@dataclass(frozen=True, slots=True)
class DiffReport:
    """The whole scope, sorted by device name."""

    devices: tuple[DeviceDiff, ...]
    live: bool

    @property
    def changed(self) -> bool:
        """True when any device differs or needs a refused write."""
        return any(item.comparison.changes or item.comparison.refused for item in self.devices)

    @property
    def failed(self) -> tuple[DeviceDiff, ...]:
        """Devices that could not be read."""
        return tuple(item for item in self.devices if item.error is not None)


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Findings sorted worst first. ``healthy`` needs no fail and no critical unknown."""

    findings: tuple[Finding, ...]  # fail and unknown only; passes are counted
    passed: int
    devices: int
    unreachable: tuple[str, ...] = ()
    seconds: float = 0.0
    one_sample: bool = False  # counters could not be judged by rate
    skipped: int = 0  # checks of links whose other end is outside the chosen scope: not judged, not unknown

    @property
    def verdict(self) -> Literal["healthy", "unhealthy", "unknown"]:
        """``unknown`` when nothing fails but a critical check could not be judged or a device was not reached."""
        if any(item.verdict == "fail" and item.severity != "info" for item in self.findings):
            return "unhealthy"
        if self.unreachable or any(item.verdict == "unknown" and item.severity == "critical" for item in self.findings):
            return "unknown"
        return "healthy"


Outcome = Literal["confirmed", "unchanged", "reverted", "reverting", "failed", "unreachable", "skipped", "unknown"]


@dataclass(frozen=True, slots=True)
class PushResult:
    """One device in one phase."""

    device: str
    phase: Phase
    wave: str  # "canary", "wave 1/3" ...
    outcome: Outcome
    detail: str = ""
    seconds: float = 0.0
    removal: bool = False


Standing = Literal["old", "new", "partly new", "reverting", "unknown"]


@dataclass(frozen=True, slots=True)
class DeviceStanding:
    """Where one device stands when a run ends. ``until`` is epoch seconds for "reverting"."""

    device: str
    standing: Standing
    until: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ApplyReport:
    """An apply or rollback from start to end."""

    run: str
    verdict: Literal["unchanged", "applied", "rolled back", "mixed", "refused"]
    diff: DiffReport
    results: tuple[PushResult, ...] = ()
    standings: tuple[DeviceStanding, ...] = ()
    doctor: DoctorReport | None = None
    problems: tuple[str, ...] = ()  # why it was refused or stopped, each with its remedy
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """0 nothing left to do and healthy, 1 findings or cleanly rolled back, 2 refused, 3 needs a person."""
        if self.verdict == "refused":
            return 2
        if self.verdict == "mixed":
            return 3
        if self.verdict == "rolled back":
            return 1
        return 0 if self.doctor is None or self.doctor.verdict == "healthy" else 1


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of long work, for people. ``total`` 0: unknown."""

    stage: str  # "connect", "precheck", "diff", "push", "doctor" ...
    text: str
    device: str = ""
    done: int = 0
    total: int = 0


Report = Callable[[Progress], None]

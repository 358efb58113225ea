"""What a calculator found out: the numbers, their parts, and what they rest on. Writers and plots read these."""

from __future__ import annotations

from dataclasses import dataclass

from rocetune.model.plan import Assumption, PlanProblem, Why
from rocetune.tuning.asics import Asic
from rocetune.tuning.headroom import Headroom


@dataclass(frozen=True, slots=True)
class Term:
    """One line of a breakdown. ``formula`` is what an engineer would type into a pocket calculator."""

    name: str
    formula: str
    size_bytes: float


@dataclass(frozen=True, slots=True)
class Port:
    """What a headroom depends on, as asked."""

    speed_mbps: int
    cable_m: float
    mtu_bytes: int
    frame_bytes: int  # lossless frame with its gap
    asic: Asic | None
    model: str | None


@dataclass(frozen=True, slots=True)
class Room:
    """All lossless (port, priority) pairs of one switch against its buffer, and where pause starts in what is left.

    ``buffer_bytes`` None: not known, so only the need is. ``shared_bytes`` is S per slice of the chip; None: not
    known or the headroom does not fit.
    """

    ports: int
    lossless: int
    alpha: float
    need_bytes: int
    buffer_bytes: int | None = None
    shared_bytes: int | None = None
    xoff_bytes: int | None = None  # where a lone congested group is paused
    xon_bytes: int | None = None
    pool_bytes: int | None = None  # shared headroom pool that the network OS configures on this model
    pausing_at_once: int | None = None
    slices: int = 1
    whys: tuple[Why, ...] = ()

    @property
    def fits(self) -> bool | None:
        """None where the buffer is not known."""
        return None if self.buffer_bytes is None else self.shared_bytes is not None


@dataclass(frozen=True, slots=True)
class HeadroomAnswer:
    """Answer of ``rocetune headroom``."""

    port: Port
    result: Headroom
    terms: tuple[Term, ...]  # empty: no parts, the derivation stands alone
    floor: tuple[Term, ...]  # what physics needs
    confidence: str
    room: Room | None = None
    xon_bytes: int | None = None  # of a published row
    xon_offset_bytes: int | None = None
    assumptions: tuple[Assumption, ...] = ()
    problems: tuple[PlanProblem, ...] = ()
    next: tuple[tuple[str, str], ...] = ()  # (arguments of rocetune, why)

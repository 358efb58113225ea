"""What a calculator found out: the numbers, their parts, and what they rest on. Writers and plots read these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocetune.model.plan import Assumption, PlanProblem, Why
from rocetune.tuning.asics import Asic
from rocetune.tuning.dcqcn import Dcqcn
from rocetune.tuning.ecn import Bounds
from rocetune.tuning.fluid import Params
from rocetune.tuning.headroom import Headroom
from rocetune.tuning.headroom import Term as Term

if TYPE_CHECKING:
    from rocetune.planner.compare import Line  # which loads the site: headroom starts without


@dataclass(frozen=True, slots=True)
class Follow:
    """A command to type next: every option of this one that it knows, as it was typed, but for those named here.

    ``options`` are set instead of, or on top of, what was typed; ``without`` are left out.
    """

    command: str
    why: str
    options: tuple[tuple[str, str | tuple[str, ...]], ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Port:
    """What a headroom depends on, as asked."""

    speed_mbps: int
    cable_m: float
    mtu_bytes: int
    frame_bytes: int  # lossless frame with its gap
    asic: Asic | None
    model: str | None
    cell_bytes: int | None = None  # as stated; None: the chip's


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
    crowded_bytes: int | None = None  # where each is paused when all are congested
    xon_bytes: int | None = None
    pool_bytes: int | None = None  # shared headroom pool that the network OS configures on this model
    pausing_at_once: int | None = None  # priority groups that it holds, of those that there are
    own_pools: bool = False  # S is what those pools leave, not what the need leaves of the buffer
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
    confidence: str  # of the number: high, medium or low; yours: a user's own table or chip made it
    notes: tuple[str, ...] = ()  # how a table was chosen, what other tables have
    room: Room | None = None
    published: tuple[tuple[float, int], ...] = ()  # rows of the chip at this speed: metres, bytes
    published_name: str = ""  # whose rows they are, in words
    assumptions: tuple[Assumption, ...] = ()
    problems: tuple[PlanProblem, ...] = ()
    follow: tuple[Follow, ...] = ()
    next: tuple[tuple[str, str], ...] = ()  # ``follow`` with what was typed: (arguments of rocetune, why)


@dataclass(frozen=True, slots=True)
class EcnAnswer:
    """Answer of ``rocetune ecn``. ``bounds`` None: no chip named, or its buffer is not known or too small."""

    port: Port
    rtt_us: float
    bdp_bytes: int
    flows: int
    dcqcn: str  # preset of the senders
    line: Line
    terms: tuple[Term, ...]
    whys: tuple[tuple[str, Why], ...] = ()  # by threshold, or once for all
    headroom_bytes: int | None = None
    bounds: Bounds | None = None
    room: Room | None = None
    compared: tuple[Line, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    problems: tuple[PlanProblem, ...] = ()
    follow: tuple[Follow, ...] = ()
    next: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DcqcnAnswer:
    """Answer of ``rocetune dcqcn``."""

    speed_mbps: int
    flows: int
    frame_bytes: int
    preset: str
    written: Dcqcn  # what is written to the NIC
    model: Params  # what the prediction is made with
    line: Line
    whys: tuple[tuple[str, Why], ...]
    breakdown: tuple[int, str]  # flows from which DCQCN was seen to break down, and the source
    terms: tuple[Term, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    problems: tuple[PlanProblem, ...] = ()
    follow: tuple[Follow, ...] = ()
    next: tuple[tuple[str, str], ...] = ()

"""Buffer and ECN numbers that a profile fixes, against physics and the chip: what cannot be, and what is a risk.

What cannot be is an error. A risk to PFC is an error unless the class has ``accept_risk``, then a warning. Bounds:
XON two frames below XOFF (DCQCN's test bed), static thresholds that the shared buffer can hold all at once
(DCQCN, SIGCOMM 2015: S / (P n)), marking that starts above eight frames and ends before PFC.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rocetune.model.profile import Ecn, Pfc
from rocetune.model.units import show_bytes, show_speed
from rocetune.planner.classes import lossless
from rocetune.planner.combination import Combination
from rocetune.planner.notes import Problem
from rocetune.tuning import ecn, fluid, thresholds, wire
from rocetune.tuning.asics import table
from rocetune.tuning.cells import round_up
from rocetune.tuning.outlook import warnings

LOW_ALPHA, HIGH_ALPHA = 1 / 128, 8.0  # what the chips in use can be told, but for single registers


@dataclass(frozen=True, slots=True)
class Buffer:
    """What is known of a switch's buffer, bytes per slice of the chip; None where it is not known."""

    name: str  # of the chip; empty: unknown
    total_bytes: int | None = None
    shared_bytes: int | None = None
    groups: int = 0  # lossless (port, priority) pairs

    def most(self) -> tuple[int, str]:
        """The largest buffer that the switch can have, and whose it is."""
        if self.total_bytes is not None:
            return self.total_bytes, f"the whole buffer of {self.name}"
        sizes = (max(asic.packet_bytes() or 0, asic.hbm_bytes or 0) for asic in table())
        return max(sizes), "the buffer of every known chip"


def buffer_problems(combination: Combination, buffer: Buffer) -> Iterator[Problem]:
    """Problems of headroom, xoff, xon and alpha of the lossless classes."""
    for name, intent in lossless(combination.profile):
        found = list(_too_large(combination, name, intent.pfc, buffer))
        yield from found
        if not found:
            yield from _Thresholds(combination, name, intent.pfc, buffer).problems()


def larger_than_chip(combination: Combination, buffer: Buffer) -> bool:
    """True where one fixed number alone is larger than the chip's buffer: then sums are no news."""
    return any(
        next(_too_large(combination, name, intent.pfc, buffer), None) for name, intent in lossless(combination.profile)
    )


def _too_large(combination: Combination, name: str, pfc: Pfc, buffer: Buffer) -> Iterator[Problem]:
    most, whose = buffer.most()
    for key in ("headroom", "xoff", "xon"):
        size = getattr(pfc, key)
        if isinstance(size, int) and size > most:
            text = f"{key} {size:,} B of {name} is more than {whose}, {most:,} B"
            at = combination.at("classes", name, "pfc", key)
            yield Problem(text, f"write {key}: auto; is the unit right?", combination.profile.name, at)


class _Thresholds:
    """Where pause starts and ends in one class."""

    def __init__(self, combination: Combination, name: str, pfc: Pfc, buffer: Buffer) -> None:
        self.combination, self.name, self.pfc, self.buffer = combination, name, pfc, buffer
        self.frame = wire.roce_frame_bytes(combination.profile.rdma_mtu) - wire.GAP_BYTES
        asic = combination.chip.asic if combination.chip else None
        cell = asic.threshold_cell if asic is not None else 1
        self.gap = round_up(thresholds.xon_gap_bytes(combination.profile.mtu), cell)
        alpha = combination.written_alpha(pfc)
        self.start: int | None = None  # queue length at which one group alone is paused
        if isinstance(pfc.xoff, int):
            self.start, self.key = pfc.xoff, "xoff"
            self.words = f"xoff {pfc.xoff:,} B"
        else:
            self.key = "alpha"
            if buffer.shared_bytes is not None:
                self.start = int(ecn.incast_bound(buffer.shared_bytes, alpha))
                self.words = (
                    f"alpha {alpha:g} of {buffer.shared_bytes:,} B shared buffer starts pause at {self.start:,} B"
                )

    def problems(self) -> Iterator[Problem]:
        """All problems of the class, errors and risks."""
        pfc = self.pfc
        if isinstance(pfc.alpha, float) and pfc.xoff == "auto" and not LOW_ALPHA <= pfc.alpha <= HIGH_ALPHA:
            yield self._risk(
                "alpha",
                f"alpha {pfc.alpha:g} of {self.name} is outside 1/128 to 8: a small one pauses with an almost empty "
                "buffer, a large one lets one group take all of it",
                "write alpha: auto, or a value from 0.0078125 to 8",
            )
        if isinstance(pfc.alpha, float) and isinstance(pfc.xoff, int):
            text = f"alpha {pfc.alpha:g} of {self.name} has no effect: the fixed xoff {pfc.xoff:,} B takes its place"
            yield self._problem("alpha", text, "keep one of the two", warning=True)
        if self.start is None:
            return
        if isinstance(pfc.xoff, int) or isinstance(pfc.alpha, float):
            yield from self._start(self.start)
        if isinstance(pfc.xon, int):
            yield from self._end(self.start, pfc.xon)

    def _start(self, start: int) -> Iterator[Problem]:
        if start < self.frame:
            yield self._error(
                self.key,
                f"{self.words} of {self.name}: pause starts before one packet of {self.frame:,} B is held, so nothing "
                "passes",
                f"write {self.key}: auto, or a larger one: pause should start above {self.gap:,} B",
            )
        elif start <= self.gap:
            yield self._risk(
                self.key,
                f"{self.words} of {self.name}: there is no room for XON two frames ({self.gap:,} B) below it, so pause "
                "flaps",
                f"write {self.key}: auto, or a larger one: pause should start above {self.gap:,} B",
            )
        shared, groups = self.buffer.shared_bytes, self.buffer.groups
        if self.key != "xoff" or shared is None or not groups:
            return
        if start > shared:
            yield self._error(
                "xoff",
                f"xoff {start:,} B of {self.name} is more than the {shared:,} B that headroom leaves for sharing on "
                f"{self.buffer.name}: the buffer is full before pause starts",
                f"write xoff: auto, or {shared // groups} or less",
            )
        elif start * groups > shared:
            yield self._risk(
                "xoff",
                f"xoff {start:,} B of {self.name}: {groups} lossless queues need {start * groups:,} B to reach it, "
                f"{shared:,} B are shared on {self.buffer.name}: packets can be lost before pause starts",
                f"write xoff: auto, which shrinks with the free buffer, or {shared // groups} or less",
            )

    def _end(self, start: int, xon: int) -> Iterator[Problem]:
        if xon >= start:
            yield self._error(
                "xon",
                f"xon {xon:,} B of {self.name} is not below the level where pause starts ({self.words})",
                f"write xon: auto, or {max(0, start - self.gap)} or less",
            )
        elif start - xon < self.gap:
            yield self._risk(
                "xon",
                f"xon {xon:,} B of {self.name} is {start - xon:,} B below the level where pause starts ({self.words}): "
                f"less than two frames ({self.gap:,} B), so pause flaps",
                f"write xon: auto, or {max(0, start - self.gap)} or less",
            )
        speed = self.combination.speed_mbps
        if self.key == "xoff" and speed is not None:
            dry = max(self.gap, thresholds.starvation_bytes(speed, self.combination.cable.length_m))
            if start - xon > dry:
                text = (
                    f"xon {xon:,} B of {self.name} is {start - xon:,} B below xoff, more than the {dry:,} B that a "
                    f"port sends while pause ends at {show_speed(speed)}: the link can run dry"
                )
                yield self._problem("xon", text, f"write xon: auto, or {start - dry} or more", warning=True)

    def _risk(self, key: str, text: str, remedy: str) -> Problem:
        reason = self.pfc.accept_risk
        if reason:
            return self._problem(key, f"{text}; accepted: {reason}", f"write {key}: auto to be safe", warning=True)
        return self._problem(key, text, f"{remedy}, or accept_risk: with the reason beside it")

    def _error(self, key: str, text: str, remedy: str) -> Problem:
        return self._problem(key, text, remedy)

    def _problem(self, key: str, text: str, remedy: str, *, warning: bool = False) -> Problem:
        at = self.combination.at("classes", self.name, "pfc", key)
        return Problem(text, remedy, self.combination.profile.name, at, warning)


def curve_problems(
    made: ecn.Curve, want: Ecn, name: str, combination: Combination, bounds: ecn.Bounds | None, buffer: Buffer
) -> Iterator[Problem]:
    """Problems of the marking curve of a class, wherever its numbers are from."""
    profile = combination.profile.name
    published = want.preset is not None and (want.kmin, want.kmax) == ("auto", "auto")
    keys = ("preset", "preset") if published else ("kmin", "kmax")
    kmin_at, kmax_at = (combination.at("classes", name, "ecn", key) for key in keys)
    shown = show_bytes(made.kmax_bytes)
    if made.kmin_bytes > made.kmax_bytes or (made.kmin_bytes == made.kmax_bytes and made.pmax_percent < 100):
        text = f"{name}: kmin {show_bytes(made.kmin_bytes)} is not below kmax {shown}"
        yield Problem(text, "set both, or let both be auto", profile, kmin_at)
        return
    if want.preset is not None or (want.kmin, want.kmax) != ("auto", "auto"):
        low_at = kmin_at if want.kmin != "auto" else kmax_at
        yield from _low(made, name, combination, low_at)
        most, whose = buffer.most()
        if made.kmax_bytes > most:
            text = f"{name}: kmax {made.kmax_bytes:,} B is more than {whose}, {most:,} B: it is never reached"
            at = kmax_at if want.kmax != "auto" else kmin_at
            yield Problem(text, "let it be auto; is the unit right?", profile, at)
            return
    else:
        yield from _short(made, want, name, combination, kmin_at)
    yield from _settles(made, name, combination, kmax_at)
    if bounds is None:
        return
    if made.kmax_bytes >= bounds.incast_bytes:
        limit = math.ceil(bounds.incast_bytes) - 1
        text = (
            f"{name}: kmax {shown} is not below {bounds.incast_bytes:,.0f} B, where PFC starts in a 1:1 overload: ECN "
            "comes too late"
        )
        raised = "pfc.alpha" if combination.profile.classes[name].pfc.xoff == "auto" else "pfc.xoff"
        yield Problem(text, f"set kmax to {limit} or less, or raise {raised}", profile, kmax_at)
    elif made.kmax_bytes >= bounds.strict_bytes:
        limit = math.ceil(bounds.strict_bytes) - 1
        text = (
            f"{name} at {show_speed(combination.speed_mbps or 0)}: kmax {shown} is not below the strict ECN-before-PFC "
            f"bound of {bounds.strict_bytes:,.0f} B: when all egress queues fill from one ingress, PFC may come first"
        )
        remedy = f"objective: latency keeps kmax below it, or set kmax to {limit} or less; fine for ordinary incast"
        if want.objective == "latency" and want.kmax == want.kmin == "auto":
            remedy = "below it kmin would hold less than two frames: fewer lossless ports or classes, or a larger alpha"
        yield Problem(text, remedy, profile, kmax_at, warning=True)


def _short(
    made: ecn.Curve, want: Ecn, name: str, combination: Combination, at: tuple[str | int, ...]
) -> Iterator[Problem]:
    """A computed curve that a PFC bound pressed below half a round trip: a cut can empty the queue."""
    if combination.speed_mbps is None:
        return
    bdp = ecn.bdp_bytes(combination.speed_mbps, combination.rtt_us)
    least = min(ecn.LAMBDA.values()) * bdp
    if made.bounded and made.kmin_bytes < least:
        text = (
            f"{name} at {show_speed(combination.speed_mbps)}: the PFC bound leaves kmin {show_bytes(made.kmin_bytes)}, "
            f"less than half of the {show_bytes(bdp)} under way in a round trip: the link may idle after a cut"
        )
        remedy = "fewer lossless priorities, shorter cables or a larger alpha leave more buffer before PFC"
        if want.objective == "latency":
            remedy = f"objective: balanced keeps to the incast bound alone; {remedy}"
        yield Problem(text, remedy, combination.profile.name, at, warning=True)


def _settles(made: ecn.Curve, name: str, combination: Combination, at: tuple[str | int, ...]) -> Iterator[Problem]:
    """Where DCQCN leaves the queue of the flows that meet here, and whether they are more than it bears."""
    speed, wanted = combination.speed_mbps, combination.profile.dcqcn
    if speed is None or not wanted.enabled:
        return
    params = fluid.params(wanted.preset, speed, wanted.parameters)
    frame = wire.roce_frame_bytes(combination.profile.rdma_mtu)
    curve = (made.kmin_bytes, made.kmax_bytes, made.pmax_percent)
    for found in warnings(speed, combination.senders, params, *curve, frame):
        text = f"{name} at {show_speed(speed)}: {found.text}"
        yield Problem(text, found.remedy, combination.profile.name, at, warning=True)


def _low(made: ecn.Curve, name: str, combination: Combination, at: tuple[str | int, ...]) -> Iterator[Problem]:
    """Marking that starts with an almost empty queue, or a ramp that no queue is ever on."""
    frame = wire.roce_frame_bytes(combination.profile.rdma_mtu)
    floor = ecn.FLOOR_FRAMES * frame
    profile, kmin, kmax = combination.profile.name, made.kmin_bytes, made.kmax_bytes
    if kmin < frame:
        text = (
            f"{name}: marking starts at {kmin:,} B, before one packet of {frame:,} B waits: every sender is slowed down"
        )
        yield Problem(text, f"let kmin and kmax be auto, or write kmin: {floor} or more", profile, at)
    elif kmin < floor:
        text = (
            f"{name}: marking starts at {kmin:,} B, below {ecn.FLOOR_FRAMES} packets ({floor:,} B): the link may idle"
        )
        yield Problem(text, f"write kmin: {floor} or more, or auto", profile, at, warning=True)
    elif kmin < kmax < kmin + floor:
        text = (
            f"{name}: kmax {kmax:,} B is {kmax - kmin:,} B above kmin, less than {ecn.FLOOR_FRAMES} packets "
            f"({floor:,} B): marking jumps from none to all"
        )
        yield Problem(text, f"write kmax: {kmin + floor} or more, or auto", profile, at, warning=True)

"""Phases over the whole scope, and in each phase canaries and waves.

A phase is finished everywhere before the next begins; what is taken away goes in the reverse order of phases after
everything new is in place. A device that fails stops its wave, and the push.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rocetune.deploy.fleet import Fleet, Member
from rocetune.deploy.journal import Journal
from rocetune.deploy.transaction import Judge, Work, transact
from rocetune.model.change import Change, Phase
from rocetune.model.outcome import Progress, PushResult, Report
from rocetune.model.transaction import Token

_ROLE_ORDER = {"super-spine": 0, "spine": 1, "leaf": 2}  # buffers upstream first


@dataclass(slots=True)
class Push:
    """One run's writing part."""

    run: str
    fleet: Fleet
    journal: Journal
    work: Mapping[str, Work]
    changes: Mapping[str, Sequence[Change]]
    judge: Judge
    wave_size: int
    report: Report
    results: list[PushResult] = field(default_factory=list)

    def go(self, tolerant: bool = False) -> list[PushResult]:
        """Push everything, or stop at the first trouble (``tolerant``: a device in trouble is left, others go on).

        Results are in the order of the push.
        """
        troubled: set[str] = set()
        for name, work in sorted(self.work.items()):
            self.journal.before(
                name, {key: value for key, value in work.running.items() if work.ownership.rule(key) is not None}
            )
        for phase, removal in _passes():
            scope = [work for work in self._scope(phase, removal) if work.device not in troubled]
            for label, names in waves(scope, self.wave_size):
                good = not self.fleet.cancel.is_set() and self._wave(phase, removal, label, names)
                if not good and (not tolerant or self.fleet.cancel.is_set()):
                    return self.results
                troubled |= {item.device for item in self.results if item.outcome != "confirmed"}
        return self.results

    def _scope(self, phase: Phase, removal: bool) -> list[Work]:
        names = [name for name in self.changes if self._mine(name, phase, removal)]
        order = sorted(names, key=lambda name: (_ROLE_ORDER.get(self.work[name].role or "", 9), name))
        return [self.work[name] for name in order]

    def _mine(self, name: str, phase: Phase, removal: bool) -> list[Change]:
        return [change for change in self.changes[name] if change.phase == phase and (change.op == "remove") == removal]

    def _wave(self, phase: Phase, removal: bool, label: str, names: Sequence[str]) -> bool:
        """One wave; True when all of it is confirmed."""
        total, seen = len(names), [0]
        self.report(Progress("push", f"{title(phase, removal)}: {label}, {counted(total)}", total=total))

        def work(member: Member) -> PushResult:
            token = Token(self.run, member.name, phase, removal)
            changes = self._mine(member.name, phase, removal)
            return transact(self.fleet, self.work[member.name], token, changes, self.journal, self.judge, label)

        def done(name: str, answer: object) -> None:
            seen[0] += 1
            outcome = getattr(getattr(answer, "value", None), "outcome", "failed")
            self.report(Progress("push", outcome, name, seen[0], total))

        answers = self.fleet.each(names, work, done)
        for name in names:
            if name not in answers:
                self.results.append(PushResult(name, phase, label, "skipped", "interrupted before it began"))
            elif (value := answers[name].value) is not None:
                self.results.append(value)
        return all(result.outcome == "confirmed" for result in self.results[-total:])


def _passes() -> Iterator[tuple[Phase, bool]]:
    yield from ((phase, False) for phase in Phase)
    yield from ((phase, True) for phase in reversed(Phase))


def title(phase: Phase, removal: bool = False) -> str:
    """The phase in words."""
    words = {
        Phase.BUFFERS: "maps and buffers",
        Phase.SCHEDULER: "scheduler and ECN",
        Phase.PFC: "PFC",
        Phase.WATCHDOG: "PFC watchdog",
        Phase.SERVER: "server QoS",
        Phase.MARKING: "application marking",
    }
    return ("removal, " if removal else "") + words[phase]


def counted(number: int) -> str:
    """ "1 device", "4 devices"."""
    return f"{number} device{'' if number == 1 else 's'}"


def waves(scope: Sequence[Work], size: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """First one canary of each platform, then waves of at most ``size`` devices.

    Devices of different roles never share a wave, so that a spine is done before its leaves.
    """
    canaries: dict[str, str] = {}
    for work in scope:
        canaries.setdefault(work.platform.name, work.device)
    if canaries:
        yield "canary", tuple(canaries.values())
    rest = [work for work in scope if work.device not in canaries.values()]
    chunks = list(_chunks(rest, max(1, size)))
    for number, chunk in enumerate(chunks, 1):
        yield f"wave {number}/{len(chunks)}", tuple(work.device for work in chunk)


def _chunks(scope: Iterable[Work], size: int) -> Iterator[list[Work]]:
    chunk: list[Work] = []
    for work in scope:
        if chunk and (len(chunk) == size or chunk[0].role != work.role):
            yield chunk
            chunk = []
        chunk.append(work)
    if chunk:
        yield chunk

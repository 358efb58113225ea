"""One device, one phase: stage, arm the undo, go live, read back, judge, confirm, or undo.

Everything here may be cut at any line by a kill or a lost link. The journal line comes before the write, the armed
undo before the change, persisting after the confirm; so a device is always old, new, or reverting by a known time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rocetune.deploy.compare import Ownership, missing
from rocetune.deploy.fleet import Fleet
from rocetune.deploy.journal import Journal
from rocetune.model.change import Change, Config
from rocetune.model.facts import Facts
from rocetune.model.finding import Finding
from rocetune.model.outcome import DeviceStanding, Outcome, PushResult, Standing
from rocetune.model.state import Transcript
from rocetune.model.transaction import Token
from rocetune.platforms.base import DeviceError, LinkLost, Platform, Session, Unreachable

# Returns what is new or worse on a device after a phase, compared with the baseline, from its read-back.
Judge = Callable[[str, Token, Transcript], Sequence[Finding]]

_REVERT_MIN_S, _REVERT_MAX_S = 60, 600
_RECONNECT_PAUSE_S = 1.0
_FRESH_S = 60.0  # a configuration read this recently need not be read again before a write


@dataclass(slots=True)
class Work:
    """What one device is to become. ``running`` follows the device as phases are confirmed."""

    device: str
    platform: Platform
    facts: Facts
    running: Config
    ownership: Ownership
    role: str | None = None
    read_at: float = -1e9  # time.monotonic() of the last read of ``running``
    read_back_s: float = 1.0  # how long that read took
    seen: Config = field(default_factory=dict)

    def read(self, session: Session) -> Transcript:
        """Read what runs and how it does in one round trip; ``seen`` is then the configuration."""
        clock = time.monotonic()
        wanted = (*self.platform.commands("config", self.facts), *self.platform.commands("state", self.facts))
        transcript = session.collect(tuple(dict.fromkeys(wanted)))
        self.seen = running_in(transcript, self.platform, self.facts, self.device)
        self.read_at = time.monotonic()
        self.read_back_s = self.read_at - clock
        return transcript


def revert_after(read_back_s: float) -> int:
    """Seconds until the armed undo fires, from the measured time of one read-back."""
    return round(min(_REVERT_MAX_S, max(_REVERT_MIN_S, 10 * read_back_s + 45)))


def read_running(session: Session, platform: Platform, facts: Facts, device: str) -> Config:
    """The running configuration of a device as the flat map. Raises DeviceError when it refuses to show it."""
    return running_in(session.collect(platform.commands("config", facts)), platform, facts, device)


def running_in(transcript: Transcript, platform: Platform, facts: Facts, device: str) -> Config:
    """The running configuration in a transcript. Raises DeviceError when the device refused to show it."""
    command = platform.commands("config", facts)[0]
    reply = transcript[command]
    if reply.error is not None:
        raise DeviceError(device, command, reply.error)
    return platform.parse(reply.text, facts)


def transact(
    fleet: Fleet,
    work: Work,
    token: Token,
    changes: Sequence[Change],
    journal: Journal,
    judge: Judge,
    wave: str,
) -> PushResult:
    """Make ``changes`` true on one device or leave it as it was. Never raises DeviceError: the result says it all."""
    started = time.monotonic()

    def result(outcome: Outcome, detail: str = "") -> PushResult:
        try:
            journal.outcome(token, outcome, detail)
        except OSError as error:  # the device's standing is what it is; the intent above lets a rollback find it
            detail = f"{detail}; the journal cannot be written: {error.strerror}".removeprefix("; ")
        seconds = time.monotonic() - started
        return PushResult(work.device, token.phase, wave, outcome, detail, seconds, token.removal)

    try:
        session = fleet.session(work.device)
        if time.monotonic() - work.read_at > _FRESH_S:
            now = read_running(session, work.platform, work.facts, work.device)
            if moved := _moved(work, now):
                return result("failed", f"somebody changed {moved} since the diff was shown; nothing was written")
        revert_in = revert_after(work.read_back_s)
        steps = work.platform.steps(changes, work.running, work.facts)
        try:
            journal.intent(token, changes, revert_in)
        except OSError as error:
            return result("failed", f"{journal.path} cannot be written: {error.strerror}; nothing was written")
        session.stage(token, steps, work.facts)
    except Unreachable as error:
        return result("unreachable", error.text)
    except DeviceError as error:
        return result("failed", f"{error.command}: {error.text}; nothing was made live{_abandon(fleet, work, token)}")
    deadline = time.time() + revert_in
    try:
        session.commit(token, revert_in)
    except LinkLost:
        fleet.drop(work.device)  # the write may cut its own path for a moment; the read-back below tells
    except DeviceError as error:
        return result(*_undo(fleet, work, token, deadline, f"{error.command}: {error.text}"))
    return result(*_verify(fleet, work, token, changes, judge, deadline))


def _verify(
    fleet: Fleet, work: Work, token: Token, changes: Sequence[Change], judge: Judge, deadline: float
) -> tuple[Outcome, str]:
    """Read back and judge while the undo timer runs; confirm only what is true and does no harm."""
    while True:
        try:
            session = fleet.session(work.device)
            transcript = work.read(session)
            absent = missing(work.seen, changes)
            if absent:
                return _undo(fleet, work, token, deadline, f"read back differs: {_describe(absent)}")
            worse = judge(work.device, token, transcript)
            if worse:
                first = worse[0]
                reason = f"{first.id} {first.title}: {first.observed or 'new since the push'}"
                return _undo(fleet, work, token, deadline, f"the doctor found {len(worse)} new: {reason}")
            session.confirm(token)
            work.running = work.seen
            return "confirmed", ""
        except (LinkLost, Unreachable) as error:
            fleet.drop(work.device)
            if time.time() > deadline:
                return "unknown", f"no connection since the push; the undo was due by now ({error.text})"
            if fleet.cancel.is_set() or time.time() + 2 * _RECONNECT_PAUSE_S > deadline:
                return "reverting", f"connection lost; the device undoes the change by itself ({error.text})"
            time.sleep(_RECONNECT_PAUSE_S)
        except DeviceError as error:
            return _undo(fleet, work, token, deadline, f"{error.command}: {error.text}")


def _undo(fleet: Fleet, work: Work, token: Token, deadline: float, reason: str) -> tuple[Outcome, str]:
    """Undo now and prove it; where the device cannot be reached, its timer does."""
    for _ in range(3):
        try:
            session = fleet.session(work.device)
            session.revert(token)
            running = read_running(session, work.platform, work.facts, work.device)
            if _moved(work, running):
                return "unknown", f"{reason}; undone, but the read-back differs from before"
            return "reverted", reason
        except (LinkLost, Unreachable):
            fleet.drop(work.device)
            if time.time() > deadline:
                break
            time.sleep(_RECONNECT_PAUSE_S)
        except DeviceError as error:
            return _armed(fleet, work, token), f"{reason}; undoing failed: {error.command}: {error.text}"
    return "reverting", f"{reason}; the device undoes it by itself"


def _armed(fleet: Fleet, work: Work, token: Token) -> Outcome:
    """After a failed undo: "reverting" when the device's own timer will try again, else "unknown"."""
    try:
        pending = fleet.session(work.device).pending(token)
    except DeviceError:
        fleet.drop(work.device)
        return "unknown"
    return "reverting" if pending.kind == "reverting" else "unknown"


def _abandon(fleet: Fleet, work: Work, token: Token) -> str:
    """Take a staged candidate away again; a failure is only worth a remark."""
    try:
        fleet.session(work.device).revert(token)
    except DeviceError as error:
        fleet.drop(work.device)
        return f"; a staged candidate may be left ({error.text})"
    return ""


def _moved(work: Work, running: Config) -> str:
    """Names owned keys that differ from what the diff was made of, or ""."""
    keys = [
        key
        for key in running.keys() | work.running.keys()
        if running.get(key) != work.running.get(key) and work.ownership.rule(key) is not None
    ]
    return ", ".join(" ".join(key) for key in sorted(keys)[:3])


def _describe(changes: Sequence[Change]) -> str:
    shown = [f"{' '.join(change.key)} is not {change.new or 'gone'}" for change in changes[:3]]
    return "; ".join(shown) + (f" and {len(changes) - 3} more" if len(changes) > 3 else "")


def settle(
    fleet: Fleet, work: Work, token: Token, changes: Mapping[tuple[str, ...], tuple[str | None, str | None]]
) -> DeviceStanding:
    """Bring a journaled transaction to rest from any process: an armed undo is fired, then old is told from new.

    ``changes`` maps each key to (old, new) as journaled.
    """
    try:
        session = fleet.session(work.device)
        pending = session.pending(token)
        if pending.kind == "foreign":
            return DeviceStanding(work.device, "unknown", detail=f"held by {pending.owner}")
        if pending.kind in ("reverting", "staged"):
            session.revert(token)
        running = read_running(session, work.platform, work.facts, work.device)
    except DeviceError as error:
        return DeviceStanding(work.device, "unknown", detail=f"{error.command}: {error.text}")
    return DeviceStanding(work.device, standing(running, changes))


def standing(running: Config, changes: Mapping[tuple[str, ...], tuple[str | None, str | None]]) -> Standing:
    """ "old", "new" or "partly new" by the journaled values of the touched keys."""
    if all(running.get(key) == new for key, (_, new) in changes.items()):
        return "new"
    if all(running.get(key) == old for key, (old, _) in changes.items()):
        return "old"
    return "partly new"

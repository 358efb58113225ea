"""I/O with one server over SSH exec channels."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence

from rocetune.model.change import Step
from rocetune.model.facts import Facts
from rocetune.model.state import Reply, Transcript
from rocetune.model.transaction import Pending, Token
from rocetune.platforms.base import Completed, DeviceError, ShellLink
from rocetune.platforms.linux import script

_TOKEN = re.compile(r"[a-z][A-Za-z0-9_.-]{0,79}", re.ASCII)
_COLLECT_S, _APPLY_S = 120.0, 180.0


class LinuxSession:
    """A transaction on a server: staged in /run, guarded by a systemd timer, applied detached from this session."""

    def __init__(self, link: ShellLink) -> None:
        self._link = link

    def collect(self, commands: Sequence[str]) -> Transcript:
        """All commands in one round trip; one that failed carries its own words as the error."""
        mark = f"@@rocetune-{secrets.token_hex(8)}"
        done = self._root(script.collect(commands, mark), _COLLECT_S)
        answers = script.split(done.stdout, len(commands), mark)
        if commands and all(answer is None for answer in answers):
            raise self._error("collect", done)
        now = time.time()
        transcript: dict[str, Reply] = {}
        for command, answer in zip(commands, answers, strict=True):
            if answer is None:
                transcript[command] = Reply("", "no answer", now)
            else:
                status, text = answer
                reason = None if status == 0 else text.strip().splitlines()[-1] if text.strip() else f"status {status}"
                transcript[command] = Reply(text, reason, now)
        return transcript

    def ready(self) -> tuple[str, ...]:
        """What stands in the way, one sentence each with its remedy."""
        done = self._root(script.call("ready"))
        if done.status != 0:
            if "sudo" in done.stderr:
                return (
                    f"no root rights: {_last(done.stderr)}; log in as root, or allow this user "
                    "'sh -s' without a password (sudoers: NOPASSWD: /bin/sh -s)",
                )
            return (_last(done.stderr or done.stdout),)
        return tuple(line for line in done.stdout.splitlines() if line)

    def stage(self, token: Token, steps: Sequence[Step], facts: Facts) -> str:
        """Script, settings and their inverse into /run/rocetune/tx; nothing is written to a NIC."""
        do = "".join(step.do for step in steps if step.kind == "settings")
        undo = "".join(step.undo for step in steps if step.kind == "settings")
        self._checked("stage", self._root(script.stage(_name(token), do, undo)))
        return ""

    def commit(self, token: Token, revert_in_s: int) -> None:
        """Arm the undo timer, then apply. The apply runs as a unit of its own: a PFC change may cut this session."""
        done = self._root(script.call("commit", _name(token), str(int(revert_in_s))), _APPLY_S)
        self._checked("apply", done)

    def confirm(self, token: Token) -> None:
        """Stop the timer and make the settings survive a reboot."""
        self._checked("confirm", self._root(script.call("confirm", _name(token))))

    def revert(self, token: Token) -> None:
        """Undo now; nothing happens when nothing of the token is left."""
        self._checked("revert", self._root(script.call("revert", _name(token)), _APPLY_S))

    def pending(self, token: Token) -> Pending:
        """What is left of the transaction, as the server itself tells it."""
        done = self._root(script.call("pending", _name(token)))
        self._checked("pending", done)
        kind, seconds, owner = [*done.stdout.split(), "", "", ""][:3]
        if kind == "reverting":
            return Pending("reverting", float(seconds), owner)
        if kind == "foreign":
            return Pending("foreign", float(seconds), owner)
        return Pending("staged") if kind == "staged" else Pending("idle")

    def _root(self, stdin: bytes, timeout_s: float = 60.0) -> Completed:
        return self._link.run(script.ROOT_SHELL, stdin, timeout_s)

    def _checked(self, what: str, done: Completed) -> None:
        if done.status != 0:
            raise self._error(what, done)

    def _error(self, what: str, done: Completed) -> DeviceError:
        failed = [line for line in done.stdout.splitlines() if line.startswith("failed ")]
        text = "; ".join(failed[:3]) or _last(done.stderr) or _last(done.stdout) or f"status {done.status}"
        return DeviceError(self._link.device, what, text)


def _name(token: Token) -> str:
    if not _TOKEN.fullmatch(token.name) or ".." in token.name:
        raise ValueError(f"{token.name!r} cannot name a transaction")
    return token.name


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("rocetune-host: ") if lines else ""

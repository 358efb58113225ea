"""I/O with one EOS switch, through NAPALM's driver.

A token's name is the configuration session's name, so that any process can find it again. NAPALM's driver keeps the
name of "its" session and aborts that session in ``close()``, which on a timed commit is an immediate rollback; so the
name is lent to the driver for the length of one call only, and closing a link never touches a commit.
"""

from __future__ import annotations

import ast
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rocetune.model.change import Step
from rocetune.model.facts import Facts
from rocetune.model.state import Reply, Transcript
from rocetune.model.transaction import Pending, Token
from rocetune.platforms.arista_eos import commands as ask
from rocetune.platforms.base import DeviceError, EapiLink, LinkLost, Unreachable

_FAILED = re.compile(r"CLI command (\d+) of \d+ '(.*?)' failed: (.*?)(?: \[(.*)\])?", re.DOTALL)
_TIMER_LIMIT_S = 86_400  # the commit timer is formatted HH:MM:SS and wraps at a day
_PROBE = "rocetune-probe"
_OPEN_STATES = frozenset({"pending"})


class EosSession:
    """See :class:`rocetune.platforms.base.Session`."""

    def __init__(self, link: EapiLink) -> None:
        self._link = link

    def collect(self, commands: Sequence[str]) -> Transcript:
        """One request for the JSON commands and one for the text ones; after a refusal the rest is asked again."""
        answers: dict[str, Reply] = {}
        for encoding in ("text", "json"):
            wanted = [c for c in dict.fromkeys(commands) if c.endswith(ask.JSON) == (encoding == "json")]
            answers.update(self._collect(wanted, encoding))
        return {command: answers[command] for command in dict.fromkeys(commands)}

    def ready(self) -> tuple[str, ...]:
        """What stands in the way, each with its remedy."""
        found = []
        try:
            detail = self._detail()
        except DeviceError as error:
            return (f"configuration sessions cannot be listed ({error.text}): log in with privilege 15",)
        sessions = detail.get("sessions", {})
        for name in _open(sessions):
            held = sessions[name].get("instances") or {}
            who = next((str(one["user"]) for one in held.values() if "user" in one), "somebody")
            found.append(
                f"{who} has the configuration session {name} open: finish it, or 'configure session {name} abort'"
            )
        timer = _timer(detail)
        if timer:
            found.append(
                f"session {timer[0]} waits for its confirmation: 'configure session {timer[0]} commit' or 'abort'"
            )
        if not found:
            try:
                self._run([f"configure session {_PROBE}", "abort"], "json")
            except LinkLost:
                raise
            except DeviceError as error:
                found.append(f"no configuration session can be opened ({error.text}): the user needs that right")
        replies = self.collect((ask.RUNNING, ask.STARTUP))
        if not same_configuration(replies[ask.RUNNING].text, replies[ask.STARTUP].text):
            found.append(
                "note: startup and running configuration differ: the confirm saves somebody's unsaved lines as well"
            )
        return tuple(found)

    def stage(self, token: Token, steps: Sequence[Step], facts: Facts) -> str:
        """Load the lines into the token's session; the device's own diff."""
        sessions = self._detail().get("sessions", {})
        others = [name for name in _open(sessions) if name != token.name]
        if others:
            raise DeviceError(
                self._link.device, "configure session", f"session {others[0]} is open: locked by another user"
            )
        with self._lent(token, f"configure session {token.name}"):
            if token.name in _open(sessions):
                self._driver.discard_config()  # left over by a process that died while staging
                self._driver.config_session = token.name
            self._driver.load_merge_candidate(config="\n".join(candidate(steps)))
            return str(self._driver.compare_config())

    def commit(self, token: Token, revert_in_s: int) -> None:
        """Commit with the switch's own timer."""
        if not 0 < revert_in_s < _TIMER_LIMIT_S:
            raise DeviceError(
                self._link.device, "commit timer", f"{revert_in_s} s is outside 1 s to {_TIMER_LIMIT_S - 1} s"
            )
        with self._lent(token, f"configure session {token.name} commit timer"):
            self._driver.commit_config(revert_in=revert_in_s)

    def confirm(self, token: Token) -> None:
        """Stop the timer and save. With no timer left there is only the saving to repeat, once it was committed."""
        detail = self._detail()
        timer = _timer(detail)
        if timer and timer[0] != token.name:
            raise DeviceError(self._link.device, "confirm", f"the timer of session {timer[0]} runs, which is not ours")
        with self._lent(token, f"configure session {token.name} commit"):
            if timer:
                self._driver.confirm_commit()
            elif _committed(detail, token.name):
                self._run(["write memory"], "text")

    def revert(self, token: Token) -> None:
        """Abort the token's session: a running timer rolls back at once, a staged candidate is dropped."""
        detail = self._detail()
        timer = _timer(detail)
        with self._lent(token, f"configure session {token.name} abort"):
            if timer and timer[0] == token.name:
                self._driver.rollback()
            elif token.name in _open(detail.get("sessions", {})):
                self._driver.discard_config()

    def pending(self, token: Token) -> Pending:
        """What is left of the token's transaction."""
        detail = self._detail()
        timer = _timer(detail)
        if timer:
            name, expires = timer
            if name != token.name:
                return Pending("foreign", owner=name)
            return Pending("reverting", seconds=max(0.0, expires - self._uptime()))
        waiting = _open(detail.get("sessions", {}))
        if token.name in waiting:
            return Pending("staged")
        return Pending("foreign", owner=waiting[0]) if waiting else Pending("idle")

    @property
    def _driver(self) -> Any:
        return self._link.driver

    @contextmanager
    def _lent(self, token: Token, command: str) -> Iterator[None]:
        """The driver holds the token's session for one call; what it raises becomes ours."""
        driver = self._driver
        driver.config_session = token.name
        try:
            with self._errors(command):
                yield
        finally:
            driver.config_session = None

    @contextmanager
    def _errors(self, command: str) -> Iterator[None]:
        from napalm.base.exceptions import ConnectionException, NapalmException
        from pyeapi.eapilib import CommandError
        from pyeapi.eapilib import ConnectionError as EapiConnectionError

        device = self._link.device
        try:
            yield
        except DeviceError:
            raise
        except CommandError as error:
            raise DeviceError(device, *_refusal(error, command)) from error
        except EapiConnectionError as error:
            if "401" in str(error) or "Unauthorized" in str(error):
                raise Unreachable(device, "login", "the switch refused user name or password") from error
            raise LinkLost(device, command, str(error)) from error
        except ConnectionException as error:
            raise LinkLost(device, command, str(error)) from error
        except NapalmException as error:
            raise DeviceError(device, *_refusal(error, command)) from error
        except (OSError, EOFError, ValueError) as error:  # ValueError: an answer that was cut is no JSON
            raise LinkLost(device, command, str(error) or type(error).__name__) from error

    def _run(self, commands: list[Any], encoding: str) -> list[Any]:
        with self._errors(str(commands[0])):
            return list(self._driver.device.run_commands(commands, encoding=encoding))

    def _detail(self) -> Mapping[str, Any]:
        return dict(self._run(["show configuration sessions detail"], "json")[0])

    def _uptime(self) -> float:
        return float(self._run(["show version"], "json")[0].get("uptime", 0.0))

    def _collect(self, wanted: list[str], encoding: str) -> dict[str, Reply]:
        from pyeapi.eapilib import CommandError

        answers: dict[str, Reply] = {}
        left = list(wanted)
        while left:
            asked = [_asked(command) for command in left]
            try:
                with self._errors_but_refusals(str(left[0])):
                    results = self._driver.device.run_commands(asked, encoding=encoding)
            except CommandError as error:
                at = _position(error, len(left))
                command = left.pop(at)
                answers[command] = Reply("", error=_refusal(error, command)[1], at=time.time())
                continue
            now = time.time()
            for command, result in zip(left, results, strict=True):
                text = json.dumps(result) if encoding == "json" else str(result.get("output", ""))
                answers[command] = Reply(text, at=now)
            break
        return answers

    @contextmanager
    def _errors_but_refusals(self, command: str) -> Iterator[None]:
        from pyeapi.eapilib import CommandError

        refused: CommandError | None = None
        with self._errors(command):
            try:
                yield
            except CommandError as error:
                refused = error
        if refused is not None:
            raise refused


def candidate(steps: Sequence[Step]) -> tuple[str, ...]:
    """The lines of all steps; no empty one, because an empty line would be sent as a command."""
    return tuple(line.strip() for step in steps for line in step.do.splitlines() if line.strip())


def same_configuration(one: str, other: str) -> bool:
    """Whether two configurations are equal but for comments (their headers carry dates)."""
    return _bare(one) == _bare(other)


def _bare(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith("!")]


def _asked(command: str) -> Any:
    bare = command.removesuffix(ask.JSON)
    revision = ask.REVISIONS.get(bare) if command.endswith(ask.JSON) else None
    return bare if revision is None else {"cmd": bare, "revision": revision}


def _open(sessions: Mapping[str, Any]) -> list[str]:
    return [name for name, entry in sessions.items() if entry.get("state") in _OPEN_STATES and name != _PROBE]


def _committed(detail: Mapping[str, Any], name: str) -> bool:
    return detail.get("sessions", {}).get(name, {}).get("state") in ("completed", "committed")


def _timer(detail: Mapping[str, Any]) -> tuple[str, float] | None:
    """(session, uptime at which it is undone). Since EOS 4.32 at the top, before that in the session itself."""
    if "commitTimerSessionName" in detail:
        return str(detail["commitTimerSessionName"]), float(detail.get("commitTimerExpireTime", -1))
    for name, entry in detail.get("sessions", {}).items():
        if "pendingCommitTimer" in str(entry.get("state", "")):
            return name, float(entry.get("commitBy", -1))
    return None


def _refusal(error: Exception, command: str) -> tuple[str, str]:
    """(command, the device's own words) of a refused line."""
    text = str(error)
    match = _FAILED.fullmatch(text, text.find("CLI command"))
    if match is None:
        return command, text
    return match[2], _own_words(match[4] or match[3])


def _own_words(text: str) -> str:
    """The device's sentence out of pyeapi's ``errors: ['...']``."""
    try:
        found = ast.literal_eval(text.removeprefix("errors: "))
    except (ValueError, SyntaxError):
        return text.strip()
    return "; ".join(map(str, found)) if isinstance(found, list) else text.strip()


def _position(error: Exception, count: int) -> int:
    """Which of ``count`` commands was refused; `enable` came before them."""
    text = str(error)
    match = _FAILED.fullmatch(text, text.find("CLI command"))
    at = int(match[1]) - 2 if match else 0
    return min(max(at, 0), count - 1)

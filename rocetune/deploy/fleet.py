"""All devices of a scope with their links and sessions, run through Nornir."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from nornir.core import Nornir
from nornir.core.configuration import Config as NornirConfig
from nornir.core.inventory import Groups, Host, Hosts, Inventory
from nornir.core.task import Result, Task

from rocetune.deploy.links import Endpoint, Refused, open_eapi, open_shell
from rocetune.deploy.runner import CancelRunner
from rocetune.model.facts import Facts
from rocetune.model.state import Transcript
from rocetune.platforms.base import DeviceError, LinkLost, Platform, Session, Unreachable

T = TypeVar("T")


@dataclass(slots=True)
class Member:
    """One device of the fleet: how it is reached, and what is open to it."""

    name: str
    platform: Platform
    endpoint: Endpoint
    facts: Facts | None = None
    greeting: Transcript = field(default_factory=dict)  # the answers that the facts were read from
    _link: Any = field(default=None, repr=False)
    _session: Session | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What one device gave: a value or an error."""

    value: T | None = None
    error: DeviceError | None = None


class Fleet:
    """Opens links on first use, keeps them, and runs work on many devices at a time."""

    def __init__(
        self, members: Iterable[Member], *, workers: int = 16, own_keys: Path | None = None, accept_new: bool = False
    ) -> None:
        self.members: Mapping[str, Member] = {member.name: member for member in members}
        self.cancel = threading.Event()
        self._own_keys, self._accept_new = own_keys, accept_new
        hosts = Hosts({name: Host(name=name) for name in self.members})
        self._nornir = Nornir(
            inventory=Inventory(hosts=hosts, groups=Groups()),
            runner=CancelRunner(workers, self.cancel),
            config=NornirConfig(),
        )

    def each(
        self,
        names: Iterable[str],
        work: Callable[[Member], T],
        done: Callable[[str, Answer[T]], None] | None = None,
    ) -> dict[str, Answer[T]]:
        """Run ``work`` on each device. DeviceErrors become answers; other exceptions are defects and propagate.

        Devices that were not started before a cancel are absent.
        """
        wanted = set(names)

        def task(task: Task) -> Result:
            name = task.host.name
            answer: Answer[T]
            try:
                answer = Answer(work(self.members[name]))
            except DeviceError as error:
                answer = Answer(error=error)
            if done is not None:
                done(name, answer)
            return Result(host=task.host, result=answer)

        outcome = self._nornir.filter(filter_func=lambda host: host.name in wanted).run(task=task)
        answers: dict[str, Answer[T]] = {}
        for name, multi in sorted(outcome.items()):
            if multi.exception is not None:
                raise multi.exception
            answers[name] = multi[0].result
        return answers

    def session(self, name: str) -> Session:
        """The open session of a device, opened now if need be. Raises Unreachable."""
        member = self.members[name]
        if member._session is None:
            member._link = self._open(member)
            member._session = member.platform.session(member._link, member.facts)
        return member._session

    def drop(self, name: str) -> None:
        """Forget a broken link so that the next use opens a new one."""
        member = self.members[name]
        if member._link is not None:
            member._link.close()
        member._link = member._session = None

    def learned(self, name: str, facts: Facts, greeting: Transcript) -> None:
        """Facts read from a device; its session is made anew with them over the same link."""
        member = self.members[name]
        member.facts, member.greeting = facts, greeting
        if member._link is not None:
            member._session = member.platform.session(member._link, facts)

    def close(self) -> None:
        """Close every link."""
        for name in self.members:
            self.drop(name)

    def _open(self, member: Member) -> Any:
        if member.platform.transport == "napalm:eos":
            return open_eapi(member.name, member.endpoint)
        return open_shell(member.name, member.endpoint, member.platform.transport, self._own_keys, self._accept_new)


__all__ = ["Answer", "DeviceError", "Fleet", "LinkLost", "Member", "Refused", "Unreachable"]

"""What one emulated device is to the lab: the contract between the frame (sockets, faults, clock) and an OS emulator.

Emulation is for rehearsal and tests. It is no proof about a real ASIC.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from rocetune.model.plan import DevicePlan


@dataclass(slots=True)
class ShellResult:
    """Answer of one exec request."""

    status: int
    stdout: str = ""
    stderr: str = ""
    drop: bool = False  # the connection is cut before the answer is sent


@dataclass(frozen=True, slots=True)
class Fault:
    """One injected trouble. ``port`` and ``value`` mean what the fault's name says; ``count`` 0 = until cleared."""

    name: str
    port: str | None = None
    value: str | None = None
    count: int = 0


class EapiError(Exception):
    """An eAPI error reply: code, message and the data list as EOS returns it."""

    def __init__(self, code: int, message: str, data: list[Any]) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class Neighborhood(Protocol):
    """The rest of the lab as one device sees it over its cables."""

    def peer(self, device: str, port: str) -> tuple[str, str] | None:
        """(device, port) at the other end of a cable, in inventory names."""
        ...

    def emulator(self, device: str) -> Emulator | None:
        """The emulator of another device."""
        ...


@dataclass(slots=True)
class LabDevice:
    """What the frame hands to an emulator. ``plan`` gives ports, speeds and cables (intent is not applied)."""

    name: str
    plan: DevicePlan
    folder: Path  # the emulator's own persistent state lives here
    now: Callable[[], float]  # seconds since epoch, injected: timers never sleep in tests
    neighborhood: Neighborhood
    faults: Callable[[], tuple[Fault, ...]]  # current faults of this device, read anew at each call
    options: Mapping[str, str] = field(default_factory=dict)


class Emulator(ABC):
    """One emulated device. Methods are called from one thread at a time per device.

    Faults the frame itself handles: unreachable, slow (value = milliseconds per request), drop_session (cuts the
    connection at the next request that matches ``value`` as a substring, count times), reboot (calls
    :meth:`reboot`). All other names go to :meth:`inject` once, when they are set, and are visible through
    ``LabDevice.faults``.
    """

    transport: str  # "eapi" or "ssh"
    prompt: str = "$ "
    FAULTS: ClassVar[Mapping[str, str]] = {}  # names that inject() takes -> one line for `lab status`
    boots: int = 0  # raise it in reboot(): the frame cuts the device's open connections when it changes

    def __init__(self, device: LabDevice) -> None:
        self.device = device

    def prepare(self) -> None:  # noqa: B027
        """Make ahead what the first request would otherwise wait for."""

    @abstractmethod
    def run(self, command: str, stdin: bytes) -> ShellResult:
        """One exec request over SSH (for eAPI devices: raise NotImplementedError)."""

    def run_cmds(self, cmds: list[Any], fmt: str) -> list[Any]:
        """One eAPI runCmds request. Raises EapiError."""
        raise NotImplementedError

    @abstractmethod
    def tick(self) -> None:
        """Fire timers that are due by ``device.now()``. The frame calls it before every request and once a second."""

    @abstractmethod
    def inject(self, fault: Fault) -> str:
        """Apply a fault that changes the device's own state; a sentence on what was done. ValueError if unknown."""

    @abstractmethod
    def clear(self, fault: Fault) -> None:
        """A fault was lifted: undo what :meth:`inject` did, where it is not a lasting mis-setting."""

    @abstractmethod
    def reboot(self) -> None:
        """Power cycle: running state returns to what was persisted; timers and sessions are gone."""

    def said(self, command: str, stdin: bytes) -> str:
        """The words of an exec request that a fault's ``value`` is looked for in."""
        return command + "\n" + stdin.decode("utf-8", "replace")

    def counters(self, port: str) -> Mapping[str, int]:
        """Counters this port shows now (names of rocetune.model.state.Sample), for the peer's emulator to mirror.

        The only method that a neighbour's thread may call: it must not wait for anything and not call a peer.
        """
        return {}

"""The contract between rocetune and one vendor.

A platform is pure (text and data in, text and data out) except for the session it opens. Nothing outside its
package may know its commands, its limits or its configuration words. Registered by the entry-point group
``rocetune.platforms``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from rocetune.model.change import Change, Config, Key, KeyRule, Rendered, Step
from rocetune.model.facts import Facts
from rocetune.model.plan import Assumption, DevicePlan
from rocetune.model.qos import Path
from rocetune.model.state import State, Transcript
from rocetune.model.transaction import Pending, Token

Purpose = Literal["facts", "config", "state", "counters"]


class DeviceError(Exception):
    """A device refused or failed. ``device`` and ``command`` name the place, ``text`` is its own words."""

    def __init__(self, device: str, command: str, text: str) -> None:
        super().__init__(f"{device}: {command}: {text}")
        self.device, self.command, self.text = device, command, text


class LinkLost(DeviceError):
    """The connection ended; whether the last command took effect is not known."""


class Unreachable(DeviceError):
    """No connection could be made."""


class Completed(Protocol):
    """Result of one command over SSH."""

    status: int
    stdout: str
    stderr: str


class ShellLink(Protocol):
    """A connection on which every command is its own exec channel: exit status, stdin, no echo, no prompt.

    Raises LinkLost when the connection drops, DeviceError on time-out. Transports "netmiko:linux" and "ssh".
    """

    device: str

    def run(self, command: str, stdin: bytes | None = None, timeout_s: float = 60.0) -> Completed: ...


class EapiLink(Protocol):
    """A NAPALM driver, open. Transport "napalm:eos"."""

    device: str
    driver: Any


class Session(Protocol):
    """I/O with one device over one link. Every method may raise DeviceError, LinkLost or Unreachable."""

    def collect(self, commands: Sequence[str]) -> Transcript:
        """Run read-only commands in as few round trips as possible; a refused one carries its error."""
        ...

    def ready(self) -> tuple[str, ...]:
        """Prechecks: what stands in the way (rights, foreign locks, pending timers), each with its remedy.

        A text that begins with ``note: `` is shown and stops nothing.
        """
        ...

    def stage(self, token: Token, steps: Sequence[Step], facts: Facts) -> str:
        """Bring the candidate to the device, nothing live yet; the device's own diff or ""."""
        ...

    def commit(self, token: Token, revert_in_s: int) -> None:
        """Arm the undo, then make the candidate live. An error after arming leaves the undo armed."""
        ...

    def confirm(self, token: Token) -> None:
        """Disarm the undo and persist. Idempotent, and works from another process than the committer."""
        ...

    def revert(self, token: Token) -> None:
        """Undo now. Idempotent, and works from another process than the committer."""
        ...

    def pending(self, token: Token) -> Pending:
        """What is left of a token's transaction on the device."""
        ...


@runtime_checkable
class Platform(Protocol):
    """One switch OS, or Linux servers."""

    name: str
    transport: Literal["napalm:eos", "netmiko:linux", "ssh"]
    running_suffix: str  # of a saved running configuration: ".cfg", ".json", ".settings"
    safety: str  # how undo works here, one sentence for `rocetune platforms`
    confirmed: tuple[str, ...]  # facts seen in vendor documents or real output, with source
    unconfirmed: tuple[Assumption, ...]  # what is believed only; shown in plan and `platforms`
    owned: tuple[KeyRule, ...]
    sonic_tables: bool  # headroom comes from SONiC's pg_profile_lookup.ini, which makers copy from chip to chip
    alphas: str  # how it writes the factor of a dynamic threshold: a key of alpha_encodings.yaml; empty: it does not
    one_headroom: bool  # all lossless ports of a switch get the largest headroom that any of them needs

    def commands(self, purpose: Purpose, facts: Facts | None) -> tuple[str, ...]:
        """Commands to collect. For "config" the first one's reply is the running configuration for parse()."""
        ...

    def facts(self, transcript: Transcript) -> Facts:
        """What the device is; leaves stay None where the transcript does not say."""
        ...

    def declared(self, plan: DevicePlan) -> Facts:
        """Facts for offline work, from the inventory's ``declared`` and the planned ports."""
        ...

    def saved_facts(self, text: str, declared: Facts) -> Facts:
        """Facts for offline work, completed by what a saved running configuration says."""
        ...

    def fit(self, plan: DevicePlan, facts: Facts) -> DevicePlan:
        """The plan as this device can have it: native names, rounding, ceilings, Unsupported; Why extended."""
        ...

    def render(self, plan: DevicePlan, facts: Facts) -> Rendered:
        """Configuration of the managed scope, deterministic bytes."""
        ...

    def parse(self, text: str, facts: Facts) -> Config:
        """Running or rendered text to the flat map. Only keys this platform may own, canonical values."""
        ...

    def desired(self, rendered: Rendered, running: Config | None, plan: DevicePlan, facts: Facts) -> Config:
        """The rendered text parsed, completed by what depends on the running side (None offline without one)."""
        ...

    def origin(self, key: Key, plan: DevicePlan) -> Path:
        """Where in the plan a key's value comes from: (native port or "", leaf path...), () if unknown."""
        ...

    def steps(self, changes: Sequence[Change], running: Config, facts: Facts) -> tuple[Step, ...]:
        """Ordered native steps for these changes, each with the inverse that restores ``running``."""
        ...

    def read(self, device: str, transcript: Transcript, facts: Facts) -> State:
        """Observed QoS, settings and one counter sample."""
        ...

    def remedy(self, path: Path, value: object, facts: Facts, plan: DevicePlan | None = None) -> tuple[str, ...]:
        """Commands a person types to set one leaf; () where none is known. Path starts with the port.

        ``plan`` (fitted) lets the lines name the objects that rocetune made. What does not persist by itself is
        saved by the last line.
        """
        ...

    def session(self, link: Any, facts: Facts | None) -> Session:
        """A session over an open link of this platform's transport."""
        ...


def managed_ports(plan: DevicePlan) -> frozenset[str]:
    """Native names of the ports that may be written."""
    return frozenset(item.native for item in plan.managed)


def texts(transcript: Transcript) -> Mapping[str, str]:
    """Only the answers that came without an error."""
    return {command: reply.text for command, reply in transcript.items() if reply.error is None}

"""The product's session against an emulated switch, without sockets: the link calls the emulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocetune.deploy.compare import Ownership, Scope, compare
from rocetune.lab.device import Emulator, Fault, LabDevice, ShellResult
from rocetune.lab.sonic import SonicEmulator
from rocetune.model.change import Change, Config
from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan
from rocetune.model.state import State
from rocetune.model.transaction import Token
from rocetune.platforms.base import LinkLost, managed_ports
from rocetune.platforms.sonic import PLATFORM
from rocetune.platforms.sonic.session import SonicSession


@dataclass
class Cables:
    """Neighbours by (device, port)."""

    ends: Mapping[tuple[str, str], tuple[str, str]]
    others: dict[str, Any] = field(default_factory=dict)

    def peer(self, device: str, port: str) -> tuple[str, str] | None:
        return self.ends.get((device, port))

    def emulator(self, device: str) -> Emulator | None:
        return self.others.get(device)


class Rig:
    """One emulated leaf and all that the deploy layer does with it."""

    def __init__(self, plan: DevicePlan, folder: Path, **options: str) -> None:
        self.plan = plan
        self.time = 1_700_000_000.0
        self.device = plan.device.name
        self.faults: list[Fault] = []
        self.options = options
        self.before: Callable[[str], None] = lambda text: None  # called with every request
        ends = {(self.device, item.native): item.port.peer for item in plan.ports if item.port.peer}
        self.cables = Cables(ends)
        self.folder = folder / "switch"
        self.emulator = self.start()
        transcript = self.session().collect(PLATFORM.commands("facts", None))
        self.facts: Facts = PLATFORM.facts(transcript)

    def start(self) -> SonicEmulator:
        """A new emulator process on the same folder."""
        return SonicEmulator(
            LabDevice(
                self.device,
                self.plan,
                self.folder,
                lambda: self.time,
                self.cables,
                lambda: tuple(self.faults),
                self.options,
            )
        )

    # ShellLink
    def run(self, command: str, stdin: bytes | None = None, timeout_s: float = 60.0) -> ShellResult:
        self.emulator.tick()
        self.before((stdin or b"").decode())
        done = self.emulator.run(command, stdin or b"")
        if done.drop:
            raise LinkLost(self.device, command, "cut")
        return done

    def session(self) -> SonicSession:
        """A session that remembers nothing of earlier ones, as another process would have it."""
        return PLATFORM.session(self, None)

    def running(self) -> Config:
        command = PLATFORM.commands("config", self.facts)[0]
        return PLATFORM.parse(self.session().collect([command])[command].text, self.facts)

    def fitted(self, plan: DevicePlan | None = None) -> DevicePlan:
        return PLATFORM.fit(plan or self.plan, self.facts)

    def desired(self, plan: DevicePlan | None = None) -> Config:
        fitted = self.fitted(plan)
        return PLATFORM.desired(PLATFORM.render(fitted, self.facts), self.running(), fitted, self.facts)

    def changes(self, plan: DevicePlan | None = None) -> tuple[Change, ...]:
        fitted = self.fitted(plan)
        scope = Scope(managed_ports(fitted), fitted.device.globals_mode)
        found = compare(self.running(), self.desired(plan), PLATFORM.owned, scope)
        assert not found.refused
        return found.changes

    def back_to(self, config: Config) -> tuple[Change, ...]:
        """What rollback would change."""
        scope = Scope(managed_ports(self.plan), self.plan.device.globals_mode)
        return compare(self.running(), self.mine(config), PLATFORM.owned, scope).changes

    def mine(self, config: Config) -> Config:
        """The part of a configuration that rocetune owns here: what a journal keeps."""
        ownership = Ownership(PLATFORM.owned, managed_ports(self.plan))
        return {key: value for key, value in config.items() if ownership.rule(key) is not None}

    def state(self) -> State:
        commands = (*PLATFORM.commands("state", self.facts), *PLATFORM.commands("counters", self.facts))
        return PLATFORM.read(self.device, self.session().collect(commands), self.facts)

    def push(self, changes: Sequence[Change]) -> None:
        """Phase by phase, each in a session of its own."""
        for token, part in phases(changes, self.device):
            self.transact(token, part)
            self.session().confirm(token)

    def transact(self, token: Token, part: Sequence[Change]) -> None:
        session = self.session()
        session.stage(token, PLATFORM.steps(part, self.running(), self.facts), self.facts)
        session.commit(token, 120)
        running = self.running()
        for change in part:
            assert running.get(change.key) == change.new, change


def phases(changes: Sequence[Change], device: str = "leaf2") -> list[tuple[Token, list[Change]]]:
    """Additions forward through the phases, removals backward."""
    made = []
    for removal in (False, True):
        chosen = [change for change in changes if (change.op == "remove") == removal]
        for phase in sorted({change.phase for change in chosen}, reverse=removal):
            made.append((Token("r1", device, phase, removal), [c for c in chosen if c.phase == phase]))
    return made

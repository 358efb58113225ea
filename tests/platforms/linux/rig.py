"""A small server for tests: two rails and a storage port of the demo rack, on the emulator without sockets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rocetune.deploy.compare import Scope, compare
from rocetune.lab.device import Fault, LabDevice, ShellResult
from rocetune.lab.server import ServerEmulator
from rocetune.model.change import Change, Config, Phase
from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan
from rocetune.model.transaction import Token
from rocetune.platforms.base import managed_ports
from rocetune.platforms.linux import PLATFORM
from tests.platforms.builders import device_plan, port_plan, rail_qos, setting, with_host

ENVIRONMENT = (("NCCL_IB_TC", "106"), ("UCX_IB_TRAFFIC_CLASS", "106"))


def server_plan(**host: object) -> DevicePlan:
    """gpu01 with rail0, rail1 and an untouched stor0."""
    qos = with_host(rail_qos())
    assert qos.host is not None
    if host:
        qos = replace(qos, host=replace(qos.host, **host))  # type: ignore[arg-type]
    made = setting(qos=qos)
    ports = (
        port_plan("gpu01", "rail0", made, select="netdev:ens11np0"),
        port_plan("gpu01", "rail1", made, select="netdev:ens12np0"),
        port_plan("gpu01", "stor0", made, select="netdev:ens20f0np0", manage="observe", role="storage"),
    )
    plan = device_plan("gpu01", "linux", ports, kind="server")
    return replace(plan, qos=replace(plan.qos, environment=ENVIRONMENT))


class _Alone:
    def peer(self, device: str, port: str) -> tuple[str, str] | None:
        return None

    def emulator(self, device: str) -> None:
        return None


class Server:
    """The emulator as a link, with a clock of its own and the platform's calls at hand."""

    device = "gpu01"

    def __init__(self, folder: Path, plan: DevicePlan | None = None, options: Mapping[str, str] | None = None) -> None:
        self.now = 1_800_000_000.0
        self.faults: tuple[Fault, ...] = ()
        self.plan = plan or server_plan()
        lab = LabDevice(
            self.device, self.plan, folder, lambda: self.now, _Alone(), lambda: self.faults, dict(options or {})
        )
        self.emulator = ServerEmulator(lab)
        self.session = PLATFORM.session(self, None)
        self.facts: Facts = PLATFORM.facts(self.session.collect(PLATFORM.commands("facts", None)))
        self.fitted = PLATFORM.fit(self.plan, self.facts)
        self.rendered = PLATFORM.render(self.fitted, self.facts)

    def run(self, command: str, stdin: bytes | None = None, timeout_s: float = 60.0) -> ShellResult:
        self.emulator.tick()
        return self.emulator.run(command, stdin or b"")

    def running(self) -> Config:
        commands = PLATFORM.commands("config", self.facts)
        reply = self.session.collect(commands)[commands[0]]
        assert reply.error is None, reply.error
        return PLATFORM.parse(reply.text, self.facts)

    def changes(self, wanted: Config | None = None) -> tuple[Change, ...]:
        running = self.running()
        if wanted is None:
            wanted = PLATFORM.desired(self.rendered, running, self.fitted, self.facts)
        return compare(running, wanted, PLATFORM.owned, Scope(managed_ports(self.fitted))).changes

    def stage(self, run: str, phase: Phase, changes: tuple[Change, ...]) -> Token:
        token = Token(run, self.device, phase)
        self.session.stage(token, PLATFORM.steps(changes, self.running(), self.facts), self.facts)
        return token

    def push(self, run: str, phase: Phase, wanted: Config | None = None, confirm: bool = True) -> Token:
        changes = tuple(change for change in self.changes(wanted) if change.phase == phase)
        token = self.stage(run, phase, changes)
        self.session.commit(token, 60)
        if confirm:
            self.session.confirm(token)
        return token

    def push_all(self, run: str = "r1", wanted: Config | None = None) -> None:
        for phase in (Phase.SERVER, Phase.MARKING):
            self.push(run, phase, wanted)

    def file(self, path: str) -> Path:
        return self.emulator.root / path.lstrip("/")

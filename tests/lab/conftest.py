"""Plans by hand and dummy emulators, so that the lab is tested without planner and platforms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from rocetune.lab import frame
from rocetune.lab.clock import ManualClock
from rocetune.lab.device import EapiError, Emulator, Fault, ShellResult
from rocetune.lab.serve import LabServer
from rocetune.model.fabric import Device, Port
from rocetune.model.plan import DevicePlan, Plan, PortPlan, Setting
from rocetune.model.profile import Profile
from rocetune.model.qos import PortQos

SETTING = Setting(
    name="backend-400g-2m",
    network="backend",
    profile=Profile(name="lab", classes={"default": {"priority": 0}}),  # type: ignore[dict-item]
    qos=PortQos(),
    why={},
)


class EchoEmulator(Emulator):
    """An SSH device that answers with what it was asked."""

    transport = "ssh"
    prompt = "echo:~$ "
    FAULTS: ClassVar[Mapping[str, str]] = {"bend": "a setting is bent"}

    def __init__(self, device: Any) -> None:
        super().__init__(device)
        self.ran: list[str] = []
        self.ticks: list[float] = []
        self.injected: list[Fault] = []
        self.cleared: list[Fault] = []

    def run(self, command: str, stdin: bytes) -> ShellResult:
        self.ran.append(command)
        if command == "fail":
            return ShellResult(3, "", "no such thing\n")
        if command == "die":
            return ShellResult(0, "never seen", drop=True)
        return ShellResult(0, f"{command}<{stdin.decode()}>\n")

    def tick(self) -> None:
        self.ticks.append(self.device.now())

    def inject(self, fault: Fault) -> str:
        if fault.value == "impossible":
            raise ValueError("no such port")
        self.injected.append(fault)
        return f"bent {fault.port}"

    def clear(self, fault: Fault) -> None:
        self.cleared.append(fault)

    def reboot(self) -> None:
        self.ran.append("REBOOT")
        self.boots += 1


class ApiEmulator(EchoEmulator):
    """An eAPI device that knows ``show version`` and little else."""

    transport = "eapi"

    def run_cmds(self, cmds: list[Any], fmt: str) -> list[Any]:
        self.ran.extend(cmd if isinstance(cmd, str) else cmd["cmd"] for cmd in cmds)
        if "boom" in cmds:
            place = cmds.index("boom") + 1
            text = f"CLI command {place} of {len(cmds)} 'boom' failed: invalid command"
            raise EapiError(1002, text, [*({} for _ in cmds[: place - 1]), {"errors": ["Invalid input"]}])
        facts = {"version": "4.36.0F", "uptime": 10.0, "modelName": "DCS-7060DX4-32", "serialNumber": "LAB"}
        return [({"output": "text\n"} if fmt == "text" else dict(facts) if "show" in str(cmd) else {}) for cmd in cmds]


KINDS: Mapping[str, type[Emulator]] = {"echo": EchoEmulator, "api": ApiEmulator}


def device(name: str, platform: str, ports: Mapping[str, tuple[str, str] | None]) -> DevicePlan:
    """A device plan with these ports: name -> peer."""
    owner = Device(name=name, kind="switch", platform=platform)
    items = tuple(
        PortPlan(Port(device=name, name=port, speed_mbps=400_000, peer=peer), port, SETTING)
        for port, peer in ports.items()
    )
    return DevicePlan(owner, items)


def plan_of(*devices: DevicePlan) -> Plan:
    """A plan of these devices."""
    return Plan({item.device.name: item for item in devices}, (SETTING,))


@pytest.fixture
def clock() -> ManualClock:
    """A clock that the test moves."""
    return ManualClock()


@pytest.fixture
def dummies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Platforms ``echo`` and ``api`` exist."""
    monkeypatch.setattr(frame, "emulator_class", KINDS.__getitem__)


@pytest.fixture
def start(tmp_path: Path, clock: ManualClock) -> Iterator[Callable[..., LabServer]]:
    """Starts lab servers that end with the test."""
    running: list[LabServer] = []

    def begin(plan: Plan, **more: Any) -> LabServer:
        server = LabServer(plan, more.pop("root", tmp_path / "lab"), clock=more.pop("clock", clock), **more)
        running.append(server.__enter__())
        return server

    yield begin
    for server in running:
        server.close()

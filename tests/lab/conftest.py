"""Plans by hand and dummy emulators, so that the lab is tested without planner and platforms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from rocetune.lab import frame
from rocetune.lab.clock import ManualClock
from rocetune.lab.device import EapiError, Emulator, Fault, LabDevice, ShellResult
from rocetune.lab.serve import LabServer
from rocetune.lab.server import ServerEmulator
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


RAILS = 2


def server_plan(name: str = "gpu01") -> DevicePlan:
    """A server with two rails and a storage port."""
    rows = [(f"rail{index}", "rail", 400_000, f"ens{11 + index}np0") for index in range(RAILS)]
    rows.append(("stor0", "storage", 100_000, "ens20f0np0"))
    ports = tuple(
        PortPlan(
            Port(device=name, name=port, role=role, speed_mbps=speed, cable_m=2.0, select=f"netdev:{netdev}"),
            netdev,
            SETTING,
        )
        for port, role, speed, netdev in rows
    )
    return DevicePlan(Device(name=name, kind="server", platform="linux", role="gpu"), ports)


class Server:
    """An emulated server with a handle on its clock and faults."""

    def __init__(self, folder: Path, clock: ManualClock, options: Mapping[str, str]) -> None:
        self.clock, self.faults = clock, list[Fault]()
        self.emulator = ServerEmulator(
            LabDevice(
                name="gpu01",
                plan=server_plan(),
                folder=folder / "state",
                now=clock,
                neighborhood=frame.Cabling(plan_of(), lambda name: None),
                faults=lambda: tuple(self.faults),
                options=options,
            )
        )
        self.root = self.emulator.root

    def __call__(self, command: str, stdin: str = "") -> ShellResult:
        return self.emulator.run(command, stdin.encode())

    def ok(self, command: str, stdin: str = "") -> str:
        """Standard output of a command that must succeed."""
        result = self(command, stdin)
        assert result.status == 0, (command, result)
        return result.stdout

    def inject(self, name: str, port: str | None = None, value: str | None = None) -> str:
        """Set a fault as the frame would."""
        fault = Fault(name, port, value)
        said = self.emulator.inject(fault)
        self.faults.append(fault)
        return said

    def later(self, seconds: float) -> None:
        """Let time pass and timers fire."""
        self.clock.advance(seconds)
        self.emulator.tick()


@pytest.fixture
def make_server(tmp_path: Path, clock: ManualClock) -> Callable[..., Server]:
    """Makes emulated servers; keyword arguments are emulator options."""
    return lambda **options: Server(tmp_path, clock, options)


@pytest.fixture
def server(make_server: Callable[..., Server]) -> Server:
    """A server with OFED drivers at factory settings."""
    return make_server()


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

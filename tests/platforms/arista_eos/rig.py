"""The real NAPALM driver against an emulated switch, without sockets: pyeapi's connection is replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from napalm.eos.eos import EOSDriver
from pyeapi.eapilib import CommandError, EapiConnection
from pyeapi.eapilib import ConnectionError as EapiConnectionError

from rocetune.deploy.compare import Scope, compare
from rocetune.lab.device import EapiError, Emulator, Fault, LabDevice
from rocetune.lab.eos import EosEmulator
from rocetune.model.change import Change, Config
from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan
from rocetune.model.state import State
from rocetune.platforms.arista_eos import PLATFORM
from rocetune.platforms.arista_eos.session import EosSession
from rocetune.platforms.base import managed_ports


@dataclass
class Cables:
    """Neighbours by (device, port)."""

    ends: Mapping[tuple[str, str], tuple[str, str]]
    others: dict[str, Any] = field(default_factory=dict)

    def peer(self, device: str, port: str) -> tuple[str, str] | None:
        return self.ends.get((device, port))

    def emulator(self, device: str) -> Emulator | None:
        return self.others.get(device)


class Wire(EapiConnection):  # type: ignore[misc]
    """pyeapi's connection with the socket taken out. ``cut_after`` cuts the answer of a matching request."""

    emulator: EosEmulator

    def __init__(self, host: str, username: str, password: str, timeout: int = 60, **_: Any) -> None:
        super().__init__()
        self.requests: list[tuple[str, list[Any]]] = []
        self.cut_after: str | None = None
        self.cut_before: str | None = None

    def send(self, data: str) -> Any:
        message = json.loads(data)
        cmds, fmt = message["params"]["cmds"], message["params"]["format"]
        self.requests.append((fmt, cmds))
        text = json.dumps(cmds)
        if self.cut_before and self.cut_before in text:
            raise EapiConnectionError("https", "Socket error during eAPI connection: reset")
        try:
            result = self.emulator.run_cmds(cmds, fmt)
        except EapiError as error:
            reply = {"error": {"code": error.code, "message": error.message, "data": error.data}}
            code, msg, err, out = self._parse_error_message(reply)
            raise CommandError(code, msg, command_error=err, output=out) from error
        if self.cut_after and self.cut_after in text:
            raise EapiConnectionError("https", "Socket error during eAPI connection: reset")
        return {"jsonrpc": "2.0", "id": message["id"], "result": json.loads(json.dumps(result))}


@dataclass
class Link:
    device: str
    driver: Any


class Rig:
    """One emulated switch, its clock and its faults, and sessions over the real driver."""

    def __init__(self, plan: DevicePlan, folder: Path, version: str = "4.36.0F") -> None:
        self.plan, self.folder, self.version = plan, folder, version
        self.time = 1_000_000.0
        self.fault_list: list[Fault] = []
        ends = {("leaf1", item.port.name): item.port.peer for item in plan.ports if item.port.peer}
        self.cables = Cables(ends)  # type: ignore[arg-type]
        self.boot()
        self.facts = self.read_facts()

    def boot(self) -> None:
        """Start the emulator anew from its folder, as another process would."""
        self.emulator = EosEmulator(
            LabDevice("leaf1", self.plan, self.folder, lambda: self.time, self.cables, lambda: tuple(self.fault_list),
                      {"os_version": self.version})
        )  # fmt: skip

    def driver(self) -> Any:
        """A new, open driver: what another process would have."""
        wire = type("BoundWire", (Wire,), {"emulator": self.emulator})
        driver = EOSDriver("leaf1", "admin", "secret", optional_args={"transport": wire})
        driver.open()
        return driver

    def session(self, driver: Any = None) -> EosSession:
        return PLATFORM.session(Link("leaf1", driver or self.driver()), None)

    def read_facts(self) -> Facts:
        return PLATFORM.facts(self.session().collect(PLATFORM.commands("facts", None)))

    def running_text(self) -> str:
        command = PLATFORM.commands("config", None)[0]
        return self.session().collect((command,))[command].text

    def running(self) -> Config:
        return PLATFORM.parse(self.running_text(), self.facts)

    def fitted(self, plan: DevicePlan | None = None) -> DevicePlan:
        return PLATFORM.fit(plan or self.plan, self.facts)

    def changes(self, plan: DevicePlan | None = None) -> tuple[Change, ...]:
        fitted = self.fitted(plan)
        running = self.running()
        desired = PLATFORM.desired(PLATFORM.render(fitted, self.facts), running, fitted, self.facts)
        scope = Scope(managed_ports(fitted), fitted.device.globals_mode)
        return compare(running, desired, PLATFORM.owned, scope).changes

    def back_to(self, before: Config, plan: DevicePlan | None = None) -> tuple[Change, ...]:
        """Changes from the running configuration back to a saved map, as a rollback makes them."""
        scope = Scope(managed_ports(self.fitted(plan)), "exclusive")
        return compare(self.running(), before, PLATFORM.owned, scope).changes

    def state(self) -> State:
        return PLATFORM.read("leaf1", self.session().collect(PLATFORM.commands("state", self.facts)), self.facts)

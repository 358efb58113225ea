"""An emulated EOS switch behind eAPI: sessions with a commit timer, a strict grammar, show output from configuration.

The contract of requests and replies was recorded from napalm 5.2.0 and pyeapi 1.0.4. CLI mode never persists
between requests; only named sessions do. Emulation for rehearsal and tests, no proof about a real ASIC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from rocetune.lab import eos_faults, eos_show, eos_tree
from rocetune.lab.device import EapiError, Emulator, Fault, LabDevice, ShellResult
from rocetune.lab.eos_cli import MAX_OPEN, NoJson, Request
from rocetune.lab.eos_grammar import INVALID, JERICHO, UNAVAILABLE, Hardware, Refused
from rocetune.lab.eos_store import Store
from rocetune.lab.eos_tree import Block, Tree

_HEADER = "! Command: {command}\n! device: {host} ({model}, EOS-{version})\n!\n"


class EosEmulator(Emulator):
    """One emulated EOS switch."""

    transport = "eapi"
    FAULTS: ClassVar[Mapping[str, str]] = eos_faults.FAULTS

    def __init__(self, device: LabDevice) -> None:
        super().__init__(device)
        said = {**device.plan.device.declared, **device.options}
        self._model = said.get("model", "DCS-7060DX4-32")
        self._version = said.get("os_version", "4.36.0F")
        asic = said.get("asic", "Tomahawk 3")
        self._hardware = JERICHO if asic.lower().startswith("jericho") else Hardware()
        planned = {item.native: item for item in device.plan.ports}
        speeds = {name: item.port.speed_mbps or 400_000 for name, item in planned.items()}
        front = {f"Ethernet{n}/1": 400_000 for n in range(1, 33)}
        self._ports: dict[str, int] = {**front, **speeds, "Management1": 1_000}
        self._names = {item.native: item.port.name for item in planned.values()}
        file = device.folder / "eos.json"
        store = Store.load(file)
        if store is None:
            store = Store(file, booted=device.now())
            self._factory(store)
            store.save()
        self._store = store

    # Contract of the lab -------------------------------------------------------------------------------------------

    def run(self, command: str, stdin: bytes) -> ShellResult:
        """This switch is reached through eAPI only."""
        raise NotImplementedError

    def run_cmds(self, cmds: list[Any], fmt: str) -> list[Any]:
        """One request. Raises EapiError with the data of the commands before the refused one."""
        self.tick()
        done: list[Any] = []
        request = Request(self)
        try:
            for at, given in enumerate(cmds):
                line = str(given.get("cmd", "")) if isinstance(given, dict) else str(given)
                place = f"CLI command {at + 1} of {len(cmds)} '{line}' failed"
                try:
                    if at == 0 and line != "enable" and not line.startswith("show"):
                        raise Refused(f"{INVALID} (privileged mode required)")
                    done.append(request.answer(" ".join(line.split()), fmt))
                except Refused as error:
                    hardware = str(error) == UNAVAILABLE
                    code, reason = (1000, "could not run command") if hardware else (1002, "invalid command")
                    raise EapiError(code, f"{place}: {reason}", [*done, {"errors": [str(error)]}]) from error
                except NoJson as error:
                    data = [*done, {"errors": ["Command cannot be used over the API"]}]
                    raise EapiError(1003, f"{place}: unconverted command", data) from error
        finally:
            self._store.save()
        return done

    def tick(self) -> None:
        """Fire due timers."""
        if self._store.expire(self.device.now()):
            self._store.save()

    def inject(self, fault: Fault) -> str:
        """Bend a setting, or open somebody's session."""
        if fault.name == "refuse_line":
            if not fault.value:
                raise ValueError("refuse_line needs a value: a part of the line")
            return f"lines with {fault.value!r} are refused"
        if fault.name == "foreign_session":
            name = fault.value or "cvp-4711"
            self._store.open(name, self.device.now())["user"] = "cvpadmin"
            self._store.save()
            return f"session {name} is open"
        bent = eos_faults.bend(fault, self._lossless_dscp(), frozenset(self._ports))
        bent.change(self._store.running)
        bent.change(self._store.startup)
        self._store.save()
        return bent.text

    def clear(self, fault: Fault) -> None:
        """A foreign session goes; a bent setting stays until somebody puts it right."""
        if fault.name == "foreign_session":
            self._store.sessions.pop(fault.value or "cvp-4711", None)
            self._store.save()

    def reboot(self) -> None:
        """Power cycle."""
        self._store.reboot(self.device.now())
        self._store.save()
        self.boots += 1

    def counters(self, port: str) -> Mapping[str, int]:
        """This switch sends no pause frames of its own."""
        return {"pfc_tx": 0}

    # What a request needs ------------------------------------------------------------------------------------------

    def refuses(self, line: str) -> bool:
        """Whether a fault makes this configuration line be refused."""
        return any(f.name == "refuse_line" and f.value and f.value in line for f in self.device.faults())

    def tree(self, root: Block) -> Tree:
        """Entry of lines into one configuration."""
        return Tree(root, self._hardware, frozenset(self._ports))

    @property
    def store(self) -> Store:
        """The switch's state."""
        return self._store

    def config(self, root: Block, command: str, everything: bool = False) -> str:
        """A configuration with its header."""
        host = root.get("hostname", [f"hostname {self.device.name}"])[0].split()[1]
        head = _HEADER.format(command=command, host=host, model=self._model, version=self._version)
        return head + eos_tree.text(root, self._hardware, everything)

    def body(self, root: Block) -> list[str]:
        """A configuration's lines, as the session diff compares them."""
        return eos_tree.text(root, self._hardware).splitlines()

    def version(self) -> dict[str, Any]:
        """``show version``."""
        return {
            "modelName": self._model,
            "version": self._version,
            "internalVersion": f"{self._version}-emulated",
            "serialNumber": "LAB00000001",
            "hardwareRevision": "01.00",
            "systemMacAddress": "02:1c:73:00:00:00",
            "mfgName": "Arista",
            "uptime": self.uptime(),
            "bootupTimestamp": self._store.booted,
        }

    def uptime(self) -> float:
        """Seconds since boot."""
        return self.device.now() - self._store.booted

    def sessions(self) -> dict[str, Any]:
        """``show configuration sessions detail``: the timer's keys moved to the top with EOS 4.32."""
        listed: dict[str, Any] = {}
        timer = self._store.timer
        new = tuple(int(n) for n in re.findall(r"\d+", self._version)[:2]) >= (4, 32)
        expires = timer["expires"] - self._store.booted if timer else 0.0
        for name, session in self._store.sessions.items():
            held = {"1": {"user": session["user"], "terminal": "eapi"}} if session["state"] == "pending" else {}
            listed[name] = {"state": session["state"], "description": "", "instances": held}
            if timer and timer["session"] == name and not new:
                listed[name].update(state="pendingCommitTimer", commitBy=expires)
        top: dict[str, Any] = {
            "maxSavedSessions": 1,
            "maxOpenSessions": MAX_OPEN,
            "mergeOnCommit": False,
            "saveToStartupConfigOnCommit": False,
            "sessions": listed,
        }
        if timer and new:
            top.update(commitTimerSessionName=timer["session"], commitTimerExpireTime=expires)
        return top

    def view(self) -> eos_show.View:
        """One look at the switch, for show commands."""
        neighborhood = self.device.neighborhood
        stored = self._store.running

        def peer(port: str) -> tuple[str, str] | None:
            return neighborhood.peer(self.device.name, self._names.get(port, port))

        def peer_counters(port: str) -> Mapping[str, int]:
            end = peer(port)
            other = neighborhood.emulator(end[0]) if end else None
            return other.counters(end[1]) if other is not None and end is not None else {}

        def up(port: str) -> bool:
            down = "shutdown" in stored.get(f"interface {port}", ["", {}])[1]
            return not down and (port.startswith("Management") or peer(port) is not None)

        return eos_show.View(
            root=stored,
            ports=self._ports,
            up=up,
            peer=peer,
            storms=self._storms,
            peer_counters=peer_counters,
            unicast=self._hardware.unicast,
        )

    def _storms(self, port: str) -> eos_show.Storm:
        """Storms since boot. A neighbour is looked at only when asked, so a storm begins at the first look."""
        marks, now = self._store.marks, self.device.now()
        since, past, ended = f"storm {port}", f"stormed {port}", f"storms {port}"
        lasts = self._peer_storms(port)
        if lasts:
            marks.setdefault(since, now)
        elif since in marks:
            marks[past] = marks.get(past, 0.0) + now - marks.pop(since)
            marks[ended] = marks.get(ended, 0) + 1
        seconds = marks.get(past, 0.0) + (now - marks[since] if lasts else 0.0)
        return eos_show.Storm(seconds, int(marks.get(ended, 0)), lasts)

    def _peer_storms(self, port: str) -> bool:
        end = self.device.neighborhood.peer(self.device.name, self._names.get(port, port))
        other = self.device.neighborhood.emulator(end[0]) if end else None
        if other is None or end is None:
            return False
        return any(f.name == "storm" and f.port in (None, end[1]) for f in other.device.faults())

    def _lossless_dscp(self) -> int:
        for item in self.device.plan.ports:
            for entry in item.setting.qos.lossless():
                if entry.dscps:
                    return entry.dscps[0]
        return 26

    def _factory(self, store: Store) -> None:
        """What stands on the switch before anybody asks for RoCE, foreign lines that must survive included."""
        tree = self.tree(store.running)
        lines = [
            f"hostname {self.device.name}",
            "username admin privilege 15 role network-admin secret sha512 $6$emulated$no.real.secret",
            "ntp server 192.0.2.123",
            "logging host 192.0.2.124",
            "ip routing",
            "qos map dscp 34 to traffic-class 5",
            "management api http-commands",
            "no shutdown",
            "interface Management1",
            "ip address 192.0.2.10/24",
        ]
        for number, port in enumerate(p for p in self._ports if p.startswith("Ethernet")):
            lines.append(f"interface {port}")
            end = self.device.neighborhood.peer(self.device.name, self._names.get(port, port))
            if end is not None:
                lines += [f"description {end[0]} {end[1]}", "no switchport", f"ip address 10.0.{number}.0/31"]
        for line in lines:
            tree.enter(line)
        store.write_memory()

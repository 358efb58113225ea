"""An emulated SONiC switch: a CONFIG_DB with its daemons, behind a real shell with stand-in commands.

Option ``sudo`` refused: the login user has no rights.

Emulation is for rehearsal and tests. It is no proof about a real ASIC.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import ClassVar

from rocetune.lab.device import Emulator, Fault, LabDevice, ShellResult
from rocetune.lab.sonic_commands import Machine, handle
from rocetune.lab.sonic_daemons import SwitchState, boot, process
from rocetune.lab.sonic_factory import Database, factory
from rocetune.lab.sonic_faults import bend, lossless_priority
from rocetune.lab.sonic_shell import Answer, Call, Shell
from rocetune.lab.sonic_show import STORM_FRAMES_PER_S, View

_WRITERS = ("config", "pfcwd", "sonic-cfggen", "sonic-db-cli", "systemctl", "systemd-run")


class SonicEmulator(Emulator):
    """One community SONiC leaf with all ports of its SKU."""

    transport = "ssh"
    FAULTS: ClassVar[Mapping[str, str]] = {
        "wrong_map": "the bound DSCP map sends a DSCP to another class (VALUE: DSCP:TC, default the lossless one to 1)",
        "wrong_trust": "PORT has no DSCP map bound",
        "pfc_missing": "PFC is off on PORT for the lossless priority (VALUE: priority)",
        "headroom_missing": "the lossless priority group of PORT has no profile",
        "headroom_refused": "the dynamic buffer model finds no room for the headroom of PORT",
        "mtu": "PORT has another MTU (VALUE, default 1500)",
        "watchdog_off": "the PFC watchdog is stopped on PORT, or everywhere",
        "wred_flag_missing": "wred_green_enable is gone from the WRED profiles",
        "big_red_switch": "BIG_RED_SWITCH is on: all lossless queues drop",
        "refuse_line": "commands and loads that contain VALUE are refused, those of an undo as well",
    }

    def __init__(self, device: LabDevice) -> None:
        super().__init__(device)
        self.prompt = f"admin@{device.name}:~$ "
        device.folder.mkdir(parents=True, exist_ok=True)
        self._file = device.folder / "switch.json"
        if self._file.exists():
            self.state = SwitchState.load(self._file)
        else:
            config = factory(device)
            self.state = SwitchState(config=config, startup=factory(device), boot=device.now())
            boot(self.state, device.now())
            self._save()
        self._shell = Shell(device.folder, self._handle, sudo=device.options.get("sudo") != "refused")
        self._machine = Machine(self.state, device.now, self._view, device.faults)

    def run(self, command: str, stdin: bytes) -> ShellResult:
        """One exec request, run by a real shell."""
        return self._shell.run(command, stdin)

    def tick(self) -> None:
        """Fire due timers, and let the watchdog look at its queues."""
        now = self.device.now()
        for timer in [timer for timer in self.state.timers if timer.at <= now]:
            self.state.timers.remove(timer)
            self._save()
            self._shell.run(shlex.join(timer.command), b"", root=True)
        if self._watch(now):
            self._save()

    def inject(self, fault: Fault) -> str:
        """Mis-set something in running and saved configuration, as if somebody had done and saved it."""
        if fault.name == "refuse_line":
            if not fault.value:
                raise ValueError("refuse_line needs a value: a part of the command or of what is loaded")
            return f"whatever contains {fault.value!r} is refused, in an undo as well"
        if fault.name == "headroom_refused":
            return self._refuse_headroom(fault)
        if fault.name not in self.FAULTS:
            raise ValueError(f"a SONiC switch has no fault {fault.name!r}; known: {', '.join(sorted(self.FAULTS))}")
        text = bend(self.state.startup, fault, self.device.plan)
        before = json.loads(json.dumps(self.state.config))
        bend(self.state.config, fault, self.device.plan)
        process(self.state, _events(before, self.state.config))
        self._save()
        return text

    def _refuse_headroom(self, fault: Fault) -> str:
        state = self.state
        if state.config["DEVICE_METADATA"]["localhost"].get("buffer_model") != "dynamic":
            raise ValueError("headroom is refused in the dynamic buffer model only: here it comes from a table")
        ports = [fault.port] if fault.port else [item.native for item in self.device.plan.ports]
        unknown = [port for port in ports if port not in state.config["PORT"]]
        if unknown:
            raise ValueError(f"{self.device.name} has no port {unknown[0]!r}")
        state.full = sorted({*state.full, *ports})
        for group in [group for group in state.computed if group.split(":")[0] in ports]:
            del state.computed[group]
            state.appl.get("BUFFER_PG_TABLE", {}).pop(group, None)
        process(state, [])
        self._save()
        return f"no room for headroom on {', '.join(ports)}"

    def clear(self, fault: Fault) -> None:
        """A mis-setting stays until somebody puts it right; room for headroom comes back."""
        if fault.name == "headroom_refused":
            self.state.full = [port for port in self.state.full if fault.port not in (None, port)]
            process(self.state, [])
            self._save()

    def reboot(self) -> None:
        """Power cycle: CONFIG_DB is loaded from the saved file."""
        self.state.config = json.loads(json.dumps(self.state.startup))
        self.state.checkpoints = []
        boot(self.state, self.device.now())
        self._save()
        self.boots += 1

    def counters(self, port: str) -> Mapping[str, int]:
        """This switch sends no pause frames of its own."""
        return {f"pfc_tx.{number}": 0 for number in range(8)}

    # What a request needs ------------------------------------------------------------------------------------------

    def _handle(self, call: Call) -> Answer:
        answer = handle(self._machine, call)
        if call.root and call.name in _WRITERS:
            self._save()
        return answer

    def _save(self) -> None:
        self.state.save(self._file)

    def _view(self) -> View:
        return View(self.state, self.device.now(), self._peer, self._received)

    def _peer(self, port: str) -> tuple[str, str] | None:
        return self.device.neighborhood.peer(self.device.name, port)

    def _received(self, port: str) -> tuple[int, ...]:
        """PFC frames from the neighbour per priority: what it counts as sent, and a storm since it began."""
        end = self._peer(port)
        other = self.device.neighborhood.emulator(end[0]) if end else None
        if end is None or other is None:
            return (0,) * 8
        sent = other.counters(end[1])
        frames = [int(sent.get(f"pfc_tx.{priority}", 0)) for priority in range(8)]
        for priority in range(8):
            if since := self.state.seen.get(f"{port}:{priority}"):
                stormed = int((self.device.now() - since[0]) * STORM_FRAMES_PER_S)
                frames[priority] = max(frames[priority], stormed)
        return tuple(frames)

    def _watch(self, now: float) -> bool:
        """Remember storms; a watched queue is declared stormed after its detection time."""
        changed = False
        for item in self.device.plan.ports:
            port = item.native
            storming = self._storming(port)
            for priority in range(8):
                name = f"{port}:{priority}"
                if priority == storming and name not in self.state.seen:
                    self.state.seen[name] = [now]
                    changed = True
                elif priority != storming and self.state.seen.pop(name, None) is not None:
                    changed = True
                changed |= self._judge(name, port, priority, now)
        return changed

    def _judge(self, name: str, port: str, priority: int, now: float) -> bool:
        watched = str(priority) in self.state.watched.get(port, "").split(",")
        began = self.state.seen.get(name)
        detect_ms = self.state.config.get("PFC_WD", {}).get(port, {}).get("detection_time", "0")
        stormed = watched and began is not None and now - began[0] >= int(detect_ms) / 1000
        old = self.state.storms.get(name, [0, 0, 0])
        if stormed and not old[0]:
            self.state.storms[name] = [1, old[1] + 1, old[2]]
        elif not stormed and old[0]:
            self.state.storms[name] = [0, old[1], old[2] + 1]
        return bool(stormed) != bool(old[0])

    def _storming(self, port: str) -> int | None:
        """Priority on which the neighbour sends pause frames without end, or None."""
        end = self._peer(port)
        other = self.device.neighborhood.emulator(end[0]) if end else None
        if end is None or other is None:
            return None
        for fault in other.device.faults():
            if fault.name == "storm" and fault.port in (None, end[1]):
                return int(lossless_priority(port, fault, self.device.plan))
        return None


def _events(before: Database, after: Database) -> list[tuple[str, str, str]]:
    found = []
    for table in before.keys() | after.keys():
        old, new = before.get(table, {}), after.get(table, {})
        found += [("del", table, key) for key in old.keys() - new.keys()]
        found += [("set", table, key) for key, fields in new.items() if old.get(key) != fields]
    return found

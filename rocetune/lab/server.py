"""An emulated GPU or storage server: commands run for real in a real shell, against a file tree and stand-in tools.

The tree is what sysfs, /etc and /run look like; the stand-ins (``tools/``) check arguments as the real mlnx_qos,
dcb, ethtool, systemctl do. Every path that the product touches honours ``ROCETUNE_ROOT``; a command that a person
types (``echo 106 > /sys/...``) is rewritten to the tree.

Options: ``driver`` ofed (default) or inbox, ``rdma_cm`` loaded (default) or absent, ``bounce_ms`` how long the link
is down after a PFC change (default 0), ``login`` root (default) or unprivileged.

Emulation is for rehearsal and tests. It is no proof about a real NIC.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from rocetune.lab.device import Emulator, Fault, LabDevice, ShellResult
from rocetune.lab.server_faults import FAULTS, WrongHand
from rocetune.lab.server_meter import Meter
from rocetune.lab.server_tree import Nic, Tree, factory_nic, install_tools, nics, read_nic, write_line, write_nic

_ROOTED = re.compile(
    r"(?<![\w./})$-])/(?=(?:sys|etc|proc|run|var|root|tmp|opt|home|boot|usr/local|lib/udev|usr/lib/udev|"
    r"lib/systemd|usr/lib/systemd)(?:[/\s\"';)]|$))"
)
_TOOL_PATH = re.compile(r"(?<![\w./})$-])/(?:usr/)?s?bin/(?=[A-Za-z_])")
_PLAIN = re.compile(r"[\w./@+:-]+", re.ASCII)
_COUNTERS = re.compile(r"counters|ethtool|rdma |dcb|inspect|statistic")
_TAIL_BYTES = 8192  # a longer script on stdin ends with the lines that call its functions
_LIMIT_S = 300.0


class ServerEmulator(Emulator):
    """One server with the planned NIC ports and a management port that nobody manages."""

    transport = "ssh"
    FAULTS: ClassVar[Mapping[str, str]] = FAULTS

    def __init__(self, device: LabDevice) -> None:
        super().__init__(device)
        self.prompt = f"root@{device.name}:~# "
        self.home = device.folder
        self.root = device.folder / "root"
        self.ports: tuple[Nic, ...] = tuple(nics(device.plan))
        self._inbox = device.options.get("driver", "ofed") == "inbox"
        self._tree = Tree(
            self.root,
            device.name,
            self.ports,
            inbox=self._inbox,
            rdma_cm=device.options.get("rdma_cm", "loaded") != "absent",
        )
        self._meter = Meter(self.home, self._tree, self.ports, device.now, device.faults)
        self._hand = WrongHand(self.home, self._tree, device.plan)
        self._ready = False

    # ------------------------------------------------------------------ the contract

    def run(self, command: str, stdin: bytes) -> ShellResult:
        self.prepare()
        if _COUNTERS.search(self.said(command, stdin)):
            self._meter.publish()
        guarded = self._guarded()
        result = self._shell(self._person(command), stdin)
        self._restore(guarded)
        self._settle()
        if (self.home / "reboot-wanted").exists():
            self.reboot()
            result.drop = True
        return result

    def tick(self) -> None:
        if not self.home.exists():
            return
        self.prepare()
        now_ms = self._now_ms()
        due: list[tuple[int, Path, str]] = []
        for timer in (self.home / "timers").iterdir():
            fields = dict(token.split("=", 1) for token in timer.read_text().split())
            if int(fields["fire"]) <= now_ms:
                due.append((int(fields["fire"]), timer, fields["unit"]))
        for _, timer, unit in sorted(due):
            timer.unlink(missing_ok=True)
            self._shell(f"_run_unit '{unit}'", b"")
        if due:
            self._settle()
        self._carriers()

    def reboot(self) -> None:
        self.prepare()
        self._stop_jobs()
        for folder in ("timers", "units", "running", "cma"):
            shutil.rmtree(self.home / folder, ignore_errors=True)
        for name in ("reboot-wanted", "dmesg"):
            (self.home / name).unlink(missing_ok=True)
        self._power_on()
        self.boots += 1
        for wants in sorted((self.root / "etc/systemd/system").glob("*.wants/*")):
            self._shell(f"systemctl start '{wants.name}'", b"")
        self._shell("udevadm trigger --action=add --subsystem-match=net", b"")
        self._settle()

    def said(self, command: str, stdin: bytes) -> str:
        """Of a long script only the lines that call its functions: its text names everything it could do."""
        script = stdin.decode("utf-8", "replace")
        return (
            command
            + "\n"
            + (script if len(script) <= _TAIL_BYTES else script.rpartition("_driver() {")[2][-_TAIL_BYTES:])
        )

    def counters(self, port: str) -> Mapping[str, int]:
        nic = self._find(port)
        if nic is None or not (self.home / "nic" / nic.netdev).exists():
            return {}
        return self._meter.sample(nic)

    def inject(self, fault: Fault) -> str:
        self.prepare()
        if fault.name not in self.FAULTS:
            raise ValueError(f"a server knows no fault {fault.name!r}: it knows {', '.join(self.FAULTS)}")
        if fault.name == "lldpad":
            self._shell("systemctl enable --now lldpad", b"")
            return "lldpad runs and starts at boot"
        if fault.name == "lost_at_reboot":
            self._hand.forget()
            self.reboot()
            return "boot units and settings removed, rebooted"
        if fault.name == "refuse_line":
            if not fault.value:
                raise ValueError("refuse_line needs the text that is refused")
            return f"calls and writes that contain {fault.value!r} fail"
        if fault.name == "storm":
            self._meter.publish()  # what was before the storm is counted without it
        targets = self.ports if fault.port is None else (self._find(fault.port),)
        for target in targets:
            if target is None:
                raise ValueError(f"no port {fault.port!r}: it has {', '.join(nic.alias for nic in self.ports)}")
            self._hand.bend(target, fault)
        where = fault.port or "every port"
        return f"{where}: {self.FAULTS[fault.name]}"

    def clear(self, fault: Fault) -> None:
        self.prepare()
        if fault.name == "lldpad":
            self._shell("systemctl disable --now lldpad", b"")
        elif fault.name == "storm":
            self._meter.publish()

    def _find(self, port: str) -> Nic | None:
        return next((nic for nic in self.ports if port in (nic.alias, nic.netdev, nic.rdma)), None)

    # ------------------------------------------------------------------ life

    def prepare(self) -> None:
        """Make the server, at first use or before; complete after an interrupted making."""
        if self._ready:
            return
        built = self.home / "built"
        install_tools(self.home / "bin", inbox=self._inbox)
        if not built.exists():
            shutil.rmtree(self.root, ignore_errors=True)
            self._tree.build()
            self._power_on(fresh=True)
            built.touch()
        self._ready = True

    def _power_on(self, fresh: bool = False) -> None:
        for folder in ("nic", "stats", "units", "timers", "running", "cma", "journal"):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        if not fresh:
            self._tree.boot()
        for port in self.ports:
            write_nic(self.home / "nic" / port.netdev, factory_nic(port))
            attributes = self.home / "cma" / port.rdma / "ports/1"  # what configfs shows inside a made directory
            attributes.mkdir(parents=True, exist_ok=True)
            write_line(attributes / "default_roce_tos", "0")
            write_line(attributes / "default_roce_mode", "RoCE v2")
        (self.home / "boot").write_text(f"{self._now_ms()}\n")
        _write_new(self.root / "proc/sys/kernel/random/boot_id", os.urandom(16).hex())
        self._meter.reset()
        self._meter.publish()

    def _stop_jobs(self) -> None:
        """Background services end with the machine. Only process groups that this server's units started."""
        for unit in (self.home / "units").glob("*.service"):
            fields = dict(token.split("=", 1) for token in unit.read_text().split())
            pid = int(fields.get("pid") or 0)
            if pid > 1 and fields.get("active") == "running":
                # A number kept from an earlier life may be anybody's by now: the environment tells.
                with contextlib.suppress(OSError):
                    mine = f"ROCETUNE_LAB={self.home}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(
                        b"\0"
                    )
                    if mine and os.getpgid(pid) == pid:
                        os.killpg(pid, signal.SIGKILL)

    def _settle(self) -> None:
        """What a kernel does with a written attribute that plain files do not: its own reading form."""
        if self._inbox:
            return
        for port in self.ports:
            path = self.root / "sys/class/infiniband" / port.rdma / "tc/1/traffic_class"
            with contextlib.suppress(OSError):
                text = path.read_text().strip()
                if text and not text.startswith("Global"):
                    path.write_text(f"Global tclass={text}\n" if text.isdigit() and int(text) <= 255 else "")

    def _carriers(self) -> None:
        if not int(self.device.options.get("bounce_ms", "0")):
            return
        now_ms = self._now_ms()
        for port in self.ports:
            net = self.root / "sys/class/net" / port.netdev
            down = int(read_nic(self.home / "nic" / port.netdev)["down_until"]) > now_ms
            write_line(net / "carrier", "0" if down else "1")
            write_line(net / "operstate", "down" if down else "up")
            base = self.root / "sys/class/infiniband" / port.rdma / "ports/1"
            write_line(base / "state", "1: DOWN" if down else "4: ACTIVE")

    # ------------------------------------------------------------------ commands

    def _now_ms(self) -> int:
        return int(self.device.now() * 1000)

    def _refused(self) -> str:
        return next((fault.value or "" for fault in self.device.faults() if fault.name == "refuse_line"), "")

    def _environment(self) -> dict[str, str]:
        now_ms = self._now_ms()
        up_ms = now_ms - int((self.home / "boot").read_text())
        write_line(self.root / "proc/uptime", f"{up_ms / 1000:.2f} 0.00")
        environment = {
            "PATH": str(self.home / "bin"),
            "HOME": str(self.root / "root"),
            "TMPDIR": str(self.root / "tmp"),
            "LC_ALL": "C.UTF-8",
            "USER": "root",
            "LOGNAME": "root",
            "ROCETUNE_ROOT": str(self.root),
            "ROCETUNE_LAB": str(self.home),
            "ROCETUNE_LAB_NOW": str(now_ms),
            "ROCETUNE_LAB_UP": str(up_ms),
            "ROCETUNE_LAB_BOUNCE": self.device.options.get("bounce_ms", "0"),
            "ROCETUNE_LAB_MKDIR": _real("mkdir"),
            "ROCETUNE_LAB_RMDIR": _real("rmdir"),
            "ROCETUNE_LAB_DATE": _real("date"),
        }
        if refused := self._refused():
            environment["ROCETUNE_LAB_REFUSE"] = refused
        if self._inbox:
            environment["ROCETUNE_LAB_DRIVER"] = "5.15.0-113-generic"
        if self.device.options.get("login") == "unprivileged":
            environment["ROCETUNE_LAB_UNPRIVILEGED"] = "1"
        return environment

    def _shell(self, command: str, stdin: bytes) -> ShellResult:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.root,
            env=self._environment(),
            start_new_session=True,
        )
        try:
            out, err = process.communicate(stdin, timeout=_LIMIT_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return ShellResult(124, _text(out), _text(err) + f"rocetune lab: ended after {_LIMIT_S:g} s\n")
        return ShellResult(process.returncode, _text(out), _text(err))

    def _person(self, command: str) -> str:
        """A command with plain absolute paths, turned to the tree. One that knows ROCETUNE_ROOT is left alone."""
        if "ROCETUNE_ROOT" in command:
            return command
        root = str(self.root) if _PLAIN.fullmatch(str(self.root)) else "${ROCETUNE_ROOT}"
        return _ROOTED.sub(lambda _: root + "/", _TOOL_PATH.sub("", command))

    def _guarded(self) -> Mapping[Path, bytes]:
        """Files that the fault refuse_line protects, with their content."""
        refused = self._refused()
        if not refused or "/" not in refused:
            return {}
        found: dict[Path, bytes] = {}
        for top in (self.root / "sys/devices", self.root / "sys/kernel", self.root / "etc"):
            for path in top.rglob("*"):
                if path.is_file() and not path.is_symlink() and refused in self._seen_as(path):
                    found[path] = path.read_bytes()
        return found

    def _seen_as(self, path: Path) -> str:
        """A file's path as commands name it: through /sys/class."""
        text = "/" + str(path.relative_to(self.root))
        text = re.sub(r"^/sys/devices/pci0000:00/[^/]+/net/", "/sys/class/net/", text)
        return re.sub(r"^/sys/devices/pci0000:00/[^/]+/infiniband/", "/sys/class/infiniband/", text)

    def _restore(self, guarded: Mapping[Path, bytes]) -> None:
        for path, content in guarded.items():
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _real(name: str) -> str:
    return shutil.which(name, path="/usr/bin:/bin") or name


def _write_new(path: Path, value: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_line(path, value)

"""Starts, stops and asks after a lab that lives in the background; sets and lifts faults in it.

``start`` spawns a detached process (``python -m rocetune.lab``) that hosts all devices of a plan. Everything it
needs and knows lies in one folder, mode 0700. Emulation is for rehearsal and tests, no proof about a real ASIC.
"""

from __future__ import annotations

import contextlib
import copyreg
import io
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rocetune.lab import clock, keys, overlay
from rocetune.lab.device import Fault
from rocetune.lab.errors import LabError, LabNotRunning, missing_extra
from rocetune.lab.faults import FRAME_FAULTS, Deeds, Entry, FaultBook, filled
from rocetune.lab.frame import known_faults
from rocetune.model.plan import Plan

PLAN_FILE, INFO_FILE, LOG_FILE = "plan.pickle", "lab.json", "lab.log"
_POLL_S = 0.03


@dataclass(frozen=True, slots=True)
class DeviceStatus:
    """One emulated device: where it listens, which faults it has."""

    name: str
    platform: str
    transport: str
    port: int | None
    faults: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """The lab of one folder. ``known_faults``: by platform, fault name to one line."""

    root: Path
    running: bool
    pid: int | None
    site: str | None
    latency_ms: float
    clock_ahead_s: float
    devices: tuple[DeviceStatus, ...]
    known_faults: Mapping[str, Mapping[str, str]]


def start(
    root: Path,
    plan: Plan,
    *,
    site: Path | None = None,
    latency_ms: float = 0.0,
    options: Mapping[str, Mapping[str, str]] | None = None,
    wait_s: float = 60.0,
) -> Status:
    """Host all devices of ``plan`` in a background process and wait until they listen.

    ``options`` go to the emulators by device name. State of an earlier run in the same folder is kept; see
    :func:`reset`. Raises LabError: the extra is not installed, a lab runs already, it did not come up.
    """
    for module in ("asyncssh", "aiohttp"):
        if find_spec(module) is None:
            raise missing_extra(module)
    root = root.resolve()
    if overlay.running(root):
        raise LabError(f"a lab already runs in {root}", "stop it with: rocetune lab stop")
    root.mkdir(parents=True, exist_ok=True)
    root.chmod(0o700)
    (root / INFO_FILE).unlink(missing_ok=True)
    keys.store(root / PLAN_FILE, _pickled((plan, dict(options or {}))))
    command = [sys.executable, "-m", "rocetune.lab", "--root", str(root), "--latency-ms", str(latency_ms)]
    if site is not None:
        command += ["--site", str(site)]
    with (root / LOG_FILE).open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=root
        )
    deadline = time.monotonic() + wait_s
    while not (overlay.running(root) and (root / INFO_FILE).exists()):
        if process.poll() is not None:
            raise LabError("the lab ended while it started", _last_lines(root / LOG_FILE))
        if time.monotonic() > deadline:
            process.terminate()
            raise LabError(f"the lab was not ready after {wait_s:g} s", f"see {root / LOG_FILE}")
        time.sleep(_POLL_S)
    return status(root)


def stop(root: Path, wait_s: float = 15.0) -> bool:
    """End the background process; False when none ran. State and faults are kept."""
    root = root.resolve()
    if not overlay.running(root):
        return False
    pid = _info(root).get("pid")
    if not isinstance(pid, int):
        raise LabError(f"the lab in {root} runs inside another program", "end that program")
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + wait_s
    while overlay.running(root):
        if time.monotonic() > deadline:
            raise LabError(f"the lab (process {pid}) did not end in {wait_s:g} s", f"see {root / LOG_FILE}")
        time.sleep(_POLL_S)
    (root / INFO_FILE).unlink(missing_ok=True)
    return True


def reset(root: Path) -> None:
    """Factory state: forget what the devices hold, all faults and the clock. The lab must be stopped."""
    root = root.resolve()
    if overlay.running(root):
        raise LabError(f"the lab in {root} is running", "stop it first: rocetune lab stop")
    shutil.rmtree(root / "devices", ignore_errors=True)
    for name in ("faults.json", clock.CLOCK_FILE, PLAN_FILE, INFO_FILE, LOG_FILE, "ports.json", keys.KNOWN_HOSTS):
        (root / name).unlink(missing_ok=True)


def status(root: Path) -> Status:
    """What runs in a folder. Never raises for a folder without a lab."""
    root = root.resolve()
    info, book = _info(root), FaultBook(root)
    alive = overlay.running(root)
    ports = {name: item.port for name, item in overlay.read(root).items()} if alive else {}
    table: Mapping[str, Mapping[str, str]] = info.get("devices", {})  # type: ignore[assignment]
    devices = tuple(
        DeviceStatus(name, row["platform"], row["transport"], ports.get(name), book.of(name))
        for name, row in table.items()
    )
    platforms = sorted({item.platform for item in devices})
    pid, site = info.get("pid"), info.get("site")
    return Status(
        root=root,
        running=alive,
        pid=pid if alive and isinstance(pid, int) else None,
        site=str(site) if site else None,
        latency_ms=float(str(info.get("latency_ms", 0))),
        clock_ahead_s=clock.read_offset(root),
        devices=devices,
        known_faults={platform: known_faults(platform) for platform in platforms},
    )


def set_fault(root: Path, device: str, fault: Fault, wait_s: float = 10.0) -> str:
    """Set a fault and wait until the lab applied it; a sentence on what was done.

    Raises LabError: no lab, no such device, a name the device does not know, or the device's own refusal.
    """
    root = root.resolve()
    row = _device(root, device)
    known = known_faults(row["platform"])
    if fault.name not in known:
        raise LabError(f"{device} knows no fault {fault.name!r}", f"it knows: {', '.join(known)}")
    _check_values(fault)
    book = FaultBook(root)
    entry = book.add(device, fault)
    deadline, key = time.monotonic() + wait_s, str(entry.id)
    while time.monotonic() < deadline:
        deeds = Deeds(root / "devices" / device)
        if key in deeds.failed:
            book.remove(lambda other: other.id == entry.id)
            raise LabError(f"{device} refused the fault: {deeds.failed[key]}")
        if key in deeds.injected:
            return filled(deeds.injected[key], fault)
        time.sleep(_POLL_S)
    return "set; the device is busy and takes it up at its next request"


def clear_faults(root: Path, device: str | None = None, name: str | None = None) -> tuple[Entry, ...]:
    """Lift faults of one device or name, or all; those that were lifted."""
    return FaultBook(root.resolve()).remove(
        lambda entry: (device is None or entry.device == device) and (name is None or entry.fault.name == name)
    )


def faults(root: Path) -> Sequence[Entry]:
    """Faults set now."""
    return FaultBook(root.resolve()).entries()


def advance_clock(root: Path, seconds: float) -> float:
    """Put the lab's clock forward, so that revert timers fire; the new offset in seconds."""
    if not overlay.running(root.resolve()):
        raise LabNotRunning(f"no lab is running in {root}", "start it with: rocetune lab start")
    return clock.advance(root.resolve(), seconds)


def _check_values(fault: Fault) -> None:
    if fault.name == "slow":
        try:
            float(fault.value or "")
        except ValueError:
            raise LabError("slow needs a number of milliseconds", "as in: slow 200") from None
    if fault.name == "drop_session" and not fault.value:
        raise LabError("drop_session needs a text to match", "as in: before:commit or after:commit")
    if fault.name in FRAME_FAULTS and fault.port is not None:
        raise LabError(f"{fault.name} is about the whole device", "leave the port out")


def _device(root: Path, device: str) -> Mapping[str, str]:
    if not overlay.running(root):
        raise LabNotRunning(f"no lab is running in {root}", "start it with: rocetune lab start")
    table: Mapping[str, Mapping[str, str]] = _info(root).get("devices", {})  # type: ignore[assignment]
    if device not in table:
        raise LabError(f"no device {device!r} in this lab", f"it has: {', '.join(table)}")
    return table[device]


def _info(root: Path) -> Mapping[str, object]:
    try:
        loaded: Mapping[str, object] = json.loads((root / INFO_FILE).read_text())
        return loaded
    except (FileNotFoundError, ValueError):
        return {}


def _last_lines(path: Path, count: int = 5) -> str:
    lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
    return " | ".join(lines[-count:]) or f"nothing in {path}"


def _view(table: Mapping[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(dict(table))


class _Pickler(pickle.Pickler):
    """Also takes read-only mapping views, which a plan may hold."""

    dispatch_table = copyreg.dispatch_table.copy()
    dispatch_table[MappingProxyType] = lambda view: (_view, (dict(view),))


def _pickled(content: object) -> bytes:
    stream = io.BytesIO()
    _Pickler(stream, protocol=pickle.HIGHEST_PROTOCOL).dump(content)
    return stream.getvalue()

"""Where the emulated devices listen: the endpoint overlay of ``--lab``.

Imports no socket library, so that the program can read it without the lab extra. Emulation is for rehearsal
and tests; it is no proof about a real ASIC.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rocetune.lab.errors import LabError, LabNotRunning

ENDPOINTS = "endpoints.json"
LOCK = "lab.lock"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How one emulated device is reached. Paths are None where the transport has no use for them."""

    device: str
    transport: Literal["ssh", "eapi"]
    host: str
    port: int
    username: str
    password: str = field(repr=False)
    known_hosts: Path | None = None  # ssh
    key_file: Path | None = None  # ssh: a private key that is accepted as well as the password
    ca_file: Path | None = None  # eapi: verifies the device's certificate


def write(root: Path, endpoints: Mapping[str, Endpoint]) -> None:
    """Write the overlay file, readable by its owner only."""
    table = {
        name: {
            "transport": item.transport,
            "host": item.host,
            "port": item.port,
            "username": item.username,
            "password": item.password,
            "known_hosts": str(item.known_hosts) if item.known_hosts else None,
            "key_file": str(item.key_file) if item.key_file else None,
            "ca_file": str(item.ca_file) if item.ca_file else None,
        }
        for name, item in endpoints.items()
    }
    draft = root / f".{ENDPOINTS}.{os.getpid()}"
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as stream:
        json.dump(table, stream, indent=1)
        stream.write("\n")
    draft.replace(root / ENDPOINTS)


def running(root: Path) -> bool:
    """Whether a lab is serving this folder (it holds a lock as long as it lives)."""
    try:
        handle = os.open(root / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def read(root: Path) -> Mapping[str, Endpoint]:
    """Endpoints by device name. Raises LabNotRunning, or LabError if the file is damaged."""
    path = root / ENDPOINTS
    if not running(root) or not path.exists():
        raise LabNotRunning(f"no lab is running in {root}", "start it with: rocetune lab start")
    try:
        table = json.loads(path.read_text())
        return {name: _endpoint(name, entry) for name, entry in table.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LabError(f"{path} is damaged ({error})", "run: rocetune lab stop && rocetune lab start") from error


def _endpoint(name: str, entry: Mapping[str, str | int | None]) -> Endpoint:
    transport = entry["transport"]
    if transport not in ("ssh", "eapi"):
        raise ValueError(f"unknown transport {transport!r} of {name}")

    def path(key: str) -> Path | None:
        return Path(str(entry[key])) if entry.get(key) else None

    return Endpoint(
        device=name,
        transport="ssh" if transport == "ssh" else "eapi",
        host=str(entry["host"]),
        port=int(entry["port"] or 0),
        username=str(entry["username"]),
        password=str(entry["password"]),
        known_hosts=path("known_hosts"),
        key_file=path("key_file"),
        ca_file=path("ca_file"),
    )

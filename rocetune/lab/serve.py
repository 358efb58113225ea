"""Puts a lab on loopback sockets: in the running program (:class:`LabServer`) or for the daemon (:func:`serve`).

Emulation is for rehearsal and tests. It is no proof about a real ASIC.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from rocetune.lab import keys, overlay
from rocetune.lab.device import Emulator, Fault
from rocetune.lab.errors import LabError, missing_extra
from rocetune.lab.frame import Host, Lab, known_faults
from rocetune.lab.overlay import Endpoint
from rocetune.model.plan import Plan

_PORTS = "ports.json"
_WATCH_S = 0.2  # how soon a fault set by another process is noticed
_TICK_S = 1.0
T = TypeVar("T")


@asynccontextmanager
async def serve(lab: Lab) -> AsyncIterator[Mapping[str, Endpoint]]:
    """Listen for every device, write the overlay, fire timers; undone at exit. Raises LabError."""
    try:
        from rocetune.lab.eapi import EapiSocket
        from rocetune.lab.ssh import SshSocket
    except ModuleNotFoundError as error:
        raise missing_extra(error.name or "asyncssh and aiohttp") from error
    root = lab.root
    lock = _take_lock(root)
    password = keys.password(root)
    client_key = keys.ssh_key(root / keys.CLIENT_KEY)
    client_public = keys.public_line(client_key)
    ca_file, server_file = keys.certificate(root)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(server_file)
    ports, endpoints, known = _old_ports(root), {}, []
    sockets: list[EapiSocket | SshSocket] = []
    loop = asyncio.get_running_loop()
    watcher: asyncio.Task[None] | None = None
    with ThreadPoolExecutor(max_workers=min(40, len(lab.hosts) + 2), thread_name_prefix="lab") as pool:
        lab.pool = pool
        try:
            for name, host in lab.hosts.items():
                socket: EapiSocket | SshSocket
                if host.kind.transport == "eapi":
                    socket = EapiSocket(host, context, keys.USERNAME, password)
                else:
                    host_key = keys.ssh_key(host.folder / "ssh_host_ed25519")
                    socket = SshSocket(host, host_key, client_public, keys.USERNAME, password)
                port = await _listen(socket.start, ports.get(name, 0))
                sockets.append(socket)
                host.cut_all = _from_any_thread(loop, socket.cut)
                if host.kind.transport == "ssh":
                    known.append(f"[{keys.HOST}]:{port} {keys.public_line(host_key)}\n")
                endpoints[name] = _endpoint(root, host, port, password, ca_file)
            keys.store(root / keys.KNOWN_HOSTS, "".join(known).encode())
            keys.store(root / _PORTS, json.dumps({name: item.port for name, item in endpoints.items()}).encode())
            overlay.write(root, endpoints)
            watcher = asyncio.create_task(_watch(lab))
            yield endpoints
        finally:
            (root / overlay.ENDPOINTS).unlink(missing_ok=True)
            if watcher is not None:
                watcher.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await watcher
            for socket in sockets:
                await socket.stop()
            os.close(lock)


def _endpoint(root: Path, host: Host, port: int, password: str, ca_file: Path) -> Endpoint:
    ssh = host.kind.transport == "ssh"
    return Endpoint(
        device=host.name,
        transport="ssh" if ssh else "eapi",
        host=keys.HOST,
        port=port,
        username=keys.USERNAME,
        password=password,
        known_hosts=root / keys.KNOWN_HOSTS if ssh else None,
        key_file=root / keys.CLIENT_KEY if ssh else None,
        ca_file=None if ssh else ca_file,
    )


def _take_lock(root: Path) -> int:
    root.mkdir(parents=True, exist_ok=True)
    root.chmod(0o700)
    lock = os.open(root / overlay.LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise LabError(f"a lab already serves {root}", "stop it with: rocetune lab stop") from None
    return lock


def _old_ports(root: Path) -> Mapping[str, int]:
    try:
        return {str(name): int(port) for name, port in json.loads((root / _PORTS).read_text()).items()}
    except (FileNotFoundError, ValueError, AttributeError):
        return {}


async def _listen(start: Callable[[str, int], object], port: int) -> int:
    """Listen on the port used last time, else on any."""
    if port:
        with contextlib.suppress(OSError):
            return await start(keys.HOST, port)  # type: ignore[misc, no-any-return]
    return await start(keys.HOST, 0)  # type: ignore[misc, no-any-return]


def _from_any_thread(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> Callable[[], None]:
    def ask() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing is open any more
            loop.call_soon_threadsafe(call)

    return ask


async def _watch(lab: Lab) -> None:
    """Notice faults set by another process soon, and let timers fire."""
    seen, ticked = lab.book.entries(), time.monotonic()
    await lab.sync()
    while True:
        await asyncio.sleep(_WATCH_S)
        now, entries = time.monotonic(), lab.book.entries()
        due = now - ticked >= _TICK_S
        if due or entries is not seen:
            seen, ticked = entries, now if due else ticked
            await lab.sync(due)


class LabServer:
    """A lab in this process, for tests: ``with LabServer(plan, root, clock=clock) as lab: lab.endpoints``.

    The sockets live in their own thread. ``clock`` gives seconds since epoch.
    """

    def __init__(
        self,
        plan: Plan,
        root: Path,
        *,
        clock: Callable[[], float] = time.time,
        latency_ms: float = 0.0,
        options: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        root = root.resolve()
        self.lab = Lab(root, plan, now=clock, latency_ms=latency_ms, options=options)
        self.root = root
        self.endpoints: Mapping[str, Endpoint] = {}
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._done: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._main, name="lab-loop", daemon=True)

    def __enter__(self) -> LabServer:
        self._thread.start()
        self._ready.wait()
        if self._error is not None:
            self._thread.join()
            raise self._error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening; safe to call twice."""
        if self._loop is not None and self._done is not None:
            with contextlib.suppress(RuntimeError):  # closed already
                self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join()

    def _main(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()

    async def _live(self) -> None:
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        async with serve(self.lab) as endpoints:
            self.endpoints = endpoints
            self._ready.set()
            await self._done.wait()

    def fault(self, device: str, name: str, port: str | None = None, value: str | None = None, count: int = 0) -> str:
        """Set a fault and apply it now; a sentence on what was done. Raises LabError when the device knows it not."""
        host = self._host(device)
        if name not in known_faults(host.platform):
            raise LabError(f"{device} knows no fault {name!r}", f"it knows: {', '.join(known_faults(host.platform))}")
        entry = self.lab.book.add(device, Fault(name, port, value, count))
        self._wait(host.sync(False))
        if str(entry.id) in host.deeds.failed:
            self.lab.book.remove(lambda other: other.id == entry.id)
            raise LabError(f"{device} refused the fault: {host.deeds.failed[str(entry.id)]}")
        return host.deeds.injected.get(str(entry.id), "set")

    def clear(self, device: str | None = None, name: str | None = None) -> int:
        """Lift faults and undo what they did; how many."""
        gone = self.lab.book.remove(
            lambda entry: (device is None or entry.device == device) and (name is None or entry.fault.name == name)
        )
        self.sync()
        return len(gone)

    def sync(self) -> None:
        """Fire due timers of every device now, as after moving a manual clock."""
        self._wait(self.lab.sync())

    def reboot(self, device: str) -> None:
        """Power cycle one device now."""
        self.fault(device, "reboot")

    def emulator(self, device: str) -> Emulator:
        """The emulator itself, for looking inside while nobody else talks to it."""
        return self._host(device).emulator

    def inside(self, device: str, call: Callable[[Emulator], T]) -> T:
        """Do something with an emulator between two of its requests."""
        if self._loop is None:
            raise LabError("the lab is not started")
        work = self._host(device).exclusively(call)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def _host(self, device: str) -> Host:
        if device not in self.lab.hosts:
            raise LabError(f"no device {device!r} in this lab", f"it has: {', '.join(self.lab.hosts)}")
        return self.lab.hosts[device]

    def _wait(self, coroutine: object) -> None:
        if self._loop is None:
            raise LabError("the lab is not started")
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)  # type: ignore[arg-type]

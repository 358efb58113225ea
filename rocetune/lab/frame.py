"""Hosts one emulator per inventory device: requests, faults, clock, neighbours. No socket in here.

Emulation is for rehearsal and tests. It is no proof about a real ASIC.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import astuple
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeVar

from rocetune.lab.device import Emulator, Fault, LabDevice
from rocetune.lab.errors import LabError
from rocetune.lab.faults import FRAME_FAULTS, Deeds, Entry, FaultBook
from rocetune.model.plan import DevicePlan, Plan

GROUP = "rocetune.emulators"
_MADE_AHEAD = 64  # devices
T = TypeVar("T")


class Cut(Exception):
    """The connection ends here: unreachable, a dropped session or a reboot."""


@cache
def emulator_class(platform: str) -> type[Emulator]:
    """The emulator of a platform. Raises LabError with the known ones."""
    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    if platform not in known:
        raise LabError(f"no emulator for platform {platform!r}", f"the lab knows: {', '.join(sorted(known))}")
    loaded: type[Emulator] = known[platform].load()
    return loaded


def known_faults(platform: str) -> Mapping[str, str]:
    """Fault names of a platform, the frame's own included, with one line each."""
    return {**FRAME_FAULTS, **emulator_class(platform).FAULTS}


class Cabling:
    """Neighborhood from the plan's links."""

    def __init__(self, plan: Plan, emulator: Callable[[str], Emulator | None]) -> None:
        self._peers = {
            (name, item.port.name): item.port.peer
            for name, device in plan.devices.items()
            for item in device.ports
            if item.port.peer is not None
        }
        # A cable is one thing: an end that is not in the plan (untouched port) still sees its neighbour.
        for end, peer in tuple(self._peers.items()):
            self._peers.setdefault(peer, end)
        self._emulator = emulator

    def peer(self, device: str, port: str) -> tuple[str, str] | None:
        """(device, port) at the other end of a cable, in inventory names."""
        return self._peers.get((device, port))

    def emulator(self, device: str) -> Emulator | None:
        """The emulator of another device."""
        return self._emulator(device)


class Host:
    """One hosted device: serialises its requests and applies its faults around them."""

    def __init__(self, lab: Lab, plan: DevicePlan, options: Mapping[str, str]) -> None:
        self.name = plan.device.name
        self.platform = plan.device.platform
        self.kind = emulator_class(self.platform)
        self.folder = lab.root / "devices" / self.name
        self.cut_all: Callable[[], None] = lambda: None  # set by the sockets
        self._lab, self._plan, self._options = lab, plan, options
        self._lock = asyncio.Lock()
        self._making = threading.Lock()
        self._emulator: Emulator | None = None
        self._deeds: Deeds | None = None

    @property
    def emulator(self) -> Emulator:
        """The emulator, made at first use: most devices of a large lab are never touched."""
        with self._making:
            if self._emulator is None:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._emulator = self.kind(
                    LabDevice(
                        name=self.name,
                        plan=self._plan,
                        folder=self.folder / "state",
                        now=self._lab.now,
                        neighborhood=self._lab.cabling,
                        faults=self._own_faults,
                        options=self._options,
                    )
                )
            return self._emulator

    @property
    def touched(self) -> bool:
        """Whether the device has state: an untouched one needs no tick."""
        return self._emulator is not None or (self.folder / "state").exists()

    @property
    def deeds(self) -> Deeds:
        """What was done about faults of this device."""
        if self._deeds is None:
            self._deeds = Deeds(self.folder)
        return self._deeds

    @property
    def unreachable(self) -> bool:
        """Whether connections are refused now."""
        return any(entry.fault.name == "unreachable" for entry in self._lab.book.of(self.name))

    def _own_faults(self) -> tuple[Fault, ...]:
        return tuple(entry.fault for entry in self._lab.book.of(self.name) if entry.fault.name not in FRAME_FAULTS)

    async def request(self, text: Callable[[], str], call: Callable[[], T]) -> T:
        """One request: delays, faults, timers, then ``call`` in a worker thread. Raises Cut.

        ``text`` gives the words that drop_session looks in.
        """
        delay = self._lab.latency_ms / 1000
        for entry in self._lab.book.of(self.name):
            if entry.fault.name == "unreachable":
                raise Cut
            if entry.fault.name == "slow":
                delay += float(entry.fault.value or 0) / 1000
        if delay:
            await asyncio.sleep(delay)
        async with self._lock:
            return await self._lab.work(self._serve, text, call)

    async def sync(self, tick: bool = True) -> None:
        """Apply fault changes and due timers without a request."""
        if self.unreachable:
            self.cut_all()
        if not self.touched and not self._lab.book.of(self.name):
            return
        async with self._lock:
            await self._lab.work(self._settle, tick)

    async def exclusively(self, call: Callable[[Emulator], T]) -> T:
        """Run something with the device, between its requests."""
        async with self._lock:
            return await self._lab.work(lambda: call(self.emulator))

    def _serve(self, text: Callable[[], str], call: Callable[[], T]) -> T:
        self._settle(True)
        striking = self._striking(text)
        if striking is not None and (striking.fault.value or "").startswith("before:"):
            raise Cut
        boots = self.emulator.boots
        result = call()
        if self.emulator.boots != boots:
            self.cut_all()
        if striking is not None:
            raise Cut
        return result

    def _striking(self, text: Callable[[], str]) -> Entry | None:
        for entry in self._lab.book.of(self.name):
            if entry.fault.name != "drop_session":
                continue
            wanted = (entry.fault.value or "").removeprefix("before:").removeprefix("after:")
            struck = self.deeds.struck.get(str(entry.id), 0)
            if wanted in text() and (entry.fault.count == 0 or struck < entry.fault.count):
                self.deeds.struck[str(entry.id)] = struck + 1
                self.deeds.save()
                return entry
        return None

    def _settle(self, tick: bool) -> None:
        current = {str(entry.id): entry for entry in self._lab.book.of(self.name)}
        lifted = [key for key in self.deeds.kept if key not in current]
        for key in lifted:
            self.emulator.clear(Fault(*self.deeds.kept.pop(key)))  # type: ignore[arg-type]
        if lifted:
            self.deeds.save()
        for key, entry in current.items():
            if key not in self.deeds.injected and key not in self.deeds.failed:
                self._inject(key, entry)
        if tick:
            boots = self.emulator.boots
            self.emulator.tick()
            if self.emulator.boots != boots:
                self.cut_all()

    def _inject(self, key: str, entry: Entry) -> None:
        """Apply a fault once. What is saved last is what the setter waits for, so connections are cut before."""
        fault = entry.fault
        if fault.name == "reboot":
            self._power_cycle(key)
            self._lab.book.remove(lambda other: other.id == entry.id)
        elif fault.name in FRAME_FAULTS:
            self.deeds.injected[key] = _sentence(fault)
        else:
            boots = self.emulator.boots
            try:
                self.deeds.injected[key] = self.emulator.inject(fault)
                self.deeds.kept[key] = list(astuple(fault))
            except (ValueError, NotImplementedError) as error:
                self.deeds.failed[key] = str(error) or type(error).__name__
            if self.emulator.boots != boots:
                self.cut_all()
        self.deeds.save()

    def _power_cycle(self, key: str) -> None:
        """An event, not a condition: done once, also when the lab itself ends in the middle of it."""
        if key not in self.deeds.struck:
            self.deeds.struck[key] = 1
            self.deeds.save()
            self.cut_all()
            self.emulator.reboot()
        self.deeds.injected[key] = "rebooted"


def _sentence(fault: Fault) -> str:
    """What a fault of the frame does from now on."""
    if fault.name == "slow":
        return f"every request takes {fault.value} ms longer"
    if fault.name == "drop_session":
        when, _, text = (fault.value or "").partition(":")
        if when not in ("before", "after"):
            when, text = "after", fault.value or ""
        often = f"{fault.count} times" if fault.count else "until cleared"
        return f"the connection is cut {when} a request with {text!r} runs, {often}"
    return FRAME_FAULTS[fault.name]


class Lab:
    """All devices of a plan. ``options`` are per device and go before what the inventory declares."""

    def __init__(
        self,
        root: Path,
        plan: Plan,
        *,
        now: Callable[[], float],
        latency_ms: float = 0.0,
        options: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.root, self.now, self.latency_ms = root, now, latency_ms
        self.book = FaultBook(root)
        self.cabling = Cabling(plan, self._find)
        self.pool: Executor | None = None
        extra = options or {}
        self.hosts = {
            name: Host(self, device, {**device.device.declared, **extra.get(name, {})})
            for name, device in plan.devices.items()
        }

    def _find(self, name: str) -> Emulator | None:
        host = self.hosts.get(name)
        return host.emulator if host is not None else None

    async def work(self, function: Callable[..., T], *args: object) -> T:
        """Run blocking work of an emulator in a worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, function, *args)

    async def prepare(self) -> None:
        """Make the devices of a small lab before anybody asks; in a large one most are never touched."""
        if len(self.hosts) <= _MADE_AHEAD:
            await asyncio.gather(
                *(host.exclusively(lambda emulator: emulator.prepare()) for host in self.hosts.values())
            )

    async def sync(self, tick: bool = True) -> None:
        """Apply fault changes and due timers of every device."""
        await asyncio.gather(*(host.sync(tick) for host in self.hosts.values()))

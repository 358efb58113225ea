"""A site resolved to devices, ports and cables: what the planner plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rocetune.model.profile import Profile

Manage = Literal["full", "observe", "none"]
GlobalsMode = Literal["extend", "exclusive", "refuse"]
PortName = tuple[str, str]  # (device, port)


@dataclass(frozen=True, slots=True)
class Device:
    """Anything we log in to. ``declared`` holds facts that the inventory states (asic, model, os_version ...)."""

    name: str
    kind: Literal["switch", "server"]
    platform: str  # entry-point name: "arista_eos", "sonic", "linux"
    role: str | None = None  # leaf, spine, gpu, storage ...
    groups: tuple[str, ...] = ()
    manage: Manage = "full"
    globals_mode: GlobalsMode = "extend"
    declared: Mapping[str, str] = field(default_factory=dict)
    failure_domain: str | None = None


@dataclass(frozen=True, slots=True)
class Port:
    """One port of one device with what inventory and cabling say about it.

    ``name`` is how links and people call it (``rail0``, ``Ethernet1/1``). ``select`` binds a server port to
    hardware when the name is an alias: ``netdev:enp1s0f0np0``, ``pci:0000:1a:00.0`` or ``mac:aa:bb:..``.
    """

    device: str
    name: str
    role: str | None = None  # rail, storage, mgmt, fabric, border ...
    network: str | None = None
    rail: int | None = None
    speed_mbps: int | None = None
    medium: str | None = None  # dac, aoc, sr, dr, fr, lr ...
    cable_m: float | None = None
    manage: Manage = "full"
    peer: PortName | None = None
    link_role: str | None = None  # host, fabric, peer-link, border
    select: str | None = None
    lag: str | None = None  # port channel or bond this end belongs to
    mlag: int | None = None  # MLAG id shared by two switches
    breakout: tuple[str, int] | None = None  # (physical port, lane) of a switch end
    declared: tuple[tuple[str, str], ...] = ()  # facts the inventory states: netdev, pci, rdma, nic (sorted)


@dataclass(frozen=True, slots=True)
class Network:
    """One plane of a site. ``profile`` None: ports of it are known and left untouched.

    ``rtt_us`` is a measured round trip without load, ``flows`` the senders that meet on one port; None: not stated.
    """

    name: str
    profile: Profile | None
    rtt_us: float | None = None
    flows: int | None = None


@dataclass(frozen=True, slots=True)
class OwnTable:
    """A headroom table of the site, as text, for these models."""

    file: str
    text: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a site knows better than the shipped tables. ``asics`` holds rows in the shape of the ASIC table."""

    quanta_800g: int = 1810
    asics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tables: tuple[OwnTable, ...] = ()


@dataclass(frozen=True, slots=True)
class Fabric:
    """Everything the planner needs; no connection data, no secret."""

    devices: Mapping[str, Device]
    ports: Mapping[str, tuple[Port, ...]]  # by device name, in the inventory's order
    networks: Mapping[str, Network]
    tuning: Tuning = Tuning()

    def port(self, device: str, name: str) -> Port | None:
        """One port by its names, or None."""
        for port in self.ports.get(device, ()):
            if port.name == name:
                return port
        return None

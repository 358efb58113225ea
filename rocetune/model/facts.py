"""What a device says it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PortFacts:
    """Facts of one port. ``native`` is the name in the device's own configuration."""

    native: str
    speed_mbps: int | None = None
    max_mtu_bytes: int | None = None
    mac: str | None = None
    pci: str | None = None
    driver: str | None = None  # mlx5_core, bnxt_en ...
    adapter: str | None = None  # NIC family that serves the port: nvidia_mlx5
    rdma_device: str | None = None  # mlx5_0, rocep1s0f0
    link_up: bool | None = None
    neighbor: tuple[str, str] | None = None  # LLDP: (system name, port id)
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of one device. ``extra`` carries what only its platform understands (queue mode, buffer model).

    ``source`` is "declared" before a device was read (offline), "device" afterwards.
    """

    platform: str
    source: str = "declared"
    hostname: str | None = None
    model: str | None = None
    asic: str | None = None  # a name of the ASIC table
    os_version: str | None = None
    ports: Mapping[str, PortFacts] = field(default_factory=dict)  # key: native port name
    extra: Mapping[str, str] = field(default_factory=dict)

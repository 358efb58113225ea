"""The intent with every number decided, per device and port.

``Setting`` is interned: ports that share (ASIC, speed, cable, MTU, network, role ...) share one object, so a
site with 160,000 ports holds a few dozen of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rocetune.model.fabric import Device, Port
from rocetune.model.profile import Profile
from rocetune.model.qos import Path, PortQos

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Why:
    """How one number came about: enough to redo it by hand."""

    rule: str  # "headroom.preset", "ecn.bdp", "profile" ...
    inputs: tuple[tuple[str, Scalar], ...] = ()  # name ends in its unit
    steps: tuple[str, ...] = ()  # the arithmetic as an engineer would write it
    bounds: tuple[str, ...] = ()  # bounds that were active
    rounding: str = ""
    source: str = ""  # paper, standard, table, or "profiles/x.yaml:12"


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something believed but not confirmed, shown to the user. ``where`` is a device, port or setting name.

    ``risk``: if it holds, frames can be lost, so validate and plan warn of it.
    """

    where: str
    text: str
    remedy: str = ""
    risk: bool = False


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Something the profile asks for that this platform cannot express.

    ``blocking``: pushing the rest would do harm (a lossless class without headroom), so nothing is pushed.
    """

    where: str
    path: Path
    text: str
    blocking: bool = False


@dataclass(frozen=True, slots=True)
class EcnBasis:
    """What the marking curve of one priority was made for. Bounds are the tightest of the switches with this setting.

    ``strict_bytes`` and ``incast_bytes`` bound kmax (None: no PFC on the queue, or the buffer is not known).
    """

    rtt_us: float
    flows: int
    flows_why: str  # where the flows are counted
    frame_bytes: int
    strict_bytes: float | None = None
    incast_bytes: float | None = None
    dcqcn: Literal["firmware", "scaled", "paper", "off"] = "firmware"  # preset of the senders
    parameters: tuple[tuple[str, int], ...] = ()  # their fixed values


@dataclass(frozen=True, slots=True)
class Setting:
    """The QoS shared by all ports of one combination. ``name`` is safe inside a config line: [a-z0-9-]."""

    name: str  # "backend-400g-2m"
    network: str
    profile: Profile  # effective: overrides applied
    qos: PortQos
    why: Mapping[Path, Why]
    winners: tuple[tuple[str, str], ...] = ()  # (field path, override that decided it)
    basis: Mapping[int, EcnBasis] = field(default_factory=dict)  # by priority, of queues that mark


@dataclass(frozen=True, slots=True)
class PortPlan:
    """One port and its setting. ``native`` is the name in the device's configuration."""

    port: Port
    native: str
    setting: Setting


@dataclass(frozen=True, slots=True)
class DeviceQos:
    """What exists once per device. ``dscp_to_priority`` joins the owned classes of all its networks."""

    dscp_to_priority: tuple[tuple[int, int], ...] = ()  # sorted (dscp, priority), owned classes only
    foreign_dscps: tuple[tuple[int, int], ...] = ()  # of classes with owner: other
    watchdog_poll_ms: int | None = None
    environment: tuple[tuple[str, str], ...] = ()  # application variables of a server, sorted


@dataclass(frozen=True, slots=True)
class DevicePlan:
    """One device. ``ports`` are those with ``manage: full`` or ``observe`` and a profile.

    ``left_out`` says of each other listed port why nothing is planned for it.
    """

    device: Device
    ports: tuple[PortPlan, ...]
    qos: DeviceQos = DeviceQos()
    assumptions: tuple[Assumption, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    why: Mapping[Path, Why] = field(default_factory=dict)  # of what exists once per device: ("buffer",), ("ecn",) ...
    left_out: Mapping[str, str] = field(default_factory=dict)
    asic: str | None = None  # key of the chip that a switch was planned with; None: unknown, or a server

    @property
    def managed(self) -> tuple[PortPlan, ...]:
        """Ports that may be written."""
        if self.device.manage != "full":
            return ()
        return tuple(item for item in self.ports if item.port.manage == "full")


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole fabric. ``problems`` are infeasible numbers: a plan with any is never pushed."""

    devices: Mapping[str, DevicePlan]
    settings: tuple[Setting, ...]
    assumptions: tuple[Assumption, ...] = ()
    problems: tuple[PlanProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """A number that cannot be, with the remedy.

    ``field`` addresses what caused it: in ``profile``, or with an empty ``profile`` in the inventory, as in
    ("hosts", "leaf1", "asic").
    """

    where: str
    text: str
    remedy: str
    profile: str = ""
    field: tuple[str | int, ...] = field(default=())
    warning: bool = False

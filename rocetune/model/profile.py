"""A profile: what the user wants, before any number is computed. Users' files, so pydantic: strict, frozen.

Numbers with units arrive as text and are kept as plain numbers whose field name bears no unit in YAML; the
types below say the unit they hold after validation.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from rocetune.model import units

Auto = Literal["auto"]


def _quantity(parse: Any) -> Any:
    """A validator that leaves ``auto`` and already parsed numbers alone."""

    def convert(value: Any) -> Any:
        return parse(value) if isinstance(value, str) and value != "auto" else value

    return convert


def _unitless_refused(parse: Any) -> Any:
    """As _quantity, and a bare number from YAML is refused by the parser's own words."""

    def convert(value: Any) -> Any:
        if value == "auto" or isinstance(value, float):
            return value
        return float(parse(value))

    return convert


_BYTES_SCHEMA = WithJsonSchema({"type": ["string", "integer"], "description": "bytes: 150KB, 1.5MiB or an integer"})
Bytes = Annotated[int, BeforeValidator(_quantity(units.parse_bytes)), _BYTES_SCHEMA]
Ms = Annotated[
    float,
    BeforeValidator(_unitless_refused(units.parse_ms)),
    WithJsonSchema({"type": "string", "description": "time: 200ms, 0.2s"}),
]
Percent = Annotated[
    float,
    BeforeValidator(_unitless_refused(units.parse_percent)),
    WithJsonSchema({"type": "string", "description": "share: 50%"}),
]
Priority = Annotated[int, Field(ge=0, le=7)]
Dscp = Annotated[int, Field(ge=0, le=63)]


class Model(BaseModel):
    """Base of all user-facing models: unknown keys are errors, values are not coerced, instances frozen."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WatchdogIntent(Model):
    """PFC watchdog: how long a queue may be stuck, when it is tried again, and what is done with it."""

    detect: Ms = 200.0
    restore: Ms = 400.0
    action: Literal["drop", "forward", "notify", "shutdown"] = "drop"
    guaranteed_kbps: int | None = None  # EOS series that watch only queues with guaranteed bandwidth


class Pfc(Model):
    """PFC buffer numbers of a lossless class. A fixed headroom below the computed floor needs accept_risk."""

    headroom: Bytes | Auto = "auto"
    xoff: Bytes | Auto = "auto"
    xon: Bytes | Auto = "auto"
    alpha: float | Auto = "auto"
    watchdog: WatchdogIntent | Literal["off"] = WatchdogIntent()
    accept_risk: str | None = None


class Ecn(Model):
    """ECN marking curve of a class. ``objective`` is used for every number that is auto."""

    kmin: Bytes | Auto = "auto"
    kmax: Bytes | Auto = "auto"
    pmax: Percent | Auto = "auto"
    objective: Literal["latency", "balanced", "throughput"] = "balanced"
    preset: str | None = None  # later: vendor presets by name


class Marking(Model):
    """Who puts the DSCP into packets: the doctor checks just that chain."""

    by: tuple[Literal["rdma_cm", "nccl", "ucx", "nvshmem", "nic", "application"], ...] = ("rdma_cm", "nccl")
    ecn_bits: Literal["ect0", "ect1", "not-ect"] = "ect0"


class ClassIntent(Model):
    """One traffic class. ``owner: other`` counts in sums and fit and is never written."""

    dscp: tuple[Dscp, ...] = ()
    priority: Priority
    lossless: bool = False
    bandwidth: Percent | None = None
    strict: bool = False
    owner: Literal["rocetune", "other"] = "rocetune"
    pfc: Pfc = Pfc()
    ecn: Ecn | Literal["off"] | None = None
    marking: Marking | None = None


class Dcqcn(Model):
    """Congestion control on the NIC. ``firmware`` keeps the NIC's own numbers; ``scaled`` and ``paper`` are opt-in."""

    enabled: bool = True
    preset: Literal["firmware", "scaled", "paper"] = "firmware"
    parameters: dict[str, int] = Field(default_factory=dict)  # fixed values in the NIC's own unit


class Match(Model):
    """Where an override applies: every given field must match."""

    role: str | None = None
    network: str | None = None
    rail: int | None = None
    speed: str | None = None
    cable: str | None = None  # medium: dac, aoc, sr ...
    device: str | None = None
    group: str | None = None


class Override(Model):
    """A partial profile for the ports that match; later ones win."""

    match: Match
    mtu: int | None = None
    host_mtu: int | None = None
    classes: dict[str, dict[str, Any]] = Field(default_factory=dict)
    dcqcn: dict[str, Any] = Field(default_factory=dict)


class Profile(Model):
    """One intent for the ports of a network."""

    name: str
    description: str = ""
    extends: str | None = None
    trust: Literal["dscp"] = "dscp"
    mtu: int = Field(default=9216, ge=1280, le=9216)
    host_mtu: int = Field(default=9000, ge=1280, le=9216)
    rdma_mtu: Literal[256, 512, 1024, 2048, 4096] = 4096
    classes: dict[str, ClassIntent]
    dcqcn: Dcqcn = Dcqcn()
    dcbx: Literal["off", "ieee"] = "off"
    storm_prevention: Ms | Literal["off", "auto"] = "auto"  # NIC stall timer; auto = 100 ms on mlx5
    overrides: tuple[Override, ...] = ()

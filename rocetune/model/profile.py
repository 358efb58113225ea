"""A profile: what the user wants, before any number is computed. Users' files, so pydantic: strict, frozen.

Numbers with units arrive as text and are kept as plain numbers whose field name bears no unit in YAML; the
types below say the unit they hold after validation. Validation context ``{"file": True}`` means "this comes out of
a file": a bare number where a unit belongs is refused then, while numbers parsed before are taken as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from rocetune.model import units
from rocetune.model.invalid import Invalid, invalid
from rocetune.model.names import ClassName, DeviceName, GroupName, NetworkName, ProfileName, Word

Auto = Literal["auto"]
HOST_MTU_OVERHEAD_BYTES = 96  # headers that RoCE adds to its own MTU: linux include/rdma/ib_addr.h, iboe_get_mtu


def _from_file(info: ValidationInfo) -> bool:
    return bool(info.context and info.context.get("file"))


def _quantity(parse: Callable[[Any], float], *, bare: bool = False) -> Callable[[Any, ValidationInfo], Any]:
    """Text through the parser. ``bare`` numbers are legal in a file; else only numbers parsed before pass."""

    def convert(value: Any, info: ValidationInfo) -> Any:
        if value == "auto":
            return value
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and not bare and not _from_file(info):
            return float(value)
        return parse(value)

    return convert


def _as_tuple(value: Any) -> Any:
    """A YAML list for a tuple field; strict mode would refuse it."""
    return tuple(value) if isinstance(value, list) else value


def _unit(kind: str, pattern: str, text: str) -> WithJsonSchema:
    return WithJsonSchema({"type": kind, "pattern": pattern, "description": text})


_NUMBER = r"^[0-9]+(\.[0-9]+)?\s*"
Several = BeforeValidator(_as_tuple)
Bytes = Annotated[
    int,
    BeforeValidator(_quantity(units.parse_bytes, bare=True)),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": _NUMBER + "([KMG]i?)?B$"},
            ],
            "description": "bytes: 150KB (1000), 1.5MiB (1024), or an integer",
        }
    ),
]
Ms = Annotated[
    float,
    BeforeValidator(_quantity(units.parse_ms)),
    _unit("string", _NUMBER + "(us|ms|s|m)$", "time with its unit: 200ms, 0.2s"),
]
Us = Annotated[
    float,
    BeforeValidator(_quantity(units.parse_us)),
    _unit("string", _NUMBER + "(us|ms|s|m)$", "time with its unit: 8us, 0.01ms"),
]
Percent = Annotated[
    float, BeforeValidator(_quantity(units.parse_percent)), _unit("string", _NUMBER + "%$", "share with its sign: 50%")
]
Speed = Annotated[
    int,
    BeforeValidator(
        lambda value, info: value if type(value) is int and not _from_file(info) else units.parse_speed(value)
    ),
    _unit("string", _NUMBER + "([MGT](bps)?)$", "speed with its unit: 400G"),
]
Metres = Annotated[
    float, BeforeValidator(_quantity(units.parse_length)), _unit("string", _NUMBER + "(cm|m|km)$", "length: 2m, 0.5m")
]
Priority = Annotated[int, Field(ge=0, le=7)]
Dscp = Annotated[int, Field(ge=0, le=63)]
Medium = Literal["dac", "aec", "aoc", "sr", "vr", "dr", "fr", "lr", "er", "zr"]


class Model(BaseModel):
    """Base of all user-facing models: unknown keys are errors, values are not coerced, instances frozen."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WatchdogIntent(Model):
    """PFC watchdog: how long a queue may be stuck, when it is tried again, and what is done with it."""

    detect: Ms = Field(
        default=200.0, description="stuck this long: act; 10ms to 60s", json_schema_extra={"default": "200ms"}
    )
    restore: Ms = Field(
        default=400.0,
        description="quiet this long: normal again; not below detect",
        json_schema_extra={"default": "400ms"},
    )
    action: Literal["drop", "forward", "notify", "shutdown"] = "drop"
    guaranteed_kbps: int | None = Field(
        default=None, ge=1, le=1_000_000, description="floor for EOS series that watch only queues with one"
    )

    @model_validator(mode="after")
    def _ranges(self) -> Self:
        # Widest range of the platforms: SONiC YANG 100..5000 ms and 100..60000 ms, EOS 0.01..60 s.
        for name in ("detect", "restore"):
            if not 10 <= getattr(self, name) <= 60_000:
                raise invalid(f"{name} is outside 10ms to 60s", "200ms is a usual value", name)
        if self.restore < self.detect:
            raise invalid(
                f"restore {self.restore:g}ms is shorter than detect {self.detect:g}ms: the queue would flap",
                f"set restore to {self.detect:g}ms or more",
                "restore",
            )
        return self


class Pfc(Model):
    """PFC buffer numbers of a lossless class. Fixed ones outside the computed bounds need accept_risk."""

    headroom: Bytes | Auto = Field(default="auto", description="bytes that still arrive after pause was sent")
    xoff: Bytes | Auto = Field(default="auto", description="static pause threshold; auto keeps a dynamic one")
    xon: Bytes | Auto = Field(default="auto", description="level at which traffic may resume")
    alpha: float | Auto = Field(default="auto", description="dynamic threshold factor: 1/128 to 8")
    watchdog: WatchdogIntent | Literal["off"] = WatchdogIntent()
    accept_risk: str | None = Field(
        default=None, min_length=3, max_length=200, description="why numbers outside the computed bounds are right"
    )

    @field_validator("alpha", mode="before")
    @classmethod
    def _whole_alpha(cls, value: Any) -> Any:
        return float(value) if type(value) is int and abs(value) < 2**53 else value  # a larger one is no alpha

    @model_validator(mode="after")
    def _sense(self) -> Self:
        if isinstance(self.alpha, float) and not 1 / 1024 <= self.alpha <= 64:
            raise invalid(
                f"alpha {self.alpha:g} is outside 1/1024 to 64", "use auto, or a value such as 0.125 or 1", "alpha"
            )
        if isinstance(self.xon, int) and isinstance(self.xoff, int) and self.xon >= self.xoff:
            raise invalid(
                f"xon {self.xon} B is not below xoff {self.xoff} B: pause would never end cleanly",
                "xon must be smaller, by two packets or more",
                "xon",
            )
        return self


class Ecn(Model):
    """ECN marking curve of a class. ``objective`` is used for every number that is auto.

    In YAML ``objective: off`` is the same as ``ecn: off``, and ``objective: {preset: NAME}`` as ``preset: NAME``.
    """

    kmin: Bytes | Auto = Field(default="auto", description="queue length where marking starts")
    kmax: Bytes | Auto = Field(default="auto", description="queue length from which every packet is marked")
    pmax: Percent | Auto = Field(default="auto", description="marking probability just below kmax")
    objective: Literal["latency", "balanced", "throughput"] = Field(
        default="balanced", json_schema_extra={"enum": ["latency", "balanced", "throughput", "off"]}
    )
    preset: ProfileName | None = Field(default=None, description="a vendor preset by name, for the numbers left auto")

    @model_validator(mode="before")
    @classmethod
    def _preset_form(cls, value: Any) -> Any:
        chosen = value.get("objective") if isinstance(value, dict) else None
        if isinstance(chosen, dict) and set(chosen) == {"preset"}:
            if value.get("preset") not in (None, chosen["preset"]):
                raise invalid("two presets are named", "keep one", "preset")
            return {**{k: v for k, v in value.items() if k != "objective"}, "preset": chosen["preset"]}
        return value

    @model_validator(mode="after")
    def _order(self) -> Self:
        if isinstance(self.kmin, int) and isinstance(self.kmax, int) and self.kmin > self.kmax:
            raise invalid(
                f"kmin {units.show_bytes(self.kmin)} is above kmax {units.show_bytes(self.kmax)}: "
                "marking cannot end before it starts",
                f"set kmin to {units.show_bytes(self.kmax)} or less, or let it be auto",
                "kmin",
            )
        if self.pmax == 0:
            raise invalid("pmax 0% marks nothing", "write ecn: off to switch marking off", "pmax")
        return self


class Marking(Model):
    """Who puts the DSCP into packets: the doctor checks just that chain."""

    by: Annotated[tuple[Literal["rdma_cm", "nccl", "ucx", "nvshmem", "nic", "application"], ...], Several] = (
        "rdma_cm",
        "nccl",
    )
    ecn_bits: Literal["ect0", "ect1", "not-ect"] = "ect0"


def _ecn_off(value: Any) -> Any:
    """``objective: off`` is ``ecn: off``; numbers beside it contradict it."""
    if isinstance(value, dict) and value.get("objective") == "off":
        for key, inner in value.items():
            if key != "objective" and inner != "auto":
                raise invalid(f"{key} is set although objective is off", f"remove {key}, or choose an objective", key)
        return "off"
    return value


class ClassIntent(Model):
    """One traffic class. ``owner: other`` counts in sums and fit and is never written.

    ``ecn`` absent means: on with defaults for a lossless class of ours, off otherwise.
    """

    dscp: Annotated[tuple[Dscp, ...], Several] = Field(default=(), description="code points that belong to this class")
    priority: Priority = Field(description="802.1p and PFC priority, 0 to 7")
    lossless: bool = Field(default=False, description="paused by PFC instead of dropped")
    bandwidth: Percent | None = Field(default=None, description="share of the link; all shares make 100%")
    strict: bool = Field(default=False, description="served before all shares")
    owner: Literal["rocetune", "other"] = "rocetune"
    pfc: Pfc = Pfc()
    ecn: Annotated[Ecn | Literal["off"] | None, BeforeValidator(_ecn_off)] = None
    marking: Marking | None = None

    @model_validator(mode="after")
    def _sense(self) -> Self:
        from rocetune.model.rules import class_faults

        faults = tuple(class_faults(self))
        if faults:
            raise Invalid(*faults)
        if self.ecn is None and self.lossless and self.owner == "rocetune":
            object.__setattr__(self, "ecn", Ecn())  # not a set field: an override still sees "absent"
        return self


class Dcqcn(Model):
    """Congestion control on the NIC. ``firmware`` keeps the NIC's own numbers; ``scaled`` and ``paper`` are opt-in."""

    enabled: bool = True
    preset: Literal["firmware", "scaled", "paper"] = "firmware"
    parameters: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")], Annotated[int, Field(ge=0)]] = Field(
        default_factory=dict, description="fixed values in the NIC's own unit"
    )


class Match(Model):
    """Where an override applies: every given field must match. ``role`` is the device's or the port's."""

    role: Word | None = None
    network: NetworkName | None = None
    rail: int | None = Field(default=None, ge=0)
    speed: Speed | None = None
    cable: Medium | None = Field(default=None, description="medium of the cable: dac, aoc, sr ...")
    device: DeviceName | None = None
    group: GroupName | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise invalid(
                "match is empty: the override would apply everywhere", "put the values into the profile itself"
            )
        return self


class Override(Model):
    """A partial profile for the ports that match; later ones win."""

    match: Match
    mtu: int | None = None
    host_mtu: int | None = None
    rdma_mtu: int | None = None
    classes: dict[str, dict[str, Any]] = Field(default_factory=dict)
    dcqcn: dict[str, Any] = Field(default_factory=dict)
    _origin: str = PrivateAttr(default="")

    @property
    def origin(self) -> str:
        """``profiles/mine.yaml override 1``, as its own file counts; empty where no file is known."""
        return self._origin

    def came_from(self, origin: str) -> None:
        """Remember the origin: after ``extends`` the position in the profile is not the one in its file."""
        self._origin = origin


class Profile(Model):
    """One intent for the ports of a network."""

    name: ProfileName
    description: str = Field(default="", max_length=200)
    extends: ProfileName | None = Field(
        default=None,
        description="a profile to start from: mappings are merged key by key and values here win; a list such as dscp "
        "is replaced as a whole; overrides of both stay, those of the other file first, so the ones here win",
    )
    trust: Literal["dscp"] = "dscp"
    mtu: int = Field(default=9216, ge=1280, le=9216, description="bytes, of switch ports")
    host_mtu: int = Field(default=9000, ge=1280, le=9216, description="bytes, of server ports")
    rdma_mtu: Literal[256, 512, 1024, 2048, 4096] = Field(default=4096, description="bytes, path MTU of RoCE")
    classes: dict[ClassName, ClassIntent] = Field(min_length=1)
    dcqcn: Dcqcn = Dcqcn()
    oversubscription: float = Field(
        default=1.0,
        ge=1,
        le=16,
        description="headroom of all lossless ports of a switch may be this many times the pool kept for it, where it "
        "does not fit otherwise; 1 = never. The pools that SONiC itself configures on a model are as they are: a plan "
        "warns where they hold less than half",
    )
    dcbx: Literal["off", "ieee"] = "off"
    storm_prevention: Ms | Literal["off", "auto"] = Field(
        default="auto", description="NIC stall timer; auto = 100 ms on mlx5"
    )
    overrides: Annotated[tuple[Override, ...], Several] = ()

    @field_validator("oversubscription", mode="before")
    @classmethod
    def _whole_ratio(cls, value: Any) -> Any:
        return float(value) if type(value) is int and abs(value) < 2**53 else value

    @field_validator("storm_prevention", mode="before")
    @classmethod
    def _storm_off(cls, value: Any, info: ValidationInfo) -> Any:
        return value if value == "off" else _quantity(units.parse_ms)(value, info)

    @property
    def shares_stated(self) -> bool:
        """False only where one class alone shares the link and says nothing: it has all of it."""
        sharing = [item for item in self.classes.values() if not item.strict and item.owner == "rocetune"]
        return len(sharing) > 1 or any(item.bandwidth is not None for item in self.classes.values())

    @model_validator(mode="after")
    def _sense(self) -> Self:
        from rocetune.model.rules import profile_faults

        faults = tuple(profile_faults(self))
        if faults:
            raise Invalid(*faults)
        if not self.shares_stated:
            for item in self.classes.values():
                if not item.strict and item.owner == "rocetune":
                    object.__setattr__(item, "bandwidth", 100.0)
        return self

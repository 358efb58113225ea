"""The inventory's files as models: Nornir's shape, rocetune's own ``data`` keys, links and ``rocetune.yaml``."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SecretStr,
    model_validator,
)
from pydantic_core import CoreSchema

from rocetune.model.invalid import invalid
from rocetune.model.names import (
    DeviceName,
    FactKey,
    FactText,
    GroupName,
    NetworkName,
    PlatformName,
    PortText,
    ProfileName,
    UserName,
    Word,
    hostname,
)
from rocetune.model.profile import Medium, Metres, Model, Several, Speed, Us
from rocetune.model.tuning import TuningSettings

Manage = Literal["full", "observe", "none"]
ETHERNET_MBPS = (
    100,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    40_000,
    50_000,
    100_000,
    200_000,
    400_000,
    800_000,
    1_600_000,
)


def _ethernet(value: int) -> int:
    if value not in ETHERNET_MBPS:
        raise invalid(
            f"{value / 1000:g}G is not an Ethernet speed", "10G, 25G, 40G, 50G, 100G, 200G, 400G, 800G or 1.6T"
        )
    return value


PortSpeed = Annotated[Speed, AfterValidator(_ethernet)]
Pattern = Annotated[str, Field(min_length=1, max_length=200)]
TcpPort = Annotated[int, Field(ge=1, le=65535)]
Names = Annotated[tuple[GroupName, ...], Several]


class ConnectionEntry(Model):
    """Options of one connection plug-in (netmiko, napalm ...), as Nornir reads them."""

    hostname: Annotated[str, AfterValidator(hostname)] | None = None
    port: TcpPort | None = None
    username: UserName | None = None
    password: SecretStr | None = None
    platform: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")] | None = None
    extras: dict[str, Any] | None = None


class PortEntry(Model):
    """One port, or a bracket range of ports. In a range ``{n}`` is the number in the name and ``{i}`` counts from 0;
    a list of ``select``, ``netdev``, ``pci`` or ``rdma`` gives one value per port."""

    role: Word | None = Field(default=None, description="rail, storage, mgmt, fabric, border ...")
    network: NetworkName | None = Field(default=None, description="a network of rocetune.yaml; wins over its matcher")
    rail: Annotated[int, Field(ge=0, le=1023)] | Annotated[str, Field(max_length=40)] | None = None
    select: Annotated[str | tuple[str, ...] | None, Several] = Field(
        default=None, description="hardware behind an alias: netdev:NAME, pci:ADDRESS or mac:ADDRESS"
    )
    speed: PortSpeed | None = Field(default=None, description="speed the port runs at")
    speeds: Annotated[tuple[PortSpeed, ...], Several] | None = Field(
        default=None, description="speeds the port can run at"
    )
    manage: Manage | None = None
    nic: FactText | None = Field(default=None, description="NIC model, as in ConnectX-7")
    netdev: Annotated[str | tuple[str, ...] | None, Several] = Field(default=None, description="network interface name")
    pci: Annotated[str | tuple[str, ...] | None, Several] = Field(default=None, description="PCI address, 0000:1a:00.0")
    rdma: Annotated[str | tuple[str, ...] | None, Several] = Field(default=None, description="RDMA device, mlx5_0")

    @model_validator(mode="after")
    def _speeds(self) -> Self:
        if self.speed is not None and self.speeds and self.speed not in self.speeds:
            raise invalid("the port cannot have this speed", "use one of its speeds", "speed")
        return self


class DeviceData(Model):
    """The keys of ``data`` that rocetune reads. Other tools' keys may stand beside them."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    role: Word | None = Field(default=None, description="leaf, spine, gpu, storage ...")
    kind: Literal["switch", "server"] | None = Field(default=None, description="default: server for linux, else switch")
    asic: FactText | None = Field(
        default=None,
        description="switch chip, as in Tomahawk 3 or Spectrum-3, or its part number, as in BCM56980; any spelling; "
        "`rocetune validate` names the nearest known chips when it does not know one",
    )
    model: FactText | None = Field(
        default=None, description="switch model, as in DCS-7060DX4-32; tells the chip where asic is not given"
    )
    hwsku: FactText | None = Field(
        default=None, description="SONiC's hardware SKU; tells the chip where asic is not given"
    )
    os_version: FactText | None = None
    buffer_model: Literal["traditional", "dynamic"] | None = Field(default=None, description="SONiC only")
    facts: dict[FactKey, FactText] | None = Field(default=None, description="further facts that a platform understands")
    manage: Manage | None = None
    globals: Literal["extend", "exclusive", "refuse"] | None = Field(
        default=None, description="what may be done to switch-wide objects"
    )
    failure_domain: Annotated[str, Field(max_length=64)] | None = None
    ports: dict[Pattern, PortEntry] | None = Field(default=None, description="ports that rocetune may look at")


class DefaultsEntry(Model):
    """Inventory defaults: what no host and no group says."""

    hostname: Pattern | None = None
    port: TcpPort | None = None
    username: UserName | None = None
    password: SecretStr | None = None
    platform: PlatformName | None = None
    data: DeviceData = DeviceData()
    connection_options: dict[FactKey, ConnectionEntry] = Field(default_factory=dict)


class GroupEntry(DefaultsEntry):
    """One group; ``groups`` are its parents."""

    groups: Names = ()


class HostEntry(GroupEntry):
    """One device, or a bracket range of devices."""


class LagEnds(Model):
    """Aggregates of the two ends where their names differ."""

    a: PortText | None = None
    b: PortText | None = None


class Breakout(Model):
    """The physical port a link's switch end is a lane of."""

    parent: PortText
    lane: Annotated[int, Field(ge=1, le=16)]


class LinkEntry(Model):
    """One cable, or many by named indexes (``for``) or bracket ranges."""

    a: Pattern = Field(description='"leaf{r:02}:Ethernet{h*4}"')
    b: Pattern = Field(description='"gpu{h:03}:rail{r}"')
    for_: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,15}$")], int | str | list[int]] = Field(
        default_factory=dict, alias="for", description="index name: range, as in {r: 0-7, h: 1-32}"
    )
    speed: PortSpeed | None = None
    medium: Medium | None = None
    length: Metres | None = None
    role: Literal["host", "fabric", "peer-link", "border"] | None = None
    network: NetworkName | None = None
    rail: Annotated[int, Field(ge=0, le=1023)] | Annotated[str, Field(max_length=40)] | None = None
    lag: PortText | LagEnds | None = Field(default=None, description="port channel the ends belong to")
    mlag: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        default=None, description="MLAG id shared by two switches"
    )
    bond: PortText | None = Field(default=None, description="bond on the server's end")
    breakout: Breakout | None = None

    @model_validator(mode="after")
    def _length(self) -> Self:
        if self.length is not None and not 0 < self.length <= 100_000:
            raise invalid("a cable length is more than 0 m and at most 100 km", "write it as 2m or 10km", "length")
        return self


def _one_or_more(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return (value,) if isinstance(value, str | int) and not isinstance(value, bool) else value


class _OrOne:
    """Schema of a list that may also be written as its single value."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        made = handler(core)
        return {"anyOf": [made.get("items", {}), made]}


_ONE_OR_MORE: tuple[Any, ...] = (Field(min_length=1), BeforeValidator(_one_or_more), _OrOne)
Words = Annotated[tuple[Word, ...], *_ONE_OR_MORE]


class PortMatch(Model):
    """Which ports belong to a network: every given field must match; a list means any of its values."""

    role: Words | None = Field(default=None, description="role of the port: rail, storage, fabric ...")
    device_role: Words | None = None
    device: Annotated[tuple[DeviceName, ...], *_ONE_OR_MORE] | None = None
    group: Annotated[tuple[GroupName, ...], *_ONE_OR_MORE] | None = None
    rail: Annotated[tuple[Annotated[int, Field(ge=0)], ...], *_ONE_OR_MORE] | None = None
    name: Annotated[tuple[PortText, ...], *_ONE_OR_MORE] | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise invalid("an empty matcher would take every port", "name a role, device, group, rail or port name")
        return self


class NetworkEntry(Model):
    """One plane of the site. ``profile: none`` leaves its ports untouched."""

    profile: ProfileName
    ports: PortMatch | None = None
    rtt: Us | None = Field(
        default=None, description="measured round trip between two servers at an idle time, in place of the assumed one"
    )
    flows: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        default=None, description="senders that meet on one port; default: the other servers of the fullest leaf"
    )

    @model_validator(mode="after")
    def _sense(self) -> Self:
        if self.rtt is not None and not 0.1 <= self.rtt <= 100_000:
            raise invalid(f"rtt {self.rtt:g}us is outside 0.1us to 100ms", "a data centre has some microseconds", "rtt")
        return self


class InventoryEntry(Model):
    """Where the inventory comes from. This release reads files only."""

    plugin: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")] = "files"
    path: str | None = Field(default=None, description="folder, relative to the site; default inventory/")
    options: dict[str, Any] = Field(default_factory=dict)


class Limits(Model):
    """How careful an apply is."""

    wave: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=8,
        description="devices changed at once, after the canaries (one device of each platform, changed first) "
        "turned out well",
    )


class SiteSettings(Model):
    """``rocetune.yaml``."""

    networks: dict[NetworkName, NetworkEntry] = Field(default_factory=dict)
    inventory: InventoryEntry = InventoryEntry()
    limits: Limits = Limits()
    tuning: TuningSettings = TuningSettings()

"""What a name may look like. Every string that can reach a shell or a configuration line passes one of these."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from rocetune.model.invalid import invalid

DEVICE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", re.ASCII)
PORT = re.compile(r"[A-Za-z0-9][A-Za-z0-9/:._-]{0,62}", re.ASCII)
WORD = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)  # roles, groups, planes: our own words
PROFILE = re.compile(r"[a-z][a-z0-9-]{0,31}", re.ASCII)
CLASS = re.compile(r"[a-z][a-z0-9-]{0,15}", re.ASCII)
GROUP = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
PLATFORM = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@\\-]{0,63}", re.ASCII)
FACT = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+,/()#-]{0,63}", re.ASCII)  # asic, model, os_version
FACT_KEY = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
NETDEV = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}", re.ASCII)  # IFNAMSIZ is 16 with the final zero
PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]", re.ASCII)
MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", re.ASCII)
RDMA = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}", re.ASCII)
DNS_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?", re.ASCII)


def checked(pattern: re.Pattern[str], what: str, rule: str) -> Callable[[str], str]:
    """A validator: the text must match the whole pattern."""

    def check(value: str) -> str:
        if pattern.fullmatch(value) is None:
            raise invalid(f"{value!r} is not {what}", rule)
        return value

    return check


def hostname(value: str) -> str:
    """An IPv4 or IPv6 address, or a DNS name. Raises Invalid."""
    try:
        ipaddress.ip_address(value.partition("%")[0])
        if "%" not in value or DNS_LABEL.fullmatch(value.partition("%")[2]):
            return value
    except ValueError:
        labels = value.removesuffix(".").split(".")
        numeric = labels[-1].isdigit()
        if len(value) <= 253 and not numeric and all(DNS_LABEL.fullmatch(label) for label in labels):
            return value
    raise invalid(
        f"{value!r} is neither an IP address nor a DNS name", "write 192.0.2.10, 2001:db8::10 or leaf1.example"
    )


def same_host(value: str) -> str:
    """One form for all spellings of an address: ``LEAF1.example.`` is leaf1.example, ``2001:DB8:0::1`` 2001:db8::1."""
    address, percent, zone = value.partition("%")
    try:
        return str(ipaddress.ip_address(address)) + percent + zone
    except ValueError:
        return value.lower().removesuffix(".")


def select(value: str) -> str:
    """What binds a server port to hardware: ``netdev:NAME``, ``pci:ADDRESS`` or ``mac:ADDRESS``, lower case."""
    kind, colon, rest = value.partition(":")
    if not colon or kind not in ("netdev", "pci", "mac"):
        raise invalid(
            f"{value!r} does not say what it selects by",
            "write netdev:ens1f0np0, pci:0000:1a:00.0 or mac:aa:bb:cc:dd:ee:ff",
        )
    check = {"netdev": netdev, "pci": pci, "mac": mac}[kind]
    return f"{kind}:{check(rest)}"


def pci(value: str) -> str:
    """A PCI address in full, lower case."""
    lowered = value.lower()
    if PCI.fullmatch(lowered) is None:
        raise invalid(f"{value!r} is not a PCI address", "write it in full, as in 0000:1a:00.0")
    return lowered


def mac(value: str) -> str:
    """A MAC address with colons, lower case."""
    lowered = value.lower().replace("-", ":")
    if MAC.fullmatch(lowered) is None:
        raise invalid(f"{value!r} is not a MAC address", "write it as aa:bb:cc:dd:ee:ff")
    return lowered


netdev = checked(NETDEV, "a network interface name", "up to 15 letters, digits, '.', '_' and '-', as in ens1f0np0")
rdma = checked(RDMA, "an RDMA device name", "letters, digits and '_', as in mlx5_0")
device = checked(DEVICE, "a device name", "use letters, digits, '-', '_' and '.', as in leaf01")
port = checked(PORT, "a port name", "use letters, digits and '/', ':', '.', '_', '-', as in Ethernet1/1")
platform = checked(PLATFORM, "a platform name", "use lower-case letters, digits and '_', as in arista_eos")
group = checked(GROUP, "a group name", "use letters, digits, '-', '_' and '.'")
user = checked(USER, "a user name", "use letters, digits, '.', '_', '-' and '@'")
fact_key = checked(FACT_KEY, "a fact name", "use lower-case letters, digits and '_', as in buffer_model")

_WORD_RULE = "start with a lower-case letter, then lower-case letters, digits, '-' and '_', at most 32"


def _text(check: Callable[[str], str], pattern: re.Pattern[str]) -> tuple[Any, Any]:
    return AfterValidator(check), Field(json_schema_extra={"pattern": f"^({pattern.pattern})$"})


DeviceName = Annotated[str, *_text(device, DEVICE)]
PortText = Annotated[str, *_text(port, PORT)]
Word = Annotated[str, *_text(checked(WORD, "a plain name", _WORD_RULE), WORD)]
ProfileName = Annotated[
    str, *_text(checked(PROFILE, "a profile name", "lower-case letters, digits and '-', at most 32"), PROFILE)
]
NetworkName = Annotated[
    str, *_text(checked(PROFILE, "a network name", "lower-case letters, digits and '-', at most 32"), PROFILE)
]
ClassName = Annotated[
    str, *_text(checked(CLASS, "a class name", "lower-case letters, digits and '-', at most 16"), CLASS)
]
GroupName = Annotated[str, *_text(group, GROUP)]
PlatformName = Annotated[str, *_text(platform, PLATFORM)]
UserName = Annotated[str, *_text(user, USER)]
FactText = Annotated[
    str, *_text(checked(FACT, "a plain fact", "use letters, digits, spaces and ._+,/()#-, at most 64"), FACT)
]
FactKey = Annotated[str, *_text(fact_key, FACT_KEY)]

"""Names and fixed numbers of EOS: interfaces, traffic classes, default maps, model series.

Sources: EOS QoS manual as cited in the EOS RoCEv2 lossless guide (default DSCP map, confirmed by the public
Arista EOS STIG listing and the OpenConfig test constant ``qosconfigArista``), avd schemas (ranges), Arista TOI
index, tag pfc (watchdog and guaranteed bandwidth).
"""

from __future__ import annotations

import re
from typing import Literal

from rocetune.tuning.asics import table

QueueMode = Literal["uc-tx-queue", "tx-queue"]

PREFIX = "ROCETUNE-"
MMU_PROFILE = "ROCETUNE-MMU"
MTU_CEILING = 9214  # routed ports; switched ports are fixed at this size
RESERVED_TC = 7  # tied to queue 7, carries the switch's own control traffic: never written

_DEFAULT_BY_OCTET = (1, 0, 2, 3, 4, 5, 6, 7)  # DSCP 0-7 -> TC 1, 8-15 -> TC 0, 16-23 -> TC 2 ...
_ABBREVIATIONS = (
    ("port-channel", "Port-Channel"),
    ("management", "Management"),
    ("loopback", "Loopback"),
    ("ethernet", "Ethernet"),
    ("vxlan", "Vxlan"),
    ("vlan", "Vlan"),
)
_SHORTEST = {"Ethernet": 2, "Management": 2, "Port-Channel": 2, "Loopback": 2, "Vxlan": 2, "Vlan": 2}
_INTERFACE = re.compile(r"([A-Za-z-]+)\s*([0-9][0-9/.]*)", re.ASCII)

# Series whose watchdog also watches queues without guaranteed bandwidth (Arista TOI of October 2018, tag pfc).
_WATCHES_ALL = re.compile(r"7050(?:[CSTQ]?X[23]?)(?:-|$)|7060(?:[CSQ]?X[23]?)(?:-|$)", re.ASCII)


def interface(name: str) -> str:
    """The full name of an interface: ``Et1/1``, ``ethernet 1/1`` and ``Ethernet1/1`` are one.

    A name of no known kind comes back unchanged.
    """
    match = _INTERFACE.fullmatch(name.strip())
    if match is None:
        return name.strip()
    word = match[1].lower()
    if word == "po":
        return f"Port-Channel{match[2]}"
    for low, full in _ABBREVIATIONS:
        if low.startswith(word) and len(word) >= _SHORTEST[full]:
            return f"{full}{match[2]}"
    return name.strip()


def default_traffic_class(dscp: int) -> int:
    """The traffic class that EOS gives a DSCP when no line says otherwise."""
    return _DEFAULT_BY_OCTET[dscp // 8]


def traffic_class(priority: int) -> int:
    """The traffic class that serves a wire priority.

    EOS exchanges the lowest two: best effort (DSCP 0-7, CoS 0) sits in TC 1 and the scavenger code points in TC 0.
    So the class of priority 0 gets queue 1, and nothing needs to move all unmarked traffic to another queue.
    """
    return {0: 1, 1: 0}.get(priority, priority)


def priority(traffic_class: int) -> int:
    """The wire priority a traffic class serves; the inverse of :func:`traffic_class`."""
    return {0: 1, 1: 0}.get(traffic_class, traffic_class)


def profile_name(setting: str) -> str:
    """The name of the ``qos profile`` of a setting."""
    return PREFIX + setting.upper()


def asic_of(model: str | None) -> str | None:
    """The ASIC of a model, or None when the table of chips does not know it."""
    chip = table().by_model(model) if model else None
    return chip.name if chip is not None else None


def chip_name(key: str | None) -> str | None:
    """The name of a chip as every table has it; a site may call it otherwise. Its key where only the site has it."""
    chip = table().get(key) if key else None
    return chip.name if chip is not None else key


def is_trident_family(asic: str | None) -> bool | None:
    """Whether the chip takes ``platform trident`` lines, False on deep-buffer chips; None for any other chip.

    In any spelling: ``Tomahawk 3``, ``TH3``, ``BCM56980``.
    """
    chip = table().find_name(asic) if asic else None
    word = (chip.key if chip is not None else asic or "").lower().replace(" ", "")
    if word.startswith(("trident", "tomahawk")):
        return True
    deep = chip is not None and chip.layout == "voq" and chip.vendor == "Broadcom"
    return False if deep or word.startswith(("jericho", "qumran", "arad")) else None


def usual_queue_mode(asic: str | None) -> QueueMode:
    """What this chip family usually has. A guess: the device's own words decide when it was read."""
    return "tx-queue" if is_trident_family(asic) is False else "uc-tx-queue"


def watches_all_queues(model: str | None) -> bool:
    """True where the watchdog is known to cover queues without guaranteed bandwidth."""
    return model is not None and _WATCHES_ALL.search(model.upper()) is not None

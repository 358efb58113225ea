"""What the ports of a platform can be called, as data: a typing error is found before any device is asked.

Platforms that are not listed, and those that name ports freely (linux: aliases of ours), take any name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PortNames:
    """Names of ports that can carry a profile, and how they are written."""

    pattern: re.Pattern[str]
    remedy: str


PORT_NAMES: Mapping[str, PortNames] = {
    # SONiC names a port after its first lane: sonic-port.yang, "Ethernet" and a number
    "sonic": PortNames(
        re.compile(r"Ethernet[0-9]{1,4}", re.ASCII),
        "SONiC counts lanes: Ethernet0, Ethernet8, as `show interfaces status`",
    ),
    # EOS takes abbreviations down to Et; slot, port and lane are divided by slashes
    "arista_eos": PortNames(
        re.compile(r"et(h(e(r(n(e(t)?)?)?)?)?)? ?[0-9]{1,3}(/[0-9]{1,3}){0,2}", re.ASCII | re.IGNORECASE),
        "EOS counts ports from 1, then lanes: Ethernet1/1, as `show interfaces status`",
    ),
}


def impossible(platform: str, port: str) -> str | None:
    """How ports of the platform are written, where this is none of their names; else None."""
    rule = PORT_NAMES.get(platform)
    return rule.remedy if rule is not None and rule.pattern.fullmatch(port) is None else None

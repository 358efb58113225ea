"""The settings file of a server: lines ``key=value``, their grammar, and who owns which.

The same grammar stands in ``rocetune-host.sh`` (function ``valid``); both refuse everything else, so that nothing but
these values can reach a shell, a tool or a file on a server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from rocetune.model.change import Config, Impact, Key, KeyRule, Phase
from rocetune.platforms.linux.adapters import DCQCN_NAMES

NETDEV = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,14}", re.ASCII)
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*", re.ASCII)
_ENV_VALUE = re.compile(r"[A-Za-z0-9_.,:/+-]{0,256}", re.ASCII)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)
Test = Callable[[str], bool]


class BadSetting(ValueError):
    """A settings line that is not in the grammar."""


def _one_of(*words: str) -> Test:
    return lambda value: value in words


def _within(low: int, high: int) -> Test:
    return lambda value: _NUMBER.fullmatch(value) is not None and low <= int(value) <= high


def _eight(test: Test) -> Test:
    return lambda value: len(items := value.split(",")) == 8 and all(test(item) for item in items)


def _either(*tests: Test) -> Test:
    return lambda value: any(test(value) for test in tests)


def _persist(value: str) -> bool:
    first, *names = value.split(",")
    return (not names and first in ("none", "stale", "boot")) or (
        first == "boot" and all(name in DCQCN_NAMES for name in names)
    )


_PRIORITY = _within(0, 7)
# In a rendered bitmap "x" stands for a bit that belongs to a foreign class; desired() fills it from the device.
_PORT_VALUES: dict[str, Test] = {
    "dcbx": _one_of("os", "fw"),
    "pause": _one_of("on", "off"),
    "mtu": _within(68, 65535),
    "trust": _one_of("dscp", "pcp"),
    "cable_m": _within(1, 999),
    "ets.tsa": _eight(_one_of("ets", "strict", "vendor")),
    "ets.bw": _eight(_within(0, 100)),
    "prio_tc": _eight(_PRIORITY),
    "pfc": _eight(_one_of("0", "1", "x")),
    "roce_np.enable": _eight(_one_of("0", "1")),
    "roce_rp.enable": _eight(_one_of("0", "1")),
    "cnp_dscp": _within(0, 63),
    "cnp_prio": _PRIORITY,
    "storm_prevention_ms": _either(_one_of("0"), _within(80, 8000)),
    "roce_mode": _one_of("v1", "v2"),
    "roce_tos": _within(0, 255),
    "traffic_class": _either(_one_of("-1"), _within(0, 255)),
    "persist": _persist,
}
_PORT_VALUES.update({f"dscp2prio.{dscp}": _either(_one_of("-"), _PRIORITY) for dscp in range(64)})
_PORT_VALUES.update({f"dcqcn.{name}": _within(0, 2**32 - 1) for name in DCQCN_NAMES})


def valid(key: Key, value: str) -> bool:
    """Whether a key and its value are in the grammar."""
    if len(key) == 2 and key[0] == "env":
        return _ENV_NAME.fullmatch(key[1]) is not None and _ENV_VALUE.fullmatch(value) is not None
    if len(key) < 3 or key[0] != "port" or NETDEV.fullmatch(key[1]) is None:
        return False
    test = _PORT_VALUES.get(".".join(key[2:]))
    return test is not None and test(value)


def line(key: Key, value: str) -> str:
    """One settings line. Raises BadSetting."""
    if not valid(key, value):
        raise BadSetting(f"{'.'.join(key)}={value!r} is not a setting of a server")
    return f"{'.'.join(key)}={value}"


def parse(text: str) -> dict[Key, str]:
    """Settings text to the flat map. Comments and ``key=?`` (could not be observed) are left out.

    Raises BadSetting with the number of the first wrong line.
    """
    config: dict[Key, str] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        if not raw or raw.startswith("#"):
            continue
        name, separator, value = raw.partition("=")
        key = tuple(name.split("."))
        if value == "?":
            continue
        if not separator or not valid(key, value):
            raise BadSetting(f"line {number} of the settings is not valid: {raw[:80]!r}")
        config[key] = value
    return config


def render(config: Config, keys: Iterable[Key]) -> str:
    """Settings lines of some keys, one per line, in the given order."""
    return "".join(line(key, config[key]) + "\n" for key in keys)


def _port(name: str, phase: Phase, impact: Impact, note: str = "") -> KeyRule:
    return KeyRule(("port", "{port}", name), phase, impact, note)


_NOT_SHAPING = "takes effect at once; packets on the way keep their order"
OWNED: tuple[KeyRule, ...] = (
    _port("pfc", Phase.SERVER, Impact.LINK_BOUNCE, "the driver takes the link down and up when the bitmap changes"),
    _port("mtu", Phase.SERVER, Impact.BRIEF_LOSS, "the driver may re-open its channels"),
    _port("pause", Phase.SERVER, Impact.BRIEF_LOSS, "a peer that relied on 802.3x pause is no longer stopped by it"),
    _port("trust", Phase.SERVER, Impact.MARKING, "packets move to the priority of their DSCP"),
    _port("dscp2prio", Phase.SERVER, Impact.MARKING, "packets with this DSCP change their priority"),
    _port("prio_tc", Phase.SERVER, Impact.NONE, _NOT_SHAPING),
    _port("ets", Phase.SERVER, Impact.NONE, _NOT_SHAPING),
    _port("dcbx", Phase.SERVER, Impact.NONE, "a switch's DCBX offers are no longer taken over"),
    _port("cable_m", Phase.SERVER, Impact.NONE),
    _port("storm_prevention_ms", Phase.SERVER, Impact.NONE),
    _port(
        "roce_np", Phase.SERVER, Impact.NONE, "CNP generation is port-wide on mlx5: any enabled priority turns it on"
    ),
    _port("roce_rp", Phase.SERVER, Impact.NONE, "senders begin or cease to slow down on CNPs"),
    _port("cnp_dscp", Phase.SERVER, Impact.MARKING, "CNPs leave with another DSCP"),
    _port("cnp_prio", Phase.SERVER, Impact.MARKING),
    _port("dcqcn", Phase.SERVER, Impact.NONE),
    _port("persist", Phase.SERVER, Impact.NONE, "boot units, written when the change is confirmed"),
    _port("roce_mode", Phase.MARKING, Impact.MARKING, "new rdma_cm connections use another RoCE version"),
    _port("roce_tos", Phase.MARKING, Impact.MARKING, "new rdma_cm connections are marked differently"),
    _port("traffic_class", Phase.MARKING, Impact.MARKING, "the driver rewrites the DSCP of connected queue pairs too"),
    KeyRule(("env",), Phase.MARKING, Impact.NONE, "read by jobs when they start", scope="ours"),
)

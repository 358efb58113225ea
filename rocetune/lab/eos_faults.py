"""Mis-settings that somebody could have left on an EOS switch: each as configuration lines of its own.

They are entered and saved, as a person would have done it, so that running and startup stay equal and ``apply``
can put them right.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rocetune.lab.device import Fault
from rocetune.lab.eos_tree import Block

FAULTS: Mapping[str, str] = {
    "refuse_line": "a configuration line that contains VALUE is refused",
    "wrong_trust": "PORT trusts CoS instead of DSCP",
    "wrong_map": "the DSCP of the lossless class (or VALUE, as 26) goes to traffic class 2",
    "pfc_missing": "PORT has a profile without priority flow control",
    "ecn_missing": "PORT has a profile without ECN on its lossless queue",
    "mtu": "PORT has an MTU of VALUE (1500)",
    "watchdog_off": "PORT, or every port, has no PFC watchdog",
    "foreign_session": "somebody has a configuration session open (VALUE is its name)",
}
STRAY = "SITE-LEGACY"  # profiles that a person copied and changed


@dataclass(frozen=True, slots=True)
class Bent:
    """What was bent, for a person to read; ``change`` is made to running and startup."""

    text: str
    change: Callable[[Block], None]


def bend(fault: Fault, lossless_dscp: int, ports: frozenset[str]) -> Bent:
    """The change of one fault. ValueError says what the fault still needs."""
    port = fault.port
    if fault.name in ("wrong_trust", "pfc_missing", "ecn_missing", "mtu") and port is None:
        raise ValueError(f"{fault.name} needs a port")
    if port is not None and port not in ports:
        raise ValueError(f"no port {port}")
    at = f"interface {port}"
    if fault.name == "wrong_trust":
        return Bent(f"{port} trusts CoS", lambda root: _put(root, at, "qos trust", "qos trust cos"))
    if fault.name == "mtu":
        size = int(fault.value or 1500)
        return Bent(f"{port} has MTU {size}", lambda root: _put(root, at, "mtu", f"mtu {size}"))
    if fault.name == "wrong_map":
        dscp = int((fault.value or str(lossless_dscp)).partition(":")[0])
        text = f"DSCP {dscp} goes to traffic class 2"
        return Bent(text, lambda root: root.update({f"qos map dscp {dscp}": ["to traffic-class 2", None]}))
    if fault.name == "pfc_missing":
        return Bent(f"{port} has no PFC", lambda root: _stray(root, at, "PFC", _without("priority-flow-control")))
    if fault.name == "ecn_missing":
        return Bent(f"{port} has no ECN", lambda root: _stray(root, at, "ECN", _without_ecn))
    if fault.name == "watchdog_off" and port is not None:
        watchdog = _without("priority-flow-control pause")
        return Bent(f"{port} has no watchdog", lambda root: _stray(root, at, "WATCHDOG", watchdog))
    if fault.name == "watchdog_off":
        return Bent("no port has a watchdog", _unwatch_all)
    raise ValueError(f"unknown fault {fault.name!r}; known: {', '.join(FAULTS)}")


def _put(root: Block, block: str, name: str, line: str) -> None:
    inner = root.setdefault(block, [block, {}])[1]
    if line == "mtu 1500":
        inner.pop(name, None)  # the default is not printed
    else:
        inner[name] = [line, None]


def _stray(root: Block, at: str, word: str, change: Callable[[Block], None]) -> None:
    """Attach a changed copy of the port's profile to the port."""
    port = root.setdefault(at, [at, {}])[1]
    bound = port.get("service-profile")
    source: Block = root.get(f"qos profile {bound[0].split()[1]}", ["", {}])[1] if bound else {}
    made = copy.deepcopy(source)
    change(made)
    name = f"{STRAY}-NO-{word}"
    root[f"qos profile {name}"] = [f"qos profile {name}", made]
    port["service-profile"] = [f"service-profile {name}", None]


def _without(prefix: str) -> Callable[[Block], None]:
    def change(profile: Block) -> None:
        for name in [name for name in profile if name.startswith(prefix)]:
            del profile[name]

    return change


def _without_ecn(profile: Block) -> None:
    for _, inner in profile.values():
        if inner is not None:
            inner.pop("random-detect ecn", None)


def _unwatch_all(root: Block) -> None:
    for name, (_, inner) in root.items():
        if name.startswith(("qos profile ", "interface ")) and inner is not None:
            _without("priority-flow-control pause")(inner)

"""Running or rendered configuration text to flat keys with canonical values.

The reader goes by indentation, as EOS prints it. What EOS hides or writes in several ways becomes one form: DSCP
lists one key per DSCP, decimals without trailing zeros, full interface names, ``queue N`` for both queue words.
Lines of no interest are skipped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from rocetune.model.change import Config, Key
from rocetune.platforms.arista_eos import keys, names

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII)
_QUEUE = re.compile(r"(?:uc-)?tx-queue ([0-7])", re.ASCII)
_DSCP_LINE = re.compile(r"qos map dscp ([0-9 ,-]+?) to traffic-class ([0-7])( drop-precedence [0-2])?", re.ASCII)
_TC_LINE = re.compile(r"qos map traffic-class ([0-9 ,-]+?) to (?:uc-)?tx-queue ([0-7])", re.ASCII)
_ECN = re.compile(
    r"random-detect ecn minimum-threshold (\S+) (\w+) maximum-threshold (\S+) (\w+)"
    r"(?: max-mark-probability (\S+))?(?: weight (\S+))?",
    re.ASCII,
)
_HEADROOM = re.compile(r"ingress headroom(?: (bytes|cells))? ([0-9]+)(?: (bytes|cells))?", re.ASCII)
_PORT_TIMER = re.compile(
    r"priority-flow-control pause watchdog port timer"
    r" timeout (\S+) polling-interval (\S+) recovery-time (\S+)( forced)?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement: its canonical value and the line it was read from."""

    value: str
    line: str


def number(text: str) -> str:
    """A decimal in one spelling: ``0.20`` and ``0.2`` are equal. Other words come back unchanged."""
    if not _NUMBER.fullmatch(text):
        return text
    try:
        plain = f"{Decimal(text):f}"
    except InvalidOperation:  # pragma: no cover - the pattern admits numbers only
        return text
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def numbers(text: str) -> tuple[int, ...]:
    """The members of ``0 1 2``, ``0-7`` or ``0,2,4-6``."""
    found: list[int] = []
    for part in re.split(r"[ ,]+", text.strip()):
        low, dash, high = part.partition("-")
        if low.isdigit() and (not dash or high.isdigit()):
            found.extend(range(int(low), int(high if dash else low) + 1))
    return tuple(found)


def ecn_value(minimum: str, maximum: str, unit: str, probability: str | None, weight: str | None) -> str:
    """The canonical text of an ECN curve. EOS may leave out a probability of 100 and a weight of 0 (not confirmed)."""
    return (
        f"minimum-threshold {number(minimum)} {unit} maximum-threshold {number(maximum)} {unit}"
        f" max-mark-probability {number(probability or '100')} weight {number(weight or '0')}"
    )


def scan(text: str) -> dict[Key, Entry]:
    """Every statement of interest that the text states, foreign profiles and ports included; no defaults."""
    found: dict[Key, Entry] = {}
    stack: list[tuple[int, str]] = []
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("!"):
            continue
        indent = len(raw) - len(raw.lstrip())
        while stack and stack[-1][0] >= indent:
            stack.pop()
        for key, value in _statement(tuple(header for _, header in stack), line):
            found[key] = Entry(value, line)
        stack.append((indent, line))
    return found


def parse(text: str) -> Config:
    """The flat map of keys that rocetune may own, with EOS's hidden defaults of the maps filled in."""
    return {**defaults(), **stated(text)}


def stated(text: str) -> dict[Key, str]:
    """The ownable keys that the text itself states, without EOS's defaults."""
    return {key: entry.value for key, entry in scan(text).items() if ownable(key, entry.value)}


def defaults() -> dict[Key, str]:
    """What EOS does not print: the DSCP map, the queue map and the watchdog's action."""
    filled = {keys.dscp(point): str(names.default_traffic_class(point)) for point in range(64)}
    filled.update({keys.queue_of(number_): str(number_) for number_ in range(8)})
    filled[keys.WATCHDOG_ACTION] = "errdisable"
    return filled


def ownable(key: Key, value: str) -> bool:
    """Whether a scanned key can be rocetune's at all: not a foreign profile, not a port's forwarding mode.

    ``qos trust dscp`` on a port repeats what the profile says and is left to whoever wrote it; any other trust
    on a port overrides the profile.
    """
    if key[0] in (keys.PROFILE, keys.MMU):
        return key[1].startswith(names.PREFIX)
    if key[0] == keys.INTERFACE:
        return key[2] not in ("no switchport", "shutdown") and (key[2], value) != ("qos trust", "dscp")
    return True


def _statement(context: tuple[str, ...], line: str) -> list[tuple[Key, str]]:
    if not context:
        return _global(line)
    head, _, name = context[0].partition(" ")
    if context[0].startswith(f"{keys.PROFILE} "):
        return _in_profile(context, line)
    if context[0].startswith(f"{keys.MMU} "):
        return _in_mmu(context[0].removeprefix(f"{keys.MMU} ").strip(), line)
    if head == keys.INTERFACE:
        return _in_interface(names.interface(name), context, line)
    return []


def _global(line: str) -> list[tuple[Key, str]]:
    if match := _DSCP_LINE.fullmatch(line):
        value = match[2] + (match[3] or "")
        return [(keys.dscp(point), value) for point in numbers(match[1]) if point < 64]
    if match := _TC_LINE.fullmatch(line):
        return [(keys.queue_of(member), match[2]) for member in numbers(match[1])]
    if line.startswith(f"{keys.PROFILE} "):
        return [(keys.profile(line.removeprefix(f"{keys.PROFILE} ").strip()), "")]
    if line.startswith(f"{keys.MMU} "):
        words = line.removeprefix(f"{keys.MMU} ").split()
        return [(keys.MMU_APPLY, words[0])] if words[1:] == ["apply"] else [((keys.MMU, words[0]), "")]
    if line == "hardware counter feature ecn out":
        return [(keys.ECN_COUNTER, "on")]
    if line.startswith(f"{keys.WATCHDOG} "):
        words = line.removeprefix(f"{keys.WATCHDOG} ").split()
        if words[0] == "action" and len(words) == 2:
            return [(keys.WATCHDOG_ACTION, words[1])]
        if words[0] == "default" and len(words) == 3:
            return [((keys.WATCHDOG, f"default {words[1]}"), number(words[2]))]
    return []


def _in_mmu(name: str, line: str) -> list[tuple[Key, str]]:
    if match := _HEADROOM.fullmatch(line):
        return [((keys.MMU, name, "ingress headroom"), f"{match[1] or match[3] or 'bytes'} {match[2]}")]
    if match := re.fullmatch(r"ingress threshold (\S+)", line):
        return [((keys.MMU, name, "ingress threshold"), match[1])]
    return [((keys.MMU, name, line), "")]


def _in_profile(context: tuple[str, ...], line: str) -> list[tuple[Key, str]]:
    name = context[0].removeprefix(f"{keys.PROFILE} ").strip()
    if len(context) == 1:
        if _QUEUE.fullmatch(line):
            return []  # the block's header; what it holds follows
        found = _port_statement(line)
        if found is None:
            return [(keys.profile(name, line), "")]
        # `drop` is what every priority of a profile has anyway; on a port it overrides the profile.
        return (
            []
            if found[1] == "drop" and found[0][0] != "watchdog action"
            else [(keys.profile(name, *found[0]), found[1])]
        )
    match = _QUEUE.fullmatch(context[1])
    if match is None:
        return [(keys.profile(name, context[1], line), "")]
    part, value = _queue_statement(line) or (line, "")
    return [(keys.profile(name, keys.queue(int(match[1])), part), value)] if part else []


def _in_interface(name: str, context: tuple[str, ...], line: str) -> list[tuple[Key, str]]:
    if len(context) == 2:
        match = _QUEUE.fullmatch(context[1])
        found = _queue_statement(line) if match else None
        if match is None or found is None or not found[0]:
            return []
        return [(keys.port(name, keys.queue(int(match[1])), found[0]), found[1])]
    if line in ("no switchport", "shutdown"):
        return [(keys.port(name, line), "")]
    for word in ("service-profile", "mtu", "dcbx mode"):
        if line.startswith(f"{word} "):
            return [(keys.port(name, word), line.removeprefix(f"{word} ").strip())]
    inside = _port_statement(line)
    return [(keys.port(name, *inside[0]), inside[1])] if inside else []


def _port_statement(line: str) -> tuple[tuple[str, ...], str] | None:
    """A statement that a profile and an interface share; None is not known."""
    if line.startswith("qos trust "):
        return ("qos trust",), line.removeprefix("qos trust ")
    if line == "no qos trust":
        return ("qos trust",), "none"
    if line == "priority-flow-control on":
        return ("priority-flow-control",), "on"
    if match := re.fullmatch(r"priority-flow-control priority ([0-7 ,-]+?) (no-drop|drop)", line):
        return (keys.pfc_priority(numbers(match[1])[0]),), match[2]
    if line == "priority-flow-control pause watchdog":
        return ("watchdog",), "on"
    if line.startswith("priority-flow-control pause watchdog port action "):
        return ("watchdog action",), line.rsplit(" ", 1)[1]
    if match := _PORT_TIMER.fullmatch(line):
        timer = f"timeout {number(match[1])} polling-interval {number(match[2])} recovery-time {number(match[3])}"
        return ("watchdog timer",), timer + (match[4] or "")
    return None


def _queue_statement(line: str) -> tuple[str, str] | None:
    """A statement of a transmit queue; an empty key says nothing; None is not known."""
    if line == "no priority":
        return "no priority", ""
    if line == "priority strict":
        return "", ""  # the default of every queue
    if line == "random-detect ecn count":
        return line, ""
    if match := _ECN.fullmatch(line):
        if match[2] != match[4]:
            return None
        return "random-detect ecn", ecn_value(match[1], match[3], match[2], match[5], match[6])
    if line.startswith("bandwidth percent "):
        return "bandwidth percent", number(line.removeprefix("bandwidth percent "))
    if line.startswith("bandwidth guaranteed "):
        return "bandwidth guaranteed", number(line.removeprefix("bandwidth guaranteed "))
    return None

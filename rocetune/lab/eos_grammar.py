"""The configuration grammar of an emulated EOS switch: which lines it takes, in which mode, and with which values.

Only what the public references show is taken (EOS RoCEv2 guide, avd schemas and configurations, EOS manuals), and
harmless basics. Everything else is refused in EOS's words. Emulation for rehearsal and tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

INVALID = "Invalid input"
UNAVAILABLE = "Unavailable command (not supported on this hardware platform)"


class Refused(Exception):
    """A line that EOS does not take; the text is EOS's own, without the leading percent sign."""


Check = Callable[[re.Match[str]], None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One statement. ``ident`` names it inside its block ({0} is the first group); ``line`` is how it is stored.

    ``enters`` is the mode of its block. ``default`` True: the line only says what holds anyway, so nothing is stored.
    ``negative`` rules are lines that start with ``no`` and are settings of their own.
    """

    pattern: re.Pattern[str]
    ident: str
    line: str = ""
    enters: str = ""
    default: bool = False
    check: Check | None = None

    def store(self, match: re.Match[str]) -> str:
        """The stored form of a line."""
        return self.line.format(*match.groups()) if self.line else match[0]

    def name(self, match: re.Match[str]) -> str:
        """The statement's identity."""
        return self.ident.format(*match.groups())


def _between(low: float, high: float, *groups: int, places: int = 0) -> Check:
    def check(match: re.Match[str]) -> None:
        for group in groups:
            text = match[group]
            if text is None or text == "auto":
                continue
            if not low <= float(text) <= high or (places == 0 and "." in text):
                raise Refused(INVALID)
            if "." in text and len(text.split(".")[1].rstrip("0")) > places:
                raise Refused(INVALID)

    return check


def _timers(match: re.Match[str]) -> None:
    _between(0.01, 60, 1, 3, places=2)(match)
    _between(0.005, 30, 2, places=3)(match)


def _curve(match: re.Match[str]) -> None:
    if match[2] != match[4] or int(match[1]) < 1 or int(match[3]) < int(match[1]):
        raise Refused(INVALID)
    _between(1, 100, 5)(match)
    _between(0, 15, 6)(match)


def _refuse_hardware(match: re.Match[str]) -> None:
    raise Refused(UNAVAILABLE)


def _rule(pattern: str, ident: str, line: str = "", enters: str = "", default: bool = False,
          check: Check | None = None) -> Rule:  # fmt: skip
    return Rule(re.compile(pattern, re.ASCII), ident, line, enters, default, check)


_NAME = r"([A-Za-z0-9][\w.:-]*)"
_N = r"([0-9]+)"
_D = r"([0-9]+(?:\.[0-9]+)?)"
_UNIT = r"(segments|bytes|kbytes|mbytes|milliseconds)"
_ALPHA = r"((?:1/(?:2|4|8|16|32|64))|[1248])"
_WD = "priority-flow-control pause watchdog"

_SHARED = (
    _rule(r"qos trust (dscp|cos)", "qos trust"),
    _rule(r"no qos trust", "qos trust"),
    _rule(r"priority-flow-control on", "priority-flow-control"),
    _rule(r"priority-flow-control priority ([0-7]) no-drop", "priority-flow-control priority {0}"),
    _rule(_WD, _WD),
    _rule(rf"{_WD} port action (drop|notify-only)", f"{_WD} port action"),
    _rule(rf"{_WD} port timer timeout {_D} polling-interval {_D[:-1]}|auto) recovery-time {_D}( forced)?",
          f"{_WD} port timer", check=_timers),
)  # fmt: skip

_QUEUE = (
    _rule(r"priority strict", "priority", default=True),
    _rule(r"no priority", "priority"),
    _rule(rf"bandwidth percent {_N}", "bandwidth percent", check=_between(1, 100, 1)),
    _rule(rf"bandwidth guaranteed percent {_N}", "bandwidth guaranteed", check=_between(1, 100, 1)),
    _rule(rf"bandwidth guaranteed {_N}", "bandwidth guaranteed", check=_between(8, 800_000_000, 1)),
    _rule(rf"shape rate {_N}(?: (kbps|percent|pps))?", "shape rate"),
    _rule(rf"random-detect ecn minimum-threshold {_N} {_UNIT} maximum-threshold {_N} {_UNIT}"
          rf"(?: max-mark-probability {_N})?(?: weight {_N})?", "random-detect ecn", check=_curve),
    _rule(rf"random-detect drop(?: drop-precedence [0-2])? minimum-threshold {_N} \w+ maximum-threshold {_N} \w+"
          rf" drop-probability {_N}(?: weight {_N})?", "random-detect drop", check=_between(1, 100, 3)),
)  # fmt: skip

# The word of the queue block ({queue}) is the hardware's: see rules().
GRAMMAR: Mapping[str, tuple[Rule, ...]] = {
    "global": (
        _rule(rf"hostname {_NAME}", "hostname"),
        _rule(rf"username {_NAME} .+", "username {0}"),
        _rule(r"ntp server (\S+)", "ntp server {0}"),
        _rule(r"logging host (\S+)", "logging host {0}"),
        _rule(r"ip routing", "ip routing"),
        _rule(r"ip name-server (\S+)", "ip name-server {0}"),
        _rule(r"interface (\S+)", "interface {0}", enters="interface"),
        _rule(rf"qos profile {_NAME}", "qos profile {0}", enters="profile"),
        _rule(rf"platform trident mmu queue profile {_NAME} apply", "mmu apply"),
        _rule(rf"platform trident mmu queue profile {_NAME}", "platform trident mmu queue profile {0}", enters="mmu"),
        _rule(r"qos rewrite dscp", "qos rewrite dscp"),
        _rule(r"qos map cos ([0-7 ]+) to traffic-class ([0-7])", "qos map cos {0}"),
        _rule(r"qos random-detect ecn allow non-ect(?: chip-based)?", "qos random-detect ecn allow non-ect"),
        _rule(rf"{_WD} default (timeout|recovery-time) {_D}", f"{_WD} default {{0}}",
              check=_between(0.01, 60, 2, places=2)),
        _rule(rf"{_WD} default polling-interval {_D}", f"{_WD} default polling-interval",
              check=_between(0.005, 30, 1, places=3)),
        _rule(rf"{_WD} action errdisable", f"{_WD} action", default=True),
        _rule(rf"{_WD} action drop", f"{_WD} action"),
        _rule(rf"{_WD} action no-drop", f"{_WD} action", check=_refuse_hardware),
        _rule(rf"{_WD} override action drop", f"{_WD} override action"),
        _rule(r"hardware counter feature ecn out", "hardware counter feature ecn"),
        _rule(r"management api http-commands", "management api http-commands", enters="api"),
    ),
    "api": (_rule(r"no shutdown", "shutdown"), _rule(r"shutdown", "shutdown", default=True)),
    "interface": (
        _rule(r"description (.+)", "description"),
        _rule(r"mtu 1500", "mtu", default=True),
        _rule(rf"mtu {_N}", "mtu", check=_between(68, 9214, 1)),
        _rule(r"no switchport", "switchport"),
        _rule(r"switchport", "switchport", default=True),
        _rule(r"ip address (\S+/[0-9]+)", "ip address"),
        _rule(r"shutdown", "shutdown"),
        _rule(rf"service-profile {_NAME}", "service-profile"),
        _rule(r"dcbx mode (ieee|cee)", "dcbx mode"),
        _rule(r"priority-flow-control priority ([0-7]) drop", "priority-flow-control priority {0}"),
        *_SHARED,
        _rule(r"{queue} ([0-7])", "{{queue}} {0}", enters="ifqueue"),
    ),
    "profile": (
        _rule(r"priority-flow-control priority ([0-7]) drop", "priority-flow-control priority {0}", default=True),
        *_SHARED,
        _rule(rf"qos cos {_N}", "qos cos", check=_between(0, 7, 1)),
        _rule(rf"qos dscp {_N}", "qos dscp", check=_between(0, 63, 1)),
        _rule(rf"service-policy type qos input {_NAME}", "service-policy type qos input"),
        _rule(r"{queue} ([0-7])", "{{queue}} {0}", enters="queue"),
    ),
    "queue": _QUEUE,
    "ifqueue": (*_QUEUE, _rule(r"random-detect ecn count", "random-detect ecn count")),
    "mmu": (
        _rule(rf"ingress headroom(?: (?:bytes|cells))? {_N}", "ingress headroom"),
        _rule(rf"ingress reserved(?: (?:bytes|cells))? {_N}", "ingress reserved"),
        _rule(rf"ingress threshold {_ALPHA}", "ingress threshold"),
        _rule(rf"ingress resume {_N}", "ingress resume"),
        _rule(rf"ingress priority-group ([0-7]) reserved(?: (?:bytes|cells))? {_N}",
              "ingress priority-group {0} reserved"),
        _rule(rf"ingress priority-group ([0-7]) threshold {_ALPHA}", "ingress priority-group {0} threshold"),
        _rule(rf"egress (unicast|multicast) queue ([0-7]) reserved(?: (?:bytes|cells))? {_N}",
              "egress {0} queue {1} reserved"),
        _rule(rf"egress (unicast|multicast) queue ([0-7]) threshold {_ALPHA}", "egress {0} queue {1} threshold"),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the chip has: the words of its queues, and whether it takes Trident's buffer lines."""

    unicast: str = "uc-tx-queue"
    multicast: str = "mc-tx-queue"
    trident: bool = True

    def queue_words(self) -> tuple[str, ...]:
        """Words that open a queue block."""
        return (self.unicast, self.multicast) if self.multicast else (self.unicast,)


JERICHO = Hardware("tx-queue", "", False)


def find(mode: str, line: str, hardware: Hardware) -> tuple[Rule, re.Match[str], str] | None:
    """The rule of a line in one mode, with the statement's identity. Raises Refused for a value out of range."""
    for rule in GRAMMAR[mode]:
        if "{queue}" in rule.pattern.pattern:
            match = re.fullmatch(rf"({'|'.join(hardware.queue_words())}) ([0-7])", line)
            if match:
                return rule, match, line
            continue
        match = rule.pattern.fullmatch(line)
        if match:
            if line.startswith("platform trident") and not hardware.trident:
                raise Refused(UNAVAILABLE)
            if rule.check is not None:
                rule.check(match)
            return rule, match, rule.name(match)
    return None


def identities(mode: str) -> tuple[str, ...]:
    """Identities that a ``no`` or ``default`` line may name without the value."""
    return tuple(rule.ident for rule in GRAMMAR[mode])


def plain(number: str) -> str:
    """0.20 as EOS prints it: 0.2."""
    text = f"{Decimal(number):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def normal(line: str) -> str:
    """The line as it is printed: decimals without trailing zeros, an ECN weight of 0 left out."""
    words = [plain(word) if re.fullmatch(r"[0-9]+\.[0-9]+", word) else word for word in line.split(" ")]
    return " ".join(words).removesuffix(" weight 0")

"""The configuration tree of an emulated EOS switch: lines in, running-config text out.

A block is a plain dict: identity -> [line, inner block or None], so that it is stored as JSON as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rocetune.lab import eos_grammar as grammar
from rocetune.lab.eos_grammar import Hardware, Refused

Block = dict[str, list[Any]]
_DSCP = re.compile(r"qos map dscp ([0-9 ,-]+?) to traffic-class ([0-7])(?: (drop-precedence [0-2]))?", re.ASCII)
_NO_DSCP = re.compile(r"(?:no|default) qos map dscp ([0-9 ,-]+?)(?: to traffic-class [0-7])?", re.ASCII)
_TC = re.compile(r"qos map traffic-class ([0-7 ]+?) to (tx-queue|uc-tx-queue) ([0-7])", re.ASCII)
_FACTORY_CLASS = [1] * 8 + [0] * 8 + [n // 8 for n in range(16, 64)]
_INTERFACE = re.compile(r"interface (?:(et)[a-z]*|(ma)[a-z]*|(po)[a-z-]*) ?([0-9/]+)", re.IGNORECASE | re.ASCII)

_TOP_ORDER = ("hostname", "username", "ntp", "logging", "ip name-server", "qos profile", "platform trident",
              "interface", "ip routing", "qos rewrite", "qos random-detect", "qos map", "priority-flow-control",
              "hardware counter", "management api", "mmu apply")  # fmt: skip
_INNER_ORDER = ("description", "mtu", "dcbx", "switchport", "ip address", "shutdown", "service-policy",
                "service-profile", "qos trust", "qos cos", "qos dscp", "priority-flow-control", "priority",
                "bandwidth percent", "bandwidth guaranteed", "shape", "random-detect")  # fmt: skip


class Tree:
    """A configuration, and the modes that lines of one request are entered in."""

    def __init__(self, root: Block, hardware: Hardware, ports: frozenset[str]) -> None:
        self.root, self._hardware, self._ports = root, hardware, ports
        self._stack: list[tuple[str, Block]] = [("global", root)]

    def enter(self, line: str) -> None:
        """One configuration line, with EOS's implicit leaving of blocks. Raises Refused."""
        text = " ".join(line.split())
        if text in ("", "!"):
            raise Refused("Incomplete command")
        if text == "exit":
            if len(self._stack) > 1:
                self._stack.pop()
            return
        for depth in range(len(self._stack), 0, -1):
            mode, block = self._stack[depth - 1]
            if self._in_mode(mode, block, text, depth):
                return
        raise Refused(f"{grammar.INVALID} (at token 0: '{text.split()[0]}')")

    def _in_mode(self, mode: str, block: Block, text: str, depth: int) -> bool:
        if mode == "global":
            if self._maps(text):
                del self._stack[1:]
                return True
            text = self._interface(text)
        found = grammar.find(mode, text, self._hardware)
        if found is None:
            if not self._clears(mode, block, text):
                return False
            del self._stack[depth:]
            return True
        rule, match, name = found
        del self._stack[depth:]
        if rule.enters:
            inner = block.setdefault(name, [text, {}])[1]
            self._stack.append((rule.enters, inner))
        elif rule.default:
            block.pop(name, None)
        else:
            block[name] = [text if name == "description" else grammar.normal(rule.store(match)), None]
        return True

    def _interface(self, text: str) -> str:
        negation, _, bare = text.partition(" ") if text.startswith(("no ", "default ")) else ("", "", text)
        match = _INTERFACE.fullmatch(bare)
        if match is None:
            return text
        kind = "Ethernet" if match[1] else "Management" if match[2] else "Port-Channel"
        name = f"{kind}{match[4]}"
        if kind != "Port-Channel" and name not in self._ports:
            raise Refused(f"{grammar.INVALID} (at token 1: '{name}')")
        return f"{negation} interface {name}".strip()

    def _maps(self, text: str) -> bool:
        if match := _DSCP.fullmatch(text):
            for point in _members(match[1]):
                if point > 63:
                    raise Refused(grammar.INVALID)
                if int(match[2]) == _FACTORY_CLASS[point] and not match[3]:
                    self.root.pop(f"qos map dscp {point}", None)
                else:
                    tail = f" {match[3]}" if match[3] else ""
                    self.root[f"qos map dscp {point}"] = [f"to traffic-class {match[2]}{tail}", None]
            return True
        if match := _NO_DSCP.fullmatch(text):
            for point in _members(match[1]):
                self.root.pop(f"qos map dscp {point}", None)
            return True
        if match := _TC.fullmatch(text):
            if match[2] != "tx-queue" and match[2] != self._hardware.unicast:
                raise Refused(grammar.INVALID)
            for member in _members(match[1]):
                if member == 7 and match[3] != "7":
                    raise Refused(grammar.UNAVAILABLE)  # traffic class 7 and queue 7 belong together
                if member == int(match[3]):
                    self.root.pop(f"qos map traffic-class {member}", None)
                else:
                    line = f"qos map traffic-class {member} to {self._hardware.unicast} {match[3]}"
                    self.root[f"qos map traffic-class {member}"] = [line, None]
            return True
        return False

    def _clears(self, mode: str, block: Block, text: str) -> bool:
        head, _, rest = text.partition(" ")
        if head not in ("no", "default") or not rest:
            return False
        found = grammar.find(mode, rest, self._hardware)
        name = found[2] if found else rest
        if found is None and not _names_one(mode, rest):
            return False
        if name.startswith("qos profile "):
            self._refuse_if_used(name.removeprefix("qos profile "))
        if mode == "global" and name.startswith("platform trident mmu queue profile "):
            applied = self.root.get("mmu apply")
            if applied and applied[0] == f"{name} apply":
                raise Refused("Profile is in use")
        block.pop(name, None)
        return True

    def _refuse_if_used(self, profile: str) -> None:
        """Whether a real switch takes ``no qos profile`` of a profile in use is not known: the strict side is kept."""
        for name, (_, inner) in self.root.items():
            if name.startswith("interface ") and inner.get("service-profile", [""])[0] == f"service-profile {profile}":
                raise Refused(f"Profile {profile} is in use by {name.removeprefix('interface ')}")


def _names_one(mode: str, rest: str) -> bool:
    """Whether a ``no`` line names a statement by its identity alone."""
    for ident in grammar.identities(mode):
        pattern = re.escape(ident).replace(r"\{0\}", r"\S+").replace(r"\{1\}", r"\S+")
        if re.fullmatch(pattern, rest):
            return True
    return False


def _members(text: str) -> Iterator[int]:
    for part in re.split(r"[ ,]+", text.strip()):
        low, _, high = part.partition("-")
        if not low.isdigit() or (high and not high.isdigit()):
            raise Refused(grammar.INVALID)
        yield from range(int(low), int(high or low) + 1)


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"[0-9]+|[^0-9]+", text)]


def _rank(name: str, order: tuple[str, ...]) -> tuple[int, list[tuple[int, str]]]:
    for at, prefix in enumerate(order):
        if name.startswith(prefix):
            return at, _natural(name)
    return len(order), _natural(name)


def text(root: Block, hardware: Hardware, everything: bool = False) -> str:
    """The body of ``show running-config``, or with ``all`` the queue blocks that EOS hides as well."""
    lines: list[str] = []
    maps = {name: entry for name, entry in root.items() if name.startswith("qos map dscp ")}
    printed_maps = False
    for name in sorted(root, key=lambda item: _rank(item, _TOP_ORDER)):
        line, inner = root[name]
        if name in maps:
            if not printed_maps:
                lines += _map_lines(maps)
                printed_maps = True
        elif inner is None:
            lines.append(line)
        else:
            lines += ["!", f"{line} " if line.startswith("qos profile ") else line]
            lines += _inner(
                inner, 4 if name.startswith("platform") else 3, hardware, everything and "interface" in name
            )
            if not name.startswith("interface"):
                lines.append("!")
    return "\n".join([*_squeezed(lines), "!", "end"]) + "\n"


def _squeezed(lines: list[str]) -> Iterator[str]:
    before = ""
    for line in lines:
        if not (line == "!" and before == "!"):
            yield line
        before = line


def _inner(block: Block, indent: int, hardware: Hardware, everything: bool) -> Iterator[str]:
    pad = " " * indent
    flat = {name: entry for name, entry in block.items() if entry[1] is None}
    nested = {name: entry for name, entry in block.items() if entry[1] is not None}
    for name in sorted(flat, key=lambda item: _rank(item, _INNER_ORDER)):
        yield pad + flat[name][0]
    shown = set(nested) | ({f"{hardware.unicast} {n}" for n in range(8)} if everything else set())
    for name in sorted(shown, key=lambda item: (not item.startswith("uc"), _natural(item))):
        inner = nested.get(name, ["", {}])[1]
        if inner or everything:
            yield f"{pad}!"
            yield pad + name
            for key in sorted(inner, key=lambda item: _rank(item, _INNER_ORDER)):
                yield pad * 2 + inner[key][0]


def _map_lines(maps: Block) -> Iterator[str]:
    groups: dict[str, list[int]] = {}
    for name, (line, _) in maps.items():
        groups.setdefault(line, []).append(int(name.rsplit(" ", 1)[1]))
    for line, points in sorted(groups.items()):
        yield f"qos map dscp {' '.join(map(str, sorted(points)))} {line}"


def traffic_class(root: Block, dscp: int) -> int:
    """The class that a DSCP reaches."""
    entry = root.get(f"qos map dscp {dscp}")
    return int(entry[0].split()[2]) if entry else _FACTORY_CLASS[dscp]


def effective(root: Block, port: str) -> Block:
    """What holds for a port: its profile's statements and its own over them."""
    own: Block = root.get(f"interface {port}", ["", {}])[1]
    bound = own.get("service-profile")
    profile: Block = root.get(f"qos profile {bound[0].split()[1]}", ["", {}])[1] if bound else {}
    merged = {name: list(entry) for name, entry in profile.items()}
    for name, (line, inner) in own.items():
        below = merged.get(name, ["", {}])[1] or {}
        merged[name] = [line, {**below, **inner} if inner is not None else None]
    return merged

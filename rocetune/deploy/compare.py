"""The one comparison of the product: running against desired, both as flat maps of owned keys.

Because both sides went through the same parser, echo, order, hidden defaults and case are gone before this
module sees them; it knows no vendor, only the platform's ownership table.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rocetune.model.change import Change, Comparison, Config, Key, KeyRule
from rocetune.model.fabric import GlobalsMode
from rocetune.model.plan import DevicePlan, Why
from rocetune.model.qos import Path

Origin = Callable[[Key], Path]


class Unowned(ValueError):
    """A platform rendered a key that its own ownership table does not claim: a defect of the platform."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What of one device may be written. ``other_ports`` are served by its switch-wide objects as well."""

    managed: frozenset[str]
    globals_mode: GlobalsMode = "extend"
    other_ports: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def _element(pattern: str) -> re.Pattern[str] | str:
    """One pattern element, itself without a wildcard; ``{port}`` may stand alone or inside, as in ``{port}|*``."""
    if "{port}" not in pattern:
        return re.compile(fnmatch.translate(pattern)) if set(pattern) & set("*?[") else pattern
    before, after = pattern.split("{port}", 1)
    return re.compile(
        fnmatch.translate(before).removesuffix(r"\Z").removesuffix(r"\z") + "(?P<port>.+?)" + fnmatch.translate(after)
    )


class Ownership:
    """A platform's table of :class:`KeyRule`, first match wins, applied to one device's scope."""

    def __init__(self, rules: Sequence[KeyRule], managed: Iterable[str]) -> None:
        self._rules = tuple((rule, tuple(_element(part) for part in rule.pattern)) for rule in rules)
        self._managed = frozenset(managed)

    def rule(self, key: Key) -> KeyRule | None:
        """The rule that owns a key, or None: foreign, or on a port that is not managed."""
        for rule, elements in self._rules:
            if len(elements) <= len(key) and self._matches(elements, key):
                return rule
        return None

    def _matches(self, elements: tuple[re.Pattern[str] | str, ...], key: Key) -> bool:
        for element, part in zip(elements, key, strict=False):
            if isinstance(element, str):
                if element != part:
                    return False
                continue
            match = element.fullmatch(part)
            if match is None or ("port" in element.groupindex and match["port"] not in self._managed):
                return False
        return True


def compare(
    running: Config,
    desired: Config,
    rules: Sequence[KeyRule],
    scope: Scope,
    *,
    origin: Origin = lambda key: (),
    why: Callable[[Path], Why | None] = lambda path: None,
) -> Comparison:
    """Every difference inside the owned scope, sorted by key; foreign keys are never mentioned.

    Raises Unowned when ``desired`` holds a key outside the ownership table.
    """
    ownership = Ownership(rules, scope.managed)
    changes: list[Change] = []
    adopted: list[Key] = []
    refused: list[Change] = []
    for key in sorted(running.keys() | desired.keys()):
        rule = ownership.rule(key)
        if rule is None:
            if key in desired:
                raise Unowned(f"{' / '.join(key)} is rendered but owned by no rule")
            continue
        old, new = running.get(key), desired.get(key)
        if old == new:
            adopted.append(key)
            continue
        if new is None and rule.scope == "global" and scope.globals_mode != "exclusive":
            continue
        change = _change(key, old, new, rule, scope, origin, why)
        refuse = rule.scope == "global" and scope.globals_mode == "refuse"
        (refused if refuse else changes).append(change)
    return Comparison(tuple(changes), tuple(adopted), tuple(refused))


def _change(
    key: Key,
    old: str | None,
    new: str | None,
    rule: KeyRule,
    scope: Scope,
    origin: Origin,
    why: Callable[[Path], Why | None],
) -> Change:
    path = origin(key)
    return Change(
        key=key,
        op="add" if old is None else "remove" if new is None else "change",
        old=old,
        new=new,
        phase=rule.phase,
        impact=rule.impact,
        note=rule.note,
        origin=path,
        why=why(path) if path else None,
        touches=scope.other_ports if rule.scope == "global" else (),
    )


def reasons(plan: DevicePlan) -> Callable[[Path], Why | None]:
    """A lookup from an origin path (native port first) to the reason behind the number."""
    by_port: Mapping[str, Mapping[Path, Why]] = {item.native: item.setting.why for item in plan.ports}

    def lookup(path: Path) -> Why | None:
        return by_port.get(str(path[0]), {}).get(path[1:]) if path else None

    return lookup


def applied(running: Config, changes: Iterable[Change]) -> Config:
    """The map that results when these changes have been made."""
    result = dict(running)
    for change in changes:
        if change.new is None:
            result.pop(change.key, None)
        else:
            result[change.key] = change.new
    return result


def missing(running: Config, changes: Iterable[Change]) -> tuple[Change, ...]:
    """Those of the changes that a read-back does not show."""
    return tuple(change for change in changes if running.get(change.key) != change.new)

"""What is known about each check, read once from ``catalogue.yaml``: the data that verdicts are dressed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

import yaml

from rocetune.model.change import Phase
from rocetune.model.finding import Severity

Kind = Literal["setting", "counter"]
Relation = Literal["port", "link", "device", "peers", "tree"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One check of the catalogue. ``platforms`` empty: every platform."""

    id: str
    title: str
    scope: str
    severity: Severity
    switch_phase: Phase
    server_phase: Phase
    kind: Kind
    why: str
    fix: str
    source: str
    platforms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Correlation:
    """One folding rule: see the comment above ``correlations`` in the file."""

    roots: tuple[str, ...]
    folds: tuple[str, ...]
    where: Relation
    together: tuple[str, ...] = ()
    unknown: bool = False
    across: bool = False


@cache
def entries() -> Mapping[str, Entry]:
    """All checks by id, in the catalogue's order."""
    return {item["id"]: _entry(item) for item in _document()["checks"]}


@cache
def correlations() -> tuple[Correlation, ...]:
    """The folding rules in order. Raises ValueError on a rule that names an unknown check or relation."""
    known = entries()
    rules = tuple(
        Correlation(
            tuple(item["root"]),
            tuple(item["folds"]),
            item["where"],
            tuple(item.get("with", ())),
            bool(item.get("unknown", False)),
            bool(item.get("across", False)),
        )
        for item in _document()["correlations"]
    )
    for rule in rules:
        strangers = [name for name in (*rule.roots, *rule.folds, *rule.together) if name not in known]
        if strangers or rule.where not in get_args(Relation):
            raise ValueError(f"catalogue.yaml: correlation of {', '.join(rule.roots)} names {strangers or rule.where}")
    return rules


def _document() -> Any:
    text = files("rocetune.doctor").joinpath("catalogue.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def _entry(item: Mapping[str, Any]) -> Entry:
    if item["severity"] not in get_args(Severity):
        raise ValueError(f"catalogue.yaml: {item['id']} has severity {item['severity']!r}")
    phase = item["phase"]
    by_kind = phase if isinstance(phase, dict) else {"switch": phase, "server": phase}
    return Entry(
        id=item["id"],
        title=item["title"],
        scope=item["scope"],
        severity=item["severity"],
        switch_phase=Phase[by_kind["switch"]],
        server_phase=Phase[by_kind["server"]],
        kind=item.get("kind", "setting"),
        why=item["why"],
        fix=item["fix"],
        source=item["source"],
        platforms=tuple(item.get("platforms", ())),
    )

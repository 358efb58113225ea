"""What each platform can do: how it is reached, how undo works there, what is confirmed and what is believed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rocetune.model.change import Impact, KeyRule
from rocetune.model.plan import Assumption
from rocetune.report import encode
from rocetune.report.changes import PHASE_WORDS, impact_words
from rocetune.report.table import PLAIN, Paint, counted, markdown_table, table, to_json


class Described(Protocol):
    """The part of a platform that is shown. Writers and platforms don't know each other."""

    @property
    def name(self) -> str: ...
    @property
    def transport(self) -> str: ...
    @property
    def running_suffix(self) -> str: ...
    @property
    def safety(self) -> str: ...
    @property
    def confirmed(self) -> tuple[str, ...]: ...
    @property
    def unconfirmed(self) -> tuple[Assumption, ...]: ...
    @property
    def owned(self) -> tuple[KeyRule, ...]: ...


_HEAD = ("platform", "reached by", "facts", "undo")


def platforms_text(found: Iterable[Described]) -> str:
    """One row per platform."""
    return table(_rows(found), _HEAD)


def platforms_markdown(found: Iterable[Described]) -> str:
    """The same as a markdown table."""
    return markdown_table(_rows(found), _HEAD) + "\n"


def _rows(found: Iterable[Described]) -> list[list[str]]:
    return [
        [item.name, item.transport, f"{len(item.confirmed)} confirmed, {len(item.unconfirmed)} not", item.safety]
        for item in found
    ]


def platform_text(item: Described, paint: Paint = PLAIN) -> str:
    """Everything about one platform."""
    blocks = [
        f"{paint('bold', item.name)}  reached by {item.transport}, saved configurations end in {item.running_suffix}",
        f"undo: {item.safety}",
        _listed(f"confirmed ({len(item.confirmed)})", item.confirmed),
        _listed(f"not confirmed ({len(item.unconfirmed)})", [_words(entry) for entry in item.unconfirmed]),
        f"owned on managed ports ({counted(len(item.owned), 'rule')})\n"
        + table([_rule(rule) for rule in item.owned], ["key", "scope", "phase", "impact", ""], indent="  "),
    ]
    return "\n\n".join(block for block in blocks if block)


def _listed(title: str, lines: Iterable[str]) -> str:
    rows = [f"  - {line}" for line in lines]
    return "\n".join([title, *rows]) if rows else title + ": none"


def _words(entry: Assumption) -> str:
    where = f"{entry.where}: " if entry.where else ""
    return where + entry.text + (f" ({entry.remedy})" if entry.remedy else "")


def _rule(rule: KeyRule) -> list[str]:
    return [" / ".join(rule.pattern), rule.scope, PHASE_WORDS[rule.phase], impact_words(rule.impact), rule.note]


def platforms_json(found: Iterable[Described]) -> str:
    """Every platform as JSON; see docs/json.md."""
    return to_json({"format": "rocetune.platforms/1", "platforms": [_document(item) for item in found]})


def _document(item: Described) -> encode.Json:
    return {
        "name": item.name,
        "transport": item.transport,
        "running_suffix": item.running_suffix,
        "safety": item.safety,
        "confirmed": list(item.confirmed),
        "unconfirmed": [encode.assumption_json(entry) for entry in item.unconfirmed],
        "worst_impact": max((rule.impact for rule in item.owned), default=Impact.NONE).name.lower(),
        "owned": [
            {
                "pattern": list(rule.pattern),
                "scope": rule.scope,
                "phase": rule.phase.name.lower(),
                "impact": rule.impact.name.lower(),
                "note": rule.note,
            }
            for rule in item.owned
        ],
    }

"""The user's undo: the values that a run's journal saved, made a comparison like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rocetune.deploy.compare import Ownership
from rocetune.model.change import Change, Config, Key, KeyRule


def restoring(
    running: Config, touched: Mapping[Key, str | None], rules: Sequence[KeyRule]
) -> tuple[Config, tuple[Change, ...]]:
    """The configuration with every touched key back at its saved value, and the changes that lead there.

    Keys that nobody touched stay as they run now, also when others changed them since.
    """
    ports = frozenset(part for key in touched for part in _candidates(key))
    ownership = Ownership(rules, ports)
    desired = dict(running)
    changes: list[Change] = []
    for key, old in sorted(touched.items()):
        now = running.get(key)
        if now == old:
            continue
        rule = ownership.rule(key)
        if rule is None:
            continue  # journaled by a version with another ownership table: not ours any more
        if old is None:
            desired.pop(key, None)
        else:
            desired[key] = old
        op = "add" if now is None else "remove" if old is None else "change"
        changes.append(Change(key, op, now, old, rule.phase, rule.impact, rule.note))  # type: ignore[arg-type]
    return desired, tuple(changes)


def _candidates(key: Key) -> tuple[str, ...]:
    """Everything in a key that may be a port name: its parts, and what stands before a ``|`` in them."""
    return tuple({piece for part in key for piece in (part, part.split("|", 1)[0])})

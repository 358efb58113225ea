"""Changes to candidate lines in an order that EOS takes, each block with its inverse.

Order: maps, MMU profile and its use, ``qos profile`` blocks, ports, switch-wide lines, and last what nothing uses any
more (``no qos profile X`` after the ports let go of it). Undo runs the steps backwards, which mirrors that order.
A value is changed by entering its line again, never by removing it first, so no threshold is missing in between.
Each block ends with explicit ``exit`` lines. The session is one candidate: EOS puts all of it live at one commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocetune.model.change import Change, Config, Key, Step
from rocetune.platforms.arista_eos import keys, lines, names

_SWITCH_WIDE_LAST = (keys.WATCHDOG, keys.ECN_COUNTER[0])


@dataclass(frozen=True, slots=True)
class _Edit:
    """One key, old to new; None means absent."""

    key: Key
    old: str | None
    new: str | None


def steps(changes: Sequence[Change], running: Config, mode: names.QueueMode) -> tuple[Step, ...]:
    """Ordered blocks for these changes; undoing them in reverse restores ``running``."""
    edits = [_Edit(change.key, change.old, change.new) for change in changes if change.old != change.new]
    edits += _carried(edits, running)
    maps = [edit for edit in edits if edit.key[0] in (keys.MAP, keys.TC_MAP)]
    made = _maps(maps)
    made += _objects(keys.MMU, edits, running, mode, kept=True)
    made += _apply(edits, running)
    made += _objects(keys.PROFILE, edits, running, mode, kept=True)
    made += _interfaces(edits, mode)
    made += _flat(edit for edit in edits if edit.key[0] in _SWITCH_WIDE_LAST)
    made += _objects(keys.PROFILE, edits, running, mode, kept=False)
    made += _objects(keys.MMU, edits, running, mode, kept=False)
    return tuple(made)


def _carried(edits: Sequence[_Edit], running: Config) -> list[_Edit]:
    """PFC and watchdog lines that a new profile takes over from the profile its port leaves.

    A port that moves from one of our profiles to a new one must not lose PFC until a later phase adds the lines:
    the new profile starts with those of the old one, and the later phases put the planned values in their place.
    """
    created = {edit.key[1] for edit in edits if len(edit.key) == 2 and edit.key[0] == keys.PROFILE and edit.new == ""}
    stated = {edit.key for edit in edits}
    extra: dict[Key, _Edit] = {}
    for edit in edits:
        moves = edit.key[0] == keys.INTERFACE and edit.key[2] == "service-profile"
        if not moves or edit.old is None or edit.new not in created:
            continue
        for key, value in running.items():
            taken = key[:2] == (keys.PROFILE, edit.old) and len(key) == 3
            if taken and key[2].startswith(("priority-flow-control", "watchdog")):
                fresh = keys.profile(edit.new, key[2])
                if fresh not in stated:
                    extra.setdefault(fresh, _Edit(fresh, None, value))
    return list(extra.values())


def _maps(edits: Sequence[_Edit]) -> list[Step]:
    """One step per line of a map; DSCPs that go to one class share a line, as EOS itself prints them."""
    found: list[Step] = []
    groups: dict[tuple[str, str, str], list[_Edit]] = {}
    for edit in edits:
        default = edit.key[1] if edit.key[0] == keys.TC_MAP else str(names.default_traffic_class(int(edit.key[1])))
        new, old = edit.new if edit.new is not None else default, edit.old if edit.old is not None else default
        groups.setdefault((edit.key[0], new, old), []).append(edit)
    for (head, new, old), members in sorted(groups.items()):
        listed = " ".join(sorted((edit.key[1] for edit in members), key=int))
        do = lines.set_line((head, listed), new)
        undo = lines.set_line((head, listed), old)
        found.append(Step("config", do, undo, tuple(edit.key for edit in members)))
    return found


def _flat(edits: Iterable[_Edit]) -> list[Step]:
    return [
        Step("config", _line(edit.key, edit.old, edit.new), _line(edit.key, edit.new, edit.old), (edit.key,))
        for edit in edits
    ]


def _apply(edits: Sequence[_Edit], running: Config) -> list[Step]:
    """The line that puts an MMU profile in use; entered again when the profile in use changes."""
    for edit in edits:
        if edit.key == keys.MMU_APPLY:
            return _flat([edit])
    used = running.get(keys.MMU_APPLY)
    if used and any(edit.key[:2] == (keys.MMU, used) for edit in edits):
        again = lines.set_line(keys.MMU_APPLY, used)
        return [Step("config", again, again, (keys.MMU_APPLY,), "the profile in use changed")]
    return []


def _line(key: Key, old: str | None, new: str | None) -> str:
    if new is None or lines.restores_default(key, new):
        return lines.clear_line(key, old or "")
    return lines.set_line(key, new)


def _objects(head: str, edits: Sequence[_Edit], running: Config, mode: names.QueueMode, *, kept: bool) -> list[Step]:
    """Blocks of named objects: those that live on (``kept``), or those that go."""
    found: list[Step] = []
    by_name: dict[str, list[_Edit]] = {}
    for edit in edits:
        if edit.key[0] == head and len(edit.key) > 1:
            by_name.setdefault(edit.key[1], []).append(edit)
    for name, members in sorted(by_name.items()):
        before = {key: value for key, value in running.items() if key[:2] == (head, name)}
        goes = any(len(edit.key) == 2 and edit.new is None for edit in members)
        if goes == kept:
            continue
        owned = tuple(edit.key for edit in members)
        if goes:
            whole = _block(head, name, [_Edit(key, None, value) for key, value in before.items()], mode)
            found.append(Step("config", f"no {head} {name}", whole, owned))
            continue
        do = _block(head, name, members, mode)
        back = [_Edit(edit.key, edit.new, edit.old) for edit in members]
        fresh = any(len(edit.key) == 2 and edit.old is None for edit in members)
        found.append(Step("config", do, f"no {head} {name}" if fresh else _block(head, name, back, mode), owned))
    return found


def _interfaces(edits: Sequence[_Edit], mode: names.QueueMode) -> list[Step]:
    found: list[Step] = []
    by_name: dict[str, list[_Edit]] = {}
    for edit in edits:
        if edit.key[0] == keys.INTERFACE:
            by_name.setdefault(edit.key[1], []).append(edit)
    for name, members in by_name.items():
        back = [_Edit(edit.key, edit.new, edit.old) for edit in members]
        do, undo = (_block(keys.INTERFACE, name, some, mode) for some in (members, back))
        found.append(Step("config", do, undo, tuple(edit.key for edit in members)))
    return found


def _block(head: str, name: str, edits: Sequence[_Edit], mode: names.QueueMode) -> str:
    """A block's lines: removals before settings, the block's own lines before those of its queues."""
    written = [f"{head} {name}"]
    inner: dict[tuple[str, ...], list[str]] = {}
    for edit in sorted(edits, key=_rank):
        line = _line(edit.key, edit.old, edit.new)
        if line:
            inner.setdefault(lines.block(edit.key, mode)[1:], []).append(line)
    for context in sorted(inner):
        written += [*context, *inner[context], *("exit" for _ in context)]
    return "\n".join([*written, "exit"])


_WITHIN = ("qos trust", "no priority", "bandwidth percent", "bandwidth guaranteed", "random-detect ecn")


def _rank(edit: _Edit) -> tuple[bool, int, Key]:
    last = edit.key[-1]
    return edit.new is not None, _WITHIN.index(last) if last in _WITHIN else len(_WITHIN), edit.key

"""Changes as settings lines for the script, with the lines that restore what was."""

from __future__ import annotations

from collections.abc import Sequence

from rocetune.model.change import Change, Config, Key, Step
from rocetune.model.facts import Facts
from rocetune.platforms.linux.keys import line


def make_steps(changes: Sequence[Change], running: Config, facts: Facts) -> tuple[Step, ...]:
    """One step per port, then one for the environment file; the script itself orders the writes inside a port."""
    groups: dict[str, list[Change]] = {}
    for change in changes:
        groups.setdefault("" if change.key[0] == "env" else change.key[1], []).append(change)
    steps = []
    for name in sorted(groups, key=lambda item: (item == "", item)):
        members = groups[name]
        do = [text for change in members if (text := _line(change.key, change.new)) is not None]
        undo = [text for change in members if (text := _line(change.key, running.get(change.key))) is not None]
        note = f"port {name}" if name else "/etc/rocetune/roce.env"
        keys = tuple(change.key for change in members)
        steps.append(Step("settings", "".join(f"{x}\n" for x in do), "".join(f"{x}\n" for x in undo), keys, note))
    return tuple(steps)


def _line(key: Key, value: str | None) -> str | None:
    """A line for one side. Only an environment variable can be absent; a NIC setting without a value is unknown."""
    if value is None:
        return line(key, "") if key[0] == "env" else None
    return line(key, value)

"""A diff in short: one row per setting, with the class it is for, what it becomes and what traffic feels.

Native keys are the subject of the long form (``-v``, markdown, JSON). Here the keys of one object that say one
thing (the thresholds of an ECN curve) are one row, a map of code points is one row, and the line that binds an
object of ours to ports is told by the ports of that object's row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rocetune.model.change import Change, Impact, Phase
from rocetune.model.plan import DevicePlan
from rocetune.report.amounts import Amount
from rocetune.report.changes import Line, sections
from rocetune.report.ranges import natural, spans

_FAMILIES = {  # quantity -> (the setting it is part of, its name in there)
    "ECN kmin": ("ECN", "kmin"),
    "ECN kmax": ("ECN", "kmax"),
    "ECN pmax": ("ECN", "pmax"),
    "bandwidth": ("scheduling", "bandwidth"),
    "watchdog detect": ("PFC watchdog", "detect"),
    "watchdog restore": ("PFC watchdog", "restore"),
    "watchdog poll": ("PFC watchdog", "poll"),
    "watchdog action": ("PFC watchdog", "action"),
    "XOFF": ("headroom", "XOFF"),
    "XON": ("headroom", "XON"),
    "alpha": ("headroom", "alpha"),
}
_PRESENCE = ("set", "true")  # says nothing beside other values
_PRIORITY = re.compile(r"priority ([0-7])$")
_WHOLE_MAPS = (8, 64)  # priorities, code points


@dataclass(frozen=True, slots=True)
class Row:
    """One setting. ``ports`` empty: the whole device; ``touches``: ports not managed here that it also serves."""

    phase: Phase
    op: str  # "add", "change", "remove"
    class_name: str
    quantity: str
    value: str
    impact: Impact
    ports: tuple[str, ...] = ()
    touches: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """``roce ECN``."""
        return f"{self.class_name} {self.quantity}".strip()


def rows(changes: Iterable[Change], plan: DevicePlan | None) -> tuple[Row, ...]:
    """The settings that these changes touch, phase by phase."""
    lines = [line for section in sections(changes, plan, joined=False) for line in section.lines]
    bindings = _Bindings(lines)
    found: dict[object, list[Line]] = {}
    for line in lines:
        if not bindings.told_by_its_object(line):
            for port in line.ports or ("",):  # port by port: what ports share is found again when rows are merged
                one = replace(line, ports=(port,)) if port else line
                found.setdefault(_setting(one, bindings), []).append(one)
    return _merged([_row(same, bindings) for same in found.values()])


def _family(quantity: str) -> str:
    return _FAMILIES.get(quantity, (quantity, ""))[0]


def _setting(line: Line, bindings: _Bindings) -> object:
    change, about = line.change, line.meaning
    removal = change.op == "remove"
    if line.key[-1].isdigit():
        port = line.ports[0] if line.ports else ""
        key = tuple(part.replace(port, "*") if port else part for part in line.key[:-1])
        return (change.phase, change.op, key, line.ports)
    family = _family(about.quantity)
    owner = "" if line.ports else bindings.name_in(line.key) or line.key[0]
    return (change.phase, removal, about.class_name, family, owner, line.ports, line.change.touches)


def _row(same: Sequence[Line], bindings: _Bindings) -> Row:
    first, about = same[0].change, same[0].meaning
    ops = {line.change.op for line in same}
    op = ops.pop() if len(ops) == 1 else "change"
    impact = max(line.change.impact for line in same)
    name = bindings.name_in(same[0].key)
    ports = same[0].ports or bindings.ports(name)
    if name and not same[0].ports:
        impact = max(impact, bindings.impact(name, first.phase))
    if same[0].key[-1].isdigit():
        value = _map({int(line.key[-1]): (line.change.old, line.change.new) for line in same})
        classes = {line.meaning.class_name for line in same}
        class_name = classes.pop() if len(classes) == 1 else ""
        return Row(first.phase, op, class_name, about.quantity, value, impact, ports, first.touches)
    family = _family(about.quantity)
    parts = list(dict.fromkeys(_part(line, family) for line in same))
    parts = [part for part in parts if part not in _PRESENCE] or parts[:1]
    was = bindings.was(name, about.class_name, family, first.phase) if not same[0].ports else ""
    value = "; ".join(parts) + (f" (was {was})" if was else "")
    return Row(first.phase, op, about.class_name, family, value, impact, ports, first.touches)


def _part(line: Line, family: str) -> str:
    """One value of a setting, with its name where the setting has several."""
    old, new = line.meaning.old, line.meaning.new
    name = _FAMILIES.get(line.meaning.quantity, (family, ""))[1]
    if line.change.op == "remove":
        text = f"was {_short(old)}"
    elif line.change.op == "add":
        text = _short(new)
    else:
        text = _vectors(old, new) or f"{_short(old)} → {_short(new)}"
    return text if not name or len(new.sizes) > 1 or text in _PRESENCE else f"{name} {text}"


def _short(amount: Amount) -> str:
    return str(amount.sizes[0]) if len(amount.sizes) == 1 else str(amount)


def _vectors(old: Amount, new: Amount) -> str:
    """Two lists of one value per priority, said by what differs; "" for anything else."""
    before, after = (text.native.split(",") if text.native else [] for text in (old, new))
    if len(before) != 8 or len(after) != 8:
        return ""
    if {*before, *after} <= {"0", "1"}:
        return f"{_bits(before)} → {_bits(after)}"
    differing = [index for index in range(8) if before[index] != after[index]]
    if len(differing) <= 2:
        return ", ".join(f"{index}: {before[index]} → {after[index]}" for index in differing)
    return f"{_listed(before)} → {_listed(after)}"


def _bits(values: Sequence[str]) -> str:
    on = [index for index, value in enumerate(values) if value == "1"]
    return "none" if not on else "all" if len(on) == len(values) else spans(on)


def _listed(values: Sequence[str]) -> str:
    common, count = Counter(values).most_common(1)[0]
    if count == len(values):
        return f"all {common}"
    if count < 2:
        return ",".join(values)
    return ", ".join([*(f"{i} {value}" for i, value in enumerate(values) if value != common), f"others {common}"])


def _map(entries: Mapping[int, tuple[str | None, str | None]]) -> str:
    """``26→3 48→6, others →0 (was: not listed)``: the entries of a map that change."""
    olds = {old for old, _ in entries.values()}
    news = {number: new for number, (_, new) in entries.items()}
    if len(olds) > 1 and all(new is not None for new in news.values()):
        both: dict[tuple[str, str], list[int]] = {}
        for number, (old, new) in entries.items():
            both.setdefault((old or "-", new or "-"), []).append(number)
        if len(both) <= 8:
            return ", ".join(f"{spans(numbers)}: {old} → {new}" for (old, new), numbers in both.items())
    was = "" if len(olds) > 1 else f" (was: {_absent(olds.pop())})"
    if all(new == str(number) for number, new in news.items()) and len(news) > 2:
        return f"{spans(news)} each to itself{was}"
    common, count = Counter(news.values()).most_common(1)[0]
    if (len(entries) in _WHOLE_MAPS and count > 2) or count > max(_WHOLE_MAPS) // 2:
        named = [f"{number}→{new}" for number, new in sorted(news.items()) if new != common]
        others = "others" if len(entries) in _WHOLE_MAPS else f"{count} others"
        return f"{' '.join(named)}, {others} →{_absent(common)}{was}" if named else f"all →{_absent(common)}{was}"
    by_new: dict[str | None, list[int]] = {}
    for number, new in sorted(news.items()):
        by_new.setdefault(new, []).append(number)
    return " ".join(f"{spans(numbers)}→{_absent(new)}" for new, numbers in by_new.items()) + was


def _absent(value: str | None) -> str:
    return "not listed" if value in (None, "-") else str(value)


class _Bindings:
    """Which ports the objects of ours are bound to, by lines whose value is an object's name."""

    def __init__(self, lines: Sequence[Line]) -> None:
        kept = [line for line in lines if line.change.op != "remove"]
        heads: dict[tuple[str, Phase], set[tuple[str, ...]]] = {}
        subjects: set[tuple[str, Phase, str, str]] = set()
        for line in kept:
            about, phase = line.meaning, line.change.phase
            for index, part in enumerate(() if line.ports else line.key, 1):
                heads.setdefault((part, phase), set()).add(line.key[:index])
                subjects.add((part, phase, about.class_name, _family(about.quantity)))
        self._lines: dict[str, list[Line]] = {}
        for line in kept:
            name, phase, about = line.change.new or "", line.change.phase, line.meaning
            said = (name, phase, about.class_name, _family(about.quantity)) in subjects
            if name and line.ports and (said or len(heads.get((name, phase), ())) == 1):
                self._lines.setdefault(name, []).append(line)

    def told_by_its_object(self, line: Line) -> bool:
        """Whether this line only binds an object that has a row of its own in the same phase."""
        return line.change.op != "remove" and line in self._lines.get(line.change.new or "", ())

    def name_in(self, key: Sequence[str]) -> str:
        """The bound object that a key belongs to, or ""."""
        return next((part for part in key if part in self._lines), "")

    def ports(self, name: str) -> tuple[str, ...]:
        """Ports that the object is bound to by these changes."""
        return tuple(sorted({port for line in self._lines.get(name, ()) for port in line.ports}, key=natural))

    def impact(self, name: str, phase: Phase) -> Impact:
        """What binding it does to traffic, in the phase in which that is done."""
        found = (line.change.impact for line in self._lines.get(name, ()) if line.change.phase == phase)
        return max(found, default=Impact.NONE)

    def was(self, name: str, class_name: str, family: str, phase: Phase) -> str:
        """The object that stood there before, told beside the setting that the binding is about."""
        olds = {
            line.change.old
            for line in self._lines.get(name, ())
            if line.change.phase == phase
            and line.meaning.class_name == class_name
            and _family(line.meaning.quantity) == family
        }
        old = olds.pop() if len(olds) == 1 else None
        return old or ""


def _merged(found: Sequence[Row]) -> tuple[Row, ...]:
    """Rows that say the same of other ports, or of other priorities without a class, as one."""
    by_ports: dict[object, list[Row]] = {}
    for row in found:
        same = (row.phase, row.op, row.class_name, row.quantity, row.value, row.touches, bool(row.ports))
        by_ports.setdefault(same, []).append(row)
    by_class: dict[object, list[Row]] = {}
    for row in map(_of_ports, by_ports.values()):
        bare = "" if _PRIORITY.match(row.class_name) else row.class_name
        alike = (row.phase, row.op, bare, row.quantity, row.value, row.impact, row.ports, row.touches)
        by_class.setdefault(alike, []).append(row)
    merged = [_of_priorities(alike) for alike in by_class.values()]
    return tuple(sorted(merged, key=lambda row: row.phase))


def _of_ports(same: Sequence[Row]) -> Row:
    if len(same) == 1:
        return same[0]
    ports = tuple(sorted({port for row in same for port in row.ports}, key=natural))
    return replace(same[0], ports=ports, impact=max(row.impact for row in same))


def _of_priorities(same: Sequence[Row]) -> Row:
    if len(same) == 1:
        return same[0]
    numbers = [int(hit[1]) for row in same if (hit := _PRIORITY.match(row.class_name))]
    return replace(same[0], class_name=f"priorities {spans(numbers)}") if numbers else same[0]

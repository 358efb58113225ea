"""Problems and assumptions, said once with the number of places that share them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rocetune.model.plan import PlanProblem


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem before it is known where it occurs. Without ``profile`` the field is one of the device's own."""

    text: str
    remedy: str
    profile: str = ""
    field: tuple[str | int, ...] = ()
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Believed:
    """An assumption before it is known where it occurs."""

    text: str
    remedy: str = ""


@dataclass(slots=True)
class Notes:
    """Counts each problem over its places, in order of first appearance."""

    _found: dict[Problem, list[int | str]] = field(default_factory=dict)

    def add(self, problems: Iterable[Problem], place: str, count: int, noun: str) -> None:
        """``count`` more places (``noun`` is "port" or "device"), of which ``place`` is one."""
        for problem in problems:
            entry = self._found.setdefault(problem, [place, 0, noun])
            entry[1] = int(entry[1]) + count

    def problems(self) -> tuple[PlanProblem, ...]:
        """Errors first, then warnings."""
        made = [
            PlanProblem(_where(*entry), item.text, item.remedy, item.profile, _field(item, entry[0]), item.warning)
            for item, entry in self._found.items()
        ]
        return tuple(sorted(made, key=lambda item: item.warning))


def _field(problem: Problem, place: int | str) -> tuple[str | int, ...]:
    """A problem of a device is looked up at the first one that has it; one of the site's settings is where it is."""
    if problem.profile or not problem.field or problem.field[0] == "site":
        return problem.field
    return ("hosts", place, *problem.field)


def _where(place: int | str, count: int | str, noun: int | str) -> str:
    more = int(count) - 1
    return f"{place} and {more} more {noun}{'s' if more > 1 else ''}" if more else str(place)

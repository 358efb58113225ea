"""Many names said in few words: ``gpu01-gpu04``, ``Ethernet0-Ethernet120 step 8``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

_DIGITS = re.compile(r"[0-9]+")


@lru_cache(maxsize=65_536)
def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key in which ``leaf2`` comes before ``leaf10``."""
    parts = (part for part in re.split(r"([0-9]+)", name) if part)
    return tuple((0, int(part), part) if part.isdigit() else (1, 0, part) for part in parts)


def compact(names: Iterable[str], limit: int = 0) -> str:
    """The names in natural order, runs of three or more joined; ``limit`` > 0 caps the number of pieces."""
    pieces: list[str] = []
    run: list[str] = []
    for name in sorted(set(names), key=natural):
        if run and not _continues(run, name):
            pieces += _close(run)
            run = []
        run.append(name)
    pieces += _close(run)
    if limit and len(pieces) > limit:
        return ", ".join([*pieces[:limit], f"and {len(pieces) - limit} more"])
    return ", ".join(pieces)


def spans(numbers: Iterable[int]) -> str:
    """``0-25,27,30-31``."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(f"{low}-{high}" if high > low else str(low) for low, high in found)


def _close(run: Sequence[str]) -> list[str]:
    if len(run) < 3 and not (len(run) == 2 and _step(run[0], run[1]) == 1):
        return list(run)
    step = _step(run[0], run[1])
    return [f"{run[0]}-{run[-1]}" + (f" step {step}" if step != 1 else "")]


def _continues(run: Sequence[str], name: str) -> bool:
    step = _step(run[-1], name)
    if step is None:
        return False
    if len(run) == 1:
        return True
    previous = _step(run[-2], run[-1])
    return step == previous and _varying(run[-2], run[-1]) == _varying(run[-1], name)


def _step(first: str, second: str) -> int | None:
    """The difference of the one number in which two names differ, or None."""
    place = _varying(first, second)
    if place is None:
        return None
    step = int(_DIGITS.findall(second)[place]) - int(_DIGITS.findall(first)[place])
    return step if step > 0 else None


def _varying(first: str, second: str) -> int | None:
    """Which number of the names differs when all else, zero padding included, is equal."""
    if _DIGITS.sub("#", first) != _DIGITS.sub("#", second):
        return None
    one, two = _DIGITS.findall(first), _DIGITS.findall(second)
    places = [index for index, (left, right) in enumerate(zip(one, two, strict=True)) if left != right]
    if len(places) != 1:
        return None
    left, right = one[places[0]], two[places[0]]
    padded = left.startswith("0") or right.startswith("0")
    return places[0] if len(left) == len(right) or not padded or left == "0" else None

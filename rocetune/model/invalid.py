"""How a model says that a value is wrong: what, what would be right, and which part of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One wrong value. ``path`` leads from the object that was checked to the value that caused it."""

    text: str
    remedy: str = ""
    path: tuple[str | int, ...] = ()


class Invalid(ValueError):
    """One or several faults of one object; pydantic carries it to whoever knows file and line."""

    def __init__(self, *faults: Fault) -> None:
        self.faults: Sequence[Fault] = faults
        super().__init__("; ".join(fault.text + (f" ({fault.remedy})" if fault.remedy else "") for fault in faults))


def invalid(text: str, remedy: str = "", *path: str | int) -> Invalid:
    """An Invalid with one fault."""
    return Invalid(Fault(text, remedy, path))

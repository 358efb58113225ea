"""Numbers with units at the edge of the program: text in, plain numbers out.

Bytes are ``int`` bytes (KB = 1000 B, KiB = 1024 B), times milliseconds, speeds Mbit/s, lengths metres.
Every parser raises Invalid (a ValueError): what is wrong, and what would be right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocetune.model.invalid import Invalid, invalid

MAX_BYTES = 10**12  # 1 TB: a thousand times the largest packet buffer, so it is a slip of the hand
_MAX_TEXT = 40  # characters of a number with its unit
_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z%]*)\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Quantity:
    """One kind of number with a unit: its factors, and the words for a refusal."""

    name: str  # "a size"
    example: str
    factors: Mapping[str, float]
    units: str  # what may be written
    most: tuple[float, str]  # the largest number in the unit of factor 1, and how it is written
    any_case: bool = False

    def parse(self, value: Any) -> float:
        """The number in the unit of factor 1. Raises Invalid, a ValueError, with a remedy."""
        if isinstance(value, list | tuple | dict):
            raise invalid(f"{self.name} is one number with its unit, not several", f"write one, as in {self.example}")
        if not isinstance(value, str):
            raise invalid(f"{self.name} needs its unit", f"write a number and a unit, as in {self.example}")
        if len(value) > _MAX_TEXT:
            raise invalid(
                f"{value[:20]!r}... has {len(value)} characters, too many for {self.name}",
                f"write a number and a unit, as in {self.example}",
            )
        match = _NUMBER.fullmatch(value)
        if match is None:
            raise invalid(f"{value!r} is not {self.name}", f"write a number and a unit, as in {self.example}")
        unit = match[2].lower() if self.any_case else match[2]
        if unit not in self.factors:
            wrong = f"unit {match[2]!r} is not a unit of {self.name.split()[-1]}" if unit else f"{value!r} has no unit"
            raise invalid(wrong, self._remedy(float(match[1]), unit))
        number = float(match[1]) * self.factors[unit]
        if number > self.most[0]:
            raise self.too_large(value.strip())
        return number

    def too_large(self, written: str) -> Invalid:
        """The refusal of a number larger than anything that exists."""
        return invalid(f"{written} is too large for {self.name}", f"{self.most[1]} at most; is the unit right?")

    def _remedy(self, number: float, unit: str) -> str:
        if self is _SIZE and unit in _TIME.factors:
            size = show_bytes(round(number * _TIME.factors[unit] * 1000 * 400_000 / 8))
            return f"a queue is measured in bytes: bytes = time x speed / 8, so {number:g}{unit} at 400G is {size}"
        return f"use {self.units}, as in {self.example}"


_SIZE = _Quantity(
    "a size",
    "150KB",
    {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3},
    "B, KB, MB, KiB or MiB",
    (MAX_BYTES, "1000GB"),
    any_case=True,
)
_TIME = _Quantity(
    "a time", "200ms", {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}, "us, ms or s", (86_400_000, "1440m")
)
_SPEED = _Quantity(
    "a speed",
    "400G",
    {"m": 1, "mbps": 1, "g": 1000, "gbps": 1000, "t": 1_000_000, "tbps": 1_000_000},
    "G or T",
    (100_000_000, "100T"),
    any_case=True,
)
_LENGTH = _Quantity("a length", "2m", {"cm": 0.01, "m": 1.0, "km": 1000.0}, "m or km", (1_000_000, "1000km"))
_SHARE = _Quantity("a share", "50%", {"%": 1.0}, "the % sign", (1000, "100%"))


def parse_bytes(value: str | int) -> int:
    """Bytes from ``150KB``, ``1.5 MiB`` or a bare integer (bytes)."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise invalid("a size cannot be negative", "write 0 or more, as in 150KB")
        if value > MAX_BYTES:
            raise _SIZE.too_large(f"{value} B" if value < 10**20 else "the number")
        return value
    size = _SIZE.parse(value)
    if abs(size - round(size)) > 1e-6 * max(1.0, size):
        raise invalid(f"{str(value).strip()} is not a whole number of bytes", "write whole bytes, as in 254B")
    return round(size)


def parse_ms(value: str) -> float:
    """Milliseconds from ``200ms``, ``0.2s`` or ``50us``. A bare number is refused: vendors differ in unit."""
    return _TIME.parse(value)


def parse_us(value: str) -> float:
    """Microseconds from ``8us`` or ``0.008ms``."""
    return round(_TIME.parse(value) * 1000, 6)  # 6.5us is not 6.500000000000001


def parse_speed(value: str) -> int:
    """Mbit/s from ``400G``, ``1.6T`` or ``25Gbps``."""
    return round(_SPEED.parse(value))


def parse_length(value: str) -> float:
    """Metres from ``2m``, ``0.5m`` or ``10km``."""
    return _LENGTH.parse(value)


def parse_percent(value: str) -> float:
    """Percent from ``50%`` or ``0.5%``; the sign is required."""
    number = _SHARE.parse(value)
    if number > 100:
        raise invalid(f"{value!r} is outside 0% to 100%", "write 100% or less")
    return number


def show_bytes(value: int) -> str:
    """Bytes for people: exact below 10 KB, else KB or MB with three digits."""
    if value < 10_000:
        return f"{value} B"
    if value < 10_000_000:
        return f"{value / 1000:.4g} KB" if value < 1_000_000 else f"{value / 1_000_000:.4g} MB"
    return f"{value / 1_000_000:.4g} MB"


def show_speed(mbps: int) -> str:
    """``400G``, ``1.6T`` or ``100M``."""
    if mbps >= 1_000_000:
        return f"{mbps / 1_000_000:g}T"
    return f"{mbps / 1000:g}G" if mbps >= 1000 else f"{mbps}M"


def bytes_to_us(size_bytes: int, speed_mbps: int) -> float:
    """Microseconds that a size takes on the wire at a speed."""
    return size_bytes * 8 / speed_mbps

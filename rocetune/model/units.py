"""Numbers with units at the edge of the program: text in, plain numbers out.

Bytes are ``int`` bytes (KB = 1000 B, KiB = 1024 B), times milliseconds, speeds Mbit/s, lengths metres.
Every parser raises ValueError with a sentence that says what would be right.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z%]*)\s*", re.ASCII)
_BYTES = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}
_TIME_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}
_SPEED = {"m": 1, "mbps": 1, "g": 1000, "gbps": 1000, "t": 1_000_000, "tbps": 1_000_000}
_LENGTH = {"cm": 0.01, "m": 1.0, "km": 1000.0}


def _split(text: str, what: str, example: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not {what}: write a number and a unit, as in {example}")
    return float(match[1]), match[2]


def parse_bytes(value: str | int) -> int:
    """Bytes from ``150KB``, ``1.5 MiB`` or a bare integer (bytes)."""
    if isinstance(value, bool):
        raise ValueError("a size is a number with a unit, as in 150KB")
    if isinstance(value, int):
        if value < 0:
            raise ValueError("a size cannot be negative")
        return value
    if not isinstance(value, str):
        raise ValueError("a size is a number with a unit, as in 150KB")
    number, unit = _split(value, "a size", "150KB or 1.5MiB")
    if unit.lower() not in _BYTES:
        raise ValueError(f"unit {unit!r} is not a unit of size: use B, KB, MB, KiB or MiB")
    return round(number * _BYTES[unit.lower()])


def parse_ms(value: str) -> float:
    """Milliseconds from ``200ms``, ``0.2s`` or ``50us``. A bare number is refused: vendors differ in unit."""
    if not isinstance(value, str):
        raise ValueError("a time needs its unit, as in 200ms")
    number, unit = _split(value, "a time", "200ms")
    if unit not in _TIME_MS:
        raise ValueError(f"unit {unit!r} is not a unit of time: use us, ms or s")
    return number * _TIME_MS[unit]


def parse_speed(value: str) -> int:
    """Mbit/s from ``400G``, ``1.6T`` or ``25Gbps``."""
    if not isinstance(value, str):
        raise ValueError("a speed needs its unit, as in 400G")
    number, unit = _split(value, "a speed", "400G")
    if unit.lower() not in _SPEED:
        raise ValueError(f"unit {unit!r} is not a unit of speed: use G or T, as in 400G")
    return round(number * _SPEED[unit.lower()])


def parse_length(value: str) -> float:
    """Metres from ``2m``, ``0.5m`` or ``10km``."""
    if not isinstance(value, str):
        raise ValueError("a length needs its unit, as in 2m")
    number, unit = _split(value, "a length", "2m")
    if unit not in _LENGTH:
        raise ValueError(f"unit {unit!r} is not a unit of length: use m or km")
    return number * _LENGTH[unit]


def parse_percent(value: str) -> float:
    """Percent from ``50%`` or ``0.5%``; the sign is required."""
    if not isinstance(value, str):
        raise ValueError("a share is written with its sign, as in 50%")
    number, unit = _split(value, "a percentage", "50%")
    if unit != "%":
        raise ValueError(f"{value!r} is not a percentage: write it as 50%")
    if not 0 <= number <= 100:
        raise ValueError(f"{value!r} is outside 0% to 100%")
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

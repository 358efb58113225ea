"""Sizes, lengths and times as the calculators and comparisons print them: one unit, one style."""

from __future__ import annotations

from rocetune.model.units import bytes_to_us, show_bytes
from rocetune.tuning.duration import show_us


def show_size(size_bytes: int) -> str:
    """``5,000 B``, ``195.3 KB``."""
    return f"{size_bytes:,} B" if size_bytes < 10_000 else show_bytes(size_bytes)


def size_and_us(size_bytes: int, speed_mbps: int) -> str:
    """``195.3 KB (3.91 us)``."""
    return f"{show_size(size_bytes)} ({show_us(size_bytes, speed_mbps)})"


def show_length(cable_m: float) -> str:
    """``30 m``, ``2 km``."""
    return f"{cable_m / 1000:g} km" if cable_m >= 1000 else f"{cable_m:g} m"


def show_time(us: float) -> str:
    """``8 us``, ``27.2 us``, ``1,017 us``: three digits."""
    return f"{us:.3g} us" if us < 999.5 else f"{us:,.0f} us"


def us(size_bytes: int | None, speed_mbps: int) -> float | None:
    """Microseconds at line rate, to three decimals."""
    return None if size_bytes is None else round(bytes_to_us(size_bytes, speed_mbps), 3)

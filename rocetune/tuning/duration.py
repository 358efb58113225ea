"""Sizes as time on the wire, for people: bytes say nothing until the speed is known."""

from __future__ import annotations


def show_us(size_bytes: float, speed_mbps: int) -> str:
    """``28.8 us``: how long a size takes at a speed (Mbit/s), three digits."""
    us = size_bytes * 8 / speed_mbps
    return f"{us:.3g} us" if us < 999.5 else f"{us:,.0f} us"

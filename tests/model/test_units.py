"""Numbers with units: what is read, what is refused, and that text and number belong together."""
# ruff: noqa: E501 (one case a line)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocetune.model import units
from rocetune.model.invalid import Invalid


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("150KB", 150_000), ("1.5 MiB", 1_572_864), ("1MB", 1_000_000), ("2KiB", 2048), ("64B", 64), (4096, 4096),
        ("1GiB", 1 << 30), ("0.5KB", 500),
    ],
)  # fmt: skip
def test_bytes(text: str | int, expected: int) -> None:
    assert units.parse_bytes(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("200ms", 200), ("0.2s", 200), ("50us", 0.05), ("1m", 60_000)])
def test_times(text: str, expected: float) -> None:
    assert units.parse_ms(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"), [("400G", 400_000), ("1.6T", 1_600_000), ("25Gbps", 25_000), ("100M", 100), ("2.5G", 2500)]
)
def test_speeds(text: str, expected: int) -> None:
    assert units.parse_speed(text) == expected


@pytest.mark.parametrize(("text", "expected"), [("2m", 2), ("0.5m", 0.5), ("10km", 10_000), ("50cm", 0.5)])
def test_lengths(text: str, expected: float) -> None:
    assert units.parse_length(text) == pytest.approx(expected)


@pytest.mark.parametrize(("text", "expected"), [("50%", 50), ("0.5%", 0.5), ("100%", 100), ("0%", 0)])
def test_percents(text: str, expected: float) -> None:
    assert units.parse_percent(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parse", "value"),
    [
        (units.parse_bytes, "150"), (units.parse_bytes, "150Kb!"), (units.parse_bytes, "-1KB"), (units.parse_bytes, -1),
        (units.parse_bytes, True), (units.parse_bytes, "1e3KB"), (units.parse_bytes, "KB"), (units.parse_bytes, "1,5KB"),
        (units.parse_ms, "200"), (units.parse_ms, 200), (units.parse_ms, "200MS"), (units.parse_ms, "1h"),
        (units.parse_speed, "400"), (units.parse_speed, 400), (units.parse_speed, "400GB"),
        (units.parse_length, "2"), (units.parse_length, 2), (units.parse_length, "2ft"),
        (units.parse_percent, "50"), (units.parse_percent, 50), (units.parse_percent, "101%"),
        (units.parse_percent, "-1%"),
    ],
)  # fmt: skip
def test_refused_with_what_would_be_right(parse: Callable[[Any], float], value: Any) -> None:
    with pytest.raises(ValueError, match=r"as in|use |cannot be negative|write it as|outside"):
        parse(value)


@given(st.integers(0, 900_000), st.sampled_from(["B", "KB", "MB", "KiB", "MiB"]))
def test_whole_sizes_are_exact(number: int, unit: str) -> None:
    factor = {"B": 1, "KB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20}[unit]
    assert units.parse_bytes(f"{number}{unit}") == units.parse_bytes(f" {number} {unit.lower()} ") == number * factor


@given(st.integers(1, 1600))
def test_shown_speeds_read_back(gigabits: int) -> None:
    assert units.parse_speed(units.show_speed(gigabits * 1000)) == gigabits * 1000


@given(st.integers(0, 10**9))
def test_shown_sizes_are_within_half_a_promille(size: int) -> None:
    assert units.parse_bytes(units.show_bytes(size)) == pytest.approx(size, rel=5e-4)


@given(st.integers(0, 10**9), st.sampled_from([25_000, 100_000, 400_000, 800_000]))
def test_time_on_the_wire(size: int, speed: int) -> None:
    assert units.bytes_to_us(size, speed) * speed / 8 == pytest.approx(size)


@pytest.mark.parametrize(
    ("parse", "value", "text"),
    [
        (units.parse_bytes, "9" * 3000 + "B", "has 3001 characters, too many for a size"),
        (units.parse_bytes, int("9" * 3000), "the number is too large for a size"),
        (units.parse_bytes, 2 * 10**12, "2000000000000 B is too large for a size"),
        (units.parse_bytes, "1001GB", "1001GB is too large for a size"),
        (units.parse_bytes, "1" * 30 + "GiB", "is too large for a size"),
        (units.parse_ms, "9" * 3000 + "ms", "too many for a time"),
        (units.parse_ms, "99999999s", "99999999s is too large for a time"),
        (units.parse_speed, "9" * 30 + "G", "is too large for a speed"),
        (units.parse_length, "9" * 30 + "km", "is too large for a length"),
        (units.parse_percent, "9" * 30 + "%", "is too large for a share"),
        (units.parse_bytes, "1" + "B" * 100_000, "too many for a size"),
    ],
)
def test_what_is_larger_than_anything_that_exists(parse: Callable[[Any], float], value: Any, text: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse(value)
    assert text in caught.value.faults[0].text and len(caught.value.faults[0].text) < 200
    assert caught.value.faults[0].remedy

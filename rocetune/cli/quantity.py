"""Numbers with units on a command line: refused with the option's name, the reason and what would be right."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    Base = click.ParamType[Any]
else:
    Base = click.ParamType  # generic only in newer releases of click

_NANOSECONDS = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*ns\s*", re.ASCII)


class Quantity(Base):
    """Text with a unit to a number from ``low`` to ``high``, zero and less refused."""

    def __init__(
        self, name: str, parse: Callable[[str], float], example: str, low: tuple[float, str], high: tuple[float, str]
    ) -> None:
        self.name, self._parse, self._example, self._low, self._high = name, parse, example, low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value  # a default
        text = value.strip()
        if text.startswith("-"):
            self.fail(f"{text}: {self.name} cannot be negative; write one as in {self._example}", param, ctx)
        try:
            number = self._parse(text)
        except ValueError as error:
            self.fail(_sentence(error), param, ctx)
        if number <= 0:
            self.fail(f"{text}: {self.name} must be greater than zero, as in {self._example}", param, ctx)
        if number < self._low[0]:
            self.fail(f"{text} is too small for {self.name}: {self._low[1]} at least; is the unit right?", param, ctx)
        if number > self._high[0]:
            self.fail(f"{text} is too large for {self.name}: {self._high[1]} at most; is the unit right?", param, ctx)
        return number


def _sentence(error: ValueError) -> str:
    from rocetune.model.invalid import Invalid

    if isinstance(error, Invalid):
        return "; ".join(fault.text + (f": {fault.remedy}" if fault.remedy else "") for fault in error.faults)
    return str(error)


def _speed(text: str) -> float:
    from rocetune.model.units import parse_speed

    return parse_speed(text)


def _length(text: str) -> float:
    from rocetune.model.units import parse_length

    return parse_length(text)


def _us(text: str) -> float:
    from rocetune.model.units import parse_us

    found = _NANOSECONDS.fullmatch(text)
    return float(found[1]) / 1000 if found else parse_us(text)


def _ns(text: str) -> float:
    return _us(text) * 1000


def _bytes(text: str) -> float:
    from rocetune.model.units import parse_bytes

    return parse_bytes(int(text) if re.fullmatch(r"[0-9]{1,15}", text) else text)


def _percent(text: str) -> float:
    from rocetune.model.units import parse_percent

    return parse_percent(text)


SPEED = Quantity("a port speed", _speed, "400G", (100, "100M"), (1_600_000, "1.6T"))
LENGTH = Quantity("a cable length", _length, "30m", (0.01, "1cm"), (200_000, "200km"))
RTT = Quantity("a round trip", _us, "8us", (0.1, "0.1us"), (100_000, "100ms"))
DELAY = Quantity("a delay", _ns, "200ns", (1, "1ns"), (100_000, "100us"))
MTU = Quantity("a port MTU", _bytes, "9216", (576, "576"), (16_384, "16384"))
RDMA_MTU = Quantity("an RDMA MTU", _bytes, "4096", (256, "256"), (16_384, "16384"))
CELL = Quantity("a cell size", _bytes, "254B", (32, "32B"), (16_384, "16384B"))
SIZE = Quantity("a size", _bytes, "400KB", (1, "1B"), (10**12, "1000GB"))
PERCENT = Quantity("a share", _percent, "20%", (0.001, "0.001%"), (100, "100%"))


class Count(Base):
    """A whole number from 1 to ``most``."""

    def __init__(self, name: str, example: int, most: int) -> None:
        self.name, self._example, self._most = name, example, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        if not re.fullmatch(r"[0-9]{1,9}", value.strip()) or not 1 <= int(value) <= self._most:
            self.fail(
                f"{value}: {self.name} is a whole number from 1 to {self._most}, as in {self._example}", param, ctx
            )
        return int(value)


PORTS = Count("a port count", 32, 4096)
PRIORITIES = Count("a number of lossless priorities", 2, 8)
FLOWS = Count("a number of flows", 64, 1_000_000)


class Alpha(Base):
    """A dynamic threshold factor, 1/128 to 128; a fraction may be written as one."""

    name = "a dynamic threshold factor"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,12})?)(?:/([1-9][0-9]{0,5}))?", value.strip())
        number = float(found[1]) / float(found[2] or 1) if found else 0.0
        if not 1 / 1024 <= number <= 128:
            self.fail(f"{value}: alpha is a number from 1/1024 to 128, as in 1, 0.25 or 1/8", param, ctx)
        return number


ALPHA = Alpha()


class Picture(Base):
    """A file to draw into; its ending says the format."""

    name = "a picture"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(value)
        if path.suffix.lower() not in (".svg", ".png"):
            self.fail(f"{value}: a plot is written as .svg or .png, by the ending of its name", param, ctx)
        if not path.parent.is_dir():
            self.fail(f"{value}: there is no folder {path.parent}", param, ctx)
        return path


PLOT = Picture()


def drawn(plot: Path | None) -> None:
    """Say where the picture is, apart from the results."""
    if plot is not None:
        click.echo(f"Drawn: {plot}", err=True)

"""A user's chips: rows of a site that add a chip to the table or override single fields of one.

Fields: name, vendor, part, aliases, models, capacity_gbps, port_gbps, cell_bytes, buffer_bytes (data sheet),
usable_bytes (largest configured pool), hbm_bytes, layout, slices, headroom (base_bytes, fixed_us, wire_factor,
error_percent), source.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rocetune.tuning.asics import Asic
from rocetune.tuning.families import Fit

_NUMBERS = {  # field -> (attribute, smallest, largest)
    "capacity_gbps": ("capacity_gbps", 1, 1_000_000),
    "port_gbps": ("port_gbps", 1, 100_000),
    "cell_bytes": ("cell_bytes", 32, 16384),
    "buffer_bytes": ("nominal_bytes", 1, 10**12),
    "usable_bytes": ("usable_bytes", 1, 10**12),
    "hbm_bytes": ("hbm_bytes", 1, 10**12),
    "slices": ("slices", 1, 64),
}
_TEXTS = ("name", "vendor", "part", "source")
_LISTS = ("aliases", "models")
_LAYOUTS = ("shared", "sliced", "voq")
_FIT = ("base_bytes", "fixed_us", "wire_factor", "error_percent")
_FIELDS = (*_NUMBERS, *_TEXTS, *_LISTS, "layout", "headroom")


def changed(asic: Asic, name: str, row: Mapping[str, Any]) -> Asic:
    """A known chip with the fields of the row. Raises ValueError."""
    values = _read(name, row)
    unsure = tuple(field for field in asic.unsure if field not in _settled(row))
    stated = tuple(dict.fromkeys((*asic.user, *row)))
    values.setdefault("source", f"{', '.join(row)} stated in the site; {asic.source}")
    return replace(asic, **{"unsure": unsure, **values, "user": stated})


def made(name: str, row: Mapping[str, Any], key: str) -> Asic:
    """A chip that the table does not have. Raises ValueError."""
    values: dict[str, Any] = {
        "name": name,
        "vendor": "",
        "part": None,
        "aliases": (),
        "models": (),
        "capacity_gbps": None,
    }
    values |= {"port_gbps": None, "cell_bytes": None, "nominal_bytes": None, "usable_bytes": None, "hbm_bytes": None}
    values |= {"layout": "shared", "slices": 1, "preset": None, "preset_table": "", "source": "stated in the site"}
    return Asic(
        key=key, gearbox_ns=(), pools=(), confidence="high", unsure=(), user=tuple(row), **(values | _read(name, row))
    )


def _settled(row: Mapping[str, Any]) -> Iterable[str]:
    yield from row
    if "cell_bytes" in row:
        yield "cell"
    if {"buffer_bytes", "usable_bytes"} & row.keys():
        yield "buffer"


def _read(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise ValueError(f"ASIC {name!r}: its fields are missing: write them below it, as in cell_bytes: 254")
    values: dict[str, Any] = {}
    for field, value in row.items():
        if field in _NUMBERS:
            attribute, least, most = _NUMBERS[field]
            values[attribute] = _whole(name, field, value, least, most)
        elif field in _TEXTS:
            values[field] = _text(name, field, value)
        elif field in _LISTS:
            values[field] = _words(name, field, value)
        elif field == "layout":
            if value not in _LAYOUTS:
                raise ValueError(f"ASIC {name!r}: layout is one of {', '.join(_LAYOUTS)}: got {value!r}")
            values[field] = value
        elif field == "headroom":
            values["preset"] = _fit(name, value)
            values["preset_table"] = "a fit stated in the site"
        else:
            raise ValueError(f"ASIC {name!r}: {_unknown(str(field), _FIELDS)}")
    return values


def _unknown(field: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(field, list(known), n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else f"fields are {', '.join(known)}"
    return f"unknown field {field!r}: {hint}"


def _number(name: str, field: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"ASIC {name!r}: {field} must be a number, as in {field}: 254: got {value!r}")
    return value


def _whole(name: str, field: str, value: object, least: int, most: int) -> int:
    number = _number(name, field, value)
    if number != int(number) or not least <= number <= most:
        raise ValueError(f"ASIC {name!r}: {field} must be a whole number from {least:,} to {most:,}: got {value!r}")
    return int(number)


def _text(name: str, field: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"ASIC {name!r}: {field} must be text: got {value!r}")
    return value


def _words(name: str, field: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item.strip() for item in value):
        raise ValueError(f"ASIC {name!r}: {field} must be a list of names, as in [TH9]: got {value!r}")
    return tuple(value)


def _fit(name: str, value: object) -> Fit:
    if not isinstance(value, Mapping):
        raise ValueError(f"ASIC {name!r}: headroom needs base_bytes, fixed_us and wire_factor: got {value!r}")
    for field in value:
        if field not in _FIT:
            raise ValueError(f"ASIC {name!r}: headroom: {_unknown(str(field), _FIT)}")
    for field in _FIT[:3]:
        if field not in value:
            raise ValueError(f"ASIC {name!r}: headroom lacks {field}: it needs base_bytes, fixed_us and wire_factor")
    base, fixed, factor = (_number(name, f"headroom.{field}", value[field]) for field in _FIT[:3])
    error = _number(name, "headroom.error_percent", value.get("error_percent", 0))
    if base < 0 or fixed < 0 or factor < 1:
        raise ValueError(
            f"ASIC {name!r}: headroom needs base_bytes and fixed_us of 0 or more and wire_factor of 1 or more"
        )
    if not 0 <= error < 50:
        raise ValueError(f"ASIC {name!r}: headroom.error_percent is from 0 to 50: got {error:g}")
    return Fit(base, fixed, factor, error)

"""One published row beside everything that is computed for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocetune.tuning.asics import Asic, Fit, Parts, table
from rocetune.tuning.cells import round_up, wire_worst
from rocetune.tuning.families import Family, Lines, family_of
from rocetune.tuning.headroom import Headroom, canonical_bytes, fit_bytes, headroom, parts_bytes
from rocetune.tuning.published import PublishedTable


@dataclass(frozen=True)
class Point:
    """One published row and what is computed for it, in bytes. ``off`` and ``rule``: None without a preset."""

    speed_mbps: int
    cable_m: float
    published: int
    default: int  # the shipped default for this hardware SKU
    raised: bool  # by the physical floor
    off: int | None  # lookup off, as `headroom --no-table` gives it
    rule: int | None  # the same before the floor: what the preset itself says
    bare: int | None  # the chip alone
    stranger: int | None  # as if neither the table nor the preset fitted to it existed

    def error(self, value: int) -> float:
        return value / self.published - 1


def chip(item: PublishedTable) -> Asic:
    found = table().get(item.asic)
    assert found is not None, item.asic
    return found


def preset_of(item: PublishedTable) -> Family | None:
    return family_of(item.name)


def point(item: PublishedTable, speed: int, cable: float, xoff: int) -> Point:
    asic = chip(item)
    default = headroom(speed, cable, asic, model=item.name)
    family = preset_of(item)
    made = headroom(speed, cable, asic, model=item.name, lookup=False) if family is not None else None
    return Point(
        speed,
        cable,
        xoff,
        default.headroom_bytes,
        _raised(default.why.bounds),
        made.headroom_bytes if made is not None else None,
        _before_floor(made, asic, family) if made is not None and family is not None else None,
        _bare(asic, speed, cable),
        _stranger(item, asic, speed, cable),
    )


def _before_floor(made: Headroom, asic: Asic, family: Family) -> int:
    """The parts of a preset without the floor, rounded as the preset is: NVIDIA's registers count 1 KiB."""
    parts = sum(term.size_bytes for term in made.terms if term.name not in ("bound", "rounding"))
    return round_up(parts - 1e-6, 1024 if isinstance(family.preset, Parts) else asic.cell_bytes or 1)


def _raised(bounds: Sequence[str]) -> bool:
    return any("physical floor" in text or "wire floor" in text for text in bounds)


def _bare(asic: Asic, speed: int, cable: float) -> int | None:
    try:
        return headroom(speed, cable, asic).headroom_bytes
    except ValueError:
        return None


def points(item: PublishedTable) -> list[Point]:
    return [point(item, row.speed_mbps, row.cable_m, row.xoff_bytes) for row in item.rows]


def _stranger(item: PublishedTable, asic: Asic, speed: int, cable: float) -> int | None:
    """What a model of this maker and chip would get if this table were not known: the test of what is not at hand."""
    own = preset_of(item)
    others = [family for family in asic.presets_for(f"{item.maker} unheard-of") if family is not own]
    if not any(family.tables or asic.preset_table for family in others if not family.fallback) and isinstance(
        asic.preset, Fit
    ):
        others.append(Family(asic.name, asic.preset, ()))
    found = [_value(item, asic, family, speed, cable) for family in others if item.name not in family.tables]
    cell = asic.cell_bytes
    if cell is not None and cell < 1024 and not any(not family.fallback for family in others):
        found.append(canonical_bytes(speed, cable, factor=wire_worst(cell)))
    if not found:
        return None
    return round_up(max(*found, canonical_bytes(speed, cable, factor=1)), cell or 1)


def _value(item: PublishedTable, asic: Asic, family: Family, speed: int, cable: float) -> float:
    preset = family.preset
    if isinstance(preset, Lines):
        return preset.bytes_at(speed, cable)[0]
    if isinstance(preset, Fit):
        return fit_bytes(speed, cable, preset) / (1 - preset.error_percent / 100)
    frame = max(4178, preset.frame_bytes)
    cell, gearbox = asic.cell_bytes or 144, asic.gearbox(item.name)
    return float(parts_bytes(speed, cable, preset, cell, mtu_bytes=9216, frame_bytes=frame, gearbox_ns=gearbox))

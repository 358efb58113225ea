"""Which table speaks for a port: a user's, the platform's published one, or none."""

from __future__ import annotations

from dataclasses import dataclass

from rocetune.model.units import show_speed
from rocetune.tuning.asics import Asic, table
from rocetune.tuning.published import Match, PublishedTable, Row, asic_of, match, published


@dataclass(frozen=True, slots=True)
class LookUp:
    """The tables of one model. ``own``: they answer for it; else they are those of siblings."""

    asic: Asic | None  # as the tables have it
    users: PublishedTable | None
    match: Match | None  # the tables, whether their rows are looked up or not
    lookup: bool = True

    @property
    def found(self) -> Match | None:
        """The tables whose rows count."""
        return self.match if self.lookup else None

    @property
    def own(self) -> bool:
        """True where a row can be taken as the platform's own."""
        return self.users is not None or (self.found is not None and self.found.own)

    @property
    def absent(self) -> str:
        """SKUs that the model may be and whose upstream tables are not among ours."""
        return ", ".join(self.match.absent) if self.match is not None else ""

    @property
    def empty(self) -> PublishedTable | None:
        """The published table where it has no row at all and no other table is there."""
        if self.users is not None or self.found is None or not self.found.own:
            return None
        return self.found.tables[0] if all(item.empty for item in self.found.tables) else None

    def row(self, speed_mbps: int, cable_m: float) -> tuple[PublishedTable, Row] | None:
        """The row that decides: the user's, else the largest that a table of the model has for this port."""
        tables = self.found.tables if self.found is not None and self.found.own else ()
        for group in ((self.users,) if self.users is not None else (), tables):
            rows = [(item, row) for item in group if (row := item.fitting(speed_mbps, cable_m)) is not None]
            if rows:
                return max(rows, key=lambda pair: pair[1].xoff_bytes)
        return None


def look_up(model: str | None, asic: Asic | None, users: PublishedTable | None, lookup: bool) -> LookUp:
    """The tables that count for a model. A table of another chip than ``asic`` never does."""
    found = match(model)
    if asic is None and found is not None:
        key = asic_of(model)
        asic = next((item for item in table() if item.key == key), None)
    if found is not None and asic is not None:
        fitting = tuple(item for item in found.tables if asic.key in (item.asic, *item.also))
        if len(fitting) < len(found.tables):
            found = Match(fitting, found.exact, found.absent) if fitting else None
    return LookUp(asic, users, found, lookup)


def switch_row(
    model: str | None, asic: Asic | None, users: PublishedTable | None, speed_mbps: int, cable_m: float
) -> tuple[PublishedTable, Row] | None:
    """The row of its own headroom table that a SONiC switch gives a port.

    A user's table says what they want, not what the switch has: it counts where none is known for just this hardware
    SKU and it has a threshold, as only a copy of the switch's file does.
    """
    known = look_up(model, asic, None, lookup=True)
    row = known.row(speed_mbps, cable_m)
    sure = row is not None and known.match is not None and known.match.exact
    theirs = users.fitting(speed_mbps, cable_m) if not sure and users is not None else None
    return (users, theirs) if users is not None and theirs is not None and theirs.threshold is not None else row


def _listed(asic_key: str, speed_mbps: int, cable_m: float) -> list[tuple[int, str, float]]:
    """What each table of a chip has for a speed at this or its own next listed length."""
    return [
        (row.xoff_bytes, item.name, row.cable_m)
        for item in published()
        if asic_key in (item.asic, *item.also) and (row := item.row(speed_mbps, cable_m)) is not None
    ]


def spread(asic: Asic, speed_mbps: int, cable_m: float) -> tuple[int, int] | None:
    """Lowest and highest bytes that published tables of a chip have for a speed at this or their next listed length.

    None where no table lists the speed with so long a cable.
    """
    sizes = [size for size, _, _ in _listed(asic.key, speed_mbps, cable_m)]
    return (min(sizes), max(sizes)) if sizes else None


def range_of(asic_key: str, speed_mbps: int, cable_m: float) -> str:
    """The same in words, with the tables at both ends; empty where none has a row."""
    rows = _listed(asic_key, speed_mbps, cable_m)
    if not rows:
        return ""
    low, high = min(rows), max(rows)
    where = f"for {show_speed(speed_mbps)} at {cable_m:g} m or the next length they list"
    if low[0] == high[0]:
        return f"published tables of this chip have {low[0]:,} B {where} ({low[1]}, {low[2]:g} m)"
    ends = f"{low[0]:,} B ({low[1]}, {low[2]:g} m) to {high[0]:,} B ({high[1]}, {high[2]:g} m)"
    return f"published tables of this chip have {ends} {where}"

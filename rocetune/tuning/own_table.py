"""Which table speaks for a port: a user's, the platform's published one, or none."""

from __future__ import annotations

from dataclasses import dataclass

from rocetune.model.units import show_speed
from rocetune.tuning.asics import Asic, table
from rocetune.tuning.published import Match, PublishedTable, Row, asic_of, match, merged, published


@dataclass(frozen=True, slots=True)
class LookUp:
    """The tables of one model. ``own``: they answer for it; else they are those of siblings, a lower bound only."""

    asic: Asic | None  # as the tables have it
    users: PublishedTable | None
    found: Match | None
    model: str

    @property
    def own(self) -> bool:
        """True where a row can be taken as the platform's own."""
        return self.users is not None or (self.found is not None and self.found.own)

    @property
    def empty(self) -> PublishedTable | None:
        """The published table where it has no row at all and no other table is there."""
        if self.users is not None or self.found is None or not self.found.own:
            return None
        return self.found.tables[0] if all(item.empty for item in self.found.tables) else None

    @property
    def _published(self) -> PublishedTable | None:
        return merged(self.found, self.model) if self.found is not None else None

    def row(self, speed_mbps: int, cable_m: float) -> tuple[PublishedTable, Row] | None:
        """The row that decides: the user's, else the largest of the model's own tables."""
        for item in (self.users, self._published if self.found is not None and self.found.own else None):
            row = item.fitting(speed_mbps, cable_m) if item is not None else None
            if item is not None and row is not None:
                return item, row
        return None

    def dominated(self, speed_mbps: int, cable_m: float) -> Row | None:
        """The largest row for no more speed and length. Siblings count with the row that they would use here."""
        rows = [item.dominated(speed_mbps, cable_m) for item in (self.users, self._published) if item is not None]
        if self.found is not None and not self.found.own and self._published is not None:
            rows.append(self._published.fitting(speed_mbps, cable_m))
        return max((row for row in rows if row is not None), key=lambda row: row.xoff_bytes, default=None)

    def dominating(self, speed_mbps: int, cable_m: float) -> tuple[Row, ...]:
        """Rows that bound from above: what longer cables and faster ports get from the table that decides."""
        if self.users is not None:
            return self.users.dominating(speed_mbps, cable_m)
        if self._published is None or self.found is None or not self.found.own:
            return ()
        return self._published.dominating(speed_mbps, cable_m)

    def steps(self) -> tuple[str, ...]:
        """What the reader should know about the choice of tables."""
        found = self.found
        if self.users is not None or found is None:
            return ()
        names = ", ".join(item.name for item in found.tables)
        if found.absent:
            siblings = f"; not below its siblings {names}" if names else ""
            return (
                f"{', '.join(found.absent)} has a table upstream that is not among ours: the preset counts{siblings}",
            )
        if len(found.tables) > 1:
            return (f"{self.model}: the largest row of {names}, as the hardware SKU is not known",)
        return ()


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
    return LookUp(asic, users, found if lookup else None, model or "")


def range_of(asic_key: str, speed_mbps: int, cable_m: float) -> str:
    """What published tables of a chip have for a speed and length, in words; empty where none has a row.

    Tables that list only longer cables are left out where others list a nearer one.
    """
    listed = [
        (row, item.name)
        for item in published()
        if asic_key in (item.asic, *item.also) and (row := item.row(speed_mbps, cable_m)) is not None
    ]
    nearest = min((row.cable_m for row, _ in listed), default=0.0)
    rows = [(row.xoff_bytes, name) for row, name in listed if row.cable_m == nearest]
    if not rows:
        return ""
    low, high = min(rows), max(rows)
    where = f"{show_speed(speed_mbps)} and {nearest:g} m"
    if low[0] == high[0]:
        return f"published tables of this chip have {low[0]:,} B for {where} ({low[1]})"
    return f"published tables of this chip have {low[0]:,} B ({low[1]}) to {high[0]:,} B ({high[1]}) for {where}"

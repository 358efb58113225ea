"""The chips and headroom tables that numbers are made with: the shipped ones, and what a site knows better."""

from __future__ import annotations

from dataclasses import dataclass, field

from rocetune.tuning import wire
from rocetune.tuning.asics import Asic, AsicTable, table
from rocetune.tuning.published import SHORTEST_MODEL, PublishedTable, match, squeeze


@dataclass(frozen=True, slots=True)
class Knowledge:
    """``own`` are the site's tables with the models that they belong to."""

    asics: AsicTable = field(default_factory=table)
    own: tuple[tuple[tuple[str, ...], PublishedTable], ...] = ()
    quanta_800g: int = wire.QUANTA_800G

    def own_table(self, model: str | None) -> PublishedTable | None:
        """The site's own table of a switch model or SKU, or None: the name itself first, else one within it.

        ``Z9332F`` is found in ``DellEMC-Z9332f-O32``, as chips find their models.
        """
        wanted = squeeze(model or "")
        names = {squeeze(name): made for models, made in self.own for name in models}
        within = [name for name in names if len(name) >= SHORTEST_MODEL and name in wanted]
        found = wanted if wanted in names else max(within, key=len, default="")
        return names.get(found) if found else None

    def source(self, asic: Asic | None, model: str | None) -> str:
        """Whose table headroom of a model follows; empty where none is its own, so that a preset or sum decides."""
        own = self.own_table(model)
        if own is not None:
            return own.name
        found = match(model)
        if found is None or not found.own or asic is None:
            return ""
        fitting = [item for item in found.tables if asic.key in (item.asic, *item.also) and not item.empty]
        return fitting[0].name if len(fitting) == 1 else (model or "") if fitting else ""

    def rules(self, asic: Asic | None, model: str | None, copied: bool = True) -> tuple[object, ...]:
        """What headroom is computed with: two switches with equal rules have equal numbers."""
        if asic is None:
            return ("?",)
        presets = tuple(family.name for family in asic.presets_for(model, copied))
        found = match(model)
        siblings = tuple(item.name for item in found.tables) if found is not None else ()
        return (asic.key, asic.gearbox(model), self.source(asic, model), siblings, presets)

"""The chips and headroom tables that a plan is made with: the shipped ones, and what the site knows better."""

from __future__ import annotations

from dataclasses import dataclass

from rocetune.model.fabric import Tuning
from rocetune.planner.notes import Problem
from rocetune.tuning import wire
from rocetune.tuning.asics import Asic, AsicTable, table
from rocetune.tuning.published import PublishedTable, TableError, match, read_table, squeeze


@dataclass(frozen=True, slots=True)
class Knowledge:
    """``own`` are the site's tables with the models that they belong to."""

    asics: AsicTable
    own: tuple[tuple[tuple[str, ...], PublishedTable], ...] = ()
    quanta_800g: int = wire.QUANTA_800G
    problems: tuple[Problem, ...] = ()

    def own_table(self, model: str | None) -> PublishedTable | None:
        """The site's own table of a switch model, or None."""
        if model is None:
            return None
        return next((made for models, made in self.own if squeeze(model) in map(squeeze, models)), None)

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

    def rules(self, asic: Asic | None, model: str | None) -> tuple[object, ...]:
        """What headroom is computed with: two switches with equal rules have equal numbers."""
        if asic is None:
            return ("?",)
        presets = tuple(family.name for family in asic.presets_for(model))
        found = match(model)
        siblings = tuple(item.name for item in found.tables) if found is not None else ()
        return (asic.key, asic.gearbox(model), self.source(asic, model), siblings, presets)


def knowledge(tuning: Tuning) -> Knowledge:
    """Shipped tables with the site's on top; what is wrong in those becomes a problem at its line."""
    problems: list[Problem] = []
    asics = table()
    for key, row in tuning.asics.items():
        try:
            asics = asics.extended({key: row})
        except ValueError as error:
            problems.append(
                Problem(f"ASIC {key}: {error}", "correct it, or remove it", field=("site", "tuning", "asics", key))
            )
    own = []
    for number, item in enumerate(tuning.tables):
        try:
            own.append((item.models, read_table(item.text, item.file)))
        except TableError as error:
            at = f"{item.file}:{error.line}" if error.line else item.file
            field = ("site", "tuning", "headroom_tables", number, "file")
            problems.append(Problem(f"{at}: {error.text}", error.remedy, field=field))
    return Knowledge(asics, tuple(own), tuning.quanta_800g, tuple(problems))

"""``tuning:`` of a site on top of the shipped chips and tables; what is wrong in it becomes a problem at its line."""

from __future__ import annotations

from collections.abc import Iterator

from rocetune.model.fabric import Fabric, Tuning
from rocetune.planner.notes import Problem
from rocetune.tuning.asics import table
from rocetune.tuning.knowledge import Knowledge
from rocetune.tuning.published import TableError, read_table


def knowledge(tuning: Tuning) -> tuple[Knowledge, tuple[Problem, ...]]:
    """What the planner knows, and the problems of what the site says."""
    problems: list[Problem] = []
    asics = table()
    for key, row in tuning.asics.items():
        try:
            asics = asics.extended({key: row})
        except ValueError as error:
            problems.append(Problem(str(error), "correct it, or remove it", field=("site", "tuning", "asics", key)))
    own = []
    for number, item in enumerate(tuning.tables):
        try:
            own.append((item.models, read_table(item.text, item.file)))
        except TableError as error:
            at = f"{item.file}:{error.line}" if error.line else item.file
            field = ("site", "tuning", "headroom_tables", number, "file")
            problems.append(Problem(f"{at}: {error.text}", error.remedy, field=field))
    return Knowledge(asics, tuple(own), tuning.quanta_800g), tuple(problems)


def idle_chips(fabric: Fabric, known: Knowledge) -> Iterator[Problem]:
    """A warning for each new chip of the site that no switch has: its name may be a known one, mistyped."""
    stated = [device.declared for device in fabric.devices.values() if device.kind == "switch"]
    used = {known.asics.find(words[key]) for words in stated for key in ("asic", "model", "hwsku") if key in words}
    shipped = table()
    for key in fabric.tuning.asics:
        chip = known.asics.find_name(key)
        if chip is None or chip in used or shipped.find_name(key) is not None:
            continue
        near = shipped.suggest(key)
        hint = f"did you mean {near[0]}? Else state it" if near else "state it"
        text = f"no switch of the inventory has this chip: {key}"
        remedy = f"{hint} as asic in the inventory; a model or alias of a known chip stays with that one"
        yield Problem(text, remedy, field=("site", "tuning", "asics", key), warning=True)


def idle_tables(fabric: Fabric, known: Knowledge) -> Iterator[Problem]:
    """A warning for each table of the site that belongs to no switch of it: its models may be mistyped."""
    said = {device.declared.get("model") or device.declared.get("hwsku") for device in fabric.devices.values()}
    used = {id(made) for model in said if (made := known.own_table(model)) is not None}
    idle = {models for models, made in known.own if id(made) not in used}
    for number, item in enumerate(fabric.tuning.tables):
        if item.models in idle:
            text = f"no switch of the inventory has the model of this table: {', '.join(item.models)}"
            remedy = "correct models here, or model or hwsku in the inventory; or remove the table"
            yield Problem(text, remedy, field=("site", "tuning", "headroom_tables", number, "models"), warning=True)

"""What the numbers are computed from: chip, cable, round trip; measured, declared or believed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rocetune.model.fabric import Device, Port
from rocetune.model.plan import Why
from rocetune.planner.notes import Believed, Problem
from rocetune.tuning.asics import Asic, AsicTable
from rocetune.tuning.knowledge import Knowledge
from rocetune.tuning.published import near_sku

# The longest cable of each medium that is in common use: what a port gets whose length nobody stated.
REACH_M = {"dac": 3.0, "aec": 7.0, "aoc": 30.0, "vr": 50.0, "sr": 100.0, "dr": 500.0, "fr": 2000.0, "lr": 10_000.0}
REACH_M |= {"er": 40_000.0, "zr": 80_000.0}
HOST_CABLE_M = 30.0
FABRIC_CABLE_M = 300.0


@dataclass(frozen=True, slots=True)
class Chip:
    """The ASIC of one device (None: unknown) with what had to be believed about it."""

    asic: Asic | None
    model: str | None
    believed: tuple[Believed, ...] = ()
    problems: tuple[Problem, ...] = ()
    rules: tuple[object, ...] = ()  # what headroom is computed with, see Knowledge.rules
    source: str = ""  # whose headroom table or preset that is; empty: the chip's reference preset
    place: int = 0  # in the table of chips, an unknown one last
    copied: bool = True  # the switch may run a headroom table that its maker copied from another chip's
    alphas: str = ""  # how the switch writes alpha, a key of alpha_encodings.yaml; empty: as it stands


def chip_of(device: Device, read: str | None, knowledge: Knowledge, copied: bool, alphas: str = "") -> Chip:
    """``read`` is what the device itself said (its facts); else the inventory's ``asic``, ``model`` or ``hwsku``.

    ``copied``: the switch runs SONiC, where makers reuse tables of other chips.
    """
    chip = _chip(device, read, knowledge.asics)
    place = next((n for n, asic in enumerate(knowledge.asics) if asic is chip.asic), len(knowledge.asics))
    source = knowledge.source(chip.asic, chip.model)
    rules = (*knowledge.rules(chip.asic, chip.model), copied, alphas)
    return replace(chip, rules=rules, source=source, place=place, copied=copied, alphas=alphas)


def _chip(device: Device, read: str | None, known: AsicTable) -> Chip:
    model = device.declared.get("model") or device.declared.get("hwsku")
    stated = device.declared.get("asic")
    declared = known.find(stated) if stated else None
    seen = known.find(read) if read else None
    if seen is not None:
        if declared is not None and declared is not seen:
            text = f"the inventory says {declared.name}, the device says {seen.name}: the device is believed"
            return Chip(seen, model, (Believed(text, "correct asic in the inventory"),))
        return Chip(seen, model, _doubts(seen))
    if stated and declared is None:
        near = known.suggest(stated)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known.names())}"
        return Chip(None, model, (), (Problem(f"ASIC {stated!r} is not known", hint, field=("asic",)),))
    by_model = known.by_model(model) if model else None
    if declared is not None and by_model is not None and by_model is not declared:
        text = f"the inventory says {declared.name}, but {model} has a {by_model.name}"
        return Chip(declared, None, (), (Problem(text, "correct asic, or model or hwsku", field=("asic",)),))
    found = declared or by_model
    if found is not None:
        return Chip(found, model, _doubts(found), _mistyped_sku(device, model, found.key))
    text = "ASIC unknown: headroom is that of the most demanding chip, the buffer fit is not checked"
    believed = Believed(text, "state asic in the inventory, as in asic: Tomahawk 3")
    return Chip(None, model, (believed,), (_unknown_model(device, model, known),))


# The words of the SONiC platform, so that both count as one where it says the same.
COMPUTED_BY_SWITCH = Believed(
    "dynamic buffer model: the switch computes headroom from speed, cable length and MTU; the planned number is "
    "not written",
    "fix pfc.headroom in the profile to write a number of yours",
)


def _unknown_model(device: Device, model: str | None, known: AsicTable) -> Problem:
    """A warning: numbers can be made, but they are those of the most demanding chip."""
    worst = "headroom is that of the most demanding chip, and whether buffers fit is not checked"
    if model is None:
        text, key = f"neither asic nor model nor hwsku is stated: {worst}", "asic"
    else:
        key = "model" if device.declared.get("model") else "hwsku"
        text = f"{key} {model!r} belongs to no known chip: {worst}"
    near = known.near_models(model) if model else ()
    if key == "hwsku" and (sku := near_sku(model or "")):
        near = (sku,)
    hint = f"did you mean {' or '.join(near)}? Else " if near else ""
    return Problem(
        text, f"{hint}state asic, as in asic: Tomahawk 3; one of your own: tuning.asics", field=(key,), warning=True
    )


def _mistyped_sku(device: Device, model: str | None, asic: str) -> tuple[Problem, ...]:
    """A warning: a hardware SKU that nobody lists does not get the table of the one that it was meant to be."""
    sku = device.declared.get("hwsku")
    near = near_sku(sku, asic) if sku and sku == model else ""
    if not near:
        return ()
    text = f"hwsku {sku!r} is none whose headroom table is known: what its model or chip suggests is planned"
    return (
        Problem(
            text, f"did you mean {near}? Else give its table: tuning.headroom_tables", field=("hwsku",), warning=True
        ),
    )


def _doubts(asic: Asic) -> tuple[Believed, ...]:
    """What is not sure and matters to a number: a nominal size does not where a configured pool is known."""
    found = []
    matters = {"cell", "headroom"} if asic.usable_bytes is not None else {"cell", "headroom", "buffer"}
    unsure = [name for name in asic.unsure if name in matters]
    if asic.confidence == "low":
        found.append(Believed(f"buffer figures of {asic.name} are general knowledge", "check its data sheet"))
    elif unsure:
        found.append(Believed(f"{asic.name}: {', '.join(unsure)} is not confirmed", f"source: {asic.source}"))
    if asic.preset is None and asic.cell_bytes is None:
        found.append(Believed(f"cell size of {asic.name} is not published: headroom is that of the widest cell"))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Cable:
    """A length in metres and where it is from."""

    length_m: float
    why: Why
    believed: tuple[Believed, ...] = ()


def cable_of(port: Port) -> Cable:
    """The stated length, else the longest common one of the medium, else one by the port's place."""
    if port.cable_m is not None:
        return Cable(port.cable_m, Why("link", (("cable_m", port.cable_m),), source="links.yaml: length"))
    if port.medium in REACH_M:
        length, because = REACH_M[port.medium], f"the longest common {port.medium} cable"
    elif port.link_role in ("fabric", "border") or port.role in ("fabric", "border"):
        length, because = FABRIC_CABLE_M, "a long one for a link between switches"
    else:
        length, because = HOST_CABLE_M, "a long one for a link to a server"
    text = f"cable length not stated: {length:g} m, {because}, on network {port.network}"
    believed = Believed(text, "state length in links.yaml")
    return Cable(length, Why("default", (("cable_m", length),), (text,), source="no length in links.yaml"), (believed,))

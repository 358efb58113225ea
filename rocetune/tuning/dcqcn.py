"""DCQCN parameters of a NIC, under the names and in the units of the mlx5 driver.

The three presets: ``firmware`` keeps what the NIC has, ``paper`` writes the published set, ``scaled`` keeps the
firmware's timers and scales the two rates to the link. A parameter whose unit no document confirms is never
converted: a user may state it in the NIC's own unit, and we pass it through.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from rocetune.model.plan import Why
from rocetune.tuning.fluid import Preset, scaled_rates


@dataclass(frozen=True, slots=True)
class Parameter:
    """One knob. ``confirmed`` False: its unit is not documented well enough to convert a figure into it."""

    name: str
    meaning: str
    unit: str
    low: int
    high: int
    confirmed: bool = True


_RATE = 2**32 - 1  # devices with the 32-bit rate capability; older ones stop at 131071
_TIME = 131071

PARAMETERS: Mapping[str, Parameter] = {
    item.name: item
    for item in (
        Parameter("clamp_tgt_rate", "target rate follows the current rate on a CNP", "0 or 1", 0, 1),
        Parameter("clamp_tgt_rate_after_time_inc", "the same after an increase by timer", "0 or 1", 0, 1),
        Parameter("rpg_time_reset", "time between increases without a CNP", "us", 0, _TIME),
        Parameter("rpg_byte_reset", "bytes between increases, 0 = off", "unconfirmed", 0, _RATE, confirmed=False),
        Parameter("rpg_threshold", "fast-recovery stages", "count", 0, 31),
        Parameter("rpg_ai_rate", "additive increase", "Mbit/s", 0, _RATE),
        Parameter("rpg_hai_rate", "hyper increase", "Mbit/s", 0, _RATE),
        Parameter("rpg_max_rate", "rate at which the limiter is released, 0 = line rate", "Mbit/s", 0, _RATE),
        Parameter("rpg_min_rate", "lowest rate", "Mbit/s", 0, _RATE),
        Parameter("rpg_min_dec_fac", "smallest share of the rate left after one cut", "%", 1, 100),
        Parameter("rpg_gd", "cut is alpha / 2^value", "log2", 0, 15),
        Parameter("dce_tcp_g", "weight of the alpha average", "unconfirmed", 1, 1023, confirmed=False),
        Parameter("dce_tcp_rtt", "alpha update period", "us", 1, _TIME),
        Parameter("rate_reduce_monitor_period", "least time between two cuts", "us", 1, _TIME),
        Parameter("initial_alpha_value", "alpha at the first CNP", "1/1024", 0, 1023),
        Parameter("rate_to_set_on_first_cnp", "rate after the first CNP, 0 = line rate", "Mbit/s", 0, _RATE),
        Parameter("min_time_between_cnps", "least time between two CNPs (receiver)", "us", 0, _TIME),
    )
}

_PAPER = {
    "rpg_time_reset": (55, "T = 55 us"),
    "rpg_threshold": (5, "F = 5 fast-recovery stages"),
    "rpg_ai_rate": (40, "R_AI = 40 Mbit/s"),
    "dce_tcp_rtt": (55, "alpha timer 55 us"),
    "min_time_between_cnps": (50, "N = 50 us between CNPs"),
}
_PAPER_LEFT = "g, byte counter B and R_HAI stay as the firmware has them: their unit or value is not confirmed"


@dataclass(frozen=True, slots=True)
class Dcqcn:
    """Parameters to write, sorted by name, each with its Why. Empty: the NIC keeps its own."""

    parameters: tuple[tuple[str, int], ...]
    why: Mapping[str, Why]
    notes: tuple[str, ...] = ()


def parameters(preset: Preset, speed_mbps: int | None, fixed: Mapping[str, int] | None = None) -> Dcqcn:
    """The set of a preset with the user's fixed values on top.

    Where the flows then settle is in :mod:`rocetune.tuning.fluid` and :mod:`rocetune.tuning.outlook`. Raises ValueError
    for an unknown parameter (with a suggestion), a value out of range, or ``scaled`` without a speed.
    """
    chosen: dict[str, int] = {}
    why: dict[str, Why] = {}
    notes: tuple[str, ...] = ()
    if preset == "paper":
        notes = (_PAPER_LEFT,)
        for name, (value, text) in _PAPER.items():
            chosen[name] = value
            why[name] = Why("dcqcn.paper", (), (text,), source="DCQCN, SIGCOMM 2015")
    elif preset == "scaled":
        if speed_mbps is None:
            raise ValueError("the scaled DCQCN set needs the port speed: state it in links.yaml")
        for name, per_25g, value in zip(
            ("rpg_ai_rate", "rpg_hai_rate"), (5, 50), scaled_rates(speed_mbps), strict=True
        ):
            chosen[name] = value
            step = f"{per_25g} Mbit/s x {speed_mbps / 1000:g}G / 25G = {value} Mbit/s"
            why[name] = Why("dcqcn.scaled", (("speed_mbps", speed_mbps),), (step,), source="HPCC simulation run.py")
    for name, value in (fixed or {}).items():
        check(name, value)
        chosen[name] = value
        unit = PARAMETERS[name].unit
        note = "passed through in the NIC's own unit" if not PARAMETERS[name].confirmed else f"{value} {unit}"
        why[name] = Why("profile", (), (note,), source=f"profile: dcqcn.parameters.{name}")
    return Dcqcn(tuple(sorted(chosen.items())), why, notes)


def check(name: str, value: int) -> None:
    """Raises ValueError when a parameter does not exist or its value cannot be."""
    parameter = PARAMETERS.get(name)
    if parameter is None:
        near = difflib.get_close_matches(name, PARAMETERS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(PARAMETERS))}"
        raise ValueError(f"{name!r} is no DCQCN parameter of an mlx5 NIC: {hint}")
    if not parameter.low <= value <= parameter.high:
        raise ValueError(f"{name} is {value}, outside {parameter.low} to {parameter.high} ({parameter.unit})")

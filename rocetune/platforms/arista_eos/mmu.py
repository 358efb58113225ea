"""Headroom on chips with one buffer profile per switch.

On Trident and Tomahawk an MMU queue profile sets headroom and the dynamic threshold, and one profile is in use for
the whole switch (attaching one per interface exists on newer releases: not confirmed). So it is written only when
all managed lossless classes of the device can live with the largest headroom and one threshold. On Jericho the
deep buffers get headroom by themselves.

Source: avd platform schema; the Gaudi switch guide, whose 7060DX4-32 recipe is ``ingress headroom`` and
``ingress threshold`` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan
from rocetune.platforms.arista_eos import names
from rocetune.tuning.thresholds import encodings


@dataclass(frozen=True, slots=True)
class Buffers:
    """The one MMU profile of a switch. ``headroom_bytes`` None: none is written, ``reason`` says why."""

    headroom_bytes: int | None = None
    alpha: float | None = None
    reason: str = ""
    assumptions: tuple[tuple[str, str, bool], ...] = ()  # (text, remedy, whether frames can be lost if it holds)


def choose(plan: DevicePlan, facts: Facts) -> Buffers:
    """The largest headroom of the managed lossless classes, or why there can be none."""
    wishes = {
        (entry.headroom_bytes, entry.alpha)
        for item in plan.managed
        for entry in item.setting.qos.priorities
        if entry.lossless and entry.owned and entry.headroom_bytes is not None
    }
    asic = facts.asic or names.chip_name(plan.asic)
    family = names.is_trident_family(asic)
    if family is None:
        remedy = "state asic if it is a Trident, Tomahawk or Jericho; else set both on the switch by hand"
        return _not_written(f"EOS's buffer commands {_whose(asic)} are not known to rocetune", wishes, remedy)
    if not family:
        return Buffers(reason="headroom is automatic on this chip (deep VOQ buffers): EOS takes no number")
    if plan.device.globals_mode == "refuse":
        reason = "the buffer profile is one per switch, and the device says globals: refuse"
        return _not_written(reason, wishes, "write globals: extend, or set both on the switch by hand")
    if not wishes:
        return Buffers(reason="no managed lossless class has a headroom")
    alphas = {encodings()["eos"].written(alpha) for _, alpha in wishes if alpha is not None}
    if len(alphas) > 1:
        reason = "the lossless classes want different thresholds, and one profile serves the whole switch"
        return _not_written(reason, wishes, "give the lossless classes one alpha, or set both on the switch by hand")
    headroom = max(size for size, _ in wishes if size is not None)
    text = (
        f"one buffer profile is in use for the whole switch: every lossless port gets {headroom} bytes of headroom,"
        " the largest that any of them needs; whether it can be attached per port is not confirmed"
    )
    remedy = "check 'show platform trident mmu queue status' after the push; ports of others with PFC get it as well"
    return Buffers(headroom, alphas.pop() if alphas else None, "", ((text, remedy, False),))


def _whose(asic: str | None) -> str:
    return f"of {asic}" if asic else "of this switch, whose chip is not known,"


def _not_written(reason: str, wishes: set[tuple[int, float | None]], remedy: str) -> Buffers:
    """Neither headroom nor alpha goes out: what the switch has stays, and whether that is enough is not known."""
    headroom = max((size for size, _ in wishes), default=0)
    if not headroom:
        return Buffers(reason=reason)
    text = (
        f"{reason}: the switch keeps the headroom and threshold that it has; {headroom:,} B are needed, less loses "
        "frames, and ECN bounds, where they are known, count a threshold that is not written"
    )
    return Buffers(reason=reason, assumptions=((text, remedy, True),))


def word_of(alpha: float) -> str:
    """EOS's word for a threshold factor, rounded down to one that it takes: powers of two, 1/64 at least, 8 at most."""
    factor = Fraction(encodings()["eos"].written(alpha))
    return str(factor)


def alpha_of(word: str) -> float | None:
    """The factor of EOS's word; None for a word that is not one."""
    top, _, bottom = word.partition("/")
    if not top.isdigit() or (bottom and not (bottom.isdigit() and int(bottom))):
        return None
    return int(top) / int(bottom or 1)

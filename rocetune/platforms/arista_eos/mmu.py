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
    family = names.is_trident_family(facts.asic)
    if family is None:
        return _unknown(facts.asic, max((size for size, _ in wishes if size is not None), default=0))
    if not family:
        return Buffers(reason="headroom is automatic on this chip (deep VOQ buffers): EOS takes no number")
    if plan.device.globals_mode == "refuse":
        return Buffers(reason="the buffer profile is one per switch, and the device says globals: refuse")
    if not wishes:
        return Buffers(reason="no managed lossless class has a headroom")
    alphas = {encodings()["eos"].written(alpha) for _, alpha in wishes if alpha is not None}
    if len(alphas) > 1:
        return Buffers(reason="the lossless classes want different thresholds, and one profile serves the whole switch")
    headroom = max(size for size, _ in wishes if size is not None)
    text = (
        f"one buffer profile is in use for the whole switch: every lossless port gets {headroom} bytes of headroom,"
        " the largest that any of them needs; whether it can be attached per port is not confirmed"
    )
    remedy = "check 'show platform trident mmu queue status' after the push; ports of others with PFC get it as well"
    return Buffers(headroom, alphas.pop() if alphas else None, "", ((text, remedy, False),))


def _unknown(asic: str | None, headroom: int) -> Buffers:
    """No buffer commands are known for the chip: what the switch has stays, and whether that is enough is not known."""
    whose = f"of {asic}" if asic else "of this switch, whose chip is not known,"
    reason = f"EOS's buffer commands {whose} are not known to rocetune: none is written"
    if not headroom:
        return Buffers(reason=reason)
    text = f"{reason}; {headroom:,} B of headroom are needed, and the switch keeps what it has: less loses frames"
    remedy = "declare asic or model if it is a Trident, Tomahawk or Jericho; else set headroom on the switch by hand"
    return Buffers(reason=reason, assumptions=((text, remedy, True),))


def word_of(alpha: float) -> str:
    """EOS's word for a threshold factor, rounded down to one that it takes: 1/64 to 8 in powers of two."""
    factor = Fraction(encodings()["eos"].written(alpha))
    return str(factor)


def alpha_of(word: str) -> float | None:
    """The factor of EOS's word; None for a word that is not one."""
    top, _, bottom = word.partition("/")
    if not top.isdigit() or (bottom and not (bottom.isdigit() and int(bottom))):
        return None
    return int(top) / int(bottom or 1)

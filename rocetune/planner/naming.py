"""Names of settings: each follows from what decides the setting's numbers, never from the order of the inventory.

Names become objects on devices, so a new device must not rename those of others. What an override or a second kind
of chip changes is part of the name at once; the chip that stands first in the ASIC table keeps the plain name of its
network. Everything else is added only where two names would be equal.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rocetune.model.profile import Match
from rocetune.planner.combination import Combination
from rocetune.planner.inputs import Chip
from rocetune.site.effective import label_of

MAX_LENGTH = 48
_WORD_LENGTH = 20
_IN_LABEL = ("network", "speed")  # a name says these already


@dataclass(frozen=True, slots=True)
class Draft:
    """A setting without its name: the combination, and kmin and kmax by class as the switch's buffer bounds them."""

    combination: Combination
    curves: tuple[tuple[str, int, int], ...] = ()


def names(drafts: Sequence[Draft]) -> list[str]:
    """A name for each draft, all different, [a-z0-9-]."""
    plain = _plain_chips(drafts)
    found = [
        "-".join(filter(None, (item.combination.label, _chip_word(item, plain), _override_word(item))))
        for item in drafts
    ]
    largest: dict[str, int] = {}
    for name, item in zip(found, drafts, strict=True):
        largest[name] = max(largest.get(name, 0), _kmax(item))
    for word in (_cable_word, _headroom_word, lambda name, item: _curve_word(item, largest.get(name, 0)), _digest_word):
        found = _extended(found, drafts, word)
    return [_short(name, item) for name, item in zip(found, drafts, strict=True)]


def _extended(found: Sequence[str], drafts: Sequence[Draft], word: Callable[[str, Draft], str]) -> list[str]:
    """Names that several drafts share, with one more word each."""
    count = Counter(found)
    return [
        f"{name}-{extra}" if count[name] > 1 and (extra := word(name, item)) else name
        for name, item in zip(found, drafts, strict=True)
    ]


def _rank(chip: Chip) -> tuple[int, float, str]:
    """Place in the ASIC table, an unknown chip last; then the delay that its model adds, then its headroom table."""
    if chip.asic is None:
        return chip.place, 0.0, ""
    return chip.place, chip.asic.gearbox(chip.model), chip.source


def _plain_chips(drafts: Sequence[Draft]) -> Mapping[str, tuple[int, float, str]]:
    """For each network the chip whose settings keep the plain name."""
    first: dict[str, tuple[int, float, str]] = {}
    for item in drafts:
        chip, network = item.combination.chip, item.combination.network
        if chip is not None:
            first[network] = min(first.get(network, _rank(chip)), _rank(chip))
    return first


def _chip_word(item: Draft, plain: Mapping[str, tuple[int, float, str]]) -> str:
    chip = item.combination.chip
    if chip is None or _rank(chip) == plain[item.combination.network]:
        return ""
    if chip.asic is None:
        return "unknown"
    place, delay, source = plain[item.combination.network]
    other = chip.place != place
    gearbox = chip.asic.gearbox(chip.model)
    words = (
        chip.asic.key.replace("-", "") if other or gearbox != delay else "",
        "gearbox" if gearbox and (other or gearbox != delay) else "",
        _clean(chip.source.lower())[:_WORD_LENGTH].rstrip("-") if other or chip.source != source else "",
    )
    return "-".join(filter(None, words))


def _override_word(item: Draft) -> str:
    """What the overrides look for that decided a field: ``spine``, ``rail1``."""
    deciding = {label for _, label in item.combination.winners}
    words: list[str] = []
    for number, override in enumerate(item.combination.source.overrides):
        if label_of(number, override) in deciding:
            words += [
                f"rail{value}" if name == "rail" else str(value).lower()
                for name in Match.model_fields
                if name not in _IN_LABEL and (value := getattr(override.match, name)) is not None
            ]
    text = "-".join(_clean(word) for word in dict.fromkeys(words))
    return text if len(text) <= _WORD_LENGTH else f"{text[: _WORD_LENGTH - 5].rstrip('-')}-{_digest(text)}"


def _cable_word(name: str, item: Draft) -> str:
    return "assumed" if item.combination.cable.believed else ""


def _headroom_word(name: str, item: Draft) -> str:
    """On a switch whose ports all get one headroom, in KB, where that is more than the port needs."""
    return f"headroom{item.combination.raised_bytes // 1000}" if item.combination.raised_bytes else ""


def _kmax(item: Draft) -> int:
    return max((kmax for _, _, kmax in item.curves), default=0)


def _curve_word(item: Draft, largest: int) -> str:
    """kmax in KB where a fuller switch has to mark earlier."""
    return f"kmax{_kmax(item) // 1000}" if _kmax(item) < largest else ""


def _digest_word(name: str, item: Draft) -> str:
    made = item.combination
    cable = (made.cable.length_m, made.cable.why.rule, made.cable.why.steps)
    return _digest(
        repr((made.network, made.profile.model_dump_json(), made.winners, cable, made.raised_bytes, item.curves))
    )


def _short(name: str, item: Draft) -> str:
    if len(name) <= MAX_LENGTH:
        return name
    return f"{name[: MAX_LENGTH - 5].rstrip('-')}-{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:4]


def _clean(text: str) -> str:
    kept = "".join(char if char.isascii() and char.isalnum() else "-" for char in text)
    return "-".join(part for part in kept.split("-") if part)

"""Marking curves side by side: figures, whether ECN acts before PFC, and what to expect of each in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocetune.model.plan import Why
from rocetune.planner.compare import Line
from rocetune.report import encode
from rocetune.report.sizes import size_and_us, us
from rocetune.report.table import PLAIN, Paint, markdown_table, table

HEAD = ("curve", "kmin", "kmax", "pmax", "p*", "q*", "CNPs", "ECN before PFC")
WORDS = ("goodput", "bystander", "burst", "pause")
LEGEND = (
    "p*: share of packets marked once the flows have settled (DCQCN fluid model); q*: the queue that stands then; "
    "CNPs: sent per second by the receiving port; withheld where PFC would act first."
)
ORDER_LEGEND = (
    "ECN before PFC: yes, even when all egress queues fill from one ingress; incast only, where that may pause first; "
    "no, PFC starts below kmax."
)
NO_SCORE = (
    "No single score: what helps goodput costs the bystander, a flow that shares the ingress without being the cause."
)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Start:
    """Where PFC starts on these ports, bytes; None: not known. ``fits`` False: headroom leaves nothing to share."""

    strict_bytes: float | None = None
    incast_bytes: float | None = None
    fits: bool | None = None

    def order(self, line: Line) -> str:
        """Whether marking is complete before pause starts. At a bound is not below it."""
        if line.kmax_bytes is None:
            return "-"
        if self.fits is False:
            return "does not fit"
        if self.strict_bytes is None or self.incast_bytes is None:
            return "not known"
        if line.kmax_bytes >= self.incast_bytes:
            return "no"
        return "incast only" if line.kmax_bytes >= self.strict_bytes else "yes"

    def withheld(self, line: Line) -> str:
        """Why p*, q* and CNPs mean nothing here; empty where they do. The fluid model knows no PFC."""
        if self.fits is False:
            return "the headroom does not fit in the buffer: nothing is left to share, so where PFC starts is not known"
        if self.incast_bytes is not None and (line.kmax_bytes or 0) >= self.incast_bytes:
            return (
                f"kmax is not below {self.incast_bytes:,.0f} B, where PFC starts: it and not marking limits the queue"
            )
        return ""

    def bound(self, line: Line) -> str:
        """The bound that decides the order, in words."""
        if self.fits is False:
            return "none: the headroom does not fit in the buffer"
        return (line.outlook.active_bound if line.outlook else "") or "none"


def rows(lines: Iterable[Line], speed_mbps: int, start: Start) -> list[list[str]]:
    """The figures of each curve, under :data:`HEAD`."""
    return [_row(line, speed_mbps, start) for line in lines]


def _row(line: Line, speed_mbps: int, start: Start) -> list[str]:
    seen = line.outlook
    if line.kmin_bytes is None or line.kmax_bytes is None or seen is None:
        return [line.name, *["-"] * (len(HEAD) - 1)]
    figures = ["withheld"] * 3
    if not start.withheld(line):
        queue = "beyond kmax" if seen.q_star_bytes is None else size_and_us(round(seen.q_star_bytes), speed_mbps)
        figures = [f"{seen.p_star * 100:.3g} %", queue, f"{seen.cnp_per_s:,.0f}/s"]
    return [
        line.name,
        size_and_us(line.kmin_bytes, speed_mbps),
        size_and_us(line.kmax_bytes, speed_mbps),
        "-" if line.pmax_percent is None else f"{line.pmax_percent:g} %",
        *figures,
        start.order(line),
    ]


def words_text(lines: Sequence[Line], start: Start, *, every: bool = False, paint: Paint = PLAIN) -> list[str]:
    """What to expect, a block for the first curve and one for each group of like curves; ``every``: one for each."""
    blocks = []
    for names, words in expectations(lines, start, every=every):
        blocks.append(f"  expect of {paint('bold', names)}\n{table(words, indent='    ')}")
    return blocks + [f"  {paint('bold', line.name)}: {line.note}" for line in lines if line.note]


def words_markdown(lines: Sequence[Line], start: Start, *, every: bool = False) -> list[str]:
    """The same as a table, and the notes of presets that say nothing here."""
    found = [[names, *(text for _, text in words)] for names, words in expectations(lines, start, every=every)]
    blocks = [markdown_table(found, ("expect of", "active bound", *WORDS))] if found else []
    return blocks + [f"{line.name}: {line.note}" for line in lines if line.note]


def expectations(
    lines: Sequence[Line], start: Start, *, every: bool = False
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Names of curves with their words. Curves whose words differ in numbers alone share them, with ranges."""
    if start.fits is False:
        return []
    groups: dict[tuple[str, ...], list[Line]] = {}
    for number, line in enumerate(line for line in lines if line.outlook is not None):
        alone = (str(number),) if every or number == 0 else ()
        shape = tuple(_NUMBER.sub("#", text) for _, text in _words(line, start))
        groups.setdefault((*alone, *shape), []).append(line)
    return [
        (
            ", ".join(line.name for line in group),
            [
                (name, ranged([dict(_words(line, start))[name] for line in group]))
                for name, _ in _words(group[0], start)
            ],
        )
        for group in groups.values()
    ]


def _words(line: Line, start: Start) -> list[tuple[str, str]]:
    assert line.outlook is not None
    return [("active bound", start.bound(line)), *((word, getattr(line.outlook, word)) for word in WORDS)]


def ranged(texts: Sequence[str]) -> str:
    """One sentence of several that differ in numbers alone: ``waits behind 9 to 36 us``."""
    numbers = list(zip(*(_NUMBER.findall(text) for text in texts), strict=True))
    spans = iter(_span(found) for found in numbers)
    return _NUMBER.sub(lambda _: next(spans), texts[0])


def _span(found: Sequence[str]) -> str:
    ordered = sorted(set(found), key=lambda text: float(text.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def line_json(line: Line, speed_mbps: int, start: Start, why: encode.Json | None = None) -> encode.Json:
    """One curve as data; bytes are whole, ``withheld`` says why there is no prediction."""
    reason = start.withheld(line) if line.kmax_bytes is not None else ""
    seen = None if reason else line.outlook
    queue = round(seen.q_star_bytes) if seen is not None and seen.q_star_bytes is not None else None
    words = None if start.fits is False else line.outlook
    return {
        "name": line.name,
        "kmin_bytes": line.kmin_bytes,
        "kmax_bytes": line.kmax_bytes,
        "pmax_percent": line.pmax_percent,
        "kmin_us": us(line.kmin_bytes, speed_mbps),
        "kmax_us": us(line.kmax_bytes, speed_mbps),
        "p_star": seen.p_star if seen else None,
        "q_star_bytes": queue,
        "q_star_us": us(queue, speed_mbps),
        "cnp_per_s": seen.cnp_per_s if seen else None,
        "withheld": reason or None,
        "ecn_before_pfc": start.order(line) if line.kmax_bytes is not None else None,
        "active_bound": start.bound(line) if line.outlook else None,
        "expect": {word: getattr(words, word) for word in WORDS} if words else None,
        "why": why,
        "note": line.note or None,
    }


def whys_json(whys: Iterable[tuple[str, Why]]) -> encode.Json:
    """Derivations by threshold."""
    return {name: encode.why_json(why) for name, why in whys}

"""The seam for a search over parameters: a candidate goes in, one score per scenario comes out, with its provenance.

No search is here. Whoever judges marking curves takes an :class:`Evaluator`; a simulator plugs in as another one.
:class:`Analytic` answers in words from the fluid model and the bounds. A score keeps goodput, bystander, burst and
pause apart: what is best for one is worst for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from rocetune.model.plan import Why
from rocetune.tuning import fluid
from rocetune.tuning.ecn import Bounds
from rocetune.tuning.outlook import Outlook, outlook

Traffic = Literal["incast", "incast-bystander", "permutation", "ring", "all-to-all", "mixed"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Parameters under test. ``kmin_bytes`` and ``kmax_bytes`` None: ECN off. ``dcqcn``: fixed values, mlx5 names."""

    name: str
    kmin_bytes: int | None
    kmax_bytes: int | None
    pmax_percent: float = 20.0
    alpha: float = 1.0
    dcqcn_preset: fluid.Preset = "firmware"
    dcqcn: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Scenario:
    """Traffic on one kind of port. ``bounds`` are those of its switch at the candidate's alpha; None: not known."""

    name: str
    traffic: Traffic
    speed_mbps: int
    flows: int
    rtt_us: float = 8.0
    frame_bytes: int = 4178
    bounds: Bounds | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """One aspect. ``value`` None: judged in words only. Goodput and pause are shares (0 to 1), times ratios to idle."""

    words: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """A candidate in a scenario: four aspects, deliberately without a total, and how they came about.

    ``p_star`` is the share of packets marked and ``q_star_bytes`` the queue, both once the flows have settled;
    ``cnp_per_s`` is per receiving port. None: not measured, or for the queue: none below kmax.
    """

    candidate: str
    scenario: str
    goodput: Measure
    bystander: Measure
    burst: Measure
    pause: Measure
    why: Why
    active_bound: str = ""  # which PFC bound matters to the curve, in words
    p_star: float | None = None
    q_star_bytes: float | None = None
    cnp_per_s: float | None = None


class Evaluator(Protocol):
    """Anything that scores a candidate: a fluid model, a packet simulator, a test bed."""

    @property
    def name(self) -> str:
        """Told in reports beside the score."""

    def evaluate(self, candidate: Candidate, scenarios: Sequence[Scenario]) -> tuple[Score, ...]:
        """One score per scenario, in their order. Raises ValueError for a candidate that cannot be."""


class Analytic:
    """Scores in words, from :func:`rocetune.tuning.outlook.outlook`; it does not tell traffic patterns apart."""

    name = "analytic (fluid model and bounds)"

    def evaluate(self, candidate: Candidate, scenarios: Sequence[Scenario]) -> tuple[Score, ...]:
        """One score per scenario; measures have words and no value."""
        return tuple(_score(candidate, item, self._outlook(candidate, item)) for item in scenarios)

    def _outlook(self, candidate: Candidate, scenario: Scenario) -> Outlook:
        return outlook(
            scenario.speed_mbps,
            candidate.kmin_bytes,
            candidate.kmax_bytes,
            candidate.pmax_percent,
            scenario.flows,
            fluid.params(candidate.dcqcn_preset, scenario.speed_mbps, dict(candidate.dcqcn)),
            scenario.bounds,
            scenario.frame_bytes,
            scenario.rtt_us,
        )


def _score(candidate: Candidate, scenario: Scenario, found: Outlook) -> Score:
    return Score(
        candidate.name,
        scenario.name,
        Measure(found.goodput),
        Measure(found.bystander),
        Measure(found.burst),
        Measure(found.pause),
        found.why,
        found.active_bound,
        found.p_star,
        found.q_star_bytes,
        found.cnp_per_s,
    )

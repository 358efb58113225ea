"""The seam for a search over parameters: a candidate goes in, one outlook per scenario comes out, with its reasons.

No search is here. Whoever judges marking curves takes an :class:`Evaluator`; a simulator plugs in as another one.
:class:`Analytic` answers in words from the fluid model and the bounds. An outlook keeps goodput, bystander, burst and
pause apart: what is best for one is worst for another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

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


class Evaluator(Protocol):
    """Anything that judges a candidate: a fluid model, a packet simulator, a test bed."""

    @property
    def name(self) -> str:
        """Told in reports beside what it says."""

    def evaluate(self, candidate: Candidate, scenarios: Sequence[Scenario]) -> tuple[Outlook, ...]:
        """One outlook per scenario, in their order; what was measured is in ``measured`` beside the words.

        Raises ValueError for a candidate that cannot be.
        """


class Analytic:
    """Words from :func:`rocetune.tuning.outlook.outlook`, nothing measured; it does not tell traffic patterns apart."""

    name = "analytic (fluid model and bounds)"

    def evaluate(self, candidate: Candidate, scenarios: Sequence[Scenario]) -> tuple[Outlook, ...]:
        """One outlook per scenario."""
        return tuple(
            outlook(
                item.speed_mbps,
                candidate.kmin_bytes,
                candidate.kmax_bytes,
                candidate.pmax_percent,
                item.flows,
                fluid.params(candidate.dcqcn_preset, item.speed_mbps, dict(candidate.dcqcn)),
                item.bounds,
                item.frame_bytes,
                item.rtt_us,
            )
            for item in scenarios
        )

"""The seam for a search: what goes in, what comes out, and that a stranger can stand in for the analytic evaluator."""

import dataclasses
from collections.abc import Sequence

import pytest

from rocetune.model.plan import Why
from rocetune.planner import plan
from rocetune.planner.compare import chosen, compare
from rocetune.tuning import ecn
from rocetune.tuning.outlook import Outlook
from rocetune.tuning.search import Analytic, Candidate, Scenario
from tests.planner import rack as lab

BOUNDS = ecn.bounds(53_893_212, 32, 64, 1.0)
SCENARIOS = (
    Scenario("sixteen to one", "incast", 400_000, 16, bounds=BOUNDS),
    Scenario("all to all", "all-to-all", 400_000, 64, bounds=BOUNDS),
)


def test_one_outlook_per_scenario_in_order() -> None:
    few, many = Analytic().evaluate(Candidate("plan", 400_000, 1_600_000), SCENARIOS)
    assert few.p_star < many.p_star  # 16 senders need fewer marks than 64
    assert few.measured == many.measured == ()


def test_the_published_fixed_point() -> None:
    """tuning.md 4.3: 100G, 64 flows, the paper's parameters, 400/1600 KB at 20 %, packets of 1000 B."""
    here = Scenario("64 to one", "incast", 100_000, 64, frame_bytes=1000)
    (found,) = Analytic().evaluate(Candidate("wide", 400_000, 1_600_000, dcqcn_preset="paper"), [here])
    assert found.p_star == pytest.approx(1.95e-2, rel=0.02) and found.q_star_bytes == pytest.approx(516_900, rel=0.02)


def test_ecn_off_is_a_candidate() -> None:
    (found,) = Analytic().evaluate(Candidate("off", None, None), SCENARIOS[:1])
    assert "7 times" in found.bystander


class Simulated:
    """Stands for a simulator: one figure beside the words, and its own reasons."""

    name = "simulated"

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def evaluate(self, candidate: Candidate, scenarios: Sequence[Scenario]) -> tuple[Outlook, ...]:
        self.asked += [(candidate.name, item.flows) for item in scenarios]
        words = Outlook(
            0.5, 1.0, 2.0, "none", "much", "spared", "short", "rare", Why("simulation"), (("goodput", 0.93),)
        )
        return (words,) * len(scenarios)


def test_a_simulator_judges_the_plan_and_the_presets() -> None:
    judge = Simulated()
    found = compare(plan(lab.rack()), chosen(["hpcc"]), ["leaf1"], judge)
    assert judge.asked == [("plan", 15), ("hpcc", 15)]
    outlooks = [line.outlook for item in found for line in item.lines]
    assert all(item is not None and item.measured == (("goodput", 0.93),) for item in outlooks)


def test_outlooks_have_no_total() -> None:
    names = {field.name for field in dataclasses.fields(Outlook)}
    assert {"goodput", "bystander", "burst", "pause", "why"} <= names
    assert not names & {"score", "total", "rank", "value"}


def test_candidates_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="not above kmax"):
        Analytic().evaluate(Candidate("wrong", 200, 100), SCENARIOS)

"""The seam for a search: what goes in, what comes out, and that a stranger can stand in for the analytic evaluator."""

import dataclasses
from collections.abc import Sequence

import pytest

from rocetune.model.plan import Why
from rocetune.tuning import ecn, fluid
from rocetune.tuning.outlook import outlook
from rocetune.tuning.search import Analytic, Candidate, Evaluator, Measure, Scenario, Score

BOUNDS = ecn.bounds(53_893_212, 32, 64, 1.0)
SCENARIOS = (
    Scenario("sixteen to one", "incast", 400_000, 16, bounds=BOUNDS),
    Scenario("all to all", "all-to-all", 400_000, 64, bounds=BOUNDS),
)


def test_one_score_per_scenario_in_order() -> None:
    scores = Analytic().evaluate(Candidate("plan", 400_000, 1_600_000), SCENARIOS)
    assert [item.scenario for item in scores] == ["sixteen to one", "all to all"]
    assert all(item.candidate == "plan" for item in scores)


def test_words_are_those_of_the_outlook() -> None:
    candidate = Candidate("paper", 400_000, 1_600_000, 10, dcqcn_preset="paper", dcqcn=(("rpg_ai_rate", 7),))
    (score,) = Analytic().evaluate(candidate, SCENARIOS[:1])
    parameters = fluid.params("paper", 400_000, {"rpg_ai_rate": 7})
    found = outlook(400_000, 400_000, 1_600_000, 10, 16, parameters, BOUNDS)
    assert (score.goodput.words, score.burst.words, score.pause.words) == (found.goodput, found.burst, found.pause)
    assert score.why == found.why and score.goodput.value is None
    assert (score.active_bound, score.p_star) == (found.active_bound, found.p_star)
    assert (score.q_star_bytes, score.cnp_per_s) == (found.q_star_bytes, found.cnp_per_s)


def test_score_has_the_published_fixed_point() -> None:
    """tuning.md 4.3: 100G, 64 flows, the paper's parameters, 400/1600 KB at 20 %, packets of 1000 B."""
    here = Scenario("64 to one", "incast", 100_000, 64, frame_bytes=1000)
    (score,) = Analytic().evaluate(Candidate("wide", 400_000, 1_600_000, dcqcn_preset="paper"), [here])
    assert score.p_star == pytest.approx(1.95e-2, rel=0.02) and score.q_star_bytes == pytest.approx(516_900, rel=0.02)


def test_ecn_off_is_a_candidate() -> None:
    (score,) = Analytic().evaluate(Candidate("off", None, None), SCENARIOS[:1])
    assert "7 times" in score.bystander.words


def test_a_simulator_can_stand_in() -> None:
    class Constant:
        name = "constant"

        def evaluate(self, candidate: Candidate, scenarios: Sequence[Scenario]) -> tuple[Score, ...]:
            measure = Measure("measured", 0.9)
            return tuple(
                Score(candidate.name, item.name, measure, measure, measure, measure, Why("simulation"))
                for item in scenarios
            )

    def best(evaluators: Sequence[Evaluator]) -> list[str]:
        return [evaluator.evaluate(Candidate("x", 1, 2), SCENARIOS)[0].goodput.words for evaluator in evaluators]

    assert best([Constant(), Analytic()])[0] == "measured"


def test_scores_have_no_total() -> None:
    names = {field.name for field in dataclasses.fields(Score)}
    assert {"goodput", "bystander", "burst", "pause", "why"} <= names
    assert not names & {"score", "total", "rank", "value"}


def test_candidates_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="not above kmax"):
        Analytic().evaluate(Candidate("wrong", 200, 100), SCENARIOS)

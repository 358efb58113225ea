"""DCQCN sets in the NIC's own units."""

import pytest

from rocetune.tuning import dcqcn, fluid


@pytest.mark.parametrize(
    ("gbps", "ai", "hai"),
    [(1, 1, 2), (10, 2, 20), (100, 20, 200), (200, 40, 400), (400, 80, 800), (25, 5, 50), (800, 160, 1600)],
)
def test_scaled_rates(gbps: int, ai: int, hai: int) -> None:
    result = dcqcn.parameters("scaled", gbps * 1000)
    assert result.parameters == (("rpg_ai_rate", ai), ("rpg_hai_rate", hai))
    assert str(ai) in result.why["rpg_ai_rate"].steps[0]


def test_firmware_keeps_the_nic_as_it_is() -> None:
    assert dcqcn.parameters("firmware", 400_000).parameters == ()


def test_paper_leaves_unconfirmed_units_alone() -> None:
    result = dcqcn.parameters("paper", 40_000)
    values = dict(result.parameters)
    assert values["rpg_time_reset"] == values["dce_tcp_rtt"] == 55
    assert values["rpg_threshold"] == 5 and values["rpg_ai_rate"] == 40 and values["min_time_between_cnps"] == 50
    assert not values.keys() & {"dce_tcp_g", "rpg_byte_reset", "rpg_hai_rate"}
    assert result.notes


def test_unconfirmed_is_passed_through_untouched() -> None:
    result = dcqcn.parameters("firmware", None, {"dce_tcp_g": 1019})
    assert result.parameters == (("dce_tcp_g", 1019),)
    assert "passed through" in result.why["dce_tcp_g"].steps[0]


def test_fixed_value_wins_over_the_preset() -> None:
    assert dict(dcqcn.parameters("scaled", 400_000, {"rpg_ai_rate": 7}).parameters)["rpg_ai_rate"] == 7


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [("rpg_ai_rat", 5, "rpg_ai_rate"), ("speed", 5, "known"), ("rpg_gd", 16, "0 to 15"), ("dce_tcp_g", -1, "outside")],
)
def test_wrong_parameters(name: str, value: int, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        dcqcn.parameters("firmware", 100_000, {name: value})


def test_scaled_needs_a_speed() -> None:
    with pytest.raises(ValueError, match=r"links\.yaml"):
        dcqcn.parameters("scaled", None)


@pytest.mark.parametrize(("gbps", "ai"), [(1, 1), (25, 5), (100, 20), (200, 40), (400, 80), (800, 160)])
def test_model_and_nic_get_the_same_rate(gbps: int, ai: int) -> None:
    written = dict(dcqcn.parameters("scaled", gbps * 1000).parameters)
    assert written["rpg_ai_rate"] == fluid.params("scaled", gbps * 1000).ai_mbps == ai


def test_model_and_nic_get_the_same_paper() -> None:
    written, model = dict(dcqcn.parameters("paper", 40_000).parameters), fluid.params("paper", 40_000)
    assert written == {
        "rpg_time_reset": model.timer_us,
        "rpg_threshold": model.fast_recovery,
        "rpg_ai_rate": model.ai_mbps,
        "dce_tcp_rtt": model.alpha_timer_us,
        "min_time_between_cnps": model.cnp_interval_us,
    }


def test_parameters_outside_the_model_are_named() -> None:
    made = fluid.params("firmware", 400_000, {"rpg_max_rate": 1, "rpg_time_reset": 100})
    assert "rpg_time_reset" in made.source and "rpg_max_rate" not in made.source
    assert any("rpg_max_rate" in text and "without" in text for text in made.assumed)
    assert fluid.params("firmware", 400_000, {"rpg_gd": 3}).source == fluid.params("firmware", 400_000).source
    assert any("do not speed up" in text for text in fluid.params("firmware", 400_000, {"rpg_ai_rate": 0}).assumed)

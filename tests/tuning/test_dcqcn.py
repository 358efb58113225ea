"""DCQCN sets in the NIC's own units."""

import pytest

from rocetune.tuning import dcqcn


@pytest.mark.parametrize(("gbps", "ai", "hai"), [(100, 20, 200), (200, 40, 400), (400, 80, 800), (25, 5, 50)])
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


def test_report_settles_where_the_published_table_says() -> None:
    """100G, 64 flows, 400/1600 KB at 20 %, packets of 1000 B: p* 1.95e-2, q* 516.9 KB."""
    made = dcqcn.report(100_000, 64, "paper", 400_000, 1_600_000, 20, packet_bytes=1000)
    assert made.p_star == pytest.approx(1.95e-2, rel=0.02)
    assert made.q_star_bytes == pytest.approx(516_900, rel=0.02)
    assert made.cube_root == pytest.approx(2.75e-2, rel=0.02)
    assert made.flow_mbps == 100_000 / 64
    assert not made.warnings
    assert dict(made.parameters.parameters)["rpg_ai_rate"] == 40


def test_report_warns_of_a_queue_beyond_kmax() -> None:
    made = dcqcn.report(40_000, 16, "paper", 5_000, 200_000, 1, packet_bytes=1000)
    assert made.q_star_bytes is None
    assert len(made.warnings) == 1 and "beyond kmax" in made.warnings[0] and "16 flows" in made.warnings[0]
    assert dcqcn.report(40_000, 10, "paper", 5_000, 200_000, 1, packet_bytes=1000).warnings == ()


def test_report_warns_of_the_published_breakdown() -> None:
    assert not dcqcn.report(40_000, 159, "paper").warnings
    (warning,) = dcqcn.report(40_000, 160, "paper").warnings
    assert "160 flows" in warning and "DCQCN+" in warning
    assert dcqcn.report(400_000, 600).breakdown_flows == 480


def test_report_says_when_flows_cannot_be_slowed() -> None:
    made = dcqcn.report(10_000, 100_000, "firmware", 100_000, 400_000, 100)
    assert any("no fixed point" in text for text in made.warnings)
    assert made.p_star == 1.0 and made.q_star_bytes is None


def test_report_without_a_curve() -> None:
    made = dcqcn.report(400_000, 64)
    assert made.q_star_bytes is None and not made.warnings
    assert made.parameters.parameters == ()
    assert any("byte counter" in text for text in made.model.assumed)
    assert 0 < made.cnp_per_s < 64 / 4e-6


@pytest.mark.parametrize(("gbps", "ai"), [(100, 20), (200, 40), (400, 80), (800, 160)])
def test_model_and_nic_get_the_same_rate(gbps: int, ai: int) -> None:
    made = dcqcn.report(gbps * 1000, 8, "scaled")
    assert dict(made.parameters.parameters)["rpg_ai_rate"] == made.model.ai_mbps == ai


def test_report_uses_fixed_values() -> None:
    slow, fast = (dcqcn.report(100_000, 16, fixed={"rpg_ai_rate": rate}).p_star for rate in (5, 50))
    assert slow < fast


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: dcqcn.report(100_000, 8, kmin_bytes=100), "both kmin and kmax"),
        (lambda: dcqcn.report(100_000, 8, "firmware", 500, 100), "not above kmax"),
        (lambda: dcqcn.report(100_000, 8, "firmware", 0, 100), "above zero"),
        (lambda: dcqcn.report(100_000, 8, "firmware", 100, 200, 0), "pmax"),
        (lambda: dcqcn.report(100_000, 8, "firmware", 100, 200, 101), "pmax"),
        (lambda: dcqcn.report(100_000, 0), "number of flows"),
        (lambda: dcqcn.report(0, 8), "port speed"),
        (lambda: dcqcn.report(100_000, 8, fixed={"rpg_ai_rat": 1}), "did you mean rpg_ai_rate"),
        (lambda: dcqcn.report(100_000, 8, "fast"), "firmware, scaled or paper"),  # type: ignore[arg-type]
    ],
)
def test_reports_that_cannot_be(call, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=words):
        call()

"""What the calculators work out, against published figures; and that a breakdown adds up to its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocetune.app.asking import Chip, HeadroomAsk, chip_named, table_file
from rocetune.app.calculating import calculate_headroom
from rocetune.app.errors import UseError
from rocetune.app.marking import EcnAsk, calculate_ecn
from rocetune.app.senders import DcqcnAsk, calculate_dcqcn
from rocetune.planner.compare import Line
from rocetune.report.side_by_side import Start
from rocetune.tuning.asics import table

KNOWN = [asic.key for asic in table() if asic.preset is not None or asic.cell_bytes]


def _ask(asic: str, speed_mbps: int, cable_m: float, **more: object) -> HeadroomAsk:
    return HeadroomAsk(speed_mbps=speed_mbps, cable_m=cable_m, chip=chip_named(asic, None), **more)  # type: ignore[arg-type]


@given(
    st.sampled_from(KNOWN),
    st.sampled_from([25_000, 50_000, 100_000, 200_000, 400_000]),
    st.floats(0.5, 40_000),
    st.sampled_from([4096, 1024]),
)
@settings(max_examples=60, deadline=None)
def test_a_breakdown_adds_up_to_its_number(key: str, speed: int, cable_m: float, rdma_mtu: int) -> None:
    asic = next(asic for asic in table() if asic.key == key)
    if asic.port_gbps is not None and speed > asic.port_gbps * 1000:
        return
    try:
        answer = calculate_headroom(
            HeadroomAsk(speed_mbps=speed, cable_m=cable_m, chip=Chip(asic), rdma_mtu=rdma_mtu, lookup=False)
        )
    except UseError:
        return  # a speed or length that the chip has not; the words are tested elsewhere
    assert answer.terms, answer.result.why
    assert sum(term.size_bytes for term in answer.terms) == pytest.approx(answer.result.headroom_bytes, abs=1)
    assert all(term.size_bytes >= 0 for term in answer.terms)
    assert sum(term.size_bytes for term in answer.floor) == pytest.approx(answer.result.physical_bytes, abs=1)


@pytest.mark.parametrize(
    ("model", "speed", "cable_m", "ports", "headroom", "need", "ratio", "at_once"),
    [
        ("Z9332f-O32", 400_000, 300, 32, 373_888, 23_928_832, 0.88, 72),
        ("Z9332f-O32", 400_000, 2000, 32, 1_498_092, 95_877_888, 3.52, 18),
        ("Z9664f-O64", 400_000, 40, 64, 424_434, 54_327_552, 1.07, 119),
        ("Z9864f-O64", 800_000, 40, 64, 835_406, 106_931_968, 3.20, 39),
        ("Arista-7050CX3-32S-C32", 100_000, 300, 32, 160_000, 10_240_000, 6.31, 10),
    ],
)
def test_static_headroom_pools(
    model: str, speed: int, cable_m: float, ports: int, headroom: int, need: int, ratio: float, at_once: int
) -> None:
    """Published rows times two lossless priorities against SONiC's pools (tuning notes 2.2)."""
    answer = calculate_headroom(_ask(model, speed, cable_m, ports=ports, lossless=2))
    room = answer.room
    assert (answer.result.headroom_bytes, answer.result.method) == (headroom, "table")
    assert room is not None and room.pool_bytes is not None
    assert (room.need_bytes, room.pausing_at_once) == (need, min(at_once, 2 * ports))  # no more than there are
    warned = [problem.text for problem in answer.problems if problem.warning and "synchronised incast" in problem.text]
    assert len(warned) == (ratio > 2 and room.fits is True)  # what does not fit at all is an error
    assert room.need_bytes / room.pool_bytes == pytest.approx(ratio, abs=0.01)


def test_another_alpha_in_the_switchs_own_table_is_told() -> None:
    """Z9332F rows have dynamic_th -2: 2^-2. Who states an alpha, or asks for one port, is not told."""
    told = calculate_headroom(_ask("Z9332F", 400_000, 40, ports=32, lossless=2))
    assert [item.remedy for item in told.assumptions if item.where == "--alpha"] == [
        "on a SONiC switch add --alpha 0.25"
    ]
    assert told.room is not None and told.room.alpha == 1
    for sonic in (_ask("Z9332f-O32", 400_000, 40, ports=32), _ask("Z9332F", 400_000, 40, ports=32, sonic=True)):
        made = calculate_headroom(sonic)
        assert made.room is not None and made.room.alpha == 0.25
        assert [item.text for item in made.assumptions if item.where == "--alpha"] == [
            "0.25: SONiC's row in DellEMC-Z9332f-O32 has dynamic_th -2"
        ]
    for more in ({"ports": 32, "alpha": 0.25}, {"ports": 32, "alpha": 0.5}, {}):
        quiet = calculate_headroom(_ask("Z9332f-O32", 400_000, 40, **more)).assumptions
        assert not [item for item in quiet if item.where == "--alpha"]


def _by_hand(formula: str, known: dict[str, float]) -> float:
    """What a formula of the table gives when it is done as it is printed."""
    words = formula.split(":")[0].replace(",", "").replace(" slices down", "")
    words = re.sub(r"(\d) (ports?|queues?|lossless|switch tiers?|us|m/s|m|%)\b", r"\1", words)
    words = re.sub(r"(\d) %", r"\1", words).replace(" m /", " /").replace(" m)", ")")
    words = re.sub(r"(\d+)G\b", lambda found: f"{int(found[1]) * 1000}", words)
    for name in sorted(known, key=len, reverse=True):
        words = re.sub(rf"\b{re.escape(name)}\b", repr(known[name]), words)
    return float(eval(words.replace(" x ", " * "), {}))  # the test's own arithmetic


@given(
    chip=st.sampled_from(["TH3", "TH", "Tomahawk 2", "Spectrum-4"]),
    ports=st.integers(1, 33),
    lossless=st.integers(1, 3),
    alpha=st.sampled_from([1.0, 1 / 8, 1 / 3, 2.0]),
    flows=st.integers(1, 64),
    rtt=st.sampled_from([6.5, 8.0, 12.25]),
)
@settings(max_examples=60, deadline=None)
def test_formulas_give_their_numbers_when_done_by_hand(
    chip: str, ports: int, lossless: int, alpha: float, flows: int, rtt: float
) -> None:
    where = chip_named(chip, None)
    ask = EcnAsk(
        speed_mbps=100_000, rtt_us=rtt, chip=where, ports=ports, lossless=lossless, alpha=alpha, flows=flows,
        cable_m=5, lookup=False,
    )  # fmt: skip
    try:
        answer = calculate_ecn(ask)
    except UseError:
        return  # a buffer that holds no curve
    terms = {term.name: term for term in answer.terms}
    known = {name: float(f"{term.size_bytes:.0f}") for name, term in terms.items()}
    for name in ("BDP", "need", "S", "strict bound", "xoff", "q*"):
        if name in terms:
            assert _by_hand(terms[name].formula, known) == pytest.approx(terms[name].size_bytes, abs=1.01), terms[name]


def test_a_kmax_at_a_bound_is_not_below_it() -> None:
    at = Start(100_000.0, 400_000.0)
    order = [at.order(Line("c", 1, size, 20, None)) for size in (99_999, 100_000, 399_999, 400_000)]
    assert order == ["yes", "incast only", "incast only", "no"]


@pytest.mark.parametrize(
    ("asic", "model"),
    [("Z9332F", "Z9332F"), ("TH3", None), ("Arista 7060DX4-32", "Arista 7060DX4-32"), ("BCM56980", None)],
)
def test_a_model_in_the_place_of_a_chip_names_both(asic: str, model: str | None) -> None:
    chip = chip_named(asic, None)
    assert chip.asic is not None
    assert (chip.asic.key, chip.model) == ("tomahawk-3", model)


def test_a_hardware_sku_is_found_by_its_published_table() -> None:
    chip = chip_named("ACS-MSN4700", None)
    assert chip.asic is not None and chip.asic.name == "Spectrum-3" and chip.model == "ACS-MSN4700"


def test_own_table_comes_first(tmp_path: Path) -> None:
    mine = tmp_path / "pg_profile_lookup.ini"
    mine.write_text("# speed cable size xon xoff threshold xon_offset\n400000 40m 1778 0 250000 0 2540\n")
    ask = _ask("Z9332f-O32", 400_000, 30, table=table_file(mine))
    answer = calculate_headroom(ask)
    assert (answer.result.headroom_bytes, answer.result.method) == (250_000, "table")
    assert answer.published == ((40, 250_000),)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("400000 40m 1778 0 many 0\n", 1, "xoff 'many' is not a number"),
        ("speed_mbps,cable_m,xoff_bytes\n400000,40,1\n400000,40ft,2\n", 3, "'40ft' is not a cable length"),
        ("speed_mbps,cable_m\n", 1, "no column xoff"),
        ("# nothing\n", 1, "no row"),
    ],
)
def test_a_table_that_cannot_be_read(tmp_path: Path, text: str, line: int, words: str) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_text(text)
    with pytest.raises(UseError) as told:
        table_file(mine)
    assert told.value.text.startswith(f"{mine}:{line}: ") and words in told.value.text and told.value.remedy


def test_a_binary_file_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "x.ini").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(UseError, match="not a text file"):
        table_file(tmp_path / "x.ini")


def test_paper_bound_of_trident_2(tmp_path: Path) -> None:
    """DCQCN paper: 12 MB, 32 ports, 8 lossless, headroom 22400 B, alpha 1 (beta 8): S = 6265600, K < 21755.6 B."""
    mine = tmp_path / "paper.csv"
    mine.write_text("speed_mbps,cable_m,xoff_bytes\n40000,100,22400\n")
    chip = chip_named("TD2", None)
    ask = EcnAsk(speed_mbps=40_000, rtt_us=8, chip=chip, ports=32, lossless=8, table=table_file(mine))
    answer = calculate_ecn(ask)
    assert answer.bounds is not None and answer.room is not None
    assert (answer.headroom_bytes, answer.room.shared_bytes) == (22_400, 6_265_600)
    assert answer.bounds.strict_bytes == pytest.approx(21755.6, abs=0.1)
    assert answer.bounds.incast_bytes == 6_265_600 / 2


@pytest.mark.parametrize(("speed", "bdp"), [(25_000, 25_000), (100_000, 100_000), (400_000, 400_000)])
def test_thresholds_without_a_chip(speed: int, bdp: int) -> None:
    """BDP at 8 us, tuning notes 3.3; nothing bounds them, and the answer says so."""
    answer = calculate_ecn(EcnAsk(speed_mbps=speed, tiers=2))
    assert (answer.bdp_bytes, answer.bounds, answer.headroom_bytes) == (bdp, None, None)
    assert answer.line.kmin_bytes == max(bdp, 8 * 4178)
    assert any("not checked" in item.text for item in answer.assumptions)


def test_marking_settles_where_the_fluid_model_says() -> None:
    """100G, 64 flows, paper parameters, 400/1600 KB and 20 %: q* 516.9 KB (tuning notes 4.3, 1000 B packets)."""
    ask = DcqcnAsk(
        speed_mbps=100_000, flows=64, preset="paper", kmin_bytes=400_000, kmax_bytes=1_600_000, pmax_percent=20,
        rdma_mtu=980,
    )  # fmt: skip
    seen = calculate_dcqcn(ask).line.outlook
    assert seen is not None and seen.q_star_bytes == pytest.approx(516_900, rel=0.02)


def test_sonic_s_800g_limit_is_told() -> None:
    words = [item.text for item in calculate_headroom(_ask("Spectrum-4", 800_000, 30, at_800g=905)).assumptions]
    assert any("905" in text and "half the time" in text for text in words)
    words = [item.remedy for item in calculate_headroom(_ask("Spectrum-4", 800_000, 30)).assumptions]
    assert "--quanta-800g 905 reproduces SONiC" in words
    fitted = calculate_headroom(_ask("TH5", 800_000, 30))  # its preset is a fit: the reaction is in the floor alone
    assert "--quanta-800g 905 reproduces SONiC" not in [item.remedy for item in fitted.assumptions]
    assert any("the floor of this number alone" in note for note in fitted.notes)

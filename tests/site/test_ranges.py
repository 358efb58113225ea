"""Bracket ranges, named indexes and their arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocetune.site.ranges import RangeError, Template, expand, expression, index, numbers


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("gpu[001-003]", ["gpu001", "gpu002", "gpu003"]),
        ("Ethernet[0-24:8]", ["Ethernet0", "Ethernet8", "Ethernet16", "Ethernet24"]),
        ("Ethernet[9-11]/1", ["Ethernet9/1", "Ethernet10/1", "Ethernet11/1"]),
        ("et[1,3,5-6]", ["et1", "et3", "et5", "et6"]),
        ("p[1-2]l[08-09]", ["p1l08", "p1l09", "p2l08", "p2l09"]),
        ("plain", ["plain"]),
        ("[1-2]", ["1", "2"]),
    ],
)
def test_expand(pattern: str, names: list[str]) -> None:
    assert [name for name, _ in expand(pattern)] == names


def test_expand_hands_out_indexes() -> None:
    assert [values for _, values in expand("a[5-6]b[1-2]")] == [
        {"i": 0, "n": 5, "n2": 1},
        {"i": 1, "n": 5, "n2": 2},
        {"i": 2, "n": 6, "n2": 1},
        {"i": 3, "n": 6, "n2": 2},
    ]


@given(st.integers(0, 500), st.integers(0, 60), st.integers(1, 9), st.integers(0, 4))
def test_a_range_is_pythons_range(low: int, span: int, step: int, width: int) -> None:
    written = f"{low:0{width}d}-{low + span:0{width}d}:{step}" if width else f"{low}-{low + span}:{step}"
    found = numbers(written)
    assert [value for _, value in found] == list(range(low, low + span + 1, step))
    assert all(int(text) == value for text, value in found)
    assert all(len(text) >= min(width, len(found[0][0])) for text, _ in found)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a[3-1]", "runs backwards"),
        ("a[1-5:0]", "step 0"),
        ("a[x]", "is not a range"),
        ("a[1-2", "without ']'"),
        ("a1-2]", "without '['"),
        ("a[001-5]", "pads its ends differently"),
        ("a[0-99999999]", "more than"),
        ("a[1-9999]b[1-9999]", "more than"),
        ("a[]", "is not a range"),
    ],
)
def test_bad_ranges(text: str, reason: str) -> None:
    with pytest.raises(RangeError, match=reason.replace("[", r"\[").replace("]", r"\]")):
        list(expand(text))


@given(st.integers(0, 99), st.integers(1, 99), st.integers(0, 99))
def test_arithmetic_is_pythons(a: int, b: int, c: int) -> None:
    evaluate, names = expression("(a-b)*4+c//b%7+a*c")
    assert names == {"a", "b", "c"}
    assert evaluate({"a": a, "b": b, "c": c}) == (a - b) * 4 + c // b % 7 + a * c


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "h.real", "h**9", "h if h else 1", "[1]", "1.5", "'x'", "h and 1", "h<2", "f(h)", "h[0]",
        "lambda: 1", "h:=1", "", "h+", "__x", "~h", "h<<40", "True",
    ],
)  # fmt: skip
def test_anything_but_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(RangeError):
        expression(text)


def test_division_asks_for_whole_numbers() -> None:
    with pytest.raises(RangeError) as caught:
        expression("h/2")
    assert caught.value.remedy == "use // for whole numbers"


def test_template() -> None:
    template = Template("leaf{r:02}:Ethernet{(h-1)*4+r+1}/1")
    assert template.names == {"r", "h"}
    assert template.fill({"r": 3, "h": 2}) == "leaf03:Ethernet8/1"
    assert Template("{r}").number({"r": 7}) == 7


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a{h", "without '}'"),
        ("a}b", "without '{'"),
        ("a{h:x}", "format 'x'"),
        ("{q}", "uses q, which is no index here"),
        ("{h-5}", "is -4 for h=1"),
        ("{h//(h-1)}", "divides by zero"),
    ],
)
def test_bad_templates(text: str, reason: str) -> None:
    with pytest.raises(RangeError) as caught:
        Template(text).fill({"h": 1})
    assert reason in caught.value.text


@pytest.mark.parametrize(
    ("value", "expected"),
    [("0-7", tuple(range(8))), ("0-30:10", (0, 10, 20, 30)), (3, (3,)), ([0, 2, 5], (0, 2, 5)), ("1,4", (1, 4))],
)
def test_index(value: object, expected: tuple[int, ...]) -> None:
    assert index(value) == expected


@pytest.mark.parametrize("value", [True, 1.5, None, [], ["x"], {}])
def test_bad_index(value: object) -> None:
    with pytest.raises(RangeError):
        index(value)


@pytest.mark.parametrize("text", ["{" + "-" * 100_000 + "}", "-" * 100_000, "{n}" * 10_000])
def test_a_template_is_measured_before_it_is_parsed(text: str) -> None:
    with pytest.raises(RangeError, match="characters, too many for a text with indexes"):
        Template(text)


@pytest.mark.parametrize("text", ["a[" + "1," * 100_000 + "1]", "[1-2]" * 1000])
def test_a_pattern_is_measured_before_it_is_parsed(text: str) -> None:
    with pytest.raises(RangeError, match="characters, too many for"):
        list(expand(text))


def test_many_ranges_in_one_bracket_are_counted_together() -> None:
    with pytest.raises(RangeError, match="more than 200000 members"):
        numbers(",".join(["0-199999"] * 50))

"""Tables line up in terminal cells and cannot be broken out of."""

import pytest

from rocetune.report.table import PLAIN, Paint, duration, fenced, markdown_table, table, width


def test_columns_line_up_with_wide_characters() -> None:
    text = table([["参数网", "400G"], ["backend", "100G"]], head=["network", "speed"])
    starts = {
        width(line[: line.index(word)]) for line, word in zip(text.splitlines(), ["speed", "400G", "100G"], strict=True)
    }
    assert starts == {9}


def test_combining_marks_and_colour_take_no_cells() -> None:
    assert width("e\u0301") == 1
    assert width(Paint(True)("bad", "down")) == 4


def test_numbers_are_right_aligned_and_no_line_ends_in_blanks() -> None:
    text = table([["a", "9"], ["bb", "10"]], right=[1])
    assert text.splitlines() == ["a    9", "bb  10"]


def test_rows_of_different_length_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="length"):
        table([["a"], ["a", "b"]])


def test_no_colour_unless_asked() -> None:
    assert PLAIN("bad", "x") == "x"
    assert Paint(True)("bad", "x") == "\x1b[31mx\x1b[0m"


def test_markdown_cells_and_fences_hold_hostile_text() -> None:
    assert markdown_table([["a|b\nc"]], ["x"]).splitlines()[2] == r"| a\|b<br>c |"
    assert fenced("a\n```\nb").startswith("````\n")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.84, "0.8 s"), (42.4, "42 s"), (185, "3 min 05 s"), (59.7, "1 min 00 s")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text

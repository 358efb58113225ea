"""Names are compacted without losing or inventing any."""

import pytest

from rocetune.report.ranges import compact, natural, spans


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["leaf1"], "leaf1"),
        (["leaf2", "leaf1"], "leaf1-leaf2"),
        (["gpu01", "gpu02", "gpu03", "gpu04"], "gpu01-gpu04"),
        (["gpu01", "gpu03"], "gpu01, gpu03"),
        ([f"Ethernet{n}/1" for n in range(1, 17)], "Ethernet1/1-Ethernet16/1"),
        ([f"Ethernet{n}" for n in range(0, 128, 8)], "Ethernet0-Ethernet120 step 8"),
        (["leaf9", "leaf10", "leaf11"], "leaf9-leaf11"),
        (["a1", "b1", "a2"], "a1-a2, b1"),
        (["r1p1", "r1p2", "r2p1", "r2p2"], "r1p1-r1p2, r2p1-r2p2"),
        (["gpu08", "gpu09", "gpu10"], "gpu08-gpu10"),
        (["gpu9", "gpu010"], "gpu9, gpu010"),
    ],
)
def test_compact(names: list[str], text: str) -> None:
    assert compact(names) == text


def test_a_limit_says_how_many_were_left_out() -> None:
    assert compact(["a", "b", "c", "d"], limit=2) == "a, b, and 2 more"


def test_natural_order() -> None:
    assert sorted(["leaf10", "leaf2"], key=natural) == ["leaf2", "leaf10"]


def test_spans() -> None:
    assert spans([3, 1, 2, 7, 9, 10]) == "1-3,7,9-10"

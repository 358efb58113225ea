"""The shipped tables against the reference files, the models they are found by, and a user's own tables."""

import csv
from pathlib import Path

import pytest

from rocetune.tuning.asics import table
from rocetune.tuning.published import TableError, maker_of, match, published, read_table, squeeze, table_of

DATA = Path(__file__).resolve().parents[2] / "../shared/data"
LOOKUP = DATA / "sonic_headroom_lookup.csv"


@pytest.mark.skipif(not LOOKUP.exists(), reason="reference data not present")
def test_every_row_of_the_reference_is_shipped_as_it_stands() -> None:
    checked = 0
    for cells in csv.DictReader(LOOKUP.open(encoding="utf-8")):
        for name in (cells["hwsku"], cells["repo_path"]):
            found = table_of(name)
            assert found is not None and found.name == cells["hwsku"], name
        row = found.row(int(cells["speed_mbps"]), float(cells["cable_m"]))
        assert row is not None
        numbers = (row.xoff_bytes, row.size_bytes, row.xon_bytes, row.threshold)
        assert numbers == tuple(
            int(cells[f"{name}"]) for name in ("xoff_bytes", "size_bytes", "xon_bytes", "threshold")
        )
        assert row.xon_offset_bytes == (int(cells["xon_offset_bytes"]) if cells["xon_offset_bytes"] else None)
        checked += 1
    assert checked == 1164


@pytest.mark.skipif(not LOOKUP.exists(), reason="reference data not present")
def test_every_model_is_of_one_chip_and_known_to_the_asic_table() -> None:
    owner: dict[str, str] = {}
    for item in published():
        assert table().get(item.asic) is not None
        for model in item.models:
            assert owner.setdefault(squeeze(model), item.asic) == item.asic, model


def test_rows_of_the_examples_that_have_no_file_of_their_own() -> None:
    expected = {
        ("th/gen/RDMA-CENTRIC", 100_000, 300): 268736,
        ("th2/7260/RDMA-CENTRIC", 40_000, 5): 29536,
        ("th2/7260/RDMA-CENTRIC", 100_000, 300): 101088,
        ("Arista-7800R3A-36D2-D36/0", 400_000, 120_000): 79900672,
    }
    for (name, speed, cable), size in expected.items():
        found = table_of(name)
        assert found is not None and found.partial and found.confidence == "medium"
        row = found.row(speed, cable)
        assert row is not None and row.xoff_bytes == size


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("DellEMC-Z9332f-O32", ["DellEMC-Z9332f-O32"]),
        ("dellemc_z9332f_o32", ["DellEMC-Z9332f-O32"]),
        ("Z9332F", ["DellEMC-Z9332f-O32"]),
        ("Z9332F-ON", ["DellEMC-Z9332f-O32"]),
        ("x86_64-dellemc_z9332f_d1508-r0", ["DellEMC-Z9332f-O32"]),
        ("Arista-7060X6-64PE-B-O128", ["Arista-7060X6-64PE-B-O128"]),
        ("7060X6-64PE-B-P64", ["Arista-7060X6-64PE-B-P64"]),
        ("Nokia 7220 IXR-H5-64D", ["Nokia-IXR7220-H5-32D"]),
        ("ACS-MSN4600C", ["ACS-MSN4700"]),
        ("Celestica DX010", ["Arista-7060CX-32S"]),
        ("Mellanox SN4700", ["ACS-MSN4700", "Mellanox-SN4700-C128", "Mellanox-SN4280-O28"]),  # a maker, no line of SKUs
        ("SN2700", ["ACS-MSN2700", "Mellanox-SN2700-D40C8S8", "Mellanox-SN2700-D48C8"]),
        ("Mellanox-SN2700-X1", ["Mellanox-SN2700-D40C8S8", "Mellanox-SN2700-D48C8"]),
    ],
)
def test_found_in_any_spelling(text: str, names: list[str]) -> None:
    found = match(text)
    assert found is not None and found.own
    assert [item.name for item in found.tables] == names


def test_model_with_a_suffix_is_not_its_shorter_sibling() -> None:
    plain, suffixed = match("DCS-7060X6-64PE"), match("DCS-7060X6-64PE-B")
    assert plain is not None and suffixed is not None
    assert not any("PE-B-" in item.name for item in plain.tables)
    assert sum("PE-B-" in item.name for item in suffixed.tables) == 4


@pytest.mark.parametrize("text", [None, "", "router", "Z93", "Box 9000", "SN"])
def test_unknown_is_none(text: str | None) -> None:
    assert match(text) is None and table_of(text) is None


@pytest.mark.parametrize("text", ["ACS-MSN3700", "Quanta-IX9-32X", "S5448F-ON", "NH-4010", "Mellanox-SN5600-V256"])
def test_known_to_exist_elsewhere_is_not_answered_by_a_sibling(text: str) -> None:
    found = match(text)
    assert found is not None and found.absent and not found.own
    assert table_of(text) is None


@pytest.mark.parametrize(
    ("text", "maker"),
    [
        ("DCS-7050DX4", "arista"),
        ("DellEMC-S5448f", "dell"),
        ("ACS-MSN3700", "nvidia"),
        ("NH-9999", "nexthop"),
        ("", ""),
    ],
)
def test_maker(text: str, maker: str) -> None:
    assert maker_of(text) == maker


def test_private_and_shared_headroom() -> None:
    private = {item.name for item in published() if item.private}
    assert {"ACS-MSN2700", "ACS-SN5600", "ACS-SN6600_LD", "montara", "S5800-48t4s"} <= private
    assert not any(name.startswith(("Mellanox-", "Dell", "Arista-70", "wistron")) for name in private)


def test_oddities_are_told() -> None:
    notes = {item.name: item.note for item in published()}
    assert "40G 5 m" in notes["ACS-SN5600"] and "905" in notes["ACS-SN5600"]
    assert "1810" in notes["ACS-SN6600_LD"]
    assert "empty" in notes["Arista-7060X6-32PE/BALANCED"]
    assert "static" in notes["Cig-CS5435-54P"]


def test_length_is_rounded_up_to_the_next_listed_one() -> None:
    found = table_of("Z9332F")
    assert found is not None
    row = found.row(400_000, 300.5)
    assert row is not None and (row.cable_m, row.xoff_bytes) == (1000, 836676)
    assert found.row(400_000, 2000.5) is None and found.row(200_000, 5) is None


def test_tables_of_one_model_give_their_largest_rows() -> None:
    found = table_of("SN2700")
    assert found is not None and "largest rows" in found.note
    row = found.row(100_000, 300)
    assert row is not None and row.xoff_bytes == 104448  # ACS-MSN2700; the others have 78848


INI = """# PG lossless profiles.
# speed cable size xon xoff threshold xon_offset
  100000   5m   1248 2288 165568 0 2288
  100000  40m   1248 2288 177632 0 2288
"""


def test_a_users_ini() -> None:
    made = read_table(INI, "mine.ini")
    row = made.row(100_000, 40)
    assert row is not None
    assert (row.xoff_bytes, row.size_bytes, row.xon_bytes, row.xon_offset_bytes) == (177632, 1248, 2288, 2288)
    assert not made.private and made.asic == ""


def test_a_users_csv_needs_three_columns_in_any_order() -> None:
    made = read_table("xoff_bytes,speed_mbps,cable_m\n201930,400000,40\n1500000,400000,2km\n", "mine.csv")
    assert [(row.cable_m, row.xoff_bytes) for row in made.rows] == [(40, 201930), (2000, 1500000)]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("100000 5m 1248 2288 many 0", 1, "xoff 'many' is not a number"),
        ("# c\n\nfast 5m 1248 2288 165568 0", 3, "speed 'fast' is not a number"),
        ("100000 five 1248 2288 165568 0", 1, "'five' is not a cable length"),
        ("100000 5m 1248 2288 -5 0", 1, "xoff '-5' is not a number"),
        ("100000 5m 1248 2288 0 0", 1, "greater than zero"),
        ("0 5m 1248 2288 165568 0", 1, "greater than zero"),
        ("100000 5m 1248", 1, "no value for xoff"),
        ("100000 5m 1 2 165568 0\n100000 5m 1 2 165569 0", 2, "listed twice"),
        ("# only a comment", 1, "no row"),
        ("", 1, "no row"),
        ("speed_mbps,cable_m,size_bytes\n100000,5,1248", 1, "no column xoff"),
        ("speed_mbps,cable_m,xoff_bytes\n100000,5,1e5", 2, "xoff '1e5' is not a number"),
        ("100000 5m 1.5 2288 165568 0", 1, "size '1.5' is not a number"),
    ],
)
def test_a_table_that_cannot_be_read(text: str, line: int, words: str) -> None:
    with pytest.raises(TableError) as caught:
        read_table(text, "mine")
    assert caught.value.line == line and words in caught.value.text and caught.value.remedy

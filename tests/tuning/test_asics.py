"""The ASIC table: found in any spelling, and complete enough to plan with."""

import pytest

from rocetune.tuning.asics import Fit, table


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Tomahawk 3", "Tomahawk 3"),
        ("tomahawk3", "Tomahawk 3"),
        ("TOMAHAWK-3", "Tomahawk 3"),
        ("Broadcom Tomahawk 3", "Tomahawk 3"),
        ("TH3", "Tomahawk 3"),
        ("BCM56980", "Tomahawk 3"),
        ("bcm56980b0", "Tomahawk 3"),
        ("DCS-7060DX4-32", "Tomahawk 3"),
        ("DCS-7060DX4-32-F", "Tomahawk 3"),
        ("DellEMC-Z9332f-O32", "Tomahawk 3"),
        ("Spectrum-4", "Spectrum-4"),
        ("spectrum4", "Spectrum-4"),
        ("NVIDIA Spectrum 4", "Spectrum-4"),
        ("Mellanox Spectrum", "Spectrum-1"),
        ("ACS-MSN2700", "Spectrum-1"),
        ("SN5600", "Spectrum-4"),
        ("td3", "Trident 3"),
        ("Trident 2+", "Trident 2+"),
        ("Trident 2", "Trident 2"),
        ("jericho2c+", "Jericho 2C+"),
        ("Arista-7060X6-64PE", "Tomahawk 5"),
    ],
)
def test_found_in_any_spelling(text: str, name: str) -> None:
    asic = table().find(text)
    assert asic is not None and asic.name == name


@pytest.mark.parametrize("text", ["", "Tomahawk 9", "broadcom", "router", "SN", "400G"])
def test_unknown_is_none(text: str) -> None:
    assert table().find(text) is None


def test_suggests_what_was_meant() -> None:
    assert table().suggest("Tomahwk 4")[0] == "Tomahawk 4"
    assert table().suggest("Spektrum-3")[0] == "Spectrum-3"
    assert table().suggest("zzzz") == ()


def test_every_row_is_usable() -> None:
    names = table().names()
    assert len(names) == len(set(names)) == len(table()) >= 35
    for asic in table():
        assert asic.source and asic.confidence in {"high", "medium", "low"}
        assert asic.packet_bytes() is None or asic.packet_bytes() > 1_000_000
        if isinstance(asic.preset, Fit):
            assert asic.preset_table and asic.preset.wire_factor >= 1


def test_pool_of_the_model_wins_over_the_chip() -> None:
    chip = table().find("Tomahawk 3")
    assert chip is not None
    assert chip.packet_bytes() == 67108864  # nominal 64 MiB is below the observed 67117468
    assert chip.packet_bytes("DellEMC-Z9332f-O32") == 66394076
    pool = chip.pool("Z9332F-ON")
    assert pool is not None and pool.headroom_bytes == 27200352


def test_gearbox_belongs_to_a_model() -> None:
    chip = table().find("Spectrum-2")
    assert chip is not None
    assert chip.gearbox("ACS-MSN3800") == 400
    assert chip.gearbox("ACS-MSN3700") == 0
    assert chip.gearbox(None) == 0


@pytest.mark.parametrize(
    ("name", "per_100g_kb"),
    [
        ("Trident 2", 938),
        ("Tomahawk 2", 688),
        ("Tomahawk 3", 524),
        ("Tomahawk 4", 444),
        ("Tomahawk 5", 323),
        ("Teralynx 10", 421),
    ],
)
def test_buffer_per_100g(name: str, per_100g_kb: int) -> None:
    """Nominal bytes over capacity, a sequence that the reference text lists."""
    asic = table().find(name)
    assert asic is not None and asic.nominal_bytes and asic.capacity_gbps
    assert round(asic.nominal_bytes / asic.capacity_gbps * 100 / 1000) == per_100g_kb

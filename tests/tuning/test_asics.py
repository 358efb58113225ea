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


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Broadcom Tomahawk5", "Tomahawk 5"),
        ("Jericho2C+", "Jericho 2C+"),
        ("Arista-7170-64C", "Tofino"),
        ("wistron_6512_32r", "Teralynx 7"),
        ("M2-W6940-64OC", "Tomahawk 5"),
        ("Nokia-IXR7220-H4-64D", "Tomahawk 4"),
        ("Dell-E3224F", "Helix 5"),
    ],
)
def test_found_by_the_models_of_published_tables(text: str, name: str) -> None:
    asic = table().find(text)
    assert asic is not None and asic.name == name


def test_every_listed_speed_is_one_that_the_chip_has() -> None:
    for asic in table():
        for speed in asic.speeds():
            asic.check_speed(speed)


def test_speed_that_the_chip_lacks() -> None:
    asic = table().find("Trident 3")
    assert asic is not None
    with pytest.raises(ValueError, match=r"Trident 3 has ports up to 100G \(1G, .*10G, 25G.*, 100G\): 400G is more"):
        asic.check_speed(400_000)
    with pytest.raises(ValueError, match="no port of Trident 3 runs at 37G"):
        asic.check_speed(37_000)
    asic.check_speed(25_000)


@pytest.mark.parametrize(("name", "slowest"), [("TH5", 10_000), ("TH3", 10_000), ("Trident 2", 1000), ("TD3", 1000)])
def test_a_slowest_port_too(name: str, slowest: int) -> None:
    """Tables of Trident 2 list 1G; Tomahawks have no port below 10G."""
    asic = table().find(name)
    assert asic is not None
    asic.check_speed(slowest)
    with pytest.raises(ValueError, match=f"no port of {asic.name} runs at"):
        asic.check_speed(slowest // 10)


def test_the_message_lists_what_is_accepted() -> None:
    for asic in table():
        with pytest.raises(ValueError) as caught:
            asic.check_speed(37_000)
        listed = str(caught.value).rsplit("its speeds are ", 1)[1].split(", ")
        for text in listed:
            number = float(text[:-1]) * {"M": 1, "G": 1000, "T": 1_000_000}[text[-1]]
            asic.check_speed(round(number))
        for text in ("100M", "1G", "10G", "25G", "40G", "50G", "100G", "200G", "400G", "800G", "1.6T"):
            number = float(text[:-1]) * {"M": 1, "G": 1000, "T": 1_000_000}[text[-1]]
            if text not in listed:
                with pytest.raises(ValueError, match=asic.name.replace("+", r"\+")):
                    asic.check_speed(round(number))


def test_family_of_a_model() -> None:
    asic = table().find("TH5")
    assert asic is not None
    assert [item.name for item in asic.presets_for("Z9864F-ON")] == ["dell-z9864f-o64"]
    assert asic.presets_for(None) == (asic.reference,)
    stranger = {item.name for item in asic.presets_for("a box of nobody")}
    assert stranger == {"dell-z9864f-o64", "broadcom-generic"}
    without = {item.name for item in asic.presets_for("a box of nobody", copied=False)}
    assert without == {"dell-z9864f-o64"}


def test_users_fields_override_single_ones() -> None:
    mine = table().extended({"th3": {"cell_bytes": 256, "usable_bytes": 60_000_000}})
    asic, shipped = mine.find("Tomahawk 3"), table().find("Tomahawk 3")
    assert asic is not None and shipped is not None
    assert (asic.cell_bytes, asic.usable_bytes, asic.name, asic.preset) == (
        256,
        60_000_000,
        "Tomahawk 3",
        shipped.preset,
    )
    assert asic.source == f"cell_bytes, usable_bytes stated in the site; {shipped.source}"
    assert shipped.cell_bytes == 254 and len(mine) == len(table())


def test_users_chip_and_users_fit() -> None:
    fit = {"base_bytes": 40_000, "fixed_us": 3, "wire_factor": 1.3}
    mine = table().extended(
        {"Tomahawk 9": {"cell_bytes": 254, "port_gbps": 1600, "aliases": ["TH9"]}, "TH4": {"headroom": fit}}
    )
    new, changed = mine.find("th9"), mine.find("TH4")
    assert new is not None and (new.name, new.port_gbps, new.preset) == ("Tomahawk 9", 1600, None)
    assert changed is not None and changed.preset == Fit(40_000, 3, 1.3, 0)
    assert [item.preset for item in changed.presets_for("Z9664F-ON")] == [changed.preset]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"cel_bytes": 254}, "unknown field 'cel_bytes': did you mean cell_bytes"),
        ({"colour": 1}, "unknown field 'colour': fields are"),
        ({"cell_bytes": "254"}, "cell_bytes must be a number"),
        ({"cell_bytes": True}, "cell_bytes must be a number"),
        ({"cell_bytes": 0}, "whole number from 32"),
        ({"buffer_bytes": -5}, "whole number from 1"),
        ({"port_gbps": 1.5}, "whole number"),
        ({"usable_bytes": float("nan")}, "must be a number"),
        ({"layout": "round"}, "layout is one of shared"),
        ({"aliases": "TH9"}, "list of names"),
        ({"headroom": {"base_bytes": 1, "fixed_us": 1}}, "lacks wire_factor"),
        ({"headroom": {"base_byte": 1}}, "did you mean base_bytes"),
        ({"headroom": {"base_bytes": 1, "fixed_us": 1, "wire_factor": 0.2}}, "wire_factor of 1 or more"),
        (None, "its fields are missing"),
    ],
)
def test_users_rows_that_cannot_be(row: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        table().extended({"TH3": row})

"""What a site knows better than the shipped tables changes the plan, and what is wrong in it is told at its line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rocetune.model.fabric import Fabric, OwnTable, Tuning
from rocetune.model.plan import Plan
from rocetune.planner import Habits, plan
from rocetune.tuning.published import near_sku

from . import rack as lab

TABLE = "# speed cable size xon xoff threshold\n400000 5m 9216 0 190500 0\n400000 40m 9216 0 215900 0\n"


def knowing(fabric: Fabric, **values: Any) -> Fabric:
    return replace(fabric, tuning=Tuning(**values))


def headroom(made: Plan, device: str = "leaf1") -> int | None:
    entry = made.devices[device].ports[0].setting.qos.priority(3)
    assert entry is not None
    return entry.headroom_bytes


def why(made: Plan) -> str:
    return "\n".join(made.devices["leaf1"].ports[0].setting.why[("priorities", 3, "headroom_bytes")].steps)


def test_the_published_row_of_the_model() -> None:
    """sonic-buildimage, Z9332F: 178562 B at 400G and 5 m; 2 m is not listed."""
    made = plan(lab.rack(declared={"hwsku": "DellEMC-Z9332f-O32"}))
    assert headroom(made) == 178_562
    assert "2 m is not listed: the next longer one is 5 m" in why(made)


def test_a_table_of_the_site_wins() -> None:
    own = OwnTable("tables/mine.ini", TABLE, ("DellEMC-Z9332f-O32",))
    made = plan(knowing(lab.rack(declared={"hwsku": "DellEMC-Z9332f-O32"}), tables=(own,)))
    assert headroom(made) == 190_500
    made = plan(knowing(lab.rack(declared={"hwsku": "Other-SKU"}), tables=(own,)))
    assert headroom(made) != 190_500


def test_a_cell_in_a_users_table_that_is_no_number() -> None:
    own = OwnTable("tables/mine.ini", TABLE.replace("215900", "lots"), ("Z9332F",))
    (problem,) = [item for item in plan(knowing(lab.rack(), tables=(own,))).problems if not item.warning]
    assert "tables/mine.ini:3" in problem.text and "lots" in problem.text
    assert problem.field == ("site", "tuning", "headroom_tables", 0, "file")


def test_single_facts_of_a_known_chip_are_replaced() -> None:
    small = {"tomahawk-3": {"buffer_bytes": 2_000_000, "usable_bytes": 2_000_000}}
    errors = [item.text for item in plan(knowing(lab.rack(), asics=small)).problems if not item.warning]
    assert any("2,000,000 B of buffer" in text for text in errors)
    assert not [item for item in plan(lab.rack()).problems if not item.warning]


def test_a_chip_of_the_house() -> None:
    """base 30000 + 2 us x 5e10 B/s + 2 x (2 x 2 m x 5e10 / 1.98e8) = 132020.2 B, 516 cells of 256."""
    chip = {
        "name": "House Chip",
        "cell_bytes": 256,
        "port_gbps": 400,
        "buffer_bytes": 64_000_000,
        "headroom": {"base_bytes": 30_000, "fixed_us": 2.0, "wire_factor": 2.0},
    }
    made = plan(knowing(lab.rack(asic="House Chip"), asics={"house-chip": chip}))
    assert headroom(made) == 516 * 256
    assert not [item for item in made.problems if not item.warning]


def test_a_wrong_chip_is_told_where_it_is_written() -> None:
    (problem,) = [item for item in plan(knowing(lab.rack(), asics={"th3": {"cel": 1}})).problems if "cel" in item.text]
    assert problem.field == ("site", "tuning", "asics", "th3") and not problem.warning


@pytest.mark.parametrize(("quanta", "least"), [(1810, 115_840), (905, 57_920)])
def test_the_reaction_at_800g(quanta: int, least: int) -> None:
    """Spectrum-4's sum holds the peer's reaction times three: 64 B per quantum, cell factor 192/64."""
    made = plan(knowing(lab.rack(asic="Spectrum-4", speed=800_000), quanta_800g=quanta))
    assert f"{quanta} quanta" in why(made)
    assert (headroom(made) or 0) > 3 * least


def test_a_speed_that_the_chip_lacks() -> None:
    errors = [item for item in plan(lab.rack(asic="Trident 3")).problems if not item.warning]
    assert any("Trident 3" in item.text and "400G" in item.text and "links.yaml" in item.remedy for item in errors)


def test_an_empty_published_table_is_no_crash() -> None:
    made = plan(lab.rack(asic="Tomahawk 5", declared={"hwsku": "Arista-7060X6-32PE"}))
    assert (headroom(made) or 0) > 300_000


def test_a_chip_and_a_model_that_contradict_each_other() -> None:
    declared = {"hwsku": "ACS-MSN4700"}
    (problem,) = [item for item in plan(lab.rack(declared=declared)).problems if not item.warning]
    assert "Tomahawk 3" in problem.text and "Spectrum-3" in problem.text
    assert problem.field == ("hosts", "leaf1", "asic")


def test_a_deep_buffer_has_no_dynamic_threshold_bound() -> None:
    """Its memory outside the chip is no pool that PFC shares: bounds are not known, and that is said."""
    made = plan(lab.rack(asic="Qumran 3D"))
    assert made.devices["leaf1"].ports[0].setting.basis[3].incast_bytes is None
    assert any("buffer size" in item.text for item in made.devices["leaf1"].assumptions)


def test_switches_with_different_tables_have_different_settings() -> None:
    fabric = lab.rack()
    leaf2 = replace(fabric.devices["leaf2"], declared={"hwsku": "DellEMC-Z9332f-O32"})
    made = plan(replace(fabric, devices={**fabric.devices, "leaf2": leaf2}))
    names = {device: made.devices[device].ports[0].setting.name for device in ("leaf1", "leaf2")}
    assert names == {"leaf1": "backend-400g-2m", "leaf2": "backend-400g-2m-dellemc-z9332f-o32"}


def test_a_box_that_runs_no_sonic_is_spared_the_copied_table() -> None:
    """A model without a table upstream: on SONiC it may run the table that makers copy most (Nokia's for 400G has
    307848 B at 5 m), on another OS the chip's own preset decides, 696 cells of 254 B."""
    fabric = lab.rack(declared={"model": "DCS-7060DX4-32"})
    other = Habits(no_sonic=frozenset({"sonic"}))
    assert headroom(plan(fabric, habits=other)) == 696 * 254
    likely = headroom(plan(fabric))
    assert likely is not None and 300_000 < likely < 320_000


def test_a_chip_without_its_model_shows_how_far_its_boards_differ() -> None:
    """Tomahawk 5 at 400G and 5 m: 307848 B (Nokia) to 1136396 B or more in the tables of its boards."""
    texts = [item.text for item in plan(lab.rack(asic="Tomahawk 5")).devices["leaf1"].assumptions]
    assert any("model not stated" in text and "307,848" in text for text in texts)
    known = plan(lab.rack(asic="Tomahawk 5", declared={"hwsku": "Dell-Z9864f-O64"})).devices["leaf1"].assumptions
    assert not any("model not stated" in item.text for item in known)


def test_a_table_that_belongs_to_no_switch_is_told_at_its_place() -> None:
    """The second one is for another model; the first is found although its spelling differs."""
    tables = (OwnTable("a.ini", TABLE, ("Z9332F",)), OwnTable("b.ini", TABLE, ("House-32",)))
    made = plan(knowing(lab.rack(declared={"hwsku": "DellEMC-Z9332f-O32"}), tables=tables))
    told = [item for item in made.problems if "no switch of the inventory" in item.text]
    assert [(item.warning, item.field[:4]) for item in told] == [(True, ("site", "tuning", "headroom_tables", 1))]
    assert "House-32" in told[0].text


CSV = "speed_mbps,cable_m,xoff_bytes\n400000,5,178562\n"


def alpha(made: Plan) -> float | None:
    entry = made.devices["leaf1"].ports[0].setting.qos.priority(3)
    assert entry is not None
    return entry.alpha


def test_a_table_of_the_site_leaves_the_switch_its_own_alpha() -> None:
    """dynamic_th of the Z9332F's published rows is -2: alpha 1/4, whatever headroom the user plans."""
    switch = {"hwsku": "DellEMC-Z9332f-O32"}
    bound = plan(lab.rack(declared=switch)).devices["leaf1"].ports[0].setting.basis[3].incast_bytes
    for text in (CSV, TABLE):  # the second has a threshold of its own: 0, which is alpha 1
        made = plan(knowing(lab.rack(declared=switch), tables=(OwnTable("mine.csv", text, ("DellEMC-Z9332f-O32",)),)))
        assert alpha(made) == 0.25
        assert made.devices["leaf1"].ports[0].setting.basis[3].incast_bytes == bound


def test_where_no_table_is_published_a_copy_of_the_switchs_file_tells_alpha() -> None:
    quarter = TABLE.replace(" 0\n", " -2\n")
    for text, factor in ((quarter, 0.25), (CSV, 1.0)):
        own = OwnTable("mine.ini", text, ("Other-SKU",))
        assert alpha(plan(knowing(lab.rack(declared={"hwsku": "Other-SKU"}), tables=(own,)))) == factor


@pytest.mark.parametrize(
    ("platform", "asked", "written"), [("sonic", 0.49, 0.25), ("sonic", 3.0, 2.0), ("eos", 0.99, 0.5), ("", 0.49, 0.49)]
)
def test_bounds_count_the_alpha_that_the_switch_will_have(platform: str, asked: float, written: float) -> None:
    """SONiC and EOS take powers of two: what pauses is what was written, not what was asked."""
    habits = Habits(alphas={"sonic": platform} if platform else {})

    def bound(factor: float) -> float | None:
        profile = lab.profile(lab.TRAINING, classes={"roce": {"pfc": {"alpha": factor}}})
        return plan(lab.rack(profile), habits=habits).devices["leaf1"].ports[0].setting.basis[3].incast_bytes

    assert bound(asked) == bound(written) != bound(written / 2)


def test_a_mistyped_hardware_sku_is_told_at_its_line() -> None:
    made = plan(lab.rack(declared={"hwsku": "DellEMC-Z9332f-O33"}))
    (told,) = [item for item in made.problems if "DellEMC-Z9332f-O33" in item.text]
    assert told.warning and "did you mean DellEMC-Z9332f-O32" in told.remedy
    assert told.field == ("hosts", "leaf1", "hwsku")
    for fine in ("DellEMC-Z9332f-O32", "Z9332F-O32", "Quanta-IX9-32X"):  # the last has no table among ours
        assert not [item for item in plan(lab.rack(declared={"hwsku": fine})).problems if "hwsku" in item.text]


def test_no_pool_is_over_subscribed_where_the_own_table_knows_none() -> None:
    """64 ports of 800G, 300 m and 3 classes of 1150976 B are 221 MB, the buffer is 158 MB, and its rows are private."""
    classes = {
        "roce": {"bandwidth": 30.0},
        "second": {"dscp": (28,), "priority": 4, "lossless": True, "bandwidth": 10.0},
        "third": {"dscp": (30,), "priority": 5, "lossless": True, "bandwidth": 10.0},
    }
    profile = lab.profile(lab.TRAINING, oversubscription=2, classes=classes)
    switch = {"hwsku": "ACS-SN5600"}
    fabric = lab.rack(
        profile, servers=16, leaves=1, rails=4, cable_m=300.0, speed=800_000, asic="Spectrum-4", declared=switch
    )
    made = plan(fabric)
    told = [item for item in made.problems if "no pool is shared" in item.text]
    assert [item.warning for item in told] == [True] and "ACS-SN5600" in told[0].text


def test_an_incast_comes_in_through_ports_that_there_are() -> None:
    """16 back-end ports of leaf1, so 15 beside the one that it leaves by, however many flows are stated."""
    fabric = lab.rack(servers=4)
    backend = replace(fabric.networks["backend"], flows=1000)
    made = plan(replace(fabric, networks={**fabric.networks, "backend": backend}))
    leaf = made.devices["leaf1"]
    ports = sum(item.setting.network == "backend" for item in leaf.ports)
    steps = leaf.why[("incast", 3)].steps
    assert steps[0].startswith(f"{ports - 1} ingress ports")


@pytest.mark.parametrize(
    ("sku", "chip", "meant"),
    [
        ("DellEMC-Z9332f-O23", "tomahawk-3", "DellEMC-Z9332f-O32"),
        ("Arista-7260CX3-D96C61", None, "Arista-7260CX3-D96C16"),
        ("NH-4010-F-O64", "tomahawk-5", ""),  # the likeness, NH-5010-F-O64, has another chip
        ("DellEMC-Z9864f-O64", "tomahawk-5", ""),  # DellEMC-Z9664f-O64 has another chip as well
        ("ACS-MSN4600", "spectrum-3", ""),  # a plain model
        ("ACS-MSN2100", "spectrum-1", ""),
        ("DellEMC-Z9332f-O32", "tomahawk-3", ""),
    ],
)
def test_a_sku_is_taken_for_a_board_with_the_same_chip(sku: str, chip: str | None, meant: str) -> None:
    assert near_sku(sku, chip) == meant


def test_a_buffer_of_the_users_is_not_what_sonics_pools_are_made_for() -> None:
    """40 MB stated for Tomahawk 3: S is what the headroom leaves of it, not what the Z9332F's pools leave."""
    own = {"tomahawk-3": {"buffer_bytes": 40_000_000, "usable_bytes": 40_000_000}}
    made = plan(knowing(lab.rack(declared={"hwsku": "DellEMC-Z9332f-O32"}), asics=own))
    steps = made.devices["leaf1"].why[("buffer",)].steps
    assert steps[-1].startswith("S = 40,000,000 - ")


def test_where_alpha_is_from_is_said_with_the_start_of_pause() -> None:
    made = plan(lab.rack(declared={"hwsku": "DellEMC-Z9332f-O32"}))
    step = made.devices["leaf1"].why[("pause_start", 3)].steps[0]
    assert step == "alpha 0.25: dynamic_th -2 of DellEMC-Z9332f-O32, the switch's own table"

"""What a SONiC switch makes of a plan: lengths, ranges, powers, and what it cannot express."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from rocetune.model.facts import Facts, PortFacts
from rocetune.model.plan import DevicePlan, Setting
from rocetune.model.qos import Watchdog
from rocetune.model.state import Reply
from rocetune.platforms.sonic import PLATFORM
from rocetune.platforms.sonic import facts as facts_of
from rocetune.platforms.sonic.fit import private_size
from rocetune.platforms.sonic.render import BadPort, object_name
from tests.platforms.builders import AI_TRAINING, port_plan, rail_qos, setting, sonic_leaf

TABLE = "400000,5,2540,2540,178562,-2,2540;400000,40,2540,2540,201930,-2,2540;100000,300,2540,2540,117348,-2,2540"


def device_facts(**extra: str) -> Facts:
    known = {"buffer_model": "traditional", "asic_type": "broadcom", "headroom_table": TABLE, **extra}
    return Facts("sonic", source="device", extra=known)


def fitted(plan: DevicePlan, facts: Facts | None = None) -> tuple[DevicePlan, Setting]:
    result = PLATFORM.fit(plan, facts or device_facts())
    return result, result.ports[0].setting


def with_pfc(**numbers: Any) -> DevicePlan:
    roce = {**AI_TRAINING["classes"]["roce"], "pfc": numbers}
    intent = {**AI_TRAINING, "classes": {**AI_TRAINING["classes"], "roce": roce}}
    qos = rail_qos(**{"headroom_bytes": numbers.get("headroom", 96_000), "alpha": numbers.get("alpha", 1.0)})
    return sonic_leaf(1, setting(qos=qos, intent=intent))


@pytest.mark.parametrize(("metres", "length"), [(2.0, 5), (5.0, 5), (5.5, 40), (40.0, 40)])
def test_a_cable_gets_the_next_length_of_the_switchs_table(metres: float, length: int) -> None:
    plan, chosen = fitted(sonic_leaf(1, setting(qos=replace(rail_qos(), cable_m=metres))))
    assert chosen.qos.cable_m == length
    assert not plan.unsupported
    shown = chosen.why.get(("cable_m",))
    assert (shown is not None and f"becomes {length} m" in shown.rounding) or metres == length


def test_a_cable_beyond_the_table_is_unsupported() -> None:
    plan, _ = fitted(sonic_leaf(1, setting(qos=replace(rail_qos(), cable_m=41.0))))
    assert [item.path for item in plan.unsupported] == [("cable_m",)]
    assert "up to 40 m" in plan.unsupported[0].text


def test_a_speed_without_a_row_is_unsupported() -> None:
    """An empty table (some Tomahawk 5 images) is an error, not a default."""
    plan, _ = fitted(sonic_leaf(1, setting(qos=replace(rail_qos(), speed_mbps=800_000))))
    assert "no length at 800000 Mbit/s" in plan.unsupported[0].text


def test_nothing_is_pushed_where_no_headroom_will_be() -> None:
    """A lossless class without headroom drops: what is sure stops the push, what is believed does not."""
    far = sonic_leaf(1, setting(qos=replace(rail_qos(), cable_m=400.0)))
    empty = device_facts(headroom_table=facts_of.EMPTY_TABLE)
    assert [item.blocking for item in fitted(far)[0].unsupported] == [True]
    assert "no length at 400000 Mbit/s" in fitted(sonic_leaf(1), empty)[0].unsupported[0].text
    assert [item.blocking for item in fitted(sonic_leaf(1), empty)[0].unsupported] == [True]
    unread = Facts("sonic", extra={"buffer_model": "traditional"})
    believed = fitted(far, unread)[0]
    assert [item.blocking for item in believed.unsupported] == [False]
    assert "is taken to list up to 300 m" in believed.unsupported[0].text
    assert any("was not read" in item.text for item in believed.assumptions)
    watched = replace(far, device=replace(far.device, manage="observe"))
    assert [item.blocking for item in fitted(watched)[0].unsupported] == [False]
    lossy = replace(
        rail_qos(),
        cable_m=400.0,
        priorities=tuple(replace(e, lossless=False, pfc=False) for e in rail_qos().priorities),
    )
    assert [item.blocking for item in fitted(sonic_leaf(1, setting(qos=lossy)))[0].unsupported] == [False]


def test_an_empty_headroom_table_is_not_an_unread_one() -> None:
    """Arista 7060X6 images ship a table of comments only."""
    facts = PLATFORM.facts({facts_of.HEADROOM: Reply("# speed cable size xon xoff threshold\n")})
    assert facts.extra["headroom_table"] == facts_of.EMPTY_TABLE
    assert facts_of.headroom_rows(facts) == {}
    assert "headroom_table" not in PLATFORM.facts({facts_of.HEADROOM: Reply("", error="No such file")}).extra


def test_fixed_and_own_headroom_do_not_mix_on_a_port() -> None:
    plan = with_pfc(headroom=200_000)
    chosen = plan.ports[0].setting
    roce = chosen.qos.priority(3)
    assert roce is not None
    second = replace(roce, priority=4, name="other")
    qos = replace(chosen.qos, priorities=(*chosen.qos.priorities, second))
    result, _ = fitted(sonic_leaf(1, replace(chosen, qos=qos)))
    assert [item.blocking for item in result.unsupported if item.path == ("priorities",)] == [True]


def test_the_dynamic_model_is_said_offline() -> None:
    plan = sonic_leaf(1)
    plan = replace(plan, device=replace(plan.device, declared={"hwsku": "ACS-MSN4700", "buffer_model": "dynamic"}))
    result = PLATFORM.fit(plan, PLATFORM.declared(plan))
    assert any("the planned number is not written" in item.text for item in result.assumptions)
    assert "not written" in result.ports[0].setting.why["priorities", 3, "headroom_bytes"].rounding
    broadcom = replace(plan, device=replace(plan.device, declared={"hwsku": "Z9332f", "buffer_model": "dynamic"}))
    believed = PLATFORM.fit(broadcom, PLATFORM.declared(broadcom)).assumptions
    assert any("community images do so on NVIDIA and Barefoot only" in item.text for item in believed)


def test_the_switchs_own_headroom_is_shown() -> None:
    _, chosen = fitted(sonic_leaf(1))
    roce = chosen.qos.priority(3)
    assert roce is not None
    assert (roce.headroom_bytes, roce.alpha, roce.xon_bytes) == (178562, None, None)
    assert "178562 B" in chosen.why["priorities", 3, "headroom_bytes"].rounding


def test_a_table_that_gives_less_than_needed_is_said() -> None:
    plan, _ = fitted(sonic_leaf(1, setting(qos=rail_qos(headroom_bytes=190_000))))
    assert any(
        "178,562 B" in item.text and "11,438 B could be lost" in item.text and item.risk for item in plan.assumptions
    )


def test_a_fixed_headroom_keeps_the_buffer_manager_away() -> None:
    plan, chosen = fitted(with_pfc(headroom=200_000, alpha=0.4))
    roce = chosen.qos.priority(3)
    assert roce is not None
    assert (roce.headroom_bytes, roce.alpha, roce.xon_bytes) == (200_000, 0.25, 2540)
    assert "0.4 becomes 0.25" in chosen.why["priorities", 3, "alpha"].rounding
    text = PLATFORM.render(plan, device_facts()).text
    assert '"AZURE": {"Ethernet0": "0m"}' in text
    assert '"xoff": "200000"' in text


@pytest.mark.parametrize(
    ("extra", "offset"),
    [
        ({}, 2540),  # the fifth column but one of the row for 400G and 5 m
        ({"headroom_table": "400000,5,2540,2540,178562,0"}, 18_432),  # a row of six columns
        ({"headroom_table": ""}, 18_432),
        ({"asic_type": "mellanox"}, None),
    ],
)
def test_a_fixed_headroom_resumes_below_its_threshold(extra: dict[str, str], offset: int | None) -> None:
    """Without xon_offset a group of a shared pool would resume at the first byte below XOFF."""
    plan = with_pfc(headroom=200_000)
    item = plan.ports[0].setting
    roce = replace(item.qos.priority(3), xon_offset_bytes=18_432)  # type: ignore[type-var]
    others = tuple(entry for entry in item.qos.priorities if entry.priority != 3)
    qos = replace(item.qos, priorities=tuple(sorted((*others, roce), key=lambda entry: entry.priority)))
    plan = replace(plan, ports=(replace(plan.ports[0], setting=replace(item, qos=qos)),))
    result, chosen = fitted(plan, device_facts(**extra))
    found = chosen.qos.priority(3)
    assert found is not None and found.xon_offset_bytes == offset
    assert chosen.why["priorities", 3, "xon_bytes"].source == "pg_profile_lookup.ini"
    text = PLATFORM.render(result, device_facts(**extra)).text
    assert (f'"xon_offset": "{offset}"' in text) == (offset is not None)


def test_private_and_shared_headroom() -> None:
    """size is xon + xoff on NVIDIA, and the private part alone where xoff comes out of a shared pool."""
    roce = rail_qos(headroom_bytes=38912, xon_bytes=19456).priority(3)
    assert roce is not None
    assert private_size(roce, device_facts(asic_type="mellanox")) == 58368
    assert private_size(roce, device_facts(asic_type="broadcom")) == 19456


@pytest.mark.parametrize(
    ("row", "size"),
    [
        ("100000,5,1248,2288,165568,0", 1_248),  # Force10-Z9100: beside a shared pool
        ("100000,5,18796,0,445770,0", 18_796),  # Dell-Z9864f: reserved although xon is 0
        ("100000,5,48464,18432,47216,-1", 200_000 + 48_464 - 47_216),  # td2/gen: the size holds xoff
        ("400000,5,1248,2288,165568,0", 2_288),  # another speed: xon alone
    ],
)
def test_the_private_size_is_that_of_the_switchs_own_rows(row: str, size: int) -> None:
    """Rows as sonic-buildimage has them: speed, length, size, xon, xoff, threshold."""
    roce = rail_qos(headroom_bytes=200_000, xon_bytes=2_288).priority(3)
    assert roce is not None
    assert private_size(roce, device_facts(asic_type="broadcom", headroom_table=row), 100_000) == size


@pytest.mark.parametrize(("lanes", "size"), [("4", 2_540 + 38_912), ("8", 2_540 + 38_912 + 9_100)])
def test_ports_of_eight_lanes_reserve_one_frame_more(lanes: str, size: int) -> None:
    """sonic_headroom_lookup.md, ACS-MSN4700 400G 5 m: 86016 = 37888 + 38912 + 9216, one port MTU."""
    plan, _ = fitted(with_pfc(headroom=38_912), device_facts(asic_type="mellanox"))
    item = replace(plan.ports[0].setting, qos=replace(plan.ports[0].setting.qos, mtu_bytes=9_100))
    plan = replace(plan, ports=(replace(plan.ports[0], setting=item),))
    port = PortFacts("Ethernet0", extra={"lanes": lanes})
    known = replace(device_facts(asic_type="mellanox"), ports={"Ethernet0": port})
    found = json.loads(PLATFORM.render(plan, known).text)["BUFFER_PROFILE"]
    assert [int(profile["xon"]) + int(profile["xoff"]) for profile in found.values()] == [2_540 + 38_912]
    assert [int(profile["size"]) for profile in found.values()] == [size]


def test_the_dynamic_model_computes_headroom_itself() -> None:
    plan, chosen = fitted(sonic_leaf(1), device_facts(buffer_model="dynamic", asic_type="mellanox"))
    roce = chosen.qos.priority(3)
    assert roce is not None
    assert roce.headroom_bytes is None
    assert chosen.qos.cable_m == 2.0
    text = PLATFORM.render(plan, device_facts(buffer_model="dynamic", asic_type="mellanox")).text
    assert '"Ethernet0|3": {"profile": "NULL"}' in text
    assert '"pfc_to_pg_map": "ROCETUNE-PG3"' in text


@pytest.mark.parametrize(
    ("dog", "want", "count"),
    [
        (Watchdog(200, 400, None, "drop"), Watchdog(200, 400, 100, "drop"), 0),
        (Watchdog(50, 400, None, "drop"), Watchdog(100, 400, 100, "drop"), 1),
        (Watchdog(600, 90_000, None, "notify"), Watchdog(600, 60_000, 300, "notify"), 1),
        (Watchdog(4000, 8000, None, "shutdown"), Watchdog(4000, 8000, 1000, "drop"), 1),
    ],
)
def test_watchdog_ranges(dog: Watchdog, want: Watchdog, count: int) -> None:
    plan, chosen = fitted(sonic_leaf(1, setting(qos=replace(rail_qos(), watchdog=dog))))
    assert chosen.qos.watchdog == want
    assert len(plan.unsupported) == count
    assert plan.qos.watchdog_poll_ms == want.poll_ms


def test_a_marking_probability_is_a_whole_percent() -> None:
    _, chosen = fitted(sonic_leaf(1, setting(qos=rail_qos(pmax_percent=0.3))))
    roce = chosen.qos.priority(3)
    assert roce is not None
    assert roce.pmax_percent == 1.0
    assert "becomes 1 %" in chosen.why["priorities", 3, "pmax_percent"].rounding


def test_dcbx_is_not_spoken() -> None:
    plan, _ = fitted(sonic_leaf(1, setting(qos=replace(rail_qos(), dcbx="ieee"))))
    assert [item.path for item in plan.unsupported] == [("dcbx",)]


def test_object_names_fit_the_models() -> None:
    roce = rail_qos().priority(3)
    assert roce is not None
    long = object_name(setting("a-network-with-a-very-long-name-400g-2m"), roce)
    other = object_name(setting("a-network-with-a-very-long-name-400g-3m"), roce)
    assert len(long) <= 32
    assert long != other
    assert object_name(setting(), roce) == "ROCETUNE-backend-400g-2m-roce"


def test_a_long_object_name_stays_readable() -> None:
    """The network loses letters; only where two settings of a switch would then read the same, a hash tells them."""
    default = rail_qos().priority(0)
    assert default is not None
    one, other = "backend-200g-20m", "backends-200g-20m"
    assert object_name(setting(one), default, {one}) == "ROCETUNE-backen-200g-20m-default"
    names = [object_name(setting(name), default, {one, other}) for name in (one, other)]
    assert len(set(names)) == 2
    assert all(len(name) <= 32 for name in names)


def test_every_owned_key_is_described() -> None:
    """Writers fall back on the note's beginning."""
    assert all(3 < len(rule.note.split(":")[0]) <= 48 for rule in PLATFORM.owned)


def test_a_port_name_that_is_none_is_refused() -> None:
    plan = sonic_leaf(1)
    plan = replace(plan, ports=(port_plan("leaf2", 'Ethernet0"', plan.ports[0].setting),))
    with pytest.raises(BadPort, match="no SONiC port"):
        PLATFORM.render(PLATFORM.fit(plan, device_facts()), device_facts())


def test_facts_from_show_version() -> None:
    text = (
        "\nSONiC Software Version: SONiC.202505.3-abc\nPlatform: x86_64-nvidia_sn5600-r0\nHwSKU: ACS-SN5600\n"
        "ASIC: mellanox\nASIC Count: 1\n"
    )
    facts = PLATFORM.facts({facts_of.SHOW_VERSION: Reply(text)})
    assert (facts.model, facts.asic, facts.os_version) == ("ACS-SN5600", "Spectrum-4", "202505.3-abc")
    assert facts.extra["asic_type"] == "mellanox"
    assert "buffer_model" not in facts.extra
    assert "show queue wredcounters" in PLATFORM.commands("counters", facts)


def test_nothing_is_known_of_a_silent_switch() -> None:
    facts = PLATFORM.facts({facts_of.CONFIG: Reply("", error="permission denied")})
    assert (facts.model, facts.asic, facts.os_version, dict(facts.ports)) == (None, None, None, {})
    state = PLATFORM.read("sw", {facts_of.CONFIG: Reply("", error="permission denied")}, facts)
    assert not state.ports
    assert state.problems == (f"{facts_of.CONFIG}: permission denied",)

"""The emulated SONiC switch and the product on it: round trips, transactions, the undo timer, faults."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocetune.lab.device import Fault
from rocetune.model.change import Phase
from rocetune.model.plan import DevicePlan
from rocetune.model.qos import Watchdog, leaves
from rocetune.model.transaction import Token
from rocetune.platforms.base import DeviceError, LinkLost
from rocetune.platforms.sonic import PLATFORM
from tests.platforms.builders import AI_TRAINING, STORAGE, port_plan, rail_qos, setting, sonic_leaf
from tests.platforms.sonic.rig import Rig, phases

NOT_OBSERVED = {"name", "lossless", "owned", "dscps"}
FOREIGN = ("BGP_NEIGHBOR", "NTP_SERVER", "VLAN", "SNMP_COMMUNITY", "TACPLUS", "DEVICE_METADATA", "BUFFER_POOL")


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(sonic_leaf(2), tmp_path)


def other_plan() -> DevicePlan:
    """Another intent for the same ports: other numbers, other timers, another name."""
    qos = rail_qos(kmin_bytes=300_000, kmax_bytes=900_000, pmax_percent=5.0)
    qos = replace(qos, watchdog=Watchdog(detect_ms=400, restore_ms=800, action="forward"), mtu_bytes=9000, cable_m=30.0)
    return sonic_leaf(2, setting("backend-400g-30m", qos))


def fixed_plan(headroom: int = 200_000) -> DevicePlan:
    """The profile fixes headroom and alpha."""
    roce = {**AI_TRAINING["classes"]["roce"], "pfc": {"headroom": headroom, "alpha": 0.5, "xon": 2540}}
    intent = {**AI_TRAINING, "classes": {**AI_TRAINING["classes"], "roce": roce}}
    return sonic_leaf(
        2,
        setting(
            qos=rail_qos(headroom_bytes=headroom, alpha=0.5, xon_bytes=2540, xon_offset_bytes=18432), intent=intent
        ),
    )


def two_networks() -> DevicePlan:
    """Rails with PFC on 3 and a storage port with PFC on 4 at 100G."""
    qos = rail_qos()
    roce = qos.priority(3)
    assert roce is not None
    kept = tuple(entry for entry in qos.priorities if entry.priority in (0, 6))
    storage = replace(roce, priority=4, name="storage", dscps=(20,))
    stored = replace(qos, speed_mbps=100_000, cable_m=3.0, priorities=(kept[0], storage, kept[1]))
    plan = sonic_leaf(1)
    port = port_plan("leaf2", "Ethernet128", setting("storage-100g-3m", stored, STORAGE), peer=("gpu01", "stor0"))
    return replace(
        plan,
        ports=(*plan.ports, port),
        qos=replace(plan.qos, dscp_to_priority=((20, 4), (26, 3), (48, 6))),
    )


def assert_state_equals(rig: Rig, plan: DevicePlan) -> None:
    """What is read back is the fitted plan, leaf by leaf."""
    state = rig.state()
    assert not state.problems
    for item in rig.fitted(plan).managed:
        seen = dict(leaves(state.ports[item.native]))
        compared = 0
        for path, want in leaves(item.setting.qos):
            entry = item.setting.qos.priority(int(path[1])) if path[0] == "priorities" else None
            if path[-1] in NOT_OBSERVED or (entry is not None and not entry.owned):
                continue
            if path == ("dscp_to_priority",):
                assert all(to is None or seen[path][dscp] == to for dscp, to in enumerate(want))
            else:
                assert seen.get(path) == want, (item.native, path)
            compared += 1
        assert compared > 25


@pytest.mark.parametrize("make", [sonic_leaf, other_plan, fixed_plan, two_networks])
def test_what_is_pushed_is_what_is_read(make: Any, tmp_path: Path) -> None:
    plan = make()
    rig = Rig(plan, tmp_path)
    foreign = {table: rig.emulator.state.config[table] for table in FOREIGN}
    before = json.dumps(foreign)
    rig.push(rig.changes())
    assert_state_equals(rig, plan)
    assert rig.changes() == ()
    assert rig.session().ready() == ()
    assert json.dumps({table: rig.emulator.state.config[table] for table in FOREIGN}) == before
    config = rig.emulator.state.config
    assert config["DSCP_TO_TC_MAP"]["AZURE"]["3"] == "3"
    assert config["SCHEDULER"]["scheduler.0"] == {"type": "DWRR", "weight": "14"}
    assert rig.state().settings["overlapping_ranges"] == ""


@pytest.mark.parametrize("make", [sonic_leaf, fixed_plan])
def test_the_asic_has_the_headroom(make: Any, tmp_path: Path) -> None:
    """CONFIG_DB may look right while the priority group points at the null profile: ask the emulated ASIC."""
    rig = Rig(make(), tmp_path)
    rig.push(rig.changes())
    groups = rig.emulator.state.groups
    config = rig.emulator.state.config["BUFFER_PG"]
    for port in ("Ethernet0", "Ethernet8"):
        assert groups[f"{port}:3"] == config[f"{port}|3"]["profile"]
        assert groups[f"{port}:4"] is None
        assert rig.emulator.state.watched[port] == "3"
    assert groups["Ethernet16:3"] == "pg_lossless_400000_40m_profile"  # a port that is not managed


@pytest.mark.parametrize("second", [other_plan, fixed_plan])
def test_one_intent_after_another_equals_the_second_on_a_clean_switch(second: Any, tmp_path: Path) -> None:
    clean, used = Rig(second(), tmp_path / "a"), Rig(sonic_leaf(2), tmp_path / "b")
    clean.push(clean.changes())
    used.push(used.changes())
    used.plan = second()
    used.push(used.changes())
    assert used.mine(used.running()) == clean.mine(clean.running())
    assert_state_equals(used, second())
    assert not [key for key in used.running() if "400g-2m" in "".join(key)] or second is fixed_plan


@pytest.mark.parametrize("make", [sonic_leaf, fixed_plan, two_networks])
def test_rollback_leads_back(make: Any, tmp_path: Path) -> None:
    rig = Rig(make(), tmp_path)
    before = rig.mine(rig.running())
    groups = dict(rig.emulator.state.groups)
    rig.push(rig.changes())
    rig.push(rig.back_to(before))
    after = rig.mine(rig.running())
    assert {**after} == {**before, ("PFC_WD", "GLOBAL", "POLL_INTERVAL"): after["PFC_WD", "GLOBAL", "POLL_INTERVAL"]}
    assert rig.emulator.state.groups == groups


def started(rig: Rig, phase: Phase = Phase.PFC) -> tuple[Token, str]:
    """A switch with the phases before ``phase`` confirmed and this one committed, not confirmed."""
    for token, part in phases(rig.changes()):
        before = json.dumps(rig.emulator.state.config, sort_keys=True)
        rig.transact(token, part)
        if token.phase == phase:
            return token, before
        rig.session().confirm(token)
    raise AssertionError("the phase did not come")


@pytest.mark.parametrize("phase", [Phase.BUFFERS, Phase.SCHEDULER, Phase.PFC, Phase.WATCHDOG])
def test_the_timer_undoes_without_us(phase: Phase, rig: Rig) -> None:
    token, before = started(rig, phase)
    assert rig.session().pending(token).kind == "reverting"
    assert rig.session().pending(token).seconds == pytest.approx(120)
    rig.time += 119
    rig.emulator.tick()
    assert json.dumps(rig.emulator.state.config, sort_keys=True) != before
    rig.time += 2
    rig.emulator.tick()
    assert rig.session().pending(token).kind == "idle"
    assert without_own_profiles(rig.emulator.state.config) == without_own_profiles(json.loads(before))
    with pytest.raises(DeviceError, match="the undo ran before the confirm"):
        rig.session().confirm(token)


def without_own_profiles(config: Any) -> Any:
    """The buffer manager never takes a profile away."""
    kept = {name: held for name, held in config["BUFFER_PROFILE"].items() if not name.startswith("pg_lossless_")}
    filled = {table: entries for table, entries in config.items() if entries}
    return {**filled, "BUFFER_PROFILE": kept}


def test_revert_and_confirm_from_another_process(rig: Rig) -> None:
    token, before = started(rig, Phase.SCHEDULER)
    for _ in range(2):
        rig.session().revert(token)
        assert rig.session().pending(token).kind == "idle"
    assert without_own_profiles(rig.emulator.state.config) == without_own_profiles(json.loads(before))
    token, _ = started(rig, Phase.SCHEDULER)
    for _ in range(2):
        rig.session().confirm(token)
    assert rig.emulator.state.startup == rig.emulator.state.config
    assert rig.emulator.state.checkpoints == []


def test_a_reboot_undoes_what_was_not_confirmed(rig: Rig) -> None:
    token, before = started(rig, Phase.SCHEDULER)
    rig.emulator.reboot()
    assert rig.session().pending(token).kind in ("idle", "staged")
    rig.session().revert(token)
    assert without_own_profiles(rig.emulator.state.config) == without_own_profiles(json.loads(before))


def test_state_survives_the_emulator_process(rig: Rig) -> None:
    _, before = started(rig, Phase.BUFFERS)
    rig.emulator = rig.start()
    rig.time += 200
    rig.emulator.tick()
    assert without_own_profiles(rig.emulator.state.config) == without_own_profiles(json.loads(before))


def test_a_refused_load_is_undone_at_once(rig: Rig) -> None:
    token, part = next(item for item in phases(rig.changes()) if item[0].phase is Phase.BUFFERS)
    before = rig.running()
    rig.faults.append(Fault("refuse_line", value="tc_to_pg_map"))
    session = rig.session()
    session.stage(token, PLATFORM.steps(part, rig.running(), rig.facts), rig.facts)
    assert rig.running() == before  # staged is not live
    assert rig.session().pending(token).kind == "staged"
    with pytest.raises(DeviceError, match="tc_to_pg_map"):
        session.commit(token, 120)
    # The inverse names the same field, so it is refused as well and the timer stays armed.
    assert rig.session().pending(token).kind == "reverting"
    rig.faults.clear()
    rig.session().revert(token)
    assert rig.running() == before
    assert rig.session().pending(token).kind == "idle"


def test_killed_at_any_request_the_switch_is_old_or_new(tmp_path: Path) -> None:
    """The client dies before its n-th request; another process settles it."""
    reference = Rig(sonic_leaf(2), tmp_path / "reference")
    reference.push(reference.changes())
    for moment in range(1, 9):
        rig = Rig(sonic_leaf(2), tmp_path / str(moment))
        token, part = next(item for item in phases(rig.changes()) if item[0].phase is Phase.PFC)
        old = rig.running()
        count = [0]

        def die(text: str, rig: Rig = rig, count: list[int] = count, moment: int = moment) -> None:
            count[0] += 1
            if count[0] == moment:
                raise LinkLost("leaf2", "any", "killed")

        rig.before = die
        try:
            rig.transact(token, part)
            rig.session().confirm(token)
        except LinkLost:
            pass
        rig.before = lambda text: None
        if rig.session().pending(token).kind != "idle":
            rig.session().revert(token)
        now = rig.running()
        new = {**old, **{change.key: change.new for change in part if change.new is not None}}
        assert now in (old, new), moment
        assert rig.session().pending(token).kind == "idle"


def test_killed_inside_the_change_the_timer_finishes(rig: Rig) -> None:
    """The shell on the switch dies after its first load: only the timer is left."""
    token, part = next(item for item in phases(rig.changes()) if item[0].phase is Phase.PFC)
    old = rig.running()
    session = rig.session()
    session.stage(token, PLATFORM.steps(part, rig.running(), rig.facts), rig.facts)
    script = next(rig.folder.glob("home/.rocetune/*/do.sh"))
    script.write_text(script.read_text().replace("gone ", "kill -9 $PPID $$; gone ", 1).replace("gone()", "gone()", 1))
    text = script.read_text()
    place = text.index("BUFFER_PG_TABLE:")
    start = text.rindex("\n", 0, place) + 1
    script.write_text(text[:start] + "kill -9 $PPID $$\n" + text[start:])
    with pytest.raises((DeviceError, LinkLost)):
        session.commit(token, 120)
    assert rig.running() != old
    assert rig.session().pending(token).kind == "reverting"
    rig.time += 121
    assert rig.running() == old
    assert rig.emulator.state.groups["Ethernet0:3"] == "pg_lossless_400000_40m_profile"


def test_a_foreign_timer_stands_in_the_way(rig: Rig) -> None:
    token, _ = started(rig, Phase.BUFFERS)
    other = Token("r2", "leaf2", Phase.PFC)
    assert rig.session().pending(other).kind == "foreign"
    assert any(token.name in text for text in rig.session().ready())
    session = rig.session()
    session.stage(other, (), rig.facts)
    with pytest.raises(DeviceError, match="cannot be armed"):
        session.commit(other, 60)
    with pytest.raises(DeviceError, match="another transaction"):
        session.confirm(other)
    assert rig.session().pending(token).kind == "reverting"


def test_missing_rights_are_told_before_anything_is_written(tmp_path: Path) -> None:
    rig = Rig(sonic_leaf(2), tmp_path, sudo="refused")
    problems = rig.session().ready()
    assert any("sudo config is refused (sudo: a password is required)" in text for text in problems)
    assert any("systemd-run" in text for text in problems)


def test_unsaved_changes_of_others_are_seen(rig: Rig) -> None:
    assert rig.session().ready() == ()
    assert rig.run("sudo -n config interface mtu Ethernet0 1600").status == 0
    assert any("PORT|Ethernet0|mtu" in text for text in rig.session().ready())


def test_a_number_outside_the_models_is_not_sent(rig: Rig) -> None:
    token, part = next(item for item in phases(rig.changes()) if item[0].phase is Phase.BUFFERS)
    bad = [replace(change, new="9217") if change.key[-1] == "mtu" else change for change in part]
    with pytest.raises(DeviceError, match=r"PORT\|Ethernet0: mtu 9217 is outside 68 to 9216"):
        rig.session().stage(token, PLATFORM.steps(bad, rig.running(), rig.facts), rig.facts)
    assert rig.session().pending(token).kind == "idle"


def sku_plan(hwsku: str, model: str, metres: float = 20.0, speed: int = 200_000) -> DevicePlan:
    """Two rails of another switch."""
    name = f"backend-{speed // 1000}g-{metres:g}m"
    plan = sonic_leaf(2, setting(name, replace(rail_qos(), speed_mbps=speed, cable_m=metres)))
    return replace(plan, device=replace(plan.device, declared={"hwsku": hwsku, "buffer_model": model}))


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
@pytest.mark.parametrize("hwsku", ["ACS-MSN4700", "ACS-MSN3700", "Dell-Z9864f-O64", "Some-Box-32"])
def test_other_switches_can_be_rehearsed(hwsku: str, model: str, tmp_path: Path) -> None:
    rig = Rig(sku_plan(hwsku, model), tmp_path)
    assert not rig.fitted().unsupported
    rig.push(rig.changes())
    assert rig.changes() == ()
    state = rig.state()
    roce = state.ports["Ethernet0"].priority(3)
    assert roce is not None
    assert (roce.headroom_bytes or 0) > 30_000
    assert state.settings.get("headroom_rejected") == ("" if model == "dynamic" else None)
    rig.time += 1
    rig.emulator.reboot()
    assert rig.changes() == ()
    assert rig.state().settings.get("headroom_rejected") == ("" if model == "dynamic" else None)


def test_the_headroom_of_the_sku_is_read(tmp_path: Path) -> None:
    """sonic-buildimage device/mellanox/x86_64-mlnx_msn4700-r0/ACS-MSN4700: 200000 40m has xoff 55296."""
    rig = Rig(sku_plan("ACS-MSN4700", "traditional"), tmp_path)
    assert (rig.facts.asic, rig.facts.extra["asic_type"]) == ("Spectrum-3", "mellanox")
    rig.push(rig.changes())
    qos = rig.state().ports["Ethernet0"]
    roce = qos.priority(3)
    assert roce is not None
    assert (qos.cable_m, roce.headroom_bytes) == (40.0, 55296)


def test_a_port_without_headroom_forbids_the_push(tmp_path: Path) -> None:
    """The Z9332f-O32 lists no 200G, and nothing beyond 2000 m."""
    for plan in (sku_plan("DellEMC-Z9332f-O32", "traditional"), sku_plan("ACS-MSN4700", "traditional", 301.0)):
        rig = Rig(plan, tmp_path / plan.device.declared["hwsku"])
        lack = next(item for item in rig.fitted().unsupported if item.path == ("cable_m",))
        assert lack.blocking
        assert "fix pfc.headroom in the profile" in lack.text


def test_a_refused_headroom_is_seen_and_an_old_refusal_is_not_held_against_it(tmp_path: Path) -> None:
    rig = Rig(sku_plan("ACS-MSN4700", "dynamic"), tmp_path)
    rig.push(rig.changes())
    rig.emulator.inject(Fault("headroom_refused", "Ethernet8"))
    state = rig.state()
    assert "port Ethernet8. Accumulative headroom size exceeds limit" in state.settings["headroom_rejected"]
    seen = state.ports["Ethernet0"].priority(3)
    assert seen is not None
    assert seen.headroom_bytes
    rig.emulator.clear(Fault("headroom_refused", "Ethernet8"))
    state = rig.state()
    assert state.settings["headroom_rejected"] == ""
    assert "overcome" in state.evidence["", "headroom_rejected"].line


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_a_saved_config_says_what_the_switch_says(model: str, tmp_path: Path) -> None:
    """Offline from ``sonic-cfggen -d --print-data``: the same comparison as live, whatever the inventory declares."""
    rig = Rig(sku_plan("ACS-MSN4700", model), tmp_path)
    rig.push(rig.changes())
    text = rig.run("sonic-cfggen -d --print-data").stdout
    for wrong in ({}, {"hwsku": "DellEMC-Z9332f-O32"}, dict(rig.plan.device.declared)):
        plan = replace(rig.plan, device=replace(rig.plan.device, declared=wrong))
        facts = PLATFORM.saved_facts(text, PLATFORM.declared(plan))
        fitted = PLATFORM.fit(plan, facts)
        running = PLATFORM.parse(text, facts)
        wanted = PLATFORM.desired(PLATFORM.render(fitted, facts), running, fitted, facts)
        assert {key: (running.get(key), value) for key, value in wanted.items() if running.get(key) != value} == {}
        assert facts.extra["buffer_model"] == model
        assert facts.model == "ACS-MSN4700"


def test_rendered_text_is_no_saved_switch(rig: Rig) -> None:
    """``render -o`` output has no metadata and takes nothing away from what is declared."""
    known = PLATFORM.declared(sku_plan("ACS-MSN4700", "dynamic"))
    fitted = PLATFORM.fit(sku_plan("ACS-MSN4700", "dynamic"), known)
    facts = PLATFORM.saved_facts(PLATFORM.render(fitted, known).text, known)
    assert facts.extra["buffer_model"] == "dynamic"
    assert facts.extra["lossy_queue_profile"] == "q_lossy_profile"
    assert facts.ports["Ethernet0"].speed_mbps == 200_000
    assert PLATFORM.saved_facts("nonsense", known) == known


def test_no_secret_leaves_the_switch(rig: Rig) -> None:
    commands = (*PLATFORM.commands("facts", None), *PLATFORM.commands("state", rig.facts))
    replies = rig.session().collect([*commands, *PLATFORM.commands("counters", rig.facts)])
    assert all(reply.error is None for reply in replies.values()), replies
    assert "planted" not in "".join(reply.text for reply in replies.values())


def test_a_refused_command_carries_the_switchs_own_words(rig: Rig) -> None:
    reply = rig.session().collect(["show nonsense", "show pfc counters"])
    assert 'No such command "nonsense"' in (reply["show nonsense"].error or "")
    assert reply["show pfc counters"].error is None


FAULTS = [
    (Fault("wrong_map", None), "Ethernet0", ("dscp_to_priority",)),
    (Fault("wrong_trust", "Ethernet8"), "Ethernet8", ("trust",)),
    (Fault("pfc_missing", "Ethernet8"), "Ethernet8", ("priorities", 3, "pfc")),
    (Fault("headroom_missing", "Ethernet0"), "Ethernet0", ("priorities", 3, "headroom_bytes")),
    (Fault("mtu", "Ethernet0", "1500"), "Ethernet0", ("mtu_bytes",)),
    (Fault("watchdog_off", "Ethernet0"), "Ethernet0", ("priorities", 3, "watchdog")),
    (Fault("wred_flag_missing"), "Ethernet0", ("priorities", 3, "ecn")),
    (Fault("big_red_switch"), "", ("big_red_switch",)),
]


@pytest.mark.parametrize(("fault", "port", "path"), FAULTS, ids=[fault.name for fault, _, _ in FAULTS])
def test_a_fault_is_seen_and_its_remedy_heals_it(fault: Fault, port: str, path: Any, rig: Rig) -> None:
    rig.push(rig.changes())
    good = rig.running()
    assert rig.emulator.inject(fault)
    state = rig.state()
    plan = rig.fitted().managed[0].setting.qos
    want: object = "off"
    if port:
        seen = dict(leaves(state.ports[port])).get(path)
        want = dict(leaves(plan))[path]
        assert seen != want
        assert (port, *path) in state.evidence
    else:
        assert state.settings["big_red_switch"] == "on"
    facts = PLATFORM.facts(rig.session().collect(PLATFORM.commands("facts", None)))
    commands = PLATFORM.remedy((port, *path), want, facts)
    assert commands
    for command in commands:
        done = rig.run(command)
        assert done.status == 0, (command, done)
    assert rig.running() == good
    assert rig.state().settings["big_red_switch"] == "off"
    assert rig.session().ready() == ()


@pytest.mark.parametrize("fault", [fault for fault, _, _ in FAULTS[:-1]], ids=lambda fault: fault.name)
def test_an_apply_heals_a_fault_too(fault: Fault, rig: Rig) -> None:
    rig.push(rig.changes())
    rig.emulator.inject(fault)
    assert rig.changes()
    rig.push(rig.changes())
    assert_state_equals(rig, rig.plan)
    assert rig.emulator.state.groups["Ethernet0:3"] == "pg_lossless_400000_5m_profile"


def test_faults_that_do_not_exist_are_refused(rig: Rig) -> None:
    with pytest.raises(ValueError, match="no fault"):
        rig.emulator.inject(Fault("gremlins"))
    with pytest.raises(ValueError, match="no port"):
        rig.emulator.inject(Fault("mtu", "Ethernet4096"))


def test_a_storm_from_a_neighbour_shows(rig: Rig) -> None:
    class Neighbour:
        def __init__(self) -> None:
            self.device = self

        def faults(self) -> tuple[Fault, ...]:
            return (Fault("storm", "rail4"),)

        def counters(self, port: str) -> dict[str, int]:
            return {"pfc_tx.3": 7}

    rig.push(rig.changes())
    rig.cables.others["gpu01"] = Neighbour()
    rig.emulator.tick()
    first = rig.state().samples[0].counters["Ethernet0"]["pfc_rx.3"]
    rig.time += 1
    state = rig.state()
    assert state.samples[0].counters["Ethernet0"]["pfc_rx.3"] > first + 10_000
    assert state.settings["stormed"] == "Ethernet0:3"
    assert state.samples[0].counters["Ethernet0"]["watchdog_storms.3"] == 1
    assert state.samples[0].counters["Ethernet8"]["pfc_rx.3"] == 7
    rig.cables.others.clear()
    rig.time += 1
    assert rig.state().settings["stormed"] == ""


def test_traps_of_the_platform_are_emulated(rig: Rig) -> None:
    """A naive load meets what the real daemons do; the product's own order does not."""
    load = {
        "BUFFER_PG": {"Ethernet0|3": {"profile": "pg_lossless_400000_40m_profile"}, "Ethernet0|3-4": None},
        "SCHEDULER": {"mine": {"type": "STRICT", "priority": "1"}},
    }
    file = rig.folder / "home" / "naive.json"
    file.write_text(json.dumps(load))
    assert rig.run(f"config load -y {file}").stderr == "Root privileges are required for this operation\n"
    assert rig.run(f"sudo config load -y {file}").status == 0
    assert rig.emulator.state.groups["Ethernet0:3"] is None  # lossless without headroom, and no error
    assert any("Unknown field" in line for line in rig.emulator.state.log)
    missing = rig.run("sudo config load -y /nowhere/x.json")
    assert (missing.status, missing.stdout) == (0, "The config_db file /nowhere/x.json doesn't exist\n")

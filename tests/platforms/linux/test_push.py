"""The transaction on an emulated server: the real script in a real shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocetune.deploy.compare import missing
from rocetune.lab.device import Fault
from rocetune.model.change import Config, Impact, Phase
from rocetune.model.qos import leaf
from rocetune.model.transaction import Token
from rocetune.platforms.base import DeviceError
from rocetune.platforms.linux import PLATFORM
from tests.platforms.linux.rig import Server


def differing(one: Config, other: Config) -> dict[tuple[str, ...], tuple[str | None, str | None]]:
    return {key: (one.get(key), other.get(key)) for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


def test_first_push_reads_back_and_second_finds_nothing(server: Server) -> None:
    changes = server.changes()
    assert max(change.impact for change in changes) == Impact.LINK_BOUNCE
    server.push_all()
    assert not missing(server.running(), changes)
    assert server.changes() == ()


def test_ports_that_are_not_managed_stay_as_they_were(server: Server) -> None:
    before = {key: value for key, value in server.running().items() if key[:2] == ("port", "ens20f0np0")}
    server.push_all()
    after = {key: value for key, value in server.running().items() if key[:2] == ("port", "ens20f0np0")}
    assert before and before == after


def test_state_after_the_push_equals_the_plan(server: Server) -> None:
    server.push_all()
    state = PLATFORM.read("gpu01", server.session.collect(PLATFORM.commands("state", server.facts)), server.facts)
    wanted = server.fitted.ports[0].setting.qos
    seen = state.ports["ens11np0"]
    paths: list[tuple[str | int, ...]] = [("trust",), ("mtu_bytes",), ("cable_m",), ("link_pause",)]
    paths += [("host", name) for name in ("roce_tos", "traffic_class", "cnp_dscp", "np_priorities", "active_mtu_bytes")]
    paths += [("priorities", p, name) for p in (0, 3) for name in ("scheduling", "bandwidth_percent")]
    paths += [("priorities", p, "pfc") for p in (0, 3, 6)]
    for path in paths:
        if (value := leaf(wanted, path)) is not None:
            assert leaf(seen, path) == value, path
            assert ("ens11np0", *path) in state.evidence, path
    assert seen.dscp_to_priority is not None
    assert (seen.dscp_to_priority[26], seen.dscp_to_priority[48], seen.dscp_to_priority[27]) == (3, 6, 0)
    assert state.settings["persistence"] == "installed"
    assert state.settings["lldpad"] == "absent"
    assert state.settings["nccl_ib_tc"] == "106"
    assert state.problems == ()


def test_revert_restores_every_setting_and_may_be_repeated(server: Server) -> None:
    before = server.running()
    token = server.push("r1", Phase.SERVER, confirm=False)
    assert differing(before, server.running())
    server.session.revert(token)
    server.session.revert(token)
    assert differing(before, server.running()) == {}
    assert server.session.pending(token).kind == "idle"
    with pytest.raises(DeviceError, match="already run"):
        server.session.confirm(token)


def test_the_timer_reverts_when_nobody_confirms(server: Server) -> None:
    before = server.running()
    token = server.push("r1", Phase.SERVER, confirm=False)
    pending = server.session.pending(token)
    assert (pending.kind, pending.seconds) == ("reverting", 60)
    server.now += 61
    assert server.session.pending(token).kind == "idle"
    assert differing(before, server.running()) == {}
    assert not server.file("/etc/rocetune/settings").exists()


def test_a_reboot_before_the_confirm_undoes(server: Server) -> None:
    before = server.running()
    token = server.push("r1", Phase.SERVER, confirm=False)
    server.now += 5
    server.file("/run/rocetune").rename(server.file("/run/gone"))
    server.emulator.reboot()
    assert differing(before, server.running()) == {}
    with pytest.raises(DeviceError, match="rebooted"):
        server.session.confirm(token)


def test_a_confirmed_push_survives_a_reboot(server: Server) -> None:
    server.push_all()
    after = server.running()
    server.now += 100
    server.emulator.reboot()
    assert differing(after, server.running()) == {}


def test_confirm_from_another_process_and_twice(ofed: Server) -> None:
    token = ofed.push("r1", Phase.SERVER, confirm=False)
    other = PLATFORM.session(ofed, None)
    other.confirm(token)
    other.confirm(token)
    assert other.pending(token).kind == "idle"
    with pytest.raises(DeviceError, match="already confirmed"):
        other.revert(token)


def test_a_foreign_timer_is_seen_and_refused(ofed: Server) -> None:
    mine = ofed.push("r1", Phase.SERVER, confirm=False)
    stranger = Token("r2", "gpu01", Phase.SERVER)
    pending = ofed.session.pending(stranger)
    assert (pending.kind, pending.owner) == ("foreign", mine.name)
    assert any(mine.name in line for line in ofed.session.ready())
    ofed.session.stage(stranger, (), ofed.facts)
    with pytest.raises(DeviceError, match="undo timer"):
        ofed.session.commit(stranger, 60)


def test_dropping_what_was_only_staged_changes_nothing(ofed: Server) -> None:
    before = ofed.running()
    first = ofed.push("r1", Phase.SERVER, confirm=False)
    staged = ofed.stage("r2", Phase.SERVER, ())
    held = ofed.running()
    ofed.session.revert(staged)
    assert differing(held, ofed.running()) == {}
    ofed.session.revert(first)
    assert differing(before, ofed.running()) == {}


def test_a_refused_write_fails_with_the_tools_words_and_leaves_the_undo_armed(ofed: Server) -> None:
    before = ofed.running()
    ofed.faults = (Fault("refuse_line", value="--cable_len"),)
    with pytest.raises(DeviceError, match=r"cable_m.*Operation not permitted"):
        ofed.push("r1", Phase.SERVER)
    token = Token("r1", "gpu01", Phase.SERVER)
    assert ofed.session.pending(token).kind == "reverting"
    # After the first failure nothing else is tried: the link did not bounce.
    assert ofed.running()[("port", "ens11np0", "pfc")] == "0,0,0,0,0,0,0,0"
    ofed.faults = ()
    ofed.session.revert(token)
    assert differing(before, ofed.running()) == {}


def test_rollback_to_before_takes_the_boot_units_along(server: Server) -> None:
    before = {key: value for key, value in server.running().items() if key[1] != "ens20f0np0"}
    server.push_all()
    for phase in (Phase.MARKING, Phase.SERVER):
        server.push("back", phase, wanted=before)
    now = {key: value for key, value in server.running().items() if key[1] != "ens20f0np0"}
    assert differing(before, now) == {}
    assert not server.file("/etc/rocetune").exists()
    assert not server.file("/etc/systemd/system/rocetune-qos@.service").exists()


def test_a_pfc_bitmap_that_is_right_is_not_written(ofed: Server) -> None:
    ofed.push_all()
    downs = (ofed.emulator.home / "nic" / "ens11np0").read_text().split("downs=")[1].split()[0]
    ofed.run("ethtool -A ens11np0 rx on tx on")
    ofed.push("r2", Phase.SERVER)
    assert ofed.changes() == ()
    assert (ofed.emulator.home / "nic" / "ens11np0").read_text().split("downs=")[1].split()[0] == downs == "1"


def test_what_boot_would_restore_is_compared_with_what_runs(ofed: Server) -> None:
    ofed.push_all()
    ofed.run("mlnx_qos -i ens11np0 --cable_len 30")
    state = PLATFORM.read("gpu01", ofed.session.collect(PLATFORM.commands("state", ofed.facts)), ofed.facts)
    assert state.settings["persistence"] == "stale"
    assert "cable_m=2" in state.evidence[("", "persistence")].line
    assert ofed.running()[("port", "ens11np0", "persist")] == "stale"
    ofed.push_all("r2")
    assert ofed.changes() == ()


def test_lost_boot_units_are_a_change_of_their_own(ofed: Server) -> None:
    ofed.push_all()
    ofed.file("/etc/udev/rules.d/90-rocetune.rules").unlink()
    assert {change.key[2] for change in ofed.changes()} == {"persist"}
    ofed.push("r2", Phase.SERVER)
    assert ofed.changes() == ()
    assert ofed.file("/etc/udev/rules.d/90-rocetune.rules").exists()


def test_a_driver_that_cannot_enable_roles_says_so(tmp_path: Path) -> None:
    inbox = Server(tmp_path, options={"driver": "inbox"})
    lost = {item.path for item in inbox.fitted.unsupported}
    assert {("host", "np_priorities"), ("host", "rp_priorities"), ("host", "traffic_class")} <= lost


def test_without_rights_ready_says_what_to_do(tmp_path: Path) -> None:
    plain = Server.__new__(Server)
    with pytest.raises(DeviceError, match="password"):
        plain.__init__(tmp_path, options={"login": "unprivileged"})  # type: ignore[misc]
    assert any("NOPASSWD" in line for line in plain.session.ready())


def test_lldpad_stands_in_the_way(ofed: Server) -> None:
    ofed.emulator.inject(Fault("lldpad"))
    assert [line for line in ofed.session.ready() if line.startswith("lldpad is running")]
    state = PLATFORM.read("gpu01", ofed.session.collect(PLATFORM.commands("state", ofed.facts)), ofed.facts)
    assert state.settings["lldpad"] == "running"


def test_scaled_dcqcn_numbers_are_written_and_come_back_at_boot(tmp_path: Path) -> None:
    from tests.platforms.linux.rig import server_plan

    made = Server(tmp_path, plan=server_plan(dcqcn=(("rpg_ai_rate", 80), ("rpg_hai_rate", 800))))
    made.push_all()
    running = made.running()
    assert running[("port", "ens11np0", "dcqcn", "rpg_ai_rate")] == "80"
    assert running[("port", "ens11np0", "persist")] == "boot,rpg_ai_rate,rpg_hai_rate"
    stored = made.file("/etc/rocetune/settings").read_text()
    # What the profile leaves to the firmware is not pinned at boot.
    assert "dcqcn.rpg_hai_rate=800" in stored and "dcqcn.rpg_gd" not in stored
    made.now += 100
    made.emulator.reboot()
    assert differing(running, made.running()) == {}

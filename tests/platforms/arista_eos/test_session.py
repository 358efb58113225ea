"""The transaction through napalm's driver: armed undo, other processes, lost links, foreign sessions, its traps."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocetune.lab.device import Fault
from rocetune.model.change import Phase, Step
from rocetune.model.transaction import Token
from rocetune.platforms.arista_eos import PLATFORM
from rocetune.platforms.arista_eos.session import candidate, same_configuration
from rocetune.platforms.base import DeviceError, LinkLost
from tests.platforms.arista_eos.rig import Rig
from tests.platforms.builders import eos_leaf

TOKEN = Token("r1", "leaf1", Phase.BUFFERS)
STEP = Step("config", "qos map dscp 26 to traffic-class 4", "qos map dscp 26 to traffic-class 3")


@pytest.fixture(params=["4.36.0F", "4.31.2F"])
def rig(tmp_path: Path, request: pytest.FixtureRequest) -> Rig:
    """Both ways in which EOS shows a running commit timer: at the top since 4.32, in the session before that."""
    return Rig(eos_leaf(2), tmp_path, request.param)


def live(rig: Rig) -> bool:
    return rig.running()[("qos map dscp", "26")] == "4"


def commit(rig: Rig, seconds: int = 120) -> None:
    session = rig.session()
    session.stage(TOKEN, [STEP], rig.facts)
    session.commit(TOKEN, seconds)


def test_stage_shows_the_switchs_own_diff_and_changes_nothing(rig: Rig) -> None:
    diff = rig.session().stage(TOKEN, [STEP], rig.facts)
    assert "+qos map dscp 26 to traffic-class 4" in diff
    assert not live(rig)
    assert rig.session().pending(TOKEN).kind == "staged"


def test_staging_what_is_already_there_has_an_empty_diff(rig: Rig) -> None:
    step = Step("config", "qos map dscp 26 to traffic-class 3", "")
    assert rig.session().stage(TOKEN, [step], rig.facts) == ""


def test_commit_arms_the_timer_and_another_process_confirms(rig: Rig) -> None:
    commit(rig, 120)
    assert live(rig)
    rig.time += 20
    rig.boot()
    pending = rig.session().pending(TOKEN)
    assert (pending.kind, round(pending.seconds)) == ("reverting", 100)
    rig.session().confirm(TOKEN)
    assert rig.session().pending(TOKEN).kind == "idle"
    rig.time += 1000
    assert live(rig)
    rig.session().confirm(TOKEN)  # idempotent
    assert rig.session().ready() == ()


def test_unconfirmed_commit_reverts_by_the_switchs_own_timer(rig: Rig) -> None:
    before = rig.running_text()
    commit(rig, 120)
    rig.time += 121
    assert rig.running_text() == before
    assert rig.session().pending(TOKEN).kind == "idle"


def test_reboot_before_the_confirm_is_an_undo(rig: Rig) -> None:
    before = rig.running_text()
    commit(rig)
    rig.emulator.reboot()
    assert rig.running_text() == before
    assert rig.session().pending(TOKEN).kind == "idle"


def test_confirmed_change_survives_a_reboot(rig: Rig) -> None:
    commit(rig)
    rig.session().confirm(TOKEN)
    rig.emulator.reboot()
    assert live(rig)


def test_revert_from_another_process_is_idempotent_and_touches_nothing_else(rig: Rig) -> None:
    before = rig.running_text()
    commit(rig)
    rig.session().revert(TOKEN)
    assert rig.running_text() == before
    driver = rig.driver()
    rig.session(driver).revert(TOKEN)
    sent = [line for _, cmds in driver.device.connection.requests for line in cmds]
    assert "configure replace flash:rollback-0" not in sent  # napalm's rollback() without a timer would send it
    assert rig.session().pending(TOKEN).kind == "idle"


def test_revert_drops_a_staged_candidate(rig: Rig) -> None:
    rig.session().stage(TOKEN, [STEP], rig.facts)
    rig.session().revert(TOKEN)
    assert rig.session().pending(TOKEN).kind == "idle"
    assert not live(rig)


def test_closing_the_driver_after_the_commit_does_not_roll_back(rig: Rig) -> None:
    """napalm's close() aborts the session its driver holds, and on a timed commit that is an immediate rollback."""
    driver = rig.driver()
    session = rig.session(driver)
    session.stage(TOKEN, [STEP], rig.facts)
    session.commit(TOKEN, 120)
    driver.close()
    assert live(rig)
    assert rig.session().pending(TOKEN).kind == "reverting"


def test_the_hazard_is_real_in_napalm_itself(rig: Rig) -> None:
    driver = rig.driver()
    driver.load_merge_candidate(config=STEP.do)
    driver.commit_config(revert_in=120)
    assert live(rig)
    driver.close()
    assert not live(rig)


def test_answer_lost_at_the_commit_leaves_the_undo_armed(rig: Rig) -> None:
    driver = rig.driver()
    session = rig.session(driver)
    session.stage(TOKEN, [STEP], rig.facts)
    driver.device.connection.cut_after = "commit timer"
    with pytest.raises(LinkLost):
        session.commit(TOKEN, 120)
    assert rig.session().pending(TOKEN).kind == "reverting"


def test_connection_cut_before_the_commit_leaves_it_staged(rig: Rig) -> None:
    driver = rig.driver()
    session = rig.session(driver)
    session.stage(TOKEN, [STEP], rig.facts)
    driver.device.connection.cut_before = "commit timer"
    with pytest.raises(LinkLost):
        session.commit(TOKEN, 120)
    assert rig.session().pending(TOKEN).kind == "staged"
    assert not live(rig)


def test_answer_lost_at_the_confirm_is_repeated(rig: Rig) -> None:
    commit(rig)
    driver = rig.driver()
    driver.device.connection.cut_after = "commit"
    with pytest.raises(LinkLost):
        rig.session(driver).confirm(TOKEN)
    rig.session().confirm(TOKEN)
    rig.emulator.reboot()
    assert live(rig)


def test_refused_line_names_the_line_and_leaves_nothing(rig: Rig) -> None:
    bad = Step("config", "qos map dscp 26 to traffic-class 9", "")
    with pytest.raises(DeviceError) as caught:
        rig.session().stage(TOKEN, [STEP, bad], rig.facts)
    assert caught.value.command == "qos map dscp 26 to traffic-class 9"
    assert caught.value.text.startswith("Invalid input")
    assert rig.session().pending(TOKEN).kind == "idle"


def test_line_the_hardware_lacks_is_told_in_eos_words(rig: Rig) -> None:
    bad = Step("config", "priority-flow-control pause watchdog action no-drop", "")
    with pytest.raises(DeviceError, match="not supported on this hardware platform"):
        rig.session().stage(TOKEN, [bad], rig.facts)


def test_foreign_session_blocks_and_is_named(rig: Rig) -> None:
    rig.emulator.inject(Fault("foreign_session", value="cvp-1"))
    blockers = rig.session().ready()
    assert any("cvpadmin" in text and "cvp-1" in text for text in blockers)
    with pytest.raises(DeviceError, match="cvp-1"):
        rig.session().stage(TOKEN, [STEP], rig.facts)
    pending = rig.session().pending(TOKEN)
    assert (pending.kind, pending.owner) == ("foreign", "cvp-1")
    rig.emulator.clear(Fault("foreign_session", value="cvp-1"))
    assert rig.session().ready() == ()


def test_foreign_timer_is_neither_confirmed_nor_reverted(rig: Rig) -> None:
    commit(rig)
    other = Token("r2", "leaf1", Phase.PFC)
    assert rig.session().pending(other).owner == TOKEN.name
    with pytest.raises(DeviceError, match=TOKEN.name):
        rig.session().confirm(other)
    rig.session().revert(other)
    assert rig.session().pending(TOKEN).kind == "reverting"
    assert any(TOKEN.name in text for text in rig.session().ready())


def test_own_leftover_candidate_is_started_afresh(rig: Rig) -> None:
    rig.session().stage(TOKEN, [Step("config", "hostname wrong", "")], rig.facts)
    diff = rig.session().stage(TOKEN, [STEP], rig.facts)
    assert "hostname" not in [line[1:9] for line in diff.splitlines() if line[:1] in "+-"]


def test_unsaved_lines_of_somebody_are_a_note_and_no_blocker(rig: Rig) -> None:
    assert rig.session().ready() == ()
    rig.driver()._run_commands(["configure", "ntp server 192.0.2.9"])
    (told,) = rig.session().ready()
    assert told.startswith("note: ")
    assert "unsaved" in told


@pytest.mark.parametrize("seconds", [0, -1, 86_400])
def test_timer_that_would_wrap_is_refused(rig: Rig, seconds: int) -> None:
    session = rig.session()
    session.stage(TOKEN, [STEP], rig.facts)
    with pytest.raises(DeviceError, match="outside"):
        session.commit(TOKEN, seconds)
    assert rig.session().pending(TOKEN).kind == "staged"


def test_collect_asks_once_per_format_and_a_refused_command_carries_its_error(rig: Rig) -> None:
    driver = rig.driver()
    driver.device.connection.requests.clear()
    wanted = ("show version | json", "show nonsense", "show running-config", "show priority-flow-control")
    transcript = rig.session(driver).collect(wanted)
    assert tuple(transcript) == wanted
    assert transcript["show nonsense"].error is not None
    assert "Invalid input" in transcript["show nonsense"].error
    assert transcript["show running-config"].text.startswith("! Command: show running-config")
    assert len(driver.device.connection.requests) == 3  # text, text without the refused one, json


def test_state_needs_two_requests(rig: Rig) -> None:
    driver = rig.driver()
    driver.device.connection.requests.clear()
    transcript = rig.session(driver).collect(PLATFORM.commands("state", rig.facts))
    assert [reply.error for reply in transcript.values() if reply.error] == []
    assert len(driver.device.connection.requests) == 2


def test_candidate_has_no_empty_line() -> None:
    steps = (Step("config", "qos profile X\n\n   qos trust dscp\nexit", ""), Step("config", "", ""))
    assert candidate(steps) == ("qos profile X", "qos trust dscp", "exit")


def test_headers_and_comments_do_not_make_configurations_differ() -> None:
    assert same_configuration("! Command: a\nhostname x\n!\n", "! Startup-config last modified\n\nhostname x\n")
    assert not same_configuration("hostname x\n", "hostname y\n")

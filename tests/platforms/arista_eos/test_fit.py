"""What EOS makes of a plan: ceilings, rounding, what it cannot say, what is believed only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rocetune.model.facts import Facts
from rocetune.model.plan import DevicePlan
from rocetune.model.qos import PortQos, Watchdog
from rocetune.platforms.arista_eos import PLATFORM, fit, mmu, names
from tests.platforms.builders import AI_TRAINING, eos_leaf, rail_qos, setting


def fitted(qos: PortQos | None = None, facts: Facts | None = None, **fields: Any) -> DevicePlan:
    plan = eos_leaf(1, setting(qos=qos) if qos else None, **fields)
    return PLATFORM.fit(plan, facts or PLATFORM.declared(plan))


def qos_of(plan: DevicePlan) -> PortQos:
    return plan.ports[0].setting.qos


def test_mtu_ceiling_is_applied_and_explained() -> None:
    plan = fitted()
    assert qos_of(plan).mtu_bytes == 9214
    assert "9216 to 9214" in plan.ports[0].setting.why[("mtu_bytes",)].rounding


def test_mtu_below_the_ceiling_stays() -> None:
    assert qos_of(fitted(replace(rail_qos(), mtu_bytes=9000))).mtu_bytes == 9000


def test_settings_stay_interned() -> None:
    plan = eos_leaf(4)
    made = PLATFORM.fit(plan, PLATFORM.declared(plan))
    assert len({id(item.setting) for item in made.ports}) == 1


def test_fit_twice_is_fit_once() -> None:
    plan = eos_leaf(2)
    facts = PLATFORM.declared(plan)
    once = PLATFORM.fit(plan, facts)
    assert qos_of(PLATFORM.fit(once, facts)) == qos_of(once)


def test_unmarked_traffic_is_in_class_1_so_the_default_class_is_queue_1() -> None:
    default = qos_of(fitted()).priority(0)
    assert default is not None and (default.traffic_class, default.queue) == (1, 1)
    assert [names.priority(names.traffic_class(p)) for p in range(8)] == list(range(8))


@pytest.mark.parametrize(
    ("detect", "restore", "poll"),
    [(200, 400, 100), (400, 200, 100), (15, 400, 10), (5, 400, 5), (200, 70_000, 100)],
)
def test_polling_is_at_most_half_of_the_shorter_timer(detect: int, restore: int, poll: int) -> None:
    plan = fitted(replace(rail_qos(), watchdog=Watchdog(detect, restore, None, "drop")))
    timers = qos_of(plan).watchdog
    assert timers is not None and timers.poll_ms is not None
    assert timers.detect_ms is not None and timers.restore_ms is not None
    assert 10 <= timers.detect_ms <= 60_000 and timers.detect_ms % 10 == 0
    assert timers.restore_ms <= 60_000
    assert timers.poll_ms == poll
    assert timers.poll_ms <= max(5, min(timers.detect_ms, timers.restore_ms) // 2)
    assert plan.qos.watchdog_poll_ms == timers.poll_ms


@pytest.mark.parametrize(
    ("action", "line"),
    [("drop", "port action drop"), ("notify", "port action notify-only"), ("forward", "port action notify-only")],
)
def test_watchdog_actions(action: Any, line: str) -> None:
    plan = fitted(replace(rail_qos(), watchdog=Watchdog(200, 400, None, action)))
    text = PLATFORM.render(plan, PLATFORM.declared(plan)).text
    assert line in text
    assert ("watchdog action drop" in text) is (action == "drop")
    assert "no-drop" not in text.replace("priority 3 no-drop", "")
    assert bool([u for u in plan.unsupported if u.path == ("watchdog", "action")]) is (action != "drop")


def test_shutdown_is_eos_own_action_and_needs_no_line() -> None:
    plan = fitted(replace(rail_qos(), watchdog=Watchdog(200, 400, None, "shutdown")))
    text = PLATFORM.render(plan, PLATFORM.declared(plan)).text
    assert "action" not in text and "pause watchdog port timer" in text


def test_static_thresholds_cannot_be_said() -> None:
    plan = fitted(rail_qos(xoff_bytes=100_000, xon_bytes=50_000))
    assert {u.path[-1] for u in plan.unsupported} == {"xoff_bytes", "xon_bytes"}
    roce = qos_of(plan).priority(3)
    assert roce is not None and roce.xoff_bytes is None and roce.xon_bytes is None


def test_headroom_is_the_largest_of_the_switch() -> None:
    small, large = setting("backend-400g-2m"), setting("backend-400g-30m", rail_qos(headroom_bytes=150_000))
    plan = eos_leaf(2, small)
    plan = replace(plan, ports=(plan.ports[0], replace(plan.ports[1], setting=large)))
    made = PLATFORM.fit(plan, PLATFORM.declared(plan))
    assert {item.setting.qos.lossless()[0].headroom_bytes for item in made.ports} == {150_000}
    assert "96000 to 150000" in made.ports[0].setting.why[("priorities", 3, "headroom_bytes")].rounding
    assert any("150000 bytes of headroom" in a.text for a in made.assumptions)


@pytest.mark.parametrize(
    ("declared", "mode", "word"),
    [
        ({"asic": "Jericho 2"}, "extend", "automatic"),
        ({"asic": ""}, "extend", "not known"),
        ({"asic": "Tomahawk 3"}, "refuse", "globals: refuse"),
    ],
)
def test_no_buffer_profile_where_it_cannot_be(declared: dict[str, str], mode: Any, word: str) -> None:
    plan = eos_leaf(1, globals_mode=mode)
    plan = replace(plan, device=replace(plan.device, declared=declared))
    facts = PLATFORM.declared(plan)
    made = PLATFORM.fit(plan, facts)
    assert any(word in u.text for u in made.unsupported if u.path[-1] == "headroom_bytes")
    assert "platform trident" not in PLATFORM.render(made, facts).text


def test_different_thresholds_cannot_share_one_profile() -> None:
    plan = eos_leaf(2)
    other = setting("other", rail_qos(alpha=0.125))
    plan = replace(plan, ports=(plan.ports[0], replace(plan.ports[1], setting=other)))
    made = PLATFORM.fit(plan, PLATFORM.declared(plan))
    assert any("different thresholds" in u.text for u in made.unsupported)


@pytest.mark.parametrize(
    ("alpha", "word"),
    [(1.0, "1"), (0.25, "1/4"), (0.02, "1/64"), (0.001, "1/64"), (9.0, "8"), (0.3, "1/4"), (0.99, "1/2"), (3.9, "2")],
)
def test_alpha_words_are_rounded_down(alpha: float, word: str) -> None:
    assert mmu.word_of(alpha) == word
    back = mmu.alpha_of(word)
    assert back is not None and (back <= alpha or word == "1/64")


@pytest.mark.parametrize(
    ("model", "floor"),
    [
        ("DCS-7050CX3-32S", {}),
        ("DCS-7060CX2-32S", {}),
        ("DCS-7060DX4-32", {3: 100}),
        ("DCS-7280CR3-32P4", {3: 100}),
        (None, {3: 100}),
    ],
)
def test_bandwidth_floor_by_series(model: str | None, floor: dict[int, int]) -> None:
    assert fit.guaranteed_kbps(setting(), Facts("arista_eos", model=model), {}) == floor


def test_profile_and_inventory_decide_on_the_bandwidth_floor() -> None:
    facts = Facts("arista_eos", model="DCS-7060DX4-32")
    watchdog = {"detect": "200ms", "restore": "400ms", "guaranteed_kbps": 500}
    roce = {**AI_TRAINING["classes"]["roce"], "pfc": {"watchdog": watchdog}}
    made = setting(intent={**AI_TRAINING, "classes": {**AI_TRAINING["classes"], "roce": roce}})
    assert fit.guaranteed_kbps(made, facts, {}) == {3: 500}
    assert fit.guaranteed_kbps(setting(), facts, {"watchdog_floor": "off"}) == {}


def test_queue_mode_is_a_guess_until_the_device_was_asked() -> None:
    plan = eos_leaf(1)
    guess = PLATFORM.fit(plan, PLATFORM.declared(plan))
    assert any("uc-tx-queue" in a.text for a in guess.assumptions)
    known = Facts("arista_eos", "device", asic="Tomahawk 3", extra={"queue_mode": "tx-queue"})
    made = PLATFORM.fit(plan, known)
    assert not any("queues are called" in a.text for a in made.assumptions)
    text = PLATFORM.render(made, known).text
    assert "\n   tx-queue 3" in text and "uc-tx-queue" not in text


def test_class_7_is_left_untouched() -> None:
    qos = rail_qos()
    mine = replace(qos.priorities[-1], owned=True)
    plan = fitted(replace(qos, priorities=(*qos.priorities[:-1], mine)), dscps=((26, 3), (48, 6), (56, 7)))
    assert any("traffic class 7" in u.text for u in plan.unsupported)
    assert "queue 7" not in PLATFORM.render(plan, PLATFORM.declared(plan)).text
    assert "traffic-class 7" not in PLATFORM.render(plan, PLATFORM.declared(plan)).text


def test_other_dscps_in_the_lossless_class_are_told() -> None:
    assert any("24 25 27 28 29 30 31" in a.text for a in fitted().assumptions)
    assert not any("24 25 27" in a.text for a in fitted(globals_mode="exclusive").assumptions)


def test_observed_ports_are_not_rendered() -> None:
    plan = eos_leaf(2)
    seen = replace(plan.ports[1], port=replace(plan.ports[1].port, manage="observe"))
    plan = replace(plan, ports=(plan.ports[0], seen))
    made = PLATFORM.fit(plan, PLATFORM.declared(plan))
    assert "Ethernet2/1" not in PLATFORM.render(made, PLATFORM.declared(plan)).text


def test_abbreviated_ports_get_their_full_name() -> None:
    assert [names.interface(n) for n in ("Et1/1", "ethernet 1/1", "Ma1", "Po3", "Vl10", "Lo0", "x y")] == [
        "Ethernet1/1", "Ethernet1/1", "Management1", "Port-Channel3", "Vlan10", "Loopback0", "x y",
    ]  # fmt: skip

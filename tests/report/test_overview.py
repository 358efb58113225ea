"""One row per setting: maps, lists, objects and the lines that bind them."""

from rocetune.model.change import Change, Impact, Key, Phase
from rocetune.model.fabric import Device, Port
from rocetune.model.plan import DevicePlan, PortPlan, Setting
from rocetune.model.profile import Profile
from rocetune.model.qos import PortQos, PriorityQos
from rocetune.report.changes import settings_in
from rocetune.report.overview import Row, rows

PROFILE = Profile.model_validate(
    {"name": "x", "classes": {"roce": {"dscp": [26], "priority": 3, "lossless": True, "bandwidth": "100%"}}}
)
QOS = PortQos(priorities=(PriorityQos(3, name="roce", kmin_bytes=400_000, kmax_bytes=1_600_000, pfc=True),))
SETTING = Setting("a", "backend", PROFILE, QOS, {})
PORTS = ("Ethernet0", "Ethernet8", "Ethernet16")
PLAN = DevicePlan(
    Device("leaf1", "switch", "sonic"),
    tuple(PortPlan(Port("leaf1", name, speed_mbps=400_000), name, SETTING) for name in PORTS),
)


def _change(key: Key, old: str | None, new: str | None, *path: str | int, impact: Impact = Impact.MARKING) -> Change:
    op = "add" if old is None else "remove" if new is None else "change"
    origin = (PORTS[0], *path) if path else ()
    return Change(key, op, old, new, Phase.SCHEDULER, impact, origin=origin)  # type: ignore[arg-type]


def _only(*changes: Change) -> Row:
    (row,) = rows(changes, PLAN)
    return row


def _dscp(port: str, old: str = "-") -> list[Change]:
    wanted = {26: "3", 48: "6", 56: "7"}
    return [_change(("port", port, "dscp2prio", str(n)), old, wanted.get(n, "0")) for n in range(64)]


def test_a_map_of_64_code_points_is_one_row_on_all_its_ports() -> None:
    row = _only(*(change for port in PORTS for change in _dscp(port)))
    assert row.value == "26→3 48→6 56→7, others →0 (was: not listed)"
    assert row.ports == PORTS


def test_others_of_a_map_that_is_not_whole_are_counted() -> None:
    assert _only(*_dscp("Ethernet0")[:50]).value == "26→3 48→6, 48 others →0 (was: not listed)"


def test_entries_that_had_different_values_show_both_sides() -> None:
    one = _change(("port", "Ethernet0", "dscp2prio", "26"), "0", "3")
    two = _change(("port", "Ethernet0", "dscp2prio", "24"), "3", "0")
    assert _only(one, two).value == "26: 0 → 3, 24: 3 → 0"


def test_a_map_to_itself_is_said_in_words() -> None:
    changes = [_change(("TC_TO_QUEUE_MAP", "ROCETUNE", str(n)), None, str(n)) for n in range(8)]
    row = _only(*changes)
    assert (row.subject, row.value) == ("TC to queue map", "0-7 each to itself (was: not listed)")


def test_lists_of_one_value_per_priority_say_what_differs() -> None:
    def value(old: str, new: str) -> str:
        return _only(_change(("port", "Ethernet0", "x"), old, new)).value

    assert value("0,0,0,0,0,0,0,0", "0,0,0,1,0,0,0,0") == "none → 3"
    assert value("0,0,0,0,0,0,0,0", "50,0,0,50,0,0,0,0") == "0: 0 → 50, 3: 0 → 50"
    assert value(",".join(["vendor"] * 8), "ets,ets,ets,ets,ets,ets,strict,ets") == "all vendor → 6 strict, others ets"


def test_the_thresholds_of_a_curve_and_the_ports_it_is_bound_to_are_one_row() -> None:
    name = "ROCETUNE-backend-roce"
    curve = [
        _change(("WRED_PROFILE", name, f"{colour}_{end}_threshold"), None, size, "priorities", 3, leaf)
        for colour in ("green", "yellow", "red")
        for end, size, leaf in (("min", "400000", "kmin_bytes"), ("max", "1600000", "kmax_bytes"))
    ]
    bound = [
        _change(("QUEUE", port, "3", "wred_profile"), "AZURE", name, "priorities", 3, "ecn", impact=Impact.BRIEF_LOSS)
        for port in PORTS
    ]
    row = _only(*curve, *bound)
    # 400 KB at 400 Gbit/s is 8 us, 1.6 MB is 32 us
    assert (row.subject, row.value) == ("roce ECN", "kmin 400 KB, 8 us; kmax 1.6 MB, 32 us (was AZURE)")
    assert row.ports == PORTS and row.impact == Impact.BRIEF_LOSS


def test_a_binding_to_an_object_that_does_not_change_is_a_row() -> None:
    row = _only(_change(("QUEUE", "Ethernet0", "3", "wred_profile"), "AZURE", "ROCETUNE-x", "priorities", 3, "ecn"))
    assert (row.subject, row.value, row.ports) == ("roce ECN", "AZURE → ROCETUNE-x", ("Ethernet0",))


def test_priorities_without_a_class_share_a_row() -> None:
    changes = [
        _change(("QUEUE", "Ethernet0", str(n), "scheduler"), "scheduler.0", None, "priorities", n, "scheduling")
        for n in (1, 2, 5)
    ]
    row = _only(*changes)
    assert (row.subject, row.op, row.value) == ("priorities 1-2,5 scheduling", "remove", "was scheduler.0")


def test_the_entries_of_a_map_are_one_setting() -> None:
    keys = [("DSCP_TO_TC_MAP", "ROCETUNE", str(n)) for n in range(64)]
    assert settings_in([*keys, ("PORT", "Ethernet0", "mtu")]) == 2

"""From one CONFIG_DB to another: order, ranges, and that the inverse really leads back."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rocetune.platforms.sonic.database import Database, copy, load, overlaps, spans
from rocetune.platforms.sonic.parse import of
from rocetune.platforms.sonic.script import UnsafeName, script
from rocetune.platforms.sonic.transition import Act, merged, transition, without


def run(database: Database, acts: tuple[Act, ...]) -> Database:
    """What the switch would hold: a literal reading of load, null, HDEL and pfcwd stop."""
    result = copy(database)
    for act in acts:
        for table, entries in act.load.items():
            for key, fields in entries.items():
                if fields is None:
                    result.get(table, {}).pop(key, None)
                else:
                    result.setdefault(table, {}).setdefault(key, {}).update(fields)
        if act.kind == "unset":
            table, _, key = act.names[0].partition("|")
            held = result.get(table, {}).get(key, {})
            for name in act.names[1:]:
                held.pop(name, None)
            if not held:
                result.get(table, {}).pop(key, None)
        if act.kind == "stop":
            for port in act.names:
                result.get("PFC_WD", {}).pop(port, None)
    return {table: entries for table, entries in result.items() if entries}


PROFILES = st.sampled_from(["lossless_a", "lossless_b", "ingress_lossy_profile"])
GROUPS = st.dictionaries(st.integers(0, 7), PROFILES, max_size=5)
DATABASES = st.builds(
    lambda groups, queues, maps, dogs, wred: {
        table: entries
        for table, entries in {
            "BUFFER_PG": {f"Ethernet0|{n}": {"profile": name} for n, name in groups.items()},
            "QUEUE": {f"Ethernet0|{n}": {"scheduler": name} for n, name in queues.items()},
            "PORT_QOS_MAP": {port: {"tc_to_pg_map": name, "pfc_enable": "3"} for port, name in maps.items()},
            "PFC_WD": {port: {"detection_time": value} for port, value in dogs.items()},
            "WRED_PROFILE": {name: {"green_min_threshold": value, "ecn": "ecn_all"} for name, value in wred.items()},
        }.items()
        if entries
    },
    GROUPS,
    GROUPS,
    st.dictionaries(st.sampled_from(["Ethernet0", "Ethernet8"]), st.sampled_from(["A", "B"]), max_size=2),
    st.dictionaries(st.sampled_from(["Ethernet0", "Ethernet8"]), st.sampled_from(["200", "400"]), max_size=2),
    st.dictionaries(st.sampled_from(["X", "Y"]), st.sampled_from(["1", "2"]), max_size=2),
)


@settings(max_examples=150, deadline=None)
@given(DATABASES, DATABASES)
def test_a_transition_arrives_and_its_inverse_returns(before: Database, after: Database) -> None:
    assert of(run(before, transition(before, after))) == of(after)
    assert of(run(run(before, transition(before, after)), transition(after, before))) == of(before)


@settings(max_examples=150, deadline=None)
@given(DATABASES, DATABASES, st.integers(0, 12))
def test_the_inverse_returns_from_any_point_in_between(before: Database, after: Database, done: int) -> None:
    """A change that stopped half-way is undone by the whole inverse, and twice is as good as once."""
    half = run(before, transition(before, after)[:done])
    back = run(half, transition(after, before))
    assert of(back) == of(before)
    assert run(back, transition(after, before)) == back


def test_a_range_falls_apart_only_where_something_changes() -> None:
    held: Database = {"BUFFER_QUEUE": {"Ethernet0|0-2": {"profile": "lossy"}, "Ethernet0|3-4": {"profile": "lossless"}}}
    wanted = {"BUFFER_QUEUE": {f"Ethernet0|{n}": {"profile": "lossy"} for n in (0, 1, 2, 4)}}
    result = merged(held, wanted)
    assert set(result["BUFFER_QUEUE"]) == {"Ethernet0|0-2", "Ethernet0|3", "Ethernet0|4"}
    acts = transition(held, result)
    assert acts[0].load == {"BUFFER_QUEUE": {"Ethernet0|3-4": None}}
    assert acts[1].kind == "gone"
    assert acts[1].names == ("BUFFER_QUEUE_TABLE:Ethernet0:3-4",)
    assert set(acts[2].load["BUFFER_QUEUE"]) == {"Ethernet0|3", "Ethernet0|4"}


def test_what_still_claims_a_deleted_index_is_bound_again() -> None:
    """A single key beside a stale range (BUF-014): the delete of the range would leave it at the null profile."""
    held: Database = {
        "BUFFER_PG": {"Ethernet0|3": {"profile": "a_lossless"}, "Ethernet0|3-4": {"profile": "a_lossless"}}
    }
    assert overlaps(held)
    after = merged(held, {"BUFFER_PG": {"Ethernet0|4": None}})
    assert set(after["BUFFER_PG"]) == {"Ethernet0|3"}
    acts = transition(held, after)
    assert acts[0].load == {"BUFFER_PG": {"Ethernet0|3-4": None}}
    assert acts[2].load == {"BUFFER_PG": {"Ethernet0|3": {"profile": "a_lossless"}}}


def test_pfc_is_turned_off_by_an_empty_list() -> None:
    """Removing the field does nothing before 202111."""
    before: Database = {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3", "tc_to_pg_map": "A", "dot1p_to_tc_map": "B"}}}
    after = without(before, "PORT_QOS_MAP|Ethernet0", ("pfc_enable", "tc_to_pg_map"))
    acts = transition(before, after)
    assert acts[0].load == {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": ""}}}
    assert acts[1].names == ("PORT_QOS_MAP|Ethernet0", "tc_to_pg_map")


def test_bracketed_references_of_old_releases_are_read() -> None:
    old = load('{"QUEUE": {"Ethernet0|3": {"scheduler": "[SCHEDULER|s.1]"}}, "X": {"k": {"l": "[T|a],[T|b]"}}}')
    assert old["QUEUE"]["Ethernet0|3"]["scheduler"] == "s.1"
    assert old["X"]["k"]["l"] == "a,b"


def test_spans() -> None:
    assert spans([4, 3, 6]) == ("3-4", "6")
    assert spans([]) == ()


def test_a_name_cannot_break_out_of_the_script() -> None:
    for name in ("Ethernet0; reboot", "$(id)", "a\nb", "-rf"):
        try:
            script((Act("stop", names=(name,)),), "token", undo=False)
        except UnsafeName:
            continue
        raise AssertionError(name)

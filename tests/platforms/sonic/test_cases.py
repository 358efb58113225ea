"""Rendering, reading and steps, case by case (see ``cases``)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rocetune.deploy.compare import Scope, compare
from rocetune.model.facts import Facts
from rocetune.model.qos import leaf
from rocetune.model.state import Reply
from rocetune.platforms.sonic import PLATFORM
from tests.platforms.sonic.cases import CASES, HERE, fitted_case


def named(kind: str) -> Any:
    return pytest.mark.parametrize("case", [name for name, case in CASES.items() if kind in case])


@named("render")
def test_render(case: str) -> None:
    fitted, facts = fitted_case(case)
    rendered = PLATFORM.render(fitted, facts)
    assert json.loads(rendered.text) == json.loads((HERE / case / "expected.json").read_text())
    assert rendered == PLATFORM.render(fitted, facts)
    desired = PLATFORM.desired(rendered, None, fitted, facts)
    scope = Scope(frozenset(item.native for item in fitted.managed))
    compare({}, desired, PLATFORM.owned, scope)  # raises for a key that nobody owns
    for key in desired:
        PLATFORM.origin(key, fitted)  # every key can be asked for its origin


@named("read")
def test_read(case: str) -> None:
    given = CASES[case]
    transcript = {command: Reply((HERE / case / name).read_text(), at=1.0) for command, name in given["read"].items()}
    facts = PLATFORM.facts(transcript)
    for name, want in given.get("facts", {}).items():
        assert getattr(facts, name, facts.extra.get(name)) == want, name
    state = PLATFORM.read("sw1", transcript, facts)
    for port, leaves in given.get("expect", {}).items():
        for dotted, want in leaves.items():
            path = tuple(int(part) if part.isdigit() else part for part in dotted.split("."))
            if path[0] == "dscp_to_priority":
                points = state.ports[port].dscp_to_priority
                assert points is not None
                assert points[int(path[1])] == want, (port, dotted)
            else:
                assert leaf(state.ports[port], path) == want, (port, dotted)
    for name, want in given.get("settings", {}).items():
        assert state.settings.get(name) == want, name
    for port, counts in given.get("counters", {}).items():
        found = state.samples[0].counters.get(port, {})
        assert {name: found.get(name) for name in counts} == counts, port


@named("read")
def test_what_was_not_asked_is_said(case: str) -> None:
    given = CASES[case]
    transcript = {command: Reply((HERE / case / name).read_text(), at=1.0) for command, name in given["read"].items()}
    facts = PLATFORM.facts(transcript)
    answered = {"show queue counters": Reply(""), "show priority-group drop counters": Reply("")}
    assert PLATFORM.read("sw1", {**transcript, **answered}, facts).settings["unread_counters"] == ""
    refused = {**transcript, **answered, "show queue counters": Reply("", "Error: no such command")}
    assert PLATFORM.read("sw1", refused, facts).settings["unread_counters"] == "queue_drops"
    none = {command: reply for command, reply in transcript.items() if "counters" not in command}
    assert PLATFORM.read("sw1", none, facts).settings["unread_counters"] == "queue_drops pg_drops"


def test_a_storm_is_an_observation_and_no_failed_command() -> None:
    head = ["QUEUE", "STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP"]
    head += ["TX LAST OK/DROP", "RX LAST OK/DROP"]
    row = ["Ethernet0:3", "stormed", "2/1", "0/5", "0/0", "0/5", "0/0"]
    widths = [max(map(len, pair)) for pair in zip(head, row, strict=True)]
    rows = (head, ["-" * width for width in widths], row)
    text = "".join("  ".join(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True)) + "\n" for cells in rows)
    state = PLATFORM.read("sw1", {"show pfcwd stats": Reply(text, at=1.0)}, Facts("sonic"))
    assert state.problems == () and state.settings["stormed"] == "Ethernet0:3"
    assert "stormed" in state.evidence["Ethernet0", "storm", 3].line
    counts = state.samples[0].counters["Ethernet0"]
    assert (counts["watchdog_storms.3"], counts["watchdog_restored.3"]) == (2, 1)
    assert counts["watchdog_storms.4"] == 0  # a queue that is not listed had no event
    silent = PLATFORM.read("sw1", {"show pfc counters": Reply("", at=1.0)}, Facts("sonic"))
    assert "stormed" not in silent.settings and silent.samples == ()


@named("steps")
def test_steps(case: str) -> None:
    facts = Facts("sonic", extra={"buffer_model": "traditional"})
    running = PLATFORM.parse((HERE / case / "running.json").read_text(), facts)
    desired = PLATFORM.parse((HERE / case / "desired.json").read_text(), facts)
    given = CASES[case]["steps"]
    changes = compare(running, desired, PLATFORM.owned, Scope(frozenset(given["managed"]))).changes
    steps = PLATFORM.steps(changes, running, facts)
    assert [shown(step.kind, step.do) for step in steps] == given["do"]
    assert [shown(step.kind, step.undo) if step.undo else None for step in reversed(steps)] == given["undo"]


def shown(kind: str, text: str) -> Any:
    """Loads as data, commands as they stand."""
    return json.loads(text) if text.startswith("{") else text

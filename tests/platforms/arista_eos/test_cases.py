"""Case folders: each holds a ``case.yaml`` with what goes in and what must come out. A new case needs no Python.

``render``: arguments of the builder, against ``expected.cfg``. ``read``: command to file, against leaves by port.
``steps``: ``running.cfg`` and ``desired.cfg``, against the lines to send and the lines that take them back.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from rocetune.deploy.compare import Scope, compare
from rocetune.model.facts import Facts
from rocetune.model.qos import PortQos, leaf
from rocetune.model.state import Reply
from rocetune.platforms.arista_eos import PLATFORM
from rocetune.platforms.arista_eos.parse import stated
from tests.platforms.builders import eos_leaf, rail_qos, setting

HERE = Path(__file__).resolve().parent
CASES = {path.parent.name: yaml.safe_load(path.read_text()) for path in sorted(HERE.glob("*/case.yaml"))}


def named(kind: str) -> Any:
    return pytest.mark.parametrize("case", [name for name, case in CASES.items() if kind in case])


def lossy(qos: PortQos) -> PortQos:
    """The same rail without a lossless class."""
    kept = tuple(
        replace(entry, lossless=False, pfc=False, watchdog=None, headroom_bytes=None, alpha=None)
        for entry in qos.priorities
    )
    return replace(qos, priorities=kept, watchdog=None)


@named("render")
def test_render(case: str) -> None:
    given = dict(CASES[case]["render"])
    qos = rail_qos() if given.pop("lossless", True) else lossy(rail_qos())
    declared = given.pop("declared", None)
    plan = eos_leaf(given.pop("ports"), setting(qos=qos), **given)
    if declared is not None:
        plan = replace(plan, device=replace(plan.device, declared=declared))
    facts = PLATFORM.declared(plan)
    fitted = PLATFORM.fit(plan, facts)
    rendered = PLATFORM.render(fitted, facts)
    assert rendered.text == (HERE / case / "expected.cfg").read_text()
    assert rendered == PLATFORM.render(fitted, facts)
    for key in PLATFORM.desired(rendered, None, fitted, facts):
        PLATFORM.origin(key, fitted)  # every key can be asked for its origin


@named("read")
def test_read(case: str) -> None:
    transcript = {command: Reply((HERE / case / name).read_text()) for command, name in CASES[case]["read"].items()}
    state = PLATFORM.read("sw1", transcript, Facts("arista_eos"))
    for port, leaves in CASES[case]["expect"].items():
        for dotted, want in leaves.items():
            path = tuple(int(part) if part.isdigit() else part for part in dotted.split("."))
            if path[0] == "dscp_to_priority":
                points = state.ports[port].dscp_to_priority
                assert points is not None
                assert points[int(path[1])] == want, (port, dotted)
            else:
                assert leaf(state.ports[port], path) == want, (port, dotted)
    assert not [name for name in state.ports if not name.startswith("Ethernet")]


@named("steps")
def test_steps(case: str) -> None:
    facts = Facts("arista_eos", extra={"queue_mode": "uc-tx-queue"})
    running = PLATFORM.parse((HERE / case / "running.cfg").read_text(), facts)
    desired = stated((HERE / case / "desired.cfg").read_text())
    given = CASES[case]["steps"]
    changes = compare(running, desired, PLATFORM.owned, Scope(frozenset(given["managed"]))).changes
    steps = PLATFORM.steps(changes, running, facts)
    assert [line for step in steps for line in step.do.splitlines()] == given["do"]
    assert [line for step in reversed(steps) for line in step.undo.splitlines()] == given["undo"]

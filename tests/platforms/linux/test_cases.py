"""Case folders: add a folder, no Python.

``render/CASE/``: ``plan.json`` (leaves of one port's PortQos, ``declared``, ``environment``) and ``expected.settings``;
lines of the 64-entry map that say the default priority are left out of the expected file.

``read/CASE/``: ``facts.json`` (leaves of the port's PortFacts, ``tools``), one file per command (the first line is the
command, the rest its output; ``!`` before the command: it failed) and ``expected.json`` with ``leaves``
(path joined by "/" to value), ``settings``, ``counters`` and ``problems``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocetune.model.facts import Facts, PortFacts
from rocetune.model.qos import HostQos, PortQos, PriorityQos, leaf
from rocetune.model.state import Reply
from rocetune.platforms.linux import PLATFORM
from tests.platforms.builders import device_plan, port_plan, setting

HERE = Path(__file__).parent
PORT = "ens11np0"


def cases(kind: str) -> list[Path]:
    return sorted(path for path in (HERE / kind).iterdir() if path.is_dir())


def port_qos(leaves: dict[str, Any]) -> PortQos:
    """JSON to the model: lists become tuples, sets of priorities frozensets."""
    data = dict(leaves)
    priorities = tuple(
        PriorityQos(**{**entry, "dscps": tuple(entry.get("dscps", ()))}) for entry in data.pop("priorities", ())
    )
    host = data.pop("host", None)
    if host is not None:
        for name in ("np_priorities", "rp_priorities"):
            if name in host:
                host[name] = frozenset(host[name])
        if "dcqcn" in host:
            host["dcqcn"] = tuple(sorted(host["dcqcn"].items()))
        host = HostQos(**host)
    return PortQos(**data, priorities=priorities, host=host)


@pytest.mark.parametrize("case", cases("render"), ids=lambda case: case.name)
def test_render(case: Path) -> None:
    given = json.loads((case / "plan.json").read_text())
    ports = (port_plan("gpu01", "rail0", setting(qos=port_qos(given["port"])), select=f"netdev:{PORT}"),)
    plan = device_plan("gpu01", "linux", ports, kind="server", declared=given.get("declared"))
    facts = PLATFORM.declared(plan)
    fitted = PLATFORM.fit(plan, facts)
    text = PLATFORM.render(fitted, facts).text
    lines = [line for line in text.splitlines() if not (".dscp2prio." in line and line.endswith("=0"))]
    assert "\n".join(lines) + "\n" == (case / "expected.settings").read_text()
    assert PLATFORM.render(fitted, facts).text == text
    assert sorted(item.path[-1] for item in fitted.unsupported) == given.get("unsupported", [])


@pytest.mark.parametrize("case", cases("read"), ids=lambda case: case.name)
def test_read(case: Path) -> None:
    given = json.loads((case / "facts.json").read_text())
    port = PortFacts(PORT, driver="mlx5_core", adapter="nvidia_mlx5", **given["port"])
    tools = {f"tool.{name}": "yes" for name in given["tools"]}
    facts = Facts("linux", "device", ports={PORT: port}, extra=tools)
    transcript = {}
    for file in sorted(case.glob("*.txt")):
        command, _, text = file.read_text().partition("\n")
        error = text.strip() if command.startswith("!") else None
        transcript[command.lstrip("!")] = Reply("" if error else text, error, 1000.0)
    state = PLATFORM.read("gpu01", transcript, facts)
    wanted = json.loads((case / "expected.json").read_text())
    for path, value in wanted["leaves"].items():
        parts = tuple(int(part) if part.isdigit() else part for part in path.split("/"))
        seen = leaf(state.ports[PORT], parts) if parts[0] != "dscp_to_priority" else _mapped(state.ports[PORT], parts)
        assert _plain(seen) == value, path
    for name, value in wanted.get("settings", {}).items():
        assert state.settings.get(name) == value, name
    for name, value in wanted.get("counters", {}).items():
        assert state.samples[0].counters[PORT].get(name) == value, name
    assert len(state.problems) == wanted.get("problems", 0)


def _mapped(qos: PortQos, parts: tuple[str | int, ...]) -> object:
    if len(parts) == 1 or qos.dscp_to_priority is None:
        return qos.dscp_to_priority
    return qos.dscp_to_priority[int(parts[1])]


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value

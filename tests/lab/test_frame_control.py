"""The background process, over real sockets, with the server emulator in it."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import pytest

from rocetune.lab import control, overlay
from rocetune.lab.device import Fault
from rocetune.lab.errors import LabError, LabNotRunning
from rocetune.lab.serve import LabServer
from rocetune.model.plan import Plan

from .conftest import plan_of, server_plan
from .test_frame_faults import lost
from .test_frame_sockets import connect, run

pytestmark = pytest.mark.lab


def two() -> Plan:
    """Two servers; the mapping view stands for whatever read-only mapping a planner hands over."""
    plan = plan_of(server_plan("gpu01"), server_plan("gpu02"))
    return replace(plan, devices=MappingProxyType(dict(plan.devices)))


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "lab"
    control.stop(tmp_path / "lab")


def test_life_of_a_lab(root: Path, tmp_path: Path) -> None:
    begun = control.start(root, two(), site=tmp_path, latency_ms=1.0, options={"gpu02": {"driver": "inbox"}})
    assert begun.running and begun.pid and begun.site == str(tmp_path) and begun.latency_ms == 1.0
    assert [item.name for item in begun.devices] == ["gpu01", "gpu02"]
    assert all(item.port and item.transport == "ssh" for item in begun.devices)
    assert {"storm", "unreachable", "reboot"} <= set(begun.known_faults["linux"])
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    for name in ("endpoints.json", "password", "known_hosts", "lab.json"):
        assert stat.S_IMODE((root / name).stat().st_mode) == 0o600
    with pytest.raises(LabError, match="already runs"):
        control.start(root, two())
    with pytest.raises(LabError, match="running"):
        control.reset(root)

    endpoints = overlay.read(root)
    with connect(endpoints["gpu01"]) as client:
        assert run(client, "hostname") == (0, "gpu01\n", "")
        assert run(client, "mlnx_qos -i ens11np0 --trust dscp")[0] == 0
        run(client, "systemd-run --on-active=600 --unit=demo-undo sh -c 'echo fired > /run/fired'")
        assert control.advance_clock(root, 601) == 601
        assert control.set_fault(root, "gpu01", Fault("mtu", "rail0", "1400")).startswith("rail0")
        assert run(client, "cat /run/fired /sys/class/net/ens11np0/mtu")[1] == "fired\n1400\n"
    with connect(endpoints["gpu02"]) as client:
        assert run(client, "mlnx_qos -i ens11np0")[0] == 127

    assert control.stop(root)
    assert not control.stop(root)
    assert not control.status(root).running
    with pytest.raises(LabNotRunning):
        overlay.read(root)

    control.start(root, two())
    again = overlay.read(root)
    assert {name: item.port for name, item in again.items()} == {name: item.port for name, item in endpoints.items()}
    with connect(again["gpu01"]) as client:
        assert "trust state: dscp" in run(client, "mlnx_qos -i ens11np0")[1]
    control.stop(root)
    control.reset(root)
    assert not (root / "devices").exists() and control.status(root).clock_ahead_s == 0


def test_faults_from_another_process(root: Path) -> None:
    control.start(root, two())
    endpoint = overlay.read(root)["gpu01"]
    with pytest.raises(LabError, match=r"knows no fault 'warp'.*storm"):
        control.set_fault(root, "gpu01", Fault("warp"))
    with pytest.raises(LabError, match="no device 'leaf9'"):
        control.set_fault(root, "leaf9", Fault("reboot"))
    with pytest.raises(LabError, match="rail0, rail1, stor0"):
        control.set_fault(root, "gpu01", Fault("mtu", "rail9"))
    with pytest.raises(LabError, match="milliseconds"):
        control.set_fault(root, "gpu01", Fault("slow"))
    with pytest.raises(LabError, match="text to match"):
        control.set_fault(root, "gpu01", Fault("drop_session"))
    assert control.faults(root) == ()

    client = connect(endpoint)
    control.set_fault(root, "gpu01", Fault("drop_session", value="after:touch", count=1))
    assert lost(client, "touch /run/done")
    with connect(endpoint) as client:
        assert run(client, "ls /run")[1] == "done\n"
        assert control.set_fault(root, "gpu01", Fault("reboot")) == "rebooted"
        assert lost(client, "true")
    with connect(endpoint) as client:
        assert run(client, "ls /run")[1] == ""
    assert [entry.fault.name for entry in control.status(root).devices[0].faults] == ["drop_session"]
    assert len(control.clear_faults(root)) == 1


def test_a_lab_that_cannot_start_says_why(root: Path) -> None:
    broken = two()
    odd = replace(broken.devices["gpu01"], device=replace(broken.devices["gpu01"].device, platform="vax"))
    with pytest.raises(LabError, match="no emulator for platform 'vax'"):
        control.start(root, plan_of(odd))
    assert not control.status(root).running


def test_without_the_extra_the_remedy_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "find_spec", lambda name: None if name == "asyncssh" else find_spec(name))
    with pytest.raises(LabError, match=r"asyncssh.*pip install 'rocetune\[lab\]'"):
        control.start(root, two())


def test_status_of_an_empty_folder(root: Path) -> None:
    found = control.status(root)
    assert not found.running and found.devices == ()
    with pytest.raises(LabNotRunning, match="rocetune lab start"):
        control.set_fault(root, "gpu01", Fault("reboot"))


def test_the_overlay_needs_no_socket_library() -> None:
    import subprocess
    import sys

    code = "import sys, rocetune.lab.overlay; print(sorted({'asyncssh', 'aiohttp', 'paramiko'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_thirty_four_servers_listen(tmp_path: Path) -> None:
    names = [f"gpu{number:02d}" for number in range(1, 35)]
    with LabServer(plan_of(*(server_plan(name) for name in names)), tmp_path / "lab") as lab:
        assert sorted(lab.endpoints) == names
        assert len({item.port for item in lab.endpoints.values()}) == 34
        # Nothing was built for a server that nobody has touched.
        assert not any((lab.root / "devices" / name / "state").exists() for name in names)
        assert json.loads((lab.root / "endpoints.json").read_text())["gpu34"]["transport"] == "ssh"

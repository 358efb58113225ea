"""Faults that the frame itself handles, and how it hands the others to an emulator."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import paramiko
import pytest

from rocetune.lab.clock import ManualClock, OffsetClock, advance
from rocetune.lab.device import Fault
from rocetune.lab.errors import LabError
from rocetune.lab.faults import FaultBook
from rocetune.lab.serve import LabServer

from .conftest import EchoEmulator, device, plan_of
from .test_frame_sockets import connect, run

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("dummies")]


@pytest.fixture
def lab(start: Callable[..., LabServer]) -> LabServer:
    return start(plan_of(device("s1", "echo", {"p1": ("sw1", "e1")}), device("sw1", "api", {"e1": ("s1", "p1")})))


def echo(lab: LabServer, name: str = "s1") -> EchoEmulator:
    emulator = lab.emulator(name)
    assert isinstance(emulator, EchoEmulator)
    return emulator


def lost(client: paramiko.SSHClient, command: str) -> bool:
    """Whether the connection dies on this command."""
    try:
        return run(client, command)[0] == -1
    except (paramiko.SSHException, EOFError, OSError):
        return True


def test_unreachable_cuts_and_refuses_until_cleared(lab: LabServer) -> None:
    client = connect(lab.endpoints["s1"])
    lab.fault("s1", "unreachable")
    assert lost(client, "hello")
    with pytest.raises((paramiko.SSHException, OSError, EOFError)):
        connect(lab.endpoints["s1"])
    assert lab.clear("s1") == 1
    with connect(lab.endpoints["s1"]) as again:
        assert run(again, "hello")[0] == 0


def test_unreachable_eapi(lab: LabServer) -> None:
    import pyeapi

    endpoint = lab.endpoints["sw1"]
    node = pyeapi.connect("https", endpoint.host, "admin", endpoint.password, endpoint.port, return_node=True)
    lab.fault("sw1", "unreachable")
    with pytest.raises(pyeapi.eapilib.ConnectionError):
        node.run_commands(["show version"])
    assert echo(lab, "sw1").ran == []


def test_drop_before_does_not_execute(lab: LabServer) -> None:
    lab.fault("s1", "drop_session", value="before:commit", count=1)
    with connect(lab.endpoints["s1"]) as client:
        assert run(client, "stage")[0] == 0
        assert lost(client, "commit now")
    assert echo(lab).ran == ["stage"]
    with connect(lab.endpoints["s1"]) as client:
        assert run(client, "commit now")[0] == 0


def test_drop_after_executes_and_loses_the_answer(lab: LabServer) -> None:
    lab.fault("s1", "drop_session", value="after:commit", count=1)
    with connect(lab.endpoints["s1"]) as client:
        assert lost(client, "commit now")
    assert echo(lab).ran == ["commit now"]


def test_drop_after_on_eapi_executes(lab: LabServer) -> None:
    import pyeapi

    endpoint = lab.endpoints["sw1"]
    node = pyeapi.connect("https", endpoint.host, "admin", endpoint.password, endpoint.port, return_node=True)
    lab.fault("sw1", "drop_session", value="commit timer", count=1)
    with pytest.raises(pyeapi.eapilib.ConnectionError):
        node.run_commands(["configure session x commit timer 00:05:00"])
    assert echo(lab, "sw1").ran == ["enable", "configure session x commit timer 00:05:00"]


def test_reboot_cuts_and_is_done_once(lab: LabServer) -> None:
    client = connect(lab.endpoints["s1"])
    assert run(client, "hello")[0] == 0
    lab.reboot("s1")
    assert lost(client, "hello again")
    lab.sync()
    assert echo(lab).ran == ["hello", "REBOOT"]
    assert lab.lab.book.entries() == ()


def test_other_faults_are_injected_once_and_cleared(lab: LabServer) -> None:
    assert lab.fault("s1", "bend", port="p1") == "bent p1"
    lab.sync()
    assert echo(lab).injected == [Fault("bend", "p1")]
    assert echo(lab).device.faults() == (Fault("bend", "p1"),)
    lab.clear()
    assert echo(lab).cleared == [Fault("bend", "p1")]


def test_an_injected_fault_is_not_injected_again_by_the_next_lab(
    lab: LabServer, start: Callable[..., LabServer]
) -> None:
    lab.fault("s1", "bend", port="p1")
    lab.close()
    again = start(plan_of(device("s1", "echo", {})), root=lab.root)
    again.sync()
    assert echo(again).injected == []
    again.clear()
    assert echo(again).cleared == [Fault("bend", "p1")]


def test_unknown_and_refused_faults_say_so(lab: LabServer) -> None:
    with pytest.raises(LabError, match=r"knows no fault 'warp'.*bend"):
        lab.fault("s1", "warp")
    with pytest.raises(LabError, match="no such port"):
        lab.fault("s1", "bend", value="impossible")
    with pytest.raises(LabError, match=r"no device 'x'.*s1, sw1"):
        lab.fault("x", "bend")
    assert lab.lab.book.entries() == ()


def test_a_fault_written_by_another_process_is_noticed_at_the_next_request(lab: LabServer) -> None:
    with connect(lab.endpoints["s1"]) as client:
        assert run(client, "hello")[0] == 0
        FaultBook(lab.root).add("s1", Fault("drop_session", value="before:hello", count=1))
        assert lost(client, "hello")


def test_neighbours_know_each_other(lab: LabServer) -> None:
    cabling = echo(lab).device.neighborhood
    assert cabling.peer("s1", "p1") == ("sw1", "e1")
    assert cabling.peer("s1", "p9") is None
    assert cabling.emulator("sw1") is lab.emulator("sw1")
    assert cabling.emulator("nobody") is None


def test_ticks_see_the_injected_clock(lab: LabServer, clock: ManualClock) -> None:
    lab.emulator("s1")
    clock.advance(300)
    lab.sync()
    assert echo(lab).ticks[-1] == clock()


def test_fault_numbers_are_never_used_twice(tmp_path: Path) -> None:
    book = FaultBook(tmp_path)
    first = book.add("s1", Fault("bend"))
    book.remove(lambda entry: True)
    assert book.add("s1", Fault("bend")).id > first.id
    assert FaultBook(tmp_path).of("s1")[0].fault == Fault("bend")


def test_a_damaged_fault_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "faults.json").write_text("{")
    with pytest.raises(LabError, match=r"faults\.json is damaged.*remove the file"):
        FaultBook(tmp_path).entries()


def test_the_daemon_clock_can_be_put_forward(tmp_path: Path) -> None:
    now = OffsetClock(tmp_path)
    assert abs(now() - time.time()) < 5
    assert advance(tmp_path, 600) == 600
    assert advance(tmp_path, 30) == 630
    assert 600 < now() - time.time() < 660
    with pytest.raises(ValueError, match="backwards"):
        advance(tmp_path, -1)

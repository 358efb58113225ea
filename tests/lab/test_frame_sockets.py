"""Real sockets on loopback: SSH through paramiko and netmiko, eAPI through pyeapi and napalm."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest

from rocetune.lab import overlay
from rocetune.lab.errors import LabError, LabNotRunning
from rocetune.lab.overlay import Endpoint
from rocetune.lab.serve import LabServer

from .conftest import device, plan_of

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("dummies")]


def connect(endpoint: Endpoint, **more: object) -> paramiko.SSHClient:
    client = paramiko.SSHClient()
    client.load_host_keys(str(endpoint.known_hosts))
    client.set_missing_host_key_policy(paramiko.RejectPolicy())
    settings = {"password": endpoint.password, "allow_agent": False, "look_for_keys": False, **more}
    client.connect(endpoint.host, endpoint.port, endpoint.username, timeout=10, **settings)  # type: ignore[arg-type]
    return client


def run(client: paramiko.SSHClient, command: str, stdin: bytes = b"") -> tuple[int, str, str]:
    sink, out, err = client.exec_command(command, timeout=20)
    if stdin:
        sink.write(stdin)
    sink.channel.shutdown_write()
    text, errors = out.read().decode(), err.read().decode()
    return out.channel.recv_exit_status(), text, errors


@pytest.fixture
def lab(start: Callable[..., LabServer]) -> Iterator[LabServer]:
    yield start(plan_of(device("s1", "echo", {"p1": ("sw1", "e1")}), device("sw1", "api", {"e1": ("s1", "p1")})))


def test_exec_carries_status_stdin_and_both_streams(lab: LabServer) -> None:
    with connect(lab.endpoints["s1"]) as client:
        assert run(client, "hello", b"given") == (0, "hello<given>\n", "")
        assert run(client, "fail") == (3, "", "no such thing\n")


def test_exec_without_end_of_stdin_still_runs(lab: LabServer) -> None:
    with connect(lab.endpoints["s1"]) as client:
        _, out, _ = client.exec_command("hello", timeout=20)
        assert out.read() == b"hello<>\n"


def test_large_stdin_arrives_whole(lab: LabServer) -> None:
    with connect(lab.endpoints["s1"]) as client:
        status, text, _ = run(client, "eat", b"x" * 3_000_000)
        assert (status, len(text)) == (0, 3_000_000 + len("eat<>\n"))


def test_host_key_is_the_one_in_known_hosts_and_stays(
    lab: LabServer, start: Callable[..., LabServer], tmp_path: Path
) -> None:
    endpoint = lab.endpoints["s1"]
    line = Path(str(endpoint.known_hosts)).read_text()
    assert line.startswith(f"[127.0.0.1]:{endpoint.port} ssh-ed25519 ")
    lab.close()
    again = start(plan_of(device("s1", "echo", {})), root=tmp_path / "lab")
    assert again.endpoints["s1"].port == endpoint.port
    assert Path(str(endpoint.known_hosts)).read_text() == line
    connect(again.endpoints["s1"]).close()


def test_wrong_password_is_refused_and_client_key_accepted(lab: LabServer) -> None:
    endpoint = lab.endpoints["s1"]
    with pytest.raises(paramiko.AuthenticationException):
        connect(endpoint, password="wrong")
    with connect(endpoint, password=None, key_filename=str(endpoint.key_file)) as client:
        assert run(client, "hello")[0] == 0


def test_device_that_cuts_the_connection(lab: LabServer) -> None:
    with connect(lab.endpoints["s1"]) as client:
        _, out, _ = client.exec_command("die", timeout=20)
        assert out.read() == b""
        assert out.channel.recv_exit_status() == -1
        transport = client.get_transport()
        assert transport is not None
        transport.join(10)
        assert not transport.is_active()


def test_netmiko_linux_connects_and_gets_answers(lab: LabServer) -> None:
    from netmiko import ConnectHandler

    endpoint = lab.endpoints["s1"]
    with ConnectHandler(
        device_type="linux",
        host=endpoint.host,
        port=endpoint.port,
        username=endpoint.username,
        password=endpoint.password,
        ssh_strict=True,
        system_host_keys=False,
        alt_host_keys=True,
        alt_key_file=str(endpoint.known_hosts),
    ) as link:
        assert link.find_prompt().strip() == "echo:~$"
        assert link.send_command("hello").strip() == "hello<>"


def test_overlay_is_private_and_read_back(lab: LabServer) -> None:
    path = lab.root / overlay.ENDPOINTS
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    table = overlay.read(lab.root)
    assert table == lab.endpoints
    assert table["s1"].transport == "ssh" and table["sw1"].transport == "eapi"
    assert table["s1"].password not in repr(table)


def test_overlay_of_a_stopped_lab_says_how_to_start(lab: LabServer) -> None:
    lab.close()
    with pytest.raises(LabNotRunning, match="rocetune lab start"):
        overlay.read(lab.root)


def test_one_folder_serves_one_lab(lab: LabServer, start: Callable[..., LabServer]) -> None:
    with pytest.raises(LabError, match="already serves"):
        start(plan_of(device("s1", "echo", {})), root=lab.root)


def test_pyeapi_verifies_the_certificate_and_gets_results(lab: LabServer) -> None:
    import ssl

    import pyeapi

    endpoint = lab.endpoints["sw1"]
    node = pyeapi.connect(
        transport="https",
        host=endpoint.host,
        port=endpoint.port,
        username=endpoint.username,
        password=endpoint.password,
        context=ssl.create_default_context(cafile=str(endpoint.ca_file)),
        return_node=True,
    )
    assert node.run_commands(["show version"])[0]["version"] == "4.36.0F"
    with pytest.raises(pyeapi.eapilib.CommandError, match="CLI command 3 of 3 'boom' failed"):
        node.run_commands(["show version", "boom"])


def test_eapi_refuses_a_wrong_password(lab: LabServer) -> None:
    import pyeapi

    endpoint = lab.endpoints["sw1"]
    node = pyeapi.connect(
        transport="https", host=endpoint.host, port=endpoint.port, username="admin", password="no", return_node=True
    )
    with pytest.raises(pyeapi.eapilib.ConnectionError, match=r"401|authenticate"):
        node.run_commands(["show version"])


def test_napalm_opens(lab: LabServer) -> None:
    from napalm import get_network_driver

    endpoint = lab.endpoints["sw1"]
    driver = get_network_driver("eos")(
        endpoint.host,
        endpoint.username,
        endpoint.password,
        optional_args={"transport": "https", "port": endpoint.port},
    )
    driver.open()
    assert driver.cli(["show clock"]) == {"show clock": "text\n"}
    driver.close()


def test_bad_json_is_an_error_reply_not_a_crash(lab: LabServer) -> None:
    import ssl
    import urllib.request
    from base64 import b64encode

    endpoint = lab.endpoints["sw1"]
    token = b64encode(f"{endpoint.username}:{endpoint.password}".encode()).decode()
    request = urllib.request.Request(
        f"https://{endpoint.host}:{endpoint.port}/command-api",
        data=b"{",
        headers={"Authorization": f"Basic {token}", "Content-type": "application/json-rpc"},
    )
    context = ssl.create_default_context(cafile=str(endpoint.ca_file))
    with urllib.request.urlopen(request, context=context, timeout=10) as reply:
        assert reply.headers["Connection"] == "close"
        assert json.load(reply)["error"]["code"] == -32600

"""Connections: one netmiko-opened SSH transport, or one NAPALM driver, behind the two link types of the contract.

netmiko opens SSH (ssh_config, ProxyJump, agent, keys, known_hosts). Commands then run on exec channels of the same
transport: only these give an exit status, take stdin and have no prompt to guess.
"""

from __future__ import annotations

import logging
import select
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocetune.platforms.base import DeviceError, LinkLost, Unreachable

# The libraries log tracebacks of refused logins to stderr; the same facts reach the user as Unreachable.
for _name in ("paramiko", "netmiko", "nornir", "napalm", "pyeapi"):
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False

_CONNECT_TIMEOUT_S = 10.0
_DEFAULT_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")  # in OpenSSH's order of preference


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how one device is reached. Passwords never appear in its repr."""

    hostname: str
    port: int | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    known_hosts: Path | None = None  # instead of the user's own file
    ca_file: Path | None = None
    tls_verify: bool = True
    ssh_config: Path | None = None
    key_file: Path | None = None
    extras: tuple[tuple[str, Any], ...] = field(default=(), repr=False)  # connection_options of the inventory


@dataclass(frozen=True, slots=True)
class ShellReply:
    """Result of one command."""

    status: int
    stdout: str
    stderr: str


class NetmikoShell:
    """Exec channels over a transport that netmiko opened."""

    def __init__(self, device: str, connection: Any) -> None:
        self.device = device
        self._connection = connection
        transport = connection.remote_conn_pre.get_transport()
        transport.set_keepalive(15)
        if isinstance(transport.sock, socket.socket):  # behind a jump host it is a channel
            # An exec is several small packets: Nagle's wait for the peer's delayed ACK costs 40 ms each time.
            transport.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def run(self, command: str, stdin: bytes | None = None, timeout_s: float = 60.0) -> ShellReply:
        """One command. Raises LinkLost when the connection ends first, DeviceError on time-out."""
        with _link_errors(self.device, command):
            channel = self._connection.remote_conn_pre.get_transport().open_session(timeout=_CONNECT_TIMEOUT_S)
            try:
                channel.exec_command(command)
                if stdin:
                    channel.sendall(stdin)
                channel.shutdown_write()
                return self._read(channel, command, timeout_s)
            finally:
                channel.close()

    def _read(self, channel: Any, command: str, timeout_s: float) -> ShellReply:
        out, err = bytearray(), bytearray()
        deadline = time.monotonic() + timeout_s
        while True:
            if channel.recv_ready():
                out += channel.recv(65536)
            elif channel.recv_stderr_ready():
                err += channel.recv_stderr(65536)
            elif channel.exit_status_ready() or channel.eof_received or channel.closed:
                break
            elif time.monotonic() > deadline:
                raise DeviceError(self.device, _short(command), f"no answer within {timeout_s:g} s")
            else:
                select.select([channel], [], [], 0.2)
        # What arrived between the last look and the status is still to be read.
        while channel.recv_ready():
            out += channel.recv(65536)
        while channel.recv_stderr_ready():
            err += channel.recv_stderr(65536)
        if not channel.exit_status_ready():
            channel.status_event.wait(2.0)
        status = channel.recv_exit_status() if channel.exit_status_ready() else -1
        if status == -1:
            raise LinkLost(self.device, _short(command), "the connection ended before the command did")
        return ShellReply(status, out.decode(errors="replace"), err.decode(errors="replace"))

    def close(self) -> None:
        """End the connection; errors do not matter any more."""
        try:
            self._connection.remote_conn_pre.close()
        except Exception:  # the peer may be gone
            return


class NapalmEapi:
    """An open NAPALM EOS driver."""

    def __init__(self, device: str, driver: Any) -> None:
        self.device, self.driver = device, driver

    def close(self) -> None:
        """Let go without NAPALM's own close(): that one aborts a timed commit, which is a rollback."""
        self.driver.config_session = None


@contextmanager
def _link_errors(device: str, command: str) -> Iterator[None]:
    import paramiko

    try:
        yield
    except DeviceError:
        raise
    except (EOFError, OSError, paramiko.SSHException) as error:
        raise LinkLost(device, _short(command), str(error) or type(error).__name__) from error
    except AttributeError as error:  # paramiko clears its transport when the peer is gone
        raise LinkLost(device, _short(command), "the connection is closed") from error


def _short(command: str) -> str:
    line = command.strip().splitlines()[0] if command.strip() else "(empty)"
    return line if len(line) <= 80 else line[:77] + "..."


def open_shell(
    device: str, endpoint: Endpoint, transport: str, own_keys: Path | None, accept_new: bool
) -> NetmikoShell:
    """An SSH link. Host keys count when they are in the user's known_hosts or in ``own_keys``; ``accept_new``
    writes unknown ones there. A key that changed is refused either way.

    Raises Unreachable with the remedy.
    """
    import netmiko
    import paramiko
    from netmiko.exceptions import NetmikoBaseException

    alternative = endpoint.known_hosts or own_keys
    if accept_new and own_keys is not None:
        own_keys.parent.mkdir(parents=True, exist_ok=True)
        own_keys.touch(mode=0o600)
    key_file = endpoint.key_file or (None if endpoint.password else _default_key())
    parameters: dict[str, Any] = {
        # A server's prompt may be anything; "terminal_server" is netmiko without prompt handling.
        "device_type": "linux" if transport == "netmiko:linux" else "terminal_server",
        "host": endpoint.hostname,
        "port": endpoint.port or 22,
        "username": endpoint.username,
        "password": endpoint.password,
        "use_keys": key_file is not None,
        "allow_agent": endpoint.password is None,
        "key_file": str(key_file) if key_file else None,
        "ssh_config_file": str(endpoint.ssh_config) if endpoint.ssh_config else None,
        "system_host_keys": endpoint.known_hosts is None,
        "ssh_strict": not accept_new,
        "alt_host_keys": alternative is not None,
        "alt_key_file": str(alternative or ""),
        "conn_timeout": _CONNECT_TIMEOUT_S,
        "fast_cli": True,
        "auto_connect": True,
    }
    parameters.update(dict(endpoint.extras))
    try:
        return NetmikoShell(device, netmiko.ConnectHandler(**parameters))
    except (netmiko.NetmikoAuthenticationException, paramiko.AuthenticationException) as error:
        raise Refused(
            device,
            "login",
            f"{endpoint.username or 'nobody'} was refused: give a key (agent, ~/.ssh/config) or ROCETUNE_PASSWORD",
        ) from error
    except (
        netmiko.NetmikoTimeoutException,
        NetmikoBaseException,
        paramiko.SSHException,
        OSError,
        EOFError,
        ValueError,
    ) as error:
        raise Unreachable(device, "connect", _connect_reason(str(error), endpoint)) from error


def _default_key() -> Path | None:
    """The first of OpenSSH's default keys that exists: netmiko looks for keys only where one is named."""
    folder = Path.home() / ".ssh"
    return next((path for name in _DEFAULT_KEYS if (path := folder / name).is_file()), None)


class Refused(Unreachable):
    """The device is there and refuses the credentials: trying more devices could lock an account."""


def _connect_reason(text: str, endpoint: Endpoint) -> str:
    target = f"{endpoint.hostname}:{endpoint.port or 22}"
    if "No authentication methods" in text:
        return f"{target}: no key and no password: load a key into the agent, name one, or set ROCETUNE_PASSWORD"
    if "not found in known_hosts" in text:
        return (
            f"the host key of {target} is not in known_hosts: verify it and add it, "
            "or run once with --accept-new-host-keys"
        )
    if "does not match" in text:
        return f"the host key of {target} has CHANGED: somebody may be in between; verify before removing the old key"
    first = next((line.strip() for line in text.splitlines() if line.strip()), "no answer")
    return f"{target}: {first}"


def _verifying(device: str, ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
    except (OSError, ssl.SSLError) as error:
        text = f"ca_file {ca_file} cannot be used ({error.strerror or error}): give the PEM file of the switch's CA"
        raise Unreachable(device, "connect", text) from error


def open_eapi(device: str, endpoint: Endpoint) -> NapalmEapi:
    """An eAPI link through NAPALM. TLS is verified unless the inventory says ``tls_verify: false``.

    Raises Unreachable with the remedy.
    """
    from napalm import get_network_driver

    options: dict[str, Any] = dict(endpoint.extras)
    if endpoint.port:
        options["port"] = endpoint.port
    if endpoint.tls_verify and options.get("transport", "https") == "https":
        options["context"] = _verifying(device, endpoint.ca_file)
    try:
        driver = get_network_driver("eos")(
            endpoint.hostname, endpoint.username or "", endpoint.password or "", timeout=30, optional_args=options
        )
        driver.open()
    except Exception as error:  # napalm and pyeapi raise many kinds, some of their own, some of http.client
        text = str(error)
        if "401" in text or "nauthorized" in text:
            raise Refused(
                device, "login", f"{endpoint.username or 'nobody'} was refused: check user and password"
            ) from error
        if "CERTIFICATE_VERIFY_FAILED" in text:
            text = f"{text}; install the switch's CA, or set tls_verify: false for its group"
        raise Unreachable(device, "connect", f"{endpoint.hostname}: {text or type(error).__name__}") from error
    return NapalmEapi(device, driver)

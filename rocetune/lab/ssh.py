"""The SSH socket of one emulated device: exec requests and a line-oriented shell with a prompt.

Emulation for rehearsal and tests.
"""

from __future__ import annotations

import asyncio
import hmac
import logging

import asyncssh

from rocetune.lab.device import ShellResult
from rocetune.lab.frame import Cut, Host

_LOG = logging.getLogger(__name__)
_STDIN_WAIT_S = 1.0  # a client that neither sends nor closes stdin: the command runs without it


class _Guard(asyncssh.SSHServer):
    """Authentication, and the door that ``unreachable`` shuts."""

    def __init__(self, socket: SshSocket) -> None:
        self._socket = socket
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._socket.connections.add(conn)
        if self._socket.host.unreachable:
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._connection is not None:
            self._socket.connections.discard(self._connection)

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        given, wanted = f"{username}:{password}", self._socket.secret
        return hmac.compare_digest(given.encode(), wanted.encode())

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == self._socket.username and bool(key == self._socket.client_key)


class SshSocket:
    """Serves one device over SSH."""

    def __init__(self, host: Host, host_key: bytes, client_key: str, username: str, password: str) -> None:
        self.host, self.username = host, username
        self.secret = f"{username}:{password}"
        self.client_key = asyncssh.import_public_key(client_key)
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self._host_key = asyncssh.import_private_key(host_key)
        self._acceptor: asyncssh.SSHAcceptor | None = None

    async def start(self, address: str, port: int) -> int:
        """Listen; the port in use (``port`` 0 picks one)."""
        self._acceptor = await asyncssh.listen(
            address,
            port,
            server_factory=lambda: _Guard(self),
            server_host_keys=[self._host_key],
            process_factory=self._process,
            encoding=None,
            line_editor=False,
            allow_scp=False,
            reuse_address=True,
            login_timeout=30,
        )
        return int(self._acceptor.get_port())

    async def stop(self) -> None:
        """Close the listener and what is open."""
        if self._acceptor is not None:
            self._acceptor.close()
            self.cut()
            await self._acceptor.wait_closed()
            self._acceptor = None

    def cut(self) -> None:
        """Cut every open connection. Call it in the loop's thread."""
        for connection in tuple(self.connections):
            connection.abort()

    async def _process(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        try:
            if process.command is None:
                await _Shell(self.host, process).talk()
                process.exit(0)
            else:
                result = await self._run(process.command, await _stdin(process))
                process.stdout.write(result.stdout.encode("utf-8", "surrogateescape"))
                process.stderr.write(result.stderr.encode("utf-8", "surrogateescape"))
                process.exit(result.status)
        except Cut:
            process.get_extra_info("connection").abort()
        except (
            asyncssh.Error,
            asyncssh.BreakReceived,
            asyncssh.TerminalSizeChanged,
            ConnectionError,
        ):  # the client left
            process.close()
        except Exception:  # a defect of an emulator must not look like a hanging device
            _LOG.exception("%s: %s", self.host.name, process.command)
            process.stderr.write(b"rocetune lab: the emulator failed, see the lab's log\n")
            process.exit(255)

    async def _run(self, command: str, stdin: bytes) -> ShellResult:
        return await execute(self.host, command, stdin)


async def execute(host: Host, command: str, stdin: bytes) -> ShellResult:
    """One command on a device. Raises Cut also when the emulator says that the connection dies."""
    result = await host.request(lambda: host.emulator.said(command, stdin), lambda: host.emulator.run(command, stdin))
    if result.drop:
        raise Cut
    return result


async def _stdin(process: asyncssh.SSHServerProcess[bytes]) -> bytes:
    try:
        first = await asyncio.wait_for(process.stdin.read(1 << 16), _STDIN_WAIT_S)
    except TimeoutError:
        return b""
    return first + await process.stdin.read() if first else b""


class _Shell:
    """A shell as screen scrapers need it: a prompt, echo on a terminal, one command per line."""

    def __init__(self, host: Host, process: asyncssh.SSHServerProcess[bytes]) -> None:
        self._host, self._process = host, process
        self._tty = process.get_terminal_type() is not None

    async def talk(self) -> None:
        """Until the client says exit or hangs up."""
        prompt = await self._host.exclusively(lambda emulator: emulator.prompt)
        self._say(prompt)
        line, last = bytearray(), b""
        while True:
            try:
                data = await self._process.stdin.read(4096)
            except asyncssh.TerminalSizeChanged:
                continue
            if not data:
                return
            for code in data:
                byte = bytes((code,))
                if byte == b"\n" and last == b"\r":
                    last = byte
                    continue
                last = byte
                if byte in b"\r\n":
                    self._echo("\n")
                    if bytes(line).strip() in (b"exit", b"logout"):
                        return
                    await self._line(line.decode("utf-8", "replace"))
                    line.clear()
                    self._say(prompt)
                elif byte == b"\x03":
                    line.clear()
                    self._echo("^C\n")
                    self._say(prompt)
                elif byte == b"\x04" and not line:
                    return
                elif byte in b"\x08\x7f":
                    if line:
                        line.pop()
                        self._echo("\b \b")
                else:
                    line += byte
                    self._echo(byte.decode("latin-1"))

    async def _line(self, line: str) -> None:
        if not line.strip():
            return
        result = await execute(self._host, line, b"")
        for text in (result.stdout, result.stderr):
            if text:
                self._say(text if text.endswith("\n") else text + "\n")

    def _echo(self, text: str) -> None:
        if self._tty:
            self._say(text)

    def _say(self, text: str) -> None:
        self._process.stdout.write(
            (text.replace("\n", "\r\n") if self._tty else text).encode("utf-8", "surrogateescape")
        )

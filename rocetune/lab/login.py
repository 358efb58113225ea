"""A way onto an emulated device for a person: ssh with the lab's key, or commands through eAPI.

Emulation for rehearsal and tests.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rocetune.lab import overlay
from rocetune.lab.errors import LabError
from rocetune.lab.overlay import Endpoint

_PROMPT = "{device}# "


def login(root: Path, device: str, command: Sequence[str], say: Callable[[str], None]) -> int:
    """Run a command on an emulated device, or talk to it until the end of input; the exit status.

    ``say`` gets the output of devices behind eAPI and of a machine without an ssh client; ssh itself writes to the
    terminal. Raises LabError: no lab, no such device, the device cannot be reached.
    """
    known = overlay.read(root.resolve())
    if device not in known:
        raise LabError(f"no device {device!r} in this lab", f"it has: {', '.join(known)}")
    endpoint = known[device]
    text = command[0] if len(command) == 1 else shlex.join(command)  # one word is a line that is quoted already
    if endpoint.transport == "eapi":
        return _eapi(endpoint, " ".join(command), say)
    client = shutil.which("ssh")
    if client is not None:
        return subprocess.run(ssh_command(endpoint, text, client), check=False).returncode
    return _paramiko(endpoint, text, say)


def ssh_command(endpoint: Endpoint, command: str = "", client: str = "ssh") -> list[str]:
    """The ssh command line: the lab's key and host keys, nothing of the user's own configuration."""
    options = {
        "IdentityFile": endpoint.key_file,
        "IdentitiesOnly": "yes",
        "PreferredAuthentications": "publickey",
        "UserKnownHostsFile": endpoint.known_hosts,
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "yes",
        "LogLevel": "ERROR",
    }
    words = [client, "-F", "none", "-p", str(endpoint.port)]
    for name, value in options.items():
        words += ["-o", f'{name}="{value}"' if " " in str(value) else f"{name}={value}"]
    words.append(f"{endpoint.username}@{endpoint.host}")
    return [*words, command] if command else words


def _eapi(endpoint: Endpoint, command: str, say: Callable[[str], None]) -> int:
    """Commands separated by ``;`` or lines of input, each batch in one request and so in one mode of its own."""
    import ssl

    import pyeapi.client
    from pyeapi.eapilib import CommandError, ConnectionError

    context = ssl.create_default_context(cafile=str(endpoint.ca_file))
    connection = pyeapi.client.connect(
        transport="https",
        host=endpoint.host,
        port=endpoint.port,
        username=endpoint.username,
        password=endpoint.password,
        context=context,
    )

    def run(line: str) -> int:
        commands = [part.strip() for part in line.split(";") if part.strip()]
        try:
            answers = connection.execute(["enable", *commands], encoding="text")["result"][1:]
        except CommandError as error:
            say(str(error))
            return 1
        for answer in answers:
            if output := _output(answer):
                say(output)
        return 0

    try:
        return run(command) if command else _talk(endpoint.device, run)
    except ConnectionError as error:
        raise LabError(f"{endpoint.device} cannot be reached: {error.message}", "see: rocetune lab status") from error


def _output(answer: Any) -> str:
    return str(answer.get("output", "")).rstrip() if isinstance(answer, dict) else str(answer)


def _paramiko(endpoint: Endpoint, command: str, say: Callable[[str], None]) -> int:
    import paramiko

    client = paramiko.SSHClient()
    client.load_host_keys(str(endpoint.known_hosts))

    def run(line: str) -> int:
        _, stdout, stderr = client.exec_command(line)
        stdout.channel.shutdown_write()
        for stream in (stdout, stderr):
            if text := stream.read().decode("utf-8", "replace").rstrip():
                say(text)
        return int(stdout.channel.recv_exit_status())

    try:
        client.connect(
            endpoint.host,
            endpoint.port,
            endpoint.username,
            key_filename=str(endpoint.key_file),
            allow_agent=False,
            look_for_keys=False,
        )
        return run(command) if command else _talk(endpoint.device, run)
    except (OSError, paramiko.SSHException) as error:
        raise LabError(f"{endpoint.device} cannot be reached: {error}", "see: rocetune lab status") from error
    finally:
        client.close()


def _talk(device: str, run: Callable[[str], int]) -> int:
    """Line by line until the end of input or ``exit``; the status of the last line."""
    status = 0
    for line in _lines(_PROMPT.format(device=device)):
        if line.strip() in ("exit", "logout", "quit"):
            break
        if line.strip():
            status = run(line)
    return status


def _lines(prompt: str) -> Iterable[str]:
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    while True:
        try:
            yield input(prompt)
        except EOFError:
            print()
            return

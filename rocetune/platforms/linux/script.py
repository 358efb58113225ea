"""The constant host script and the shell text that drives it over one exec channel.

The script travels on stdin, so that nothing of it is in a command line and one round trip does a whole job. On the
server it lives below /run/rocetune/tx during a transaction, and in /usr/local/lib/rocetune from the confirm on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote

from rocetune.platforms.templating import source

SCRIPT = "rocetune-host.sh"
PREFIX = "rocetune-host "  # of commands that are modes of the script
BOOT_FILES = ("rocetune-qos@.service", "rocetune-rdma@.service", "90-rocetune.rules")
# Rights are probed with the very command that does the work.
ROOT_SHELL = 'if [ "$(id -u)" = 0 ]; then exec sh -s; else exec sudo -n sh -s; fi'
_MODE = re.compile(r"rocetune-host [a-z]+( [A-Za-z0-9_.-]+)*", re.ASCII)
_TOOLS = (
    (re.compile(r"mlnx_qos -i [A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII), "qos"),
    (re.compile(r"ethtool -a [A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII), "pause"),
)


def shipped(name: str) -> str:
    """Text of one file the server gets unchanged."""
    return source("linux", name)


def drive(lines: Sequence[str]) -> bytes:
    """The script as a library, then these lines with no stdin of their own."""
    body = "\n".join(lines)
    text = f"ROCETUNE_LIB=1\n{shipped(SCRIPT)}\nrocetune_driver() {{\n{body}\n}}\nrocetune_driver </dev/null\nexit $?\n"
    return text.encode()


def call(*arguments: str) -> bytes:
    """One mode of the script."""
    text = PREFIX + " ".join(arguments)
    if not _MODE.fullmatch(text):
        raise ValueError(f"{text!r} is not a call of the host script")
    return drive([f"( main {text.removeprefix(PREFIX)} )"])


def collect(commands: Sequence[str], mark: str) -> bytes:
    """Every command with its own begin and end line; ``mark`` is unguessable, so no output can imitate them.

    What a mode of the script and a command of its own both ask a tool is asked once, first of all.
    """
    modes = {words[1]: words[2:] for words in (item.split() for item in commands if item.startswith(PREFIX))}
    shared = {command: kind for command in commands if (kind := _recalled(command))} if "read" in modes else {}
    lines = [f"recall {kind} {command.split()[2]} {command}" for command, kind in shared.items()]
    if "read" in modes and "inspect" in modes:
        lines.append(" ".join(("share", *modes["read"])))
    for index, command in enumerate(commands):
        if command.startswith(PREFIX):
            if not _MODE.fullmatch(command):
                raise ValueError(f"{command!r} is not a call of the host script")
            command = f"main {command.removeprefix(PREFIX)}"
        elif command in shared:
            command = f"retell {shared[command]} {command.split()[2]} {command}"
        lines += [f"printf '%s\\n' '{mark} begin {index}'", f"( {command} ) 2>&1"]
        lines.append(f"printf '\\n%s %s\\n' '{mark} end {index}' \"$?\"")
    return drive([*lines, "cma_close"])


def _recalled(command: str) -> str | None:
    """The kind under which the script keeps the answer of a reading tool."""
    return next((kind for pattern, kind in _TOOLS if pattern.fullmatch(command)), None)


def split(output: str, count: int, mark: str) -> list[tuple[int, str] | None]:
    """(status, text) per command; None for those that were not reached."""
    answers: list[tuple[int, str] | None] = [None] * count
    pattern = re.compile(
        rf"^{re.escape(mark)} begin ([0-9]+)\n(.*?)\n?^{re.escape(mark)} end \1 ([0-9]+)$", re.M | re.S
    )
    for match in pattern.finditer(output):
        answers[int(match[1])] = (int(match[3]), match[2])
    return answers


def stage(token: str, do: str, undo: str) -> bytes:
    """Brings a transaction to the server."""
    files = {SCRIPT: shipped(SCRIPT), "undo": undo, "do": do}
    files.update({name: shipped(name) for name in BOOT_FILES})
    lines = ["set -eu", "umask 077", f'd="${{ROCETUNE_ROOT:-}}/run/rocetune/tx/{token}"', 'rm -rf "$d"']
    # A name given up by an earlier attempt of the same run starts anew.
    lines += [f'rm -f "${{ROCETUNE_ROOT:-}}/run/rocetune/undone.{token}"', 'mkdir -p "$d"']
    for name, text in files.items():
        body = text if text.endswith("\n") or not text else text + "\n"
        # The shell itself writes them: a here-document would cost two processes each.
        lines.append(f'printf %s {quote(body)} >"$d/{name}"')
    return ("\n".join(lines) + "\n").encode()

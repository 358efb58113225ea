"""A real shell for an emulated switch: what the product sends is run by /bin/sh, so undo scripts really run.

Only stand-ins and a few coreutils are on the PATH. A stand-in is four lines of sh that hand their arguments to the
emulator through a FIFO and print its answer: no interpreter is started, a call costs a few milliseconds.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rocetune.lab.device import ShellResult

CALLED = (
    "config",
    "date",
    "ecnconfig",
    "pfcwd",
    "show",
    "sleep",
    "sonic-cfggen",
    "sonic-db-cli",
    "sonic-db-dump",
    "systemctl",
    "systemd-run",
)
# fmt: off
_COREUTILS = (
    "basename", "chmod", "cp", "dirname", "grep", "head", "id", "ls", "mkdir", "mktemp", "mv", "rm", "sed", "sh",
    "sort", "tail", "test", "touch", "tr", "true", "wc",
)
# fmt: on
_ASK = """\
printf '%s\\0' "$#" "${0##*/}" "${ROCETUNE_LAB_ROOT:-0}" "$@" >"$ROCETUNE_LAB/request"
read -r status <"$ROCETUNE_LAB/reply"
CAT "$ROCETUNE_LAB/out"
CAT "$ROCETUNE_LAB/err" >&2
exit "$status"
"""
_SUDO = """\
#!/bin/sh
while :; do case "$1" in -n | -E | -H) shift ;; *) break ;; esac; done
case "$1" in -l | -v) exit 0 ;; esac
ROCETUNE_LAB_ROOT=1 exec "$@"
"""
_NO_SUDO = """\
#!/bin/sh
echo "sudo: a password is required" >&2
exit 1
"""
_CAT = """\
case "$*" in */etc/sonic/* | */usr/share/sonic/* | /var/log/syslog) ;; *) exec CAT "$@" ;; esac
"""
_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Call:
    """One command that reached the emulator."""

    name: str
    root: bool
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What it prints and its exit status."""

    status: int = 0
    out: str = ""
    err: str = ""


class Shell:
    """Runs command lines of one device. Not for concurrent use."""

    def __init__(self, folder: Path, handle: Callable[[Call], Answer], *, sudo: bool = True) -> None:
        self._handle, self._sudo = handle, sudo
        self._ipc, self.home, self._bin = folder / "ipc", folder / "home", folder / "bin"
        for path in (self._ipc, self.home, self._bin, folder / "tmp"):
            path.mkdir(parents=True, exist_ok=True)
        self._tmp = folder / "tmp"
        self._install()

    def _install(self) -> None:
        for name in ("request", "reply"):
            path = self._ipc / name
            path.unlink(missing_ok=True)
            os.mkfifo(path, 0o600)
        cat = shutil.which("cat") or "/bin/cat"
        tools = dict.fromkeys(CALLED, "#!/bin/sh\n" + _ASK)
        tools |= {"sudo": _SUDO if self._sudo else _NO_SUDO, "cat": "#!/bin/sh\n" + _CAT + _ASK}
        for name, text in tools.items():
            path = self._bin / name
            path.write_text(text.replace("CAT ", f"{cat} "))
            path.chmod(0o755)
        for name in _COREUTILS:
            found, link = shutil.which(name), self._bin / name
            if found and not link.exists():
                link.symlink_to(found)

    def run(self, command: str, stdin: bytes, *, root: bool = False) -> ShellResult:
        """One command line; stand-ins call back while it runs."""
        source = self._ipc / "stdin"
        source.write_bytes(stdin)
        request = os.open(self._ipc / "request", os.O_RDWR | os.O_NONBLOCK)
        reply = os.open(self._ipc / "reply", os.O_RDWR | os.O_NONBLOCK)
        try:
            with source.open("rb") as opened:
                child = subprocess.Popen(
                    ["/bin/sh", "-c", command],
                    stdin=opened,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=self.home,
                    env=self._environment(root),
                    start_new_session=True,
                )
            out, err = self._serve(child, request, reply)
            return ShellResult(child.wait(_LIMIT_S), out.decode(errors="replace"), err.decode(errors="replace"))
        finally:
            os.close(request)
            os.close(reply)

    def _environment(self, root: bool) -> dict[str, str]:
        return {
            "PATH": str(self._bin),
            **({} if root else {"HOME": str(self.home)}),  # a transient unit of systemd has none
            "TMPDIR": str(self._tmp),
            "ROCETUNE_LAB": str(self._ipc),
            "ROCETUNE_LAB_ROOT": "1" if root else "0",
            "LANG": "C.UTF-8",
        }

    def _serve(self, child: subprocess.Popen[bytes], request: int, reply: int) -> tuple[bytes, bytes]:
        """Collect output and answer calls until both output streams end."""
        assert child.stdout is not None and child.stderr is not None
        texts = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
        ends = tuple(texts)
        waiting = bytearray()
        with selectors.DefaultSelector() as watch:
            for number in (*ends, request):
                watch.register(number, selectors.EVENT_READ)
            open_ends = len(ends)
            while open_ends:
                ready = watch.select(_LIMIT_S)
                if not ready:  # nothing was said for too long: the command waits for something that never comes
                    os.killpg(child.pid, signal.SIGKILL)
                for key, _ in ready:
                    data = os.read(key.fd, 65536)
                    if key.fd == request:
                        waiting += data
                        self._answer(waiting, reply)
                    elif data:
                        texts[key.fd] += data
                    else:
                        watch.unregister(key.fd)
                        open_ends -= 1
        child.stdout.close()
        child.stderr.close()
        return bytes(texts[ends[0]]), bytes(texts[ends[1]])

    def _answer(self, waiting: bytearray, reply: int) -> None:
        """Handle the call in the buffer once it is complete: count, name, root, arguments, each ended by NUL."""
        parts = bytes(waiting).split(b"\0")
        if not parts[0].isdigit() or len(parts) < int(parts[0]) + 4:
            return
        waiting.clear()
        words = [part.decode(errors="replace") for part in parts[1 : int(parts[0]) + 3]]
        answer = self._handle(Call(words[0], words[1] == "1", tuple(words[2:])))
        (self._ipc / "out").write_text(answer.out)
        (self._ipc / "err").write_text(answer.err)
        os.write(reply, f"{answer.status}\n".encode())

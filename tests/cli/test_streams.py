"""Whoever stops reading changes neither the work nor, after the first write, the exit code."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ROCETUNE = str(Path(sys.executable).with_name("rocetune"))
FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")

# A command line whose app pushes and then reports; arguments: verdict of the report, or "lost" for an exception.
PUSH = """
import sys
from pathlib import Path
from types import SimpleNamespace
from rocetune.app import applying, planning
from rocetune.cli import main
from rocetune.cli.options import Settings
from rocetune.model.outcome import ApplyReport, DeviceDiff, DiffReport, Progress
from rocetune.model.plan import Plan
from rocetune.platforms.base import LinkLost

verdict, mark = sys.argv[1:]
site = SimpleNamespace(settings=SimpleNamespace(limits=SimpleNamespace(wave=8)))
Settings.workspace = lambda self: SimpleNamespace(root=Path(), site=site)
planning.make_plan = lambda ws, asics=None: Plan({}, ())
planning.select = lambda ws, plan, limit: ()

def apply(ws, limit, *, yes_confirm, progress, **options):
    report = DiffReport((DeviceDiff("leaf1", "arista_eos"),), True)
    assert yes_confirm(report)
    for number in range(50):
        progress(Progress("push", f"wave {number} " + "x" * 4096))
    Path(mark).write_text("ended")
    if verdict == "lost":
        raise LinkLost("leaf1", "commit", "reset by peer")
    return ApplyReport("r1", verdict, report)

applying.apply = apply
main(["apply", "--yes"], prog_name="rocetune")
"""


@contextmanager
def no_reader() -> Iterator[int]:
    """The write end of a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    try:
        yield write
    finally:
        os.close(write)


def shell(words: str) -> subprocess.CompletedProcess[str]:
    """A command line by the shell, with all output of ours that is left."""
    command = ["sh", "-c", words.replace("rocetune", f"'{ROCETUNE}'")]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("verdict", "code"), [("applied", 0), ("unchanged", 0), ("rolled back", 1), ("mixed", 3), ("lost", 3)]
)
def test_a_push_ends_and_its_exit_code_is_its_own(tmp_path: Path, verdict: str, code: int, unbuffered: str) -> None:
    mark = tmp_path / "mark"
    command = [sys.executable, "-c", PUSH, verdict, str(mark)]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with no_reader() as pipe, FULL.open("w") as full:
        for out, err in ((pipe, pipe), (full, full), (pipe, full), (full, subprocess.DEVNULL)):
            mark.unlink(missing_ok=True)
            done = subprocess.run(command, stdout=out, stderr=err, timeout=60, env=environment)
            assert (done.returncode, mark.read_text()) == (code, "ended"), (out, err)


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
def test_a_push_with_closed_streams_ends_and_its_exit_code_is_its_own(tmp_path: Path, closed: Sequence[int]) -> None:
    mark = tmp_path / "mark"
    marks = " ".join(f"{number}>&-" if number else "<&-" for number in closed)
    command = ["sh", "-c", f'"$@" {marks}', "sh", sys.executable, "-c", PUSH, "rolled back", str(mark)]
    assert subprocess.run(command, timeout=60, capture_output=True).returncode == 1
    assert mark.read_text() == "ended"  # and no word of ours went into the file that got the stream's number


@pytest.mark.parametrize(
    "words", ["--help", "--version", "platforms", "schema site", "plan --help", "platforms --format json"]
)
def test_a_command_that_changes_nothing_ends_without_a_traceback(words: str) -> None:
    closed = shell(f"rocetune {words} >&-")
    assert (closed.returncode, closed.stderr) == (0, "")
    assert shell(f"rocetune {words} 2>/dev/full >/dev/null").returncode == 0
    lost = shell(f"rocetune {words} >/dev/full")
    assert (lost.returncode, lost.stderr) == (2, "standard output: No space left on device; results are lost\n")
    with no_reader() as pipe:
        command = [ROCETUNE, *words.split()]
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_that_nobody_hears_has_its_code() -> None:
    for where in ("2>&-", "2>/dev/full", ">&- 2>&- <&-"):
        assert shell(f"rocetune aply {where}").returncode == 2

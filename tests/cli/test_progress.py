"""Progress survives logs and pipes: whole lines, no cursor tricks, on stderr."""

import pytest

from rocetune.cli.options import Settings
from rocetune.cli.progress import Steps
from rocetune.model.outcome import Progress


def test_plain_lines_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with Steps(Settings()) as steps:
        steps(Progress("connect", "connected", "leaf1", 1, 2))
        steps(Progress("connect", "connected", "leaf2", 2, 2))
        steps(Progress("read", "refused", "leaf2", 1, 2))
        steps(Progress("push", "PFC: canary, 1 devices"))
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split("] ", 1)[1] for line in err.splitlines()] == [
        "connect: 2/2 devices",
        "read: leaf2: refused (1/2)",
        "push: PFC: canary, 1 devices",
    ]
    assert "\x1b" not in err and "\r" not in err


def test_a_large_site_does_not_flood_the_log_but_every_trouble_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with Steps(Settings()) as steps:
        for number in range(1, 1001):
            text = "connection refused" if number == 777 else "connected"
            steps(Progress("connect", text, f"gpu{number:04}", number, 1000))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) < 20
    assert any("gpu0777: connection refused" in line for line in lines)
    assert "1000/1000" in lines[-1]

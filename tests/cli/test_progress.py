"""Progress survives logs and pipes: whole lines, no cursor tricks, on stderr."""

import io

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


class Gone(io.StringIO):
    """A stream whose reader went away."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error
        self.tries = 0

    def write(self, text: str) -> int:
        if not text:  # click probes a stream with nothing
            return 0
        self.tries += 1
        raise self.error


@pytest.mark.parametrize(
    "error", [BrokenPipeError(32, "Broken pipe"), OSError(28, "No space left"), ValueError("closed")]
)
def test_a_reader_that_went_away_stops_the_words_alone(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Gone(error)
    monkeypatch.setattr("sys.stderr", stream)
    with Steps(Settings()) as steps:
        for number in range(3):
            steps(Progress("push", f"wave {number}"))
    assert stream.tries == 1

"""The product's one job through its own command line, on emulated devices: factory settings to a healthy rack."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.lab
ROCETUNE = Path(sys.executable).with_name("rocetune")


class Rack:
    """A site of its own with its lab."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(self, *arguments: str, code: int = 0) -> str:
        """Stdout of one command that has to end with ``code``."""
        command = [str(ROCETUNE), "--site", str(self.root), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def stderr(self, *arguments: str) -> str:
        """What a command complains about."""
        command = [str(ROCETUNE), "--site", str(self.root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL).stderr


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """The shipped sample rack at factory settings."""
    found = Rack(tmp_path_factory.mktemp("rack"))
    found("init", str(found.root))
    found("lab", "start")
    yield found
    found("lab", "stop")


def test_log_in(rack: Rack) -> None:
    assert rack("lab", "ssh", "gpu01", "cat", "/sys/class/net/ens11np0/mtu") == "1500\n"
    assert "arista" in rack("lab", "ssh", "leaf1", "show version").lower()
    assert "no device" in rack.stderr("lab", "ssh", "leaf9", "true")


def test_bring_up(rack: Rack) -> None:
    before = json.loads(rack("--lab", "diff", "--format", "json", code=1))
    assert before["changed"] and ["gpu01", "gpu02", "gpu03", "gpu04"] in [
        group["devices"] for group in before["groups"]
    ]
    saved = rack.root / "saved"
    rack("--lab", "collect", "--running", str(saved))
    offline = json.loads(rack("diff", "--running", str(saved), "--format", "json", code=1))
    assert offline["summary"] == before["summary"]
    assert {path.stat().st_mode & 0o777 for path in saved.iterdir()} == {0o600}
    rack("--lab", "doctor", code=1)
    assert "is not in service" in rack("--lab", "apply", "--yes", code=2)  # link bounces are not accepted silently
    lines = rack("--lab", "apply", "--bring-up", "--yes").splitlines()
    assert lines[-1].startswith("applied: ") and "healthy" in lines[-1]
    assert rack("--lab", "doctor").splitlines()[-1].startswith("healthy")
    assert json.loads(rack("--lab", "diff", "--format", "json"))["changed"] is False
    again = rack("--lab", "apply", "--bring-up", "--yes").splitlines()
    assert again[-1].startswith("no changes: 6 devices already as planned, healthy")
    bundle = rack.root / "bundle.json"
    rack("--lab", "collect", "-o", str(bundle), "--interval", "0.1")
    rack("doctor", str(bundle))
    run = lines[-1].rpartition("run ")[2].rstrip(").")
    assert rack("--lab", "rollback", run, "--yes").splitlines()[-1].startswith("given back: ")
    after = json.loads(rack("--lab", "diff", "--format", "json", code=1))
    assert after["groups"] == before["groups"]

"""No secret is ever printed, logged, journaled or put into a bundle: planted ones are searched in every output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.rack import rack

pytestmark = pytest.mark.lab

PLANTED = {
    "inventory": "Inv3ntoryPlanted!",
    "environment": "Env1ronmentPlanted!",
    "eos user": "Us3rHashPlanted",
    "sonic snmp": "S0nicCommunityPlanted",
    "sonic tacacs": "TacacsK3yPlanted",
}


def run(root: Path, *words: str, expect: tuple[int, ...] = (0, 1)) -> str:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("rocetune")), "--site", str(root), *words],
        capture_output=True,
        text=True,
        env={**os.environ, "ROCETUNE_PASSWORD": PLANTED["environment"], "NO_COLOR": "1", "HOME": str(root)},
        check=False,
    )
    assert done.returncode in expect, (words, done.stdout, done.stderr)
    return done.stdout + done.stderr


def test_planted_secrets_appear_nowhere(tmp_path: Path) -> None:
    with rack(tmp_path) as site:
        site.lab.inside(
            "leaf1",
            lambda device: device.run_cmds(
                [
                    "enable",
                    "configure",
                    f"username audit privilege 15 secret sha512 {PLANTED['eos user']}",
                    "end",
                    "write memory",
                ],
                "text",
            ),
        )
        set_ = "sudo -n sonic-db-cli CONFIG_DB HSET"
        plant = f'{set_} "SNMP_COMMUNITY|{PLANTED["sonic snmp"]}" TYPE RO && '
        plant += f'{set_} "TACPLUS|global" passkey {PLANTED["sonic tacacs"]}'
        assert site.lab.inside("leaf2", lambda device: device.run(plant, b"")).status == 0
        hosts = tmp_path / "inventory" / "hosts.yaml"
        hosts.write_text(
            hosts.read_text().replace(
                "hostname: 192.0.2.11", f"hostname: 192.0.2.11\n  password: {PLANTED['inventory']}"
            )
        )
        outputs = [run(tmp_path, word, "-v") for word in ("validate", "plan")]
        outputs.append(run(tmp_path, "--lab", "diff", "-v"))
        outputs.append(run(tmp_path, "--lab", "apply", "--bring-up", "--yes", "-v"))
        outputs.append(run(tmp_path, "--lab", "doctor", "-v", "--format", "json"))
        outputs.append(run(tmp_path, "--lab", "collect", "-o", str(tmp_path / "bundle.json"), "-v"))
        site.lab.fault("gpu01", "unreachable")
        outputs.append(run(tmp_path, "--lab", "apply", "--bring-up", "--yes", "-v", expect=(2,)))
        site.lab.clear()
        (tmp_path / ".ssh").mkdir()
        # A real run against addresses that nobody answers on loopback: the refused login must not show what was tried.
        hosts.write_text(hosts.read_text().replace("192.0.2.11", "127.0.0.1").replace("192.0.2.12", "127.0.0.1"))
        outputs.append(run(tmp_path, "--limit", "leaf*", "diff", "-v", expect=(2,)))
        files = [path for path in (tmp_path / ".rocetune" / "lab" / "state").rglob("*") if path.is_file()]
        assert any(path.name == "journal.jsonl" for path in files)
        outputs += [path.read_text(errors="replace") for path in (*files, tmp_path / "bundle.json")]
        password = next(iter(site.lab.endpoints.values())).password
    for name, secret in {**PLANTED, "lab password": password}.items():
        assert not [text for text in outputs if secret in text], name

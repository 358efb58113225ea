"""Killing apply at random points never loses a device's state.

The rack is pushed back and forth between two profiles. Each push is killed (SIGKILL) at a random moment; the device
must then hold, for every key of an unconfirmed transaction, either the old or the new value, and never a mixture once
its timer has had its time. ``apply --resume`` from a new process then brings the rack to what was wanted.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocetune.app.applying import resume
from rocetune.app.diffing import diff
from rocetune.deploy import journal as journals
from rocetune.lab.clock import ManualClock
from tests.app.rack import Rack, rack, write_site

pytestmark = pytest.mark.lab

KILLS = 50
SHARE = 10  # kills per test, so that workers share them
PROFILES = ("ai-training", "lossy-roce")
_CLIENT = (
    "import sys; from pathlib import Path\n"
    "from rocetune.app.applying import apply\n"
    "from rocetune.app.workspace import open_workspace\n"
    "print('ready', flush=True)\n"
    "ws = open_workspace(Path(sys.argv[1]), lab=True)\n"
    "apply(ws, bring_up=True, yes_confirm=lambda report: True, interval_s=0.1)\n"
)


def foreign(site: Rack) -> dict[str, str]:
    """What nobody may touch: lines of others on the switches, a file and the management port of the server."""
    shown = site.lab.inside("leaf1", lambda device: device.run_cmds(["enable", "show running-config"], "text"))
    eos = shown[-1]["output"]
    dump = site.lab.inside("leaf2", lambda device: device.run("sonic-cfggen -d --print-data", b""))
    assert dump.status == 0, dump.stderr
    sonic = json.loads(dump.stdout)
    listing = site.lab.inside("gpu01", lambda device: device.run("cat /sys/class/net/eno1/mtu; ls /etc", b""))
    server = listing.stdout
    return {
        "leaf1": "\n".join(line for line in eos.splitlines() if line.startswith(("ntp", "username", "hostname"))),
        "leaf2": json.dumps([sonic[table] for table in ("BGP_NEIGHBOR", "NTP_SERVER", "VLAN")]),
        "gpu01": "\n".join(line for line in server.splitlines() if "rocetune" not in line),
    }


def push_and_kill(site: Rack, after_s: float) -> bool:
    """Start an apply in a process of its own and kill it; False when it had ended before."""
    client = subprocess.Popen(
        [sys.executable, "-c", _CLIENT, str(site.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert client.stdout is not None
    assert client.stdout.readline() == b"ready\n"
    try:
        client.wait(after_s)
        return False
    except subprocess.TimeoutExpired:
        client.send_signal(signal.SIGKILL)
        client.wait()
        return True


def old_or_new(site: Rack, timers_fired: bool) -> None:
    """Every open transaction of the cut-off run is wholly old or wholly new on its device."""
    record = journals.unfinished(site.ws.state)
    if record is None:
        return
    now = {item.device: item for item in diff(site.ws).devices}
    assert all(item.error is None for item in now.values())
    if not timers_fired:
        return
    for entry in record.tokens:
        if entry.outcome is None:
            assert standing(site, entry) in ("old", "new"), entry.token


def standing(site: Rack, entry: journals.TokenRecord) -> str:
    from rocetune import platforms
    from rocetune.app.planning import make_plan
    from rocetune.app.reading import make_fleet, quiet, read_facts
    from rocetune.deploy.transaction import read_running, standing

    ws, name = site.ws, entry.token.device
    plan = make_plan(ws)
    fleet = make_fleet(ws, plan, (name,))
    try:
        facts = read_facts(fleet, (name,), quiet)[name].value
        assert facts is not None
        platform = platforms.get(plan.devices[name].device.platform)
        running = read_running(fleet.session(name), platform, facts, name)
        return standing(running, {key: (old, new) for key, old, new in entry.changes})
    finally:
        fleet.close()


@pytest.mark.parametrize("seed", range(KILLS // SHARE))
def test_a_killed_apply_leaves_old_or_new_and_resume_finishes(tmp_path: Path, seed: int) -> None:
    choice = random.Random(seed)
    clock = ManualClock(time.time())
    with rack(tmp_path, clock=clock) as site:
        started = time.monotonic()
        assert site.apply().verdict == "applied"
        whole_s = time.monotonic() - started
        untouched = foreign(site)
        for number in range(1, SHARE + 1):
            write_site(tmp_path, profile=PROFILES[number % 2])
            killed = push_and_kill(site, choice.uniform(0.05, 0.9 * whole_s))
            fire = killed and choice.random() < 0.5
            if fire:
                clock.advance(700)  # longer than any undo timer
                site.lab.sync()
            old_or_new(site, fire)
            assert foreign(site) == untouched
            report = resume(site.ws, interval_s=0.1) if journals.unfinished(site.ws.state) is not None else site.apply()
            assert report.verdict in ("applied", "unchanged"), report.problems
        assert site.apply().verdict == "unchanged"
        assert foreign(site) == untouched

"""The brake: an interrupt finds devices that were never handed out."""

from __future__ import annotations

import os
import signal
import threading

from rocetune.deploy.fleet import Fleet, Member
from rocetune.deploy.links import Endpoint
from rocetune.deploy.push import waves
from rocetune.deploy.runner import brake
from rocetune.platforms.base import DeviceError


class Nothing:
    name = "nothing"
    transport = "ssh"


def fleet(count, workers):
    return Fleet((Member(f"d{n:02}", Nothing(), Endpoint("127.0.0.1")) for n in range(count)), workers=workers)


def test_all_devices_are_done_and_errors_become_answers():
    def work(member):
        if member.name == "d03":
            raise DeviceError(member.name, "show x", "refused")
        return member.name

    answers = fleet(10, 3).each([f"d{n:02}" for n in range(10)], work)
    assert len(answers) == 10
    assert answers["d03"].error.text == "refused"
    assert answers["d04"].value == "d04"


def test_never_more_than_the_limit_at_once():
    lock, now, most = threading.Lock(), [0], [0]

    def work(member):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        with lock:
            now[0] -= 1

    fleet(30, 4).each([f"d{n:02}" for n in range(30)], work)
    assert most[0] <= 4


def test_ctrl_c_stops_handing_out_devices_and_lets_those_at_work_finish():
    group = fleet(40, 2)
    finished = []

    def work(member):
        if member.name == "d01":
            os.kill(os.getpid(), signal.SIGINT)
            group.cancel.wait(5)
        finished.append(member.name)

    with brake(group.cancel):
        answers = group.each([f"d{n:02}" for n in range(40)], work)
    assert "d01" in finished
    assert set(answers) == set(finished)
    assert len(answers) < 10


class _Work:
    def __init__(self, device, platform, role):
        self.device, self.role = device, role
        self.platform = type("P", (), {"name": platform})


def test_one_canary_per_platform_then_equal_waves_that_do_not_mix_roles():
    scope = [_Work(f"s{n}", "eos", "spine") for n in range(3)] + [_Work(f"l{n}", "sonic", "leaf") for n in range(5)]
    got = list(waves(scope, 2))
    assert got == [
        ("canary", ("s0", "l0")),
        ("wave 1/3", ("s1", "s2")),
        ("wave 2/3", ("l1", "l2")),
        ("wave 3/3", ("l3", "l4")),
    ]

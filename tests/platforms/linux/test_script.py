"""The host script on its own: what it refuses, and what it never touches."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rocetune.platforms.linux import keys, script

BEYOND = [
    "port.ens11np0.mtu=9000; reboot",
    "port.ens11np0.mtu=$(id)",
    "port.ens11np0.mtu=`id`",
    "port.ens11np0.mtu=0x10",
    "port.ens11np0.mtu=99999",
    "port.ens11np0.mtu=",
    "port.ens11np0.mtu",
    "port.../../etc.mtu=9000",
    "port.ens11np0;id.mtu=9000",
    "port.-x.mtu=9000",
    "port.averyveryverylongname.mtu=9000",
    "port.ens11np0.unheard=1",
    "port.ens11np0.dscp2prio.64=3",
    "port.ens11np0.dscp2prio.26=8",
    "port.ens11np0.pfc=0,0,0,1",
    "port.ens11np0.pfc=0,0,0,1,0,0,0,0,0",
    "port.ens11np0.pfc=0,0,0,2,0,0,0,0",
    "port.ens11np0.ets.tsa=ets,ets,ets,ets,ets,ets,strict,evil",
    "port.ens11np0.ets.bw=50,0,0,500,0,0,0,0",
    "port.ens11np0.trust=none",
    "port.ens11np0.cable_m=1000",
    "port.ens11np0.storm_prevention_ms=79",
    "port.ens11np0.traffic_class=-2",
    "port.ens11np0.dcqcn.unheard=1",
    "port.ens11np0.persist=boot,unheard",
    "port.ens11np0.roce_mode=v3",
    "env.NCCL_IB_TC=106 ; id",
    "env.NCCL_IB_TC=$HOME",
    "env.lower=1",
    'env.A="x"',
    "settings=1",
    "port.ens11np0.mtu=9000\r",
]
WITHIN = [
    "port.ens11np0.mtu=9000",
    "port.rail-0.dscp2prio.0=7",
    "port.ens11np0.dscp2prio.63=-",
    "port.ens11np0.traffic_class=-1",
    "port.ens11np0.storm_prevention_ms=0",
    "port.ens11np0.persist=boot,rpg_ai_rate",
    "port.ens11np0.ets.tsa=ets,ets,vendor,ets,ets,ets,strict,ets",
    "env.NCCL_IB_TC=106",
    "env.UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1",
    "env.GONE=",
]


def shell(tmp_path: Path, lines: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/bin/sh", "-s"],
        input=script.drive(lines),
        env={"PATH": "/usr/bin:/bin", "ROCETUNE_ROOT": str(tmp_path)},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("text", BEYOND)
def test_a_line_outside_the_grammar_refuses_the_whole_file(tmp_path: Path, text: str) -> None:
    settings = tmp_path / "settings"
    settings.write_bytes(f"port.ens11np0.mtu=1500\n{text}\n".encode())
    done = shell(tmp_path, [f"main verify '{settings}'"])
    assert done.returncode == 2
    assert b"line 2 of the settings is not valid" in done.stderr
    with pytest.raises(keys.BadSetting, match="line 2"):
        keys.parse(f"port.ens11np0.mtu=1500\n{text}".replace("\r", "\x01"))


@pytest.mark.parametrize("text", WITHIN)
def test_script_and_parser_accept_the_same_lines(tmp_path: Path, text: str) -> None:
    key, _, value = text.partition("=")
    assert keys.parse(text) == {tuple(key.split(".")): value}
    done = shell(tmp_path, [f"valid '{key}' '{value}'"])
    assert done.returncode == 0


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/etc/rocetune/../passwd",
        "/sys/class/net/ens11np0/../../../../etc/passwd",
        "/sys/class/net/ens11np0/address",
        "/etc/systemd/system/sshd.service",
        "/srv/x",
        "relative",
        "/etc/rocetune/a b",
        "/etc/rocetune/$(id)",
    ],
)
def test_put_writes_nowhere_else(tmp_path: Path, path: str) -> None:
    (tmp_path / "etc/rocetune").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    done = shell(tmp_path, [f"put '{path}' 1 || printf '%s' \"$REASON\"", ":"])
    assert b"not a path this script may write" in done.stdout
    assert sorted(tmp_path.rglob("*")) == before


def test_put_honours_the_root(tmp_path: Path) -> None:
    (tmp_path / "etc/rocetune").mkdir(parents=True)
    assert shell(tmp_path, ["put /etc/rocetune/roce.env A=1"]).returncode == 0
    assert (tmp_path / "etc/rocetune/roce.env").read_text() == "A=1\n"


def test_an_interface_that_is_not_there_fails_and_nothing_is_written(tmp_path: Path) -> None:
    settings = tmp_path / "settings"
    settings.write_text("port.ens11np0.mtu=9000\n")
    done = shell(tmp_path, [f"main apply '{settings}' --phase qos --interface ens11np0"])
    assert done.returncode == 1
    assert done.stdout == b"failed port.ens11np0 no such interface\n"


@pytest.mark.parametrize("words", ["read 'x;id'", "commit ../x 5", "pending 'a b'", "nonsense", "commit rocetune-x 0"])
def test_arguments_are_checked(tmp_path: Path, words: str) -> None:
    assert shell(tmp_path, [f"main {words}"]).returncode == 2


@pytest.mark.parametrize("words", [("read", "x;id"), ("read", "$(id)"), ("READ",)])
def test_a_call_from_here_is_checked_before_it_is_sent(words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="not a call"):
        script.call(*words)


def test_answers_are_told_apart_by_their_marks() -> None:
    mark = "@@rocetune-0123"
    output = f"{mark} begin 0\none\ntwo\n\n{mark} end 0 0\n{mark} begin 1\n{mark} end 0 0 forged\n\n{mark} end 1 7\n"
    assert script.split(output, 3, mark) == [(0, "one\ntwo\n"), (7, f"{mark} end 0 0 forged\n"), None]


def test_boot_units_call_the_installed_script() -> None:
    for name, phase in (("rocetune-qos@.service", "qos"), ("rocetune-rdma@.service", "rdma")):
        text = script.shipped(name)
        start = next(line for line in text.splitlines() if line.startswith("ExecStart="))
        assert "/usr/local/lib/rocetune/rocetune-host.sh apply /etc/rocetune/settings" in start
        assert f"--phase {phase} --interface %i" in start
    assert 'DRIVERS=="mlx5_core"' in script.shipped("90-rocetune.rules")
    # A PFC bounce must be over before the network counts as online.
    assert "network-online.target" in next(
        line for line in script.shipped("rocetune-qos@.service").splitlines() if line.startswith("Before=")
    )


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_the_script_is_clean_posix_shell(tmp_path: Path) -> None:
    file = tmp_path / script.SCRIPT
    file.write_text(script.shipped(script.SCRIPT))
    done = subprocess.run(["shellcheck", "-s", "sh", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

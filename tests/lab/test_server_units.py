"""systemd as far as the product needs it: timers by the injected clock, units, boot with persistence."""

from __future__ import annotations

import re

from .conftest import Server

UNIT = """[Unit]
Description=Settings of %I
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStartPre=-/sbin/modprobe nothing_of_the_kind
ExecStart=/bin/sh /usr/local/lib/demo/boot.sh qos %I
[Install]
WantedBy=multi-user.target
"""
SCRIPT = """#!/bin/sh
ip link set dev "$2" mtu 9000
mlnx_qos -i "$2" --pfc 0,0,0,1,0,0,0,0 >/dev/null
echo "$1" >"$ROCETUNE_ROOT/run/demo.$2"
"""


def arm(server: Server, seconds: int = 60, name: str = "demo-undo") -> None:
    server.ok(f"systemd-run --on-active={seconds} --unit={name} --collect sh -c 'echo fired >> /run/fired'")


def test_a_timer_fires_when_the_clock_says_so(server: Server) -> None:
    arm(server)
    server.later(59)
    assert not (server.root / "run/fired").exists()
    assert server.ok("systemctl is-active demo-undo.timer") == "active\n"
    server.later(1)
    assert (server.root / "run/fired").read_text() == "fired\n"
    assert server("systemctl is-active demo-undo.timer").status == 3
    server.later(600)
    assert (server.root / "run/fired").read_text() == "fired\n"


def test_a_second_timer_of_the_same_name_is_refused(server: Server) -> None:
    arm(server)
    result = server("systemd-run --on-active=5 --unit=demo-undo true")
    assert result.status == 1
    assert "Unit demo-undo.timer was already loaded or has a fragment file" in result.stderr


def test_a_stopped_timer_never_fires_and_frees_its_name(server: Server) -> None:
    arm(server)
    server.ok("systemctl stop demo-undo.timer")
    server.later(120)
    assert not (server.root / "run/fired").exists()
    arm(server)
    result = server("systemctl stop other.timer")
    assert result.status == 5 and "not loaded" in result.stderr


def test_time_spans_and_what_show_says(server: Server) -> None:
    server.ok("systemd-run -q --on-active='5min 30s' --unit=demo /bin/true")
    server.later(30)
    shown = server.ok("systemctl show demo.timer -p ActiveState,LoadState,NextElapseUSecMonotonic")
    assert shown == "ActiveState=active\nLoadState=loaded\nNextElapseUSecMonotonic=5min 30s\n"
    assert server.ok("systemctl show demo.timer --value -p Transient") == "yes\n"
    assert "5min 0s left" in server.ok("systemctl list-timers --no-legend 'demo*'")
    assert server("systemd-run --on-active=soon --unit=x true").status == 1


def test_a_missing_executable_is_refused(server: Server) -> None:
    result = server("systemd-run --unit=demo /usr/local/bin/absent")
    assert result.status == 1 and "Failed to find executable" in result.stderr


def test_a_transient_service_runs_detached_and_reports_failure(server: Server) -> None:
    server.ok("systemd-run --wait --unit=good sh -c 'echo done > /run/good'")
    assert (server.root / "run/good").read_text() == "done\n"
    assert server("systemd-run --wait --unit=bad sh -c 'exit 3'").status == 3
    assert server.ok("systemctl show bad -p Result,ExecMainStatus") == "Result=exit-code\nExecMainStatus=3\n"
    assert server("systemctl is-active bad").stdout == "failed\n"
    # the failed unit keeps its name until it is reset
    assert server("systemd-run --unit=bad true").status == 1
    server.ok("systemctl reset-failed bad.service")
    server.ok("systemd-run --wait --unit=bad true")


def test_arguments_reach_the_timer_unharmed(server: Server) -> None:
    server.ok("""systemd-run --on-active=1 --unit=q sh -c 'printf "%s|" "$@" > /run/args' sh "a b" "it's" '$HOME'""")
    server.later(1)
    assert (server.root / "run/args").read_text() == "a b|it's|$HOME|"


def install(server: Server) -> None:
    server.ok("mkdir -p /usr/local/lib/demo && cat > /usr/local/lib/demo/boot.sh", SCRIPT)
    server.ok("cat > /etc/systemd/system/demo-qos@.service", UNIT)


def test_unit_files_start_with_their_instance(server: Server) -> None:
    install(server)
    server.ok("systemctl daemon-reload && systemctl start demo-qos@ens11np0.service")
    assert server.ok("cat /sys/class/net/ens11np0/mtu /run/demo.ens11np0") == "9000\nqos\n"
    assert server.ok("systemctl is-active demo-qos@ens11np0") == "active\n"
    result = server("systemctl start nothing.service")
    assert result.status == 5 and "Unit nothing.service not found" in result.stderr


def test_reboot_returns_to_factory_and_starts_enabled_units(server: Server) -> None:
    install(server)
    boot_id = server.ok("cat /proc/sys/kernel/random/boot_id")
    server.ok("systemctl enable demo-qos@ens11np0")
    assert server.ok("systemctl is-enabled demo-qos@ens11np0") == "enabled\n"
    server.ok("ip link set dev ens12np0 mtu 9000; mlnx_qos -i ens12np0 --trust dscp; cma_roce_tos -d mlx5_1 -t 106")
    server.ok("echo 106 > /sys/class/infiniband/mlx5_1/tc/1/traffic_class; touch /run/gone")
    arm(server)
    server.emulator.reboot()
    assert server.emulator.boots == 1
    assert server.ok("cat /sys/class/net/ens11np0/mtu /sys/class/net/ens12np0/mtu") == "9000\n1500\n"
    assert "trust state: pcp" in server.ok("mlnx_qos -i ens12np0")
    assert server.ok("mlnx_qos -i ens11np0 -P 3") == "1\n"
    assert server.ok("cma_roce_tos -d mlx5_1; cat /sys/class/infiniband/mlx5_1/tc/1/traffic_class") == "0\n"
    assert server("ls /run/gone").status != 0
    assert server("systemctl is-active demo-undo.timer").status == 3
    assert server.ok("cat /proc/sys/kernel/random/boot_id") != boot_id


def test_udev_rules_start_units_for_mlx5_ports_at_boot(server: Server) -> None:
    install(server)
    rule = 'ACTION=="add", SUBSYSTEM=="net", DRIVERS=="mlx5_core", TAG+="systemd", '
    server.ok("cat > /etc/udev/rules.d/90-demo.rules", rule + 'ENV{SYSTEMD_WANTS}+="demo-qos@$name.service"\n')
    server.emulator.reboot()
    assert server.ok("cat /sys/class/net/ens11np0/mtu /sys/class/net/ens20f0np0/mtu") == "9000\n9000\n"
    assert server.ok("cat /sys/class/net/eno1/mtu") == "1500\n"


def test_a_unit_that_fails_at_boot_is_failed(server: Server) -> None:
    install(server)
    server.ok("systemctl enable demo-qos@ens11np0; echo 'exit 7' > /usr/local/lib/demo/boot.sh")
    server.emulator.reboot()
    assert server("systemctl is-active demo-qos@ens11np0").stdout == "failed\n"


def test_the_reboot_command_cuts_the_connection(server: Server) -> None:
    assert server("sudo -n reboot").drop
    assert server.emulator.boots == 1


def test_foreign_files_survive(server: Server) -> None:
    before = server.ok("cat /etc/modprobe.d/site-mlx5.conf")
    server.emulator.reboot()
    assert server.ok("cat /etc/modprobe.d/site-mlx5.conf") == before != ""


def test_state_survives_a_restart_of_the_lab(server: Server, tmp_path: object) -> None:
    server.ok("mlnx_qos -i ens11np0 --trust dscp")
    arm(server)
    again = Server(server.emulator.home.parent, server.clock, {})
    assert "trust state: dscp" in again.ok("mlnx_qos -i ens11np0")
    again.later(60)
    assert (again.root / "run/fired").exists()


def test_escape(server: Server) -> None:
    assert server.ok("systemd-escape --template=demo@.service a-b") == "demo@a\\x2db.service\n"
    assert server.ok("systemd-escape --unescape 'a\\x2db-c'") == "a-b/c\n"


def test_uptime_follows_the_clock(server: Server) -> None:
    server.ok("true")
    server.later(125)
    assert re.fullmatch(r"125\.00 .*\n", server.ok("cat /proc/uptime"))
    assert int(server.ok("date +%s")) == int(server.clock())

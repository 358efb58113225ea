"""Faults of the emulated server and the counters that tell of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import Server

IF = "ens11np0"
GOOD = (
    f"ethtool -A {IF} rx off tx off; ip link set dev {IF} mtu 9000; mlnx_qos -i {IF} -d os --trust dscp "
    f"--pfc 0,0,0,1,0,0,0,0; cma_roce_tos -d mlx5_0 -t 106; ethtool --set-tunable {IF} pfc-prevention-tout 100; "
    "echo 106 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class"
)


@pytest.fixture
def good(server: Server) -> Server:
    """A server whose first rail is set up."""
    server.ok(GOOD)
    return server


def stats(server: Server) -> dict[str, int]:
    """``ethtool -S`` of the first rail."""
    rows = (line.strip().split(": ") for line in server.ok(f"ethtool -S {IF}").splitlines()[1:])
    return {name: int(value) for name, value in rows}


def rise(server: Server, seconds: float = 10.0) -> dict[str, int]:
    """What rose within a time."""
    before = stats(server)
    server.clock.advance(seconds)
    after = stats(server)
    return {name: value - before.get(name, 0) for name, value in after.items() if value != before.get(name, 0)}


def test_traffic_shows_on_the_priority_that_marking_and_trust_give(server: Server) -> None:
    assert "rx_prio0_bytes" in rise(server)
    server.ok(GOOD)
    grown = rise(server)
    assert grown["rx_prio3_bytes"] > 0 and "rx_prio0_bytes" not in grown
    assert grown["rx_prio6_packets"] > 0  # CNPs, DSCP 48
    assert not any("pause" in name or "discard" in name for name in grown)


def test_rdma_counters_rise_in_a_closed_loop(good: Server) -> None:
    def read(name: str) -> int:
        return int(good.ok(f"cat /sys/class/infiniband/mlx5_0/ports/1/hw_counters/{name}"))

    before = {name: read(name) for name in ("np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled")}
    good.clock.advance(10)
    grown = {name: read(name) - value for name, value in before.items()}
    assert grown["np_ecn_marked_roce_packets"] > grown["np_cnp_sent"] > 0
    assert grown["rp_cnp_handled"] > 0
    assert read("out_of_sequence") == read("packet_seq_err") == 0
    assert f"np_cnp_sent {read('np_cnp_sent')}" in good.ok("rdma statistic show link mlx5_0/1")


def test_storm_sends_pauses_on_the_data_priority_until_it_is_cleared(good: Server) -> None:
    good.inject("storm", "rail0")
    grown = rise(good)
    assert grown["tx_prio3_pause"] >= 100_000 and grown["tx_prio3_pause_duration"] > 5_000_000
    assert grown["tx_pause_storm_warning_events"] > 0 and grown["tx_pause_storm_error_events"] > 0
    assert good.emulator.counters("rail0")["pfc_tx.3"] > 0
    assert good.emulator.counters("rail1")["pfc_tx.3"] == 0
    good.emulator.clear(good.faults.pop())
    assert not any("pause" in name for name in rise(good))


def test_a_long_stall_timer_never_ends_the_storm(good: Server) -> None:
    good.inject("stall_timer", "rail0")
    good.inject("storm", "rail0")
    assert "tx_pause_storm_error_events" not in rise(good)


@pytest.mark.parametrize(
    ("fault", "value", "command", "shows", "fix"),
    [
        ("wrong_trust", None, f"mlnx_qos -i {IF}", "trust state: pcp", f"mlnx_qos -i {IF} --trust dscp"),
        ("wrong_map", "26:5", f"dcb -N app show dev {IF}", " 26:5 ", f"mlnx_qos -i {IF} --dscp2prio set,26,3"),
        ("pfc_missing", None, f"mlnx_qos -i {IF} -P 3", "0\n", f"mlnx_qos -i {IF} --pfc 0,0,0,1,0,0,0,0"),
        ("mtu", "1500", f"cat /sys/class/net/{IF}/mtu", "1500\n", f"ip link set dev {IF} mtu 9000"),
        ("tos", None, "cma_roce_tos -d mlx5_0", "0\n", "cma_roce_tos -d mlx5_0 -t 106"),
        (
            "traffic_class",
            "96",
            "cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class",
            "Global tclass=96\n",
            "echo 106 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class",
        ),
        (
            "cnp_dscp",
            "4",
            f"cat /sys/class/net/{IF}/ecn/roce_np/cnp_dscp",
            "4\n",
            f"echo 48 > /sys/class/net/{IF}/ecn/roce_np/cnp_dscp",
        ),
        (
            "ecn_off",
            None,
            f"cat /sys/class/net/{IF}/ecn/roce_rp/enable/3",
            "0\n",
            f"echo 1 > /sys/class/net/{IF}/ecn/roce_rp/enable/3",
        ),
        ("global_pause", None, f"ethtool -a {IF}", "RX:\t\ton", f"ethtool -A {IF} rx off tx off"),
        ("dcbx_firmware", None, f"mlnx_qos -i {IF}", "Firmware controlled", f"mlnx_qos -i {IF} -d os"),
        (
            "stall_timer",
            None,
            f"ethtool --get-tunable {IF} pfc-prevention-tout",
            "8000\n",
            f"ethtool --set-tunable {IF} pfc-prevention-tout 100",
        ),
        ("lldpad", None, "systemctl is-active lldpad || true", "active\n", "systemctl disable --now lldpad"),
    ],
)
def test_a_mis_setting_is_visible_and_a_person_can_mend_it(
    good: Server, fault: str, value: str | None, command: str, shows: str, fix: str
) -> None:
    healthy = good.ok(command)
    assert shows not in healthy or fault == "lldpad"
    good.inject(fault, None if fault == "lldpad" else "rail0", value)
    assert shows in good.ok(command)
    good.ok(fix)
    assert good.ok(command) == healthy


def test_wrong_map_defaults_to_the_lossless_class(good: Server) -> None:
    good.inject("wrong_map", "rail0")
    assert " 26:0 " in good.ok(f"dcb -N app show dev {IF}")


def test_lost_at_reboot_takes_what_would_restore_settings(good: Server) -> None:
    good.ok("mkdir -p /etc/rocetune && echo x > /etc/rocetune/settings && echo x > /etc/udev/rules.d/90-rocetune.rules")
    good.ok("echo x > /etc/systemd/system/rocetune-qos@.service")
    good.inject("lost_at_reboot")
    assert good.ok("ls -A /etc/udev/rules.d; ls -A /etc/systemd/system; ls -d /etc/rocetune 2>/dev/null || true") == ""
    assert good.emulator.boots == 1
    assert good.ok("cat /etc/modprobe.d/site-mlx5.conf") != ""
    assert "trust state: pcp" in good.ok(f"mlnx_qos -i {IF}")


def test_refused_tools_and_refused_files(good: Server) -> None:
    good.inject("refuse_line", value="--pfc")
    result = good(f"mlnx_qos -i {IF} --pfc 0,0,0,0,0,0,0,0")
    assert result.status == 1 and "not permitted" in result.stderr
    assert good.ok(f"mlnx_qos -i {IF} -P 3") == "1\n"
    good.faults.clear()
    good.inject("refuse_line", value="/ecn/roce_np/cnp_dscp")
    good(f"echo 4 > /sys/class/net/{IF}/ecn/roce_np/cnp_dscp")
    assert good.ok(f"cat /sys/class/net/{IF}/ecn/roce_np/cnp_dscp") == "48\n"


def test_wrong_faults_are_refused_with_what_would_be_right(server: Server) -> None:
    with pytest.raises(ValueError, match="rail0, rail1, stor0"):
        server.inject("mtu", "rail7")
    with pytest.raises(ValueError, match="68 to 9978"):
        server.inject("mtu", "rail0", "giant")
    with pytest.raises(ValueError, match="it knows storm"):
        server.inject("gremlin")


def test_inbox_servers_take_the_same_faults(make_server: Callable[..., Server]) -> None:
    server = make_server(driver="inbox")
    server.inject("cnp_dscp", "rail0", "4")
    assert server.ok("cat /sys/kernel/debug/mlx5/0000:1a:00.0/cc_params/np_cnp_dscp") == "4\n"
    server.inject("wrong_map", "rail0", "26:1")
    with pytest.raises(ValueError, match="inbox"):
        server.inject("ecn_off", "rail0")


def test_a_bounce_shows_as_link_down_for_its_time(make_server: Callable[..., Server]) -> None:
    server = make_server(bounce_ms="2000")
    server.ok(f"mlnx_qos -i {IF} --pfc 0,0,0,1,0,0,0,0")
    server.later(1)
    assert server.ok(f"cat /sys/class/net/{IF}/carrier") == "0\n"
    assert "Link detected: no" in server.ok(f"ethtool {IF}")
    server.later(1)
    assert server.ok(f"cat /sys/class/net/{IF}/carrier") == "1\n"


def test_faults_look_at_what_a_long_script_calls_not_at_all_it_could_do(server: Server) -> None:
    script = b"commit() { :; }\n" * 1000 + b"demo_driver() {\n( main pending )\n}\ndemo_driver\n"
    said = server.emulator.said("sh -s", script)
    assert "main pending" in said and "commit" not in said and said.startswith("sh -s\n")
    assert "commit" in server.emulator.said("sh -s", b"commit now")

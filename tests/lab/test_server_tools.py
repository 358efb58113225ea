"""The stand-in tools keep the argument rules of the real ones (host_mlx5 §1.1-1.9, host_linux_dcb §1-2)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from .conftest import Server

IF = "ens11np0"
Q = f"mlnx_qos -i {IF}"


def line(text: str, start: str) -> str:
    """The first line that begins so, stripped."""
    return next(item.strip() for item in text.splitlines() if item.strip().startswith(start))


def enabled(text: str) -> str:
    """The PFC bits that mlnx_qos printed."""
    return ",".join(line(text, "enabled").split()[1:])


def test_mlnx_qos_prints_factory_settings_in_the_real_format(server: Server) -> None:
    text = server.ok(Q)
    assert text.startswith("DCBX mode: Firmware controlled\nPriority trust state: pcp\nReceive buffer size (bytes): ")
    assert "Cable len: 7\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n" in text
    assert "\tenabled     0   0   0   0   0   0   0   0   \n" in text
    # the driver swaps priorities 0 and 1
    assert "tc: 0 ratelimit: unlimited, tsa: vendor\n\t priority:  1\ntc: 1 ratelimit" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--pfc 0,0,0,1,0,0,0", "pfc list must have 8 items"),
        ("--pfc 0,0,0,1,0,0,0,0,0", "Too many items for PFC"),
        ("-p 0,1,2,3,4,5,6", "prio_tc list must have 8 items"),
        ("-s ets,ets", "tsa list must have 8 items"),
        ("-t 100", "tcbw list must have 8 items"),
        ("extra", "Bad arguments"),
        ("--trust dscp --dscp2prio set,26,3", "trust and dscp2prio"),
        ("--dscp2prio set,64,3", "0-63"),
        ("--dscp2prio set,26,8", "0-7"),
    ],
)
def test_mlnx_qos_refuses_on_stdout_with_exit_1(server: Server, arguments: str, says: str) -> None:
    before = server.ok(Q)
    result = server(f"{Q} {arguments}")
    assert result.status == 1
    assert says in result.stdout
    assert server.ok(Q) == before


def test_mlnx_qos_needs_an_interface(server: Server) -> None:
    result = server("mlnx_qos --trust dscp")
    assert (result.status, result.stdout) == (1, "Interface name is required\n")


def test_mlnx_qos_unknown_option_is_an_optparse_error(server: Server) -> None:
    result = server(f"{Q} --pauze 1")
    assert result.status == 2 and "no such option: --pauze" in result.stderr


@pytest.mark.parametrize("form", ["--pfc 0,0,0,1,0,0,0,0", "--pfc=0,0,0,1,0,0,0,0", "-f 0,0,0,1,0,0,0,0"])
def test_both_spellings_of_an_option_work(server: Server, form: str) -> None:
    assert enabled(server.ok(f"{Q} {form}")) == "0,0,0,1,0,0,0,0"


def test_specific_pfc_exits_silently_and_ignores_the_rest(server: Server) -> None:
    server.ok(f"{Q} --pfc 0,0,0,1,0,0,0,0")
    assert server.ok(f"{Q} -F x,x,x,x,1,x,x,x --trust dscp") == ""
    text = server.ok(Q)
    assert enabled(text) == "0,0,0,1,1,0,0,0"
    assert "trust state: pcp" in text


def test_get_pfc_prints_one_bit_and_exits(server: Server) -> None:
    server.ok(f"{Q} --pfc 0,0,0,1,0,0,0,0")
    assert server.ok(f"{Q} -P 3") == "1\n"
    assert server.ok(f"{Q} -P 4") == "0\n"


def test_trust_dscp_writes_the_default_map_once(server: Server) -> None:
    text = server.ok(f"{Q} --trust dscp")
    assert "\tprio:3 dscp:31,30,29,28,27,26,25,24,\n" in text
    server.ok(f"{Q} --dscp2prio set,26,5")
    # already dscp: an altered map is not repaired, and one with nine members takes two lines
    text = server.ok(f"{Q} --trust dscp")
    assert "\tprio:3 dscp:31,30,29,28,27,25,24,\n" in text
    assert "\tprio:5 dscp:47,46,45,44,43,42,41,40,\n\tprio:5 dscp:26,\n" in text


def test_the_first_app_entry_flips_trust_and_the_last_one_back(server: Server) -> None:
    text = server.ok(f"{Q} --dscp2prio set,26,3")
    assert "trust state: dscp" in text and "dscp2prio mapping:\n\tprio:3 dscp:26,\nReceive" in text
    assert "trust state: pcp" in server.ok(f"{Q} --dscp2prio del,26,3")


def test_del_resets_a_dscp_to_priority_0_in_firmware(server: Server) -> None:
    server.ok(f"{Q} --trust dscp")
    server.ok(f"{Q} --dscp2prio del,26,3")
    assert "26:" not in server.ok(f"dcb -N app show dev {IF}")
    assert "d26=0" in (server.emulator.home / "nic" / IF).read_text()


def test_cable_length_outside_1_to_999_is_ignored_silently(server: Server) -> None:
    assert line(server.ok(f"{Q} --cable_len 40"), "Cable len") == "Cable len: 40"
    for value in ("0", "1000", "65535"):
        assert line(server.ok(f"{Q} --cable_len {value}"), "Cable len") == "Cable len: 40"
    assert server(f"{Q} --cable_len 65536").status == 1


def test_ets_shares_must_sum_to_100(server: Server) -> None:
    ets = "-s ets,ets,ets,ets,ets,ets,strict,ets"
    text = server.ok(f"{Q} {ets} -t 50,0,0,50,0,0,0,0 -p 0,1,2,3,4,5,6,7")
    assert "tc: 3 ratelimit: unlimited, tsa: ets, bw: 50%\n\t priority:  3\n" in text
    assert "tc: 6 ratelimit: unlimited, tsa: strict\n" in text
    for shares in ("50,0,0,40,0,0,0,0", "50,0,0,50,0,0,10,0"):
        result = server(f"{Q} {ets} -t {shares}")
        assert result.status == 1 and "Invalid argument" in result.stderr
    assert "BW sum is illegal" in server.ok("dmesg")


def test_only_a_changed_pfc_bitmap_bounces_the_link(server: Server) -> None:
    def downs() -> int:
        return int(line(server.ok(f"ethtool -S {IF}"), "link_down_events_phy").split()[-1])

    server.ok(f"{Q} --pfc 0,0,0,1,0,0,0,0")
    assert downs() == 1
    server.ok(f"{Q} --pfc 0,0,0,1,0,0,0,0")
    server.ok(f"{Q} --trust dscp --cable_len 30")
    server.ok(f"ethtool -A {IF} rx off tx off")
    server.ok(f"ip link set dev {IF} mtu 9000")
    assert downs() == 1
    server.ok(f"dcb pfc set dev {IF} prio-pfc all:off")
    assert downs() == 2


def test_manual_buffers_are_checked_by_the_driver(server: Server) -> None:
    server.ok(f"ethtool -A {IF} rx off tx off")
    server.ok(f"ip link set dev {IF} mtu 9000")
    server.ok(f"{Q} --pfc 0,0,0,1,0,0,0,0")
    # 400G, 7 m, MTU 9000: 150,880 bytes of headroom by the driver's formula, and a frame above it
    result = server(f"{Q} --buffer_size 20016,150880,0,0,0,0,0,0")
    assert result.status == 1 and "Traceback" in result.stderr
    server.ok(f"{Q} --buffer_size 20016,180000,0,0,0,0,0,0")
    refused = server(f"{Q} --cable_len 7 --pfc 0,0,0,1,1,0,0,0 --prio2buffer 0,0,0,1,2,0,0,0")
    assert refused.status == 1


def test_dcbx_modes(server: Server) -> None:
    assert "DCBX mode: OS controlled" in server.ok(f"{Q} -d os")
    assert "DCBX mode: OS controlled" in server.ok(f"{Q} -d get")
    assert json.loads(server.ok(f"dcb -j dcbx show dev {IF}")) == {"host": True, "ieee": True}
    assert "Firmware controlled" in server.ok(f"{Q} -d fw")
    assert server(f"dcb dcbx set dev {IF} lld-managed ieee").status == 1
    assert server.ok(f"dcb dcbx set dev {IF} host ieee; dcb dcbx show dev {IF}") == "host ieee \n"


def test_ports_without_dcb_say_so(server: Server) -> None:
    result = server("mlnx_qos -i eno1")
    assert (result.status, result.stdout) == (1, "ETS features are not supported on your system\n")
    assert server("dcb pfc show dev eno1").status == 1
    assert server("mlnx_qos -i ens99").status == 1


def test_lldpad_puts_a_banner_first(server: Server) -> None:
    server.inject("lldpad")
    assert server.ok(Q).splitlines()[0].strip().startswith("****** WARNING: lldpad service is running")
    assert server.ok("systemctl is-active lldpad") == "active\n"


def test_dcb_json_has_three_element_pairs_and_exact_sizes(server: Server) -> None:
    server.ok(f"dcb app replace dev {IF} dscp-prio 26:3 48:6")
    assert json.loads(server.ok(f"dcb -j app show dev {IF}")) == {"dscp_prio": [[26, 3, " "], [48, 6, " "]]}
    assert server.ok(f"dcb app show dev {IF}") == "dscp-prio AF31:3 CS6:6 \n"
    assert server.ok(f"dcb -N app show dev {IF} dscp-prio") == "dscp-prio 26:3 48:6 \n"
    shown = json.loads(server.ok(f"dcb -j buffer show dev {IF}"))
    assert shown["buffer_size"][:2] == [20016, 156096] and shown["total_size"] == 262096


def test_dcb_app_without_entries_prints_no_line(server: Server) -> None:
    assert server.ok(f"dcb -N app show dev {IF}") == ""
    assert server.ok(f"dcb -j app show dev {IF}") == "{}\n"


def test_dcb_app_takes_dscp_only_on_mlx5(server: Server) -> None:
    result = server(f"dcb app add dev {IF} dgram-port-prio 4791:3")
    assert result.status == 1 and "Invalid argument" in result.stderr


def test_dcb_pfc_lists_and_delay_is_the_cable_length(server: Server) -> None:
    server.ok(f"dcb pfc set dev {IF} prio-pfc all:off 3:on delay 30")
    shown = json.loads(server.ok(f"dcb -j pfc show dev {IF}"))
    assert shown["delay"] == 30 and shown["prio_pfc"] == [n == 3 for n in range(8)]
    text = server.ok(f"dcb pfc show dev {IF}")
    assert "prio-pfc 0:off 1:off 2:off 3:on 4:off" in text
    assert line(server.ok(Q), "Cable len") == "Cable len: 30"


def test_dcb_ets_is_checked(server: Server) -> None:
    good = f"dcb ets set dev {IF} tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:50 3:50 prio-tc 0:0 1:1"
    server.ok(good)
    shown = json.loads(server.ok(f"dcb -j ets show dev {IF}"))
    assert shown["tc_tsa"][:4] == ["ets", "strict", "strict", "ets"] and shown["tc_bw"][0] == 50
    assert shown["prio_tc"] == list(range(8))
    assert server(f"dcb ets set dev {IF} tc-bw 3:40").status == 1
    assert server(f"dcb ets set dev {IF} tc-bw 1:10").status == 1


@pytest.mark.parametrize(
    "words", ["dcb pfc show", "dcb pfc show dev", "dcb nothing show dev ens11np0", "dcb pfc wipe dev x"]
)
def test_dcb_refuses_bad_grammar(server: Server, words: str) -> None:
    assert server(words).status == 1


def test_apptrust_is_not_in_the_driver(server: Server) -> None:
    assert "not supported" in server(f"dcb apptrust set dev {IF} order dscp").stderr


def test_ethtool_pause(server: Server) -> None:
    assert server.ok(f"ethtool -a {IF}").splitlines()[1:4] == ["Autonegotiate:\toff", "RX:\t\ton", "TX:\t\ton"]
    result = server(f"ethtool -A {IF} autoneg on")
    assert result.status != 0 and "Invalid argument" in result.stderr
    server.ok(f"ethtool -A {IF} rx off tx off")
    assert "RX:\t\toff\nTX:\t\toff" in server.ok(f"ethtool -a {IF}")


@pytest.mark.parametrize(
    ("value", "status", "kept"),
    [("0", 0, "0"), ("100", 0, "100"), ("65535", 0, "100"), ("79", 76, "8000"), ("8001", 76, "8000")],
)
def test_ethtool_stall_timer_range(server: Server, value: str, status: int, kept: str) -> None:
    assert server(f"ethtool --set-tunable {IF} pfc-prevention-tout {value}").status == status
    assert server.ok(f"ethtool --get-tunable {IF} pfc-prevention-tout") == f"pfc-prevention-tout: {kept}\n"


def test_pause_counters_exist_only_where_pause_is_on(server: Server) -> None:
    text = server.ok(f"ethtool -S {IF}")
    assert "rx_global_pause:" in text and "rx_prio3_pause:" not in text
    server.ok(f"ethtool -A {IF} rx off tx off")
    server.ok(f"{Q} --pfc 0,0,0,1,0,0,0,0")
    text = server.ok(f"ethtool -S {IF}")
    assert "global_pause" not in text and "rx_prio3_pause:" in text and "rx_prio4_pause:" not in text


def test_mtu_range_and_the_rdma_mtu_that_follows(server: Server) -> None:
    def active() -> str:
        return line(server.ok("ibv_devinfo -d mlx5_0"), "active_mtu").split()[1]

    assert active() == "1024"
    for mtu, rdma in (("4191", "2048"), ("4192", "4096"), ("9000", "4096"), ("2143", "1024"), ("2144", "2048")):
        server.ok(f"ip link set dev {IF} mtu {mtu}")
        assert active() == rdma
    assert "greater than device maximum" in server(f"ip link set dev {IF} mtu 9979").stderr
    assert "less than device minimum" in server(f"ip link set dev {IF} mtu 67").stderr


def test_cma_roce_tos_prints_the_value_and_removes_its_directory(server: Server) -> None:
    assert server.ok("cma_roce_tos -d mlx5_0 -t 106") == "106\n"
    assert server.ok("cma_roce_tos -d mlx5_0") == "106\n"
    assert not (server.root / "sys/kernel/config/rdma_cm/mlx5_0").exists()
    assert server("cma_roce_tos -d mlx5_7 -t 106").status == 1
    assert server("cma_roce_tos -d mlx5_0 -t 256").status == 1
    # a typographic dash never selects the device: it asks about mlx5_0 (seen in a published script)
    assert server.ok("cma_roce_tos \u2013d mlx5_2") == "106\n"


def test_cma_roce_mode(server: Server) -> None:
    assert server.ok("cma_roce_mode -d mlx5_0 -p 1 -m 1") == "IB/RoCE v1\n"
    assert server.ok("cma_roce_mode -d mlx5_0 -p 1 -m 2") == "RoCE v2\n"
    assert server("cma_roce_mode -d mlx5_0 -m 3").status == 1


def test_configfs_fills_itself_and_needs_rdma_cm(make_server: Callable[..., Server]) -> None:
    server = make_server(rdma_cm="absent")
    base = "/sys/kernel/config/rdma_cm"
    assert server(f"mkdir {base}/mlx5_0").status == 1
    assert server("cma_roce_tos -d mlx5_0").status == 1
    server.ok("modprobe rdma_cm")
    server.ok(f"mkdir {base}/mlx5_0 && echo 104 > {base}/mlx5_0/ports/1/default_roce_tos")
    assert server.ok("cma_roce_tos -d mlx5_0") == "104\n"
    server.ok(f"rmdir {base}/mlx5_0")
    assert server.ok("cma_roce_tos -d mlx5_0") == "104\n"
    assert server(f"mkdir {base}/mlx5_9").status == 1


def test_forced_traffic_class_reads_back_in_the_drivers_form(server: Server) -> None:
    path = "/sys/class/infiniband/mlx5_0/tc/1/traffic_class"
    assert server.ok(f"cat {path}") == ""
    server.ok(f"echo 106 > {path}")
    assert server.ok(f"cat {path}") == "Global tclass=106\n"
    server.ok(f"echo -1 > {path}")
    assert server.ok(f"cat {path}") == ""


def test_inbox_driver_has_neither_ofed_tools_nor_their_sysfs(make_server: Callable[..., Server]) -> None:
    server = make_server(driver="inbox")
    assert server("mlnx_qos -i ens11np0").status == 127
    assert server("cma_roce_tos -d mlx5_0").status == 127
    assert (
        server.ok(f"ls /sys/class/net/{IF}/ecn 2>/dev/null; ls /sys/class/infiniband/mlx5_0").split().count("tc") == 0
    )
    assert server.ok("cat /sys/kernel/debug/mlx5/0000:1a:00.0/cc_params/np_cnp_dscp") == "48\n"
    server.ok(f"dcb app replace dev {IF} dscp-prio 26:3")
    assert json.loads(server.ok(f"dcb -j app show dev {IF}"))["dscp_prio"] == [[26, 3, " "]]


def test_ofed_driver_has_the_roles_per_priority(server: Server) -> None:
    assert (
        server.ok(f"cat /sys/class/net/{IF}/ecn/roce_np/enable/3 /sys/class/net/{IF}/ecn/roce_np/cnp_dscp") == "1\n48\n"
    )


def test_identities(server: Server) -> None:
    assert server.ok(f"basename $(readlink /sys/class/net/{IF}/device)") == "0000:1a:00.0\n"
    assert server.ok(f"ls /sys/class/net/{IF}/device/infiniband") == "mlx5_0\n"
    assert "[15b3:1021]" in server.ok("lspci -Dnn -s 0000:1a:00.0")
    assert "bus-info: 0000:1a:00.0" in server.ok(f"ethtool -i {IF}")
    assert f"link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev {IF} " in server.ok("rdma link")
    assert server.ok("hostname") == "gpu01\n"
    assert server.ok("cat /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/3") == "RoCE v2\n"


def test_sysctl_works_on_the_tree(server: Server) -> None:
    assert server.ok("sysctl -n net.ipv4.conf.all.arp_ignore") == "0\n"
    assert server.ok("sysctl -w net.ipv4.conf.all.arp_ignore=1") == "net.ipv4.conf.all.arp_ignore = 1\n"
    assert server.ok("cat /proc/sys/net/ipv4/conf/all/arp_ignore") == "1\n"
    assert server("sysctl -n net.nothing").status == 255


def test_sudo_runs_or_refuses(server: Server, make_server: Callable[..., Server]) -> None:
    assert server.ok("sudo -n id -u") == "0\n"
    assert f"Pause parameters for {IF}" in server.ok(f"sudo -n /usr/sbin/ethtool -a {IF}")


def test_an_unprivileged_login_has_no_sudo(make_server: Callable[..., Server]) -> None:
    server = make_server(login="unprivileged")
    assert server.ok("id -u") == "1000\n"
    result = server("sudo -n true")
    assert result.status == 1 and "a password is required" in result.stderr


def test_mlxconfig_reads_only(server: Server) -> None:
    assert "CNP_DSCP_P1" in server.ok("mlxconfig -d 0000:1a:00.0 q")
    assert server("mstconfig -y -d 0000:1a:00.0 set CNP_DSCP_P1=4").status != 0


def test_commands_see_the_tree_and_no_network_tools(server: Server) -> None:
    assert server.ok("cat /etc/hostname") == "gpu01\n"
    assert server("curl --version").status == 127
    assert server("ssh -V").status == 127
    assert server.ok('cat "$ROCETUNE_ROOT/etc/hostname"') == "gpu01\n"
    assert server.ok("sh -s", "cat $ROCETUNE_ROOT/etc/hostname\n") == "gpu01\n"

"""Commands for a person; expected values are those of the check catalogue and of the tools' manuals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocetune.lab.device import Fault
from rocetune.model.facts import Facts
from rocetune.model.qos import Path, leaf
from rocetune.platforms.linux import PLATFORM
from tests.platforms.linux.rig import Server, server_plan

PLAN = server_plan()
DECLARED = PLATFORM.declared(PLAN)
FACTS = replace(
    DECLARED,
    ports={name: replace(port, rdma_device="mlx5_0", pci="0000:1a:00.0") for name, port in DECLARED.ports.items()},
)
INBOX = replace(
    FACTS,
    ports={name: replace(port, extra={"has": "cc_params"}) for name, port in FACTS.ports.items()},
    extra={"tool.mlnx_qos": "no"},
)
IF = "ens11np0"


@pytest.mark.parametrize(
    ("path", "value", "command"),
    [
        ((IF, "trust"), "dscp", "mlnx_qos -i ens11np0 --trust dscp"),
        ((IF, "dscp_to_priority", 26), 3, "mlnx_qos -i ens11np0 --dscp2prio set,26,3"),
        ((IF, "mtu_bytes"), 9000, "ip link set ens11np0 mtu 9000"),
        ((IF, "link_pause"), False, "ethtool -A ens11np0 rx off tx off"),
        ((IF, "cable_m"), 2.0, "mlnx_qos -i ens11np0 --cable_len 2"),
        ((IF, "host", "dcbx"), "os", "mlnx_qos -i ens11np0 -d os"),
        ((IF, "host", "roce_tos"), 106, "cma_roce_tos -d mlx5_0 -t 106"),
        ((IF, "host", "traffic_class"), 106, "echo 106 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class"),
        ((IF, "host", "cnp_dscp"), 48, "echo 48 > /sys/class/net/ens11np0/ecn/roce_np/cnp_dscp"),
        ((IF, "host", "storm_prevention_ms"), 100, "ethtool --set-tunable ens11np0 pfc-prevention-tout 100"),
        ((IF, "host", "np_priorities"), frozenset({3}), "echo 1 > /sys/class/net/ens11np0/ecn/roce_np/enable/3"),
        (("", "lldpad"), "absent", "systemctl disable --now lldpad.service lldpad.socket"),
        (("", "persistence"), "installed", "rocetune apply"),
    ],
)
def test_with_the_vendors_tools(path: Path, value: object, command: str) -> None:
    assert PLATFORM.remedy(path, value, FACTS) == (command,)


@pytest.mark.parametrize(
    ("path", "value", "command"),
    [
        ((IF, "dscp_to_priority", 26), 3, "dcb app replace dev ens11np0 dscp-prio 26:3"),
        ((IF, "host", "dcbx"), "os", "dcb dcbx set dev ens11np0 host ieee"),
        ((IF, "host", "cnp_dscp"), 48, "echo 48 > /sys/kernel/debug/mlx5/0000:1a:00.0/cc_params/np_cnp_dscp"),
    ],
)
def test_with_what_a_distribution_brings(path: Path, value: object, command: str) -> None:
    assert PLATFORM.remedy(path, value, INBOX) == (command,)


def test_a_storm_ends_with_a_reset_and_the_settings_come_back() -> None:
    push = "rocetune --limit gpu01 apply"
    lines = PLATFORM.remedy((IF, "storm"), "reset", FACTS, PLAN)
    assert [line.partition("  #")[0] for line in lines] == [
        "ip link set ens11np0 down",
        "mlxfwreset -d 0000:1a:00.0 -y reset",
        "ip link set ens11np0 up",
        push,
    ]
    inbox = PLATFORM.remedy((IF, "storm"), "reset", INBOX, PLAN)
    assert inbox[1].startswith("devlink dev reload pci/0000:1a:00.0 action fw_activate")
    assert PLATFORM.remedy((IF, "storm"), "isolate", FACTS, PLAN) == ()  # the switch's part
    for address in (None, "0000:1a:00.0; reboot"):
        ports = {name: replace(port, pci=address) for name, port in FACTS.ports.items()}
        assert PLATFORM.remedy((IF, "storm"), "reset", replace(FACTS, ports=ports), PLAN) == ()


@pytest.mark.parametrize("facts", [FACTS, INBOX])
@pytest.mark.parametrize("leaf_name", ["scheduling", "bandwidth_percent"])
def test_what_only_a_push_can_write_names_its_server(facts: Facts, leaf_name: str) -> None:
    push = ("rocetune --limit gpu01 apply",)
    assert PLATFORM.remedy((IF, "priorities", 3, leaf_name), 50, facts, PLAN) == push
    assert PLATFORM.remedy(("", "persistence"), "installed", facts, PLAN) == push


def test_the_boot_units_are_a_setting_of_the_server() -> None:
    assert PLATFORM.origin(("port", IF, "persist"), PLAN) == ("", "persistence")


def test_nothing_is_invented() -> None:
    assert PLATFORM.remedy(("ens99", "trust"), "dscp", FACTS) == ()
    assert PLATFORM.remedy((IF, "speed_mbps"), 400_000, FACTS) == ()
    assert PLATFORM.remedy(("", "nccl_ib_tc"), "1; reboot", FACTS) == ()


@pytest.mark.parametrize(
    ("fault", "path"),
    [
        (Fault("wrong_trust", "rail0"), ("trust",)),
        (Fault("wrong_map", "rail0"), ("dscp_to_priority", 26)),
        (Fault("pfc_missing", "rail0"), ("priorities", 3, "pfc")),
        (Fault("mtu", "rail0"), ("mtu_bytes",)),
        (Fault("tos", "rail0"), ("host", "roce_tos")),
        (Fault("traffic_class", "rail0"), ("host", "traffic_class")),
        (Fault("cnp_dscp", "rail0"), ("host", "cnp_dscp")),
        (Fault("ecn_off", "rail0"), ("host", "np_priorities")),
        (Fault("stall_timer", "rail0"), ("host", "storm_prevention_ms")),
        (Fault("dcbx_firmware", "rail0"), ("host", "dcbx")),
        (Fault("global_pause", "rail0"), ("link_pause",)),
    ],
    ids=lambda item: item.name if isinstance(item, Fault) else "",
)
def test_the_command_mends_what_was_bent(ofed: Server, fault: Fault, path: Path) -> None:
    ofed.push_all()
    wanted = _leaf(ofed, path)
    ofed.emulator.inject(fault)
    assert _leaf(ofed, path) != wanted
    for command in PLATFORM.remedy((IF, *path), wanted, ofed.facts):
        assert ofed.run(command).status == 0, command
    assert _leaf(ofed, path) == wanted


def _leaf(server: Server, path: Path) -> object:
    transcript = server.session.collect(PLATFORM.commands("state", server.facts))
    qos = PLATFORM.read("gpu01", transcript, server.facts).ports[IF]
    if path[0] == "dscp_to_priority":
        return (qos.dscp_to_priority or (None,) * 64)[int(path[1])]
    return leaf(qos, path)

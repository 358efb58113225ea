"""Commands a person types to set one leaf: the vendor's own tools where they exist, inbox paths otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from rocetune.model.facts import Facts, PortFacts
from rocetune.model.finding import OURS
from rocetune.model.names import PCI
from rocetune.model.plan import DevicePlan
from rocetune.model.qos import Path
from rocetune.platforms.linux import adapters
from rocetune.platforms.linux.facts import has
from rocetune.platforms.linux.keys import NETDEV


def commands_for(path: Path, value: object, facts: Facts, plan: DevicePlan | None = None) -> tuple[str, ...]:
    """Commands for one leaf; () where none is known. ``path`` starts with the native port, "" for the server.

    Setting the trust resets the DSCP map to DSCP / 8, so with a plan its entries that differ from that follow.
    """
    name, leaf = str(path[0]), path[1:]
    push = f"{OURS}apply" if plan is None else f"{OURS}--limit {plan.device.name} apply"
    if not name:
        return (push,) if leaf[:1] == ("persistence",) else _server(leaf, value)
    port = facts.ports.get(name)
    if port is None or port.adapter is None or not NETDEV.fullmatch(name) or not leaf:
        return ()
    mlnx = facts.extra.get("tool.mlnx_qos", "yes") == "yes"
    if leaf == ("storm",):
        return _reset(name, port, push, mlnx) if value == "reset" else ()
    if leaf[0] == "priorities" and leaf[2:] in (("scheduling",), ("bandwidth_percent",)):
        return (push,)  # ETS is one list of eight: what foreign classes have has to be read first
    if leaf[0] == "host":
        return _host(name, str(leaf[1]), value, port, mlnx)
    if leaf[0] == "priorities":
        return _priority(name, leaf, value, mlnx)
    lines = _port(name, leaf, value, mlnx)
    return (*lines, *_planned_map(name, plan, mlnx)) if leaf == ("trust",) and lines else lines


def _planned_map(name: str, plan: DevicePlan | None, mlnx: bool) -> tuple[str, ...]:
    item = None if plan is None else next((item for item in plan.managed if item.native == name), None)
    table = () if item is None else item.setting.qos.dscp_to_priority or ()
    wanted = [(dscp, priority) for dscp, priority in enumerate(table) if priority not in (None, dscp >> 3)]
    if mlnx and wanted:
        options = " ".join(f"--dscp2prio set,{dscp},{priority}" for dscp, priority in wanted)
        return (f"mlnx_qos -i {name} {options}",)
    entries = " ".join(f"{dscp}:{priority}" for dscp, priority in wanted)
    return (f"dcb app replace dev {name} dscp-prio {entries}",) if entries else ()


def _reset(name: str, port: PortFacts, push: str, mlnx: bool) -> tuple[str, ...]:
    """Silence a NIC at once, reset it, and give it its settings again: none of them outlives the reset."""
    if port.pci is None or not PCI.fullmatch(port.pci):
        return ()
    reset = f"mlxfwreset -d {port.pci} -y reset" if mlnx else f"devlink dev reload pci/{port.pci} action fw_activate"
    return (
        f"ip link set {name} down  # drain the server first; this ends the pause frames",
        f"{reset}  # or reboot; replace the NIC when the storm comes back",
        f"ip link set {name} up",
        push,
    )


def _server(leaf: Path, value: object) -> tuple[str, ...]:
    if leaf[:1] == ("lldpad",):
        return ("systemctl disable --now lldpad.service lldpad.socket",)
    variables = {
        "nccl_ib_tc": "NCCL_IB_TC",
        "nccl_gin_ib_tc": "NCCL_GIN_IB_TC",
        "ucx_tc": "UCX_IB_TRAFFIC_CLASS",
        "nvshmem_tc": "NVSHMEM_IB_TRAFFIC_CLASS",
    }
    name = variables.get(str(leaf[0])) if leaf else None
    if name is None or not isinstance(value, int | str) or not str(value).isdigit():
        return ()
    return (f"export {name}={value}  # in the job's environment, or set -a; . /etc/rocetune/roce.env; set +a",)


def _port(name: str, leaf: Path, value: object, mlnx: bool) -> tuple[str, ...]:
    if leaf == ("trust",) and value == "dscp":
        if mlnx:
            return (f"mlnx_qos -i {name} --trust dscp",)
        return (f"dcb app replace dev {name} dscp-prio 26:3  # every DSCP of the profile; trust follows the first",)
    if leaf == ("mtu_bytes",):
        return (f"ip link set {name} mtu {value}",)
    if leaf == ("link_pause",):
        word = "on" if value else "off"
        return (f"ethtool -A {name} rx {word} tx {word}",)
    if leaf == ("cable_m",) and isinstance(value, int | float):
        return (
            f"mlnx_qos -i {name} --cable_len {int(value)}" if mlnx else f"dcb pfc set dev {name} delay {int(value)}",
        )
    if leaf[0] == "dscp_to_priority" and len(leaf) == 2 and isinstance(value, int):
        return (_map_entry(name, int(leaf[1]), value, mlnx),)
    return ()


def _map_entry(name: str, dscp: int, priority: int, mlnx: bool) -> str:
    if mlnx:
        return f"mlnx_qos -i {name} --dscp2prio set,{dscp},{priority}"
    return f"dcb app replace dev {name} dscp-prio {dscp}:{priority}"


def _priority(name: str, leaf: Path, value: object, mlnx: bool) -> tuple[str, ...]:
    priority, field = int(leaf[1]), leaf[2] if len(leaf) > 2 else ""
    if field == "pfc":
        if mlnx:
            bits = ["x"] * 8
            bits[priority] = "1" if value else "0"
            return (f"mlnx_qos -i {name} --specific_pfc {','.join(bits)}  # takes the link down and up",)
        return (f"dcb pfc set dev {name} prio-pfc {priority}:{'on' if value else 'off'}  # takes the link down and up",)
    if field == "dscps" and isinstance(value, Iterable):
        return tuple(_map_entry(name, int(dscp), priority, mlnx) for dscp in value)
    return ()


def _host(name: str, field: str, value: object, port: PortFacts, mlnx: bool) -> tuple[str, ...]:
    rdma, net = port.rdma_device or "RDMA_DEVICE", f"/sys/class/net/{name}"
    if field == "dcbx" and value == "os":
        return (f"mlnx_qos -i {name} -d os" if mlnx else f"dcb dcbx set dev {name} host ieee",)
    if field == "roce_tos":
        return (f"cma_roce_tos -d {rdma} -t {value}",)
    if field == "roce_mode":
        return (f"cma_roce_mode -d {rdma} -p 1 -m {1 if value == 'v1' else 2}",)
    if field == "traffic_class":
        return (f"echo {value} > /sys/class/infiniband/{rdma}/tc/1/traffic_class",)
    if field == "storm_prevention_ms":
        return (f"ethtool --set-tunable {name} pfc-prevention-tout {value}",)
    if field == "active_mtu_bytes" and isinstance(value, int):
        return (f"ip link set {name} mtu {value + 96}  # or the profile's host_mtu",)
    if field in ("np_priorities", "rp_priorities") and isinstance(value, Iterable):
        if not has(port, "ecn_enable"):
            return (
                f"mlxconfig -d {port.pci} set ROCE_CC_PRIO_MASK_P1=255  # then a firmware reset; no runtime switch",
            )
        return tuple(f"echo 1 > {net}/ecn/roce_{field[:2]}/enable/{priority}" for priority in sorted(value))
    if field in ("cnp_dscp", "cnp_priority"):
        attribute = "cnp_dscp" if field == "cnp_dscp" else "cnp_802p_prio"
        if has(port, "ecn_enable"):
            return (f"echo {value} > {net}/ecn/roce_np/{attribute}",)
        debugfs = "np_cnp_dscp" if field == "cnp_dscp" else "np_cnp_prio"
        return (f"echo {value} > /sys/kernel/debug/mlx5/{port.pci}/cc_params/{debugfs}",)
    if field == "dcqcn" and isinstance(value, Iterable):
        return tuple(_dcqcn(name, str(item[0]), item[1], port) for item in value)
    return ()


def _dcqcn(name: str, parameter: str, value: object, port: PortFacts) -> str:
    row = next((row for row in adapters.DCQCN if parameter in row), None)
    if row is None:
        return f"# {parameter} is no congestion-control parameter of this NIC"
    if has(port, "ecn_enable"):
        role = "roce_np" if row[1].startswith("np_") else "roce_rp"
        return f"echo {value} > /sys/class/net/{name}/ecn/{role}/{row[0]}"
    return f"echo {value} > /sys/kernel/debug/mlx5/{port.pci}/cc_params/{row[1]}"

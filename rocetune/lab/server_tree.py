"""The file tree of an emulated server: what sysfs, procfs, configfs, debugfs and /etc look like from the factory.

Facts: the kernel's and NVIDIA's documented paths as gathered in the host references (mlx5 at factory settings:
trust pcp, PFC off, link pause on, MTU 1500, DCBX by firmware, stall timer 8 s, ECN roles on for every priority).
Emulation for rehearsal and tests; no proof about a real NIC.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocetune.model.plan import DevicePlan, PortPlan


def words(text: str) -> tuple[str, ...]:
    """A list of names written as one text."""
    return tuple(text.split())


_RAIL_SLOTS = ("1a", "3c", "4d", "5e", "9c", "bc", "cc", "dc")
_STORAGE_SLOTS = ("17", "98")
_MANAGEMENT = "eno1"
_BOTH_DCQCN: Mapping[str, tuple[str, str, int]] = {
    # sysfs name: (role, debugfs name, value from the factory)
    "clamp_tgt_rate": ("roce_rp", "rp_clamp_tgt_rate", 0),
    "clamp_tgt_rate_after_time_inc": ("roce_rp", "rp_clamp_tgt_rate_ati", 1),
    "rpg_time_reset": ("roce_rp", "rp_time_reset", 300),
    "rpg_byte_reset": ("roce_rp", "rp_byte_reset", 32767),
    "rpg_threshold": ("roce_rp", "rp_threshold", 1),
    "rpg_ai_rate": ("roce_rp", "rp_ai_rate", 5),
    "rpg_hai_rate": ("roce_rp", "rp_hai_rate", 50),
    "rpg_max_rate": ("roce_rp", "rp_max_rate", 0),
    "rpg_min_rate": ("roce_rp", "rp_min_rate", 1),
    "rpg_min_dec_fac": ("roce_rp", "rp_min_dec_fac", 50),
    "rpg_gd": ("roce_rp", "rp_gd", 11),
    "dce_tcp_g": ("roce_rp", "rp_dce_tcp_g", 1019),
    "dce_tcp_rtt": ("roce_rp", "rp_dce_tcp_rtt", 1),
    "rate_reduce_monitor_period": ("roce_rp", "rp_rate_reduce_monitor_period", 4),
    "initial_alpha_value": ("roce_rp", "rp_initial_alpha_value", 1023),
    "rate_to_set_on_first_cnp": ("roce_rp", "rp_rate_to_set_on_first_cnp", 0),
    "min_time_between_cnps": ("roce_np", "np_min_time_between_cnps", 4),
    "cnp_dscp": ("roce_np", "np_cnp_dscp", 48),
    "cnp_802p_prio": ("roce_np", "np_cnp_prio", 6),
}
HW_COUNTERS = words(
    "rx_write_requests rx_read_requests rx_atomic_requests rx_dct_connect out_of_buffer out_of_sequence "
    "duplicate_request rnr_nak_retry_err packet_seq_err implied_nak_seq_err local_ack_timeout_err "
    "resp_local_length_error resp_cqe_error req_cqe_error req_remote_invalid_request req_remote_access_errors "
    "resp_remote_access_errors resp_cqe_flush_error req_cqe_flush_error req_transport_retries_exceeded "
    "req_rnr_retries_exceeded roce_adp_retrans roce_adp_retrans_to roce_slow_restart roce_slow_restart_cnps "
    "roce_slow_restart_trans rp_cnp_ignored rp_cnp_handled np_ecn_marked_roce_packets np_cnp_sent "
    "rx_icrc_encapsulated"
)
_TOOLS = Path(__file__).resolve().parent / "tools"
_OFED_TOOLS = frozenset({"mlnx_qos", "cma_roce_tos", "cma_roce_mode"})
_ALIASES = {
    "mstconfig": "mlxconfig",
    "shutdown": "reboot",
    "poweroff": "reboot",
    "pidof": "pgrep",
    "journalctl": "dmesg",
}
# What a script may use of the machine that runs the lab. Nothing here talks to a network or to its init system.
_BORROWED = words(
    "sh dash bash cat chmod chown cp cut env expr false find flock grep egrep fgrep gzip head install kill ln ls "
    "md5sum mktemp mv nl nohup od paste printf pwd readlink realpath rm sed seq setsid sha256sum sleep sort "
    "split stat sync tac tail tee test timeout touch tr true tsort uniq wc xargs awk mawk gawk base64 basename "
    "cksum cmp comm dd diff dirname du echo logger mkfifo tar tty which yes date mkdir rmdir ["
)


@dataclass(frozen=True, slots=True)
class Nic:
    """One emulated mlx5 port. ``alias`` is its inventory name."""

    alias: str
    netdev: str
    bdf: str
    rdma: str
    mac: str
    speed_mbps: int
    medium: str
    cable_m: float


def nics(plan: DevicePlan) -> Iterator[Nic]:
    """The mlx5 ports of a planned server; hardware identities come from the inventory or are made up."""
    rails, storage = iter(_RAIL_SLOTS), iter(_STORAGE_SLOTS)
    spare = (f"{number:02x}" for number in range(0xA0, 0xF0))
    for index, item in enumerate(plan.ports):
        kind, _, value = (item.port.select or "").partition(":")
        slot = next(storage if item.port.role == "storage" else rails, None) or next(spare)
        yield Nic(
            alias=item.port.name,
            netdev=value if kind == "netdev" else _netdev(item, index),
            bdf=value.lower() if kind == "pci" else f"0000:{slot}:00.0",
            rdma=f"mlx5_{index}",
            mac=value.lower() if kind == "mac" else _mac(item),
            speed_mbps=item.port.speed_mbps or 400_000,
            medium=item.port.medium or "dac",
            cable_m=item.port.cable_m or 2.0,
        )


def _netdev(item: PortPlan, index: int) -> str:
    """The native name, unless the inventory binds the port by address and has no netdev name."""
    return item.native if item.native != item.port.name else f"ens{11 + index}np0"


def _mac(item: PortPlan) -> str:
    digest = hashlib.sha256(f"{item.port.device}/{item.port.name}".encode()).hexdigest()
    return "b8:ce:f6:" + ":".join(digest[at : at + 2] for at in (0, 2, 4))


class Tree:
    """Builds and resets the tree below ``root``. ``inbox`` leaves out what only OFED and DOCA drivers have."""

    def __init__(self, root: Path, name: str, ports: tuple[Nic, ...], *, inbox: bool, rdma_cm: bool) -> None:
        self.root, self.inbox = root, inbox
        self._name, self._ports, self._rdma_cm = name, ports, rdma_cm
        self._folders: set[str] = set()  # known to exist

    def build(self) -> None:
        """Everything, once."""
        for folder in ("etc/systemd/system", "etc/udev/rules.d", "usr/local/lib", "var/log", "root", "tmp", "run"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        self._files(self._etc())
        self.boot()

    def boot(self) -> None:
        """What a kernel makes anew at every start: sysfs, procfs, configfs, debugfs; /run and /tmp are empty."""
        self._folders.clear()
        for folder in ("sys", "proc", "run", "tmp"):
            shutil.rmtree(self.root / folder, ignore_errors=True)
        for folder in ("run", "tmp", "sys/kernel/config", "sys/kernel/debug", "sys/class/net", "sys/class/infiniband"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        if self._rdma_cm:
            (self.root / "sys/kernel/config/rdma_cm").mkdir()
        self._files(self._proc())
        self._management()
        for index, port in enumerate(self._ports):
            self._port(index, port)

    def congestion(self, port: Nic, name: str) -> Path:
        """The file of one congestion-control attribute (sysfs name), wherever this driver has it."""
        role, debug, _ = _BOTH_DCQCN[name]
        if self.inbox:
            return self.root / "sys/kernel/debug/mlx5" / port.bdf / "cc_params" / debug
        return self.root / "sys/class/net" / port.netdev / "ecn" / role / name

    def _files(self, table: Mapping[str, str], *, base: str = "", constant: bool = False) -> None:
        """Attributes below ``base``. ``constant`` ones, which no kernel lets anybody write, share files by content."""
        top = f"{self.root}/{base}/" if base else f"{self.root}/"
        for path, text in table.items():
            target = top + path
            folder = target.rpartition("/")[0]
            if folder not in self._folders:
                Path(folder).mkdir(parents=True, exist_ok=True)
                self._folders.add(folder)
            if constant:
                _share(target, text)
            else:
                _write(target, text)

    def _etc(self) -> Mapping[str, str]:
        return {
            "etc/hostname": self._name,
            "etc/machine-id": hashlib.md5(self._name.encode(), usedforsecurity=False).hexdigest(),
            "etc/os-release": 'NAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\nPRETTY_NAME="Ubuntu 22.04 LTS (emulated)"',
            # Somebody else's file: it must survive whatever rocetune does.
            "etc/modprobe.d/site-mlx5.conf": "options mlx5_core prof_sel=2",
            # Installed and not enabled, as on many distributions.
            "usr/lib/systemd/system/lldpad.service": "[Unit]\nDescription=Link Layer Discovery Protocol Agent Daemon.\n"
            "[Service]\nType=simple\nExecStart=/usr/sbin/lldpad -t\n[Install]\nWantedBy=multi-user.target",
            "usr/lib/systemd/system/lldpad.socket": "[Unit]\nDescription=Link Layer Discovery Protocol Agent Socket.\n"
            "[Install]\nWantedBy=sockets.target",
            "etc/rdma/modules/rdma.conf": "rdma_cm" if self._rdma_cm else "# empty",
        }

    def _proc(self) -> Mapping[str, str]:
        conf = {"arp_ignore": "0", "arp_announce": "0", "rp_filter": "2"}
        return {
            "proc/version": "Linux version 5.15.0-113-generic (emulated)",
            "proc/sys/kernel/osrelease": "5.15.0-113-generic",
            "proc/sys/kernel/hostname": self._name,
            "proc/1/comm": "systemd",
            "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro",
            "proc/uptime": "0.00 0.00",
            "proc/sys/net/ipv4/tcp_ecn": "2",
            "proc/sys/vm/zone_reclaim_mode": "0",
            **{f"proc/sys/net/ipv4/conf/all/{key}": value for key, value in conf.items()},
        }

    def _management(self) -> None:
        base = "sys/devices/pci0000:00/0000:01:00.0"
        identity = {"vendor": "0x8086", "device": "0x1521", "uevent": "DRIVER=igb\nPCI_SLOT_NAME=0000:01:00.0"}
        self._files(identity, base=base, constant=True)
        net = {"address": "3c:ec:ef:00:00:01", "mtu": "1500", "speed": "1000", "carrier": "1", "operstate": "up"}
        net |= {"ifindex": "2", "duplex": "full"}
        self._files(net, base=f"{base}/net/{_MANAGEMENT}")
        self._link(base, _MANAGEMENT, "igb", "0000:01:00.0")

    def _link(self, base: str, netdev: str, driver: str, bdf: str) -> None:
        pci = self.root / "sys/bus/pci"
        (pci / "devices").mkdir(parents=True, exist_ok=True)
        (pci / "drivers" / driver).mkdir(parents=True, exist_ok=True)
        (self.root / "sys/class/net" / netdev).symlink_to(f"../../devices/pci0000:00/{bdf}/net/{netdev}")
        (self.root / base / "net" / netdev / "device").symlink_to(f"../../../{bdf}")
        (self.root / base / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")
        (pci / "devices" / bdf).symlink_to(f"../../../devices/pci0000:00/{bdf}")

    def _port(self, index: int, port: Nic) -> None:
        base = f"sys/devices/pci0000:00/{port.bdf}"
        kind = "0x1021" if port.speed_mbps > 100_000 else "0x101d"
        identity = {
            "vendor": "0x15b3",
            "device": kind,
            "subsystem_vendor": "0x15b3",
            "subsystem_device": "0x0041",
            "class": "0x020000",
            "numa_node": str(index // 4),
            "current_link_speed": "32.0 GT/s PCIe",
            "current_link_width": "16",
            "max_link_speed": "32.0 GT/s PCIe",
            "max_link_width": "16",
            "uevent": f"DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:{kind[2:].upper()}\nPCI_SLOT_NAME={port.bdf}",
        }
        self._files(identity, base=base, constant=True)
        fixed = {
            "address": port.mac,
            "speed": str(port.speed_mbps),
            "duplex": "full",
            "ifindex": str(index + 3),
            "phys_port_name": "p0",
        }
        net = {"mtu": "1500", "carrier": "1", "operstate": "up"}
        if not self.inbox:
            net["settings/pfc_stall_prevention"] = "default"
            for role in ("roce_np", "roce_rp"):
                net |= {f"ecn/{role}/enable/{priority}": "1" for priority in range(8)}
            net |= {f"ecn/{role}/{name}": str(value) for name, (role, _, value) in _BOTH_DCQCN.items()}
        self._files(net, base=f"{base}/net/{port.netdev}")
        self._files(fixed, base=f"{base}/net/{port.netdev}", constant=True)
        self._link(base, port.netdev, "mlx5_core", port.bdf)
        self._files(self._rdma(port), base=f"{base}/infiniband/{port.rdma}", constant=True)
        self._files({"ports/1/state": "4: ACTIVE"}, base=f"{base}/infiniband/{port.rdma}")
        (self.root / "sys/class/infiniband" / port.rdma).symlink_to(
            f"../../devices/pci0000:00/{port.bdf}/infiniband/{port.rdma}"
        )
        if self.inbox:
            debug = f"sys/kernel/debug/mlx5/{port.bdf}/cc_params"
            self._files({name: str(value) for _, name, value in _BOTH_DCQCN.values()}, base=debug)
            self._files({"np_cnp_prio_mode": "0"}, base=debug)
        else:
            forced = self.root / "sys/class/infiniband" / port.rdma / "tc/1/traffic_class"
            forced.parent.mkdir(parents=True)
            forced.write_text("")

    def _rdma(self, port: Nic) -> Mapping[str, str]:
        flat = port.mac.replace(":", "")
        local = f"fe80:0000:0000:0000:{int(flat[:2], 16) ^ 2:02x}{flat[2:4]}:{flat[4:6]}ff:fe{flat[6:8]}:{flat[8:12]}"
        address = f"0000:0000:0000:0000:0000:ffff:0a{flat[6:8]}:{flat[8:12]}"
        table = {
            "fw_ver": "28.43.2026" if port.speed_mbps > 100_000 else "22.43.2026",
            "hca_type": "MT4129" if port.speed_mbps > 100_000 else "MT4125",
            "node_type": "1: CA",
            "node_guid": f"{flat[:4]}:{flat[4:6]}00:03{flat[6:8]}:{flat[8:12]}",
            "board_id": "MT_0000000838",
            "ports/1/phys_state": "5: LinkUp",
            "ports/1/link_layer": "Ethernet",
            "ports/1/rate": f"{port.speed_mbps // 1000} Gb/sec (4X)",
            "ports/1/hw_counters/lifespan": "10",
        }
        for slot, (gid, kind) in enumerate(
            ((local, "IB/RoCE v1"), (local, "RoCE v2"), (address, "IB/RoCE v1"), (address, "RoCE v2"))
        ):
            table[f"ports/1/gids/{slot}"] = gid
            table[f"ports/1/gid_attrs/types/{slot}"] = kind
            table[f"ports/1/gid_attrs/ndevs/{slot}"] = port.netdev
        table |= {f"ports/1/hw_counters/{name}": "0" for name in HW_COUNTERS}
        return table


def factory_nic(port: Nic) -> dict[str, str]:
    """Driver and firmware state of a port from the factory, as the stand-in tools keep it."""
    return {
        "mac": port.mac,
        "bdf": port.bdf,
        "rdma": port.rdma,
        "speed": str(port.speed_mbps),
        "port": port.alias,
        "medium": port.medium,
        "cable_real": f"{port.cable_m:g}",
        "dcbx": "fw",
        "trust": "pcp",
        "pfc": "0,0,0,0,0,0,0,0",
        "buffer": "0,0,0,0,0,0,0,0",
        "size": "20016,156096,0,0,0,0,0,0",
        "manual": "0",
        "cable": "7",
        "prio_tc": "1,0,2,3,4,5,6,7",  # the driver swaps priorities 0 and 1
        "tsa": ",".join(["vendor"] * 8),
        "bw": "0,0,0,0,0,0,0,0",
        "rate": "0,0,0,0,0,0,0,0",
        "pause_rx": "on",
        "pause_tx": "on",
        "storm": "8000",
        "downs": "0",
        "down_until": "0",
        **{f"d{dscp}": str(dscp // 8) for dscp in range(64)},
        **{f"a{dscp}": "0" for dscp in range(64)},
    }


def _write(path: str, text: str) -> None:
    with Path(path).open("wb", buffering=0) as file:
        file.write(f"{text}\n".encode())


_constants: dict[str, str] = {}  # content of an attribute nobody writes -> a file of any server that has it
_tools: dict[str, str] = {}  # what a tool's link points to -> such a link in any server's folder


def _share(target: str, text: str) -> None:
    """A link to the one file with this content: making a file costs a disk twenty times what a link does."""
    if not _linked(_constants.get(text), target):
        _write(target, text)
        _constants[text] = target


def _point(target: Path, to: str) -> None:
    """A symbolic link, made as a hard link to one that points there already."""
    if not _linked(_tools.get(to), str(target)):
        target.symlink_to(to)
        _tools[to] = str(target)


def _linked(source: str | None, target: str) -> bool:
    """False when there is no source, it is gone, has all the links it can have, or is on another disk."""
    if source is None:
        return False
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


def rewrite(path: Path, text: str) -> None:
    """Give an attribute that shares its file with others a content of its own."""
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_nlink > 1:
            path.unlink()
    path.write_text(text)


def write_line(path: Path, value: str) -> None:
    """One value as the kernel shows an attribute."""
    path.write_text(value + "\n")


def read_nic(path: Path) -> dict[str, str]:
    """The state file of a port."""
    return dict(token.split("=", 1) for token in path.read_text().split())


def write_nic(path: Path, state: Mapping[str, str]) -> None:
    """Replace the state file of a port."""
    draft = path.with_name(f".{path.name}.new")
    draft.write_text("\n".join(f"{key}={value}" for key, value in state.items()) + "\n")
    draft.replace(path)


def install_tools(folder: Path, *, inbox: bool) -> None:
    """Fill the only folder of the server's PATH: stand-ins first, then harmless tools of this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    stand_ins = {path.name: path for path in _TOOLS.iterdir() if path.is_file()}
    stand_ins |= {alias: _TOOLS / name for alias, name in _ALIASES.items()}
    for name, source in stand_ins.items():
        if inbox and name in _OFED_TOOLS:
            continue
        target = folder / name
        target.unlink(missing_ok=True)
        if source.stat().st_mode & 0o100 or name in ("_lab", "_nic", "_cma", "_units"):
            _point(target, str(source))
        else:  # an installer that lost the executable bit
            shutil.copyfile(source, target)
            target.chmod(0o755)
    for name in _BORROWED:
        real = shutil.which(name, path="/usr/bin:/bin")
        if real is not None and not (folder / name).exists():
            _point(folder / name, real)

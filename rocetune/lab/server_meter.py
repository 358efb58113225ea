"""Counters of an emulated server: they rise with the lab's clock by what the settings make of the traffic.

The traffic is a fixed share of line rate. Which priority it shows on follows from marking, trust and the DSCP map,
as on a NIC; PFC counters exist only where PFC is on. Emulation: the rates mean nothing, the relations do.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rocetune.lab.device import Fault
from rocetune.lab.server_tree import HW_COUNTERS, Nic, Tree, read_nic, rewrite, words

_LOAD = 0.02  # share of line rate that RoCE uses
_PACKET_BYTES = 4096
_MARKED_PER_S, _CNP_PER_S = 200, 150  # coalesced: fewer CNPs than marked packets
_STORM_PAUSES_PER_S = 20_000
_STORM_PAUSED_US_PER_S = 950_000
_ALWAYS = words(
    "rx_discards_phy tx_discards_phy rx_pause_ctrl_phy tx_pause_ctrl_phy tx_pause_storm_warning_events "
    "tx_pause_storm_error_events rx_pcs_symbol_err_phy rx_symbol_err_phy rx_crc_errors_phy rx_out_of_buffer "
    "rx_steer_missed_packets outbound_pci_stalled_rd outbound_pci_stalled_wr outbound_pci_stalled_rd_events "
    "outbound_pci_stalled_wr_events rx_pci_signal_integrity tx_pci_signal_integrity outbound_pci_buffer_overflow "
    "rx_buffer_passed_thres_phy rx_oversize_pkts_phy rx_in_range_len_errors_phy"
)


@dataclass(slots=True)
class _Account:
    """Running totals of one port."""

    at: float
    eth: dict[str, float] = field(default_factory=dict)
    hw: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Marking:
    """Where RoCE data and CNPs of a port ride."""

    data: int
    cnp: int
    marked: bool
    notifies: bool
    reacts: bool


class Meter:
    """Accounts of all ports of one server, kept in a folder. Safe to read from a neighbour's thread."""

    def __init__(
        self,
        folder: Path,
        tree: Tree,
        ports: tuple[Nic, ...],
        now: Callable[[], float],
        faults: Callable[[], tuple[Fault, ...]],
    ) -> None:
        self._folder, self._tree, self._ports, self._now, self._faults = folder, tree, ports, now, faults
        self._lock = threading.Lock()
        self._accounts: dict[str, _Account] | None = None
        self._written: dict[str, dict[str, int]] = {}  # what sysfs shows now, so that only changes are written

    def reset(self) -> None:
        """All counters to zero, as at a driver load."""
        with self._lock:
            now = self._now()
            self._written = {port.netdev: dict.fromkeys(HW_COUNTERS, 0) for port in self._ports}
            self._accounts = {port.netdev: _Account(now) for port in self._ports}
            self._save()

    def publish(self) -> None:
        """Bring every account up to now and write what ``ethtool -S`` and sysfs show."""
        with self._lock:
            for port in self._ports:
                nic = self._nic(port)
                account = self._advance(port, nic)
                lines = "".join(f"     {name}: {value}\n" for name, value in _shown(nic, account).items())
                # An assignment: the stand-in sources it, which needs no process.
                (self._folder / "stats" / port.netdev).write_text(f"stats='\n{lines}'\n")
                self._write_hw(port, account)
            self._save()

    def _write_hw(self, port: Nic, account: _Account) -> None:
        base = self._tree.root / "sys/class/infiniband" / port.rdma / "ports/1/hw_counters"
        written = self._written.setdefault(port.netdev, {})
        for name in HW_COUNTERS:
            value = int(account.hw.get(name, 0))
            if written.get(name) != value:
                rewrite(base / name, f"{value}\n")
                written[name] = value

    def sample(self, port: Nic) -> Mapping[str, int]:
        """PFC frames of one port in the product's counter names, for the neighbour to mirror."""
        with self._lock:
            nic = self._nic(port)
            account = self._advance(port, nic)
            return {
                name: int(account.eth.get(raw, 0))
                for priority in range(8)
                for name, raw in (
                    (f"pfc_tx.{priority}", f"tx_prio{priority}_pause"),
                    (f"pfc_rx.{priority}", f"rx_prio{priority}_pause"),
                    (f"tx_bytes.{priority}", f"tx_prio{priority}_bytes"),
                    (f"rx_bytes.{priority}", f"rx_prio{priority}_bytes"),
                )
            } | {"link_down": int(nic["downs"])}

    def _nic(self, port: Nic) -> dict[str, str]:
        return read_nic(self._folder / "nic" / port.netdev)

    def _load(self) -> dict[str, _Account]:
        if self._accounts is None:
            try:
                table = json.loads((self._folder / "meter.json").read_text())
                self._accounts = {name: _Account(row["at"], row["eth"], row["hw"]) for name, row in table.items()}
            except (FileNotFoundError, ValueError, KeyError):
                self._accounts = {}
        for port in self._ports:
            self._accounts.setdefault(port.netdev, _Account(self._now()))
        return self._accounts

    def _save(self) -> None:
        table = {
            name: {"at": account.at, "eth": account.eth, "hw": account.hw} for name, account in self._load().items()
        }
        draft = self._folder / ".meter.new"
        draft.write_text(json.dumps(table))
        draft.replace(self._folder / "meter.json")

    def _advance(self, port: Nic, nic: Mapping[str, str]) -> _Account:
        account = self._load()[port.netdev]
        now = self._now()
        seconds = max(0.0, now - account.at)
        account.at = max(now, account.at)
        if seconds == 0:
            return account
        marking = self._marking(port, nic)
        rates = _traffic(port, marking)
        hw = {"rx_write_requests": 20_000.0}
        if marking.marked:
            hw["np_ecn_marked_roce_packets"] = _MARKED_PER_S
            if marking.notifies:
                hw["np_cnp_sent"] = _CNP_PER_S
            hw["rp_cnp_handled" if marking.reacts else "rp_cnp_ignored"] = _CNP_PER_S
        for fault in self._faults():
            if fault.name == "storm" and fault.port in (None, port.alias, port.netdev):
                rates |= _storm(nic, marking, fault)
        for name, rate in rates.items():
            account.eth[name] = account.eth.get(name, 0.0) + rate * seconds
        for name, rate in hw.items():
            account.hw[name] = account.hw.get(name, 0.0) + rate * seconds
        return account

    def _marking(self, port: Nic, nic: Mapping[str, str]) -> _Marking:
        """Where this port's RoCE traffic rides now."""
        root = self._tree.root
        tclass = self._forced(port)
        if tclass < 0:
            tclass = self._default_tos(port)
        cnp_dscp = _number(self._tree.congestion(port, "cnp_dscp"), 48)
        dscp_trust = nic["trust"] == "dscp"
        data = int(nic[f"d{tclass >> 2 & 63}"]) if dscp_trust else 0
        cnp = int(nic[f"d{cnp_dscp & 63}"]) if dscp_trust else 0
        ecn = root / "sys/class/net" / port.netdev / "ecn"
        notifies = any(_number(ecn / f"roce_np/enable/{priority}", 1) for priority in range(8))
        reacts = bool(_number(ecn / f"roce_rp/enable/{data}", 1))
        return _Marking(data, cnp, tclass >> 2 != 0, notifies, reacts)

    def _forced(self, port: Nic) -> int:
        """The forced traffic class byte, or -1."""
        path = self._tree.root / "sys/class/infiniband" / port.rdma / "tc/1/traffic_class"
        try:
            text = path.read_text().strip().removeprefix("Global tclass=")
        except OSError:
            return -1
        return int(text) if text.isdigit() else -1

    def _default_tos(self, port: Nic) -> int:
        attribute = f"{port.rdma}/ports/1/default_roce_tos"
        return _number(
            self._tree.root / "sys/kernel/config/rdma_cm" / attribute,
            _number(self._folder / "cma" / attribute, 0),
        )


def _number(path: Path, default: int) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return default


def _traffic(port: Nic, marking: _Marking) -> dict[str, float]:
    bytes_per_s = port.speed_mbps * 125_000 * _LOAD
    rates: dict[str, float] = {}
    for side in ("rx", "tx"):
        rates[f"{side}_prio{marking.data}_bytes"] = bytes_per_s
        rates[f"{side}_prio{marking.data}_packets"] = bytes_per_s / _PACKET_BYTES
        if marking.marked:
            name = f"{side}_prio{marking.cnp}"
            rates[f"{name}_packets"] = rates.get(f"{name}_packets", 0.0) + _CNP_PER_S
            rates[f"{name}_bytes"] = rates.get(f"{name}_bytes", 0.0) + _CNP_PER_S * 74
    return rates


def _storm(nic: Mapping[str, str], marking: _Marking, fault: Fault) -> dict[str, float]:
    """A NIC that sends pause without end: on the priority of its data, or what PFC is on for, or as link pause."""
    enabled = [priority for priority, bit in enumerate(nic["pfc"].split(",")) if bit == "1"]
    rates: dict[str, float] = {"tx_pause_ctrl_phy": _STORM_PAUSES_PER_S, "tx_pause_storm_warning_events": 1.0}
    if nic["storm"] != "0" and int(nic["storm"]) <= 1000:
        rates["tx_pause_storm_error_events"] = 0.5
    wanted = int(fault.value) if fault.value else marking.data
    if enabled:
        priority = wanted if wanted in enabled else enabled[0]
        rates[f"tx_prio{priority}_pause"] = _STORM_PAUSES_PER_S
        rates[f"tx_prio{priority}_pause_duration"] = _STORM_PAUSED_US_PER_S
    elif nic["pause_tx"] == "on":
        rates["tx_global_pause"] = _STORM_PAUSES_PER_S
        rates["tx_global_pause_duration"] = _STORM_PAUSED_US_PER_S
    return rates


def _shown(nic: Mapping[str, str], account: _Account) -> dict[str, int]:
    """What ``ethtool -S`` lists: pause counters only where the pause they count is on."""
    names = {
        f"{side}_packets": sum(account.eth.get(f"{side}_prio{priority}_packets", 0.0) for priority in range(8))
        for side in ("rx", "tx")
    }
    for priority in range(8):
        for side in ("rx", "tx"):
            names[f"{side}_prio{priority}_bytes"] = account.eth.get(f"{side}_prio{priority}_bytes", 0)
            names[f"{side}_prio{priority}_packets"] = account.eth.get(f"{side}_prio{priority}_packets", 0)
        for kind in ("buf_discard", "cong_discard", "marked", "discards"):
            names[f"rx_prio{priority}_{kind}"] = account.eth.get(f"rx_prio{priority}_{kind}", 0)
    for priority, bit in enumerate(nic["pfc"].split(",")):
        if bit == "1":  # the counters exist only while PFC is on
            for side in ("rx", "tx"):
                for kind in ("pause", "pause_duration") + (("pause_transition",) if side == "rx" else ()):
                    name = f"{side}_prio{priority}_{kind}"
                    names[name] = account.eth.get(name, 0)
    for side in ("rx", "tx"):
        if nic[f"pause_{side}"] == "on":
            for kind in ("global_pause", "global_pause_duration"):
                names[f"{side}_{kind}"] = account.eth.get(f"{side}_{kind}", 0)
    names |= {name: account.eth.get(name, 0) for name in _ALWAYS}
    names["link_down_events_phy"] = float(nic["downs"])
    return {name: int(value) for name, value in names.items()}

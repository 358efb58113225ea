"""Lasting mis-settings of an emulated server, made as a wrong hand would make them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from rocetune.lab.device import Fault
from rocetune.lab.server_tree import Nic, Tree, read_nic, write_line, write_nic
from rocetune.model.plan import DevicePlan

FAULTS: Mapping[str, str] = {
    "storm": "PORT sends pause frames without end (VALUE: priority)",
    "wrong_trust": "PORT trusts pcp",
    "wrong_map": "PORT maps a DSCP wrongly (VALUE: DSCP:PRIORITY, default the lossless class to 0)",
    "pfc_missing": "PFC is off on PORT",
    "mtu": "PORT has another MTU (VALUE, default 1500)",
    "tos": "the rdma_cm default ToS of PORT is another (VALUE, default 0)",
    "traffic_class": "the forced traffic class of PORT is another (VALUE, default unset)",
    "cnp_dscp": "CNPs of PORT carry another DSCP (VALUE, default 0)",
    "ecn_off": "DCQCN is off on PORT: neither notification nor reaction point",
    "stall_timer": "the NIC's stall timer of PORT is back at 8 s (VALUE: milliseconds)",
    "dcbx_firmware": "the firmware owns DCB settings of PORT",
    "global_pause": "link pause is on at PORT",
    "lldpad": "lldpad runs and may overwrite DCB settings",
    "lost_at_reboot": "boot units and settings are gone and the server was rebooted",
    "refuse_line": "tools refuse calls, and files writes, that contain VALUE",
}


class WrongHand:
    """Bends settings of one server. ``home`` is the emulator's folder."""

    def __init__(self, home: Path, tree: Tree, plan: DevicePlan) -> None:
        self._home, self._tree, self._plan = home, tree, plan

    def bend(self, port: Nic, fault: Fault) -> None:
        """One lasting mis-setting of one port, as a wrong hand would make it."""
        if fault.name == "storm":
            if fault.value and fault.value not in tuple("01234567"):
                raise ValueError("the storm's value is a priority, 0 to 7")
            return
        bends: Mapping[str, Callable[[Nic, str | None], None]] = {
            "mtu": lambda nic, value: self._sysfs(nic, "mtu", _digits(value or "1500", 68, 9978)),
            "tos": self._bend_tos,
            "traffic_class": self._bend_class,
            "cnp_dscp": lambda nic, value: write_line(
                self._tree.congestion(nic, "cnp_dscp"), _digits(value or "0", 0, 63)
            ),
            "ecn_off": self._bend_ecn,
        }
        if fault.name in bends:
            bends[fault.name](port, fault.value)
            return
        path = self._home / "nic" / port.netdev
        write_nic(path, {**(state := read_nic(path)), **self._bent(state, fault)})

    def _bent(self, state: Mapping[str, str], fault: Fault) -> Mapping[str, str]:
        """What a fault changes in the state of driver and firmware."""
        if fault.name == "wrong_trust":
            return {"trust": "pcp", **{f"{kind}{dscp}": "0" for dscp in range(64) for kind in "da"}}
        if fault.name == "wrong_map":
            dscp, _, priority = (fault.value or f"{self._lossless_dscp(state['port'])}:0").partition(":")
            number = _digits(dscp, 0, 63)
            return {f"d{number}": _digits(priority, 0, 7), f"a{number}": "1", "trust": "dscp"}
        if fault.name == "pfc_missing":
            return {"pfc": "0,0,0,0,0,0,0,0", "downs": str(int(state["downs"]) + 1)}
        if fault.name == "stall_timer":
            return {"storm": _digits(fault.value or "8000", 0, 8000)}
        if fault.name == "dcbx_firmware":
            return {"dcbx": "fw"}
        return {"pause_rx": "on", "pause_tx": "on"}  # global_pause

    def _bend_tos(self, port: Nic, value: str | None) -> None:
        number = _digits(value or "0", 0, 255)
        for folder in (self._home / "cma", self._tree.root / "sys/kernel/config/rdma_cm"):
            attribute = folder / port.rdma / "ports/1/default_roce_tos"
            if attribute.exists():
                write_line(attribute, number)

    def _bend_class(self, port: Nic, value: str | None) -> None:
        path = self._tree.root / "sys/class/infiniband" / port.rdma / "tc/1/traffic_class"
        if not path.exists():
            raise ValueError("an inbox driver has no forced traffic class")
        path.write_text(f"Global tclass={_digits(value, 0, 255)}\n" if value else "")

    def _bend_ecn(self, port: Nic, _: str | None) -> None:
        if self._tree.inbox:
            raise ValueError("an inbox driver has no switch for the DCQCN roles")
        for role in ("roce_np", "roce_rp"):
            for priority in range(8):
                self._sysfs(port, f"ecn/{role}/enable/{priority}", "0")

    def _sysfs(self, port: Nic, name: str, value: str) -> None:
        write_line(self._tree.root / "sys/class/net" / port.netdev / name, value)

    def _lossless_dscp(self, alias: str) -> int:
        for item in self._plan.ports:
            if item.port.name == alias:
                for entry in item.setting.qos.lossless():
                    if entry.dscps:
                        return entry.dscps[0]
        return 26

    def forget(self) -> None:
        """Remove what would restore settings at boot; /etc/modprobe.d and other foreign files stay."""
        etc = self._tree.root / "etc"
        for pattern in ("systemd/system/rocetune*", "systemd/system/*.wants/rocetune*", "udev/rules.d/*rocetune*"):
            for path in etc.glob(pattern):
                path.unlink()
        shutil.rmtree(etc / "rocetune", ignore_errors=True)


def _digits(text: str, low: int, high: int) -> str:
    """A whole number in a range, as text. Raises ValueError."""
    if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
        raise ValueError(f"{text!r} is not a number from {low} to {high}")
    return str(int(text))

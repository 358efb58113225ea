"""What an emulated EOS switch shows, derived from its configuration, its cables and the faults of its neighbours.

Keys and layouts are those of public references (anta test data, the EOS RoCEv2 guide, ntc-templates).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rocetune.lab import eos_tree
from rocetune.lab.eos_tree import Block

STORM_FRAMES_PER_S = 180_000


@dataclass(frozen=True, slots=True)
class Storm:
    """Pause storms of one port since boot: seconds in all, how many ended, whether one lasts."""

    seconds: float = 0.0
    ended: int = 0
    lasts: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """One look at the switch."""

    root: Block
    ports: Mapping[str, int]  # native name -> Mbit/s, in order
    up: Callable[[str], bool]
    peer: Callable[[str], tuple[str, str] | None]
    storms: Callable[[str], Storm]
    peer_counters: Callable[[str], Mapping[str, int]]
    unicast: str

    def statements(self, port: str) -> Block:
        """What holds for one port."""
        return eos_tree.effective(self.root, port)

    def lossless(self, port: str) -> tuple[int, ...]:
        """Priorities with working PFC."""
        held = self.statements(port)
        if "priority-flow-control" not in held:
            return ()
        return tuple(
            n for n in range(8) if held.get(f"priority-flow-control priority {n}", [""])[0].endswith(" no-drop")
        )

    def storm(self, port: str) -> Storm:
        """Storms on a port that listens to pause frames; other ports do not feel any."""
        return self.storms(port) if self.lossless(port) else Storm()

    def routed(self, port: str) -> bool:
        """Whether the port is routed."""
        return "switchport" in self.statements(port)


def interfaces(view: View) -> dict[str, Any]:
    """``show interfaces``."""
    found: dict[str, Any] = {}
    for number, (port, speed) in enumerate(view.ports.items()):
        held, up = view.statements(port), view.up(port)
        routed = view.routed(port) or port.startswith("Management")
        stated = int(held["mtu"][0].split()[1]) if "mtu" in held else 1500
        found[port] = {
            "name": port,
            "forwardingModel": "routed" if routed else "bridged",
            "lineProtocolStatus": "up" if up else "down",
            "interfaceStatus": "connected" if up else "disabled" if "shutdown" in held else "notconnect",
            "hardware": "ethernet",
            "bandwidth": speed * 1_000_000 if up else 0,
            "mtu": stated if routed else 9214,
            "l3MtuConfigured": routed and "mtu" in held,
            "l2Mru": 0,
            "physicalAddress": f"02:1c:73:00:{number // 256:02x}:{number % 256:02x}",
        }
    return {"interfaces": found}


def flow_control(view: View) -> dict[str, Any]:
    """``show interfaces flow-control``: 802.3x is off on every port of this emulation."""
    off = {"txAdminState": "off", "txOperState": "off", "rxAdminState": "off", "rxOperState": "off"}
    return {"interfaceFlowControls": {port: {**off, "txPause": 0, "rxPause": 0} for port in _ethernet(view)}}


def lldp(view: View) -> dict[str, Any]:
    """``show lldp neighbors``."""
    rows = []
    for port in _ethernet(view):
        peer = view.peer(port)
        if peer is not None and view.up(port):
            rows.append({"port": port, "neighborDevice": peer[0], "neighborPort": peer[1], "ttl": 120})
    return {"lldpNeighbors": rows}


def pfc(view: View) -> str:
    """``show priority-flow-control``, the layout of the EOS 4.36 guide."""
    rows = ["Port         Enabled  Priorities  Active  Note", "-----------  -------  ----------  ------  -------------"]
    for port in _ethernet(view):
        members = view.lossless(port)
        enabled = "priority-flow-control" in view.statements(port)
        listed = " ".join(map(str, members))
        active = "Yes" if members else "No"
        note = "" if "dcbx mode" in view.statements(port) else "DCBX disabled"
        rows.append(f"{port:<11}  {'Yes' if enabled else 'No':<7}  {listed:<10}  {active:<6}  {note}".rstrip())
    return "\n".join(rows) + "\n"


def pfc_counters(view: View) -> dict[str, Any]:
    """``show priority-flow-control counters`` (revision 3)."""
    found = {}
    for port in _ethernet(view):
        if not view.lossless(port):
            found[port] = {"rxFrames": 0, "txFrames": 0}
            continue
        seen = view.peer_counters(port)
        received = sum(count for name, count in seen.items() if name == "pfc_tx" or name.startswith("pfc_tx."))
        received = max(received, int(view.storm(port).seconds * STORM_FRAMES_PER_S))
        found[port] = {"rxFrames": received, "txFrames": 0}
    return {"interfaceCounters": found}


def watchdog_counters(view: View) -> dict[str, Any]:
    """``show priority-flow-control counters watchdog``: a port appears with its first event."""
    found = {}
    for port in _ethernet(view):
        storm = view.storm(port)
        if (storm.lasts or storm.ended) and watched(view, port):
            events = {"stuckCount": storm.ended + storm.lasts, "recoveryCount": storm.ended}
            queues = {str(n): dict(events) for n in view.lossless(port)}
            found[port] = {"txQueues": queues}
    return {"interfaces": found}


def watched(view: View, port: str) -> bool:
    """Whether the watchdog looks at a port."""
    return "priority-flow-control pause watchdog" in view.statements(port)


def ecn_counters(view: View) -> dict[str, Any]:
    """``show qos interfaces ecn counters queue``: "-" where the interface queue does not count."""
    found = {}
    for port in _ethernet(view):
        held = view.statements(port)
        counts = {}
        for number in range(8):
            queue: Block = held.get(f"{view.unicast} {number}", ["", {}])[1] or {}
            counting = "random-detect ecn count" in queue and "random-detect ecn" in queue
            counts[str(number)] = "0" if counting else "-"
        found[port] = {"queueCounters": counts}
    return {"intfQueueCounters": found}


def queue_counters(view: View) -> dict[str, Any]:
    """``show interfaces counters queue detail``: a stuck queue that the watchdog drops for loses packets."""
    found = {}
    for port in _ethernet(view):
        lost = int(view.storm(port).seconds * 1000)
        losing = view.lossless(port) if lost and watched(view, port) else ()
        classes = {
            f"TC{n}": {"dropPrecedences": {"DP0": {"droppedPackets": lost if n in losing else 0}}} for n in range(8)
        }
        found[port] = {"ucastQueues": {"trafficClasses": classes}}
    return {"egressQueueCounters": {"interfaces": found}}


def errors(view: View) -> dict[str, Any]:
    """``show interfaces counters errors``."""
    zero = dict.fromkeys(("inErrors", "frameTooLongs", "outErrors", "frameTooShorts", "fcsErrors", "alignmentErrors",
                          "symbolErrors"), 0)  # fmt: skip
    return {"interfaceErrorCounters": {port: dict(zero) for port in _ethernet(view)}}


def phy(view: View) -> dict[str, Any]:
    """``show interfaces phy detail`` (revision 2)."""
    status = {
        "location": "line",
        "preFecBer": {"value": 1.2e-9},
        "fec": {"correctedCodewords": {"value": 3}, "uncorrectedCodewords": {"value": 0}},
    }
    return {"interfacePhyStatuses": {p: {"phyStatuses": [status] if view.up(p) else []} for p in _ethernet(view)}}


def ecn_of(view: View, port: str) -> str:
    """``show qos interfaces X ecn``, the layout of the EOS 4.36 guide."""
    rows = ["Tx-Queue  Threshold  ECN Min     ECN Max", "          Unit       Threshold   Threshold",
            "--------  ---------  ---------   ---------"]  # fmt: skip
    held = view.statements(port)
    for number in range(8):
        curve = (held.get(f"{view.unicast} {number}", ["", {}])[1] or {}).get("random-detect ecn")
        if curve:
            words = curve[0].split()
            rows.append(f"{number:<8}  {words[4]:<9}  {words[3]:<9}   {words[6]}")
    return "\n".join(rows) + "\n"


def _ethernet(view: View) -> list[str]:
    return [port for port in view.ports if port.startswith("Ethernet")]

"""Every check of the catalogue: passes on a healthy rack, fails where the catalogue says, is unknown without evidence.

The conditions and severities are those of the catalogue text (the reference), written out here by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from rocetune.doctor.catalogue import entries
from rocetune.doctor.verdicts import registered
from rocetune.model.change import Change, Comparison, Impact, Phase
from rocetune.model.profile import Marking
from tests.doctor.rack import GIGABYTE, PROFILE, Rack, empty, healthy

Spoil = Callable[[Rack], object]


@dataclass(frozen=True)
class Case:
    """One way to break the rack and the finding it must give."""

    id: str
    spoil: Spoil
    device: str
    port: str | None = None
    priority: int | None = None
    severity: str | None = None  # None: the catalogue's

    @property
    def name(self) -> str:
        return f"{self.id}-{self.device}-{self.port}"


def seen(device: str, port: str, *path: str | int, to: object) -> Spoil:
    return lambda rack: rack.seen(device, port, path, to)


def setting(device: str, key: str, to: str | None) -> Spoil:
    return lambda rack: rack.setting(device, key, to)


def grows(device: str, port: str, **deltas: int | None) -> Spoil:
    def spoil(rack: Rack) -> None:
        for name, delta in deltas.items():
            rack.counter(device, port, name.replace("__", "."), delta)

    return spoil


def both(*spoils: Spoil) -> Spoil:
    def spoil(rack: Rack) -> None:
        for one in spoils:
            one(rack)

    return spoil


DUAL = both(seen("gpu01", "rail0", "host", "dcbx", to="firmware"), setting("gpu01", "lldpad", "running"))
NO_ROCE = tuple(0 for _ in range(64))
DRIFTED = Change(("interface", "Ethernet1/1", "mtu"), "change", "1500", "9214", Phase.BUFFERS, Impact.NONE)
GIN = setting("gpu01", "device_initiated", "gin")
ON_ZERO = grows("gpu02", "rail1", tx_bytes__3=0, tx_bytes__0=2 * GIGABYTE)
STORM = both(
    grows("gpu01", "rail0", pfc_tx__3=30_000, pfc_tx_us__3=1_990_000),
    grows("leaf1", "Ethernet1/1", pfc_rx__3=30_000, pfc_rx_us__3=1_990_000, pfc_rx_transitions__3=0),
)

FAILS = (
    Case("MAP-001", seen("gpu01", "rail0", "trust", to="pcp"), "gpu01", "rail0", None, "error"),
    Case("MAP-002", seen("leaf2", "Ethernet0", "trust", to="none"), "leaf2", "Ethernet0", None, "error"),
    Case("MAP-003", seen("gpu01", "rail1", "dscp_to_priority", to=NO_ROCE), "gpu01", "rail1", 3, "critical"),
    Case("MAP-004", seen("leaf1", "Ethernet2/1", "dscp_to_priority", to=NO_ROCE), "leaf1", "Ethernet2/1", 3, "critical"),
    Case("PFC-001", seen("gpu02", "rail0", "priorities", 3, "pfc", to=False), "gpu02", "rail0", 3, "critical"),
    Case("PFC-002", seen("leaf1", "Ethernet1/1", "priorities", 3, "pfc", to=False), "leaf1", "Ethernet1/1", 3, "critical"),
    Case("PFC-003", seen("gpu02", "rail0", "priorities", 3, "pfc", to=False), "gpu02", "rail0", 3, "critical"),
    Case(
        "PFC-003",
        both(
            seen("leaf2", "Ethernet8", "priorities", 5, "pfc", to=True),
            seen("gpu02", "rail1", "priorities", 5, "pfc", to=False),
        ),
        "leaf2",
        "Ethernet8",
        5,
        "critical",
    ),
    Case(
        "PFC-004",
        both(
            seen("leaf1", "Ethernet1/1", "priorities", 3, "pfc", to=False),
            setting("leaf1", "pfc_admin.Ethernet1/1", "auto"),
        ),
        "leaf1",
        "Ethernet1/1",
        3,
        "critical",
    ),
    Case("PFC-010", seen("gpu01", "rail0", "link_pause", to=True), "gpu01", "rail0", None, "error"),
    Case("DCBX-001", setting("gpu01", "lldpad", "running"), "gpu01", None, None, "error"),
    Case("DCBX-001", seen("gpu02", "rail1", "host", "dcbx", to="firmware"), "gpu02", "rail1", None, "error"),
    Case("DCBX-001", setting("gpu01", "dcbx_willing.ens11np0", "on"), "gpu01", "rail0", None, "error"),
    Case("DCBX-002", DUAL, "gpu01", "rail0", None, "error"),
    Case("DCBX-002", setting("leaf2", "lldp_neighbors.Ethernet0", "2"), "leaf2", "Ethernet0", None, "error"),
    Case(
        "DCBX-007",
        lambda rack: rack.cabled("gpu01", "rail0", peer=None).neighbor("gpu01", "rail0", None),
        "gpu01",
        "rail0",
        None,
        "info",
    ),
    Case("DCBX-008", lambda rack: rack.neighbor("leaf1", "Ethernet1/1", ("gpu02", "ens11np0")), "leaf1", "Ethernet1/1"),
    Case("DCBX-008", lambda rack: rack.neighbor("leaf1", "Ethernet1/1", ("gpu01", "ens12np0")), "leaf1", "Ethernet1/1"),
    Case("ECN-001", seen("leaf2", "Ethernet8", "priorities", 3, "ecn", to=False), "leaf2", "Ethernet8", 3, "error"),
    Case("ECN-003", seen("leaf1", "Ethernet1/1", "priorities", 3, "kmin_bytes", to=2_000_000), "leaf1", "Ethernet1/1", 3),
    Case("ECN-003", seen("leaf1", "Ethernet1/1", "priorities", 3, "kmin_bytes", to=1_600_000), "leaf1", "Ethernet1/1", 3),
    Case(
        "ECN-003",  # 300/300 KB, 100 %: step marking, used deliberately
        both(
            seen("leaf1", "Ethernet1/1", "priorities", 3, "kmin_bytes", to=300_000),
            seen("leaf1", "Ethernet1/1", "priorities", 3, "kmax_bytes", to=300_000),
            seen("leaf1", "Ethernet1/1", "priorities", 3, "pmax_percent", to=100.0),
        ),
        "leaf1",
        "Ethernet1/1",
        3,
        "info",
    ),
    Case("ECN-004", seen("leaf2", "Ethernet0", "priorities", 3, "xoff_bytes", to=1_600_000), "leaf2", "Ethernet0", 3),
    Case("ECN-004", seen("leaf2", "Ethernet0", "priorities", 3, "kmax_bytes", to=3_200_000), "leaf2", "Ethernet0", 3),
    Case("ECN-004", seen("leaf2", "Ethernet0", "priorities", 3, "alpha", to=1 / 64), "leaf2", "Ethernet0", 3),
    Case("ECN-009", setting("leaf2", "wred_green_enable", "off"), "leaf2", None, None, "error"),
    Case("ECN-009", setting("leaf2", "wred_green_enable.Ethernet0.3", "off"), "leaf2", "Ethernet0", 3, "error"),
    Case("ECN-011", seen("gpu01", "rail0", "host", "roce_tos", to=104), "gpu01", "rail0", None, "error"),
    Case("ECN-011", seen("gpu01", "rail0", "host", "traffic_class", to=104), "gpu01", "rail0", None, "error"),
    Case("ECN-011", setting("gpu01", "nccl_ib_tc", "104"), "gpu01", None, None, "error"),
    Case("CC-001", seen("gpu01", "rail0", "host", "np_priorities", to=frozenset()), "gpu01", "rail0", 3, "error"),
    Case("CC-002", seen("gpu01", "rail0", "host", "rp_priorities", to=frozenset({0})), "gpu01", "rail0", 3, "error"),
    Case("CNP-001", seen("gpu01", "rail0", "host", "cnp_dscp", to=4), "gpu01", "rail0", None, "error"),
    Case(
        "CNP-002",
        seen("leaf1", "Ethernet1/1", "dscp_to_priority", to=tuple({26: 3}.get(dscp, 0) for dscp in range(64))),
        "leaf1",
        "Ethernet1/1",
        6,
        "error",
    ),
    Case("APP-001", seen("gpu01", "rail0", "host", "roce_tos", to=0), "gpu01", "rail0", None, "error"),
    Case("APP-002", seen("gpu01", "rail0", "host", "traffic_class", to=-1), "gpu01", "rail0", None, "error"),
    Case("APP-002", seen("gpu01", "rail0", "host", "traffic_class", to=96), "gpu01", "rail0", None, "error"),
    Case("APP-003", setting("gpu01", "nccl_ib_tc", "96"), "gpu01", None, None, "critical"),
    Case(
        "APP-003",
        both(setting("gpu01", "nccl_ib_tc", ""), seen("gpu01", "rail0", "host", "traffic_class", to=-1)),
        "gpu01",
        None,
        None,
        "critical",
    ),
    Case(
        "APP-004",
        both(GIN, setting("gpu01", "nccl_gin_tc", ""), setting("gpu01", "nccl_ib_tc", "")),
        "gpu01",
        None,
        None,
        "error",
    ),
    Case("APP-006", ON_ZERO, "gpu02", "rail1", 3, "critical"),
    Case("GID-001", seen("gpu01", "rail0", "host", "roce_mode", to="v1"), "gpu01", "rail0", None, "error"),
    Case("GID-001", setting("gpu01", "gids.ens11np0", "0:v1:link-local 2:v1:ipv4"), "gpu01", "rail0", None, "error"),
    Case("MTU-001", seen("gpu01", "rail0", "host", "active_mtu_bytes", to=1024), "gpu01", "rail0", None, "warning"),
    Case("MTU-001", seen("gpu01", "rail0", "mtu_bytes", to=4196), "gpu01", "rail0", None, "warning"),
    Case("MTU-002", seen("leaf1", "Ethernet1/1", "mtu_bytes", to=1500), "leaf1", "Ethernet1/1", None, "critical"),
    Case("MTU-002", seen("leaf2", "Ethernet248", "mtu_bytes", to=9100), "leaf1", "Ethernet32/1", None, "critical"),
    Case("BUF-001", seen("leaf2", "Ethernet0", "priorities", 3, "headroom_bytes", to=99_999), "leaf2", "Ethernet0", 3, "critical"),
    Case("BUF-002", seen("leaf2", "Ethernet0", "priorities", 3, "headroom_bytes", to=0), "leaf2", "Ethernet0", 3, "critical"),
    Case("BUF-004", seen("leaf2", "Ethernet0", "cable_m", to=1.0), "leaf2", "Ethernet0", None, "error"),
    Case("BUF-006", setting("leaf2", "headroom_rejected", "isHeadroomResourceValid: ... exceeds limit"), "leaf2", None, None, "critical"),
    Case("WD-001", seen("leaf1", "Ethernet2/1", "priorities", 3, "watchdog", to=False), "leaf1", "Ethernet2/1", 3, "error"),
    Case(
        "WD-002",
        both(
            seen("leaf1", "Ethernet1/1", "priorities", 4, "pfc", to=True),
            seen("leaf1", "Ethernet1/1", "priorities", 4, "watchdog", to=False),
        ),
        "leaf1",
        "Ethernet1/1",
        4,
        "error",
    ),
    Case("WD-003", seen("leaf2", "Ethernet0", "watchdog", "poll_ms", to=300), "leaf2", "Ethernet0", None, "error"),
    Case("WD-003", seen("leaf2", "Ethernet0", "watchdog", "poll_ms", to=200), "leaf2", "Ethernet0", None, "warning"),
    Case("WD-007", setting("leaf2", "big_red_switch", "on"), "leaf2", None, None, "critical"),
    Case("WD-008", seen("gpu01", "rail0", "host", "storm_prevention_ms", to=0), "gpu01", "rail0", None, "warning"),
    Case("WD-008", seen("gpu01", "rail0", "host", "storm_prevention_ms", to=8000), "gpu01", "rail0", None, "warning"),
    Case("STM-001", grows("gpu01", "rail0", pfc_tx_us__3=40_000), "gpu01", "rail0", 3, "warning"),
    Case("STM-001", grows("gpu01", "rail0", pfc_tx_us__3=220_000), "gpu01", "rail0", 3, "error"),
    Case("STM-001", grows("gpu01", "rail0", pfc_tx__3=2_100), "gpu01", "rail0", 3, "error"),
    Case("STM-004", STORM, "gpu01", "rail0", 3, "critical"),
    Case("STM-005", grows("gpu01", "rail0", storm_warnings=1), "gpu01", "rail0", None, "error"),
    Case("STM-006", grows("gpu01", "rail0", storm_errors=1), "gpu01", "rail0", None, "critical"),
    Case("STM-007", grows("leaf1", "Ethernet1/1", watchdog_storms__3=1, watchdog_restored__3=1), "leaf1", "Ethernet1/1", 3, "critical"),
    Case("STM-010", STORM, "gpu01", "rail0", 3, "critical"),
    Case("CTR-001", grows("leaf1", "Ethernet1/1", queue_drops__3=1), "leaf1", "Ethernet1/1", 3, "critical"),
    Case("CTR-001", grows("leaf2", "Ethernet0", pg_drops__3=1), "leaf2", "Ethernet0", 3, "critical"),
    Case("CTR-002", grows("gpu01", "rail0", rx_discards=1), "gpu01", "rail0", 3, "critical"),
    Case("CTR-003", grows("leaf1", "Ethernet1/1", ecn_marked__3=200, tx_packets__3=10_000), "leaf1", "Ethernet1/1", 3, "warning"),
    Case("CTR-003", grows("gpu01", "rail0", ecn_marked_roce=2_000, rx_packets__3=10_000), "gpu01", "rail0", 3, "error"),
    Case(
        "CTR-004",
        both(
            grows("leaf1", "Ethernet1/1", pfc_tx__3=50, ecn_marked__3=0),
            grows("leaf1", "Ethernet2/1", ecn_marked__3=0),
            grows("leaf1", "Ethernet32/1", ecn_marked__3=0),
        ),
        "leaf1",
        "Ethernet1/1",
        3,
        "error",
    ),
    Case("CTR-005", grows("gpu01", "rail0", out_of_sequence=2, rx_packets__3=1_000_000), "gpu01", "rail0", None, "warning"),
    Case("CTR-005", grows("gpu01", "rail0", packet_seq_err=200, rx_packets__3=1_000_000), "gpu01", "rail0", None, "error"),
    Case("CTR-006", grows("gpu01", "rail0", local_ack_timeout_err=1), "gpu01", "rail0", None, "error"),
    Case("CTR-007", grows("gpu01", "rail0", adaptive_retransmissions=1), "gpu01", "rail0", None, "warning"),
    Case("CTR-007", grows("gpu01", "rail0", slow_restarts=21), "gpu01", "rail0", None, "warning"),
    Case("CTR-008", grows("gpu01", "rail0", cnp_ignored=1), "gpu01", "rail0", None, "error"),
    Case("CTR-009", grows("gpu01", "rail0", ecn_marked_roce=10, cnp_sent=0), "gpu01", "rail0", None, "error"),
    Case("SYM-001", seen("gpu01", "rail1", "host", "cnp_dscp", to=4), "gpu01", "rail1", None, "error"),
    Case(
        "SYM-002",
        both(seen("gpu02", "rail0", "mtu_bytes", to=1500), seen("gpu02", "rail1", "mtu_bytes", to=1500)),
        "gpu02",
        "rail0",
        None,
        "error",
    ),
    Case("SYM-004", seen("leaf1", "Ethernet32/1", "priorities", 3, "pfc", to=False), "leaf1", "Ethernet32/1", 3, "critical"),
    Case("DRF-001", lambda rack: rack.drift.update(leaf1=Comparison((DRIFTED,))), "leaf1", None, None, "error"),
    Case("DRF-003", seen("leaf1", "Ethernet1/1", "priorities", 3, "kmin_bytes", to=450_000), "leaf1", "Ethernet1/1", 3, "error"),
    Case("FW-004", setting("gpu01", "persistence", "absent"), "gpu01", None, None, "error"),
    Case("FW-004", setting("gpu01", "persistence", "stale"), "gpu01", None, None, "error"),
)  # fmt: skip

UNKNOWN = (
    Case("MAP-001", seen("gpu01", "rail0", "trust", to=None), "gpu01", "rail0"),
    Case("MAP-002", seen("leaf2", "Ethernet0", "trust", to=None), "leaf2", "Ethernet0"),
    Case(
        "MAP-003",  # an inbox driver lists single entries; the firmware maps all 64
        seen("gpu01", "rail1", "dscp_to_priority", to=tuple({48: 6}.get(dscp) for dscp in range(64))),
        "gpu01",
        "rail1",
        3,
    ),
    Case(
        "MAP-004",
        both(
            seen("leaf1", "Ethernet2/1", "dscp_to_priority", to=None),
            *(seen("leaf1", "Ethernet2/1", "priorities", number, "dscps", to=None) for number in (0, 3, 6, 7)),
        ),
        "leaf1",
        "Ethernet2/1",
        3,
    ),
    Case("PFC-001", seen("gpu02", "rail0", "priorities", 3, "pfc", to=None), "gpu02", "rail0", 3, "critical"),
    Case("PFC-002", seen("leaf1", "Ethernet1/1", "priorities", 3, "pfc", to=None), "leaf1", "Ethernet1/1", 3),
    Case("PFC-003", seen("gpu02", "rail0", "priorities", 3, "pfc", to=None), "gpu02", "rail0", 3),
    Case("PFC-003", lambda rack: rack.states.pop("gpu02") and rack.cabled("leaf2", "Ethernet8", peer=None),
         "leaf1", "Ethernet2/1"),
    Case("PFC-010", seen("gpu01", "rail0", "link_pause", to=None), "gpu01", "rail0"),
    Case("DCBX-001", setting("gpu01", "lldpad", None), "gpu01"),
    Case("DCBX-001", seen("gpu02", "rail1", "host", "dcbx", to=None), "gpu02", "rail1"),
    Case("DCBX-002", both(setting("gpu01", "lldpad", "running"), seen("gpu01", "rail0", "host", "dcbx", to=None)),
         "gpu01", "rail0"),
    Case("ECN-001", seen("leaf2", "Ethernet8", "priorities", 3, "ecn", to=None), "leaf2", "Ethernet8", 3),
    Case("ECN-003", seen("leaf1", "Ethernet1/1", "priorities", 3, "kmax_bytes", to=None), "leaf1", "Ethernet1/1", 3),
    Case("ECN-004", seen("leaf2", "Ethernet0", "priorities", 3, "alpha", to=None), "leaf2", "Ethernet0", 3),
    Case("ECN-009", setting("leaf2", "wred_green_enable", None), "leaf2"),
    Case("ECN-011", seen("gpu01", "rail0", "host", "roce_tos", to=None), "gpu01", "rail0"),
    Case("CC-001", seen("gpu01", "rail0", "host", "np_priorities", to=None), "gpu01", "rail0", 3),
    Case("CC-002", seen("gpu01", "rail0", "host", "rp_priorities", to=None), "gpu01", "rail0", 3),
    Case("CNP-001", seen("gpu01", "rail0", "host", "cnp_dscp", to=None), "gpu01", "rail0"),
    Case(
        "CNP-002",
        seen("leaf1", "Ethernet1/1", "dscp_to_priority", to=tuple({26: 3}.get(dscp) for dscp in range(64))),
        "leaf1",
        "Ethernet1/1",
        6,
    ),
    Case("APP-001", seen("gpu01", "rail0", "host", "roce_tos", to=None), "gpu01", "rail0"),
    Case(
        "APP-002",  # inbox: the file does not exist; no error
        both(seen("gpu01", "rail0", "host", "traffic_class", to=None), setting("gpu01", "nccl_ib_tc", "")),
        "gpu01",
        "rail0",
        None,
        "info",
    ),
    Case("APP-003", setting("gpu01", "nccl_ib_tc", None), "gpu01", None, None, "critical"),
    Case("APP-004", both(GIN, setting("gpu01", "nccl_ib_tc", None)), "gpu01"),
    Case("APP-006", grows("gpu02", "rail1", tx_bytes__3=None), "gpu02", "rail1", 3, "critical"),
    Case("GID-001", seen("gpu01", "rail0", "host", "roce_mode", to=None), "gpu01", "rail0"),
    Case("GID-001", setting("gpu01", "gids.ens11np0", None), "gpu01", "rail0"),
    Case("GID-002", both(setting("gpu01", "nccl_ib_gid_index", "3"), setting("gpu01", "gids.ens11np0", None)),
         "gpu01", "rail0"),
    Case("MTU-001", seen("gpu01", "rail0", "host", "active_mtu_bytes", to=None), "gpu01", "rail0"),
    Case("MTU-002", seen("gpu01", "rail0", "mtu_bytes", to=None), "leaf1", "Ethernet1/1", None, "critical"),
    Case("MTU-002", seen("leaf1", "Ethernet1/1", "mtu_bytes", to=9000), "leaf1", "Ethernet1/1"),
    Case("BUF-001", seen("leaf2", "Ethernet0", "priorities", 3, "headroom_bytes", to=None), "leaf2", "Ethernet0", 3),
    Case("BUF-002", seen("leaf2", "Ethernet0", "priorities", 3, "headroom_bytes", to=None), "leaf2", "Ethernet0", 3),
    Case("BUF-004", seen("leaf2", "Ethernet0", "cable_m", to=None), "leaf2", "Ethernet0"),
    Case("BUF-006", setting("leaf2", "headroom_rejected", None), "leaf2"),
    Case("WD-001", seen("leaf1", "Ethernet2/1", "priorities", 3, "watchdog", to=None), "leaf1", "Ethernet2/1", 3),
    Case("WD-002", seen("leaf1", "Ethernet2/1", "priorities", 3, "watchdog", to=None), "leaf1", "Ethernet2/1", 3),
    Case("WD-003", seen("leaf2", "Ethernet0", "watchdog", "detect_ms", to=None), "leaf2", "Ethernet0"),
    Case("WD-007", setting("leaf2", "big_red_switch", None), "leaf2"),
    Case("WD-008", seen("gpu01", "rail0", "host", "storm_prevention_ms", to=None), "gpu01", "rail0"),
    Case(
        "STM-001",
        both(
            grows("gpu01", "rail0", pfc_tx__3=None, pfc_tx_us__3=None),
            grows("leaf1", "Ethernet1/1", pfc_rx__3=None, pfc_rx_us__3=None),
        ),
        "gpu01",
        "rail0",
        3,
    ),
    Case(
        "STM-004",  # frames without a duration do not tell for how long
        both(
            grows("gpu01", "rail0", pfc_tx__3=90, pfc_tx_us__3=None),
            grows("leaf1", "Ethernet1/1", pfc_rx__3=90, pfc_rx_us__3=None),
        ),
        "gpu01",
        "rail0",
        3,
        "critical",
    ),
    Case("STM-005", grows("gpu01", "rail0", storm_warnings=None), "gpu01", "rail0"),
    Case("STM-006", grows("gpu01", "rail0", storm_errors=-1), "gpu01", "rail0"),
    Case("STM-007", grows("leaf1", "Ethernet1/1", watchdog_storms__3=None), "leaf1", "Ethernet1/1", 3),
    Case(
        "STM-010",
        both(
            grows("gpu01", "rail0", pfc_tx__3=None, pfc_tx_us__3=None),
            grows("leaf1", "Ethernet1/1", pfc_rx__3=None, pfc_rx_us__3=None),
        ),
        "leaf1",
        None,
        3,
    ),
    Case("CTR-001", grows("leaf1", "Ethernet1/1", queue_drops__3=None, pg_drops__3=None), "leaf1", "Ethernet1/1", 3),
    Case("CTR-001", grows("leaf1", "Ethernet1/1", queue_drops__3=-5, pg_drops__3=-5), "leaf1", "Ethernet1/1", 3),
    Case("CTR-002", grows("gpu01", "rail0", rx_discards=None, rx_discards__3=None), "gpu01", "rail0", 3),
    Case("CTR-003", grows("leaf1", "Ethernet1/1", ecn_marked__3=None), "leaf1", "Ethernet1/1", 3),
    Case("CTR-003", grows("leaf1", "Ethernet1/1", tx_packets__3=None), "leaf1", "Ethernet1/1", 3),
    Case(
        "CTR-004",
        both(
            grows("leaf1", "Ethernet1/1", pfc_tx__3=50, ecn_marked__3=None),
            grows("leaf1", "Ethernet2/1", ecn_marked__3=None),
            grows("leaf1", "Ethernet32/1", ecn_marked__3=None),
        ),
        "leaf1",
        None,
        3,
    ),
    Case("CTR-005", grows("gpu01", "rail0", out_of_sequence=2, rx_packets__3=None), "gpu01", "rail0"),
    Case("CTR-006", grows("gpu01", "rail0", local_ack_timeout_err=None), "gpu01", "rail0"),
    Case("CTR-007", grows("gpu01", "rail0", adaptive_retransmissions=None, slow_restarts=None), "gpu01", "rail0"),
    Case("CTR-008", grows("gpu01", "rail0", cnp_ignored=None), "gpu01", "rail0"),
    Case("CTR-009", grows("gpu01", "rail0", cnp_sent=None), "gpu01", "rail0"),
    Case("SYM-004", seen("leaf1", "Ethernet32/1", "priorities", 3, "ecn", to=None), "leaf1", "Ethernet32/1", 3),
    Case("DRF-001", lambda rack: rack.drift.pop("leaf1"), "leaf1"),
    Case("FW-004", setting("gpu01", "persistence", None), "gpu01"),
    Case(
        "FW-007",
        lambda rack: rack.states.update(
            gpu01=replace(rack.states["gpu01"], problems=("mlnx_qos: command not found",))
        ),
        "gpu01",
        None,
        None,
        "info",
    ),
)  # fmt: skip

# Verdicts that cannot be: what is unknown there is another check's to say.
NEVER_FAILS = {"FW-007"}
NEVER_UNKNOWN = {
    "PFC-004",  # without an observed PFC state PFC-001 and PFC-002 are unknown
    "DCBX-007",
    "DCBX-008",
    "SYM-001",  # unknown only when nothing at all was observed: see the empty rack
    "SYM-002",
    "DRF-003",
}
TESTED_ELSEWHERE = {"GID-002"}  # below: needs two servers


def rack() -> Rack:
    made = healthy()
    made.drift = {name: Comparison() for name in made.plan}
    return made


@pytest.mark.parametrize("case", FAILS, ids=lambda case: case.name)
def test_fails_with_place_severity_and_fix(case: Case) -> None:
    spoiled = rack()
    case.spoil(spoiled)
    finding = spoiled.finding(case.id)
    assert (finding.verdict, finding.device, finding.port, finding.priority) == (
        "fail", case.device, case.port, case.priority,
    )  # fmt: skip
    assert finding.severity == (case.severity or entries()[case.id].severity)
    assert finding.expected and finding.observed and finding.fix and finding.reason


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda case: case.name)
def test_is_unknown_without_evidence(case: Case) -> None:
    spoiled = rack()
    case.spoil(spoiled)
    findings = spoiled.judge(case.id).findings
    places = [(item.device, item.port, item.priority) for item in findings]
    assert [item.verdict for item in findings] == ["unknown"] * len(findings)
    assert (case.device, case.port, case.priority) in places
    finding = findings[places.index((case.device, case.port, case.priority))]
    assert finding.severity == (case.severity or entries()[case.id].severity)
    assert finding.reason and not finding.fix


def test_every_check_is_tested() -> None:
    assert {case.id for case in FAILS} | NEVER_FAILS | TESTED_ELSEWHERE == set(registered())
    assert {case.id for case in UNKNOWN} | NEVER_UNKNOWN == set(registered())


@pytest.mark.parametrize("identity", sorted(set(registered()) - {"APP-004"}))
def test_passes_on_the_healthy_rack(identity: str) -> None:
    report = rack().judge(identity)
    assert report.findings == () and report.passed > 0


def test_healthy_rack_is_healthy() -> None:
    report = rack().judge()
    assert report.findings == () and report.verdict == "healthy" and not report.one_sample


def test_nothing_observed_never_passes() -> None:
    report = empty().judge()
    # DCBX-007 is about the inventory, which is there; everything else must be unknown.
    assert [item.id for item in report.findings if item.verdict == "fail"] == []
    assert report.passed == empty().judge("DCBX-007").passed
    assert report.verdict == "unknown" and report.one_sample
    judged = {item.id for item in report.findings}
    silent = set(registered()) - judged
    # These have nothing to say when nothing was seen: another check reports the same leaf as unknown.
    assert silent == {"PFC-004", "DCBX-007", "DCBX-008", "DRF-001", "DRF-003", "APP-004", "FW-007"}


def test_every_leaf_taken_away_alone_never_adds_a_pass() -> None:
    base = rack().judge().passed
    for name, state in rack().states.items():
        for native in state.ports:
            spoiled = rack()
            ports = {key: value for key, value in state.ports.items() if key != native}
            spoiled.states[name] = replace(state, ports=ports)
            assert spoiled.judge().passed < base


class TestMarking:
    """The chain from application to wire."""

    def test_gin_falls_back_to_nccl_ib_tc(self) -> None:
        spoiled = rack()
        GIN(spoiled)
        assert spoiled.judge("APP-004").findings == ()

    def test_missing_forced_class_is_no_matter_when_nccl_marks(self) -> None:
        spoiled = rack().seen("gpu01", "rail0", ("host", "traffic_class"), None)
        assert spoiled.judge("APP-002").findings == ()

    def test_unset_nccl_is_covered_by_the_forced_class(self) -> None:
        assert rack().setting("gpu01", "nccl_ib_tc", "").judge("APP-003").findings == ()

    def test_dscp_without_ect_is_ecn_011_alone(self) -> None:
        spoiled = rack().seen("gpu01", "rail0", ("host", "roce_tos"), 104)
        assert spoiled.judge("APP-001").findings == ()

    def test_not_ect_by_profile_is_no_fault(self) -> None:
        spoiled = rack().seen("gpu01", "rail0", ("host", "roce_tos"), 104)
        spoiled.planned("gpu01", "rail0", ("host", "roce_tos"), 104)
        assert spoiled.judge("ECN-011").findings == ()

    def test_idle_port_gives_no_verdict_about_the_wire(self) -> None:
        idle = rack()
        before = idle.judge("APP-006").passed
        idle.counter("gpu01", "rail0", "tx_bytes.3", 0)
        report = idle.judge("APP-006")
        assert report.findings == () and report.passed == before - 1

    def test_rdma_bytes_counted_apart_ignore_other_traffic(self) -> None:
        busy = rack()
        ON_ZERO(busy)
        busy.counter("gpu02", "rail1", "tx_bytes.3", GIGABYTE).counter("gpu02", "rail1", "rdma_tx_bytes", GIGABYTE)
        assert busy.judge("APP-006").findings == ()

    def test_nccl_is_judged_only_where_the_profile_uses_it(self) -> None:
        roce = PROFILE.classes["roce"]
        by_cm = roce.model_copy(update={"marking": Marking(by=("rdma_cm",))})
        profile = PROFILE.model_copy(update={"classes": {**PROFILE.classes, "roce": by_cm}})
        spoiled = rack().environment("gpu01")
        for port in ("rail0", "rail1"):
            spoiled.profiled("gpu01", port, profile)
        spoiled.setting("gpu01", "nccl_ib_tc", None).setting("gpu01", "gids.ens11np0", None)
        assert spoiled.judge("APP-003", "GID-001").findings == ()


class TestGid:
    """A pinned index."""

    def test_same_index_other_kind(self) -> None:
        pinned = rack()
        for server in ("gpu01", "gpu02"):
            pinned.setting(server, "nccl_ib_gid_index", "3")
        assert pinned.judge("GID-001", "GID-002").findings == ()
        pinned.setting("gpu02", "gids.ens12np0", "3:v2:link-local 5:v2:ipv4")
        finding = pinned.finding("GID-002")
        assert (finding.device, finding.port, finding.severity) == ("gpu02", "rail1", "error")

    def test_pinned_to_v1(self) -> None:
        findings = rack().setting("gpu01", "nccl_ib_gid_index", "2").judge("GID-001").findings
        assert [(item.device, item.port) for item in findings] == [("gpu01", "rail0"), ("gpu01", "rail1")]


class TestNotJudged:
    """What a plan does not ask for, or a platform does not have, gives no verdict."""

    def test_lossy_port(self) -> None:
        lossy = rack()
        for device, port in (("leaf1", "Ethernet1/1"), ("gpu01", "rail0")):
            lossy.planned(device, port, ("priorities", 3, "lossless"), False)
            lossy.planned(device, port, ("priorities", 3, "pfc"), False)
            lossy.seen(device, port, ("priorities", 3, "pfc"), False)
        assert lossy.judge("PFC-001", "PFC-002", "PFC-003", "BUF-001", "WD-001").findings == ()
        assert lossy.seen("gpu01", "rail0", ("trust",), "pcp").finding("MAP-001").port == "rail0"

    def test_headroom_that_the_platform_sizes_by_itself(self) -> None:
        automatic = rack()
        for port in ("Ethernet1/1", "Ethernet2/1", "Ethernet32/1"):
            automatic.planned("leaf1", port, ("priorities", 3, "headroom_bytes"), None)
            automatic.seen("leaf1", port, ("priorities", 3, "headroom_bytes"), None)
        assert automatic.judge("BUF-001", "BUF-002").findings == ()

    def test_headroom_of_a_port_without_pfc_is_not_the_trouble(self) -> None:
        off = rack().seen("leaf2", "Ethernet0", ("priorities", 3, "pfc"), False)
        off.seen("leaf2", "Ethernet0", ("priorities", 3, "headroom_bytes"), 0)
        assert off.judge("BUF-001", "BUF-002").findings == ()

    def test_checks_of_one_os(self) -> None:
        assert rack().setting("leaf1", "big_red_switch", "on").judge("WD-007").findings == ()

    def test_watchdog_off_by_profile(self) -> None:
        off = rack().planned("leaf1", "Ethernet1/1", ("priorities", 3, "watchdog"), False)
        off.seen("leaf1", "Ethernet1/1", ("priorities", 3, "watchdog"), False)
        assert off.judge("WD-001", "WD-002", "WD-003").findings == ()

    def test_poll_interval_that_the_device_chooses(self) -> None:
        auto = rack()
        auto.plan["leaf1"] = replace(auto.plan["leaf1"], qos=replace(auto.plan["leaf1"].qos, watchdog_poll_ms=None))
        auto.planned("leaf1", "Ethernet1/1", ("watchdog", "poll_ms"), None)
        auto.seen("leaf1", "Ethernet1/1", ("watchdog", "poll_ms"), None)
        assert auto.judge("WD-003").findings == ()


class TestThresholds:
    """Numbers of the catalogue, at their edges."""

    def test_rounding_of_the_chip_is_no_difference(self) -> None:
        # Spectrum programs 150 000 B as 159 744 B (6.5 %); the tolerance is 8 %.
        rounded = rack()
        rounded.planned("leaf1", "Ethernet1/1", ("priorities", 3, "kmin_bytes"), 150_000)
        rounded.seen("leaf1", "Ethernet1/1", ("priorities", 3, "kmin_bytes"), 159_744)
        assert rounded.judge("DRF-003", "ECN-004").findings == ()

    def test_kmin_beyond_80_percent_of_xoff(self) -> None:
        late = rack().seen("leaf2", "Ethernet0", ("priorities", 3, "xoff_bytes"), 1_700_000)
        assert late.judge("ECN-004").findings == ()
        late.seen("leaf2", "Ethernet0", ("priorities", 3, "kmin_bytes"), 1_400_000)
        assert late.finding("ECN-004").verdict == "fail"

    def test_step_marking_as_planned(self) -> None:
        step = rack()
        for name, value in (("kmin_bytes", 300_000), ("kmax_bytes", 300_000), ("pmax_percent", 100.0)):
            step.planned("leaf1", "Ethernet1/1", ("priorities", 3, name), value)
            step.seen("leaf1", "Ethernet1/1", ("priorities", 3, name), value)
        assert step.judge("ECN-003").findings == ()

    def test_lifetime_counters_without_growth_are_history(self) -> None:
        old = rack().counter("leaf1", "Ethernet1/1", "queue_drops.3", 0)
        assert old.judge("CTR-001").findings == ()

    def test_one_percent_of_pause_is_fine(self) -> None:
        assert rack().counter("gpu01", "rail0", "pfc_tx_us.3", 20_000).judge("STM-001").findings == ()

    def test_netdev_mtu_for_rdma_4096(self) -> None:
        assert rack().seen("gpu01", "rail0", ("mtu_bytes",), 4200).judge("MTU-001").findings == ()

    def test_restored_storm_that_is_old(self) -> None:
        assert rack().judge("STM-007").findings == ()

    def test_storm_that_lasts_is_seen_by_one_sample(self) -> None:
        storm = rack().counter("leaf1", "Ethernet1/1", "watchdog_storms.3", 0)  # 1000 storms
        storm.counter("leaf1", "Ethernet1/1", "watchdog_restored.3", -1).one_sample("leaf1")
        last = storm.states["leaf1"].samples[0].counters["Ethernet1/1"]
        assert last["watchdog_storms.3"] == last["watchdog_restored.3"]
        storm.states["leaf1"] = replace(
            storm.states["leaf1"],
            samples=(replace(storm.states["leaf1"].samples[0], counters={
                "Ethernet1/1": {"watchdog_storms.3": 2, "watchdog_restored.3": 1}}),),
        )  # fmt: skip
        failing = [item for item in storm.judge("STM-007").findings if item.verdict == "fail"]
        assert [(item.device, item.port) for item in failing] == [("leaf1", "Ethernet1/1")]

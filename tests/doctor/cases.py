"""How to break the rack, and the finding that each break must give: conditions and severities of the reference text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rocetune.model.change import Change, Comparison, Impact, Phase
from tests.doctor.rack import GIGABYTE, GLOBAL, LOCAL, Rack

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


E1 = ("leaf1", "Ethernet1/1")
E2 = ("leaf1", "Ethernet2/1")
UP = ("leaf1", "Ethernet32/1")
S0 = ("leaf2", "Ethernet0")
S8 = ("leaf2", "Ethernet8")
UP2 = ("leaf2", "Ethernet248")
G1R0 = ("gpu01", "rail0")
G1R1 = ("gpu01", "rail1")
G2R0 = ("gpu02", "rail0")
G2R1 = ("gpu02", "rail1")
P3 = ("priorities", 3)


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


DUAL = both(seen(*G1R0, "host", "dcbx", to="firmware"), setting("gpu01", "lldpad", "running"))
NO_ROCE = tuple(0 for _ in range(64))
DRIFTED = Change(("interface", "Ethernet1/1", "mtu"), "change", "1500", "9214", Phase.BUFFERS, Impact.NONE)
GIN = setting("gpu01", "device_initiated", "gin")
ON_ZERO = grows(*G2R1, tx_bytes__3=0, tx_bytes__0=2 * GIGABYTE)
STORM = both(
    grows(*G1R0, pfc_tx__3=30_000, pfc_tx_us__3=1_990_000),
    grows(*E1, pfc_rx__3=30_000, pfc_rx_us__3=1_990_000, pfc_rx_transitions__3=0),
)

FAILS = (
    Case("MAP-001", seen(*G1R0, "trust", to="pcp"), *G1R0, None, "error"),
    Case("MAP-002", seen(*S0, "trust", to="none"), *S0, None, "error"),
    Case("MAP-003", seen(*G1R1, "dscp_to_priority", to=NO_ROCE), *G1R1, 3, "critical"),
    Case("MAP-004", seen(*E2, "dscp_to_priority", to=NO_ROCE), *E2, 3, "critical"),
    Case("PFC-001", seen(*G2R0, *P3, "pfc", to=False), *G2R0, 3, "critical"),
    Case("PFC-002", seen(*E1, *P3, "pfc", to=False), *E1, 3, "critical"),
    Case("PFC-003", seen(*G2R0, *P3, "pfc", to=False), *G2R0, 3, "critical"),
    Case(
        "PFC-003",
        both(
            seen(*S8, "priorities", 5, "pfc", to=True),
            seen(*G2R1, "priorities", 5, "pfc", to=False),
        ),
        *S8,
        5,
        "critical",
    ),
    Case(
        "PFC-004",
        both(
            seen(*E1, *P3, "pfc", to=False),
            setting("leaf1", "pfc_admin.Ethernet1/1", "auto"),
        ),
        *E1,
        3,
        "critical",
    ),
    Case("PFC-010", seen(*G1R0, "link_pause", to=True), *G1R0, None, "error"),
    Case("DCBX-001", setting("gpu01", "lldpad", "running"), "gpu01", None, None, "error"),
    Case("DCBX-001", seen(*G2R1, "host", "dcbx", to="firmware"), *G2R1, None, "error"),
    Case("DCBX-001", setting("gpu01", "dcbx_willing.ens11np0", "on"), *G1R0, None, "error"),
    Case("DCBX-002", DUAL, *G1R0, None, "error"),
    Case("DCBX-002", setting("leaf2", "lldp_neighbors.Ethernet0", "2"), *S0, None, "error"),
    Case(
        "DCBX-007",
        lambda rack: rack.cabled(*G1R0, peer=None).neighbor(*G1R0, None),
        *G1R0,
        None,
        "info",
    ),
    Case("DCBX-008", lambda rack: rack.neighbor(*E1, ("gpu02", "ens11np0")), *E1),
    Case("DCBX-008", lambda rack: rack.neighbor(*E1, ("gpu01", "ens12np0")), *E1),
    Case("ECN-001", seen(*S8, *P3, "ecn", to=False), *S8, 3, "error"),
    Case("ECN-003", seen(*E1, *P3, "kmin_bytes", to=2_000_000), *E1, 3),
    Case("ECN-003", seen(*E1, *P3, "kmin_bytes", to=1_600_000), *E1, 3),
    Case(
        "ECN-003",  # 300/300 KB, 100 %: step marking, used deliberately
        both(
            seen(*E1, *P3, "kmin_bytes", to=300_000),
            seen(*E1, *P3, "kmax_bytes", to=300_000),
            seen(*E1, *P3, "pmax_percent", to=100.0),
        ),
        *E1,
        3,
        "info",
    ),
    Case("ECN-004", seen(*S0, *P3, "xoff_bytes", to=1_600_000), *S0, 3),
    Case("ECN-004", seen(*S0, *P3, "kmax_bytes", to=3_200_000), *S0, 3),
    Case("ECN-004", seen(*S0, *P3, "alpha", to=1 / 64), *S0, 3),
    Case("ECN-009", setting("leaf2", "wred_green_enable", "off"), "leaf2", None, None, "error"),
    Case("ECN-009", setting("leaf2", "wred_green_enable.Ethernet0.3", "off"), *S0, 3, "error"),
    Case(
        "ECN-009",  # no flag handed over: thresholds are bound and nothing is marked
        both(setting("leaf2", "wred_green_enable", None), seen(*S8, *P3, "ecn", to=False)),
        *S8,
        3,
        "error",
    ),
    Case("ECN-011", seen(*G1R0, "host", "roce_tos", to=104), *G1R0, None, "error"),
    Case("ECN-011", seen(*G1R0, "host", "traffic_class", to=104), *G1R0, None, "error"),
    Case("ECN-011", setting("gpu01", "nccl_ib_tc", "104"), "gpu01", None, None, "error"),
    Case("CC-001", seen(*G1R0, "host", "np_priorities", to=frozenset()), *G1R0, 3, "error"),
    Case("CC-002", seen(*G1R0, "host", "rp_priorities", to=frozenset({0})), *G1R0, 3, "error"),
    Case("CNP-001", seen(*G1R0, "host", "cnp_dscp", to=4), *G1R0, None, "error"),
    Case(
        "CNP-002",
        seen(*E1, "dscp_to_priority", to=tuple({26: 3}.get(dscp, 0) for dscp in range(64))),
        *E1,
        6,
        "error",
    ),
    Case("APP-001", seen(*G1R0, "host", "roce_tos", to=0), *G1R0, None, "error"),
    Case("APP-002", seen(*G1R0, "host", "traffic_class", to=-1), *G1R0, None, "error"),
    Case("APP-002", seen(*G1R0, "host", "traffic_class", to=96), *G1R0, None, "error"),
    Case("APP-003", setting("gpu01", "nccl_ib_tc", "96"), "gpu01", None, None, "critical"),
    Case(
        "APP-003",
        both(setting("gpu01", "nccl_ib_tc", ""), seen(*G1R0, "host", "traffic_class", to=-1)),
        "gpu01",
        None,
        None,
        "critical",
    ),
    Case(
        "APP-004",
        both(GIN, setting("gpu01", "nccl_gin_ib_tc", ""), setting("gpu01", "nccl_ib_tc", "")),
        "gpu01",
        None,
        None,
        "error",
    ),
    Case("APP-006", ON_ZERO, *G2R1, 3, "critical"),
    Case("GID-001", seen(*G1R0, "host", "roce_mode", to="v1"), *G1R0, None, "error"),
    Case(
        "GID-001",
        setting("gpu01", "gids.ens11np0", f"0 IB/RoCE v1 {LOCAL}; 2 IB/RoCE v1 {GLOBAL}"),
        *G1R0,
        None,
        "error",
    ),
    Case("MTU-001", seen(*G1R0, "host", "active_mtu_bytes", to=1024), *G1R0, None, "warning"),
    Case("MTU-001", seen(*G1R0, "mtu_bytes", to=4196), *G1R0, None, "warning"),
    Case("MTU-002", seen(*E1, "mtu_bytes", to=1500), *E1, None, "critical"),
    Case("MTU-002", seen(*UP2, "mtu_bytes", to=9100), *UP, None, "critical"),
    Case("BUF-001", seen(*S0, *P3, "headroom_bytes", to=99_999), *S0, 3, "critical"),
    Case("BUF-002", seen(*S0, *P3, "headroom_bytes", to=0), *S0, 3, "critical"),
    Case("BUF-004", seen(*S0, "cable_m", to=1.0), *S0, None, "error"),
    Case(
        "BUF-006",
        setting("leaf2", "headroom_rejected", "isHeadroomResourceValid: ... exceeds limit"),
        "leaf2",
        None,
        None,
        "critical",
    ),
    Case("WD-001", seen(*E2, *P3, "watchdog", to=False), *E2, 3, "error"),
    Case(
        "WD-002",
        both(
            seen(*E1, "priorities", 4, "pfc", to=True),
            seen(*E1, "priorities", 4, "watchdog", to=False),
        ),
        *E1,
        4,
        "error",
    ),
    Case("WD-003", seen(*S0, "watchdog", "poll_ms", to=300), *S0, None, "error"),
    Case("WD-003", seen(*S0, "watchdog", "poll_ms", to=200), *S0, None, "warning"),
    Case("WD-007", setting("leaf2", "big_red_switch", "on"), "leaf2", None, None, "critical"),
    Case("WD-008", seen(*G1R0, "host", "storm_prevention_ms", to=0), *G1R0, None, "warning"),
    Case("WD-008", seen(*G1R0, "host", "storm_prevention_ms", to=8000), *G1R0, None, "warning"),
    Case("STM-001", grows(*G1R0, pfc_tx_us__3=40_000), *G1R0, 3, "warning"),
    Case("STM-001", grows(*G1R0, pfc_tx_us__3=220_000), *G1R0, 3, "error"),
    Case("STM-001", grows(*G1R0, pfc_tx__3=2_100), *G1R0, 3, "error"),
    Case("STM-004", STORM, *G1R0, 3, "critical"),
    Case("STM-005", grows(*G1R0, storm_warnings=1), *G1R0, None, "error"),
    Case("STM-006", grows(*G1R0, storm_errors=1), *G1R0, None, "critical"),
    Case("STM-007", grows(*E1, watchdog_storms__3=1, watchdog_restored__3=1), *E1, 3, "critical"),
    Case("STM-010", STORM, *G1R0, 3, "critical"),
    Case("CTR-001", grows(*E1, queue_drops__3=1), *E1, 3, "critical"),
    Case("CTR-001", grows(*S0, pg_drops__3=1), *S0, 3, "critical"),
    Case("CTR-002", grows(*G1R0, rx_discards=1), *G1R0, 3, "critical"),
    Case("CTR-003", grows(*E1, ecn_marked__3=200, tx_packets__3=10_000), *E1, 3, "warning"),
    Case("CTR-003", grows(*G1R0, ecn_marked_roce=2_000, rx_packets__3=10_000), *G1R0, 3, "error"),
    Case(
        "CTR-004",
        both(
            grows(*E1, pfc_tx__3=50, ecn_marked__3=0),
            grows(*E2, ecn_marked__3=0),
            grows(*UP, ecn_marked__3=0),
        ),
        *E1,
        3,
        "error",
    ),
    Case("CTR-005", grows(*G1R0, out_of_sequence=2, rx_packets__3=1_000_000), *G1R0, None, "warning"),
    Case("CTR-005", grows(*G1R0, packet_seq_err=200, rx_packets__3=1_000_000), *G1R0, None, "error"),
    Case("CTR-006", grows(*G1R0, local_ack_timeout_err=1), *G1R0, None, "error"),
    Case("CTR-007", grows(*G1R0, adaptive_retransmissions=1), *G1R0, None, "warning"),
    Case("CTR-007", grows(*G1R0, slow_restarts=21), *G1R0, None, "warning"),
    Case("CTR-008", grows(*G1R0, cnp_ignored=1), *G1R0, None, "error"),
    Case("CTR-009", grows(*G1R0, ecn_marked_roce=10, cnp_sent=0), *G1R0, None, "error"),
    Case("SYM-001", seen(*G1R1, "host", "cnp_dscp", to=4), *G1R1, None, "error"),
    Case(
        "SYM-002",
        both(seen(*G2R0, "mtu_bytes", to=1500), seen(*G2R1, "mtu_bytes", to=1500)),
        *G2R0,
        None,
        "error",
    ),
    Case("SYM-004", seen(*UP, *P3, "pfc", to=False), *UP, 3, "critical"),
    Case("DRF-001", lambda rack: rack.drift.update(leaf1=Comparison((DRIFTED,))), "leaf1", None, None, "error"),
    Case("DRF-003", seen(*E1, *P3, "kmin_bytes", to=450_000), *E1, 3, "error"),
    Case("FW-004", setting("gpu01", "persistence", "absent"), "gpu01", None, None, "error"),
    Case("FW-004", setting("gpu01", "persistence", "stale"), "gpu01", None, None, "error"),
)

UNKNOWN = (
    Case("MAP-001", seen(*G1R0, "trust", to=None), *G1R0),
    Case("MAP-002", seen(*S0, "trust", to=None), *S0),
    Case(
        "MAP-003",  # an inbox driver lists single entries; the firmware maps all 64
        seen(*G1R1, "dscp_to_priority", to=tuple({48: 6}.get(dscp) for dscp in range(64))),
        *G1R1,
        3,
    ),
    Case(
        "MAP-004",
        both(
            seen(*E2, "dscp_to_priority", to=None),
            *(seen(*E2, "priorities", number, "dscps", to=None) for number in (0, 3, 6, 7)),
        ),
        *E2,
        3,
    ),
    Case("PFC-001", seen(*G2R0, *P3, "pfc", to=None), *G2R0, 3, "critical"),
    Case("PFC-002", seen(*E1, *P3, "pfc", to=None), *E1, 3),
    Case("PFC-003", seen(*G2R0, *P3, "pfc", to=None), *G2R0, 3),
    Case("PFC-003", lambda rack: rack.states.pop("gpu02") and rack.cabled(*S8, peer=None), *E2),
    Case("PFC-010", seen(*G1R0, "link_pause", to=None), *G1R0),
    Case("DCBX-001", setting("gpu01", "lldpad", None), "gpu01"),
    Case("DCBX-001", seen(*G2R1, "host", "dcbx", to=None), *G2R1),
    Case("DCBX-002", both(setting("gpu01", "lldpad", "running"), seen(*G1R0, "host", "dcbx", to=None)), *G1R0),
    Case("ECN-001", seen(*S8, *P3, "ecn", to=None), *S8, 3),
    Case("ECN-003", seen(*E1, *P3, "kmax_bytes", to=None), *E1, 3),
    Case("ECN-004", seen(*S0, *P3, "alpha", to=None), *S0, 3),
    Case("ECN-009", both(setting("leaf2", "wred_green_enable", None), seen(*S0, *P3, "ecn", to=None)), *S0, 3),
    Case("ECN-011", seen(*G1R0, "host", "roce_tos", to=None), *G1R0),
    Case("CC-001", seen(*G1R0, "host", "np_priorities", to=None), *G1R0, 3),
    Case("CC-002", seen(*G1R0, "host", "rp_priorities", to=None), *G1R0, 3),
    Case("CNP-001", seen(*G1R0, "host", "cnp_dscp", to=None), *G1R0),
    Case(
        "CNP-002",
        seen(*E1, "dscp_to_priority", to=tuple({26: 3}.get(dscp) for dscp in range(64))),
        *E1,
        6,
    ),
    Case("APP-001", seen(*G1R0, "host", "roce_tos", to=None), *G1R0),
    Case(
        "APP-002",  # inbox: the file does not exist; no error
        both(seen(*G1R0, "host", "traffic_class", to=None), setting("gpu01", "nccl_ib_tc", "")),
        *G1R0,
        None,
        "info",
    ),
    Case("APP-003", setting("gpu01", "nccl_ib_tc", None), "gpu01", None, None, "critical"),
    Case("APP-004", both(GIN, setting("gpu01", "nccl_ib_tc", None)), "gpu01"),
    Case("APP-006", grows(*G2R1, tx_bytes__3=None), *G2R1, 3, "critical"),
    Case("GID-001", seen(*G1R0, "host", "roce_mode", to=None), *G1R0),
    Case("GID-001", setting("gpu01", "gids.ens11np0", None), *G1R0),
    Case("GID-002", both(setting("gpu01", "nccl_ib_gid_index", "3"), setting("gpu01", "gids.ens11np0", None)), *G1R0),
    Case("MTU-001", seen(*G1R0, "host", "active_mtu_bytes", to=None), *G1R0),
    Case("MTU-002", seen(*G1R0, "mtu_bytes", to=None), *E1, None, "critical"),
    Case("MTU-002", seen(*E1, "mtu_bytes", to=9000), *E1),
    Case("BUF-001", seen(*S0, *P3, "headroom_bytes", to=None), *S0, 3),
    Case("BUF-002", seen(*S0, *P3, "headroom_bytes", to=None), *S0, 3),
    Case("BUF-004", seen(*S0, "cable_m", to=None), *S0),
    Case(
        "BUF-006",
        both(setting("leaf2", "headroom_rejected", None), seen(*S0, *P3, "headroom_bytes", to=None)),
        "leaf2",
    ),
    Case("WD-001", seen(*E2, *P3, "watchdog", to=None), *E2, 3),
    Case("WD-002", seen(*E2, *P3, "watchdog", to=None), *E2, 3),
    Case("WD-003", seen(*S0, "watchdog", "detect_ms", to=None), *S0),
    Case("WD-007", setting("leaf2", "big_red_switch", None), "leaf2"),
    Case("WD-008", seen(*G1R0, "host", "storm_prevention_ms", to=None), *G1R0),
    Case(
        "STM-001",
        both(
            grows(*G1R0, pfc_tx__3=None, pfc_tx_us__3=None),
            grows(*E1, pfc_rx__3=None, pfc_rx_us__3=None),
        ),
        *G1R0,
        3,
    ),
    Case(
        "STM-004",  # frames without a duration do not tell for how long
        both(
            grows(*G1R0, pfc_tx__3=90, pfc_tx_us__3=None),
            grows(*E1, pfc_rx__3=90, pfc_rx_us__3=None),
        ),
        *G1R0,
        3,
        "critical",
    ),
    Case("STM-005", grows(*G1R0, storm_warnings=None), *G1R0),
    Case("STM-006", grows(*G1R0, storm_errors=-1), *G1R0),
    Case("STM-007", grows(*E1, watchdog_storms__3=None), *E1, 3),
    Case(
        "STM-010",
        both(
            grows(*G1R0, pfc_tx__3=None, pfc_tx_us__3=None),
            grows(*E1, pfc_rx__3=None, pfc_rx_us__3=None),
        ),
        *E1,
        3,
    ),
    Case("CTR-001", grows(*E1, queue_drops__3=None, pg_drops__3=None), *E1, 3),
    Case("CTR-001", grows(*E1, queue_drops__3=-5, pg_drops__3=-5), *E1, 3),
    Case("CTR-001", grows(*E1, pg_drops__3=None), *E1, 3),  # the device's other ports show it
    Case("CTR-001", grows(*E1, queue_drops__3=None), *E1, 3),
    Case("CTR-001", grows(*S0, pg_drops__3=-5), *S0, 3),
    Case("CTR-002", grows(*G1R0, rx_discards__3=-5), *G1R0, 3),
    Case("CTR-002", grows(*G1R0, rx_discards=None, rx_discards__3=None), *G1R0, 3),
    Case("CTR-003", grows(*UP, ecn_marked__3=None), *UP, 3),
    Case("CTR-003", grows(*UP, tx_packets__3=None), *UP, 3),
    Case("CTR-003", both(grows(*E1, ecn_marked__3=None), grows(*G1R0, ecn_marked_roce=None)), *E1, 3),
    Case(
        "CTR-004",
        both(
            grows(*E1, pfc_tx__3=50, ecn_marked__3=None),
            grows(*E2, ecn_marked__3=None),
            grows(*UP, ecn_marked__3=None),
        ),
        "leaf1",
        None,
        3,
    ),
    Case("CTR-005", grows(*G1R0, out_of_sequence=2, rx_packets__3=None), *G1R0),
    Case("CTR-006", grows(*G1R0, local_ack_timeout_err=None), *G1R0),
    Case("CTR-007", grows(*G1R0, adaptive_retransmissions=None, slow_restarts=None), *G1R0),
    Case("CTR-008", grows(*G1R0, cnp_ignored=None), *G1R0),
    Case("CTR-009", grows(*G1R0, cnp_sent=None), *G1R0),
    Case("SYM-004", seen(*UP, *P3, "ecn", to=None), *UP, 3),
    Case("DRF-001", lambda rack: rack.drift.pop("leaf1"), "leaf1"),
    Case("FW-004", setting("gpu01", "persistence", None), "gpu01"),
    Case(
        "FW-007",
        lambda rack: rack.states.update(gpu01=replace(rack.states["gpu01"], problems=("mlnx_qos: command not found",))),
        "gpu01",
        None,
        None,
        "info",
    ),
)

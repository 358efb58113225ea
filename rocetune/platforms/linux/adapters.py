"""NIC families as data: who serves a port, and what it takes.

A new family is one more row here, its branch in ``rocetune-host.sh`` and its readings; a NIC that no row claims is
shown as Unsupported.
"""

from __future__ import annotations

from dataclasses import dataclass

# Congestion-control parameters of mlx5 by their OFED sysfs name, in the order the script prints them, with the names
# of mainline debugfs (drivers/infiniband/hw/mlx5/cong.c) and of mlxconfig.
DCQCN: tuple[tuple[str, str, str], ...] = (
    ("clamp_tgt_rate", "rp_clamp_tgt_rate", "CLAMP_TGT_RATE"),
    ("clamp_tgt_rate_after_time_inc", "rp_clamp_tgt_rate_ati", "CLAMP_TGT_RATE_AFTER_TIME_INC"),
    ("rpg_time_reset", "rp_time_reset", "RPG_TIME_RESET"),
    ("rpg_byte_reset", "rp_byte_reset", "RPG_BYTE_RESET"),
    ("rpg_threshold", "rp_threshold", "RPG_THRESHOLD"),
    ("rpg_ai_rate", "rp_ai_rate", "RPG_AI_RATE"),
    ("rpg_hai_rate", "rp_hai_rate", "RPG_HAI_RATE"),
    ("rpg_max_rate", "rp_max_rate", "RPG_MAX_RATE"),
    ("rpg_min_rate", "rp_min_rate", "RPG_MIN_RATE"),
    ("rpg_min_dec_fac", "rp_min_dec_fac", "RPG_MIN_DEC_FAC"),
    ("rpg_gd", "rp_gd", "RPG_GD"),
    ("dce_tcp_g", "rp_dce_tcp_g", "DCE_TCP_G"),
    ("dce_tcp_rtt", "rp_dce_tcp_rtt", "DCE_TCP_RTT"),
    ("rate_reduce_monitor_period", "rp_rate_reduce_monitor_period", "RATE_REDUCE_MONITOR_PERIOD"),
    ("initial_alpha_value", "rp_initial_alpha_value", "INITIAL_ALPHA_VALUE"),
    ("rate_to_set_on_first_cnp", "rp_rate_to_set_on_first_cnp", "RATE_TO_SET_ON_FIRST_CNP"),
    ("min_time_between_cnps", "np_min_time_between_cnps", "MIN_TIME_BETWEEN_CNPS"),
)
DCQCN_NAMES = tuple(row[0] for row in DCQCN)
DCQCN_ALIASES = {alias: row[0] for row in DCQCN for alias in row}
DEBUGFS_TO_NAME = {row[1]: row[0] for row in DCQCN}


@dataclass(frozen=True, slots=True)
class Adapter:
    """One NIC family. Lengths in metres, times in milliseconds, sizes in bytes."""

    name: str
    title: str
    drivers: tuple[str, ...]
    pci_vendor: str
    max_mtu_bytes: int
    cable_m: tuple[int, int]  # what the driver accepts; outside it silently ignores the value
    storm_prevention_ms: tuple[int, int]  # besides 0 = off


ADAPTERS: tuple[Adapter, ...] = (
    Adapter(
        name="nvidia_mlx5",
        title="NVIDIA ConnectX-5 and later, BlueField in NIC mode",
        drivers=("mlx5_core",),
        pci_vendor="0x15b3",
        max_mtu_bytes=9978,
        cable_m=(1, 999),
        storm_prevention_ms=(80, 8000),
    ),
)


def by_name(name: str | None) -> Adapter | None:
    """The adapter of this name, or None."""
    return next((item for item in ADAPTERS if item.name == name), None)


def by_driver(driver: str | None) -> Adapter | None:
    """The adapter that serves a kernel driver, or None."""
    return next((item for item in ADAPTERS if driver in item.drivers), None)


def path_mtu(mtu_bytes: int) -> int | None:
    """RDMA path MTU that fits a netdev MTU, bytes: the largest of 256..4096 that leaves 96 bytes for headers.

    Source: Linux include/rdma/ib_addr.h (iboe_get_mtu) and ib_pack.h. None when not even 256 fits.
    """
    fitting = [size for size in (256, 512, 1024, 2048, 4096) if size + 96 <= mtu_bytes]
    return fitting[-1] if fitting else None

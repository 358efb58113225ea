"""Headroom formulas of others, as published, for comparison and for their test values.

Each is what its source computes, slips included; none of them decides a planned number on its own. Results are bytes
unless a name says bit times. The mlx5 driver's formula is in :mod:`rocetune.tuning.nic`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from rocetune.tuning.wire import cable_round_trip_bytes, positive

_KIB = 1024
_LIGHT_M_PER_S = 198_000_000
_SMALLEST = 64
# Lua tables of sonic-swss: quanta by Mbit/s. Barefoot's has no 800G.
_LUA_QUANTA = {100: 1, 1000: 2, 10_000: 67, 25_000: 80, 40_000: 118, 50_000: 147, 100_000: 394, 200_000: 453}
_LUA_QUANTA |= {400_000: 905, 800_000: 905}

Vintage = Literal["pre-2024-09", "2024-09", "master"]


@dataclass(frozen=True, slots=True)
class LuaChip:
    """Row of SONiC's ASIC_TABLE; KiB as the file has them."""

    cell_bytes: int
    pipeline_kib: float
    mac_phy_kib: float
    response_kib: float
    tiles: bool = False  # Spectrum-4 and -5: 120 ns of the line rate are added
    extra_xoff_bytes: int = 0  # Spectrum-6, on master


# platform/mellanox/asic_table.j2 and platform/barefoot/asic_table.j2
LUA_CHIPS = {
    "spectrum-1": LuaChip(96, 19, 0.8, 3.8),
    "spectrum-2": LuaChip(144, 19, 0.8, 3.8),
    "spectrum-3": LuaChip(144, 19, 0.8, 3.8),
    "spectrum-4": LuaChip(192, 19, 0.8, 3.8, tiles=True),
    "spectrum-5": LuaChip(192, 19, 0.8, 3.8, tiles=True),
    "spectrum-6": LuaChip(256, 42, 0.8, 3.8, extra_xoff_bytes=18 * _KIB),
    "tofino-2": LuaChip(176, 68, 0.8, 9),
}


@dataclass(frozen=True, slots=True)
class LuaResult:
    """One profile of SONiC's dynamic buffer model. ``size_bytes`` equals xon with a shared headroom pool."""

    xoff_bytes: int
    xon_bytes: int
    size_bytes: int


def _kib_up(size: float) -> int:
    return math.ceil(size / _KIB) * _KIB


def _worst_cell(cell_bytes: int) -> float:
    return cell_bytes / _SMALLEST if cell_bytes > 2 * _SMALLEST else 2 * cell_bytes / (1 + cell_bytes)


def mellanox_dynamic(
    chip: str,
    speed_mbps: int,
    cable_m: float,
    *,
    mtu_bytes: int = 9100,
    lossless_mtu_bytes: int = 1024,
    small_packet_percent: float = 50,
    gearbox_ns: float = 0,
    lanes: int = 4,
    shared_pool: bool = False,
    vintage: Vintage = "2024-09",
) -> LuaResult:
    """SONiC's buffer_headroom_mellanox.lua. ``chip`` is a key of LUA_CHIPS; ``vintage`` the state of the script.

    pre-2024-09: the small-packet share counts bytes, the worst cell is not rounded, cable bytes come out 2.34 % low.
    2024-09: the share counts packets. master: 2 KiB of reserve and 18 KiB for Spectrum-6 besides. Speeds outside the
    table raise ValueError (the script would fall back to 3.8 KiB, less than at 100G).
    """
    row, old = LUA_CHIPS[chip], vintage == "pre-2024-09"
    worst = _worst_cell(row.cell_bytes) if old else math.ceil(_worst_cell(row.cell_bytes))
    if old:
        share = small_packet_percent
    else:  # literally: the code multiplies by 100, not by the percentage
        mean = (small_packet_percent * _SMALLEST + (100 - small_packet_percent) * lossless_mtu_bytes) / 100
        share = 100 * _SMALLEST / mean
    factor = ((100 - share) + share * worst) / 100
    response = _lua_quanta(speed_mbps) * 64
    tile = (speed_mbps / 1000) * 120 / 8 if row.tiles and not old else 0.0
    cable = 2 * cable_m * speed_mbps * 1e9 / _LIGHT_M_PER_S / (8 * (_KIB if old else 1000))
    gearbox = speed_mbps * gearbox_ns / (8 * _KIB)
    delay = mtu_bytes + cable + 2 * gearbox + row.mac_phy_kib * _KIB + response + tile
    xoff = _kib_up(lossless_mtu_bytes + delay * factor)
    if vintage == "master":
        xoff += row.extra_xoff_bytes
        full = _kib_up(lossless_mtu_bytes + delay * worst)
        if not shared_pool and small_packet_percent != 100 and xoff + 2 * _KIB < full:
            xoff += 2 * _KIB
    pipeline = row.pipeline_kib * _KIB
    if lanes == 8:
        pipeline = 2 * pipeline - (_KIB if old else 0)
    xon = _kib_up(pipeline)
    overhead = mtu_bytes if lanes == 8 else 0
    return LuaResult(xoff, xon, xon if shared_pool else _kib_up(xoff + xon + overhead))


def barefoot_dynamic(
    speed_mbps: int,
    cable_m: float,
    *,
    mtu_bytes: int = 9100,
    lossless_mtu_bytes: int = 1024,
    small_packet_percent: float = 50,
    gearbox_ns: float = 365,
) -> LuaResult:
    """SONiC's buffer_headroom_barefoot.lua: headroom always shared, the response doubled at 400G."""
    if speed_mbps > 400_000:
        raise ValueError(f"Barefoot's table ends at 400G, as in 400000 Mbit/s: got {speed_mbps}")
    row = LUA_CHIPS["tofino-2"]
    factor = ((100 - small_packet_percent) + small_packet_percent * _worst_cell(row.cell_bytes)) / 100
    response = _lua_quanta(speed_mbps) * 64 * (2 if speed_mbps == 400_000 else 1)
    cable = 2 * cable_m * speed_mbps * 1e9 / _LIGHT_M_PER_S / (8 * _KIB)
    gearbox = speed_mbps * gearbox_ns / (8 * _KIB)
    delay = mtu_bytes + cable + 2 * gearbox + row.mac_phy_kib * _KIB + response
    xoff, xon = _kib_up(lossless_mtu_bytes + delay * factor), _kib_up(row.pipeline_kib * _KIB)
    return LuaResult(xoff, xon, xon)


def _lua_quanta(speed_mbps: int) -> int:
    if speed_mbps not in _LUA_QUANTA:
        listed = ", ".join(str(speed) for speed in _LUA_QUANTA)
        raise ValueError(f"SONiC's quanta table has {listed} Mbit/s, as in 400000: got {speed_mbps}")
    return _LUA_QUANTA[speed_mbps]


# Interface delay of both NICs of the ixgbe driver, bit times: MAC, XAUI or PHY.
IXGBE_82599_DELAY = 4096 + 2048 + 12800
IXGBE_X540_DELAY = 8192 + 2 * 2048 + 25600
_IXGBE_CABLE = {"copper": 5556, "optical": 5000}  # per 100 m
_IXGBE_HIGHER_LAYER = 6144
_PAUSE_BIT_TIMES = 672


def ixgbe_delay_bit_times(
    link_frame_bytes: int,
    class_frame_bytes: int,
    *,
    interface_delay: int = IXGBE_82599_DELAY,
    cable: Literal["copper", "optical"] = "copper",
) -> int:
    """IEEE 802.1Qbb Annex O as the Linux ixgbe driver codes it (IXGBE_DV), for 10G and 100 m, in its integers."""
    positive(link_frame_bytes, "a frame size", "1522")
    positive(class_frame_bytes, "a frame size", "1522")
    inside = link_frame_bytes * 8 + _PAUSE_BIT_TIMES + 2 * _IXGBE_CABLE[cable] + 2 * interface_delay
    return 36 * (inside + _IXGBE_HIGHER_LAYER) // 25 + 1 + 2 * class_frame_bytes * 8


def bit_times_to_bytes(bit_times: int) -> int:
    """Whole bytes, rounded up."""
    return -(-bit_times // 8)


# Storage-congestion book: interface delay and response by Mbit/s, bit times.
_BOOK_INTERFACE = {10_000: 8192, 25_000: 6144, 40_000: 24576, 100_000: 122_880}
_BOOK_RESPONSE = {10_000: 30720, 25_000: 40960, 40_000: 60416, 100_000: 201_728}
BOOK_FRAMES_BYTES = (9236, 2320)  # 9216 and 2300 B with preamble and gap
_BOOK_NS_PER_M = 5


def book_sum_bytes(speed_mbps: int, cable_m: float, *, frames_bytes: tuple[int, int] = BOOK_FRAMES_BYTES) -> int:
    """Sum of the components that the storage-congestion book lists, as Cisco teaches it; no published total exists.

    ``frames_bytes``: a largest frame already leaving, and a lossless one that the peer had started, as counted.
    """
    if speed_mbps not in _BOOK_INTERFACE:
        raise ValueError(f"the book has figures for 10G, 25G, 40G and 100G, as in 100000 Mbit/s: got {speed_mbps}")
    cable = cable_m * _BOOK_NS_PER_M * speed_mbps / 1000
    bits = 8 * sum(frames_bytes) + _PAUSE_BIT_TIMES + 2 * _BOOK_INTERFACE[speed_mbps] + 2 * cable
    return round((bits + _BOOK_RESPONSE[speed_mbps]) / 8)


def dcqcn_paper_bytes() -> int:
    """The DCQCN paper's switch (40G, MTU 1500) by the book's sum; the paper states 22400 B and no cable, 100 m here."""
    frame = 1500 + 18  # Ethernet header and FCS
    return book_sum_bytes(40_000, 100, frames_bytes=(frame, frame))


def mlxsw_bytes() -> float:
    """NVIDIA's sum for 100G and 100 m on Spectrum-1 plus one frame of 9100 B: our guess at mlxsw's 101.6 KB."""
    frame, lossless = 9100, 1024
    inside = frame + cable_round_trip_bytes(100_000, 100) + 0.8 * _KIB + _lua_quanta(100_000) * 64
    return lossless + _worst_cell(96) * inside + frame


def measured_bytes(drop_packets: int, pause_packets: int, cell_bytes: int) -> int:
    """Headroom as sonic-mgmt's qos test measures it: one-cell packets sent from the first pause to the first drop."""
    if not 0 <= pause_packets <= drop_packets:
        raise ValueError(f"drops come after pause, as in 60228 and 59605: got {drop_packets} and {pause_packets}")
    return (drop_packets - pause_packets) * int(positive(cell_bytes, "a cell size", "256"))


def habana_arista_bytes(cells: int = 250) -> int:
    """Habana's recipe for an Arista 7060DX4: a number of cells of 254 B per interface."""
    return int(positive(cells, "a number of cells", "250")) * 254


@dataclass(frozen=True, slots=True)
class NxosPause:
    """Headroom above the pause threshold and hysteresis below it, cells."""

    headroom_cells: int
    hysteresis_cells: int


def nxos_pause(buffer_bytes: int, pause_bytes: int, resume_bytes: int, cell_bytes: int = 208) -> NxosPause:
    """What NX-OS's ``pause buffer-size, pause-threshold, resume-threshold`` mean in cells of the chip.

    Raises ValueError where they are not in order, or no whole cells: then the cell is another.
    """
    cell = int(positive(cell_bytes, "a cell size", "208"))
    if not 0 < resume_bytes <= pause_bytes < buffer_bytes:
        raise ValueError(f"resume <= pause < buffer-size: got {resume_bytes}, {pause_bytes} and {buffer_bytes} B")
    if any(size % cell for size in (buffer_bytes, pause_bytes, resume_bytes)):
        raise ValueError(f"{buffer_bytes}, {pause_bytes} and {resume_bytes} B are not all whole cells of {cell} B")
    return NxosPause((buffer_bytes - pause_bytes) // cell, (pause_bytes - resume_bytes) // cell)


def cisco_cable_bytes(speed_mbps: int, cable_m: float) -> float:
    """Nexus 5000 white papers: one direction of fibre at 5.13 ns per metre."""
    return cable_m * 5.13e-9 * speed_mbps * 1e6 / 8


def hpcc_simulator_bytes(speed_mbps: int, one_way_ns: float) -> int:
    """HPCC's ns-3 set-up: three one-way delays at line rate. Too small for hardware, whose peers react late."""
    positive(one_way_ns, "a link delay", "1000 ns")
    return round(3 * speed_mbps * 1e6 * one_way_ns * 1e-9 / 8)


def hpcc_simulator_buffer_mb(speed_mbps: int) -> float:
    """Switch buffer of HPCC's ns-3 set-up in the megabytes of its configuration: 16 per 50G of host speed."""
    return 16 * positive(speed_mbps, "a port speed", "100000 Mbit/s") / 50_000

"""Receive buffer of a NIC: what the mlx5 driver reserves above XOFF for a lossless buffer."""

from __future__ import annotations

from dataclasses import dataclass

from rocetune.model.plan import Why
from rocetune.tuning.wire import positive

_SLOWEST_GBPS = 40
_LEAST_MAX_MTU = 9216


@dataclass(frozen=True, slots=True)
class ReceiveBuffer:
    """Headroom above XOFF and the smallest buffer that the driver accepts, bytes (without the one cell it adds)."""

    headroom_bytes: int
    smallest_bytes: int
    why: Why


def mlx5_receive_buffer(speed_mbps: int, cable_m: int, mtu_bytes: int) -> ReceiveBuffer:
    """``(301 + 2.16 * metres) * Gbit/s + 2.72 * MTU`` in the driver's integer arithmetic, speed at least 40G.

    Source: Linux, mlx5 en/port_buffer.c.
    """
    positive(speed_mbps, "a port speed", "400000 Mbit/s")
    positive(mtu_bytes, "an MTU", "9000")
    if cable_m < 0:
        raise ValueError(f"a cable length cannot be negative: got {cable_m}")
    gbps = max(_SLOWEST_GBPS, speed_mbps // 1000)
    headroom = (301 + 216 * cable_m // 100) * gbps + 272 * mtu_bytes // 100
    smallest = headroom + max(mtu_bytes, _LEAST_MAX_MTU)
    step = f"(301 + 216 x {cable_m} / 100) x {gbps} + 272 x {mtu_bytes} / 100 = {headroom:,} B"
    inputs = (("speed_mbps", speed_mbps), ("cable_m", cable_m), ("mtu_bytes", mtu_bytes))
    return ReceiveBuffer(
        headroom, smallest, Why("headroom.mlx5", inputs, (step,), source="Linux mlx5 en/port_buffer.c")
    )

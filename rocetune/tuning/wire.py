"""What is on the wire: speeds, frames, cables and the peer's reaction to a pause frame."""

from __future__ import annotations

import math

LIGHT_M_PER_S = 1.98e8  # in fibre and copper alike, as SONiC calculates (5.05 ns per metre)
GAP_BYTES = 20  # preamble, start delimiter and inter-frame gap
PAUSE_BYTES = 84  # pause frame with preamble and gap: 672 bit times
QUANTUM_BYTES = 64  # one pause quantum is 512 bit times
ROCE_HEADER_BYTES = 62  # Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4: untagged RC data packet

# IEEE 802.3 31B.3.7 as listed by SONiC's headroom design; Mbit/s -> quanta. Where 800G stands, see reaction_quanta.
_QUANTA = {100: 1, 1000: 2, 10_000: 67, 25_000: 80, 40_000: 118, 50_000: 147, 100_000: 394, 200_000: 453, 400_000: 905}
QUANTA_800G = 1810  # twice the 400G limit, so that the time stays the same
QUANTA_800G_SONIC = 905  # SONiC repeats the 400G value


def positive(value: float, what: str, example: str) -> float:
    """The value, or ValueError when it is zero, negative or not a finite number."""
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{what} must be greater than zero, as in {example}: got {value}")
    return value


def rate_bytes_per_s(speed_mbps: int) -> float:
    """Line rate in bytes per second."""
    return positive(speed_mbps, "a port speed", "400000 Mbit/s") * 1e6 / 8


def cable_round_trip_bytes(speed_mbps: int, cable_m: float) -> float:
    """Bytes that a cable holds in both directions: ``2 L R / v`` (1.263 bytes per metre and Gbit/s)."""
    if not math.isfinite(cable_m) or cable_m < 0:
        raise ValueError(f"a cable length cannot be negative, as in 2 (metres): got {cable_m}")
    return 2 * cable_m * rate_bytes_per_s(speed_mbps) / LIGHT_M_PER_S


def light_us(length_m: float) -> float:
    """Microseconds that light takes over a length and back."""
    return 2 * length_m / LIGHT_M_PER_S * 1e6


def reaction_quanta(speed_mbps: int, at_800g: int = QUANTA_800G) -> int:
    """Quanta within which a peer must have stopped sending. A speed between two rows takes the higher one.

    No text of 802.3df was at hand for 800G: the default doubles the 400G limit; ``at_800g=905`` is what SONiC uses.
    1.6T doubles once more, by the same reasoning.
    """
    positive(speed_mbps, "a port speed", "400000 Mbit/s")
    for known, quanta in _QUANTA.items():
        if speed_mbps <= known:
            return quanta
    return at_800g if speed_mbps <= 800_000 else math.ceil(at_800g * speed_mbps / 800_000)


def roce_frame_bytes(rdma_mtu: int) -> int:
    """Wire bytes of a full RoCE v2 data packet with its gap: IB MTU 4096 gives 4178."""
    return rdma_mtu + ROCE_HEADER_BYTES + GAP_BYTES


def pause_time_us(speed_mbps: int, quanta: int = 65535) -> float:
    """How long a pause frame stops a port, microseconds (335.5 at 100G for the largest value)."""
    return quanta * 512 / positive(speed_mbps, "a port speed", "400000 Mbit/s")


def wire_efficiency(rdma_mtu: int, *, vlan: bool = False, ipv6: bool = False) -> float:
    """Share of line rate left for RDMA payload, 0 to 1."""
    overhead = ROCE_HEADER_BYTES + GAP_BYTES + (4 if vlan else 0) + (20 if ipv6 else 0)
    return positive(rdma_mtu, "an RDMA MTU", "4096") / (rdma_mtu + overhead)

"""The sums behind a headroom, as pure functions: canonical, NVIDIA's, a fit, and the physical floor. Bytes."""

from __future__ import annotations

from rocetune.tuning import wire
from rocetune.tuning.cells import nvidia_worst, round_up
from rocetune.tuning.families import Fit, Parts

LOCAL_DELAY_NS = 200.0  # D: MAC, PHY and FEC of both directions where no preset says more
_REGISTER_BYTES = 1024  # granularity of NVIDIA's calculation


def canonical_bytes(
    speed_mbps: int,
    cable_m: float,
    *,
    factor: float,
    mtu_bytes: int = 9216,
    frame_bytes: int = 4178,
    delay_ns: float = LOCAL_DELAY_NS,
    quanta: int | None = None,
) -> float:
    """``M_ll + F * (M_port + P + 2LR/v + D*R + Q*64)`` in bytes, not rounded.

    ``factor`` F is the cell inflation, ``frame_bytes`` M_ll one lossless frame with its gap, ``mtu_bytes`` M_port
    the largest frame of any class, D the local delay, Q the peer's reaction (default: the limit of the speed).
    """
    rate = wire.rate_bytes_per_s(speed_mbps)
    reaction = (wire.reaction_quanta(speed_mbps) if quanta is None else quanta) * wire.QUANTUM_BYTES
    flight = wire.cable_round_trip_bytes(speed_mbps, cable_m)
    return frame_bytes + factor * (mtu_bytes + wire.PAUSE_BYTES + flight + delay_ns * 1e-9 * rate + reaction)


def parts_bytes(
    speed_mbps: int,
    cable_m: float,
    parts: Parts,
    cell_bytes: int,
    *,
    mtu_bytes: int = 9100,
    frame_bytes: int = 1024,
    gearbox_ns: float = 0.0,
    quanta: int | None = None,
) -> int:
    """NVIDIA's sum, rounded up to 1 KiB: by default with the frames of tuning.md's model M1.

    The published tables were made with a port MTU of 9216, which is left to the caller like the frame.
    """
    rate = wire.rate_bytes_per_s(speed_mbps)
    limit = (wire.reaction_quanta(speed_mbps) if quanta is None else quanta) * wire.QUANTUM_BYTES
    response = limit if parts.response_bytes is None else parts.response_bytes
    delay = (parts.delay_ns + 2 * gearbox_ns) * 1e-9 * rate
    flight = wire.cable_round_trip_bytes(speed_mbps, cable_m)
    inside = mtu_bytes + flight + delay + parts.mac_phy_bytes + response
    factor = nvidia_worst(cell_bytes) if parts.factor is None else parts.factor
    return round_up(parts.share * (frame_bytes + factor * inside), _REGISTER_BYTES)


def fit_bytes(speed_mbps: int, cable_m: float, fit: Fit) -> float:
    """A fitted preset, not rounded: ``base + fixed_us * R + wire_factor * 2LR/v``."""
    rate = wire.rate_bytes_per_s(speed_mbps)
    flight = wire.cable_round_trip_bytes(speed_mbps, cable_m)
    return fit.base_bytes + fit.fixed_us * 1e-6 * rate + fit.wire_factor * flight


def physical_bytes(
    speed_mbps: int, cable_m: float, *, mtu_bytes: int = 9216, frame_bytes: int = 4178, quanta: int | None = None
) -> int:
    """The floor: what the cable holds in both directions plus the peer's reaction, and never below the two frames.

    The frames are not added to it: vendors' peers react faster than the limit, by about the time of the frames, and
    many published rows count on that (SN2700 at 100G and 5 m: 30720 B, of which 25216 B are the limit).
    """
    limit = (wire.reaction_quanta(speed_mbps) if quanta is None else quanta) * wire.QUANTUM_BYTES
    return max(round_up(wire.cable_round_trip_bytes(speed_mbps, cable_m) + limit, 1), mtu_bytes + frame_bytes)

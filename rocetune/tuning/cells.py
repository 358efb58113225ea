"""Cell inflation: a packet fills whole cells of the buffer but only its own length of the wire."""

from __future__ import annotations

import math
from functools import lru_cache

from rocetune.tuning.wire import GAP_BYTES

_SMALLEST = 64


def round_up(size: float, cell_bytes: int) -> int:
    """The next whole number of cells, in bytes."""
    return math.ceil(size / cell_bytes - 1e-9) * cell_bytes


def round_down(size: float, cell_bytes: int) -> int:
    """The largest whole number of cells that fits, in bytes."""
    return int(size // cell_bytes) * cell_bytes


def packet_factor(cell_bytes: int, frame_bytes: int) -> float:
    """Buffer bytes per wire byte for one frame size (without gap): ``ceil(S/c)*c / (S+20)``."""
    return math.ceil(frame_bytes / cell_bytes) * cell_bytes / (frame_bytes + GAP_BYTES)


@lru_cache(maxsize=64)
def wire_worst(cell_bytes: int, largest_frame: int = 9216) -> float:
    """The worst factor over all frame sizes; from cells of 192 bytes on it is that of 64-byte frames, c/84.

    Only the sizes that just start a new cell can be the worst, so only they are tried.
    """
    starts = [_SMALLEST, *range(cell_bytes + 1, largest_frame + 1, cell_bytes)]
    return max(packet_factor(cell_bytes, size) for size in starts if size >= _SMALLEST)


def nvidia_worst(cell_bytes: int, small_packet_percent: float = 100.0) -> float:
    """NVIDIA's factor: c/64 above 128-byte cells, else 2c/(1+c), mixed by the share of small packets.

    The published tables fit a share of 100 %; SONiC's dynamic buffer model ships 50 %.
    """
    worst = cell_bytes / 64 if cell_bytes > 128 else 2 * cell_bytes / (1 + cell_bytes)
    return ((100 - small_packet_percent) + small_packet_percent * worst) / 100

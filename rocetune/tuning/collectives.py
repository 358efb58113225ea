"""Collective operations: what a measured bandwidth says about the links.

Source: nccl-tests, doc/PERFORMANCE.md.
"""

from __future__ import annotations

from typing import Literal

Operation = Literal["AllReduce", "AllGather", "ReduceScatter", "AlltoAll", "Broadcast", "Reduce"]


def bus_factor(operation: Operation, ranks: int) -> float:
    """``busbw / algbw`` of nccl-tests: how often a link carries the data of an operation over ``ranks`` ranks.

    Raises ValueError for an unknown operation or fewer than two ranks.
    """
    if ranks < 2:
        raise ValueError(f"a collective needs two ranks or more, as in 16: got {ranks}")
    if operation == "AllReduce":
        return 2 * (ranks - 1) / ranks
    if operation in ("AllGather", "ReduceScatter", "AlltoAll"):
        return (ranks - 1) / ranks
    if operation in ("Broadcast", "Reduce"):
        return 1.0
    raise ValueError(f"{operation!r} is no operation of nccl-tests that we know, as in AllReduce")

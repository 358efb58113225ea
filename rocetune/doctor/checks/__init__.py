"""The checks, one module per subject. Importing this package registers them all."""

from rocetune.doctor.checks import (
    buffers,
    classification,
    collection,
    counters,
    drift,
    ecn,
    hosts,
    marking,
    negotiation,
    pfc,
    storm,
    symmetry,
    watchdog,
)

__all__ = [
    "buffers",
    "classification",
    "collection",
    "counters",
    "drift",
    "ecn",
    "hosts",
    "marking",
    "negotiation",
    "pfc",
    "storm",
    "symmetry",
    "watchdog",
]

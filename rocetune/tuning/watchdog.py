"""PFC watchdog timers that SONiC takes by itself, for comparison with planned ones."""

from __future__ import annotations

from dataclasses import dataclass

from rocetune.tuning.wire import positive

_BASE_MS = 200
_PORTS = 32  # each further group of so many ports adds the base once more
_LONGEST_POLL_MS = 1000


@dataclass(frozen=True, slots=True)
class Timers:
    """Watchdog timers, milliseconds."""

    detection_ms: int
    restoration_ms: int
    poll_ms: int


def sonic_start_default(ports: int) -> Timers:
    """What ``pfcwd start_default`` sets on a SONiC switch with so many ports: 200 ms for each 32 of them.

    Polling never takes longer than 1000 ms. Raises ValueError for no port at all.
    Source: sonic-mgmt tests/common/helpers/pfcwd_helper.py.
    """
    groups = int(positive(ports, "a port count", "32") - 1) // _PORTS + 1
    time = _BASE_MS * groups
    return Timers(time, time, min(time, _LONGEST_POLL_MS))

"""One verdict of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rocetune.model.qos import Path
from rocetune.model.state import Evidence

Severity = Literal["critical", "error", "warning", "info"]
Verdict = Literal["pass", "fail", "unknown"]
OURS = "rocetune "  # how a line of a fix begins that is a command of ours


@dataclass(frozen=True, slots=True)
class Finding:
    """A check's verdict about one place. ``id`` is the catalogue's (PFC-001).

    ``path`` (native port first) and ``want`` let the platform write the exact fix into ``fix``.
    ``peer`` names the other end for link checks. ``consequences`` are the findings that this root cause
    explains; they are shown under it, and ``folded`` is their number. ``apply``: pushing the plan mends it, too.

    A line of ``fix`` that begins with :data:`OURS` is a command of ours: writers put the reader's own options there.
    """

    id: str
    severity: Severity
    verdict: Verdict
    device: str
    title: str
    port: str | None = None
    priority: int | None = None
    expected: str = ""
    observed: str = ""
    evidence: Evidence | None = None
    fix: tuple[str, ...] = ()
    reason: str = ""  # why it matters, or why it is unknown
    peer: str | None = None
    path: Path = ()
    want: object = None
    folded: int = 0
    consequences: tuple[Finding, ...] = ()
    apply: bool = False

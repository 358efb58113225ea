"""Names of a push: tokens are derived from the run, so another process can find them again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rocetune.model.change import Phase


@dataclass(frozen=True, slots=True)
class Token:
    """One device's transaction of one phase in one run, journaled before the first write."""

    run: str
    device: str
    phase: Phase
    removal: bool = False  # the reverse pass that takes stale keys away

    @property
    def name(self) -> str:
        """Safe as an EOS session name, a file name and a systemd unit part."""
        return f"rocetune-{self.run}-{self.phase.name.lower()}{'-rm' if self.removal else ''}"


@dataclass(frozen=True, slots=True)
class Pending:
    """What a device says about a token's transaction.

    ``reverting``: an undo timer runs and fires in ``seconds``. ``staged``: something waits uncommitted.
    ``idle``: nothing of it is left; the running configuration tells old from new.
    ``foreign``: somebody else's timer or session holds the device (``owner``).
    """

    kind: Literal["idle", "staged", "reverting", "foreign"]
    seconds: float = 0.0
    owner: str = ""

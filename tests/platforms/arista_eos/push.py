"""A push phase by phase, as the deploy layer does it."""

from __future__ import annotations

from collections.abc import Sequence

from rocetune.model.change import Change
from rocetune.model.transaction import Token
from rocetune.platforms.arista_eos import PLATFORM
from tests.platforms.arista_eos.rig import Rig


def phases(changes: Sequence[Change]) -> list[tuple[Token, list[Change]]]:
    """Additions forward through the phases, removals backward."""
    made = []
    for removal in (False, True):
        chosen = [change for change in changes if (change.op == "remove") == removal]
        for phase in sorted({change.phase for change in chosen}, reverse=removal):
            made.append((Token("r1", "leaf1", phase, removal), [c for c in chosen if c.phase == phase]))
    return made


def push(rig: Rig, changes: Sequence[Change], revert_in_s: int = 120) -> list[str]:
    """Stage, commit and confirm each phase in a session of its own; the switch's own diffs."""
    diffs = []
    for token, part in phases(changes):
        steps = PLATFORM.steps(part, rig.running(), rig.facts)
        session = rig.session()
        diffs.append(session.stage(token, steps, rig.facts))
        session.commit(token, revert_in_s)
        running = rig.running()
        for change in part:
            assert running.get(change.key) == change.new, change
        rig.session().confirm(token)
    return diffs

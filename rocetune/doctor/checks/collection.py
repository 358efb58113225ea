"""What could not be read: said once per problem, so that no silence looks like health."""

from __future__ import annotations

from collections.abc import Iterator

from rocetune.doctor.case import Case
from rocetune.doctor.verdicts import Result, check


@check("FW-007")
def readable(case: Case) -> Iterator[Result]:
    """Every command of the collection was answered."""
    for _, state, places in case.devices():
        if state.problems or not places:
            for problem in state.problems:
                yield Result(
                    "unknown",
                    state.device,
                    expected="an answer to every command",
                    observed=problem,
                    reason=problem,
                )
        elif state.ports:
            yield Result("pass", state.device, expected="an answer to every command", observed="answered")

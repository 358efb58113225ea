"""Bring what a cut-off run left on devices to rest: fire armed undos, then tell old from new."""

from __future__ import annotations

from rocetune.app.errors import UseError
from rocetune.app.planning import make_plan
from rocetune.app.reading import make_fleet, read_facts
from rocetune.app.workspace import Workspace
from rocetune.deploy.compare import Ownership
from rocetune.deploy.journal import Journal, RunRecord
from rocetune.deploy.transaction import Work, settle
from rocetune.model.outcome import DeviceStanding, Report
from rocetune.platforms.base import DeviceError, managed_ports


def settle_all(
    ws: Workspace, record: RunRecord, report: Report, accept_new_host_keys: bool
) -> tuple[DeviceStanding, ...]:
    """Bring every open transaction of a run to rest."""
    open_tokens = {
        entry.token.device: entry for entry in record.tokens if entry.outcome in (None, "reverting", "unknown")
    }
    names = tuple(sorted(open_tokens))
    if not names:
        return ()
    plan = make_plan(ws)
    lost = tuple(
        DeviceStanding(name, "unknown", detail="no longer in the inventory")
        for name in names
        if name not in plan.devices
    )
    names = tuple(name for name in names if name in plan.devices)
    fleet = make_fleet(ws, plan, names, accept_new_host_keys=accept_new_host_keys, workers=ws.workers)
    journal = Journal.reopen(ws.state, record.run)
    try:
        facts = read_facts(fleet, names, report)
        standings = [
            DeviceStanding(name, "unknown", detail=str(answer.error))
            for name, answer in facts.items()
            if answer.error is not None
        ]

        def work(name: str) -> DeviceStanding:
            entry = open_tokens[name]
            member = fleet.members[name]
            assert member.facts is not None
            ownership = Ownership(member.platform.owned, managed_ports(plan.devices[name]))
            item = Work(name, member.platform, member.facts, {}, ownership)
            keys = {key: (old, new) for key, old, new in entry.changes}
            found = settle(fleet, item, entry.token, keys)
            if found.standing != "unknown":
                journal.outcome(entry.token, "reverted" if found.standing == "old" else "confirmed", "settled")
            return found

        ready = [name for name, answer in facts.items() if answer.error is None]
        answers = fleet.each(ready, lambda member: work(member.name))
        standings += [answer.value for answer in answers.values() if answer.value is not None]
        return (*standings, *lost)
    except DeviceError as error:
        raise UseError(f"{error.device}: {error.text}") from error
    finally:
        journal.close()
        fleet.close()

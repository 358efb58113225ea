"""Community SONiC switches: a JSON database over SSH."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rocetune.model.change import Change, Config, Key, KeyRule, Rendered, Step
from rocetune.model.facts import Facts
from rocetune.model.plan import Assumption, DevicePlan
from rocetune.model.qos import Path
from rocetune.model.state import State, Transcript
from rocetune.platforms.base import Purpose, ShellLink
from rocetune.platforms.sonic import admission, counters, facts, owned, read
from rocetune.platforms.sonic.desired import desired, origin
from rocetune.platforms.sonic.fit import fit
from rocetune.platforms.sonic.parse import parse
from rocetune.platforms.sonic.remedy import remedy
from rocetune.platforms.sonic.render import render
from rocetune.platforms.sonic.session import STARTUP, SonicSession
from rocetune.platforms.sonic.steps import steps


class Sonic:
    """SONiC, as the planner, the deployer and the doctor see it."""

    name = "sonic"
    transport: Literal["napalm:eos", "netmiko:linux", "ssh"] = "netmiko:linux"
    running_suffix = ".json"
    safety = (
        "the inverse is put on the switch first and a systemd timer runs it unless the change is confirmed; "
        "nothing is saved before the confirm, so a reboot undoes as well"
    )
    confirmed = (
        "per-table methods, order and port bounce of config apply-patch: sonic-utilities generic_config_updater, "
        "sonic-swss orchagent and cfgmgr, read in releases 202205 to master",
        "field ranges: sonic-yang-models at sonic-buildimage 086b03bd",
        "printed tables: sonic-utilities test vectors and issue threads",
    )
    unconfirmed = (
        Assumption(
            "sonic", "systemd-run is present on the image", "the precheck asks for it before anything is written"
        ),
        Assumption(
            "sonic", "a buffer profile change is applied without loss by the ASIC's SAI", "drain the port first"
        ),
        Assumption(
            "sonic", "Enterprise SONiC keeps the community CONFIG_DB layout", "compare one switch with rocetune diff"
        ),
        Assumption(
            "sonic",
            "the headroom table is /usr/share/sonic/device/PLATFORM/HWSKU/pg_profile_lookup.ini on the host",
            "where it is not readable, 5, 40 and 300 m are assumed",
        ),
    )
    owned: tuple[KeyRule, ...] = owned.RULES
    sonic_tables = True
    alphas = "sonic"
    one_headroom = False  # a profile per speed and cable length

    def commands(self, purpose: Purpose, known: Facts | None) -> tuple[str, ...]:
        """Commands to collect; all are read-only."""
        if purpose == "facts":
            return facts.FACTS
        if purpose == "config":
            return (facts.CONFIG,)
        if purpose == "state":
            settings: tuple[str, ...] = (
                facts.CONFIG,
                STARTUP,
                facts.STATUS,
                facts.LLDP,
                read.PFCWD_CONFIG,
                read.BUFFERS,
            )
            if known is None or facts.dynamic(known):
                settings = (*settings, admission.BOUND, admission.LOG)
            return (*settings, *self.commands("counters", known))  # a state has one counter sample
        names = [
            counters.PFC,
            counters.WATCHDOG,
            counters.QUEUES,
            counters.PG_DROPS,
            counters.PG_WATERMARK,
            counters.PORTS,
        ]
        if known is not None and (facts.release(known) or 0) >= 202505:
            names.append(counters.WRED)
        return (*names, counters.FEC)

    def facts(self, transcript: Transcript) -> Facts:
        """See :func:`rocetune.platforms.sonic.facts.facts`."""
        return facts.facts(transcript)

    def declared(self, plan: DevicePlan) -> Facts:
        """See :func:`rocetune.platforms.sonic.facts.declared`."""
        return facts.declared(plan)

    def saved_facts(self, text: str, declared: Facts) -> Facts:
        """See :func:`rocetune.platforms.sonic.facts.saved_facts`."""
        return facts.saved_facts(text, declared)

    def fit(self, plan: DevicePlan, known: Facts) -> DevicePlan:
        """See :func:`rocetune.platforms.sonic.fit.fit`."""
        return fit(plan, known)

    def render(self, plan: DevicePlan, known: Facts) -> Rendered:
        """See :func:`rocetune.platforms.sonic.render.render`."""
        return render(plan, known)

    def parse(self, text: str, known: Facts) -> Config:
        """See :func:`rocetune.platforms.sonic.parse.parse`."""
        return parse(text, known)

    def desired(self, rendered: Rendered, running: Config | None, plan: DevicePlan, known: Facts) -> Config:
        """See :func:`rocetune.platforms.sonic.desired.desired`."""
        return desired(rendered, running, plan, known)

    def origin(self, key: Key, plan: DevicePlan) -> Path:
        """See :func:`rocetune.platforms.sonic.desired.origin`."""
        return origin(key, plan)

    def steps(self, changes: Sequence[Change], running: Config, known: Facts) -> tuple[Step, ...]:
        """See :func:`rocetune.platforms.sonic.steps.steps`."""
        return steps(changes, running, known)

    def read(self, device: str, transcript: Transcript, known: Facts) -> State:
        """See :func:`rocetune.platforms.sonic.read.read`."""
        return read.read(device, transcript, known)

    def remedy(self, path: Path, value: object, known: Facts, plan: DevicePlan | None = None) -> tuple[str, ...]:
        """See :func:`rocetune.platforms.sonic.remedy.remedy`."""
        return remedy(path, value, known, plan)

    def session(self, link: ShellLink, known: Facts | None) -> SonicSession:
        """A session over exec channels."""
        return SonicSession(link, known)


PLATFORM = Sonic()

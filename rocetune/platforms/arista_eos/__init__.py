"""Arista EOS over eAPI, through NAPALM's driver: named configuration sessions with a commit timer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from rocetune.model.change import Change, Config, Key, KeyRule, Rendered, Step
from rocetune.model.facts import Facts
from rocetune.model.plan import Assumption, DevicePlan
from rocetune.model.qos import Path as LeafPath
from rocetune.model.state import State, Transcript
from rocetune.platforms.arista_eos import commands as ask
from rocetune.platforms.arista_eos import facts as device_facts
from rocetune.platforms.arista_eos import fit as fitting
from rocetune.platforms.arista_eos import keys, names, origin, parse, read, remedy, render, steps
from rocetune.platforms.arista_eos.session import EosSession
from rocetune.platforms.base import EapiLink, Purpose

_UNCONFIRMED = (
    Assumption("arista_eos", "ECN thresholds are entered in bytes; whether the chip rounds them is not known"),
    Assumption("arista_eos", "kbytes in an ECN line are read as 1000 bytes"),
    Assumption("arista_eos", "EOS may leave out 'weight 0' and a mark probability of 100 when it prints the curve"),
    Assumption("arista_eos", "a setting on the interface wins over the one in its qos profile"),
    Assumption("arista_eos", "'no qos profile' is sent only after the ports let go of it"),
    Assumption("arista_eos", "putting an MMU profile in use divides the buffer anew: expect a short loss on all ports"),
    Assumption(
        "arista_eos",
        "the watchdog may ignore queues without guaranteed bandwidth on series other than 7050X and 7060X",
        "look at 'show priority-flow-control status' after a push",
    ),
)
_CONFIRMED = (
    "default DSCP map with 0-7 in traffic class 1 (Arista EOS STIG listing, OpenConfig qosconfigArista)",
    "session, commit timer and the requests behind them (recorded from napalm 5.2.0 and pyeapi 1.0.4)",
    "the watchdog's action no-drop is refused by hardware (aristanetworks/avd issue 6399)",
    "PFC, watchdog and ECN counter keys (aristanetworks/anta)",
    "timer ranges and the profile grammar (aristanetworks/avd schemas)",
)


class EosPlatform:
    """The platform; see :class:`rocetune.platforms.base.Platform` for the contract of each method."""

    name = device_facts.NAME
    transport: Literal["napalm:eos", "netmiko:linux", "ssh"] = "napalm:eos"
    running_suffix = ".cfg"
    safety = (
        "one candidate session per phase, live at one commit; the switch undoes it by its own timer unless confirmed"
    )
    confirmed: tuple[str, ...] = _CONFIRMED
    unconfirmed: tuple[Assumption, ...] = _UNCONFIRMED
    owned: tuple[KeyRule, ...] = keys.OWNED
    sonic_tables = False
    alphas = "eos"
    one_headroom = True  # one MMU queue profile serves the whole switch

    def commands(self, purpose: Purpose, facts: Facts | None) -> tuple[str, ...]:
        """Commands to collect; those that end in ``| json`` are asked as JSON."""
        return ask.commands(purpose, names.is_trident_family(facts.asic if facts else None))

    def facts(self, transcript: Transcript) -> Facts:
        """What the switch says it is."""
        return device_facts.read(transcript)

    def declared(self, plan: DevicePlan) -> Facts:
        """Facts for offline work."""
        return device_facts.declared(plan)

    def saved_facts(self, text: str, declared: Facts) -> Facts:
        """The queue mode and the ports that a saved running configuration shows."""
        return device_facts.saved(text, declared)

    def fit(self, plan: DevicePlan, facts: Facts) -> DevicePlan:
        """The plan with EOS's names, ceilings and rounding."""
        return fitting.fit(plan, facts)

    def render(self, plan: DevicePlan, facts: Facts, site_templates: Path | None = None) -> Rendered:
        """Configuration text; ``site_templates`` is a site's own templates folder."""
        return render.render(plan, facts, site_templates)

    def parse(self, text: str, facts: Facts) -> Config:
        """The flat map of owned keys, EOS's hidden defaults of the maps filled in."""
        return parse.parse(text)

    def desired(self, rendered: Rendered, running: Config | None, plan: DevicePlan, facts: Facts) -> Config:
        """Only what the rendered text states, and our objects that others still use."""
        return origin.complete(parse.stated(rendered.text), running, plan)

    def origin(self, key: Key, plan: DevicePlan) -> LeafPath:
        """Where in the plan a key's value comes from."""
        return origin.origin(key, plan)

    def steps(self, changes: Sequence[Change], running: Config, facts: Facts) -> tuple[Step, ...]:
        """Candidate lines in order."""
        return steps.steps(changes, running, device_facts.queue_mode(facts))

    def read(self, device: str, transcript: Transcript, facts: Facts) -> State:
        """Observed QoS, settings and one counter sample."""
        return read.read(device, transcript, facts)

    def remedy(self, path: LeafPath, value: object, facts: Facts, plan: DevicePlan | None = None) -> tuple[str, ...]:
        """Commands a person types."""
        return remedy.remedy(path, value, facts, plan)

    def session(self, link: EapiLink, facts: Facts | None) -> EosSession:
        """A session over an open NAPALM driver."""
        return EosSession(link)


PLATFORM = EosPlatform()

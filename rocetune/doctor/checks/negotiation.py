"""DCBX and LLDP: who else may write the server's QoS, and is the cable where the inventory says."""

from __future__ import annotations

from collections.abc import Iterator

from rocetune.doctor.case import Case, Place
from rocetune.doctor.verdicts import Result, at, check, on


@check("DCBX-001")
def static_server(case: Case) -> Iterator[Result]:
    """Where the profile sets DCB, neither the firmware nor lldpad negotiates it."""
    for _, state, places in case.devices("server"):
        static = [place for place in places if place.item.setting.profile.dcbx == "off" and place.paused()]
        for place in static:
            yield _willing(place)
        if static:
            daemon = state.settings.get("lldpad")
            yield on(
                state,
                None if daemon is None else daemon != "running",
                "lldpad",
                want="absent",
                expected="lldpad not running",
                observed=daemon or "not observed",
            )


@check("DCBX-002")
def one_agent(case: Case) -> Iterator[Result]:
    """One LLDP agent per NIC port."""
    for place in case.places("server"):
        if not place.paused():
            continue
        daemon = place.state.settings.get("lldpad")
        owner = place.seen_host.dcbx
        if daemon == "running" and owner == "firmware":
            one: bool | None = False
        elif daemon == "absent" or owner == "os":
            one = True
        else:
            one = None
        observed = f"lldpad {daemon or 'not observed'}, DCB owned by {owner or 'nobody observed'}"
        yield at(place, one, ("host", "dcbx"), want="os", expected="one LLDP agent", observed=observed)
    for place in case.places("switch"):
        heard = place.setting("lldp_neighbors")
        if heard is not None and heard.isdigit() and place.paused():
            yield at(
                place,
                int(heard) <= 1,
                ("lldp_neighbors",),
                expected="one LLDP neighbour",
                observed=f"{heard} LLDP neighbours",
            )


@check("DCBX-007")
def known_peer(case: Case) -> Iterator[Result]:
    """The other end of every RoCE cable is known from the inventory or from LLDP."""
    for place in case.places():
        if place.rdma():
            known = place.item.port.peer is not None or _neighbor(place) is not None
            yield at(
                place,
                known,
                ("neighbor",),
                expected="a link in the inventory or an LLDP neighbour",
                observed="known" if known else "neither",
            )


@check("DCBX-008")
def right_peer(case: Case) -> Iterator[Result]:
    """The LLDP neighbour, where one is heard, is the planned one."""
    for place in case.places():
        neighbor, planned = _neighbor(place), place.item.port.peer
        if neighbor is None or planned is None:
            continue
        right = _same_device(case, neighbor[0], planned[0]) and not _other_port(case, neighbor[1], planned)
        unsure = not right and planned[0] not in case.states and neighbor[0] not in case.plan
        yield at(
            place,
            None if unsure else right,  # a device that was not read may call itself so
            ("neighbor",),
            expected=f"{planned[0]} {planned[1]}",
            observed=f"{neighbor[0]} {neighbor[1]}",
            peer=f"{planned[0]} {planned[1]}",
            reason=f"{planned[0]} was not read, so its own name is not known" if unsure else "",
            outside=case.beyond(place),
        )


def _willing(place: Place) -> Result:
    willing, owner = place.setting("dcbx_willing"), place.seen_host.dcbx
    if willing == "on" or owner == "firmware":
        static: bool | None = False
    elif owner == "os":
        static = True
    else:
        static = None
    observed = f"DCB owned by {owner or 'nobody observed'}" + (f", willing {willing}" if willing else "")
    expected = "DCB owned by the operating system, not willing"
    return at(place, static, ("host", "dcbx"), want="os", expected=expected, observed=observed)


def _neighbor(place: Place) -> tuple[str, str] | None:
    facts = place.state.facts.ports.get(place.native)
    return None if facts is None else facts.neighbor


def _same_device(case: Case, heard: str, planned: str) -> bool:
    names = {planned.lower()}
    state = case.states.get(planned)
    if state is not None and state.facts.hostname:
        names.add(state.facts.hostname.lower())
    return heard.lower() in names or heard.lower().split(".")[0] in {name.split(".")[0] for name in names}


def _other_port(case: Case, heard: str, planned: tuple[str, str]) -> bool:
    """True when the port id is the name of another port of the planned device; MAC and free text prove nothing."""
    plan = case.plan.get(planned[0])
    if plan is None:
        return False
    mine = {name for item in plan.ports if item.port.name == planned[1] for name in (item.native, item.port.name)}
    others = {name for item in plan.ports for name in (item.native, item.port.name)} - mine
    return heard in others

"""Like ports should be alike: rails of a server, servers of a group, uplinks and server ports of a switch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rocetune.doctor.case import Case, Place
from rocetune.doctor.verdicts import Result, at, check, show
from rocetune.model.qos import Path, PriorityQos, leaf

_PORT_LEAVES: tuple[Path, ...] = (("trust",), ("mtu_bytes",), ("link_pause",), ("dscp_to_priority",))
_HOST_LEAVES: tuple[Path, ...] = tuple(
    ("host", name)
    for name in (
        "dcbx",
        "roce_tos",
        "traffic_class",
        "cnp_dscp",
        "cnp_priority",
        "np_priorities",
        "rp_priorities",
        "dcqcn",
        "storm_prevention_ms",
        "roce_mode",
        "active_mtu_bytes",
    )
)
_FIRMWARE: Path = ("firmware",)  # no leaf: from the facts of the port


@check("SYM-001")
def rails(case: Case) -> Iterator[Result]:
    """Ports of one server with one setting show the same values."""
    for _, _, places in case.devices("server"):
        for group in _groups(places).values():
            if len(group) > 1:
                yield from _alike(group)


@check("SYM-002")
def servers(case: Case) -> Iterator[Result]:
    """Servers with one setting show the same values; one that differs within itself is SYM-001's."""
    groups = _groups(list(case.places("server")))
    for group in groups.values():
        by_server: dict[str, list[Place]] = {}
        for place in group:
            by_server.setdefault(place.device, []).append(place)
        if len(by_server) > 1:
            yield from _servers_alike(by_server)


@check("SYM-004")
def uplinks(case: Case) -> Iterator[Result]:
    """An uplink has what the server ports of the same switch and network have."""
    for plan, _, places in case.devices("switch"):
        needed: dict[str | None, dict[int, PriorityQos]] = {}
        for place in places:
            if not _is_uplink(place):
                for entry in place.rdma():
                    needed.setdefault(place.item.port.network, {})[entry.priority] = entry
        for place in places:
            if _is_uplink(place):
                for entry in needed.get(place.item.port.network, {}).values():
                    yield _carries(place, entry)
        yield from _unplanned_uplinks(case, plan.device.name, places)


def _groups(places: Sequence[Place]) -> Mapping[str, list[Place]]:
    """Ports by setting: they share network, speed, cable and role."""
    groups: dict[str, list[Place]] = {}
    for place in places:
        if place.rdma():
            groups.setdefault(place.item.setting.name, []).append(place)
    return groups


def _paths(group: Sequence[Place]) -> tuple[Path, ...]:
    numbers = sorted({entry.priority for place in group for entry in place.want.priorities if entry.owned})
    return (
        *_PORT_LEAVES,
        *(("priorities", number, "pfc") for number in numbers),
        *_HOST_LEAVES,
        _FIRMWARE,
    )


def _value(place: Place, path: Path) -> Any:
    if path == _FIRMWARE:
        facts = place.state.facts.ports.get(place.native)
        return None if facts is None else facts.extra.get("firmware")
    value = place.value(path)
    if path == ("dscp_to_priority",) and value is not None:
        return _mapped(place, value)
    return value


def _mapped(place: Place, table: tuple[int | None, ...]) -> tuple[tuple[int, int], ...] | None:
    """The map of the DSCPs that we own; unknown when one of them is, for a listing need not be complete."""
    points = sorted(dscp for entry in place.want.priorities if entry.owned for dscp in entry.dscps or ())
    pairs = tuple((dscp, number) for dscp in points if (number := table[dscp]) is not None)
    return pairs if len(pairs) == len(points) and points else None


def _alike(group: Sequence[Place]) -> Iterator[Result]:
    """One failing result per leaf that differs; else one that passes, or is unknown when nothing was observed."""
    judged = differs = 0
    for path in _paths(group):
        known = [(place, value) for place in group if (value := _value(place, path)) is not None]
        if len(known) < 2:
            continue
        judged += 1
        if any(value != known[0][1] for _, value in known):
            differs += 1
            usual = _usual(known, _planned(group[0], path))
            odd = [place for place, value in known if value != usual]
            yield _odd(odd, path, usual, f"{usual_words(usual, path)} as on the other ports")
    if not differs:
        yield at(
            group[0],
            True if judged else None,
            expected=f"{len(group)} ports alike",
            observed=f"{judged} values alike" if judged else "not observed",
        )


def _servers_alike(by_server: Mapping[str, Sequence[Place]]) -> Iterator[Result]:
    everyone = [place for group in by_server.values() for place in group]
    judged = differs = 0
    for path in _paths(everyone):
        known = [
            (group[0], values[0])
            for group in by_server.values()
            if (values := [value for place in group if (value := _value(place, path)) is not None])
            and all(value == values[0] for value in values)
        ]
        if len(known) < 2:
            continue
        judged += 1
        if any(value != known[0][1] for _, value in known):
            differs += 1
            usual = _usual(known, _planned(everyone[0], path))
            for place, value in known:
                if value != usual:
                    yield _odd([place], path, usual, f"{usual_words(usual, path)} as on the other servers")
    if not differs:
        yield Result(
            "pass" if judged else "unknown",
            everyone[0].device,
            expected=f"{len(by_server)} servers alike",
            observed=f"{judged} values alike" if judged else "not observed",
            reason="" if judged else "nothing was observed on two servers",
        )


def _planned(place: Place, path: Path) -> Any:
    if path == ("dscp_to_priority",):
        return _mapped(place, place.want.dscp_to_priority) if place.want.dscp_to_priority else None
    return leaf(place.want, path)


def _usual(known: Sequence[tuple[Place, Any]], planned: Any) -> Any:
    """The planned value if anybody has it, else the most frequent one."""
    values = [value for _, value in known]
    if planned is not None and planned in values:
        return planned
    return Counter(values).most_common(1)[0][0]


def _odd(odd: Sequence[Place], path: Path, usual: Any, expected: str) -> Result:
    first = odd[0]
    names = ", ".join(place.name for place in odd)
    observed = f"{path[-1]} {usual_words(_value(first, path), path)} on {names}"
    number = path[1] if path[0] == "priorities" else None
    want = first.want.dscp_to_priority if path == ("dscp_to_priority",) else usual
    advice = "Bring the NICs to one firmware." if path == _FIRMWARE else ""
    words = {"priority": number, "expected": expected, "observed": observed, "advice": advice}
    return at(first, False, path, want=want, **words)


def usual_words(value: Any, path: Path) -> str:
    """A value for people; a map as ``26 to 3, 48 to 6``."""
    if path == ("dscp_to_priority",) and value is not None:
        return ", ".join(f"{dscp} to {number}" for dscp, number in value)
    return show(value, path)


def _is_uplink(place: Place) -> bool:
    return place.item.port.link_role in ("fabric", "peer-link") or place.item.port.role in ("fabric", "uplink")


def _carries(place: Place, entry: PriorityQos) -> Result:
    seen = place.seen.priority(entry.priority)
    needs = {"PFC": (entry.pfc, seen and seen.pfc), "ECN": (entry.ecn, seen and seen.ecn)}
    needs["watchdog"] = (entry.watchdog, seen and seen.watchdog)
    missing = [name for name, (wanted, value) in needs.items() if wanted and value is False]
    unknown = [name for name, (wanted, value) in needs.items() if wanted and value is None]
    observed = f"without {', '.join(missing)}" if missing else "the same"
    if unknown and not missing:
        observed = f"not observed: {', '.join(unknown)}"
    return at(
        place,
        False if missing else (None if unknown else True),
        ("priorities", entry.priority, "pfc"),
        priority=entry.priority,
        want=True,
        expected=f"{', '.join(name for name, (wanted, _) in needs.items() if wanted)} as on server ports",
        observed=observed,
    )


def _unplanned_uplinks(case: Case, device: str, places: Sequence[Place]) -> Iterator[Result]:
    """Ports without a plan whose LLDP neighbour is another switch of ours: the path goes through them, too."""
    wanted = {entry.priority for place in places for entry in place.paused()}
    state, planned = case.states[device], {place.native for place in places}
    for native, facts in state.facts.ports.items():
        other = case.plan.get(facts.neighbor[0]) if facts.neighbor else None
        if not wanted or native in planned or other is None or other.device.kind != "switch":
            continue
        seen = state.ports.get(native)
        for number in sorted(wanted):
            entry = seen.priority(number) if seen is not None else None
            pfc = None if entry is None else entry.pfc
            yield Result(
                "unknown" if pfc is None else ("pass" if pfc else "fail"),
                device,
                native,
                number,
                (native, "priorities", number, "pfc"),
                True,
                expected="PFC as on server ports (this uplink is not in links.yaml)",
                observed="not observed" if pfc is None else ("on" if pfc else "off"),
                reason="the uplink's PFC was not observed" if pfc is None else "",
                peer=other.device.name,
            )

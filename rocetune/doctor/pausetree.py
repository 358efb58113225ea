"""The tree of pauses: walked from every port that is paused to where the pausing starts.

Pause travels against the traffic. A device that receives pauses and sends them on is a link in the chain; a server
that sends them and receives none is the root; a switch that sends them and receives none is congested by itself.
(The idea: pause trees of "RDMA over Commodity Ethernet at Scale", SIGCOMM 2016, and published playbooks.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocetune.doctor.case import Case, Place, PortKey
from rocetune.doctor.pauses import Pause, pause

Edge = tuple[Place, Place]  # (sender of the pause, receiver)


@dataclass(frozen=True, slots=True)
class Tree:
    """All heavy pauses of one priority that lead to the same roots."""

    priority: int
    roots: tuple[Place, ...]  # server ports where it starts
    congested: tuple[str, ...]  # switches that pause and are not paused themselves
    cycle: tuple[str, ...]  # devices that pause each other in a circle, when there is no root
    victims: frozenset[str]  # devices that are paused
    spans: frozenset[PortKey]  # both ends of every edge


def trees(case: Case) -> tuple[Tree, ...]:
    """The trees of every priority; one per root."""
    priorities = sorted({entry.priority for place in case.places() for entry in place.paused()})
    return tuple(tree for priority in priorities for tree in _grow(case, priority))


def _grow(case: Case, priority: int) -> Iterator[Tree]:
    edges = tuple(_edges(case, priority))
    if not edges:
        return
    paused_by: dict[str, list[Edge]] = {}  # device that is paused -> the edges that pause it
    for edge in edges:
        paused_by.setdefault(edge[1].device, []).append(edge)
    pausers = {sender.device: sender for sender, _ in edges}
    servers = sorted(name for name, place in pausers.items() if place.is_server)
    clear = [name for name in servers if name not in paused_by] or servers
    for name in clear:
        reached = _downstream(name, edges)
        roots = tuple({edge[0].key: edge[0] for edge in edges if edge[0].device == name}.values())
        yield Tree(
            priority,
            roots,
            (),
            (),
            frozenset(receiver.device for _, receiver in reached),
            _span(reached),
        )
    if clear:
        return
    free = tuple(sorted(name for name in pausers if name not in paused_by))
    victims = frozenset(paused_by)
    yield Tree(priority, (), free, () if free else _cycle(paused_by), victims, _span(edges))


def _edges(case: Case, priority: int) -> Iterator[Edge]:
    for place, other in case.links():
        if other is None:
            continue
        for sender, receiver in ((place, other), (other, place)):
            if any(entry.priority == priority for entry in sender.paused()):
                seen: Pause = pause(sender, receiver, priority)
                if seen.heavy:
                    yield sender, receiver


def _downstream(start: str, edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """Edges that the pauses of one device lead to: it pauses A, A pauses B, and so on."""
    reached: list[Edge] = []
    seen, todo = set(), [start]
    while todo:
        device = todo.pop()
        if device in seen:
            continue
        seen.add(device)
        for edge in edges:
            if edge[0].device == device:
                reached.append(edge)
                todo.append(edge[1].device)
    return tuple(reached)


def _span(edges: tuple[Edge, ...]) -> frozenset[PortKey]:
    return frozenset(place.key for edge in edges for place in edge)


def _cycle(paused_by: Mapping[str, list[Edge]]) -> tuple[str, ...]:
    """Follow the pausers until a device comes up again."""
    walk: list[str] = [min(paused_by)]
    while True:
        nearest = min(edge[0].device for edge in paused_by[walk[-1]])
        if nearest in walk:
            return (*walk[walk.index(nearest) :], nearest)
        walk.append(nearest)

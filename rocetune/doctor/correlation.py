"""One finding instead of many: consequences are folded under the root cause that explains them.

Two kinds of rule: the catalogue's correlations, and agreement about one leaf (rails that differ because one of them
is wrong; drift that consists of what other findings already name).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rocetune.doctor.case import Case, PortKey
from rocetune.doctor.catalogue import Correlation, Relation, correlations, entries
from rocetune.doctor.verdicts import Result
from rocetune.model.change import Change
from rocetune.model.finding import Finding
from rocetune.model.qos import Path

_GENERAL = ("SYM-001", "SYM-002", "DRF-001")  # they say that something differs; a finding about the leaf says what
_ALIAS = {
    "dscps": "dscp_to_priority",
    "active_mtu_bytes": "mtu_bytes",
    "detect_ms": "watchdog",
    "restore_ms": "watchdog",
    "poll_ms": "watchdog",
    "action": "watchdog",
}
_OF_PORT = ("dscp_to_priority", "watchdog")  # one topic for all priorities of a port


@dataclass(frozen=True, slots=True)
class Judged:
    """A finding with the result it was made of."""

    finding: Finding
    result: Result


def fold(case: Case, judged: Sequence[Judged]) -> tuple[Finding, ...]:
    """Root findings with their consequences inside; order as given."""
    parents = _Parents(len(judged))
    index = _Index(case, judged)
    _lost(case, judged, parents)
    for rule in correlations():
        _apply(rule, judged, index, parents)
    _explain(judged, parents)
    children: dict[int, list[Finding]] = defaultdict(list)
    for number, item in enumerate(judged):
        root = parents.root(number)
        if root != number:
            children[root].append(item.finding)
    return tuple(
        replace(item.finding, folded=len(children[number]), consequences=tuple(children[number]))
        for number, item in enumerate(judged)
        if parents.root(number) == number
    )


class _Parents:
    """Who is folded under whom; a child of a child belongs to the first root."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def root(self, number: int) -> int:
        while self._parent[number] != number:
            number = self._parent[number]
        return number

    def put(self, child: int, parent: int) -> None:
        """Fold, unless the child has a root already or would become its own ancestor."""
        if self._parent[child] == child and self.root(parent) != child:
            self._parent[child] = parent


class _Index:
    """Finds the findings of one check in one relation to a root without comparing all pairs."""

    def __init__(self, case: Case, judged: Sequence[Judged]) -> None:
        self._case = case
        self._judged = judged
        self._port: dict[tuple[str, PortKey], list[int]] = defaultdict(list)
        self._device: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.by_id: dict[str, list[int]] = defaultdict(list)
        self._peers = {
            (name, item.port.name): item.port.peer
            for name in case.states
            if name in case.plan
            for item in case.plan[name].ports
        }
        for number, item in enumerate(judged):
            finding = item.finding
            self.by_id[finding.id].append(number)
            self._device[finding.id, finding.device].append(number)
            if finding.port is not None:
                self._port[finding.id, (finding.device, finding.port)].append(number)

    def related(self, root: int, identity: str, rule: Correlation) -> Iterator[int]:
        """Findings ``identity`` in the rule's relation to the root."""
        mine = self._judged[root].finding.priority
        for number in self._candidates(self._judged[root], identity, rule.where):
            other = self._judged[number].finding.priority
            if number != root and (rule.across or mine is None or other is None or mine == other):
                yield number

    def _candidates(self, root: Judged, identity: str, where: Relation) -> Iterator[int]:
        finding = root.finding
        if where == "device":
            yield from self._device.get((identity, finding.device), ())
        elif where == "peers":
            for device in {finding.device, *self._neighbors(finding.device)}:
                yield from self._device.get((identity, device), ())
        elif where == "tree":
            for key in root.result.spans:
                yield from self._port.get((identity, key), ())
            for device in {device for device, _ in root.result.spans}:
                alone = self._device.get((identity, device), ())
                yield from (number for number in alone if self._judged[number].finding.port is None)
        elif finding.port is not None:
            key = (finding.device, finding.port)
            yield from self._port.get((identity, key), ())
            peer = self._peers.get(key)
            if where == "link" and peer is not None:
                yield from self._port.get((identity, peer), ())

    def _neighbors(self, device: str) -> Iterator[str]:
        plan = self._case.plan.get(device)
        for item in plan.ports if plan is not None else ():
            if item.port.peer is not None:
                yield item.port.peer[0]


def _apply(rule: Correlation, judged: Sequence[Judged], index: _Index, parents: _Parents) -> None:
    for identity in rule.roots:
        for root in index.by_id.get(identity, ()):
            if judged[root].finding.verdict != "fail" or not _together(rule, root, judged, index):
                continue
            for folded in rule.folds:
                for number in index.related(root, folded, rule):
                    if judged[number].finding.verdict == "fail" or rule.unknown:
                        parents.put(number, root)


def _together(rule: Correlation, root: int, judged: Sequence[Judged], index: _Index) -> bool:
    """True when the rule needs no company, or a failing finding it asks for is there."""
    return not rule.together or any(
        judged[number].finding.verdict == "fail"
        for identity in rule.together
        for number in index.related(root, identity, rule)
    )


def _explain(judged: Sequence[Judged], parents: _Parents) -> None:
    """Fold general findings under the ones that name the leaf."""
    topics: dict[tuple[str, Path], int] = {}
    settings: dict[str, int] = {}
    for number, item in enumerate(judged):
        finding, root = item.finding, judged[parents.root(number)]
        if _names_a_setting(root) and finding.device == root.finding.device and finding.id not in _GENERAL:
            topics.setdefault((finding.device, topic(finding.path[1:])), number)
            if not root.result.follows:
                settings.setdefault(finding.device, number)
    for number, item in enumerate(judged):
        finding = item.finding
        if item.result.follows and finding.device in settings:
            parents.put(number, settings[finding.device])
        if finding.verdict != "fail" or finding.id not in _GENERAL:
            continue
        paths = item.result.origins if finding.id == "DRF-001" else (finding.path,)
        roots = [topics.get((finding.device, topic(path[1:]))) for path in paths if len(path) > 1]
        if roots and roots[0] is not None and None not in roots and len(roots) == len(paths):
            parents.put(number, roots[0])


def _lost(case: Case, judged: Sequence[Judged], parents: _Parents) -> None:
    """A server on which every port fails, and which has nothing to restore its settings: one finding."""
    failing: dict[str, list[int]] = defaultdict(list)
    for number, item in enumerate(judged):
        if _names_a_setting(item) or (item.finding.id in _GENERAL and item.finding.verdict == "fail"):
            failing[item.finding.device].append(number)
    for number, item in enumerate(judged):
        device = item.finding.device
        if not item.result.covers or item.finding.verdict != "fail":
            continue
        ports = {judged[other].finding.port for other in failing[device]}
        if all(planned.port.name in ports for planned in case.plan[device].ports):
            for other in failing[device]:
                parents.put(other, number)


def _names_a_setting(item: Judged) -> bool:
    """A failing finding about one configured or operational leaf."""
    finding = item.finding
    return finding.verdict == "fail" and finding.id not in _GENERAL and entries()[finding.id].kind == "setting"


def origin(change: Change) -> Path:
    """The plan leaf of a change; what a server restores at boot is no leaf of the plan, and has its setting's name."""
    return ("", "persistence") if change.key[-1:] == ("persist",) else change.origin


def topic(path: Path) -> Path:
    """The leaf that a path is about, whatever its spelling: the map of DSCPs is one topic for all priorities."""
    words = [part for part in path if isinstance(part, str)]
    if not words:
        return ()
    if words[0] == "environment":  # NCCL_IB_TC is planned so, and read as nccl_ib_tc
        return (words[-1].lower(),)
    name = _ALIAS.get(words[-1], words[-1])
    numbers = [part for part in path if isinstance(part, int)]
    return (name,) if name in _OF_PORT else (*numbers, name)


def flatten(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Findings and everything folded under them."""
    for finding in findings:
        yield finding
        yield from flatten(finding.consequences)

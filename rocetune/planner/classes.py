"""A profile's classes as priorities, with a Why for each leaf that comes straight from the profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rocetune.model.plan import Scalar, Why
from rocetune.model.profile import ClassIntent, Ecn, Marking, Profile, WatchdogIntent
from rocetune.model.qos import Path

CNP = "cnp"
_ECT = {"not-ect": 0, "ect1": 1, "ect0": 2}


@dataclass(slots=True)
class Reasons:
    """Collects the Why of each leaf. ``winners`` say which override decided a field."""

    profile: Profile
    winners: tuple[tuple[str, str], ...] = ()
    why: dict[Path, Why] = field(default_factory=dict)

    def from_profile(self, path: Path, dotted: str, value: object, note: str = "") -> None:
        """The leaf is what the profile (or its default) says."""
        self.why[path] = self.profile_why(dotted, value, note)

    def profile_why(self, dotted: str, value: object, note: str = "") -> Why:
        """A Why that names the field and the override that decided it."""
        winner = next((who for name, who in self.winners if _covers(name, dotted)), "")
        source = f"profile {self.profile.name}: {dotted}" + (f", decided by {winner}" if winner else "")
        steps = (note,) if note else ()
        return Why("profile", ((dotted.rpartition(".")[2], _scalar(value)),), steps, source=source)

    def rule(self, path: Path, rule: str, step: str, source: str = "") -> None:
        """The leaf follows from a rule of ours."""
        self.why[path] = Why(rule, (), (step,), source=source)

    def plain(self, path: Path, rule: str, source: str) -> None:
        """The leaf follows from a rule that needs no arithmetic."""
        self.why[path] = Why(rule, source=source)


def _covers(name: str, dotted: str) -> bool:
    return dotted == name or dotted.startswith(name + ".") or name.startswith(dotted + ".")


def _scalar(value: object) -> Scalar:
    return value if isinstance(value, str | int | float | bool) else str(value)


def by_priority(profile: Profile) -> list[tuple[str, ClassIntent]]:
    """Classes in order of priority."""
    return sorted(profile.classes.items(), key=lambda item: item[1].priority)


def lossless(profile: Profile) -> Iterator[tuple[str, ClassIntent]]:
    """Lossless classes, ours and foreign."""
    return ((name, intent) for name, intent in by_priority(profile) if intent.lossless)


def ecn_of(intent: ClassIntent) -> Ecn | None:
    """The marking curve asked for. Unstated means on for a lossless class of ours, off otherwise."""
    if intent.owner == "other" or intent.ecn == "off":
        return None
    if isinstance(intent.ecn, Ecn):
        return intent.ecn
    return Ecn() if intent.lossless else None


def watchdog_of(intent: ClassIntent) -> WatchdogIntent | None:
    """The watchdog of a lossless class of ours, None where it is off."""
    if not intent.lossless or intent.owner == "other" or intent.pfc.watchdog == "off":
        return None
    return intent.pfc.watchdog


def roce_class(profile: Profile) -> tuple[str, ClassIntent] | None:
    """The class that RDMA traffic is marked for: the one with ``marking``, else lossless, else with ECN."""
    owned = [item for item in by_priority(profile) if item[1].owner == "rocetune" and item[1].dscp and item[0] != CNP]
    for wanted in (
        lambda intent: intent.marking is not None,
        lambda intent: intent.lossless,
        lambda intent: ecn_of(intent) is not None,
    ):
        for name, intent in owned:
            if wanted(intent):
                return name, intent
    return None


def marking_of(intent: ClassIntent) -> Marking:
    """Who marks. Unstated: rdma_cm alone, because it needs nobody's cooperation."""
    return intent.marking or Marking(by=("rdma_cm",))


def tos_of(intent: ClassIntent) -> int:
    """ToS byte of a class: its first DSCP times four plus the ECN bits."""
    return intent.dscp[0] * 4 + _ECT[marking_of(intent).ecn_bits]


def explain_tos(intent: ClassIntent) -> str:
    """The arithmetic of :func:`tos_of`."""
    bits = marking_of(intent).ecn_bits
    return f"DSCP {intent.dscp[0]} x 4 + {_ECT[bits]} ({bits}) = {tos_of(intent)}"


def class_leaves(reasons: Reasons, name: str, intent: ClassIntent) -> dict[str, object]:
    """Leaves that switches and servers share, each with its Why."""
    owned = intent.owner == "rocetune"
    at, field_of = ("priorities", intent.priority), f"classes.{name}"
    reasons.from_profile((*at, "name"), field_of, name)
    reasons.from_profile((*at, "owned"), f"{field_of}.owner", intent.owner)
    values: dict[str, object] = {"name": name, "owned": owned, "lossless": intent.lossless}
    reasons.from_profile((*at, "lossless"), f"{field_of}.lossless", intent.lossless)
    if intent.dscp:
        values["dscps"] = tuple(sorted(intent.dscp))
        reasons.from_profile((*at, "dscps"), f"{field_of}.dscp", ", ".join(map(str, sorted(intent.dscp))))
    if owned:
        values["pfc"] = intent.lossless
        reasons.plain((*at, "pfc"), "lossless", "on for lossless classes and off for all others")
    if intent.strict:
        values["scheduling"] = "strict"
        reasons.from_profile((*at, "scheduling"), f"{field_of}.strict", True)
    elif intent.bandwidth is not None:
        values["scheduling"], values["bandwidth_percent"] = "dwrr", round(intent.bandwidth)
        reasons.from_profile((*at, "scheduling"), f"{field_of}.bandwidth", "a share of the link")
        reasons.from_profile((*at, "bandwidth_percent"), f"{field_of}.bandwidth", f"{intent.bandwidth:g}%")
    return values


def dscp_map(reasons: Reasons) -> tuple[int | None, ...]:
    """64 entries of the owned classes; a code point that no class names is not ours to say."""
    entries: list[int | None] = [None] * 64
    for _, intent in by_priority(reasons.profile):
        if intent.owner == "rocetune":
            for dscp in intent.dscp:
                entries[dscp] = intent.priority
    listed = ", ".join(f"{dscp}->{priority}" for dscp, priority in enumerate(entries) if priority is not None)
    source = f"profile {reasons.profile.name}: code points of its classes"
    reasons.why[("dscp_to_priority",)] = Why("profile", (("dscps", listed),), source=source)
    return tuple(entries)

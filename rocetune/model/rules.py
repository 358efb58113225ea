"""What makes a profile contradict itself. Every fault names the value that caused it and what would be right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocetune.model.invalid import Fault

if TYPE_CHECKING:
    from rocetune.model.profile import ClassIntent, Profile

CNP = "cnp"  # the class of this name carries congestion notifications


def class_faults(item: ClassIntent) -> Iterator[Fault]:
    """Contradictions inside one class."""
    if item.lossless and not item.dscp:
        yield Fault(
            "a lossless class without DSCP gets every unmarked packet, and pause with it",
            "name its code points, as in dscp: [26]",
            ("lossless",),
        )
    if len(set(item.dscp)) != len(item.dscp):
        twice = next(value for value in item.dscp if item.dscp.count(value) > 1)
        yield Fault(f"DSCP {twice} is listed twice", "keep it once", ("dscp",))
    if item.strict and item.bandwidth is not None:
        yield Fault(
            "a strict class is served first and has no share",
            "remove bandwidth, or set strict: false",
            ("bandwidth",),
        )
    if item.bandwidth is not None:
        if item.bandwidth != int(item.bandwidth):
            yield Fault(
                f"{item.bandwidth:g}% is not a whole percent, and switches take no other", "round it", ("bandwidth",)
            )
        elif item.bandwidth < 1:
            yield Fault("a share of 0% would starve the class", "give it 1% or more", ("bandwidth",))
    if not item.lossless and item.pfc != type(item.pfc)():
        yield Fault("pfc belongs to a lossless class only", "set lossless: true, or remove pfc", ("pfc",))
    if item.owner == "other":
        for key in ("ecn", "marking"):
            if getattr(item, key) is not None:
                yield Fault(f"{key} is set for a class that is not ours to write", f"remove {key} or owner", (key,))


def profile_faults(profile: Profile) -> Iterator[Fault]:
    """Contradictions between the parts of a profile."""
    yield from _cnp(profile)
    yield from _priorities(profile)
    yield from _dscps(profile)
    yield from _shares(profile)
    yield from _mtus(profile)
    for number, override in enumerate(profile.overrides):
        for name in override.classes:
            if name not in profile.classes:
                yield Fault(
                    f"the profile has no class {name}",
                    f"classes: {', '.join(profile.classes)}",
                    ("overrides", number, "classes", name),
                )


def _cnp(profile: Profile) -> Iterator[Fault]:
    cnp = profile.classes.get(CNP)
    if cnp is None:
        return
    if cnp.lossless:
        yield Fault(
            "congestion notifications must not be lossless: they would wait behind the pause they should end",
            "set lossless: false; strict: true is the usual choice",
            ("classes", CNP, "lossless"),
        )
    for name, other in profile.classes.items():
        if name == CNP or not other.lossless:
            continue
        if other.priority == cnp.priority:
            yield Fault(
                f"congestion notifications share priority {cnp.priority} with the lossless class {name}",
                "give cnp a priority of its own, 6 is usual",
                ("classes", CNP, "priority"),
            )
        shared = sorted(set(other.dscp) & set(cnp.dscp))
        if shared:
            yield Fault(
                f"congestion notifications share DSCP {shared[0]} with the lossless class {name}",
                "give cnp a DSCP of its own, 48 is what NICs use",
                ("classes", CNP, "dscp"),
            )


def _cnp_pair(profile: Profile, first: str, second: str) -> bool:
    """True where _cnp already spoke about these two classes."""
    return CNP in (first, second) and any(profile.classes[name].lossless for name in (first, second) if name != CNP)


def _priorities(profile: Profile) -> Iterator[Fault]:
    taken: dict[int, str] = {}
    for name, item in profile.classes.items():
        first = taken.setdefault(item.priority, name)
        if first != name and not _cnp_pair(profile, first, name):
            free = [number for number in range(8) if number not in {c.priority for c in profile.classes.values()}]
            yield Fault(
                f"classes {first} and {name} are both on priority {item.priority}",
                f"free priorities: {', '.join(map(str, free))}" if free else "no priority is free: merge two classes",
                ("classes", name, "priority"),
            )


def _dscps(profile: Profile) -> Iterator[Fault]:
    taken: dict[int, str] = {}
    for name, item in profile.classes.items():
        for place, dscp in enumerate(item.dscp):
            first = taken.setdefault(dscp, name)
            if first != name and not _cnp_pair(profile, first, name):
                yield Fault(
                    f"DSCP {dscp} belongs to both {first} and {name}",
                    "a packet can be in one class only: remove it from one of them",
                    ("classes", name, "dscp", place),
                )
    catch_all = [name for name, item in profile.classes.items() if not item.dscp and item.owner == "rocetune"]
    for name in catch_all[1:]:
        yield Fault(
            f"classes {catch_all[0]} and {name} both have no DSCP; only one class can take the rest",
            "name the code points of one of them",
            ("classes", name),
        )


def _shares(profile: Profile) -> Iterator[Fault]:
    if not profile.shares_stated:
        return
    for name, item in profile.classes.items():
        if item.owner == "rocetune" and not item.strict and item.bandwidth is None:
            yield Fault(
                "the class has no share of the link",
                "add bandwidth: 10% (all shares together 100%), or strict: true",
                ("classes", name),
            )
    shares = {name: item.bandwidth for name, item in profile.classes.items() if item.bandwidth is not None}
    total = sum(shares.values())
    if shares and total != 100:
        listed = " + ".join(f"{name} {share:g}%" for name, share in shares.items())
        yield Fault(
            f"the shares make {total:g}%, not 100%: {listed}",
            f"{'add' if total < 100 else 'take away'} {abs(100 - total):g}%; foreign classes (owner: other) count too",
            ("classes", next(reversed(shares)), "bandwidth"),
        )


def _mtus(profile: Profile) -> Iterator[Fault]:
    from rocetune.model.profile import HOST_MTU_OVERHEAD_BYTES as OVERHEAD

    if profile.host_mtu > profile.mtu:
        at = "host_mtu" if "host_mtu" in profile.model_fields_set else "mtu"
        yield Fault(
            f"servers would send {profile.host_mtu} byte packets into switch ports of {profile.mtu}",
            f"set host_mtu to {profile.mtu} or less, or raise mtu",
            (at,),
        )
    if profile.host_mtu < profile.rdma_mtu + OVERHEAD:
        fits = max(size for size in (256, 512, 1024, 2048, 4096) if size + OVERHEAD <= profile.host_mtu)
        at = "rdma_mtu" if "rdma_mtu" in profile.model_fields_set else "host_mtu"
        yield Fault(
            f"an RDMA MTU of {profile.rdma_mtu} needs a host_mtu of {profile.rdma_mtu + OVERHEAD}, "
            f"not {profile.host_mtu}: RoCE headers take {OVERHEAD} bytes",
            f"set host_mtu to {profile.rdma_mtu + OVERHEAD} or more, or rdma_mtu to {fits}",
            (at,),
        )

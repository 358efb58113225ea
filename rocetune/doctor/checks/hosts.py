"""The server side: DCQCN roles, notifications, GID, MTU, persistence, NIC storm prevention."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocetune.doctor.case import Case, Place
from rocetune.doctor.verdicts import Result, at, check, equals, on, show

_OVERHEAD = 22  # Ethernet header 14, VLAN tag 4, FCS 4: platforms differ in whether their MTU counts them
_GID = re.compile(r"([0-9]+) [^;]*?(v1|v2|unknown) ([0-9a-f:]+)", re.ASCII)
_STALE = "somebody changed a setting after the last apply, or the stored settings are old: the next boot writes them"
_NEEDS = {4096: 4200, 2048: 2200}  # netdev MTU for an RDMA MTU (NVIDIA MTU article)


@check("CC-001")
def notification_point(case: Case) -> Iterator[Result]:
    """The NIC answers marked packets with notifications."""
    return _role(case, "np_priorities", "notification point")


@check("CC-002")
def reaction_point(case: Case) -> Iterator[Result]:
    """The NIC slows down when it is notified."""
    return _role(case, "rp_priorities", "reaction point")


@check("CNP-001")
def cnp_dscp(case: Case) -> Iterator[Result]:
    """The NIC marks its notifications as the profile says."""
    for place in case.places("server"):
        wanted = place.want_host.cnp_dscp
        if wanted is not None:
            yield equals(place, ("host", "cnp_dscp"), wanted, f"CNP DSCP {wanted}")


@check("GID-001")
def roce_version(case: Case) -> Iterator[Result]:
    """rdma_cm and NCCL use RoCE v2 addresses."""
    for place in case.places("server"):
        chain = _markers(place)
        if "rdma_cm" in chain:
            yield equals(place, ("host", "roce_mode"), "v2", "rdma_cm uses RoCE v2")
        if "nccl" in chain:
            yield _nccl_gid(place)


@check("GID-002")
def same_gid(case: Case) -> Iterator[Result]:
    """A pinned GID index names the same kind of address on every port of every server."""
    kinds: dict[tuple[str, str], list[Place]] = {}
    for place in case.places("server"):
        if "nccl" not in _markers(place):
            continue
        index = place.state.settings.get("nccl_ib_gid_index")
        gids = _gids(place)
        path = ("host", "roce_mode")
        if index == "":
            yield at(place, True, path, expected="NCCL selects the GID", observed="no index pinned")
        elif index is None or gids is None:
            yield at(place, None, path, expected="one kind of GID", reason="GID table or pinned index was not read")
        else:
            kinds.setdefault((index, gids.get(index, "missing")), []).append(place)
    usual = max(kinds.values(), key=len, default=[])
    for (index, kind), places in kinds.items():
        for place in places:
            yield at(
                place,
                places is usual and kind != "missing",
                ("host", "roce_mode"),
                expected="one kind of GID at the pinned index of every server",
                observed=f"index {index} is {kind}",
            )


@check("MTU-001")
def rdma_mtu(case: Case) -> Iterator[Result]:
    """The RDMA path MTU is the profile's; the network device's MTU allows it."""
    for place in case.places("server"):
        wanted = place.want_host.active_mtu_bytes
        if wanted is None:
            continue
        active, netdev = place.seen_host.active_mtu_bytes, place.seen.mtu_bytes
        short = netdev is not None and netdev < _NEEDS.get(wanted, wanted)
        ok = False if short else (None if active is None else active >= wanted)
        path = ("mtu_bytes",) if short else ("host", "active_mtu_bytes")
        yield at(
            place,
            ok,
            path,
            want=place.want.mtu_bytes if short else wanted,
            expected=f"RDMA MTU {wanted}, device MTU {_NEEDS.get(wanted, wanted)} or more",
            observed=f"RDMA MTU {show(active)}, device MTU {show(netdev)}",
        )


@check("MTU-002")
def link_mtu(case: Case) -> Iterator[Result]:
    """A switch port takes every frame its server sends; two switches agree."""
    for place, other in case.links():
        if not place.rdma() and (other is None or not other.rdma()):
            continue
        if other is None:
            words = {"reason": case.peer_gap(place), "outside": case.beyond(place)}
            yield at(place, None, ("mtu_bytes",), expected="MTU fits at both ends", **words)
        else:
            yield _fits(place, other)


@check("WD-008")
def storm_prevention(case: Case) -> Iterator[Result]:
    """The NIC gives up pausing before the switch's patience ends."""
    for place in case.places("server"):
        wanted, value = place.want_host.storm_prevention_ms, place.seen_host.storm_prevention_ms
        if not wanted:
            continue
        ok = None if value is None else 0 < value <= wanted
        path = ("host", "storm_prevention_ms")
        observed = "off" if value == 0 else (f"{value} ms" if value is not None else "not observed")
        yield at(place, ok, path, want=wanted, expected=f"on, {wanted} ms or less", observed=observed)


@check("FW-004")
def persistence(case: Case) -> Iterator[Result]:
    """Something on the server writes the settings again at boot; in the middle of a push that is still to come."""
    if case.phase is not None:
        return
    for plan, state, _ in case.devices("server"):
        if plan.managed:
            value = state.settings.get("persistence")
            yield on(
                state,
                None if value is None else value == "installed",
                "persistence",
                want="installed",
                expected="boot-time unit installed with these settings",
                observed=value or "not observed",
                follows=value == "stale",  # boot would restore what is right, or what was right before
                covers=value == "absent",  # the server lost everything at a reboot, or never had it
                title="a reboot would restore other settings than the server has now" if value == "stale" else "",
                why=_STALE if value == "stale" else "",
            )


def _role(case: Case, name: str, words: str) -> Iterator[Result]:
    for place in case.places("server"):
        wanted = getattr(place.want_host, name) or frozenset()
        seen = getattr(place.seen_host, name)
        for entry in place.rdma():
            if entry.priority in wanted:
                yield at(
                    place,
                    None if seen is None else entry.priority in seen,
                    ("host", name),
                    priority=entry.priority,
                    want=wanted,
                    expected=f"{words} on for priority {entry.priority}",
                    observed="not observed" if seen is None else f"on for: {show(seen)}",
                )


def _markers(place: Place) -> frozenset[str]:
    """Who marks the RDMA classes of this port, by the profile."""
    return frozenset(by for entry in place.rdma() for by in place.markers(entry))


def _gids(place: Place) -> dict[str, str] | None:
    """Index to "version family" from the ``gids.<port>`` setting."""
    text = place.setting("gids")
    if text is None:
        return None
    return {match[1]: f"{match[2]} {_family(match[3])}" for match in _GID.finditer(text)}


def _family(gid: str) -> str:
    if gid.startswith("fe80"):
        return "link-local"
    return "ipv4" if gid.lstrip("0:").startswith("ffff:") else "ipv6"  # ::ffff:a.b.c.d


def _nccl_gid(place: Place) -> Result:
    gids, index = _gids(place), place.state.settings.get("nccl_ib_gid_index")
    path = ("host", "roce_mode")
    if gids is None or index is None:
        reason = "GID table or pinned index was not read"
        return at(place, None, path, want="v2", expected="NCCL uses RoCE v2", reason=reason)
    if index:
        kind = gids.get(index, "missing")
        ok, observed = kind.startswith("v2"), f"pinned index {index} is {kind}"
    else:
        ok = any(kind.startswith("v2") for kind in gids.values())
        observed = "NCCL chooses; a v2 GID exists" if ok else "no v2 GID on this port"
    return at(place, ok, path, want="v2", expected="NCCL uses RoCE v2", observed=observed)


def _fits(place: Place, other: Place) -> Result:
    one, two = place.seen.mtu_bytes, other.seen.mtu_bytes
    words = {
        "want": place.want.mtu_bytes,
        "observed": f"{place.label} {show(one)}, {other.label} {show(two)}",
        "peer": other.label,
    }
    path = ("mtu_bytes",)
    if place.is_server == other.is_server:
        ok = None if one is None or two is None else one == two
        return at(place, ok, path, expected="equal MTU at both ends", **words)
    expected = "the switch port's MTU holds the server's frames"
    if one is None or two is None:
        return at(place, None, path, expected=expected, **words)
    if one < two:
        return at(place, False, path, expected=expected, **words)
    if one < two + _OVERHEAD:
        reason = "it depends on whether this switch counts the Ethernet header into its MTU"
        return at(place, None, path, expected=expected, reason=reason, **words)
    return at(place, True, path, expected=expected, **words)

"""How a check says what it found, and the register of all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rocetune.doctor.case import Case, Place, PortKey
from rocetune.model.finding import Severity, Verdict
from rocetune.model.qos import Path
from rocetune.model.state import Evidence, State
from rocetune.model.units import show_bytes


@dataclass(frozen=True, slots=True)
class Result:
    """One verdict of one check about one place, before the catalogue's words are added.

    ``severity`` None: the catalogue's. ``fix`` replaces the platform's remedy; ``advice`` replaces the
    catalogue's words where no platform knows a command. ``also`` are further remedies ``(device, path, want)``: of
    another device they are shown first, of the same one only when the first remedy is empty. ``spans`` are the
    ports that a storm reaches, ``origins`` the plan leaves that a drift concerns; ``follows`` goes away when the
    settings that fail on this device are right; ``covers`` cures all of them when every port fails (for folding).
    ``outside``: an unknown one lacks only the word of a device outside the scope, and is skipped. ``title`` and
    ``why`` replace the catalogue's.
    """

    verdict: Verdict
    device: str
    port: str | None = None
    priority: int | None = None
    path: Path = ()
    want: object = None
    expected: str = ""
    observed: str = ""
    severity: Severity | None = None
    peer: str | None = None
    reason: str = ""
    fix: tuple[str, ...] = ()
    advice: str = ""
    evidence: Evidence | None = None
    also: tuple[tuple[str, Path, object], ...] = ()
    spans: frozenset[PortKey] = frozenset()
    origins: tuple[Path, ...] = ()
    follows: bool = False
    covers: bool = False
    outside: bool = False
    title: str = ""
    why: str = ""


Check = Callable[[Case], Iterable[Result]]
_CHECKS: dict[str, Check] = {}


def check(identity: str) -> Callable[[Check], Check]:
    """Register a check under its catalogue id. A second one of the same id is a mistake of ours."""

    def register(function: Check) -> Check:
        if identity in _CHECKS:
            raise ValueError(f"{identity} is registered twice")
        _CHECKS[identity] = function
        return function

    return register


def registered() -> Mapping[str, Check]:
    """All checks by id."""
    return _CHECKS


def verdict(ok: bool | None) -> Verdict:
    """True passes, False fails, None could not be judged."""
    return "unknown" if ok is None else ("pass" if ok else "fail")


def at(place: Place, ok: bool | None, path: Path = (), **words: Any) -> Result:
    """A result about one port; ``path`` is the leaf below it. An unknown one gets a reason by itself."""
    full: Path = (place.native, *path) if path else ()
    result = Result(verdict(ok), place.device, place.name, path=full, **words)
    if ok is None and not result.reason:
        result = replace(result, reason=_unseen(place, path))
    return result


def on(state: State, ok: bool | None, key: str, **words: Any) -> Result:
    """A result about a device-level setting."""
    result = Result(verdict(ok), state.device, path=("", key), **words)
    if ok is None and not result.reason:
        result = replace(result, reason=f"the device's answers do not show {key}")
    return result


def equals(place: Place, path: Path, want: Any, expected: str, **words: Any) -> Result:
    """The observed leaf must equal ``want``."""
    value = place.value(path)
    return at(
        place,
        None if value is None else value == want,
        path,
        want=want,
        expected=expected,
        observed=show(value, path),
        **words,
    )


def show(value: Any, path: Path = ()) -> str:
    """A value for people; None is "not observed"."""
    if value is None:
        return "not observed"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (frozenset, tuple, list)):
        items = sorted(value) if isinstance(value, frozenset) else value
        return ", ".join(show(item) for item in items) or "none"
    name = path[-1] if path else ""
    if isinstance(name, str) and isinstance(value, int):
        if name.endswith("_bytes") and "mtu" not in name:
            return show_bytes(value)
        if name.endswith("_bytes"):
            return f"{value} B"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def tos(value: int) -> str:
    """A traffic class byte with what it means."""
    return f"{value} (DSCP {value >> 2}, {('not-ECT', 'ECT(1)', 'ECT(0)', 'CE')[value & 3]})"


def _unseen(place: Place, path: Path) -> str:
    if place.native not in place.state.ports:
        return f"the device's answers do not show port {place.native}"
    named = "/".join(str(part) for part in path) or "this"
    return f"the device's answers do not show {named}"

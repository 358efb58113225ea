"""The command line of an emulated EOS switch: one request's commands, its modes and its sessions."""

from __future__ import annotations

import copy
import difflib
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rocetune.lab import eos_show
from rocetune.lab.eos_grammar import INVALID, Refused
from rocetune.lab.eos_tree import Tree

if TYPE_CHECKING:
    from rocetune.lab.eos import EosEmulator

MAX_OPEN = 5
_SESSION = re.compile(r"configure session (\S+)(?: (commit|abort)(?: timer (\d\d):(\d\d):(\d\d))?)?", re.ASCII)
_DIFFS = re.compile(r"show session-config named (\S+) diffs", re.ASCII)
_RUNNING = re.compile(r"show running-config(?: (all))?(?: (sanitized))?", re.ASCII)
_PORT_ECN = re.compile(r"show qos interfaces ethernet ?([0-9/]+) ecn", re.IGNORECASE | re.ASCII)


class NoJson(Exception):
    """The command has no JSON form."""


class Request:
    """The commands of one request: its CLI mode ends with it."""

    def __init__(self, switch: EosEmulator) -> None:
        self._switch = switch
        self._tree: Tree | None = None
        self._session: str | None = None

    def answer(self, text: str, fmt: str) -> dict[str, Any]:
        """One command's result in the asked format."""
        if self._tree is not None and not text.startswith("show ") and text not in ("write memory",):
            self._configure(text)
            return {} if fmt == "json" else {"output": ""}
        result = self._exec(text)
        if isinstance(result, str):
            if fmt == "json" and text.startswith("show ") and result:
                raise NoJson
            return {"output": result} if fmt == "text" else {}
        return {"output": _as_text(result)} if fmt == "text" else result

    def _configure(self, text: str) -> None:
        switch, store = self._switch, self._switch.store
        if text == "end":
            self._tree, self._session = None, None
        elif text == "abort" and self._session is not None:
            store.abort(self._session)
            self._tree, self._session = None, None
        elif text == "commit" and self._session is not None:
            self._commit(self._session, None)
            self._tree, self._session = None, None
        elif text == "comment":
            return
        elif self._session is not None and text == "rollback clean-config":
            store.sessions[self._session]["tree"].clear()
        elif switch.refuses(text):
            raise Refused(f"{INVALID} (at token 0: '{text.split()[0]}')")
        elif self._tree is not None:
            self._tree.enter(text)

    def _exec(self, text: str) -> dict[str, Any] | str:
        switch, store = self._switch, self._switch.store
        if text in ("enable", "terminal width 511"):
            return ""
        if match := _SESSION.fullmatch(text):
            return self._session_command(match)
        if text in ("configure", "configure terminal"):
            self._tree = switch.tree(store.running)
            return ""
        if text in ("write memory", "copy running-config startup-config"):
            store.write_memory()
            return "Copy completed successfully.\n"
        if text == "copy startup-config flash:rollback-0":
            store.rollback = copy.deepcopy(store.startup)
            return "Copy completed successfully.\n"
        if text == "configure replace flash:rollback-0":
            if store.rollback is None:
                raise Refused("Error: flash:rollback-0: No such file or directory")
            store.running = copy.deepcopy(store.rollback)
            return ""
        return self._show(text)

    def _session_command(self, match: re.Match[str]) -> str:
        switch, store = self._switch, self._switch.store
        name, verb = match[1], match[2]
        if verb is None:
            waiting = [n for n, s in store.sessions.items() if s["state"] == "pending"]
            if name not in waiting and len(waiting) >= MAX_OPEN:
                raise Refused("Maximum number of pending sessions has been reached")
            if store.timer is not None and store.timer["session"] == name:
                raise Refused(f"Cannot enter session {name}: its commit timer is running")
            self._session = name
            self._tree = switch.tree(store.open(name, switch.device.now())["tree"])
        elif verb == "abort":
            if name not in store.sessions:
                raise Refused(f"Cannot abort non-existent session {name}")
            store.abort(name)
        else:
            timer = int(match[3]) * 3600 + int(match[4]) * 60 + int(match[5]) if match[3] else None
            self._commit(name, timer)
        return ""

    def _commit(self, name: str, timer_s: int | None) -> None:
        store = self._switch.store
        running = store.timer
        if running is not None and running["session"] == name and timer_s is None:
            store.confirm()
            return
        if running is not None:
            raise Refused(f"Another session ({running['session']}) is pending commit timer")
        if store.sessions.get(name, {}).get("state") != "pending":
            raise Refused(f"Cannot commit non-existent session {name}")
        if timer_s == 0:
            raise Refused(INVALID)
        store.commit(name, self._switch.device.now(), timer_s)

    def _show(self, text: str) -> dict[str, Any] | str:
        switch, store = self._switch, self._switch.store
        if match := _RUNNING.fullmatch(text):
            shown = switch.config(store.running, text, everything=match[1] is not None)
            return re.sub(r"(secret sha512) \S+", r"\1 <removed>", shown) if match[2] else shown
        if text == "show startup-config":
            return switch.config(store.startup, text)
        if match := _DIFFS.fullmatch(text):
            return self._diffs(match[1])
        if match := _PORT_ECN.fullmatch(text):
            return eos_show.ecn_of(switch.view(), f"Ethernet{match[1]}")
        found = _SHOWS.get(text)
        if found is None:
            raise Refused(f"{INVALID} (at token {max(0, len(text.split()) - 1)}: '{text.split()[-1]}')")
        return found(switch)

    def _diffs(self, name: str) -> str:
        store = self._switch.store
        if store.sessions.get(name, {}).get("state") != "pending":
            raise Refused(f"Session {name} does not exist")
        before, after = (self._switch.body(t) for t in (store.running, store.sessions[name]["tree"]))
        rows = list(
            difflib.unified_diff(
                before, after, "system:/running-config", f"session:/{name}-session-config", lineterm=""
            )
        )
        return "\n".join(row for row in rows if not row.startswith("@@")) + ("\n" if rows else "")


def _hostname(switch: EosEmulator) -> dict[str, Any]:
    name = switch.store.running.get("hostname", [f"hostname {switch.device.name}"])[0].split()[1]
    return {"hostname": name, "fqdn": name}


def _viewed(show: Callable[[eos_show.View], dict[str, Any] | str]) -> Callable[[EosEmulator], dict[str, Any] | str]:
    return lambda switch: show(switch.view())


_SHOWS: Mapping[str, Callable[[EosEmulator], dict[str, Any] | str]] = {
    "show version": lambda switch: switch.version(),
    "show hostname": _hostname,
    "show configuration sessions": lambda switch: switch.sessions(),
    "show configuration sessions detail": lambda switch: switch.sessions(),
    "show interfaces": _viewed(eos_show.interfaces),
    "show interfaces flow-control": _viewed(eos_show.flow_control),
    "show interfaces counters errors": _viewed(eos_show.errors),
    "show interfaces counters queue detail": _viewed(eos_show.queue_counters),
    "show interfaces phy detail": _viewed(eos_show.phy),
    "show lldp neighbors": _viewed(eos_show.lldp),
    "show priority-flow-control": _viewed(eos_show.pfc),
    "show priority-flow-control status": _viewed(eos_show.pfc),
    "show priority-flow-control counters": _viewed(eos_show.pfc_counters),
    "show priority-flow-control counters watchdog": _viewed(eos_show.watchdog_counters),
    "show qos interfaces ecn counters queue": _viewed(eos_show.ecn_counters),
}


def _as_text(result: dict[str, Any]) -> str:
    """A plain text form of what is asked as JSON by everybody: one line per leaf."""
    return "".join(f"{name}: {value}\n" for name, value in result.items())

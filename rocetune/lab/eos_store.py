"""Persistent state of an emulated EOS switch: running and startup configuration, sessions, the commit timer."""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocetune.lab.eos_tree import Block

_SESSION_LIFE_S = 24 * 3600.0  # an uncommitted session is dropped after a day (EOS manual)


@dataclass(slots=True)
class Store:
    """Everything that survives a restart of the lab; ``save`` after each change."""

    file: Path
    running: Block = field(default_factory=dict)
    startup: Block = field(default_factory=dict)
    rollback: Block | None = None  # flash:rollback-0
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    timer: dict[str, Any] | None = None  # session, expires, before
    booted: float = 0.0
    marks: dict[str, float] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> Store | None:
        """What was saved, or None on a first start."""
        try:
            table = json.loads(file.read_text())
        except FileNotFoundError:
            return None
        return cls(file, **table)

    def save(self) -> None:
        """Write to disk, whole or not at all."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        names = ("running", "startup", "rollback", "sessions", "timer", "booted", "marks")
        draft = self.file.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps({name: getattr(self, name) for name in names}))
        draft.replace(self.file)

    def open(self, name: str, now: float) -> dict[str, Any]:
        """The pending session of this name, made from the running configuration when it is new."""
        session = self.sessions.get(name)
        if session is None or session["state"] != "pending":
            session = {"state": "pending", "tree": copy.deepcopy(self.running), "at": now, "user": "admin"}
            self.sessions[name] = session
        return session

    def commit(self, name: str, now: float, timer_s: float | None) -> None:
        """Make a session's whole view live; with a timer, keep what was before."""
        session = self.sessions[name]
        if timer_s is not None:
            self.timer = {"session": name, "expires": now + timer_s, "before": self.running}
        self.running = session.pop("tree")
        session["state"] = "committed" if timer_s is not None else "completed"
        self._forget()

    def confirm(self) -> None:
        """Stop the timer; the configuration stays."""
        if self.timer is not None:
            self.sessions[self.timer["session"]]["state"] = "completed"
            self.timer = None
        self._forget()

    def abort(self, name: str) -> None:
        """Drop a session; where its timer runs, what was before comes back at once."""
        if self.timer is not None and self.timer["session"] == name:
            self.running = self.timer["before"]
            self.timer = None
        self.sessions.pop(name, None)

    def expire(self, now: float) -> bool:
        """Fire what is due by now; whether anything was."""
        due = False
        if self.timer is not None and now >= self.timer["expires"]:
            self.abort(self.timer["session"])
            due = True
        for name, session in list(self.sessions.items()):
            if session["state"] == "pending" and now - session["at"] > _SESSION_LIFE_S:
                del self.sessions[name]
                due = True
        return due

    def reboot(self, now: float) -> None:
        """Power cycle: only the startup configuration is left."""
        self.running = copy.deepcopy(self.startup)
        self.sessions, self.timer, self.booted, self.marks = {}, None, now, {}

    def write_memory(self) -> None:
        """Save the running configuration."""
        self.startup = copy.deepcopy(self.running)

    def _forget(self) -> None:
        """One completed session is remembered (maxSavedSessions 1)."""
        done = [name for name, session in self.sessions.items() if session["state"] == "completed"]
        for name in done[:-1]:
            del self.sessions[name]

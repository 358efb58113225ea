"""``rocetune collect``: everything the doctor reads in one file, or running configurations in a folder.

Both are judged later without a device, by whoever has the site.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocetune import __version__, platforms
from rocetune.app.errors import UseError
from rocetune.app.planning import make_plan, select
from rocetune.app.reading import make_fleet, quiet, read_facts
from rocetune.app.redact import addresses_removed, secrets_removed
from rocetune.app.workspace import Workspace
from rocetune.deploy.fleet import Answer, Fleet, Member
from rocetune.model.facts import Facts
from rocetune.model.outcome import Progress, Report
from rocetune.model.state import Reply, Transcript
from rocetune.platforms.base import DeviceError


@dataclass(frozen=True, slots=True)
class Record:
    """One device: what it answered at first, and its counters some seconds later."""

    platform: str
    first: Transcript
    second: Transcript = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bundle:
    """Answers of many devices. ``failed`` names those that could not be read, and why."""

    at: float
    devices: Mapping[str, Record]
    failed: Mapping[str, str] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the bundle as JSON, readable by its owner only."""
        data = {
            "rocetune": __version__,
            "at": self.at,
            "failed": dict(self.failed),
            "devices": {
                name: {"platform": record.platform, "first": _dump(record.first), "second": _dump(record.second)}
                for name, record in self.devices.items()
            },
        }
        _private(path, json.dumps(data, indent=1))

    @classmethod
    def load(cls, path: Path) -> Bundle:
        """Read a bundle. Raises UseError when the file is not one."""
        try:
            data = json.loads(path.read_text())
            devices = {
                name: Record(item["platform"], _load(item["first"]), _load(item["second"]))
                for name, item in data["devices"].items()
            }
            return cls(float(data["at"]), devices, data.get("failed", {}))
        except OSError as error:
            raise UseError(f"{path}: {error.strerror}", "make one with: rocetune collect -o FILE") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UseError(
                f"{path} is not a rocetune bundle ({error})", "make one with: rocetune collect -o FILE"
            ) from error


def _dump(transcript: Transcript) -> dict[str, Any]:
    return {
        command: {"text": reply.text, "error": reply.error, "at": reply.at} for command, reply in transcript.items()
    }


def _load(data: Mapping[str, Any]) -> Transcript:
    return {command: _reply(item) for command, item in data.items()}


def _reply(item: Mapping[str, Any]) -> Reply:
    text, error, at = item["text"], item["error"], item["at"]
    if not isinstance(text, str) or not isinstance(error, str | None) or not isinstance(at, int | float):
        raise TypeError("a reply needs text, error and a time")
    return Reply(text, error, float(at))


def collect(
    ws: Workspace,
    limit: str | None = None,
    interval_s: float = 5.0,
    redact: bool = False,
    progress: Report | None = None,
    *,
    accept_new_host_keys: bool = False,
) -> Bundle:
    """Ask every device of the scope, twice for the counters. Secrets are always cut; ``redact`` hides addresses too."""
    report = progress or quiet
    plan = make_plan(ws)
    names = select(ws, plan, limit)
    fleet = make_fleet(ws, plan, names, accept_new_host_keys=accept_new_host_keys, workers=ws.workers)
    try:
        return gather(fleet, names, interval_s, report, cleaner(redact))
    finally:
        fleet.close()


def gather(
    fleet: Fleet,
    names: tuple[str, ...],
    interval_s: float,
    report: Report,
    clean: Callable[[Transcript], Transcript],
    known: Mapping[str, Transcript] | None = None,
) -> Bundle:
    """Two passes over a fleet with ``interval_s`` between the counter samples.

    ``known`` holds first passes that were made already: those devices are only asked for their counters.
    """
    started = time.time()
    unknown = tuple(name for name in names if fleet.members[name].facts is None)
    answers_of_new = read_facts(fleet, unknown, report)
    failed = {name: str(answer.error) for name, answer in answers_of_new.items() if answer.error is not None}
    ready = tuple(name for name in names if fleet.members[name].facts is not None)

    def first(member: Member) -> Transcript:
        facts = _known(member)
        wanted = (*member.platform.commands("config", facts), *member.platform.commands("state", facts))
        answers = fleet.session(member.name).collect(tuple(dict.fromkeys(wanted)))
        return clean({**member.greeting, **answers})  # what it is was asked when the link was opened

    def second(member: Member) -> Transcript:
        fleet.cancel.wait(_left(passes[member.name], interval_s))
        commands = member.platform.commands("counters", _known(member))
        return clean(fleet.session(member.name).collect(commands))

    passes = {name: clean(transcript) for name, transcript in (known or {}).items() if name in ready}
    asked = tuple(name for name in ready if name not in passes)
    answers = fleet.each(asked, first, _progress(report, "collect", len(asked)))
    failed |= {name: str(answer.error) for name, answer in answers.items() if answer.error is not None}
    passes |= {name: answer.value for name, answer in answers.items() if answer.value is not None}
    if passes and (left := max(_left(transcript, interval_s) for transcript in passes.values())) > 0:
        report(Progress("wait", f"second counter samples within {left:.1f} s"))
    again = fleet.each(passes, second, _progress(report, "sample", len(passes)))
    devices = {
        name: Record(fleet.members[name].platform.name, passes[name], _value(again.get(name)))
        for name in ready
        if name in passes
    }
    return Bundle(started, devices, failed)


def _left(first: Transcript, interval_s: float) -> float:
    """Seconds until ``interval_s`` have passed since a first sample; each device waits for its own."""
    newest = max((reply.at for reply in first.values()), default=0.0)
    return max(0.0, min(interval_s, newest + interval_s - time.time()))


def _known(member: Member) -> Facts:
    assert member.facts is not None  # read_facts gave them, or the device is not in the list
    return member.facts


def _value(answer: Answer[Transcript] | None) -> Transcript:
    return {} if answer is None or answer.value is None else answer.value


def _progress(report: Report, stage: str, total: int) -> Callable[[str, Answer[Transcript]], None]:
    seen = [0]

    def done(name: str, answer: Answer[Transcript]) -> None:
        seen[0] += 1
        report(Progress(stage, "ok" if answer.error is None else answer.error.text, name, seen[0], total))

    return done


def cleaner(redact: bool) -> Callable[[Transcript], Transcript]:
    """A function that takes secrets (always) and addresses (on demand) out of a transcript."""

    def clean(text: str) -> str:
        text = secrets_removed(text)
        return addresses_removed(text) if redact else text

    def cleaned(transcript: Transcript) -> Transcript:
        return {
            command: Reply(clean(reply.text), reply.error and clean(reply.error), reply.at)
            for command, reply in transcript.items()
        }

    return cleaned


def as_read(transcript: Transcript) -> Transcript:
    """Nothing removed: for what stays in this process, where a cut line would look like drift."""
    return transcript


@dataclass(frozen=True, slots=True)
class Saved:
    """Running configurations in a folder. ``failed`` names the devices without one, and why."""

    files: Mapping[str, Path]
    failed: Mapping[str, str] = field(default_factory=dict)


def save_running(
    ws: Workspace,
    folder: Path,
    limit: str | None = None,
    progress: Report | None = None,
    *,
    accept_new_host_keys: bool = False,
) -> Saved:
    """Write each device's running configuration as ``<device><suffix>``: what ``diff --running`` compares offline.

    Secrets are cut out; files are readable by their owner only. Raises UseError for an unknown limit, refused
    credentials or a folder that cannot be written.
    """
    report = progress or quiet
    plan = make_plan(ws)
    names = select(ws, plan, limit)
    fleet = make_fleet(ws, plan, names, accept_new_host_keys=accept_new_host_keys, workers=ws.workers)
    clean = cleaner(False)

    def ask(member: Member) -> Transcript:
        command = member.platform.commands("config", _known(member))[0]
        reply = fleet.session(member.name).collect((command,))[command]
        if reply.error is not None:
            raise DeviceError(member.name, command, reply.error)
        member.platform.parse(reply.text, _known(member))
        return clean({command: reply})

    try:
        facts = read_facts(fleet, names, report)
        failed = {name: str(answer.error) for name, answer in facts.items() if answer.error is not None}
        ready = tuple(name for name in facts if name not in failed)
        answers = fleet.each(ready, ask, _progress(report, "collect", len(ready)))
    finally:
        fleet.close()
    failed |= {name: str(answer.error) for name, answer in answers.items() if answer.error is not None}
    files: dict[str, Path] = {}
    try:
        for name, answer in answers.items():
            for reply in _value(answer).values():
                files[name] = folder / f"{name}{fleet.members[name].platform.running_suffix}"
                _private(files[name], reply.text)
    except OSError as error:
        raise UseError(f"{folder} cannot be written: {error.strerror or error}", "choose another folder") from error
    return Saved(files, failed)


def _private(path: Path, text: str) -> None:
    """A file that its owner alone can read, complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".part")
    draft.touch(mode=0o600)
    draft.write_text(text if text.endswith("\n") else text + "\n")
    draft.replace(path)


def known_platforms(bundle: Bundle) -> None:
    """Raises UseError when a bundle holds a platform that is not installed."""
    for name, record in bundle.devices.items():
        if record.platform not in platforms.names():
            raise UseError(f"{name} is of platform {record.platform!r}", f"installed: {', '.join(platforms.names())}")

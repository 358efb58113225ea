"""The one YAML reader: fast, strict, and it remembers where everything stood.

It builds values straight from the parser's events (libyaml where PyYAML has it), because a tree of nodes of a
site with thousands of devices costs ten times the memory and the time. Scalars follow the core schema of YAML 1.2:
``off``, ``yes`` and ``10:30`` are strings, ``0o17`` is a number, ``017`` is the decimal 17.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml as pyyaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from rocetune.site.errors import Problems
from rocetune.site.sources import Map, Place, Seq, Sources, pack

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 40
MAX_ALIASED = 200_000  # values that aliases may add: a small file must not unfold into a big one
MAX_DIGITS = 200  # of a number; a longer one is text, so that no float overflows and no conversion takes long

_INT = re.compile(r"[-+]?[0-9]+", re.ASCII)
_OCTAL = re.compile(r"0o[0-7]+", re.ASCII)
_HEX = re.compile(r"0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    ".inf": float("inf"), ".Inf": float("inf"), ".INF": float("inf"), "+.inf": float("inf"),
    "-.inf": float("-inf"), "-.Inf": float("-inf"), ".nan": float("nan"), ".NaN": float("nan"), ".NAN": float("nan"),
}  # fmt: skip
_NUMERIC_START = frozenset("0123456789+-.")
_TAGS = {"tag:yaml.org,2002:str", "!"}


def scalar(text: str) -> Any:
    """A plain scalar by the core schema of YAML 1.2 (section 10.3.2)."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMERIC_START and len(text) <= MAX_DIGITS:
        if _INT.fullmatch(text):
            return int(text)
        if _OCTAL.fullmatch(text):
            return int(text[2:], 8)
        if _HEX.fullmatch(text):
            return int(text[2:], 16)
        if _FLOAT.fullmatch(text):
            return float(text)
    return text


class Refused(Exception):
    """A file that is not what we read as YAML."""

    def __init__(self, line: int, column: int, text: str, remedy: str) -> None:
        super().__init__(text)
        self.line, self.column, self.text, self.remedy = line, column, text, remedy


def _parser(text: str) -> Any:
    """libyaml's parser where PyYAML was built with it, else the one in Python; we take events from it only."""
    return pyyaml.CSafeLoader(text) if pyyaml.__with_libyaml__ else pyyaml.SafeLoader(text)


class _Builder:
    """Values from events. One stack entry per open collection."""

    def __init__(self, text: str, file: int) -> None:
        self.parser = _parser(text)
        self.base = pack(file, 0, 0)
        self.file = file
        self.anchors: dict[str, tuple[Any, int]] = {}  # value and how many values it holds
        self.count = 0
        self.aliased = 0
        self.duplicates: list[tuple[Any, Place, Place]] = []

    def place(self, mark: Any) -> Place:
        return pack(self.file, mark.line, mark.column)

    def refuse(self, mark: Any, text: str, remedy: str) -> Refused:
        return Refused(mark.line, mark.column, text, remedy)

    def root(self) -> Any:
        """The first event of the one document, None for an empty stream."""
        self.parser.get_event()  # stream start
        if isinstance(self.parser.get_event(), StreamEndEvent):
            return None
        return self.parser.get_event()

    def finish(self) -> None:
        """Nothing may follow the document."""
        self.parser.get_event()  # document end
        event = self.parser.get_event()
        if isinstance(event, DocumentStartEvent):
            raise self.refuse(
                event.start_mark, "a second document starts here (---)", "one file holds one document: split the file"
            )

    def value(self, event: Any, depth: int) -> Any:
        kind = type(event)
        if kind is AliasEvent:
            return self.alias(event)
        self.count += 1
        before = self.count
        if kind is ScalarEvent:
            result = self.scalar(event)
        elif depth > MAX_DEPTH:
            raise self.refuse(event.start_mark, f"nested deeper than {MAX_DEPTH} levels", "flatten this part")
        elif kind is MappingStartEvent:
            result = self.mapping(event, depth + 1)
        else:
            result = self.sequence(event, depth + 1)
        if event.anchor is not None:
            self.anchors[event.anchor] = (result, self.count - before + 1)
        return result

    def scalar(self, event: Any) -> Any:
        tag = event.tag
        if tag is None:
            return scalar(event.value) if event.implicit[0] else event.value
        if tag not in _TAGS:
            raise self.refuse(event.start_mark, f"tag {tag} is not supported", "write the value without a tag")
        return event.value

    def alias(self, event: Any) -> Any:
        if event.anchor not in self.anchors:
            raise self.refuse(
                event.start_mark,
                f"alias *{event.anchor} names an anchor that is not defined above",
                f"define it first with &{event.anchor}",
            )
        value, size = self.anchors[event.anchor]
        self.aliased += size
        self.count += size
        if self.aliased > MAX_ALIASED:
            raise self.refuse(
                event.start_mark,
                f"aliases unfold to more than {MAX_ALIASED} values",
                "use groups or bracket ranges instead of aliases",
            )
        return value

    def sequence(self, start: Any, depth: int) -> Seq:
        if start.tag not in (None, "!", "tag:yaml.org,2002:seq"):
            raise self.refuse(start.start_mark, f"tag {start.tag} is not supported", "write the list without a tag")
        result = Seq(self.place(start.start_mark))
        for value, place in self.items(depth):
            result.put(value, place)
        return result

    def items(self, depth: int) -> Iterator[tuple[Any, Place]]:
        """The rest of an open sequence."""
        get, value, file = self.parser.get_event, self.value, self.file
        while type(event := get()) is not SequenceEndEvent:
            mark = event.start_mark
            place = pack(file, mark.line, mark.column)
            yield value(event, depth), place

    def mapping(self, start: Any, depth: int) -> Map:
        if start.tag not in (None, "!", "tag:yaml.org,2002:map"):
            raise self.refuse(start.start_mark, f"tag {start.tag} is not supported", "write the mapping without a tag")
        result = Map(self.place(start.start_mark))
        marks = result.marks
        for key, inner, key_place, place in self.pairs(depth):
            if key in result:
                self.duplicates.append((key, key_place, (result.places(key) or (result.start, 0))[0]))
            else:
                result[key] = inner
                marks.append(key_place)
                marks.append(place)
        return result

    def pairs(self, depth: int) -> Iterator[tuple[Any, Any, Place, Place]]:
        """The rest of an open mapping: key, value and their places."""
        get, value, file = self.parser.get_event, self.value, self.file
        while type(event := get()) is not MappingEndEvent:
            mark = event.start_mark
            if type(event) is not ScalarEvent:
                raise self.refuse(mark, "a key must be a plain word", 'a value in braces needs quotes: "{x}"')
            key = self.scalar(event)
            if key == "<<" and event.implicit[0]:
                raise self.refuse(mark, "merge keys (<<) are not part of YAML 1.2", "use extends or groups instead")
            key_place = pack(file, mark.line, mark.column)
            event = get()
            mark = event.start_mark
            place = pack(file, mark.line, mark.column)
            yield key, value(event, depth), key_place, place


def load(path: Path, sources: Sources, problems: Problems) -> Map | None:
    """The mapping that a file holds, or None after noting an error. An empty file is an empty mapping."""
    with _reading(path, sources, problems) as builder:
        if builder is None:
            return None
        first = builder.root()
        if first is None or (type(first) is ScalarEvent and not first.value and first.implicit[0]):
            return Map(builder.base)
        value = builder.value(first, 0)
        builder.finish()
        if isinstance(value, Map):
            return value
        place = builder.place(first.start_mark)
        problems.error(place, f"{path.name} must hold a mapping", "write lines of key: value")
    return None


def stream(path: Path, sources: Sources, problems: Problems, kind: type[Map] | type[Seq]) -> Iterator[Entry]:
    """The entries of a file one by one, so that a huge file never is in memory as a whole.

    The file holds one mapping (``kind`` Map) or one list (Seq); otherwise an error is noted. Entries before a
    syntax error have been handed out when it is found.
    """
    with _reading(path, sources, problems) as builder:
        first = builder.root() if builder is not None else None
        if builder is None or first is None:
            return
        place = builder.place(first.start_mark)
        if kind is Map and type(first) is MappingStartEvent:
            seen: dict[Any, Place] = {}
            for key, value, key_place, _ in builder.pairs(1):
                if key in seen:
                    builder.duplicates.append((key, key_place, seen[key]))
                else:
                    seen[key] = key_place
                    yield Entry(key, value, key_place)
        elif kind is Seq and type(first) is SequenceStartEvent:
            for number, (value, item_place) in enumerate(builder.items(1)):
                yield Entry(number, value, item_place)
        elif type(first) is not ScalarEvent or first.value or not first.implicit[0]:
            wanted = "a mapping" if kind is Map else "a list"
            problems.error(
                place,
                f"{path.name} must hold {wanted}",
                "write name: {...}" if kind is Map else "write - {a: ..., b: ...}",
            )
            return
        builder.finish()


@dataclass(frozen=True, slots=True)
class Entry:
    """One top-level entry of a file. ``key`` is the number of a list's item."""

    key: Any
    value: Any
    place: Place


@contextmanager
def _reading(path: Path, sources: Sources, problems: Problems) -> Iterator[_Builder | None]:
    """Open a file for reading; whatever goes wrong inside becomes an error with its place."""
    text = _text(path, sources, problems)
    if text is None:
        yield None
        return
    file = sources.add(path)
    builder = None
    try:
        builder = _Builder(text, file)
        yield builder
    except Refused as refused:
        problems.error(pack(file, refused.line, refused.column), refused.text, refused.remedy)
    except pyyaml.YAMLError as error:
        _syntax(error, text, file, problems)
    for key, here, first in builder.duplicates if builder is not None else ():
        line = sources.position(first).line
        problems.error(here, f"key {key!r} appears twice in one mapping", f"it is already set in line {line}: keep one")


def exists(path: Path, problems: Problems) -> bool:
    """True for a file that can be read. Something else of that name is an error, never "no file".

    A link that leads nowhere or in a circle, a folder, a pipe, and the ending ``.yml``, which is not looked for.
    """
    shown = problems.sources.shown(path)
    try:
        if path.is_file():
            return True
        if path.is_symlink() and not path.exists():
            circle = "leads nowhere" if _target_known(path) else "leads in a circle"
            problems.error(None, f"the link {circle}: {path.readlink()}", "correct the link, or delete it", file=shown)
        elif path.is_dir():
            problems.error(None, "this is a folder, not a file", "delete or rename it", file=shown)
        elif path.exists():
            problems.error(None, "this is no regular file", "delete or rename it", file=shown)
        elif path.suffix == ".yaml" and os.path.lexists(path.with_suffix(".yml")):
            other = path.with_suffix(".yml")
            problems.error(None, f"only {path.name} is read", "rename it", file=problems.sources.shown(other))
    except OSError as error:
        problems.error(None, f"cannot be read: {error.strerror}", "check name and rights", file=shown)
    return False


def _target_known(path: Path) -> bool:
    """False for links that lead to each other in a circle."""
    try:
        path.resolve(strict=True)
    except FileNotFoundError:
        return True
    except (OSError, RuntimeError):
        return False
    return True


def _text(path: Path, sources: Sources, problems: Problems) -> str | None:
    shown = sources.shown(path)
    try:
        if not path.is_file() and path.exists():
            problems.error(None, "not an ordinary file", "give a YAML file", file=shown)
            return None
        if path.stat().st_size > MAX_BYTES:
            problems.error(None, f"larger than {MAX_BYTES // 1024**2} MiB", "use bracket ranges and groups", file=shown)
            return None
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        problems.error(None, f"not UTF-8 text (byte {error.start})", "save the file as UTF-8", file=shown)
    except OSError as error:
        problems.error(None, f"cannot be read: {error.strerror}", "check name and rights", file=shown)
    return None


def _syntax(error: pyyaml.YAMLError, text: str, file: int, problems: Problems) -> None:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:  # a character that YAML does not allow
        at = getattr(error, "position", 0)
        line = text.count("\n", 0, at)
        column = at - (text.rfind("\n", 0, at) + 1)
        problems.error(pack(file, line, column), "a control character stands here", "delete it")
        return
    lines = text.split("\n")
    line_text = lines[mark.line] if mark.line < len(lines) else ""
    indent = line_text[: len(line_text) - len(line_text.lstrip(" \t"))]
    if "\t" in indent or line_text[mark.column : mark.column + 1] == "\t":
        column = indent.index("\t") if "\t" in indent else mark.column
        problems.error(
            pack(file, mark.line, column), "a tab stands where YAML wants spaces", "replace the tab by spaces"
        )
        return
    reason = str(getattr(error, "problem", None) or error)
    context = getattr(error, "context", None)
    text_, remedy = _explain(reason, context or "")
    problems.error(pack(file, mark.line, mark.column), text_, remedy)


_EXPLAIN = (
    ("mapping values are not allowed", "a second ': ' in one value", "put the value into quotes, or start a new line"),
    ("did not find expected key", "the indentation or a bracket is wrong here", "align this line with its neighbours"),
    ("did not find expected '-'", "this line does not belong to the list above", "start it with '- ' or indent it"),
    ("expected <block end>", "the indentation or a bracket is wrong here", "align this line with its neighbours"),
    ("did not find expected ',' or", "a bracket or comma is missing", "close every [ and {, separate items by commas"),
    ("expected ',' or", "a bracket or comma is missing", "close every [ and {, separate items by commas"),
    ("could not find expected ':'", "a key without a colon", "write it as key: value"),
    ("found unexpected end of stream", "a quote or bracket is never closed", "close it"),
    ("found character that cannot start", "a character that cannot start a value", "put the value into quotes"),
    ("found unknown escape", "an unknown escape in double quotes", "use single quotes, or double the backslash"),
)


def _explain(reason: str, context: str) -> tuple[str, str]:
    for pattern, text, remedy in _EXPLAIN:
        if pattern in reason:
            return text, remedy
    return f"not valid YAML: {reason}" + (f" ({context})" if context else ""), "correct this line"

"""The one YAML reader: fast, strict, and it remembers where everything stood.

It builds values straight from the parser's events (libyaml where PyYAML has it), because a tree of nodes of a
site with thousands of devices costs ten times the memory and the time. Scalars follow the core schema of YAML 1.2:
``off``, ``yes`` and ``10:30`` are strings, ``0o17`` is a number, ``017`` is the decimal 17.
"""

from __future__ import annotations

import re
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
from yaml.reader import Reader
from yaml.scanner import Scanner

from rocetune.site.errors import Problems
from rocetune.site.sources import Map, Place, Seq, Sources, pack

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 40
MAX_ALIASED = 200_000  # values that aliases may add: a small file must not unfold into a big one

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
    if text[0] in _NUMERIC_START:
        if _INT.fullmatch(text):
            return int(text) if len(text) < 4000 else text
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


class _PureParser(Reader, Scanner, pyyaml.parser.Parser):  # where PyYAML was built without libyaml
    def __init__(self, stream: str) -> None:
        Reader.__init__(self, stream)
        Scanner.__init__(self)
        pyyaml.parser.Parser.__init__(self)


def _parser(text: str) -> Any:
    if pyyaml.__with_libyaml__:
        from yaml.cyaml import CParser

        return CParser(text)
    return _PureParser(text)


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

    def document(self) -> Any:
        """The one document of the stream, None when it is empty."""
        parser = self.parser
        parser.get_event()  # stream start
        event = parser.get_event()
        if isinstance(event, StreamEndEvent):
            return None
        value = self.value(parser.get_event(), 0)
        parser.get_event()  # document end
        event = parser.get_event()
        if isinstance(event, DocumentStartEvent):
            raise self.refuse(
                event.start_mark, "a second document starts here (---)", "one file holds one document: split the file"
            )
        return value

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
        get, value = self.parser.get_event, self.value
        while True:
            event = get()
            if type(event) is SequenceEndEvent:
                return result
            place = self.place(event.start_mark)
            result.put(value(event, depth), place)

    def mapping(self, start: Any, depth: int) -> Map:
        if start.tag not in (None, "!", "tag:yaml.org,2002:map"):
            raise self.refuse(start.start_mark, f"tag {start.tag} is not supported", "write the mapping without a tag")
        result = Map(self.place(start.start_mark))
        get, value, file = self.parser.get_event, self.value, self.file
        marks = result.marks
        while True:
            event = get()
            if type(event) is MappingEndEvent:
                return result
            mark = event.start_mark
            if type(event) is not ScalarEvent:
                raise self.refuse(mark, "a key must be a plain word", 'a value in braces needs quotes: "{x}"')
            key = self.scalar(event)
            if key == "<<" and event.implicit[0]:
                raise self.refuse(mark, "merge keys (<<) are not part of YAML 1.2", "use extends or groups instead")
            key_place = pack(file, mark.line, mark.column)
            event = get()
            mark = event.start_mark
            inner = value(event, depth)
            if key in result:
                self.duplicates.append((key, key_place, (result.places(key) or (result.start, 0))[0]))
            else:
                result[key] = inner
                marks.append(key_place)
                marks.append(pack(file, mark.line, mark.column))


def load(path: Path, sources: Sources, problems: Problems) -> Any:
    """The value of one file with places, or None after noting an error. An empty file is an empty Map."""
    shown = sources.shown(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            problems.error(None, f"larger than {MAX_BYTES // 1024**2} MiB", "use bracket ranges and groups", file=shown)
            return None
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        problems.error(None, f"not UTF-8 text (byte {error.start})", "save the file as UTF-8", file=shown)
        return None
    except OSError as error:
        problems.error(None, f"cannot be read: {error.strerror}", "check name and rights", file=shown)
        return None
    file = sources.add(path)
    builder = None
    try:
        builder = _Builder(text, file)
        value = builder.document()
    except Refused as refused:
        problems.error(pack(file, refused.line, refused.column), refused.text, refused.remedy)
        return None
    except pyyaml.YAMLError as error:
        _syntax(error, text, file, problems)
        return None
    for key, here, first in builder.duplicates:
        line = sources.position(first).line
        problems.error(here, f"key {key!r} appears twice in one mapping", f"it is already set in line {line}: keep one")
    return Map(pack(file, 0, 0)) if value is None else value


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

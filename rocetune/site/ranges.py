"""Bracket ranges and named indexes: ``gpu[001-032]``, ``0-248:8`` and ``{h*4:02}``.

The arithmetic is parsed by Python's own grammar and then walked by us: whole numbers, names and + - * // % only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product

MAX_EXPANSION = 200_000  # names out of one pattern
MAX_LENGTH = 1000  # characters of one pattern or template, checked before anything is parsed

_PART = re.compile(r"([0-9]+)(?:-([0-9]+)(?::([0-9]+))?)?", re.ASCII)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,15}", re.ASCII)
_FORMAT = re.compile(r"0?[1-9]", re.ASCII)
Expression = Callable[[Mapping[str, int]], int]


class RangeError(ValueError):
    """A range or expression that cannot be read; ``remedy`` says what would be right."""

    def __init__(self, text: str, remedy: str = "") -> None:
        super().__init__(text)
        self.text, self.remedy = text, remedy


def _check_length(text: str, what: str) -> None:
    if len(text) > MAX_LENGTH:
        raise RangeError(
            f"{text[:20]!r}... has {len(text)} characters, too many for {what}", f"{MAX_LENGTH} characters at most"
        )


def numbers(text: str) -> list[tuple[str, int]]:
    """``01-04``, ``0-248:8`` or ``1,3,5-7`` as (written form, value), padding kept."""
    _check_length(text, "a range")
    result: list[tuple[str, int]] = []
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise RangeError(f"{text!r} is not a range", "write it as 1-32, 001-032, 0-248:8 or 1,3,5-7")
        low_text, high_text, step_text = match[1], match[2] or match[1], match[3] or "1"
        if max(len(low_text), len(high_text), len(step_text)) > 9:
            raise RangeError(f"{part!r} has too many digits", "nine digits at most")
        low, high, step = int(low_text), int(high_text), int(step_text)
        if high < low:
            raise RangeError(f"range {part!r} runs backwards", f"write {high}-{low}")
        if step == 0:
            raise RangeError(f"range {part!r} has step 0", "use a step of 1 or more")
        padded = low_text.startswith("0") and len(low_text) > 1
        if padded and len(high_text) < len(low_text):
            raise RangeError(f"range {part!r} pads its ends differently", "give both ends the same number of digits")
        width = len(low_text) if padded else 0
        if (high - low) // step >= MAX_EXPANSION:
            raise RangeError(f"range {part!r} has more than {MAX_EXPANSION} members", "split it")
        result.extend((f"{value:0{width}d}" if width else str(value), value) for value in range(low, high + 1, step))
        if len(result) > MAX_EXPANSION:
            raise RangeError(f"{text!r} has more than {MAX_EXPANSION} members", "split it")
    return result


def index(value: object) -> tuple[int, ...]:
    """The values of a named index of a link: ``0-7``, ``0-30:2``, a number or a list of numbers."""
    if isinstance(value, bool):
        raise RangeError("an index needs numbers", "write it as 0-7")
    if isinstance(value, int):
        return (value,)
    if isinstance(value, str):
        return tuple(number for _, number in numbers(value))
    if isinstance(value, list | tuple) and value and all(type(item) is int for item in value):
        return tuple(value)
    raise RangeError("an index is a range, a number or a list of numbers", "write it as 0-7, 0-30:2 or [0, 2, 5]")


@lru_cache(maxsize=4096)
def split(pattern: str) -> tuple[tuple[str, ...], tuple[tuple[tuple[str, int], ...], ...]]:
    """The fixed pieces of a bracket pattern and the ranges between them."""
    _check_length(pattern, "a bracket pattern")
    pieces: list[str] = []
    ranges: list[tuple[tuple[str, int], ...]] = []
    rest = pattern
    while True:
        piece, bracket, rest = rest.partition("[")
        if "]" in piece:
            raise RangeError(f"{pattern!r} has a ']' without '['", "write ranges as gpu[01-04]")
        pieces.append(piece)
        if not bracket:
            break
        body, closing, rest = rest.partition("]")
        if not closing:
            raise RangeError(f"{pattern!r} has a '[' without ']'", "write ranges as gpu[01-04]")
        ranges.append(tuple(numbers(body)))
    total = 1
    for items in ranges:
        total *= len(items)
    if total > MAX_EXPANSION:
        raise RangeError(f"{pattern!r} stands for {total} names, more than {MAX_EXPANSION}", "split it")
    return tuple(pieces), tuple(ranges)


def expand(pattern: str) -> Iterator[tuple[str, dict[str, int]]]:
    """Every name of a bracket pattern, with ``n`` (``n2``, ``n3`` for further brackets) and ``i``, its place from 0."""
    if "[" not in pattern and "]" not in pattern:
        yield pattern, {"i": 0}
        return
    pieces, ranges = split(pattern)
    for place, combination in enumerate(product(*ranges)):
        name = pieces[0]
        values = {"i": place}
        for number, (written, value) in enumerate(combination):
            name += written + pieces[number + 1]
            values["n" if number == 0 else f"n{number + 1}"] = value
        yield name, values


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_ARITHMETIC = "use whole numbers, index names, + - * // % and parentheses, as in {(h-1)*4+r}"


@lru_cache(maxsize=4096)
def expression(text: str) -> tuple[Expression, frozenset[str]]:
    """An arithmetic expression and the names it uses. Raises RangeError."""
    if len(text) > 80:
        raise RangeError(f"{text[:20]!r}... is too long for an index expression", "80 characters at most")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RangeError(f"{{{text}}} is not an index expression", _ARITHMETIC) from None
    names: set[str] = set()
    return _compile(tree, text, names), frozenset(names)


def _compile(node: ast.expr, text: str, names: set[str]) -> Expression:
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value < 10**9:
        value = node.value
        return lambda _: value
    if isinstance(node, ast.Name) and _NAME.fullmatch(node.id):
        name = node.id
        names.add(name)
        return lambda values: values[name]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _compile(node.operand, text, names)
        return lambda values: -inner(values)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _compile(node.left, text, names), _compile(node.right, text, names)
        apply = _OPERATORS[type(node.op)]
        return lambda values: apply(left(values), right(values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        raise RangeError(f"{{{text}}} divides with /", "use // for whole numbers")
    raise RangeError(f"{{{text}}} is not an index expression", _ARITHMETIC)


class Template:
    """A text with ``{expression}`` or ``{expression:02}`` parts; the format is a zero-padded or plain width."""

    __slots__ = ("_pieces", "names", "text")

    def __init__(self, text: str) -> None:
        _check_length(text, "a text with indexes")
        self.text = text
        self._pieces: list[str | tuple[Expression, str, str]] = []
        names: set[str] = set()
        rest = text
        while True:
            piece, brace, rest = rest.partition("{")
            if "}" in piece:
                raise RangeError(f"{text!r} has a '}}' without '{{'", "write indexes as {h}")
            if piece:
                self._pieces.append(piece)
            if not brace:
                break
            body, closing, rest = rest.partition("}")
            if not closing:
                raise RangeError(f"{text!r} has a '{{' without '}}'", "write indexes as {h}")
            source, _, form = body.partition(":")
            if form and not _FORMAT.fullmatch(form):
                raise RangeError(f"format {form!r} in {{{body}}} is not known", "write {h:03} for three digits")
            compiled, used = expression(source)
            names |= used
            self._pieces.append((compiled, form + "d" if form else "", source))
        self.names = frozenset(names)

    @property
    def constant(self) -> bool:
        """True without any index expression."""
        return all(isinstance(piece, str) for piece in self._pieces)

    def fill(self, values: Mapping[str, int]) -> str:
        """The text for one combination of index values. Raises RangeError."""
        out: list[str] = []
        for piece in self._pieces:
            if isinstance(piece, str):
                out.append(piece)
                continue
            compiled, form, source = piece
            number = _evaluate(compiled, source, values)
            out.append(format(number, form) if form else str(number))
        return "".join(out)

    def number(self, values: Mapping[str, int]) -> int:
        """The whole text as one number. Raises RangeError."""
        filled = self.fill(values)
        if not filled.isdigit():
            raise RangeError(f"{self.text!r} gives {filled!r}, not a number", "write a number or {index}")
        return int(filled)


def _evaluate(compiled: Expression, source: str, values: Mapping[str, int]) -> int:
    try:
        number = compiled(values)
    except KeyError as missing:
        raise RangeError(
            f"{{{source}}} uses {missing.args[0]}, which is no index here",
            f"known: {', '.join(sorted(values)) or 'none'}",
        ) from None
    except ZeroDivisionError:
        raise RangeError(f"{{{source}}} divides by zero for {shown(values)}", "correct the expression") from None
    if number < 0:
        raise RangeError(f"{{{source}}} is {number} for {shown(values)}", "an index cannot be negative")
    if number >= 10**9:
        raise RangeError(f"{{{source}}} is larger than nine digits", "correct the expression")
    return number


def shown(values: Mapping[str, int]) -> str:
    """``r=0, h=1`` for messages."""
    return ", ".join(f"{name}={value}" for name, value in values.items())

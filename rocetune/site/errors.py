"""Errors of a site: where, what, why, and what would be right. All of them at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rocetune.site.sources import Place, Sources

_WIDTH = 100  # a longer line is cut around its caret
_LONGEST = 1000  # characters of a reason or remedy; a value of 100,000 letters is not repeated in full


@dataclass(frozen=True, slots=True)
class SiteError:
    """One error or warning. Line and column count from 1; 0 where the whole file is meant."""

    file: str
    line: int
    column: int
    text: str
    remedy: str = ""
    source_line: str = ""

    @property
    def place(self) -> str:
        """``inventory/links.yaml:12:7``."""
        return self.file + (f":{self.line}:{self.column}" if self.line else "")

    def render(self) -> str:
        """Several lines of plain text: place and reason, the line with a caret, what would be right."""
        lines = [f"{self.place}: {self.text}"]
        if self.source_line.strip():
            shown, column = _cut(self.source_line.replace("\t", " "), self.column - 1)
            gutter = f"{self.line:>5} | "
            lines += [gutter + shown, " " * (len(gutter) - 2) + "| " + " " * column + "^"]
        if self.remedy:
            lines.append(f"      = {self.remedy}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.render()


def _cut(line: str, column: int) -> tuple[str, int]:
    if len(line) <= _WIDTH:
        return line, column
    start = max(0, min(column - _WIDTH // 2, len(line) - _WIDTH))
    cut = line[start : start + _WIDTH]
    if start:
        cut = "…" + cut[1:]
    if start + _WIDTH < len(line):
        cut = cut[:-1] + "…"
    return cut, column - start


class SiteErrors(Exception):
    """All errors of a site, and the warnings that were found beside them."""

    def __init__(self, errors: Sequence[SiteError], warnings: Sequence[SiteError] = ()) -> None:
        self.errors, self.warnings = tuple(errors), tuple(warnings)
        super().__init__(str(self))

    def __str__(self) -> str:
        return "\n".join(error.render() for error in self.errors)


class Problems:
    """Collects errors and warnings while a site is read, so that one run shows them all."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.errors: list[SiteError] = []
        self.warnings: list[SiteError] = []
        self._told: set[tuple[Place | None, str, str]] = set()

    def _make(self, place: Place | None, text: str, remedy: str, file: str) -> SiteError:
        text, remedy = _shortened(text), _shortened(remedy)
        if place is None:
            return SiteError(file, 0, 0, text, remedy)
        at = self.sources.position(place)
        return SiteError(at.file, at.line, at.column, text, remedy, self.sources.line(place))

    def error(self, place: Place | None, text: str, remedy: str = "", *, file: str = "") -> None:
        """Note an error, once; ``file`` names the place where no position is known."""
        if self._new(place, text, file):
            self.errors.append(self._make(place, text, remedy, file))

    def warn(self, place: Place | None, text: str, remedy: str = "", *, file: str = "") -> None:
        """Note a warning, once."""
        if self._new(place, text, file):
            self.warnings.append(self._make(place, text, remedy, file))

    def _new(self, place: Place | None, text: str, file: str) -> bool:
        key = (place, text, file)
        if key in self._told:
            return False
        self._told.add(key)
        return True

    def check(self) -> None:
        """Raise SiteErrors if any error was noted, in file order."""
        if self.errors:
            raise SiteErrors(sorted(self.errors, key=_order), sorted(self.warnings, key=_order))


def _shortened(text: str) -> str:
    """A text that quotes something huge, without the middle."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"


def _order(error: SiteError) -> tuple[str, int, int]:
    return error.file, error.line, error.column


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, or None."""
    lowered = {item.lower(): item for item in known}
    found = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def suggest(word: str, known: Iterable[str], what: str = "known") -> str:
    """``did you mean X?`` or a list of what is known."""
    names = sorted(set(known))
    hit = closest(word, names)
    if hit is not None:
        return f"did you mean {hit}?"
    if not names:
        return f"nothing is {what} yet"
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{what}: {', '.join(names[:8])}{more}"

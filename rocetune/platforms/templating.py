"""One Jinja environment for all platforms: strict, sandboxed, and with filters that guard every configuration line.

A template writes lines that a device obeys, so a value that could end a line or start another word must never
pass. Values go through a filter: ``{{ name | word }}``, ``{{ mtu | whole }}``, ``{{ seconds | decimal }}``,
``{{ description | line }}``, ``{{ value | shell }}``. A value that does not fit raises :class:`BadValue`, which names
the value and the rule.

Templates are looked up in a site's own folder first, then among the shipped ones, so a site may override single
files (``templates/arista_eos/config.j2``).
"""

from __future__ import annotations

import re
import shlex
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from rocetune import resources

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:+@=-]*", re.ASCII)
_LINE = re.compile(r"[\x20-\x7e]*")


class BadValue(ValueError):
    """A value that may not reach a configuration line."""


def word(value: object) -> str:
    """One word of a configuration line: letters, digits and ``._/:+@=-``; starts with a letter or digit."""
    text = str(value)
    if not isinstance(value, str | int) or isinstance(value, bool) or not _WORD.fullmatch(text):
        raise BadValue(f"{value!r} cannot be one word of a configuration line: use letters, digits and . _ / : + @ = -")
    return text


def line(value: object) -> str:
    """Printable ASCII on one line, for descriptions and comments."""
    if not isinstance(value, str) or not _LINE.fullmatch(value):
        raise BadValue(f"{value!r} cannot stand in a configuration line: use printable ASCII without line breaks")
    return value


def whole(value: object) -> str:
    """An integer; a float or a text is refused, so that rounding is always a decision of ``fit``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadValue(f"{value!r} is not a whole number")
    return str(value)


def decimal(value: object, places: int = 3) -> str:
    """A plain decimal without exponent or trailing zeros: 0.2, 10.001, 60."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise BadValue(f"{value!r} is not a number")
    text = f"{Decimal(str(value)):.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def shell(value: object) -> str:
    """One POSIX shell word, quoted; control characters are refused."""
    return shlex.quote(line(str(value) if isinstance(value, int) else value))


def _finalize(value: Any) -> Any:
    if value is None:
        raise BadValue("a template printed a value that is not known (None): guard it with an if")
    return value


_site: Path | None = None  # a process works on one site; set once when the site is opened


def use_site(templates: Path | None) -> None:
    """Let a site's own ``templates`` folder win over the shipped one from now on, file by file."""
    global _site
    _site = templates if templates is not None and templates.is_dir() else None


def source(platform: str, name: str) -> str:
    """The text of one template or side file of a platform, the site's own if it has one."""
    for folder in _folders(platform, _site):
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise FileNotFoundError(f"no {name} among the templates of {platform}")


def environment(platform: str, site_templates: Path | None = None) -> SandboxedEnvironment:
    """The environment of one platform; ``get_template("config.j2")`` finds ``templates/<platform>/config.j2``.

    ``site_templates`` (default: the site of :func:`use_site`) wins over the shipped folder, file by file. Undefined
    names and None are errors; there is no HTML escaping, because the output is configuration.
    """
    return _environment(platform, site_templates or _site)


def _folders(platform: str, site: Path | None) -> list[Path]:
    return [*([] if site is None else [site / platform]), resources.templates() / platform]


@lru_cache(maxsize=64)  # an environment keeps its compiled templates: compiling costs more than rendering
def _environment(platform: str, site: Path | None) -> SandboxedEnvironment:
    made = SandboxedEnvironment(
        loader=FileSystemLoader([str(folder) for folder in _folders(platform, site)]),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    made.filters.update(word=word, line=line, whole=whole, decimal=decimal, shell=shell)
    return made

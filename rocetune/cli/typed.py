"""What was typed, carried into the commands that are shown as the next thing to type.

The words are kept as they were typed, so that no number changes on the way. Each next command takes those that it
knows; what the answer adds or leaves out is in its :class:`~rocetune.report.answers.Follow`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from rocetune.cli.options import settings

if TYPE_CHECKING:
    from rocetune.report.answers import Follow

_TYPED = "rocetune.typed"
_NEVER = frozenset({"--plot", "--list-presets"})  # asked again only where the next command is about them
Words = str | tuple[str, ...]


class Typed(click.Command):
    """A command that remembers how its options were spelled."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        raw, _, _ = self.make_parser(ctx).parse_args(list(args))
        ctx.meta[_TYPED] = raw
        return super().parse_args(ctx, args)


def carried(following: Iterable[Follow]) -> tuple[tuple[str, str], ...]:
    """Command lines for the running command's answer, each with its reason; as data they name the site too."""
    ctx, shared = click.get_current_context(), settings()
    lines = []
    for item in following:
        line = _line(ctx, item)
        lines.append((shared.again(line).removeprefix("rocetune ") if shared.format == "json" else line, item.why))
    return tuple(lines)


def _line(ctx: click.Context, item: Follow) -> str:
    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    command = root.command.get_command(root, item.command)
    assert command is not None
    wanted = {**{name: words for name, words in _typed(ctx).items() if name not in item.without}, **dict(item.options)}
    options = [param for param in command.params if isinstance(param, click.Option) and param.opts[0] in wanted]
    many = any(isinstance(param, click.Argument) for param in command.params)
    words = [item.command]
    for param in sorted(options, key=lambda param: param.multiple):
        name, value = param.opts[0], wanted[param.opts[0]]
        if not isinstance(value, tuple):
            words += [name, shlex.quote(value)] if value else [name]
        elif many:
            words += [name, *map(shlex.quote, value)]
        else:
            words += [word for one in value for word in (name, shlex.quote(one))]
    return " ".join(words)


def _typed(ctx: click.Context) -> dict[str, Words]:
    """Options of the running command by their first spelling; a flag has no words."""
    raw: dict[str, Any] = ctx.meta.get(_TYPED, {})
    rest = [raw.get(param.name or "") for param in ctx.command.params if isinstance(param, click.Argument)]
    more = [str(word) for words in rest if isinstance(words, (list, tuple)) for word in words]
    found: dict[str, Words] = {}
    for param in ctx.command.params:
        value = raw.get(param.name or "")
        if not isinstance(param, click.Option) or not param.expose_value or param.opts[0] in _NEVER:
            continue
        if isinstance(value, str):
            found[param.opts[0]] = value
        elif param.is_flag and value is not None and param.name in raw:
            found[param.opts[0]] = ""
        elif isinstance(value, list):
            found[param.opts[0]] = (*map(str, value), *more)
    return found

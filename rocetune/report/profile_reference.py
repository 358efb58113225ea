"""The reference of the user's files, made from the models: ``python -m rocetune.report.profile_reference FOLDER``.

Writes docs/profile-reference.md and docs/site-reference.md, so that the documents can never say another thing
than the program. A test compares both.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from rocetune.model.inventory import HostEntry, LinkEntry, SiteSettings
from rocetune.model.profile import Profile
from rocetune.report.table import markdown_table

Schema = Mapping[str, Any]
_NOTICE = "<!-- Made by `python -m rocetune.report.profile_reference docs`. Change the models, then run it again. -->"
_UNITS = (  # end of a unit type's pattern, how it is written, unit of the number that a default is
    ("(us|ms|s|m)$", "time, as in 200ms", "ms"),
    ("%$", "share, as in 50%", "%"),
    ("(bps)?)$", "speed, as in 400G", "M"),
    ("(cm|m|km)$", "length, as in 2m", "m"),
    ("B$", "size, as in 150KB or 1.5MiB", "B"),
)


def profile_reference() -> str:
    """``profiles/*.yaml``."""
    lead = (
        "A profile says what the ports of one network shall be. Every key has a default except `name`, `classes` "
        "and each class's `priority`; `auto` lets rocetune compute the number, and `rocetune plan --explain DEV:PORT` "
        "shows how it came about. `rocetune schema profile` prints the same as a JSON Schema for editors.\n\n"
        "`extends: NAME` starts from another profile, of the site or a shipped one. Mappings are merged key by key, "
        "`classes` and each class in it too, so a child writes only what differs; a list (`dscp`) or a value replaces "
        "the parent's. `overrides` of the parent come first and those of the child after them, so the child's win. "
        "`name`, `description` and `extends` are not inherited."
    )
    return _document("Profile reference", lead, [("profiles/NAME.yaml", Profile)])


def site_reference() -> str:
    """``rocetune.yaml``, ``inventory/*.yaml`` and ``links.yaml``."""
    lead = (
        "The files beside the profiles. `hosts.yaml`, `groups.yaml` and `defaults.yaml` have Nornir's shape; rocetune "
        "reads the keys of `data` listed here and leaves other tools' keys alone. `rocetune schema inventory`, "
        "`schema links` and `schema site` print JSON Schemas for editors."
    )
    parts: list[tuple[str, type[BaseModel]]] = [
        ("rocetune.yaml", SiteSettings),
        ("inventory/hosts.yaml: one entry per device, or per bracket range of devices", HostEntry),
        ("inventory/links.yaml: a list of cables", LinkEntry),
    ]
    return _document("Site reference", lead, parts)


DOCUMENTS = {"profile-reference.md": profile_reference, "site-reference.md": site_reference}


def _document(title: str, lead: str, parts: Sequence[tuple[str, type[BaseModel]]]) -> str:
    blocks = [f"# {title}", _NOTICE, lead]
    done: set[str] = set()
    for heading, model in parts:
        schema = model.model_json_schema(by_alias=True)
        definitions: Mapping[str, Schema] = schema.get("$defs", {})
        blocks.append(f"## {heading}")
        blocks += _model(schema, definitions)
        for name in _reached(schema, definitions):
            if name not in done:
                done.add(name)
                blocks += [f"## {_words(name)}", *_model(definitions[name], definitions)]
    return "\n\n".join(blocks) + "\n"


def _model(schema: Schema, definitions: Mapping[str, Schema]) -> Iterator[str]:
    if schema.get("description"):
        yield _plain(schema["description"])
    required = set(schema.get("required", ()))
    rows = [
        [
            f"`{name}`",
            _values(field, definitions),
            "required" if name in required else _default(field),
            _plain(field.get("description", "")),
        ]
        for name, field in schema.get("properties", {}).items()
    ]
    if rows:
        yield markdown_table(rows, ["key", "value", "default", "meaning"])


def _reached(schema: Schema, definitions: Mapping[str, Schema], seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Names of models below a schema in reading order, each before what it holds."""
    for field in schema.get("properties", {}).values():
        for name in re.findall(r"'#/\$defs/(\w+)'", str(field)):
            if name not in seen:
                seen |= {name}
                yield name
                for inner in _reached(definitions[name], definitions, seen):
                    seen |= {inner}
                    yield inner


def _values(field: Schema, definitions: Mapping[str, Schema]) -> str:
    """What may be written there."""
    if "$ref" in field:
        name = field["$ref"].rsplit("/", 1)[1]
        return f"[{_words(name)}](#{_words(name).lower().replace(' ', '-')})"
    if "anyOf" in field:
        found = [_values(item, definitions) for item in field["anyOf"] if item.get("type") != "null"]
        size = _UNITS[-1][1]
        return size if set(found) == {"whole number from 0", size} else " or ".join(dict.fromkeys(found))
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{item}`" for item in field["enum"])
    kind = field.get("type")
    if kind == "array":
        return f"list of {_values(field.get('items', {}), definitions)}"
    if kind == "object":
        return _mapping(field, definitions)
    if kind == "integer":
        return "whole number" + _bounds(field)
    if kind == "number":
        return "number" + _bounds(field)
    if kind == "boolean":
        return "`true` or `false`"
    return _unit(field)[0] or "text" if kind == "string" else "any"


def _mapping(field: Schema, definitions: Mapping[str, Schema]) -> str:
    inner = next(iter(field.get("patternProperties", {}).values()), None) or field.get("additionalProperties")
    return f"mapping: name to {_values(inner, definitions)}" if isinstance(inner, Mapping) and inner else "mapping"


def _unit(field: Schema) -> tuple[str, str]:
    """How a value with a unit is written, and the unit its default is kept in; empty for other values."""
    pattern = str(field.get("pattern", ""))
    return next(((words, unit) for end, words, unit in _UNITS if pattern.endswith(end)), ("", ""))


def _bounds(field: Schema) -> str:
    low, high = field.get("minimum"), field.get("maximum")
    if low is not None and high is not None:
        return f" {low} to {high}"
    return f" from {low}" if low is not None else f" up to {high}" if high is not None else ""


def _default(field: Schema) -> str:
    value = field.get("default")
    if value is None or value in ([], {}, ""):
        return ""
    if isinstance(value, Mapping):
        return "its defaults"
    if isinstance(value, float):
        units = [_unit(item)[1] for item in (field, *field.get("anyOf", ()))]
        return f"`{value:g}{next(filter(None, units), '')}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, list):
        return "`[" + ", ".join(map(str, value)) + "]`"
    return f"`{value}`"


def _words(name: str) -> str:
    """``ClassIntent`` as a heading: ``Class intent``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return spaced[0] + spaced[1:].lower()


def _plain(text: str) -> str:
    """A docstring as markdown: paragraphs on one line each, code in single backticks."""
    paragraphs = (" ".join(part.split()) for part in text.replace("``", "`").split("\n\n"))
    return "\n\n".join(paragraphs)


def main(arguments: Sequence[str]) -> int:
    """Write both documents into the folder named on the command line."""
    if len(arguments) != 1:
        print("usage: python -m rocetune.report.profile_reference FOLDER", file=sys.stderr)
        return 2
    for name, make in DOCUMENTS.items():
        path = Path(arguments[0]) / name
        path.write_text(make())
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""JSON Schemas of the files of a site, made from the models, for editors and for `rocetune schema`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from rocetune.model.inventory import DefaultsEntry, HostEntry, LinkEntry, SiteSettings
from rocetune.model.profile import Profile

Kind = Literal["profile", "inventory", "defaults", "links", "site"]
KINDS: tuple[Kind, ...] = ("profile", "inventory", "defaults", "links", "site")
_TITLES: dict[Kind, str] = {
    "profile": "rocetune profile",
    "inventory": "rocetune inventory: hosts.yaml or groups.yaml",
    "defaults": "rocetune inventory: defaults.yaml",
    "links": "rocetune cabling: links.yaml",
    "site": "rocetune.yaml",
}
_MODELS: dict[Kind, Any] = {
    "profile": Profile,
    "inventory": dict[str, HostEntry],
    "defaults": DefaultsEntry,
    "links": list[LinkEntry],
    "site": SiteSettings,
}


def schema(kind: Kind) -> dict[str, Any]:
    """The schema of one kind of file, draft 2020-12. Raises KeyError for an unknown kind."""
    made = TypeAdapter(_MODELS[kind]).json_schema(by_alias=True, mode="validation")
    if kind == "profile":
        _partial_overrides(made)
    return {"$schema": GenerateJsonSchema.schema_dialect, "title": _TITLES[kind], **_tidy(made)}


def text(kind: Kind) -> str:
    """The schema as the shipped file holds it."""
    return json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"


def file_name(kind: Kind) -> str:
    """``profile.schema.json``."""
    return f"{kind}.schema.json"


def _partial_overrides(made: dict[str, Any]) -> None:
    """Overrides hold parts of classes and of dcqcn: the same keys, none of them required, no defaults."""
    definitions = made["$defs"]
    for name in ("ClassIntent", "Dcqcn"):
        part = json.loads(json.dumps(definitions[name]))
        part.pop("required", None)
        for value in part["properties"].values():
            value.pop("default", None)
        part["description"] = f"Part of {name}: what is not written stays as the profile has it."
        definitions[f"{name}Part"] = part
    override = definitions["Override"]["properties"]
    override["classes"]["additionalProperties"] = {"$ref": "#/$defs/ClassIntentPart"}
    override["dcqcn"] = {"$ref": "#/$defs/DcqcnPart"}


def _tidy(value: Any) -> Any:
    """Without the titles that pydantic makes of field names, and without ``null`` and object defaults."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    result: dict[str, Any] = {}
    for key, item in value.items():
        if key == "title" or (key == "default" and (item is None or isinstance(item, dict))):
            continue
        named = key in ("properties", "patternProperties", "$defs")
        result[key] = {name: _tidy(inner) for name, inner in item.items()} if named else _tidy(item)
    if "patternProperties" in result:
        result.setdefault("additionalProperties", False)
    branches = [branch for branch in result.get("anyOf", ()) if branch != {"type": "null"}]
    if len(branches) == 1:
        own = {key: item for key, item in result.items() if key != "anyOf"}
        return {**branches[0], **own}
    if branches:
        result["anyOf"] = branches
    return result


def write(folder: Path) -> None:
    """Write all schemas into a folder: ``python -m rocetune.site.schema schemas``."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        (folder / file_name(kind)).write_text(text(kind), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "schemas"))

"""From pydantic's errors to ours: the place in the file, plain words, and what would be right."""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rocetune.model.invalid import Fault, Invalid
from rocetune.site.errors import Problems, closest, suggest
from rocetune.site.sources import SECRET_WORDS, Map, Place, Seq, find, own_index

M = TypeVar("M", bound=BaseModel)
FILE = {"file": True}  # validation context: see rocetune.model.profile

_TYPE_WORDS = {
    dict: "a mapping",
    Map: "a mapping",
    list: "a list",
    Seq: "a list",
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    type(None): "nothing",
}
_WANTED = {
    "int_type": ("a whole number", "write a whole number without quotes"),
    "int_from_float": ("a whole number", "write it without a fraction"),
    "float_type": ("a number", "write a number without quotes"),
    "bool_type": ("true or false", "write true or false without quotes (on, off and yes are text)"),
    "string_type": ("text", "put it into quotes"),
    "dict_type": ("a mapping", "write keys and values, as in {key: value}"),
    "model_type": ("a mapping", "write keys and values, as in {key: value}"),
    "model_attributes_type": ("a mapping", "write keys and values, as in {key: value}"),
    "tuple_type": ("a list", "put it into brackets, as in [26]"),
    "list_type": ("a list", "put it into brackets, as in [1, 2]"),
}


def validate(
    model: type[M], data: Any, problems: Problems, *, prefix: str = "", place: Place | None = None
) -> M | None:
    """The data as a model, or None after noting every error with its place.

    ``prefix`` names what is read; ``place`` is used where the data itself has none.
    """
    try:
        return model.model_validate(data, context=FILE)
    except ValidationError as error:
        for path, fault, key in explained(model, data, error):
            found = find(data, path, key=key)
            problems.error(place if found is None else found, prefix + fault.text, fault.remedy)
        return None


def explained(
    model: type[BaseModel], data: Any, error: ValidationError
) -> Iterator[tuple[tuple[Any, ...], Fault, bool]]:
    """(path in the data, what is wrong, whether the key itself is meant) for each error worth showing."""
    groups: dict[tuple[Any, ...], list[ErrorDetails]] = defaultdict(list)
    for item in error.errors(include_url=False):
        groups[_real_path(data, item)].append(item)
    for path, items in groups.items():
        if _shadowed(path, items, groups):
            continue
        yield from _faults(model, data, path, items)


def _shadowed(path: tuple[Any, ...], items: list[ErrorDetails], groups: Iterable[tuple[Any, ...]]) -> bool:
    """An "or the word auto" complaint about a mapping whose inside is already complained about."""
    deeper = any(len(other) > len(path) and other[: len(path)] == path for other in groups)
    return deeper and all(item["type"] in ("literal_error", "string_type", "int_type", "tuple_type") for item in items)


def _real_path(data: Any, item: ErrorDetails) -> tuple[Any, ...]:
    """The location without the names of union branches that pydantic puts into it."""
    path: list[Any] = []
    for step in item["loc"]:
        if _inside(data, step):
            data = data[step]
        elif not (item["type"] == "missing" and step == item["loc"][-1]):
            continue
        path.append(step)
    return tuple(path)


def _inside(data: Any, step: Any) -> bool:
    if isinstance(data, dict):
        return step in data
    return isinstance(data, list | tuple) and isinstance(step, int) and step < len(data)


def _value(data: Any, path: Iterable[Any]) -> Any:
    for step in path:
        if not _inside(data, step):
            return None
        data = data[step]
    return data


def _faults(
    model: type[BaseModel], data: Any, path: tuple[Any, ...], items: list[ErrorDetails]
) -> Iterator[tuple[tuple[Any, ...], Fault, bool]]:
    where = worded(data, path)
    of_key = any(item["loc"][-1:] == ("[key]",) for item in items)
    for item in items:
        kind = item["type"]
        if kind == "value_error":
            inner = item.get("ctx", {}).get("error")
            faults = inner.faults if isinstance(inner, Invalid) else (Fault(str(inner)),)
            for fault in faults:
                full = (*path, *fault.path)
                yield full, Fault(_titled(worded(data, full), fault.text), fault.remedy), of_key
            return
    item = next((one for one in items if one["type"] not in ("literal_error",)), items[0])
    choices = [word for one in items if one["type"] == "literal_error" for word in _choices(one)]
    yield path, _plain(model, data, path, item, choices, where), of_key or item["type"] == "extra_forbidden"


def _plain(
    model: type[BaseModel], data: Any, path: tuple[Any, ...], item: ErrorDetails, choices: list[str], where: str
) -> Fault:
    kind, context = item["type"], item.get("ctx", {})
    value = _value(data, path)
    if kind == "extra_forbidden":
        known = known_keys(model, path[:-1])
        return Fault(
            f"unknown key {path[-1]!r}" + (f" in {worded(data, path[:-1])}" if path[:-1] else ""),
            suggest(str(path[-1]), known, "known keys"),
        )
    if kind == "missing":
        return Fault(f"key {path[-1]!r} is missing" + (f" in {worded(data, path[:-1])}" if path[:-1] else ""), "add it")
    if kind == "literal_error":
        choices += _other_words(model, path)
        hit = closest(value, choices) if isinstance(value, str) else None
        return Fault(
            _titled(where, f"{shown(value, path)} is not a value it can have"),
            f"did you mean {hit}?" if hit else f"one of: {', '.join(dict.fromkeys(choices))}",
        )
    if kind in _WANTED:
        wanted, remedy = _WANTED[kind]
        extra = f", or {' or '.join(choices)}" if choices else ""
        return Fault(_titled(where, f"{wanted}{extra} is needed here, not {described(value, path)}"), remedy)
    if kind in ("greater_than_equal", "less_than_equal", "greater_than", "less_than"):
        low_high = {"ge": "at least", "le": "at most", "gt": "more than", "lt": "less than"}
        bound = ", ".join(f"{low_high[key]} {limit}" for key, limit in context.items() if key in low_high)
        return Fault(_titled(where, f"{shown(value, path)} is out of range"), f"it must be {bound}")
    if kind in ("too_short", "string_too_short"):
        return Fault(_titled(where, "it is empty or too short"), f"at least {context.get('min_length', 1)}")
    if kind in ("too_long", "string_too_long"):
        return Fault(_titled(where, "it is too long"), f"at most {context.get('max_length')}")
    if kind == "string_pattern_mismatch":
        return Fault(
            _titled(where, f"{shown(value, path)} is not a valid name here"), f"it must match {context['pattern']}"
        )
    return Fault(_titled(where, item["msg"]), "")


def _choices(item: ErrorDetails) -> list[str]:
    text = item.get("ctx", {}).get("expected", "")
    return [part.strip().strip("'") for part in text.replace(" or ", ", ").split(",") if part.strip()]


def _titled(where: str, text: str) -> str:
    return f"{where}: {text}" if where else text


def worded(data: Any, path: tuple[Any, ...]) -> str:
    """A path for people: an override is called by its number in its own file, counted from 1."""
    if len(path) < 2 or path[0] != "overrides" or not isinstance(path[1], int):
        return dotted(path)
    items = data.get("overrides") if isinstance(data, dict) else None
    number = own_index(items, path[1]) if isinstance(items, Seq) and path[1] < len(items) else path[1]
    return ", ".join(part for part in (f"override {number + 1}", dotted(path[2:])) if part)


def dotted(path: Iterable[Any]) -> str:
    """``classes.roce.dscp[0]``."""
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else (f".{step}" if out else str(step))
    return out


def shown(value: Any, path: Iterable[Any] = ()) -> str:
    """A value for a message: short, and never a secret."""
    if any(word in str(step).lower() for step in path for word in SECRET_WORDS):
        return "the value"
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else text[:57] + "..."


def described(value: Any, path: Iterable[Any] = ()) -> str:
    """``text 'abc'``, ``a list``, ``nothing``."""
    word = _TYPE_WORDS.get(type(value), "something else")
    if isinstance(value, dict | list) or value is None:
        return word
    return f"{word} {shown(value, path)}" if isinstance(value, str) else shown(value, path)


def known_keys(model: type[BaseModel], path: Iterable[Any]) -> list[str]:
    """The keys of the model that ``path`` leads to."""
    return [info.alias or name for item in _models(model, path) for name, info in item.model_fields.items()]


def _other_words(model: type[BaseModel], path: tuple[Any, ...]) -> list[str]:
    """Words that a field takes besides those of its type, as its schema lists them."""
    fields = [item.model_fields.get(path[-1]) for item in _models(model, path[:-1])] if path else []
    extras = [info.json_schema_extra for info in fields if info is not None]
    listed = [extra.get("enum") for extra in extras if isinstance(extra, dict)]
    return [str(word) for words in listed if isinstance(words, list) for word in words]


def _models(model: type[BaseModel], path: Iterable[Any]) -> list[type[BaseModel]]:
    """The models that may stand where ``path`` leads to."""
    annotations: list[Any] = [model]
    for step in path:
        following: list[Any] = []
        for annotation in annotations:
            for item in _members(annotation):
                if isinstance(item, type) and issubclass(item, BaseModel):
                    for name, info in item.model_fields.items():
                        if step in (name, info.alias):
                            following.append(info.annotation)
                elif get_origin(item) in (dict, tuple, list):
                    following.extend(get_args(item)[-1:] if get_origin(item) is dict else get_args(item)[:1])
        annotations = following
    return [
        item
        for annotation in annotations
        for item in _members(annotation)
        if isinstance(item, type) and issubclass(item, BaseModel)
    ]


def _members(annotation: Any) -> Iterator[Any]:
    """A type, or the branches of a union, without Annotated."""
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        for item in get_args(annotation):
            yield from _members(item)
    elif hasattr(annotation, "__metadata__"):
        yield from _members(annotation.__origin__)
    else:
        yield annotation

"""JSON documents and JSON Schemas derived from classes.

The keys of a document are the annotated members of a class (dataclass or msgspec struct) and
the properties that are `shown`, with their declared types. Descriptions in the schema come from the
section *Attributes* of the docstring. A member ``nbytes`` is the key ``bytes``, and a trailing
underscore of a Python keyword is not part of the key. Any other name is ``Annotated[…, "as
NAME"]``.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from inspect import getdoc
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

Schema = dict[str, Any]
_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., object])

Hidden = Annotated[_T, "hidden"]
"""A member that is not in the document."""

IfKnown = Annotated[_T | None, "if known"]
"""A member whose key is left out where it is None."""

Inline = Annotated[_T, "inline"]
"""A member whose keys are keys of the document itself."""

MaybeNan = Annotated[float, float | None]
"""A number that is NaN or infinite where it is not known, and null in a document."""

Scalar = str | float | bool | None
Value = Scalar | list[Scalar]
WarningList = list[dict[str, Scalar]]
"""Data-quality warnings of a run, each with ``code`` and ``text``."""

_TYPES = {
    str: "string",
    Path: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}


class _Key(NamedTuple):
    """Which member a key is of, its type, how it is written, and whether it always is there."""

    name: str
    hint: object
    rules: tuple[object, ...]
    required: bool


def shown(function: _F) -> _F:
    """Mark what a property returns as part of the document: below ``@property``."""
    function.__dict__["shown"] = True
    return function


@cache
def _keys(kind: type) -> dict[str, _Key]:
    """Return the keys of the documents of a class."""
    hints = get_type_hints(kind, include_extras=True)
    for base in kind.__mro__[::-1]:
        for name, member in vars(base).items():
            function = getattr(member, "fget", None) or getattr(member, "func", None)
            if hasattr(function, "shown"):
                hints[name] = get_type_hints(function, include_extras=True)["return"]
    fields: Sequence[msgspec.structs.FieldInfo] = ()
    if issubclass(kind, msgspec.Struct):
        from isochrone.base.record import Record

        fields = () if issubclass(kind, Record) else msgspec.structs.fields(kind)
    keys = {name: "bytes" if name == "nbytes" else name.rstrip("_") for name in hints}
    keys |= {field.name: field.encode_name for field in fields}
    optional = {field.name for field in fields if not field.required}
    described = {}
    for name, hint in hints.items():
        rules = getattr(hint, "__metadata__", ())
        if "hidden" not in rules and get_origin(hint) is not ClassVar:
            required = name not in optional and "if known" not in rules
            key = next((str(rule)[3:] for rule in rules if str(rule).startswith("as ")), keys[name])
            described[key] = _Key(name, hint, rules, required)
    return described


def plain(value: object) -> Any:
    """Return a value as JSON has it, objects as their documents; what is not finite is None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, Path):
        return str(value)
    if not (
        is_dataclass(value) or hasattr(value, "__struct_fields__") or hasattr(value, "_fields")
    ):
        listed = value.tolist() if hasattr(value, "tolist") else value
        return [plain(member) for member in listed] if isinstance(listed, list | tuple) else listed
    kind: type = value.__class__
    document: dict[str, object] = {}
    for key, (name, _, rules, _) in _keys(kind).items():
        member = getattr(value, name)
        if "inline" in rules:
            document |= plain(member)
        elif member is not None or "if known" not in rules:
            document[key] = plain(member)
    return document


def shape(hint: Any) -> Schema:
    """Return the JSON Schema of a type; objects have the keys that are declared, and no others."""
    origin, args = get_origin(hint), get_args(hint)
    if isinstance(hint, dict):
        return hint
    if origin is Annotated:
        notes = [argument for argument in args[1:] if not isinstance(argument, str)]
        if notes and isinstance(notes[0], msgspec.Meta):
            limits = {"minimum": notes[0].ge, "maximum": notes[0].le}
            return shape(args[0]) | {k: limit for k, limit in limits.items() if limit is not None}
        return shape(next(iter(notes), args[0]))
    if origin is Literal:
        return {"enum": [*args]}
    if origin in (Union, UnionType):
        return {"anyOf": [shape(argument) for argument in args]}
    if origin is None:
        return {} if hint is Any else {"type": _TYPES[hint]} if hint in _TYPES else record(hint)
    if issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": shape(args[1])}
    if origin.__name__ == "ndarray":
        return {"type": "array", "items": {"type": "number"}}
    items = tuple(argument for argument in args if argument is not Ellipsis)
    return {"type": "array", "items": shape(Union[items])}  # noqa: UP007


def record(*kinds: type) -> Schema:
    """Return the JSON Schema of an object with the keys of one or several classes."""
    properties: dict[str, Schema] = {}
    required = []
    for kind in kinds:
        described = _descriptions(kind)
        for key, (name, hint, rules, needed) in _keys(kind).items():
            if "inline" in rules:
                inner = record(
                    next(argument for argument in get_args(hint) if isinstance(argument, type))
                )
                properties |= inner["properties"]
                required += inner["required"]
                continue
            properties[key] = {**shape(hint), **described.get(name, {})}
            required += [key] * needed
    about = (getdoc(kinds[-1]) or "").partition("\n")[0]
    return {
        "type": "object",
        "description": about,
        "additionalProperties": False,
        "properties": properties,
        "required": [*dict.fromkeys(required)],
    }


def _descriptions(kind: type) -> dict[str, Schema]:
    """Return the descriptions of the members of a class in its docstrings, by name."""
    descriptions: dict[str, Schema] = {}
    for base in kind.__mro__[::-1]:
        listed = (getdoc(base) or "").partition("\nAttributes\n")[2]
        for names, text in re.findall(r"^(\w.*)\n((?:    .*\n?)+)", listed, re.MULTILINE):
            described = " ".join(text.split()).replace("None", "null")
            descriptions |= {name: {"description": described} for name in names.split(", ")}
    return descriptions

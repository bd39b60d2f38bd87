"""What a description may hold, declared once as types: read strictly, and published as a schema.

A kind of value is ``bool``, a `Literal`, a tuple of a kind, one of several kinds, a class that is
`Declared`, or anything with ``read(value, at)`` and ``schema()``; of ``Annotated[type, it]`` that
is ``it``. What has a ``REF`` is a definition of the schema.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from types import NoneType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    TypeGuard,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from isochrone.base.errors import InputError
from isochrone.base.text import printable

Scalar = int | float | str
"""A number, a number with its unit, or an expression."""

Schema = dict[str, Any]

_T = TypeVar("_T")


@dataclass(frozen=True)
class KeyPath:
    """A place in a description.

    Attributes
    ----------
    file
        The description's file, or what it was taken from.
    path
        Its keys, such as ``apps[0].phases[2].exchange.flow``; empty: the whole description.
    """

    file: str
    path: str = ""

    def key(self, name: str) -> KeyPath:
        """Return the place of a key below this one."""
        name = printable(name, 60)
        return KeyPath(self.file, f"{self.path}.{name}" if self.path else name)

    def item(self, index: int) -> KeyPath:
        """Return the place of an element of the list here, counted from 0."""
        return KeyPath(self.file, f"{self.path}[{index}]")

    def error(self, problem: str, hint: str = "") -> InputError:
        """Return the error that says what is wrong here."""
        where = ": ".join(location for location in (self.file, self.path) if location)
        return InputError(printable(problem, 400), where=where, hint=hint)


@dataclass(frozen=True)
class Given:
    """A number or an expression that was written somewhere."""

    value: Scalar
    at: KeyPath = field(compare=False)
    REF: ClassVar = "scalar"

    @classmethod
    def read(cls, value: object, at: KeyPath) -> Given:
        """Return what is there, with its place."""
        if not is_scalar(value):
            raise at.error(f"{_shown(value)} is not a number or an expression")
        return cls(value, at)

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        return {
            "description": "a number, a number with its unit (30us, 4KiB), or an expression",
            "type": ["number", "string"],
        }


Givens = tuple[Given, ...]

ZERO, ONE = (Given(number, KeyPath("")) for number in (0, 1))
"""What is meant where nothing is written."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """A mapping: its keys are the members that are compared, needed those without a default.

    The name of a member has an underscore where the key has a hyphen, and one more at its end where
    the key is a word of Python.
    """

    at: KeyPath = field(compare=False)


@dataclass(frozen=True)
class Whole:
    """Whole numbers of a range, written as such."""

    least: int
    most: int

    def read(self, value: object, at: KeyPath) -> int:
        """Return one."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise at.error("the value is not a whole number")
        if not self.least <= value <= self.most:
            raise at.error(f"{value} is not from {self.least} to {self.most}")
        return value

    def schema(self) -> Schema:
        """Return what it may be."""
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Most:
    """A list of at most so many of a kind."""

    kind: object
    most: int
    what: str

    def read(self, value: object, at: KeyPath) -> tuple[object, ...]:
        """Return all."""
        entries = listed(value, at)
        if len(entries) > self.most:
            raise at.error(f"the list has {len(entries)} {self.what}", f"at most {self.most}")
        return tuple(read(self.kind, entry, at.item(k)) for k, entry in enumerate(entries))

    def schema(self) -> Schema:
        """Return what it may be."""
        return _list(schema(self.kind)) | {"maxItems": self.most}


class Text:
    """A text that is not empty."""

    @staticmethod
    def read(value: object, at: KeyPath) -> str:
        """Return it."""
        if not isinstance(value, str) or not value:
            raise at.error("the value is not a text")
        return value

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        return {"type": "string", "minLength": 1}


class Name:
    """A name of an application or a phase."""

    REF: ClassVar = "name"
    _PATTERN: Final = r"[A-Za-z0-9_.-]{1,64}"

    @classmethod
    def read(cls, value: object, at: KeyPath) -> str:
        """Return it."""
        if not isinstance(value, str) or not re.fullmatch(cls._PATTERN, value):
            raise at.error(
                f"{_shown(value)} is not a name",
                "up to 64 letters, digits, dots, dashes, underscores",
            )
        return value

    @classmethod
    def schema(cls) -> Schema:
        """Return what it may be."""
        return {"type": "string", "pattern": f"^{cls._PATTERN}$"}


def read(kind: Any, value: object, at: KeyPath) -> Any:
    """Return a value of a kind.

    Raises
    ------
    InputError
        With the path of what is wrong.
    """
    if hasattr(kind, "read"):
        return kind.read(value, at)
    if kind is bool:
        if not isinstance(value, bool):
            raise at.error(f"{_shown(value)} is neither true nor false")
        return value
    of = get_args(kind)
    if not of:
        return declared(kind, value, at)
    if get_origin(kind) is Annotated:
        return of[1].read(value, at)
    if get_origin(kind) is Literal:
        return word(value, at, of)
    if get_origin(kind) is tuple:
        return tuple(read(of[0], entry, at.item(k)) for k, entry in enumerate(listed(value, at)))
    for alternative in of[1:]:  # what the others are written as
        if alternative is not NoneType and isinstance(
            value,
            bool if alternative is bool else list if get_origin(alternative) is tuple else dict,
        ):
            return read(alternative, value, at)
    return read(of[0], value, at)


def declared(
    kind: Callable[..., _T],
    value: object,
    at: KeyPath,
    keys: Collection[str] = (),
    needed: Sequence[str] = (),
) -> _T:
    """Return a declared mapping, of which only these keys are known and needed if that is said."""
    members = _members(kind)
    fields = {}
    for key, entry in mapping(value, at, keys or members, needed or _needed(kind)).items():
        name, of = members[key]
        fields[name] = read(of, entry, at.key(key))
    return kind(at=at, **fields)


@cache
def _members(kind: Any) -> dict[str, tuple[str, object]]:
    """Return the keys of a declared mapping, the name of the member of each, and what it is."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        member.name.rstrip("_").replace("_", "-"): (member.name, hints[member.name])
        for member in dataclasses.fields(kind)
        if member.compare
    }


def _needed(kind: Any) -> list[str]:
    missing = dataclasses.MISSING
    return [
        member.name.rstrip("_")
        for member in dataclasses.fields(kind)
        if member.compare and member.default is missing and member.default_factory is missing
    ]


def mapping(
    value: object, at: KeyPath, allowed: Collection[str], needed: Iterable[str] = ()
) -> dict[str, object]:
    """Return a mapping; refuse what is none, has another key, or lacks one.

    Raises
    ------
    InputError
        With what may be meant.
    """
    if not isinstance(value, dict):
        raise at.error(f"{_shown(value)} is not a mapping", f"keys: {', '.join(allowed)}")
    for key in value:
        if key not in allowed:
            close = get_close_matches(key, allowed, 1)
            hint = f"is {close[0]} meant?" if close else f"there are: {', '.join(allowed)}"
            raise at.key(key).error("the key is unknown", hint)
    for key in needed:
        if key not in value:
            raise at.key(key).error("the key is missing")
    return value


def single(
    value: object, at: KeyPath, allowed: Collection[str], problem: str, hint: str = ""
) -> tuple[str, object, KeyPath]:
    """Return the only key of a mapping, what is there, and its place; `problem` if there is none.

    Raises
    ------
    InputError
        If it is none of the known ones, or there are several.
    """
    written = mapping(value, at, allowed)
    if len(written) != 1:
        raise at.error(problem, hint)
    ((key, below),) = written.items()
    return key, below, at.key(key)


def is_scalar(value: object) -> TypeGuard[Scalar]:
    """Whether it is a number or a text."""
    return isinstance(value, int | float | str) and not isinstance(value, bool)


def word(value: object, at: KeyPath, allowed: Sequence[str]) -> str:
    """Return one of some words."""
    if value not in allowed:
        raise at.error(f"{_shown(value)} is not one of {', '.join(allowed)}")
    return str(value)


def listed(value: object, at: KeyPath) -> list[object]:
    """Return a list that is not empty."""
    if not isinstance(value, list):
        raise at.error(f"{_shown(value)} is not a list")
    if not value:
        raise at.error("the list is empty")
    return value


def _shown(value: object) -> str:
    """Name what was found, shortly."""
    if isinstance(value, bool):
        return str(value).lower()
    for kind, name in ((NoneType, "nothing"), (dict, "a mapping"), (list, "a list")):
        if isinstance(value, kind):
            return name
    return f"'{printable(value, 60)}'"


# --- the same as a JSON Schema --------------------------------------------------------------------


def schema(kind: object) -> Schema:
    """Return what a value of a kind may be."""
    if hasattr(kind, "REF"):
        return {"$ref": f"#/$defs/{kind.REF}"}
    return definition(kind)


def definition(kind: Any) -> Schema:
    """Return the same, without reference to itself."""
    if hasattr(kind, "schema"):
        custom: Schema = kind.schema()
        return custom
    if kind is bool:
        return {"type": "boolean"}
    of = [alternative for alternative in get_args(kind) if alternative is not NoneType]
    if not of:
        return declared_schema(kind)
    if get_origin(kind) is Annotated:
        return schema(of[1])
    if get_origin(kind) is Literal:
        return {"enum": of} if len(of) > 1 else {"const": of[0]}
    if get_origin(kind) is tuple:
        return _list(schema(of[0]))
    return one_of(*map(schema, of)) if len(of) > 1 else schema(of[0])


def declared_schema(kind: object) -> Schema:
    """Return what a declared mapping may be."""
    return keys_schema({key: schema(of) for key, (_, of) in _members(kind).items()}, _needed(kind))


def keys_schema(properties: Mapping[str, Schema], required: Iterable[str] = ()) -> Schema:
    """Return a mapping with known keys."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def single_schema(choices: Mapping[str, Schema]) -> Schema:
    """Return a mapping with one of some keys."""
    return keys_schema(choices) | {"minProperties": 1, "maxProperties": 1}


def one_of(*choices: Schema) -> Schema:
    """Return one of several."""
    return {"anyOf": list(choices)}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items, "minItems": 1}

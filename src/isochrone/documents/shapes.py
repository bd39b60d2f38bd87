"""The words in which documents are declared: small functions and constants that make JSON Schema.

An object has the keys that are declared and no others, and all of them unless said ``optional``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

__all__ = [
    "ANYTHING", "BOOLEAN", "BYTES", "CALL_PARTS", "COUNT", "HOSTS", "INTEGER", "NUMBER",
    "OPTIONS", "ORIGIN", "PART", "RANK", "RANKS", "RATE", "RATIO", "SECONDS", "SPREAD",
    "TEXT", "TEXTS", "TIMES", "VALUE",
    "WARNINGS", "Schema", "by_name", "described", "either", "list_of", "maybe", "one_of", "record",
]  # fmt: skip

Schema = dict[str, Any]


def record(
    keys: Mapping[str, Schema], *more: Mapping[str, Schema], optional: Iterable[str] = ()
) -> Schema:
    """Return an object with these keys, and no others."""
    properties = {name: shape for part in (keys, *more) for name, shape in part.items()}
    may = set(optional)
    assert may <= properties.keys(), f"not declared: {may - properties.keys()}"
    return {
        "type": "object", "additionalProperties": False, "properties": properties,
        "required": [name for name in properties if name not in may],
    }  # fmt: skip


def by_name(shape: Schema) -> Schema:
    """Return an object whose keys are names of something, with alike values."""
    return {"type": "object", "additionalProperties": shape}


def list_of(shape: Schema) -> Schema:
    """Return a list of alike values."""
    return {"type": "array", "items": shape}


def maybe(shape: Schema) -> Schema:
    """Return what may be null, which always means: not known, or there is none."""
    if set(shape) - {"description"} == {"type"} and isinstance(shape["type"], str):
        return {**shape, "type": [shape["type"], "null"]}
    return {"anyOf": [shape, {"type": "null"}]}


def either(*shapes: Schema) -> Schema:
    """Return what has one of several shapes."""
    return {"anyOf": list(shapes)}


def one_of(*words: str) -> Schema:
    """Return one of several words."""
    return {"enum": list(words)}


def described(shape: Schema, words: str) -> Schema:
    """Return a shape with what it means."""
    return {**shape, "description": words}


ANYTHING: Final[Schema] = {}
BOOLEAN: Final[Schema] = {"type": "boolean"}
INTEGER: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final[Schema] = list_of(TEXT)
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
SECONDS: Final[Schema] = {"type": "number", "description": "seconds"}
BYTES: Final[Schema] = {"type": "integer", "minimum": 0, "description": "bytes"}
RATE: Final[Schema] = {"type": "number", "description": "bytes a second"}
RATIO: Final[Schema] = {"type": "number", "description": "a ratio; 1 is no difference"}
PART: Final[Schema] = {"type": "number", "description": "a part of one: 0.1 is 10 %"}
RANK: Final[Schema] = {"type": "integer", "minimum": 0, "description": "number of a rank"}
RANKS: Final[Schema] = list_of(RANK)
HOSTS: Final[Schema] = described(TEXTS, "names of hosts")
VALUE: Final[Schema] = {"type": ["string", "number", "boolean", "null"]}
OPTIONS: Final[Schema] = described(
    by_name(either(VALUE, list_of(VALUE))), "options of the experiment, by name"
)
ORIGIN: Final[Schema] = described(
    TEXT, "measured, simulated, made up, imported or given; several joined by 'and'"
)
_WARNING: Final[Schema] = {
    "type": "object", "properties": {"code": TEXT, "text": TEXT}, "required": ["text"],
    "additionalProperties": VALUE,
}  # fmt: skip
WARNINGS: Final[Schema] = described(list_of(_WARNING), "what makes the numbers doubtful")
CALL_PARTS: Final = record(
    {name: maybe(SECONDS) for name in ("offsets", "counts", "exchange", "file", "rest")}
)
"""Of a collective call of MPI-IO."""

TIMES: Final[dict[str, Schema]] = {
    "n": described(COUNT, "repetitions"),
    "passes": described(COUNT, "visits to the point; 0 if not known"),
    "median": SECONDS,
    "low": described(maybe(SECONDS), "95 % interval of the median; null if not known"),
    "high": maybe(SECONDS),
    "min": SECONDS, "mean": SECONDS, "max": SECONDS,
}  # fmt: skip
"""Repetitions of one point, as numbers."""

SPREAD: Final[dict[str, Schema]] = {
    "stddev": maybe(SECONDS),
    **{
        name: described(maybe(SECONDS), f"what {part} of 100 repetitions stay below; null of few")
        for part in (95, 99)
        for name in (f"p{part}", f"p{part}_low", f"p{part}_high")
    },
}
"""How repetitions are spread; null where it is not known."""

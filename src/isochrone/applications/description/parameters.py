"""Names of an application that stand for numbers: parameters, and bounds of operations."""

from __future__ import annotations

from typing import ClassVar

from isochrone.applications.description import shapes
from isochrone.applications.description.expression import FUNCTIONS, NAME
from isochrone.applications.description.shapes import Given, KeyPath, Schema
from isochrone.base.operations import DESCRIBED

_TAKEN = ("p", "ranks", *FUNCTIONS)
"""No names for parameters: they mean something already."""

_MAX_PARAMETERS = 1000


class Parameters(dict[str, Given]):
    """Parameters by name, in their order."""

    REF: ClassVar = "parameters"

    @classmethod
    def read(cls, value: object, at: KeyPath) -> Parameters:
        """Return them."""
        if not isinstance(value, dict):
            raise at.error("the value is not a mapping of names to values")
        if len(value) > _MAX_PARAMETERS:
            raise at.error(
                f"the description has {len(value)} parameters", f"at most {_MAX_PARAMETERS}"
            )
        for name in value:
            cls.check(name, at.key(name))
        return cls((name, Given.read(written, at.key(name))) for name, written in value.items())

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        return {
            "type": "object",
            "maxProperties": _MAX_PARAMETERS,
            "propertyNames": Parameters.names_schema(),
            "additionalProperties": shapes.schema(Given),
        }

    @staticmethod
    def check(name: str, at: KeyPath) -> None:
        """Refuse what is no name of a number."""
        if not NAME.fullmatch(name):
            raise at.error(
                "the name of a parameter is invalid", "use letters, digits and underscores"
            )
        if name in _TAKEN:
            meaning = "a function" if name in FUNCTIONS else "the ranks of an application"
            raise at.error(f"'{name}' is {meaning}, not a parameter", "choose another name")

    @staticmethod
    def names_schema() -> Schema:
        """Return what names may be."""
        return {"pattern": f"^{NAME.pattern}$", "not": {"enum": list(_TAKEN)}}


class Bounds(dict[str, Given]):
    """Times of collective operations that are not worth a model, by their names."""

    @classmethod
    def read(cls, value: object, at: KeyPath) -> Bounds:
        """Return them."""
        bounds = shapes.mapping(value, at, DESCRIBED)
        return cls((op, Given.read(written, at.key(op))) for op, written in bounds.items())

    @staticmethod
    def schema() -> Schema:
        """Return what it may be."""
        return shapes.keys_schema(dict.fromkeys(DESCRIBED, shapes.schema(Given)))

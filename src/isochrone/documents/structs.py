"""Shapes of documents that are structs in the program: derived from them, and closed."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from isochrone.documents.shapes import Schema

__all__ = ["shapes_of"]

_LEFT_OUT: Final = ("title", "default")
"""What msgspec adds that says nothing here: every description would be that of the program."""


def shapes_of(*structs: type[msgspec.Struct]) -> tuple[list[Schema], dict[str, Schema]]:
    """Return references to the shapes of structs, and the definitions that they refer to."""
    found, definitions = msgspec.json.schema_components(structs, ref_template="#/$defs/{name}")
    return [_closed(one) for one in found], {
        name: _closed(one) for name, one in sorted(definitions.items())
    }


def _closed(shape: Any) -> Any:
    """Return a shape whose objects have no other keys than those declared."""
    if isinstance(shape, list):
        return [_closed(one) for one in shape]
    if not isinstance(shape, dict):
        return shape
    if "properties" not in shape:
        return {k: _closed(v) for k, v in shape.items() if k not in (*_LEFT_OUT, "description")}
    kept = {k: v for k, v in shape.items() if k not in (*_LEFT_OUT, "properties", "description")}
    words = str(shape.get("description", "")).splitlines()
    keys = {name: _closed(one) for name, one in shape["properties"].items()}
    more = {"description": words[0]} if words else {}
    return {**kept, **more, "properties": keys, "additionalProperties": False}

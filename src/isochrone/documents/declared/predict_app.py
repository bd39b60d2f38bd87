"""What ``predict app --json`` prints."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    COUNT,
    ORIGIN,
    SECONDS,
    TEXT,
    TEXTS,
    VALUE,
    by_name,
    described,
    list_of,
    maybe,
    one_of,
    record,
)

__all__ = ["DOCUMENT"]

_ROW: Final = record({
    "op": described(TEXT, "name of the application"),
    "phase": described(maybe(TEXT), "null: all of it"), "ranks": COUNT, "bytes": {"type": "null"},
    "per": one_of("run", "iteration"), "iterations": COUNT, "settings": by_name(VALUE),
    "seconds": SECONDS, "low": maybe(SECONDS), "high": maybe(SECONDS),
})  # fmt: skip

DOCUMENT: Final = Document(
    "Predicted times of described applications",
    record({"predictions": list_of(_ROW), "origin": maybe(ORIGIN), "warnings": TEXTS}),
    ("predict app",),
)

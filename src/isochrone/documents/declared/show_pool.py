"""What ``show --pool --json`` prints of several launches of one measurement."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    COUNT,
    PART,
    SECONDS,
    TEXT,
    TEXTS,
    VALUE,
    by_name,
    described,
    either,
    list_of,
    maybe,
    one_of,
    record,
)

__all__ = ["DOCUMENT"]

_POINT: Final = record({
    "key": by_name(either(VALUE, list_of(VALUE))), "n": described(COUNT, "launches"),
    "seconds": described(SECONDS, "typical time: median over the launches"),
    "low": maybe(SECONDS), "high": maybe(SECONDS),
    "next_low": described(maybe(SECONDS), "95 % interval for the next launch"),
    "next_high": maybe(SECONDS), "spread": maybe(PART),
})  # fmt: skip
_SHAPE: Final = record({
    "experiment": TEXT, "kind": TEXT, "launches": COUNT, "unit": one_of("launch"),
    "points": list_of(_POINT), "levels": list_of(_POINT),
    "differences": list_of(by_name(TEXT)), "notes": TEXTS,
})  # fmt: skip

DOCUMENT: Final = Document("Several launches of one measurement", _SHAPE, ("show",))

"""What ``predict collective-io --json`` prints."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    CALL_PARTS,
    COUNT,
    NUMBER,
    ORIGIN,
    RANKS,
    RATIO,
    SECONDS,
    TEXT,
    TEXTS,
    described,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_BYTES: Final = described(NUMBER, "bytes")
_NODE: Final = record({
    "node": COUNT, "host": TEXT, "intra": COUNT, "in": COUNT, "out": COUNT,
    "intra_bytes": _BYTES, "in_bytes": _BYTES, "out_bytes": _BYTES, "pa": NUMBER, "pe": NUMBER,
    "cost": SECONDS,
})  # fmt: skip
_GAIN: Final = {"gain": maybe(RATIO), "seconds": SECONDS}
_SHAPE: Final = record({
    "cost": described(SECONDS, "of a round of the exchange"), "low": maybe(SECONDS),
    "high": maybe(SECONDS), "hot_nodes": described(list_of(COUNT), "nodes that cost the most"),
    "rounds": COUNT, "seconds": described(SECONDS, "of the exchange"), "message_size": _BYTES,
    "nodes": list_of(_NODE), "origin": maybe(ORIGIN), "warnings": TEXTS,
    "aggregators": RANKS, "ranks": COUNT,
    "parts": CALL_PARTS,
    "whole": record({"seconds": maybe(SECONDS), "low": SECONDS, "high": maybe(SECONDS)}),
    "best_possible": record({
        **_GAIN, "why": TEXT, "by_order": record(_GAIN), "by_hints": maybe(SECONDS),
        "independent": maybe(SECONDS),
    }),
})  # fmt: skip

DOCUMENT: Final = Document(
    "A predicted collective write or read", _SHAPE, ("predict collective-io",)
)

"""What ``predict collective --grid --json`` prints."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    BYTES,
    COUNT,
    ORIGIN,
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

_PHASE: Final = record({
    "group": TEXT, "op": TEXT, "ranks": COUNT, "bytes": BYTES, "groups": COUNT, "seconds": SECONDS,
    "factor": described(RATIO, "by which groups at once slow each other down"),
})  # fmt: skip
_ROW: Final = record(
    {
        "op": TEXT, "ranks": COUNT, "bytes": BYTES, "grid": TEXT, "seconds": SECONDS,
        "low": maybe(SECONDS), "high": maybe(SECONDS), "phases": list_of(_PHASE),
        "together": RATIO,
        "verdict": described(TEXT, "what is cheapest: a grid, library, or within the noise"),
    },
    optional=["verdict"],
)  # fmt: skip
_BEST: Final = record({
    "op": TEXT, "ranks": COUNT, "bytes": BYTES, "grid": TEXT, "seconds": SECONDS, "verdict": TEXT,
})  # fmt: skip

DOCUMENT: Final = Document(
    "Predicted times of collective operations on grids of ranks",
    record({
        "predictions": list_of(_ROW), "best": maybe(list_of(_BEST)), "origin": maybe(ORIGIN),
        "warnings": TEXTS,
    }),
    ("predict collective",),
)  # fmt: skip

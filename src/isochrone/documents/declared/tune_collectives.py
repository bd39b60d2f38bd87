"""What ``tune collectives --json`` prints."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    BYTES,
    COUNT,
    ORIGIN,
    PART,
    SECONDS,
    TEXT,
    TEXTS,
    described,
    either,
    list_of,
    maybe,
    one_of,
    record,
)

__all__ = ["DOCUMENT"]

_RANGE: Final = described(list_of(BYTES), "smallest and largest block, both within")
_GRID_RULE: Final = record(
    {
        "op": TEXT, "ranks": COUNT, "bytes": _RANGE, "grid": TEXT,
        "points": described(
            {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            "bytes, seconds of the library, seconds of the grid",
        ),
        "nodes": COUNT,
    },
    optional=["nodes"],
)  # fmt: skip
_RULE: Final = record({
    "op": TEXT, "ranks": COUNT, "bytes": _RANGE, "algorithm": TEXT, "measured": BYTES,
})  # fmt: skip
_SAVING: Final = record({
    "op": TEXT, "ranks": COUNT, "nodes": maybe(COUNT), "bytes": BYTES, "library": SECONDS,
    "chosen": SECONDS, "gain": PART, "low": maybe(PART), "high": maybe(PART), "choice": TEXT,
    "against": TEXT,
    "algorithms": described(COUNT, "of the library that a grid was compared with"),
})  # fmt: skip
_SEEN: Final = record({
    "op": TEXT, "ranks": COUNT, "bytes": BYTES, "choice": TEXT,
    "verdict": one_of("in force", "not in force", "cannot tell"), "why": TEXT,
})  # fmt: skip
_SHAPE: Final = record({
    "mpi": TEXT, "origin": ORIGIN, "rules": list_of(either(_GRID_RULE, _RULE)), "files": TEXTS,
    "use": TEXTS, "savings": list_of(_SAVING), "verified": list_of(_SEEN), "warnings": TEXTS,
})  # fmt: skip

DOCUMENT: Final = Document("Chosen grids or algorithms", _SHAPE, ("tune collectives",))

"""What ``show --json`` prints of a hot spot."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.of_runs import shown
from isochrone.documents.shapes import (
    BYTES,
    COUNT,
    INTEGER,
    NUMBER,
    OPTIONS,
    PART,
    RANK,
    TEXT,
    TIMES,
    described,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_POINT: Final = record({
    "intra": COUNT, "in": COUNT, "out": COUNT, "pa": NUMBER, "pe": NUMBER, "order": TEXT,
    "hot": COUNT, "bytes": BYTES, "shape": TEXT, "busy": maybe(PART), **TIMES,
})  # fmt: skip
_SHAPE: Final = shown({
    "seconds_are": TEXT, "options": OPTIONS, "points": list_of(_POINT),
    "unreachable": list_of(record({"why": TEXT, "points": COUNT})),
    "roles": list_of(record({
        "rank": RANK, "role": TEXT, "group": INTEGER, "index": INTEGER, "host": TEXT,
    })),
})  # fmt: skip

DOCUMENT: Final = Document(
    "A hot spot: times by messages within the node, in and out",
    described(_SHAPE, "pa and pe are pairs of messages within a node and with other nodes"),
    ("show",),
)

"""What ``show --json`` prints of a collective write or read of tiles."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.of_runs import shown
from isochrone.documents.shapes import (
    BOOLEAN,
    BYTES,
    COUNT,
    OPTIONS,
    RANK,
    RATE,
    TEXT,
    TIMES,
    by_name,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_PHASE: Final = record(
    {
        "op": TEXT, "phase": TEXT, "p": COUNT, "bytes": BYTES, "rounds": COUNT, "n": COUNT,
        "times": by_name(record(TIMES)), "bandwidth": maybe(RATE), "bandwidth_low": maybe(RATE),
        "bandwidth_high": maybe(RATE),
    },
    optional=["rounds"],
)  # fmt: skip
_AGGREGATOR: Final = record({
    "domain": COUNT, "rank": RANK, "node": COUNT, "source": TEXT, "host": TEXT,
})  # fmt: skip
_NODE: Final = record({
    "node": COUNT, "intra": COUNT, "in": COUNT, "out": COUNT, "hot": BOOLEAN, "host": TEXT,
})  # fmt: skip
_SHAPE: Final = shown({
    "seconds_are": TEXT, "options": OPTIONS, "phases": list_of(_PHASE),
    "aggregators": list_of(_AGGREGATOR),
    "file_io": list_of(record({
        "rank": RANK, "node": COUNT, "bytes": BYTES, "op": TEXT, "host": TEXT,
    })),
    "hints": by_name(TEXT), "nodes": list_of(_NODE),
})  # fmt: skip

DOCUMENT: Final = Document("Collective I/O of tiles: phases and aggregators", _SHAPE, ("show",))

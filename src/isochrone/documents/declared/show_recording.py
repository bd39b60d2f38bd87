"""What ``show --json`` prints of a recorded program."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.of_runs import shown
from isochrone.documents.shapes import (
    COUNT,
    INTEGER,
    NUMBER,
    PART,
    RANK,
    SECONDS,
    TEXT,
    described,
    list_of,
    record,
)

__all__ = ["DOCUMENT"]

_BYTES: Final = described(NUMBER, "bytes")
_GROUP: Final = described(INTEGER, "of ranks of a collective; -1: of messages")
_SHAPE: Final = shown({
    "program": TEXT,
    "edges": list_of(record({
        "from": RANK, "to": RANK, "messages": COUNT, "bytes": _BYTES, "seconds": SECONDS,
    })),
    "operations": list_of(record({
        "op": TEXT, "bytes": _BYTES, "group": _GROUP, "members": COUNT,
        "calls": COUNT, "moved": _BYTES, "seconds": SECONDS, "most": SECONDS,
    })),
    "rank_times": list_of(record({
        "rank": RANK, "seconds": SECONDS, "communication": SECONDS, "computation": SECONDS,
        "recording": SECONDS, "calls": COUNT, "threads": COUNT, "share": PART,
    })),
})  # fmt: skip

DOCUMENT: Final = Document("What a program communicated", _SHAPE, ("show",))

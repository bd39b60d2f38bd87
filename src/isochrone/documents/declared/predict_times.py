"""What ``predict message --json`` and ``predict collective --json`` print."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    BYTES,
    COUNT,
    ORIGIN,
    SECONDS,
    TEXT,
    TEXTS,
    described,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_ASKED: Final = {
    "op": maybe(TEXT), "mode": maybe(TEXT), "ranks": maybe(COUNT), "nodes": maybe(COUNT),
    "ppn": described(maybe(COUNT), "ranks on a node"), "window": maybe(COUNT),
}  # fmt: skip
_ROW: Final = record(
    {
        **_ASKED, "bytes": maybe(BYTES), "seconds": SECONDS,
        "low": described(maybe(SECONDS), "95 % interval of a measured time"),
        "high": maybe(SECONDS),
    },
    optional=_ASKED,
)  # fmt: skip

DOCUMENT: Final = Document(
    "Predicted times of messages or collective operations",
    record({"predictions": list_of(_ROW), "origin": maybe(ORIGIN), "warnings": TEXTS}),
    ("predict message", "predict collective"),
)

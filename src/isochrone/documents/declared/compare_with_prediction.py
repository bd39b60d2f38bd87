"""What ``compare --with-prediction --json`` prints."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    BOOLEAN,
    COUNT,
    ORIGIN,
    PART,
    SECONDS,
    TEXT,
    TEXTS,
    described,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_ROW: Final = record({
    "app": TEXT, "phase": described(maybe(TEXT), "null: the whole application"),
    "measured": record({
        "n": COUNT, "seconds": SECONDS, "low": maybe(SECONDS), "high": maybe(SECONDS),
    }),
    "predicted": record({"seconds": SECONDS, "low": maybe(SECONDS), "high": maybe(SECONDS)}),
    "away": described(maybe(PART), "how far the prediction is from what was measured"),
    "held": described(BOOLEAN, "whether the measured time is in the predicted interval"),
})  # fmt: skip

DOCUMENT: Final = Document(
    "Emulated applications against what models predict",
    record({"compared": list_of(_ROW), "origin": maybe(ORIGIN), "warnings": TEXTS}),
    ("compare",),
)

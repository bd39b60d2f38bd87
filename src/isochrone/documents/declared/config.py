"""What ``config --json`` prints: the settings, and where each came from."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import BOOLEAN, TEXT, VALUE, either, list_of, record

__all__ = ["DOCUMENT"]

_SETTING: Final = record({
    "key": TEXT, "value": either(VALUE, list_of(VALUE)), "source": TEXT, "where": TEXT,
    "variable": TEXT, "default": TEXT,
})  # fmt: skip

DOCUMENT: Final = Document(
    "What is configured, and where each value came from",
    record({
        "settings": list_of(_SETTING),
        "files": list_of(record({"source": TEXT, "path": TEXT, "exists": BOOLEAN})),
    }),
    ("config",),
)  # fmt: skip

"""What ``baseline show --json`` prints: typical times of the runs of a folder."""

from __future__ import annotations

from typing import Final

from isochrone.documents.declared.baseline_list import GROUP
from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    BYTES,
    COUNT,
    SECONDS,
    TEXT,
    described,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_TIME: Final = record({
    "kind": TEXT, "who": TEXT, "bytes": maybe(BYTES), "points": COUNT,
    "runs": described(COUNT, "those that are not odd"), "seconds": SECONDS,
    "low": described(maybe(SECONDS), "95 % interval of the next run; null of fewer than two"),
    "high": maybe(SECONDS),
})  # fmt: skip

DOCUMENT: Final = Document(
    "Typical times of the runs of a baseline, and between which the next run will be",
    record({"folder": TEXT, "groups": list_of(record({**GROUP, "times": list_of(_TIME)}))}),
    ("baseline show",),
)

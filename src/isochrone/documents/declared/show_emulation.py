"""What ``show --json`` prints of emulated applications."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.of_runs import shown
from isochrone.documents.shapes import (
    BOOLEAN,
    BYTES,
    COUNT,
    NUMBER,
    OPTIONS,
    PART,
    RANK,
    RANKS,
    RATIO,
    SECONDS,
    TEXT,
    TEXTS,
    Schema,
    described,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_WHO: Final[dict[str, Schema]] = {"app": TEXT, "beside": TEXTS}
_ESTIMATE: Final = {"n": COUNT, "low": maybe(SECONDS), "high": maybe(SECONDS)}
_RATIO: Final = {
    "n": COUNT, "ratio": maybe(RATIO), "low": maybe(RATIO), "high": maybe(RATIO),
}  # fmt: skip
_PERCENTILES: Final = ("p50", "p90", "p99", "p99.9")
_APP: Final = record({
    "name": TEXT, "ranks": RANKS, "iterations": COUNT, "background": BOOLEAN, "phases": TEXTS,
})  # fmt: skip
_SHAPE: Final = shown({
    "options": OPTIONS, "apps": list_of(_APP), "repeats": COUNT,
    "walls": list_of(record({
        **_WHO, **_ESTIMATE, "seconds": SECONDS, "overlap": maybe(PART), "each": list_of(SECONDS),
    })),
    "slowdowns": list_of(record({
        **_WHO, **_RATIO, "differs": BOOLEAN, "p99": maybe(record(_RATIO)),
    })),
    "iterations": list_of(record({
        **_WHO, "n": COUNT, **dict.fromkeys(_PERCENTILES, maybe(SECONDS)), "max": SECONDS,
    })),
    "shares": list_of(record({
        **_WHO, "communication": record({"min": PART, "mean": PART, "max": PART}),
        "delivered": maybe(PART), "switches_per_second": maybe(NUMBER),
    })),
    "phases": list_of(record({
        **_WHO, "phase": TEXT, **_ESTIMATE, "seconds": SECONDS, "max": SECONDS,
    })),
    "edges": list_of(record({
        "app": TEXT, "from": RANK, "to": RANK, "messages": COUNT, "bytes": BYTES,
    })),
})  # fmt: skip

DOCUMENT: Final = Document(
    "Emulated applications: times, slowdowns, phases",
    described(_SHAPE, "times of an application alone and with others"),
    ("show",),
)

"""What ``show --json`` prints of a latency map."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.of_runs import shown
from isochrone.documents.shapes import (
    BOOLEAN,
    BYTES,
    COUNT,
    HOSTS,
    INTEGER,
    PART,
    RANKS,
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

_LEVEL: Final = record({
    "level": described(INTEGER, "0 is the closest pairs"), "name": TEXT, "median": maybe(SECONDS),
    "low": maybe(SECONDS), "high": maybe(SECONDS), "pairs": COUNT,
    "groups": described(list_of(RANKS), "ranks that are together at this level"),
})  # fmt: skip
_SLOW: Final = record(
    {
        "kind": described(TEXT, "rank, node, switch, pair …"), "who": TEXT, "ratio": RATIO,
        "ranks": RANKS, "hosts": HOSTS, "level": INTEGER,
        "seconds": SECONDS, "expected": SECONDS, "pairs": COUNT,
        "added": SECONDS, "added_low": SECONDS, "added_high": SECONDS,
        "ratios": list_of(record({"level": INTEGER, "ratio": RATIO})),
        "instead": described(TEXTS, "what else it may be"),
        "retested": BOOLEAN, "evidence": described(TEXT, "what was seen, in a sentence"),
        "first": described(SECONDS, "what it took before it was measured again"),
        "suspected": described(BOOLEAN, "seen once only: measure it again"),
    },
    optional=["first", "suspected"],
)  # fmt: skip
_SHAPE: Final = shown({
    "bytes": BYTES, "levels": list_of(_LEVEL),
    "placement": record({"kind": TEXT, "ranks_per_node": list_of(COUNT)}),
    "slow": list_of(_SLOW), "minor": list_of(_SLOW), "least": PART,
    "not_understood": record({"pairs": COUNT, "from": RATIO, "to": RATIO}),
})  # fmt: skip

DOCUMENT: Final = Document("A latency map: levels, placement, slow parts", _SHAPE, ("show",))

"""What ``place nodes --json`` prints."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.launched import SPEEDUP
from isochrone.documents.shapes import (
    BOOLEAN,
    COUNT,
    HOSTS,
    ORIGIN,
    PART,
    RANK,
    SECONDS,
    TEXT,
    TEXTS,
    by_name,
    described,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_MORE: Final = {
    "verified": described(BOOLEAN, "whether every rank lands where it should"),
    "misplaced": list_of(record({"rank": RANK, "wanted": TEXT, "found": TEXT})),
    "measured": SPEEDUP,
}  # fmt: skip
_SHAPE: Final = record(
    {
        "order": described(list_of(COUNT), "indices of the nodes as they were given"),
        "nodes": described(list_of(COUNT), "ranks on each, in this order"), "hosts": HOSTS,
        "cost": described(SECONDS, "of a round"), "given_cost": SECONDS, "origin": maybe(ORIGIN),
        "lower_bound": SECONDS,
        "gap": maybe(described(PART, "by which a better order may be better")),
        "proven": BOOLEAN,
        "exchanges": described(BOOLEAN, "whether anything is exchanged, so that the order matters"),
        "method": TEXT, "others": by_name(SECONDS), "files": TEXTS,
        "commands": TEXTS, "warnings": TEXTS, **_MORE,
    },
    optional=_MORE,
)  # fmt: skip

DOCUMENT: Final = Document("The best order of nodes", _SHAPE, ("place nodes",))

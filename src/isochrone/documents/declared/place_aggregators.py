"""What ``place aggregators --json`` prints."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.launched import SPEEDUP
from isochrone.documents.shapes import (
    BOOLEAN,
    BYTES,
    COUNT,
    HOSTS,
    ORIGIN,
    PART,
    RANKS,
    RATIO,
    SECONDS,
    TEXT,
    TEXTS,
    by_name,
    described,
    either,
    list_of,
    maybe,
    one_of,
    record,
)

__all__ = ["DOCUMENT"]

_ORDER: Final = described(list_of(COUNT), "indices of the hosts")
_CHOICE: Final = record({
    "config": described(TEXT, "cb_config_list"), "nodes": maybe(COUNT), "buffer": maybe(BYTES),
    "collective": maybe(BOOLEAN),
    "stripes": maybe(record({"count": COUNT, "size": BYTES, "ratio": COUNT})),
    "lever": TEXT, "words": TEXT, "seconds": SECONDS, "gain": RATIO,
    "lower_bound": maybe(SECONDS), "memory": maybe(BYTES), "aggregators": COUNT,
})  # fmt: skip
_COMMON: Final = {
    "order": _ORDER, "hosts": HOSTS, "seconds": SECONDS, "given_seconds": SECONDS,
    "aggregators": RANKS, "memory": maybe(BYTES), "origin": maybe(ORIGIN),
    "cb_config_list": maybe(TEXT), "hints": by_name(TEXT), "files": TEXTS, "environment": TEXTS,
    "no_effect": described(TEXTS, "where the hints have no effect"), "commands": TEXTS,
    "cost": SECONDS, "given_cost": SECONDS, "lower_bound": maybe(SECONDS), "gap": maybe(PART),
    "proven": BOOLEAN, "named": COUNT, "warnings": TEXTS, "measured": SPEEDUP,
}  # fmt: skip
_BY_ORDER: Final = record(
    {
        **_COMMON, "rounds": COUNT, "choose": one_of("order"), "all_would_gain": maybe(RATIO),
    },
    optional=["measured"],
)  # fmt: skip
_BY_ALL: Final = record(
    {
        **_COMMON, "choose": one_of("all"), "of": one_of("call", "exchange"),
        "parts": maybe(by_name(maybe(SECONDS))), "levers": by_name(_CHOICE),
        "choices": list_of(_CHOICE),
        "node_order": maybe(record({"order": _ORDER, "seconds": SECONDS})),
        "romio": maybe(_CHOICE),
    },
    optional=["measured"],
)  # fmt: skip

DOCUMENT: Final = Document(
    "The best aggregators of collective I/O", either(_BY_ORDER, _BY_ALL), ("place aggregators",)
)

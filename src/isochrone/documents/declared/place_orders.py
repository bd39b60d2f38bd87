"""The file of compared orders, which ``place orders --json`` prints, too."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.shapes import (
    COUNT,
    HOSTS,
    NUMBER,
    ORIGIN,
    PART,
    SECONDS,
    TEXT,
    TEXTS,
    described,
    list_of,
    maybe,
    one_of,
    record,
)

__all__ = ["DOCUMENT"]

_ORDER: Final = record({
    "names": TEXTS, "order": list_of(COUNT), "hosts": HOSTS, "nodes": list_of(COUNT),
    "predicted": maybe(SECONDS), "low": maybe(SECONDS), "high": maybe(SECONDS),
    "measured": maybe(SECONDS), "measured_low": maybe(SECONDS), "measured_high": maybe(SECONDS),
    "deviation": maybe(PART), "times": described(list_of(SECONDS), "of each launch"),
})  # fmt: skip
_SHAPE: Final = record({
    "record": one_of("orders"), "format": COUNT, "what": TEXT, "op": TEXT, "expected": TEXT,
    "timed": TEXT, "origin": maybe(ORIGIN), "model_origin": maybe(ORIGIN), "launches": COUNT,
    "orders": list_of(_ORDER), "tied": COUNT, "given": maybe(COUNT), "fastest": maybe(COUNT),
    "mean_deviation": maybe(PART), "worst_deviation": maybe(PART),
    "rank_correlation": maybe(NUMBER), "rank_correlation_low": maybe(NUMBER),
    "rank_correlation_high": maybe(NUMBER), "regret": maybe(PART), "regret_low": maybe(PART),
    "regret_high": maybe(PART), "gain_reached": maybe(PART), "warnings": TEXTS,
    "words": described(TEXTS, "the verdict in sentences"),
})  # fmt: skip

DOCUMENT: Final = Document("Orders that were compared", _SHAPE, ("place orders",))

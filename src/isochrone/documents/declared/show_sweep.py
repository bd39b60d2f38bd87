"""What ``show --json`` prints of a sweep over message sizes."""

from __future__ import annotations

from typing import Final

from isochrone.documents.document import Document
from isochrone.documents.grids import GRIDS
from isochrone.documents.of_runs import shown
from isochrone.documents.shapes import (
    BYTES,
    COUNT,
    NUMBER,
    OPTIONS,
    RANKS,
    RATE,
    RATIO,
    SECONDS,
    SPREAD,
    TEXT,
    TIMES,
    described,
    list_of,
    maybe,
    record,
)

__all__ = ["DOCUMENT"]

_POINT: Final = record(
    {
        "bytes": BYTES, **TIMES, **SPREAD, "bandwidth": maybe(RATE),
        "bandwidth_low": RATE, "bandwidth_high": RATE,
        "message_rate": described(NUMBER, "messages a second"), "skew": SECONDS,
        "rank_mean": SECONDS, "t_op": SECONDS,
    },
    optional=[
        "bandwidth_low", "bandwidth_high", "message_rate", "skew", "rank_mean", "t_op",
    ],
)  # fmt: skip
_SWITCH: Final = record({
    "after": BYTES, "before": BYTES, "jump": SECONDS, "ratio": RATIO,
    "bandwidth_before": maybe(RATE), "bandwidth_after": maybe(RATE),
})  # fmt: skip
_KEY: Final = {
    "pair": RANKS, "pairs": COUNT, "op": TEXT, "grid": TEXT, "phase": TEXT, "groups": COUNT,
}  # fmt: skip
_CURVE: Final = record(
    {
        **_KEY, "p": described(COUNT, "ranks that took part"), "points": list_of(_POINT),
        "switches": described(list_of(_SWITCH), "sizes between which the protocol changes"),
        "slowest": list_of(record({"ranks": RANKS, "ratio": RATIO, "last": NUMBER})),
    },
    optional=[*_KEY, "slowest"],
)  # fmt: skip
_SHAPE: Final = shown(
    {
        "seconds_are": described(TEXT, "what a time is, in words"), "options": OPTIONS,
        "curves": list_of(_CURVE), "grids": GRIDS,
        "bystanders": described(RANKS, "ranks without a partner"),
    },
    optional=["grids"],
)  # fmt: skip

DOCUMENT: Final = Document("A sweep over message sizes: curves", _SHAPE, ("show",))

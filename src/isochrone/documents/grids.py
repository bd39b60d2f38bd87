"""Operations on grids of ranks, as in the document of a sweep."""

from __future__ import annotations

from typing import Final

from isochrone.documents.shapes import (
    BYTES,
    COUNT,
    RATIO,
    SECONDS,
    TEXT,
    list_of,
    maybe,
    one_of,
    record,
)

__all__ = ["GRIDS"]

_POINT: Final = record(
    {
        "op": TEXT, "ranks": COUNT, "bytes": BYTES, "grid": TEXT, "phase": TEXT, "groups": COUNT,
        "n": COUNT, "seconds": SECONDS, "low": maybe(SECONDS), "high": maybe(SECONDS),
        "phase_op": TEXT, "phase_ranks": COUNT, "phase_bytes": BYTES, "nodes": COUNT, "ppn": COUNT,
    },
    optional=["phase_op", "phase_ranks", "phase_bytes"],
)  # fmt: skip
_GAIN: Final = record({
    "op": TEXT, "p": COUNT, "bytes": BYTES, "grid": TEXT, "seconds": SECONDS, "library": SECONDS,
    "ratio": RATIO, "low": maybe(RATIO), "high": maybe(RATIO),
    "verdict": one_of("faster", "slower", "within the noise"),
})  # fmt: skip
_PARTS: Final = record(
    {
        "op": TEXT, "p": COUNT, "bytes": BYTES, "grid": TEXT, "total": SECONDS, "LG": SECONDS,
        "CG": SECONDS, "ratio": RATIO, "low": maybe(RATIO), "high": maybe(RATIO),
    },
    optional=["LG", "CG"],
)  # fmt: skip
_DISTURBANCE: Final = record({
    "op": TEXT, "ranks": COUNT, "grid": TEXT, "phase": TEXT, "phase_op": TEXT,
    "phase_ranks": COUNT, "phase_bytes": BYTES, "groups": COUNT, "factor": RATIO,
    "low": maybe(RATIO), "high": maybe(RATIO), "sharing": COUNT, "bytes": BYTES,
})  # fmt: skip
GRIDS: Final = record({
    "points": list_of(_POINT), "gains": list_of(_GAIN), "best": list_of(_GAIN),
    "phases": list_of(_PARTS), "disturbances": list_of(_DISTURBANCE),
})  # fmt: skip

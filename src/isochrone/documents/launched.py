"""Settings that were launched in turns and compared, as several documents have it."""

from __future__ import annotations

from typing import Final

from isochrone.documents.shapes import COUNT, ORIGIN, RATIO, SECONDS, described, record

__all__ = ["SPEEDUP"]

SPEEDUP: Final = record({
    "given": SECONDS, "proposed": SECONDS,
    "ratio": described(RATIO, "given over proposed: above 1 is faster"), "low": RATIO,
    "high": RATIO, "launches": COUNT, "origin": ORIGIN,
})  # fmt: skip

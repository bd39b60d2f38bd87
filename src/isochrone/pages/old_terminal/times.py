"""How ``isochrone show`` prints repetitions of one thing."""

from __future__ import annotations

from isochrone.base.units import format_seconds
from isochrone.runfile.samples import Times

__all__ = ["interval"]


def interval(times: Times) -> str:
    """Write an interval with one unit if both ends have the same."""
    if times.n < 2:
        return "–"
    low, high = format_seconds(times.low), format_seconds(times.high)
    number, _, unit = low.partition(" ")
    return f"{number} … {high}" if high.endswith(f" {unit}") else f"{low} … {high}"

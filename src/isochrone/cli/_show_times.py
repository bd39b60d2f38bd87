"""How ``isochrone show`` prints repetitions of one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isochrone.repetitions import Times

__all__ = ["interval"]


def interval(times: Times) -> str:
    """Write an interval with one unit if both ends have the same."""
    from isochrone.units import format_seconds

    if times.n < 2:
        return "–"
    low, high = format_seconds(times.low), format_seconds(times.high)
    number, _, unit = low.partition(" ")
    return f"{number} … {high}" if high.endswith(f" {unit}") else f"{low} … {high}"

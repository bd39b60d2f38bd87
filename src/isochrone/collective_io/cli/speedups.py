"""A measured gain in words."""

from __future__ import annotations

from isochrone.base.units import format_seconds
from isochrone.measure.speedup import Speedup

__all__ = ["measured_line"]


def measured_line(gain: Speedup) -> str:
    """Return a sentence: before, after, ratio and interval."""
    return (
        f"{gain.origin.capitalize()}: {format_seconds(gain.given)} as given, "
        f"{format_seconds(gain.proposed)} as proposed: {gain.ratio:.2f} times as fast "
        f"(95 % interval {gain.low:.2f} to {gain.high:.2f}, {gain.launches} launches each)"
    )

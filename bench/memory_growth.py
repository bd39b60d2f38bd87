"""Whether the memory of a process grows, out of its size at many moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

__all__ = ["Growth", "growth"]

BLOCKS: Final = 16
"""Parts of the time, each with one size, its median: within a part sizes depend on each other."""

SETTLED: Final = 0.25
"""Share of the time at the beginning in which caches and pools are filled."""

SMALLEST: Final = 256 * 1024
"""Bytes that an allocator may take at once and keep; less in a half of the time is no growth."""

CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Growth:
    """Bytes per minute with the 95 % interval, and whether that is a leak."""

    per_minute: float
    low: float
    high: float
    leaks: bool


def growth(seconds: ArrayLike, sizes: ArrayLike) -> Growth:
    """Fit a line to the medians of parts of the time.

    A leak goes on: the slope is above zero with confidence, and memory grows in the first and in
    the second half by more than an allocator takes at once. One step, or a saw, is none.

    Parameters
    ----------
    seconds
        Moments, ascending.
    sizes
        Bytes at each of them; at least three for each of the parts.
    """
    times, bytes_ = np.asarray(seconds, float), np.asarray(sizes, float)
    kept = times >= times[0] + SETTLED * (times[-1] - times[0])
    middles, medians = _blocks(times[kept], bytes_[kept])
    fit = stats.linregress(middles / 60, medians)
    spread = fit.stderr if np.ptp(medians) > 0 else 0.0
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, BLOCKS - 2) * spread
    half = BLOCKS // 2
    halves = (_rise(medians[:half]), _rise(medians[half:]))
    leaks = fit.slope - reach > 0 and min(halves) > SMALLEST
    return Growth(fit.slope, fit.slope - reach, fit.slope + reach, bool(leaks))


def _blocks(
    times: NDArray[np.float64], sizes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if len(times) < 3 * BLOCKS:
        raise ValueError(f"{len(times)} sizes are too few for {BLOCKS} parts")
    parts = list(zip(np.array_split(times, BLOCKS), np.array_split(sizes, BLOCKS), strict=True))
    return (
        np.array([time.mean() for time, _ in parts]),
        np.array([np.median(size) for _, size in parts]),
    )


def _rise(medians: NDArray[np.float64]) -> float:
    """Return how much the later of some sizes are above the earlier ones."""
    third = max(1, len(medians) // 3)
    return float(np.median(medians[-third:]) - np.median(medians[:third]))

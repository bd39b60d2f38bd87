"""Repetitions that fall into two groups, such as those of two protocols: their median is of one.

At a point, the sorted logarithms of the times are parted at a gap. In a distribution with a single
peak, spacings grow with the distance from the peak, so the gap is no wider than those of one of its
sides; it takes the part x or more of itself and of r spacings like it with the chance (1 - x)^r
(David & Nagaraja 2003, *Order Statistics*, 6.4). Both sides must be that much denser. The outermost
tenths, which outliers stretch, are no part of a side; and since a tenth of the repetitions may be
disturbed, so many slow ones as are found must not be likely of that. The chances at all points are
judged together (Berk & Jones 1979, *Goodness-of-fit test statistics that dominate the Kolmogorov
statistics*).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

__all__ = ["TwoGroups", "two_groups"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]

FALSE_ALARMS: Final = 0.002
"""Chance below which so many points with so unlikely gaps are no chance."""

DISTURBED: Final = 0.1
"""Part of the repetitions that are slow by a disturbance and make no second group."""

MIN_RATIO: Final = 1.1
"""Groups that are nearer than this do not matter beside what a formula misses."""

_LEAST: Final = 3
"""Fewest repetitions of a group; a fifth of all if that is more."""

_TICKS: Final = 2.5
"""A gap of fewer steps of the clock is none."""


@dataclass(frozen=True)
class TwoGroups:
    """Points whose repetitions fall into two groups.

    Attributes
    ----------
    points
        Their numbers.
    ratio
        How many times longer the slower group takes, at each; shape (points,).
    share
        Part of the repetitions in the smaller group, at each; shape (points,).
    """

    points: Index
    ratio: Array
    share: Array


def two_groups(seconds: Array, point: Index) -> TwoGroups:
    """Find the points whose repetitions fall into two groups.

    Parameters
    ----------
    seconds
        Measured times, shape (n,).
    point
        Number of the point of each, from 0, none left out; shape (n,).
    """
    order = np.lexsort((seconds, point))
    counts = np.bincount(point)
    first = np.cumsum(counts) - counts
    steps = np.diff(np.unique(seconds))  # the smallest is the resolution of a coarse clock
    steps = steps[steps > 1e-9 * seconds.min()]
    tick = float(steps.min()) if len(steps) else 0.0
    found = [
        _part(seconds[order][first[own, None] + np.arange(n)], own, tick)
        for n in np.unique(counts[counts >= 2 * _LEAST]).tolist()
        if len(own := np.flatnonzero(counts == n))
    ]
    if not found:
        return TwoGroups(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    chance, points, ratio, share = (np.concatenate(column) for column in zip(*found, strict=True))
    rank = np.argsort(chance, kind="stable")
    number = np.arange(1, len(rank) + 1)
    together = bdtrc(number - 1.0, len(rank), chance[rank])
    taken = rank[: np.flatnonzero(together <= FALSE_ALARMS).max(initial=-1) + 1]
    taken = taken[np.argsort(points[taken])]
    return TwoGroups(points[taken], ratio[taken], share[taken])


def _part(rows: Array, own: Index, tick: float) -> tuple[Array, Index, Array, Array]:
    """Part the repetitions of points with as many each, shape (points, n), sorted.

    Returns
    -------
    tuple
        For each point the chance of such a gap, its number, the ratio of the two groups and the
        share of the smaller one.
    """
    n = rows.shape[1]
    cut = n // 10
    least = max(_LEAST, -(-n // 5))
    split = np.arange(least, n - least + 1)
    logs = np.log(rows)
    gap = logs[:, split] - logs[:, split - 1]
    gap = np.where(rows[:, split] - rows[:, split - 1] > _TICKS * tick, gap, 0.0)
    lower = logs[:, split - 1] - logs[:, [cut]]
    upper = logs[:, [n - 1 - cut]] - logs[:, split]
    chances = [
        (side / np.maximum(gap + side, 1e-300)) ** spacings
        for side, spacings in ((lower, split - 1 - cut), (upper, n - 1 - cut - split))
    ]
    likely = np.where(gap > 0, np.maximum(*chances) * len(split), 1.0)
    likely = np.maximum(likely, bdtrc(n - split - 1.0, n, DISTURBED))
    best = likely.argmin(axis=1)
    each = np.arange(len(rows))
    chance = np.minimum(likely[each, best], 1.0)
    size = split[best]
    ratio = np.exp(logs[each, (size + n) // 2] - logs[each, size // 2])
    chance = np.where(ratio < MIN_RATIO, 1.0, chance)
    return chance, own, ratio, np.minimum(size, n - size) / n

"""What a pair of ranks that was not measured takes: its level, and what is slow on its path."""

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.record import Record
from isochrone.base.stats import INTERVAL_HALF
from isochrone.latency_map.explanation import Explanation
from isochrone.latency_map.partitions import Partition
from isochrone.latency_map.times import Times


class Estimator(Record):
    """Estimates the times of pairs by the explanation of a map.

    Attributes
    ----------
    node
        Node of each rank.
    cost
        What each rank adds by itself, in seconds.
    outer, inner
        The explanations between nodes and within them; None where nothing was measured.
    spread
        Relative standard deviation of the pairs of ranks of two nodes.
    """

    node: Partition
    cost: Floats
    outer: Explanation | None
    inner: Explanation | None
    spread: float

    def of(self, i: Ints, j: Ints) -> tuple[Floats, Floats]:
        """Return the round trips of pairs of ranks, and half of their 95 % intervals, in seconds.

        NaN where no pair of the same level was measured. The interval holds the times of pairs that
        nothing single slows: a slow pair is seen only if it is measured.
        """
        seconds, half = np.full((2, len(i)), np.nan)
        a, b = self.node[i], self.node[j]
        outer = a != b
        if self.outer is not None:
            own = _estimate(self.outer, self.spread, a[outer], b[outer])
            seconds[outer], half[outer] = own
            seconds[outer] += self.cost[i[outer]] + self.cost[j[outer]]
        if self.inner is not None:
            seconds[~outer], half[~outer] = _estimate(self.inner, 0.0, i[~outer], j[~outer])
        return seconds, half


def _estimate(fit: Explanation, spread: float, i: Ints, j: Ints) -> tuple[Floats, Floats]:
    """Return the times of pairs of units by an explanation, and half of their intervals."""
    none = np.zeros(len(i))
    times = Times(len(fit.chain[-1]), i, j, none, none, fit.chain[-1])
    seconds, variance = fit.base_of(times) + fit.extra(times, fit.seconds), none
    for part, error in zip(fit.parts, fit.errors, strict=True):
        variance = variance + fit.added(part, error, times) ** 2
    scatter = seconds * np.hypot(fit.spread, spread)
    return seconds, INTERVAL_HALF * np.sqrt(variance + scatter**2)

"""Times between groups of units, as blocks; and which hierarchies of the groups they speak for."""

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.stats import distinct, median_of, medians_by, row_medians
from isochrone.latency_map.partitions import Partition, level_of

CELL = 3.0
"""Nats that it takes to write down the time of a block, relative to the noise."""

STRAY = 8.0
"""Nats that a pair costs at most, however far off it is."""

OTHER = 6.0
"""Nats that a block costs whose time is not that of its level."""

LEAST_ERROR = 0.01
"""Relative error of a time, at least."""

QUANTILES = np.linspace(0, 1, 25)
"""Blocks whose time may be that of their level."""


class Blocks:
    """The times between groups, what each unit costs beyond them, and how well they fit.

    Attributes
    ----------
    groups
        Group of each unit.
    seconds
        Time between each two groups, and within each.
    added
        What each two units cost beyond the time of their groups.
    expected
        Time between each two units by blocks and costs.
    """

    def __init__(self, times: Floats, groups: Partition, noise: float) -> None:
        self.times, self.groups, self.noise = times, groups, noise
        blocks = block_medians(times, groups)
        rest = times - blocks[np.ix_(groups, groups)]
        np.fill_diagonal(rest, np.nan)
        cost = row_medians(rest)
        # what all units of a group cost is the group's
        cost -= medians_by(groups, cost)[1][groups]
        self.added = cost[:, None] + cost
        self.seconds = block_medians(times - cost[:, None] - cost, groups)
        self.expected = self.seconds[np.ix_(groups, groups)] + cost[:, None] + cost

    @cached_property
    def within(self) -> float:
        """About how many nats the times take if the blocks and costs are known."""
        return self._nats(self.expected, self.expected)

    @cached_property
    def nats(self) -> float:
        """About how many nats it takes to write the times down by blocks and costs."""
        count = int(self.groups.max()) + 1
        return self.within + CELL * count * (count + 1) / 2

    @cached_property
    def plain(self) -> float:
        """The same with one time between all groups and one within all."""
        same = self.groups[:, None] == self.groups
        upper = np.triu(np.ones_like(same), 1)
        near, far = (median_of(self.expected[pairs & upper]) for pairs in (same, ~same))
        level = np.where(same, near, far)
        return self._nats(level + self.added, level)

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Floats, Floats]:
        """One unit of either group of each block with pairs, its time, and the relative error."""
        size = np.bincount(self.groups)
        a, b = np.triu_indices(len(size))
        seen = (a != b) | (size[a] > 1)
        a, b = a[seen], b[seen]
        pairs = np.where(a == b, size[a] * (size[a] - 1) / 2, size[a] * size[b])
        error = np.maximum(self.noise / np.sqrt(pairs), LEAST_ERROR)
        first = np.unique(self.groups, return_index=True)[1]
        return first[a], first[b], self.seconds[a, b], error

    def by_levels(self, chain: Sequence[Partition]) -> float:
        """Estimate the nats by the levels of a hierarchy; blocks at other times have their price.

        Parameters
        ----------
        chain
            The hierarchy above these groups: itself, and coarser ones.
        """
        a, b, seconds, error = self.cells
        level = level_of(chain, a, b)
        total = self.within
        for k in distinct(level):
            here = level == k
            ordered = np.sort(seconds[here])
            usual = ordered[np.rint(QUANTILES * (len(ordered) - 1)).astype(int)]
            rest = (seconds[here] / usual[:, None] - 1) / error[here]
            total += float(np.minimum(0.5 * rest**2, OTHER).sum(axis=1).min())
        return total

    def _nats(self, expected: Floats, level: Floats) -> float:
        """Return about how many nats the times take where others are expected."""
        rest = (self.times - expected) / np.maximum(level, 0.2 * self.times)
        np.fill_diagonal(rest, 0.0)
        core = 0.5 * (rest / max(self.noise, LEAST_ERROR)) ** 2
        return float(np.minimum(core, STRAY).sum() / 2)


@lru_cache(maxsize=16)
def _pairs(units: int) -> tuple[Ints, Ints]:
    """Return the two ends of all pairs of so many units; not to be written to."""
    return np.triu_indices(units, 1)


def block_medians(times: Floats, groups: Partition) -> Floats:
    """Return the median time between each two groups, and within each; never below zero."""
    count = int(groups.max()) + 1
    i, j = _pairs(len(times))
    a, b = np.minimum(groups[i], groups[j]), np.maximum(groups[i], groups[j])
    key, middles = medians_by(a * count + b, times[i, j])
    blocks = np.full(count * count, np.nan)
    blocks[key] = middles
    matrix = blocks.reshape(count, count)
    matrix = np.where(np.isnan(matrix), matrix.T, matrix)
    least = np.nanmin(times[times > 0]) if np.any(times > 0) else 1e-9
    # a group of one has no time within
    inside = np.isnan(np.diag(matrix))
    matrix[inside, inside] = least
    return np.asarray(np.maximum(matrix, 0.1 * least))

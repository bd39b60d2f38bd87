"""Costs taken off, so that slow ranks and nodes neither make a level nor hide one.

A slow node is far from everybody, so clustering by distance finds it no group. But all of its pairs
are slower by the same time: take that time off, and its row is that of its neighbours.
`without_costs` does so for ranks that are plainly slower than most; `without_singletons` for units
that the hierarchy leaves alone, whose cost depends on where they belong; `without_slow_switches`
for groups of such units that are slower by the same time to all others and among themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.stats import mad, row_medians

__all__ = ["without_costs", "without_singletons", "without_slow_switches"]

Matrix = NDArray[np.float64]
Partition = NDArray[np.int64]
Levels = NDArray[np.int64]

MIN_PARTNERS: Final = 3
"""Pairs on a level that a rank needs to be judged by them."""

OUTLIER_SIGMAS: Final = 6.0
"""Standard deviations by which a rank must be slower than most to be plainly slow."""

PLAINLY_SLOW: Final = 0.25
"""And this part of the time at least."""

CLEARLY: Final = 0.25
"""Advantage in log time that makes one explanation clearly better than another."""

MAX_SINGLETONS: Final = 0.5
"""If a greater part of the units is alone, that is how they were placed, and not slowness."""

SAME: Final = 0.15
"""Relative difference up to which a slow switch explains the times among its own nodes."""


def without_costs(times: Matrix, partitions: Sequence[Partition]) -> Matrix:
    """Return the round trips without the costs of ranks that are plainly slower than most.

    This finds the slow parts that are not quite singletons, as the nodes of a slow switch that
    noise has gathered into several groups. A rank's cost on a level is the median excess of its
    pairs there, which is one step of a median polish (Tukey 1977, *Exploratory Data Analysis*,
    chapter 11); that is enough, for the slow ones are few. No pair gets nearer than
    the next closer level, or the first one on which one of its ranks has been left alone.
    """
    level = sum((p[:, None] != p for p in partitions), np.zeros(times.shape, dtype=np.int8))
    np.fill_diagonal(level, -1)
    base = np.array([np.median(times[level == k]) for k in range(len(partitions))])
    left = _left_alone(partitions)
    corrected = times.copy()
    cost = np.zeros(len(times))
    for k in reversed(range(len(partitions))):
        mask = level == k
        cost = _costs(np.where(mask, times - base[k], np.nan), base[k], cost)
        nearest = base[np.minimum(left, max(k - 1, 0))]
        floor = np.minimum(times, np.minimum(nearest[:, None], nearest))
        corrected[mask] = np.maximum(_less(times, cost, base), floor)[mask]
    return corrected


def _less(times: Matrix, cost: Matrix, base: Matrix) -> Matrix:
    """Take the costs off.

    Those of two slow ends add up, unless only the slower end clearly leads to a level.
    """
    less = times - cost[:, None] - cost
    both = np.ix_(cost > 0, cost > 0)
    if less[both].size:
        added = np.maximum(less[both], base[0] / 10)
        slower = times[both] - np.maximum.outer(cost[cost > 0], cost[cost > 0])
        slower = np.maximum(slower, base[0] / 10)
        off = [np.abs(np.log(t[..., None] / base)).min(axis=-1) for t in (added, slower)]
        less[both] = np.where(off[0] <= off[1] + CLEARLY, added, slower)
    return less


def _costs(excess: Matrix, base: float, farther: Matrix) -> Matrix:
    """Return the median of each row where it is plainly large, else 0.

    With too few pairs on this level a rank is credited with its cost on the next farther one.
    """
    known = np.isfinite(excess).sum(axis=1) >= MIN_PARTNERS
    cost = farther.copy()
    if known.any():
        cost[known] = row_medians(excess[known])
        cost[cost < max(OUTLIER_SIGMAS * mad(cost[known]), PLAINLY_SLOW * base)] = 0.0
    return cost


def _left_alone(partitions: Sequence[Partition]) -> Levels:
    """Return the first level on which a rank's unit joins no other unit, for each rank."""
    left = np.full(len(partitions[0]), len(partitions))
    units = np.arange(len(left))
    for k, partition in reversed(list(enumerate(partitions))):
        units = partitions[k - 1] if k else np.arange(len(left))
        within = np.unique(np.stack([partition, units]), axis=1)[0]  # group of each unit
        left[np.bincount(within)[partition] == 1] = k
    return left


def without_singletons(
    times: Matrix, partitions: Sequence[Partition], told: Sequence[bool]
) -> Matrix:
    """Return the round trips as they would be if no singleton had a cost of its own.

    Parameters
    ----------
    times
        Complete symmetric matrix of round trips in seconds.
    partitions
        The hierarchy found so far, finest first, the one group of all last.
    told
        Which of them the machine told: who is alone there is so on purpose.
    """
    return _corrected(times, partitions, told, _Ward.without_singletons)


def without_slow_switches(
    times: Matrix, partitions: Sequence[Partition], told: Sequence[bool]
) -> Matrix:
    """Return the round trips as they would be if no group of singletons had a slow switch.

    The arguments are those of `without_singletons`.
    """
    return _corrected(times, partitions, told, _Ward.without_slow_switches)


def _corrected(
    times: Matrix,
    partitions: Sequence[Partition],
    told: Sequence[bool],
    correct: Callable[[_Ward], Matrix],
) -> Matrix:
    """Heal the singletons of each level, each only where it is first left alone."""
    corrected = times.copy()
    units = np.arange(len(times))
    treated = np.zeros(len(times), dtype=bool)
    for k, partition in enumerate(partitions[:-1]):
        first = np.unique(units, return_index=True)[1]
        chain = [p[first] for p in partitions[k:]]
        alone = (np.bincount(chain[0])[chain[0]] == 1) & ~treated[first]
        if alone.any() and alone.mean() <= MAX_SINGLETONS and not told[k]:
            between = _between(times, units)
            factor = correct(_Ward(between, alone, chain)) / between
            corrected *= factor[np.ix_(units, units)]
            treated |= alone[units]
        units = partition
    return corrected


def _between(times: Matrix, unit: Partition) -> Matrix:
    """Return the geometric mean of the round trips between each two units; 1 on the diagonal."""
    n = int(unit.max()) + 1
    between = times.copy()
    if n < len(unit):
        member = np.eye(n)[unit]
        size = member.sum(axis=0)
        log = np.log(np.where(times > 0, times, 1.0))
        between = np.exp(member.T @ log @ member / np.outer(size, size))
    np.fill_diagonal(between, 1.0)
    return between


class _Ward:
    """The units of one level, some of them singletons.

    Parameters
    ----------
    between
        Round trips between the units.
    alone
        Which units are singletons.
    chain
        The partitions of the units: the one that leaves the singletons alone, and all coarser ones.
    """

    def __init__(
        self, between: Matrix, alone: NDArray[np.bool_], chain: Sequence[Partition]
    ) -> None:
        self.between = between
        self.alone = alone
        self.chain = chain
        self.settled = np.flatnonzero(~alone)
        level = np.zeros(between.shape, dtype=np.int64)
        for partition in chain:
            level += partition[:, None] != partition
        self.level = level[np.ix_(self.settled, self.settled)]
        among = between[np.ix_(self.settled, self.settled)]
        pair = ~np.eye(len(self.settled), dtype=bool)
        # levels beyond the last on which settled units meet may be the singletons' doing: left out
        self.base = np.empty(int(self.level.max()) + 1)
        for k in range(len(self.base)):
            members = among[pair & (self.level == k)]
            if not members.size:
                members = between[(level == k) & ~np.eye(len(between), dtype=bool)]
            self.base[k] = np.median(members)

    def without_slow_switches(self) -> Matrix:
        """Take off what slows all nodes of a switch, also among themselves: they are singletons."""
        healed = self.between.copy()
        for members in self.families():
            leaving = np.ix_(members, self.settled)
            extra = float(np.median(self.between[leaving])) - self.base[-1]
            inside = self.between[np.ix_(members, members)][np.triu_indices(len(members), 1)]
            if abs(np.median(inside) / (self.base[0] + extra) - 1) <= SAME:
                healed[leaving] = healed.T[leaving] = self.base[-1]
                healed[np.ix_(members, members)] = self.base[0]
        np.fill_diagonal(healed, 1.0)
        return healed

    def without_singletons(self) -> Matrix:
        """Replace the row of each singleton by what its best place in the hierarchy predicts."""
        healed = self.between.copy()
        cost = np.zeros(len(healed))
        places = self.places()
        for unit in np.flatnonzero(self.alone):
            place, cost[unit] = self.best(places, self.between[unit, self.settled])
            healed[unit, self.settled] = healed[self.settled, unit] = place
        # two singletons: their costs taken off, but never nearer than the nearest
        pair = np.ix_(self.alone, self.alone)
        left = self.between[pair] - cost[self.alone][:, None] - cost[self.alone]
        healed[pair] = np.maximum(left, self.base[0])
        np.fill_diagonal(healed, 1.0)
        return healed

    def families(self) -> list[NDArray[np.int64]]:
        """List the groups of some farther level that consist of two singletons or more."""
        found: list[NDArray[np.int64]] = []
        for partition in self.chain[1:]:
            for group in np.unique(partition[self.alone]):
                members = np.flatnonzero(partition == group)
                new = not any(np.isin(members, known).any() for known in found)
                if len(members) > 1 and self.alone[members].all() and new:
                    found.append(members)
        return found

    def places(self) -> Matrix:
        """List every place in the hierarchy as the times from there to the settled units."""
        top = len(self.base) - 1
        places = [np.full((1, len(self.settled)), top)]
        for k, partition in enumerate(self.chain[:-1]):
            first = np.unique(partition[self.settled], return_index=True)[1]
            places.append(np.clip(self.level[first], k, top))
        return np.asarray(self.base[np.concatenate(places)])

    def best(self, places: Matrix, row: Matrix) -> tuple[Matrix, float]:
        """Return the place that explains a singleton's row best, and the cost that it leaves."""
        extra = np.median(row - places, axis=1)
        fitted = np.maximum(places + extra[:, None], self.base[0] / 2)
        best = int(np.argmin(np.abs(np.log(row / fitted)).mean(axis=1)))
        return places[best], float(extra[best])

"""The levels of the communication hierarchy, found from the latencies themselves.

A *partition* puts every rank into one group; a hierarchy is a chain of nested partitions from the
finest to the one group of all. A pair belongs to the first partition that has both ranks in one
group. Candidates are the cuts of a dendrogram (average linkage on the logarithm of the round trips)
and the partitions the machine has told: hosts, packages, NUMA domains. Each must then prove itself.

A candidate stands only if the pairs inside its groups are faster than the next farther ones, with
few exceptions. This is what a torus fails: there every block has neighbours outside that are as
near as those inside. One that the machine did not tell must also be beyond chance, see
`_log_chance`, and must keep apart two groups of several: a group and some singletons is what slow
ranks look like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.special import gammaln

from isochrone.results.latency_map.singletons import (
    without_costs,
    without_singletons,
    without_slow_switches,
)

__all__ = ["Partition", "fill_missing", "find_partitions", "groups_of", "level_matrix", "nested"]

Matrix = NDArray[np.float64]
Partition = NDArray[np.int64]

CUTS: Final = 16
"""Cuts of the dendrogram that are tried, at its largest gaps."""

MIN_GAP: Final = 0.01
"""Smaller gaps (in log time) between two merges of the dendrogram are no candidates."""

MIN_RATIO: Final = 1.10
"""The farther of two levels is slower by this factor at least; less is of no use to anyone."""

MIN_RATIO_TOLD: Final = 1.05
"""The same for a partition the machine has told."""

EXCEPTIONS: Final = 0.20
"""Pairs on the wrong side, as a part of the smaller of the two levels; a torus has over 35 %."""

CHANCE: Final = 1e-3
"""Largest probability that such a partition separates unstructured latencies by luck."""

WIDE_GAP: Final = 1.5
"""What convinces where `CHANCE` cannot, as with two nodes of two ranks: a gap that is wider than
either of the two levels by this factor."""

ROUNDS: Final = 5
"""Times that the costs of slow parts are taken off to look again."""


@dataclass(frozen=True)
class _Separation:
    """How well one partition separates the pairs inside it from the next farther ones."""

    ratio: float
    exceptions: float
    stands: bool

    @property
    def strength(self) -> float:
        return self.ratio * (1 - self.exceptions)


def find_partitions(
    times: Matrix, told: Sequence[Partition] = (), uncertainty: float = 0.0
) -> list[Partition]:
    """Return the hierarchy as nested partitions, finest first, all ranks in one group last.

    Parameters
    ----------
    times
        Symmetric matrix of round trips in seconds; NaN where a pair was not measured.
    told
        Partitions known from elsewhere (hosts, packages …), the most trusted first.
    uncertainty
        Typical half-width of a pair's own interval, in log time; levels must differ by more.
    """
    times = fill_missing(times)
    told = [p for p in map(canonical, told) if 1 < p.max() + 1 < len(p)]
    found = _Chooser(times, uncertainty).choose(told)
    for _ in range(ROUNDS):
        corrected = _without_slow_parts(times, found, told)
        if np.array_equal(corrected, times):
            break
        times = corrected
        found = _Chooser(times, uncertainty).choose(told)
    return found


def _without_slow_parts(
    times: Matrix, found: Sequence[Partition], told: Sequence[Partition]
) -> Matrix:
    """Take off the costs of slow parts, of the plainest kind that there is."""
    on_purpose = [any(np.array_equal(p, t) for t in told) for p in found]
    corrected = without_slow_switches(times, found, on_purpose)
    if np.array_equal(corrected, times):
        corrected = without_costs(times, found)
    if np.array_equal(corrected, times):
        corrected = without_singletons(times, found, on_purpose)
    return corrected


def fill_missing(times: Matrix) -> Matrix:
    """Fill in pairs that were not measured, as the nested groups predict them.

    If a third rank k is near to both i and j, they are near to each other: in a hierarchy
    t_ij <= max(t_ik, t_jk) for all k, with equality for some (the ultrametric inequality). A rank
    without any pair takes the median.
    """
    filled = times.copy()
    np.fill_diagonal(filled, 0.0)
    reach = np.where(np.isnan(filled), np.inf, filled)
    np.fill_diagonal(reach, np.inf)
    for i in np.flatnonzero(np.isnan(filled).any(axis=1)):
        missing = np.flatnonzero(np.isnan(times[i]) & (np.arange(len(times)) != i))
        filled[i, missing] = np.maximum(reach[i], reach[missing]).min(axis=1)
    alone = np.isinf(filled)
    if alone.any():
        filled[alone] = np.nanmedian(times)
    return np.minimum(filled, filled.T)


def canonical(labels: Partition) -> Partition:
    """Return the partition with its groups numbered in the order of their first ranks."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty_like(first)
    order[np.argsort(first)] = np.arange(len(first))
    return order[inverse].astype(np.int64)


def groups_of(partition: Partition) -> list[list[int]]:
    """List the ranks of each group, in rank order."""
    groups: list[list[int]] = [[] for _ in range(int(partition.max()) + 1)]
    for rank, group in enumerate(partition.tolist()):
        groups[group].append(rank)
    return groups


def level_matrix(partitions: Sequence[Partition]) -> NDArray[np.int8]:
    """Return the level of every pair: the number of partitions that have it in two groups."""
    level = np.zeros((len(partitions[0]),) * 2, dtype=np.int8)
    for partition in partitions:
        level += partition[:, None] != partition
    return level


def nested(a: Partition, b: Partition) -> bool:
    """Whether each group of one partition lies within one group of the other."""
    both = len(np.unique(a * (int(b.max()) + 1) + b))
    return both in (a.max() + 1, b.max() + 1)


class _Chooser:
    """Chooses among the candidate partitions of one map of pairs."""

    def __init__(self, times: Matrix, uncertainty: float) -> None:
        self.size = len(times)
        self.uncertainty = uncertainty
        self.rows, self.cols = np.triu_indices(self.size, 1)
        self.log = np.log(times[self.rows, self.cols])
        self.ranks = np.arange(self.size)
        self.all = np.zeros(self.size, dtype=np.int64)
        self.judged: dict[tuple[bytes, ...], _Separation] = {}
        self.told: set[bytes] = set()

    def choose(self, told: Sequence[Partition]) -> list[Partition]:
        chain = self.cuts()
        for partition in told:
            self.told.add(partition.tobytes())
            trial = [cut for cut in chain if nested(cut, partition)] + [partition]
            if any(kept is partition for kept in self.prune(trial)):
                chain = trial
        return [*self.prune(chain), self.all]

    def cuts(self) -> list[Partition]:
        """Cut the dendrogram at the largest gaps between its merges."""
        if self.size < 3:
            return []
        tree = linkage(self.log - self.log.min(), "average")
        height = tree[:, 2]
        gap = np.diff(height)
        widest = np.argsort(-gap, kind="stable")[:CUTS]
        return [
            canonical(fcluster(tree, height[k] + gap[k] / 2, "distance").astype(np.int64))
            for k in widest
            if gap[k] >= MIN_GAP
        ]

    def prune(self, candidates: Sequence[Partition]) -> list[Partition]:
        """Drop the weakest candidate that does not stand between its neighbours, until all do."""
        chain = _in_order(candidates)
        dropped: list[Partition] = []
        while failing := self.failing(chain):
            dropped.append(chain.pop(failing[0]))
        # one that fell only because of a neighbour that fell later gets a second chance
        for partition in reversed(dropped):
            trial = _in_order([*chain, partition])
            if not self.failing(trial):
                chain = trial
        return chain

    def failing(self, chain: Sequence[Partition]) -> list[int]:
        """List those of a chain that do not stand between their neighbours, the weakest first."""
        if not chain:
            return []
        finer, coarser = [self.ranks, *chain[:-1]], [*chain[1:], self.all]
        verdicts = [self.judge(*three) for three in zip(finer, chain, coarser, strict=True)]
        weak = [k for k, verdict in enumerate(verdicts) if not verdict.stands]
        return sorted(weak, key=lambda k: verdicts[k].strength)

    def judge(self, finer: Partition, middle: Partition, coarser: Partition) -> _Separation:
        key = tuple(partition.tobytes() for partition in (finer, middle, coarser))
        if key not in self.judged:
            self.judged[key] = self._judge(finer, middle, coarser)
        return self.judged[key]

    def _judge(self, finer: Partition, middle: Partition, coarser: Partition) -> _Separation:
        """Compare the pairs that ``middle`` joins with those that only ``coarser`` joins.

        Groups of the finer partition count as one unit each, because the ranks of a node share its
        luck: sixteen pairs of ranks between two nodes are one piece of evidence and not sixteen.
        """
        log, a, b = self.between_units(finer)
        near = middle[a] == middle[b]
        far = ~near & (coarser[a] == coarser[b])
        fast, slow = np.sort(log[near]), np.sort(log[far])
        if not fast.size or not slow.size:
            return _Separation(0.0, 1.0, stands=False)
        ratio = float(np.median(slow) - np.median(fast))
        wrong = _exceptions(fast, slow)
        told = middle.tobytes() in self.told
        smaller = min(fast.size, slow.size)
        stands = (
            ratio >= np.log(MIN_RATIO_TOLD if told else MIN_RATIO)
            and ratio > self.uncertainty
            and wrong <= max(EXCEPTIONS * smaller, 1.0 if smaller >= 4 else 0.0)
        )
        if stands and not told:
            unit = np.unique(finer, return_index=True)[1]
            middle, coarser = middle[unit], coarser[unit]
            chance = _log_chance(middle, coarser, fast.size, slow.size, wrong)
            several = np.bincount(middle)[middle] > 1
            gathered = np.unique(np.stack([coarser, middle])[:, several], axis=1)[0]
            stands = bool(
                np.any(np.bincount(gathered) > 1)
                and (chance <= np.log(CHANCE) or _wide_apart(fast, slow))
            )
        return _Separation(ratio, wrong / smaller, stands)

    def between_units(self, unit: Partition) -> tuple[Matrix, Partition, Partition]:
        """Return the mean log time between each two units, and one rank of either."""
        if unit is self.ranks:
            return self.log, self.rows, self.cols
        first = np.unique(unit, return_index=True)[1]
        n = len(first)
        a, b = unit[self.rows], unit[self.cols]
        # units are numbered by their first ranks, but a later rank may be of an earlier unit
        key = np.minimum(a, b) * n + np.maximum(a, b)
        total, count = np.bincount(key, self.log, n * n), np.bincount(key, minlength=n * n)
        a, b = np.triu_indices(n, 1)
        return (total / np.maximum(count, 1))[a * n + b], first[a], first[b]


def _in_order(partitions: Sequence[Partition]) -> list[Partition]:
    """Sort partitions, finest first, each kept once."""
    distinct = {partition.tobytes(): partition for partition in partitions}
    return sorted(distinct.values(), key=lambda partition: -int(partition.max()))


def _exceptions(fast: Matrix, slow: Matrix) -> int:
    """Count the pairs on the wrong side of the best threshold; both sides come sorted."""
    beyond = fast.size - np.searchsorted(fast, fast, side="right")
    before = np.searchsorted(slow, fast, side="right")
    return int(min(np.min(beyond + before), fast.size))


def _wide_apart(fast: Matrix, slow: Matrix) -> bool:
    """Whether the gap between two levels is plain to see: far wider than either level itself."""
    widest = max(fast[-1] - fast[0], slow[-1] - slow[0])
    return bool(slow[0] - fast[-1] > WIDE_GAP * widest)


def _log_chance(middle: Partition, coarser: Partition, near: int, far: int, wrong: int) -> float:
    """Bound the log probability that some partition of this shape separates by luck.

    Without structure every set of ``near`` pairs is equally likely to be the fastest. So the chance
    is the number of partitions of the same shape, times the number of sets with at most ``wrong``
    exceptions, over the number of all sets (a permutation test with Bonferroni's correction).
    """

    def log_factorial(n: int | NDArray[np.int64]) -> Matrix:
        return np.asarray(gammaln(np.asarray(n) + 1.0))

    def log_choose(n: int, k: int) -> float:
        return float(log_factorial(n) - log_factorial(k) - log_factorial(n - k))

    sizes = np.bincount(middle)
    parent = np.zeros_like(sizes)
    parent[middle] = coarser
    # one row for each coarser group: how many groups of each size it holds
    profile = np.zeros((int(parent.max()) + 1, int(sizes.max()) + 1), dtype=np.int64)
    np.add.at(profile, (parent, sizes), 1)
    within = np.bincount(coarser)
    alike = np.unique(profile, axis=0, return_counts=True)[1]
    shapes = log_factorial(within).sum() - log_factorial(sizes).sum()
    shapes -= log_factorial(profile).sum()
    # and the coarser groups of equal size may have got their shapes in another order
    shapes += log_factorial(np.bincount(within)).sum() - log_factorial(alike).sum()
    pairs = near + far
    sets = log_choose(pairs, wrong) + np.log(wrong + 1.0) - log_choose(pairs, near)
    return float(shapes + sets)

"""Hierarchies that are worth explaining: built from below, whatever single parts cost.

Units of one group meet all others in the same way, but for what each costs itself. So the times
between groups are blocks, t(a, b) = B(group a, group b) + c_a + c_b (a stochastic block model:
Holland, Laskey & Leinhardt 1983, *Social Networks* 5, 109-137), whether or not the group, or the
way to it, is slow. Groups are cuts of dendrograms of distances that the cost of a unit does not
disturb; the groups are then the units of the next level.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.stats import distinct, median_of, medians_by, row_medians
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import Partition, canonical, is_grouping
from isochrone.latency_map.thresholds import (
    BLOCK_COST,
    DENDROGRAM_CUTS,
    FOLLOWED,
    MAX_PAIR_COST,
    REFERENCES,
    TIME_ERROR,
    UPPER_LEVELS,
)

AT_ONCE = 1 << 16
"""Cells of matrices that are treated at once."""


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

    def __init__(self, times: Floats, groups: Partition) -> None:
        self.times, self.groups = times, groups
        residual = times - block_medians(times, groups)[np.ix_(groups, groups)]
        np.fill_diagonal(residual, np.nan)
        cost = row_medians(residual)
        # what all units of a group cost is the group's
        cost -= medians_by(groups, cost)[1][groups]
        self.added = cost[:, None] + cost
        self.seconds = block_medians(times - self.added, groups)
        self.expected = self.seconds[np.ix_(groups, groups)] + self.added
        self.within = self._nats(self.expected, self.expected)

    @property
    def nats(self) -> float:
        """About how many nats it takes to write the times down by blocks and costs."""
        count = len(self.seconds)
        return self.within + BLOCK_COST * count * (count + 1) / 2

    @property
    def plain(self) -> float:
        """The same with one time between all groups and one within all."""
        same = self.groups[:, None] == self.groups
        upper = np.triu(np.ones_like(same), 1)
        within, between = (median_of(self.expected[pairs & upper]) for pairs in (same, ~same))
        level = np.where(same, within, between)
        return self._nats(level + self.added, level)

    def _nats(self, expected: Floats, level: Floats) -> float:
        """Return about how many nats the times take where others are expected."""
        off = (self.times - expected) / np.maximum(level, 0.2 * self.times)
        np.fill_diagonal(off, 0.0)
        return float(np.minimum(0.5 * (off / TIME_ERROR) ** 2, MAX_PAIR_COST).sum() / 2)


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
    shortest = np.nanmin(times[times > 0]) if np.any(times > 0) else 1e-9
    # a group of one has no time within
    inside = np.isnan(np.diag(matrix))
    matrix[inside, inside] = shortest
    return np.asarray(np.maximum(matrix, 0.1 * shortest))


def hierarchies(times: Floats, above: int = 0) -> Iterator[tuple[Blocks, list[Partition]]]:
    """Propose chains of nested groupings of the units, the finest first, with the finest's blocks.

    Parameters
    ----------
    times
        Symmetric matrix of round trips without gaps; the diagonal does not count, except where the
        units are groups: there it holds the times within them.
    above
        Number of levels that were found below.
    """
    cuts = cuts_of(times)
    blocks_by_cut = {
        cut.tobytes(): Blocks(times, cut) for distance_cuts in cuts for cut in distance_cuts
    }
    if not blocks_by_cut:
        return
    followed = [
        min(blocks_by_cut.values(), key=lambda blocks: blocks.nats),
        min(blocks_by_cut.values(), key=lambda blocks: blocks.plain),
    ]
    if not above:
        followed += [
            blocks_by_cut[cut.tobytes()]
            for distance_cuts in cuts
            for cut in distance_cuts[:FOLLOWED]
        ]
    for blocks in {id(candidate): candidate for candidate in followed}.values():
        yield blocks, [blocks.groups]
        if above < UPPER_LEVELS:
            for _, chain in hierarchies(blocks.seconds, above + 1):
                yield blocks, [blocks.groups, *(upper[blocks.groups] for upper in chain)]


def _at_once(units: int, cells: int) -> Iterator[Ints]:
    """Yield the units in parts that are treated at once, if each takes so many cells."""
    step = max(1, AT_ONCE // cells)
    for low in range(0, units, step):
        yield np.arange(low, min(low + step, units))


def distances(times: Floats) -> tuple[Floats, ...]:
    """Return distances between units, small within a group."""
    return np.log(times), profile_distance(times)


def cuts_of(times: Floats) -> list[list[Partition]]:
    """Cut the dendrograms of all distances between units; none of fewer than four."""
    return [list(cuts(distance)) for distance in distances(times)] if len(times) > 3 else []


def cuts(distance: Floats) -> Iterator[Partition]:
    """Cut the dendrogram (average linkage) at the largest gaps between its merges."""
    tree = _Tree(distance)
    gap = np.diff(tree.heights)
    for k in np.argsort(-gap, kind="stable")[:DENDROGRAM_CUTS]:
        if gap[k] > 0:
            partition = canonical(tree.cut(tree.heights[k] + gap[k] / 2))
            if is_grouping(partition):
                yield partition


class _Tree:
    """A dendrogram by average linkage (Sokal & Michener 1958): which units merge, and where.

    As by `scipy.cluster.hierarchy.linkage`; to import that takes longer than to explain a map.
    """

    def __init__(self, distance: Floats) -> None:
        away = distance.copy()
        np.fill_diagonal(away, np.inf)
        size = np.ones(len(away))
        nearest = away.argmin(axis=1)
        low = away.min(axis=1)
        self.merges: list[tuple[int, int]] = []
        heights = []
        for _ in range(len(away) - 1):
            a = int(low.argmin())
            b = int(nearest[a])
            self.merges.append((a, b))
            heights.append(low[a])
            away[a] = away[:, a] = (size[a] * away[a] + size[b] * away[b]) / (size[a] + size[b])
            size[a] += size[b]
            away[b] = away[:, b] = low[b] = np.inf
            nearest[a] = a
            again = np.flatnonzero(((nearest == a) | (nearest == b)) & (low < np.inf))
            rows = away[again]
            nearest[again] = rows.argmin(axis=1)
            low[again] = rows.min(axis=1)
        self.heights = np.array(heights)

    def cut(self, height: float) -> Partition:
        """Return the group of each unit below a height."""
        group = np.arange(len(self.merges) + 1)
        for a, b in reversed(self.merges[: np.count_nonzero(self.heights <= height)]):
            group[b] = group[a]
        return group


def dense(times: Times, values: Floats) -> Floats:
    """Return values of the pairs as a matrix, gaps filled as the nested groups predict them."""
    matrix = np.full((times.units, times.units), np.nan)
    matrix[times.i, times.j] = matrix[times.j, times.i] = values
    filled = fill_missing(matrix)
    np.fill_diagonal(filled, 1.0)
    return filled


def fill_missing(times: Floats) -> Floats:
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
    unreachable = np.isinf(filled)
    if unreachable.any():
        filled[unreachable] = np.nanmedian(times)
    return np.minimum(filled, filled.T)


def cuts_within(times: Times, seconds: Floats) -> list[Partition]:
    """Return cuts of the dendrograms of all groups under the root, at the same heights for all."""
    log = np.log(seconds)
    trees = []
    order = np.argsort(times.root[times.i], kind="stable")
    edges = np.searchsorted(times.root[times.i][order], np.arange(int(times.root.max()) + 2))
    low = float(log.min())
    for first, last in pairwise(edges):
        pairs = order[first:last]
        members = distinct(np.concatenate([times.i[pairs], times.j[pairs]]))
        if len(members) > 2:
            group_times = np.full((len(members), len(members)), np.nan)
            a, b = (np.searchsorted(members, end[pairs]) for end in (times.i, times.j))
            group_times[a, b] = group_times[b, a] = log[pairs] - low + 1.0
            trees.append((members, _Tree(fill_missing(group_times))))
    heights = np.sort(np.concatenate([[0.0], *(tree.heights for _, tree in trees)]))
    gap = np.diff(heights)
    partitions = {}
    for k in np.argsort(-gap, kind="stable")[:DENDROGRAM_CUTS]:
        labels = times.root.copy()
        count = int(labels.max()) + 1
        for members, tree in trees:
            cut = tree.cut(heights[k] + gap[k] / 2)
            labels[members] = count + cut
            count += int(cut.max()) + 1
        partition = canonical(labels)
        if gap[k] > 0 and not np.array_equal(partition, canonical(times.root)):
            partitions[partition.tobytes()] = partition
    return list(partitions.values())


def profile_distance(times: Floats) -> Floats:
    """Return how differently two units meet all others, but for a constant; relative.

    V(a, b) = mean over r of |t(a, r) - t(b, r) - the median of these| / hypot(t(a, r), t(b, r))
    """
    n = len(times)
    off_diagonal = times.copy()
    np.fill_diagonal(off_diagonal, np.nan)
    columns = np.arange(n)
    if n > REFERENCES:
        columns = distinct(np.linspace(0, n - 1, REFERENCES).astype(int))
    seen = off_diagonal[:, columns]
    squared = seen**2
    distance = np.zeros((n, n))
    for chunk in _at_once(n, seen.size):
        difference = seen[chunk, None] - seen[chunk[0] :]
        difference -= row_medians(difference)[..., None]
        relative = np.abs(difference) / np.sqrt(squared[chunk, None] + squared[chunk[0] :])
        count = np.maximum(np.sum(~np.isnan(relative), axis=2), 1)
        distance[chunk, chunk[0] :] = np.nansum(relative, axis=2) / count
    distance = np.triu(distance, 1)
    return distance + distance.T

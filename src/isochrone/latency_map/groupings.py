"""Hierarchies that are worth explaining: built from below, whatever single parts cost.

Units of one group meet all others in the same way, but for what each costs itself. So the times
between groups are blocks, t(a, b) = B(group a, group b) + c_a + c_b (a stochastic block model:
Holland, Laskey & Leinhardt 1983, *Social Networks* 5, 109-137), whether or not the group, or the
way to it, is slow. Groups are cuts of dendrograms of distances that the cost of a unit does not
disturb, each unit put where it fits best; the groups are then the units of the next level.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.stats import distinct, row_medians
from isochrone.latency_map.blocks import Blocks, block_medians
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import Partition, canonical, is_grouping

CUTS = 6
"""Cuts of a dendrogram that are tried, at its largest gaps."""

UPPER_CUTS = 4
"""The same of groups of groups."""

FEW = 6
"""Groups of which any two may be merged."""

REFERENCES = 96
"""Units that profiles are compared on, where there are more."""

PLAIN = 2
"""Cuts at the largest gaps of each dendrogram that are followed in any case."""

AT_ONCE = 1 << 16
"""Cells of matrices that are treated at once."""

SWEEPS = 2
"""Times that every unit is put where it fits best."""


def hierarchies(
    times: Floats,
    noise: float,
    kept: Sequence[int],
    above: int = 0,
    known: Sequence[Sequence[Partition]] = (),
) -> Iterator[tuple[Blocks, list[Partition]]]:
    """Propose chains of nested groupings of the units, the finest first, with the finest's blocks.

    Parameters
    ----------
    times
        Symmetric matrix of round trips without gaps; the diagonal does not count, except where the
        units are groups: there it holds the times within them.
    noise
        Relative spread of the times.
    kept
        Groupings that are followed on each level, the most likely first.
    above
        Number of levels that were found below.
    known
        What `cuts_of` says of the times, if it was asked before.
    """
    if len(times) < 4 or above >= len(kept):
        return
    found = {}
    plain = []
    for own in known or cuts_of(times, UPPER_CUTS if above else CUTS):
        for place, cut in enumerate(own):
            if cut.tobytes() not in found:
                found[cut.tobytes()] = Blocks(times, cut, noise)
                plain += [found[cut.tobytes()]] * (place < PLAIN and not above)
    for blocks in _best(found, kept[above]):
        for _ in range(SWEEPS):
            moved = fitting_best(times, blocks)
            if moved.tobytes() in found or not is_grouping(moved):
                break
            blocks = found[moved.tobytes()] = Blocks(times, moved, noise)
    for blocks in {id(one): one for one in [*_best(found, kept[above]), *plain]}.values():
        yield blocks, [blocks.groups]
        for _, chain in hierarchies(blocks.seconds, noise, kept, above + 1):
            yield blocks, [blocks.groups, *(upper[blocks.groups] for upper in chain)]


def _best(found: dict[bytes, Blocks], most: int) -> list[Blocks]:
    """Return the groupings that fit best, by blocks and by two plain levels."""
    blocks = sorted(found.values(), key=lambda blocks: blocks.nats)[:most]
    plain = sorted(found.values(), key=lambda blocks: blocks.plain)[:most]
    return list({id(one): one for pair in zip(blocks, plain, strict=True) for one in pair}.values())


def fitting_best(times: Floats, blocks: Blocks) -> Partition:
    """Put each unit into the group whose blocks explain its times best, but for a constant."""
    ways = blocks.seconds[:, blocks.groups]
    best = np.empty_like(blocks.groups)
    for some in _at_once(len(times), ways.size):
        own = times[some, None]
        rest = own - ways
        rest[np.arange(len(some)), :, some] = np.nan
        rest -= row_medians(rest)[..., None]
        relative = np.minimum(np.abs(rest) / own, 0.5)
        best[some] = np.argmin(np.nansum(relative, axis=2), axis=1)
    return canonical(best)


def _at_once(units: int, cells: int) -> Iterator[Ints]:
    """Yield the units in parts that are treated at once, if each takes so many cells."""
    step = max(1, AT_ONCE // cells)
    for low in range(0, units, step):
        yield np.arange(low, min(low + step, units))


def distances(times: Floats) -> tuple[Floats, ...]:
    """Return distances between units, small within a group."""
    own = times.copy()
    np.fill_diagonal(own, np.nan)
    middle = row_medians(own)  # of each unit
    return np.log(times), times - middle[:, None] - middle, profile_distance(times)


def cuts_of(times: Floats, most: int = CUTS) -> list[list[Partition]]:
    """Cut the dendrograms of all distances between units; none of fewer than four."""
    return [list(cuts(one, most)) for one in distances(times)] if len(times) > 3 else []


def cuts(distance: Floats, most: int = CUTS) -> Iterator[Partition]:
    """Cut the dendrogram (average linkage) at the largest gaps between its merges."""
    tree = _Tree(distance)
    gap = np.diff(tree.heights)
    for k in np.argsort(-gap, kind="stable")[:most]:
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


def split_or_merged(times: Floats, groups: Partition) -> Iterator[Partition]:
    """Split each group at the largest gap within it; merge any two, of many the nearest ones."""
    log = np.log(times)
    count = int(groups.max()) + 1
    for k in range(count):
        members = np.flatnonzero(groups == k)
        if len(members) > 2:
            for cut in cuts(log[np.ix_(members, members)], 2):
                split = groups.copy()
                split[members] = count + cut
                yield canonical(split)
    if 2 < count <= FEW:
        for one, other in combinations(range(count), 2):
            yield canonical(np.where(groups == other, one, groups))
    elif count > 2:
        blocks = np.log(block_medians(times, groups))
        np.fill_diagonal(blocks, np.inf)
        for k, nearest in enumerate(np.argmin(blocks, axis=1)):
            yield canonical(np.where(groups == nearest, k, groups))


def merged_within(finer: Partition, coarser: Partition) -> Iterator[Partition]:
    """Merge all groups that lie in one coarser group, or in all but one."""
    for k in range(int(coarser.max()) + 1):
        for inside in (coarser == k, coarser != k):
            groups = canonical(np.where(inside, finer.max() + 1 + coarser, finer))
            if is_grouping(groups) and not np.array_equal(groups, finer):
                yield groups


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
    alone = np.isinf(filled)
    if alone.any():
        filled[alone] = np.nanmedian(times)
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
            own = np.full((len(members), len(members)), np.nan)
            a, b = (np.searchsorted(members, end[pairs]) for end in (times.i, times.j))
            own[a, b] = own[b, a] = log[pairs] - low + 1.0
            trees.append((members, _Tree(fill_missing(own))))
    heights = np.sort(np.concatenate([[0.0], *(tree.heights for _, tree in trees)]))
    gap = np.diff(heights)
    found = {}
    for k in np.argsort(-gap, kind="stable")[:CUTS]:
        labels = times.root.copy()
        count = int(labels.max()) + 1
        for members, tree in trees:
            cut = tree.cut(heights[k] + gap[k] / 2)
            labels[members] = count + cut
            count += int(cut.max()) + 1
        partition = canonical(labels)
        if gap[k] > 0 and not np.array_equal(partition, canonical(times.root)):
            found[partition.tobytes()] = partition
    return list(found.values())


def profile_distance(times: Floats) -> Floats:
    """Return how differently two units meet all others, but for a constant; relative.

    V(a, b) = mean over r of |t(a, r) - t(b, r) - the median of these| / hypot(t(a, r), t(b, r))
    """
    n = len(times)
    own = times.copy()
    np.fill_diagonal(own, np.nan)
    columns = np.arange(n)
    if n > REFERENCES:
        columns = distinct(np.linspace(0, n - 1, REFERENCES).astype(int))
    seen = own[:, columns]
    squared = seen**2
    distance = np.zeros((n, n))
    for some in _at_once(n, seen.size):
        difference = seen[some, None] - seen[some[0] :]
        difference -= row_medians(difference)[..., None]
        relative = np.abs(difference) / np.sqrt(squared[some, None] + squared[some[0] :])
        known = np.maximum(np.sum(~np.isnan(relative), axis=2), 1)
        distance[some, some[0] :] = np.nansum(relative, axis=2) / known
    distance = np.triu(distance, 1)
    return distance + distance.T

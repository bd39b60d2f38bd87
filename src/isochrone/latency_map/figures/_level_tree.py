"""A map as a tree: ranks meet at the time of their level, slow parts above it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import linkage

from isochrone.base.arrays import Floats
from isochrone.latency_map.slow import Slow
from isochrone.latency_map.topology import Level


@dataclass(frozen=True)
class Tree:
    """A dendrogram, ready to draw.

    Attributes
    ----------
    order
        The ranks from left to right.
    children
        The two nodes of each merge; node N + k is merge k, nodes below N are ranks.
    branches
        Array of shape (N - 1, 4, 2): each merge as a line of four points (position, seconds).
    owner
        Host on which a whole branch lies, or None.
    """

    order: list[int]
    children: list[tuple[int, int]]
    branches: Floats
    owner: list[str | None]


def tree_of_levels(
    levels: Sequence[Level], medians: Sequence[float], slow: Sequence[Slow], hosts: Sequence[str]
) -> Tree:
    """Join the groups of each level at its median, and what is slow where its times are.

    Parameters
    ----------
    levels
        The levels of a map, the closest first.
    medians
        Seconds of each; NaN where nothing was measured on it.
    slow
        What is slower than its level, with the ratio on each level.
    hosts
        Host name of each rank.
    """
    n = len(hosts)
    grown = _Growing(n)
    clusters = [(rank, frozenset([rank])) for rank in range(n)]
    parts = [(frozenset(part.ranks), _ratios(part)) for part in slow if not part.of.link]
    known = [(level, m) for level, m in zip(levels, medians, strict=True) if m > 0]
    for level, median in known:
        owner = {rank: k for k, group in enumerate(level.groups) for rank in group}
        groups: dict[int, list[tuple[int, frozenset[int]]]] = {}
        for cluster in clusters:
            groups.setdefault(owner[min(cluster[1])], []).append(cluster)
        clusters = [
            _joined(grown, members, median, level.level, parts) for members in groups.values()
        ]
    if len(clusters) > 1:  # nothing was measured between them
        _joined(grown, clusters, max((m for _, m in known), default=1e-6), -1, [])
    return _laid_out(grown.children, np.array(grown.heights), hosts, grown.comb)


def _ratios(part: Slow) -> dict[int, float]:
    return {part.level: part.ratio, **dict(part.ratios)}


class _Growing:
    """Merges as they are made."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.children: list[tuple[int, int]] = []
        self.heights: list[float] = []
        self.comb: list[tuple[int, int]] = []
        """First and last node below the joint that a merge is a part of."""

    def height(self, node: int) -> float:
        """Return where a node was joined; 0 of a rank."""
        return self.heights[node - self.ranks] if node >= self.ranks else 0.0

    def join(self, nodes: Sequence[int], height: float) -> int:
        """Join nodes at one height, or above the highest of them; return what they become."""
        height = max(height, *(self.height(node) for node in nodes))
        joined = nodes[0]
        for node in nodes[1:]:
            self.children.append((joined, node))
            self.heights.append(height)
            self.comb.append((nodes[0], node))
            joined = self.ranks + len(self.children) - 1
        return joined


def _joined(
    grown: _Growing, members: list[tuple[int, frozenset[int]]], median: float, level: int,
    parts: Sequence[tuple[frozenset[int], dict[int, float]]],
) -> tuple[int, frozenset[int]]:  # fmt: skip
    """Join the members of a group at the median of its level, the slow ones of them above."""
    whole = frozenset().union(*(ranks for _, ranks in members))
    inside = [ratios.get(level, 1.0) for who, ratios in parts if whole <= who]
    median *= max(inside, default=1.0)
    apart: dict[float, list[int]] = {}
    for node, ranks in members:
        beyond = [of.get(level, 1.0) for who, of in parts if ranks <= who and not whole <= who]
        apart.setdefault(max(1.0, *beyond, 1.0), []).append(node)
    joined: list[int] = []
    for ratio, nodes in sorted(apart.items()):
        together = [*joined, *nodes]
        joined = [grown.join(together, ratio * median)] if len(together) > 1 else together
    return joined[0], whole


def build_tree(matrix: Floats, hosts: Sequence[str]) -> Tree:
    """Cluster the ranks by average linkage, whatever the levels are: low ranks to the left.

    Parameters
    ----------
    matrix
        Seconds between ranks, shape (N, N), complete but for the diagonal.
    hosts
        Host name of each rank.
    """
    n = len(matrix)
    distances = matrix[np.triu_indices(n, 1)]
    floor = float(distances[distances > 0].min()) if (distances > 0).any() else 1e-9
    merges = linkage(np.maximum(distances, floor), "average") if n > 1 else np.empty((0, 4))
    lowest = list(range(n))
    children = []
    for left, right in merges[:, :2].astype(int).tolist():
        pair = (left, right) if lowest[left] < lowest[right] else (right, left)
        children.append(pair)
        lowest.append(lowest[pair[0]])
    return _laid_out(children, merges[:, 2], hosts, children)


def _laid_out(
    children: list[tuple[int, int]], heights: Floats, hosts: Sequence[str],
    comb: Sequence[tuple[int, int]],
) -> Tree:  # fmt: skip
    """Give merges their places, each above the middle of what it joins; nothing recursive."""
    n = len(hosts)
    owner = list[str | None](hosts)
    for left, right in children:
        owner.append(owner[left] if owner[left] == owner[right] else None)
    order = _leaves(children, n)
    place = np.empty(2 * n - 1)
    place[order] = np.arange(n)
    height = np.concatenate([np.zeros(n), heights])
    branches = np.empty((n - 1, 4, 2))
    for k, (left, right) in enumerate(children):
        first, last = comb[k]
        place[n + k] = (place[first] + place[last]) / 2
        top = height[n + k]
        branches[k] = [(place[left], height[left]), (place[left], top),
                       (place[right], top), (place[right], height[right])]  # fmt: skip
    return Tree(order, children, branches, owner[n:])


def _leaves(children: list[tuple[int, int]], n: int) -> list[int]:
    """List the leaves from left to right; a stack, because the tree may be a thousand deep."""
    order, waiting = [], [n + len(children) - 1]
    while waiting:
        node = waiting.pop()
        if node < n:
            order.append(node)
        else:
            left, right = children[node - n]
            waiting += [right, left]
    return order

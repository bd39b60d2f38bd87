"""Groups of nodes whose names follow each other: hypotheses where few pairs were measured.

Sites number nodes along racks and switches. So nodes of one group mostly have consecutive names,
and a boundary between two names is as high as the nearest pair that spans it: in a hierarchy
t(a, b) is the highest boundary between a and b. Whether groups exist is decided by the times.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from math import comb, lgamma, log, pi, sqrt

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.base.stats import distinct
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.partitions import Partition, canonical, is_grouping
from isochrone.latency_map.thresholds import (
    DENDROGRAM_CUTS,
    MIN_BOUNDARIES,
    MIN_BOUNDARY_SIDE,
    REACH,
)


def name_order(names: Sequence[str]) -> Ints:
    """Return the place of each name, with numbers in names compared as numbers."""
    keys = [[_part(x) for x in re.split("([0-9]+)", name) if x] for name in names]
    position = np.empty(len(names), dtype=np.int64)
    position[sorted(range(len(names)), key=keys.__getitem__)] = np.arange(len(names))
    return position


def _part(text: str) -> tuple[bool, int, str, str]:
    """Return what a part of a name is ordered by; numbers of any length are never converted."""
    if not (text.isascii() and text.isdigit()):
        return True, 0, text, text
    digits = text.lstrip("0")
    return False, len(digits), digits, text


def ways_in_order(group: Partition, parent: Partition, position: Ints) -> float:
    """Log of the number of ways to group units like this if groups have consecutive names.

    Infinite if they have not.
    """

    def boundaries(partition: Partition) -> int:
        inner = partition[np.argsort(position)]
        return int(np.count_nonzero(inner[1:] != inner[:-1]))

    breaks, above = boundaries(group), boundaries(parent)
    if breaks > group.max() or above > parent.max():
        return float("inf")
    sizes = np.unique(np.bincount(group), return_counts=True)[1].tolist()
    alike = lgamma(breaks + 2) - sum(lgamma(k + 1) for k in sizes) + len(sizes) * log(len(position))
    return min(log(comb(len(position) - 1 - above, breaks - above)) + log(len(position)), alike)


def ways_of_groups(group: Partition, parent: Partition) -> float:
    """Log of the number of ways to group the units of each coarser group like this."""
    total = 0.0
    for k in distinct(parent):
        count = np.unique(group[parent == k], return_counts=True)[1]
        total += lgamma(count.sum() + 1)
        total -= sum(map(lgamma, [*(count + 1), *(np.bincount(count) + 1)]))
    return total


def ways_of_sizes(units: int) -> float:
    """Log of the number of sizes that groups may have: partitions of a number.

    By the formula of Hardy & Ramanujan (1918), *Asymptotic formulae in combinatory analysis*.
    """
    return max(0.0, pi * sqrt(2 * units / 3) - log(4 * units * sqrt(3))) if units > 2 else 0.0


def rejoined(chain: Sequence[Partition], position: Ints) -> Iterator[list[Partition]]:
    """Join, on each level, units alone that have consecutive names and one coarser group."""
    order = np.argsort(position)
    for k, (group, parent) in enumerate(pairwise(chain)):
        singleton = (np.bincount(group) == 1)[group][order]
        adjacent = singleton[1:] & singleton[:-1] & (parent[order][1:] == parent[order][:-1])
        if adjacent.any():
            names = np.append(0, np.cumsum(~adjacent))
            joined = np.where(singleton, len(position) + names, group[order])
            yield [*chain[:k], canonical(joined[position]), *chain[k + 1 : -1]]


def groups_in_order(times: Times, seconds: Floats, position: Ints) -> Iterator[list[Partition]]:
    """Propose chains of groups with consecutive names, by the heights of the boundaries."""
    first, second = position[times.i], position[times.j]
    low, span = np.minimum(first, second), np.abs(first - second)
    height = np.full((2, times.units - 1), np.inf)
    for kind, reach in enumerate((MIN_BOUNDARY_SIDE, REACH)):
        for offset in range(reach):
            spanning = (span > offset) & (span <= reach)
            np.minimum.at(height[kind], low[spanning] + offset, seconds[spanning])
    if np.isfinite(height[0]).mean() < MIN_BOUNDARIES:
        return
    height = height[1]
    height = np.log(np.where(np.isfinite(height), height, seconds.max()))
    ordered = np.sort(height)
    gap = np.diff(ordered)
    partitions = {}
    for k in np.argsort(-gap, kind="stable")[:DENDROGRAM_CUTS]:
        cut = height > ordered[k] + gap[k] / 2
        # units alone between boundaries are one group: what is slow among them looks the same
        isolated = np.append(True, cut) & np.append(cut, True)
        for boundary in (cut, cut & ~(isolated[1:] & isolated[:-1])):
            partition = canonical(np.append(0, np.cumsum(boundary))[position])
            if is_grouping(partition):
                partitions[partition.tobytes()] = partition
    groups = sorted(partitions.values(), key=lambda p: -int(p.max()))
    yield from ([p] for p in groups)
    yield from map(list, combinations(groups, 2))

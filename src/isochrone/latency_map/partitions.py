"""Partitions of ranks or nodes into groups, and chains of nested ones."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from isochrone.base.arrays import Array, Ints
from isochrone.base.stats import distinct

Partition = Ints
"""Number of the group of each rank or node."""


def numbered(keys: Sequence[Hashable]) -> Partition:
    """Put together what has the same key; groups are numbered in the order of their first ranks."""
    numbers = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], dtype=np.int64)


def canonical(labels: Partition) -> Partition:
    """Return the partition with its groups numbered in the order of their first ranks."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.empty_like(first)
    order[np.argsort(first)] = np.arange(len(first))
    return order[inverse].astype(np.int64)


def is_grouping(partition: Partition) -> bool:
    """Whether it joins and separates some: neither all are in one group nor each by itself."""
    return bool(0 < partition.max() < len(partition) - 1)


def key_of(chain: Sequence[Partition]) -> tuple[bytes, ...]:
    """Return what tells chains apart, and can be a key of a dict."""
    return tuple(partition.tobytes() for partition in chain)


def groups_of(partition: Partition) -> list[list[int]]:
    """List the ranks of each group, in rank order."""
    groups: list[list[int]] = [[] for _ in range(int(partition.max()) + 1)]
    for rank, group in enumerate(partition.tolist()):
        groups[group].append(rank)
    return groups


def parted(code: Ints, values: Array) -> Iterator[tuple[int, Array]]:
    """Yield each code with the values that have it."""
    order = np.argsort(code, kind="stable")
    codes, first = np.unique(code[order], return_index=True)
    values_by_code = np.split(values[order], first[1:]) if len(codes) else []
    return zip(codes.tolist(), values_by_code, strict=True)


def level_of(chain: Sequence[Partition], i: Ints, j: Ints) -> Ints:
    """Return the level of pairs: the number of partitions that have them in two groups."""
    level = np.zeros(len(i), dtype=np.int64)
    for partition in chain:
        level += partition[i] != partition[j]
    return level


def level_matrix(partitions: Sequence[Partition]) -> NDArray[np.int8]:
    """Return the level of every pair, shape (N, N)."""
    level = np.zeros((len(partitions[0]),) * 2, dtype=np.int8)
    for partition in partitions:
        level += partition[:, None] != partition
    return level


def nested(a: Partition, b: Partition) -> bool:
    """Whether each group of one partition lies within one group of the other."""
    intersections = len(distinct(a * (int(b.max()) + 1) + b))
    return intersections in (a.max() + 1, b.max() + 1)

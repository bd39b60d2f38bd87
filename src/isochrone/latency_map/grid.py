"""Machines without levels: a torus or mesh, where times grow with the hops between nodes.

The nearest nodes are neighbours; the hops between two nodes are the edges of the shortest path in
the graph of neighbours. Where time = latency + hops x time of a hop explains most of how times
differ, the machine is a grid.
"""

from typing import NamedTuple

import numpy as np

from isochrone.base.arrays import Bools, Ints
from isochrone.base.stats import median_of
from isochrone.latency_map.pairs import Times
from isochrone.latency_map.thresholds import (
    FEW_NODES,
    MAX_HOP_RATIO,
    MAX_PATH_NODES,
    MIN_EXPLAINED_VARIANCE,
    MIN_HOPS,
)


class Grid(NamedTuple):
    """Hops explain the times: their largest number, and seconds of the first and each further."""

    hops: int
    first: float
    further: float


def grid_of(times: Times) -> Grid | None:
    """Return what hops say of a complete map of nodes; None if they do not explain it."""
    if not FEW_NODES <= times.units <= MAX_PATH_NODES or times.root.any():
        return None
    if len(times.i) < times.units * (times.units - 1) / 2:
        return None
    adjacent = times.seconds <= MAX_HOP_RATIO * median_of(times.nearest)
    hops = _hops(times, adjacent)
    if hops is None or not MIN_HOPS <= hops.max() <= times.units // 2:
        return None
    further, first = np.polyfit(hops, times.seconds, 1)
    left = np.var(times.seconds - first - further * hops)
    if further <= 0 or left > (1 - MIN_EXPLAINED_VARIANCE) * np.var(times.seconds):
        return None
    return Grid(int(hops.max()), float(first + further), float(further))


def _hops(times: Times, adjacent: Bools) -> Ints | None:
    """Return the hops of each pair over near pairs; None if these do not join all nodes."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    # SciPy 1.11 searches graphs of 32-bit indices only
    ends = times.i[adjacent].astype(np.int32), times.j[adjacent].astype(np.int32)
    graph = csr_array((np.ones(len(ends[0])), ends), shape=(times.units, times.units))
    lengths = shortest_path(graph, method="D", directed=False, unweighted=True)
    hops = lengths[times.i, times.j]
    return hops.astype(np.int64) if np.isfinite(hops).all() else None

"""Exact searches for an order of nodes; equal nodes are not permuted."""

from math import factorial, prod
from time import monotonic

import numpy as np

from isochrone.collective_io.nodes.positions import Positions
from isochrone.collective_io.predict.node_cost import TIE
from isochrone.collective_io.workload import Ints, in_portions

MAX_ORDERS = 50_000
"""Maximum number of orders for plain enumeration."""

MAX_STATES = 200_000
"""Widest layer of the search by layers; beyond it only the most promising are followed."""

_COSTS_BATCH = 500_000
"""Costs that are worked out at once."""

_MAX_COST_EVALUATIONS = 50_000_000
"""Most evaluations of a cost that the relaxed bound may take."""


def is_small(positions: Positions) -> bool:
    """Whether an exact search is certain to be fast."""
    if are_few(positions):
        return True
    states = prod((positions.counts + 1).tolist())
    return len(positions.weights) == 1 and bool(states <= MAX_STATES // 10)


def are_few(positions: Positions) -> bool:
    """Whether to enumerate all orders, where the search by layers proves nothing.

    So it is with several kinds of rounds, and where the cost of a node depends on the others.
    """
    separable = len(positions.weights) == 1 and not positions.of_neighbours
    return not separable and how_many(positions.counts) <= MAX_ORDERS


def enumerate_orders(positions: Positions, cost: float) -> tuple[Ints | None, bool]:
    """Enumerate all orders of the multiset of sizes, if there are few.

    Returns
    -------
    tuple
        An order that is cheaper than ``cost`` or None; and whether all were tried.
    """
    if how_many(positions.counts) > MAX_ORDERS:
        return None, False
    orders = arrangements(positions.sizes, positions.counts)
    costs = positions.total(orders)
    best = int(np.argmin(costs))
    return (orders[best] if costs[best] < cost * (1 - TIE) else None), True


def arrangements(labels: Ints, counts: Ints) -> Ints:
    """Return all permutations of the multiset with these ``counts``, one a row."""
    orders = np.empty((1, 0), np.int64)
    left = counts[None, :]
    for _ in range(int(counts.sum())):
        which, label = np.nonzero(left)
        orders = np.column_stack([orders[which], labels[label]])
        left = left[which].copy()
        left[np.arange(len(left)), label] -= 1
    return orders


def how_many(counts: Ints) -> int:
    """Return the number of permutations of the multiset with these ``counts``."""
    return factorial(int(counts.sum())) // prod(map(factorial, counts.tolist()))


def layered_search(positions: Positions, cost: float, end: float) -> tuple[Ints | None, bool]:
    """Search an order cheaper than ``cost``, position by position (dynamic programming, bounded).

    A state is the multiset of sizes used so far: it determines the position and the ranks before,
    and hence all later costs. Each state stores its least hot spot so far; states no better than
    ``cost`` are dropped. For one kind of round only. The search uses `Positions.costs`, which are
    bounds where nodes depend on each other.

    Returns
    -------
    tuple
        An order that is cheaper or None; and whether there is certainly no better one than this
        or, if None, than ``cost``.
    """
    sizes, counts = positions.sizes, positions.counts
    if prod((counts + 1).tolist()) >= 2**62:
        return None, False
    strides = np.append(1, np.cumprod(counts[:-1] + 1))
    code, hot, first_rank = (np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64))
    layers = []
    complete, limit = True, cost * (1 - TIE)
    for position in range(positions.nodes):
        if monotonic() > end:
            return None, False
        used = code[:, None] // strides % (counts + 1)
        chosen, parent = np.nonzero((used < counts).T)
        size, first_rank = sizes[chosen], first_rank[parent]
        columns = np.full(len(size), position), first_rank, size
        step = in_portions(lambda *portion: positions.costs(*portion)[0], _COSTS_BATCH, *columns)
        hot = np.maximum(hot[parent], step)
        code, first_rank = code[parent] + strides[chosen], first_rank + size
        order = np.lexsort((hot, code))
        order = order[hot[order] < limit]
        first = order[np.append(True, np.diff(code[order]) > 0)[: len(order)]]
        if len(first) > MAX_STATES:
            complete = False
            away = np.abs(first_rank[first] / positions.ranks - (position + 1) / positions.nodes)
            first = first[np.argsort(away, kind="stable")[: MAX_STATES // 10]]
        if not len(first):
            return None, complete
        code, hot, first_rank = code[first], hot[first], first_rank[first]
        layers.append((parent[first], chosen[first]))
    at, path = int(np.argmin(hot)), []
    for parent, chosen in reversed(layers):
        path.append(int(sizes[chosen[at]]))
        at = int(parent[at])
    return np.array(path[::-1]), complete


def relaxed_bound(positions: Positions, low: float, cost: float, end: float) -> float:
    """Return a cost below which no order can be, sizes being allowed any number of times.

    Dynamic programming over place and ranks before; every real order is one of its paths. It is
    not made where it would take too long; then the answer is ``low``.
    """
    nodes, ranks = positions.nodes, positions.ranks
    if len(positions.weights) > 1 or nodes * ranks * len(positions.sizes) > _MAX_COST_EVALUATIONS:
        return low
    hot = np.full(ranks + 1, np.inf)
    hot[0] = 0.0
    for position in range(nodes):
        if monotonic() > end:
            return low
        following = np.full(ranks + 1, np.inf)
        reached = np.flatnonzero(hot <= cost)
        for size in positions.sizes.tolist():
            starts = reached[reached + size <= ranks]
            if len(starts):
                step = positions.costs(
                    np.full(len(starts), position), starts, np.full(len(starts), size)
                )
                value = np.maximum(hot[starts], step[0])
                following[starts + size] = np.minimum(following[starts + size], value)
        hot = following
    return max(low, min(float(hot[ranks]), cost))

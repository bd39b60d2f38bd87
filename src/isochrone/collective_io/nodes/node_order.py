"""The order of nodes with the least predicted cost: quick heuristics, local search, exact search.

A node has few messages if it serves the data of its own ranks. Node k of n serves the file from k/n
to (k+1)/n; its ranks own, roughly, S/P to (S+c)/P, where S of all P ranks are on nodes before it.
Both match if large nodes are spread evenly among small ones. Sorting by size is the worst order.
"""

from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from isochrone.collective_io.nodes.exact import (
    are_few,
    enumerate_orders,
    is_small,
    layered_search,
    relaxed_bound,
)
from isochrone.collective_io.nodes.positions import Positions
from isochrone.collective_io.predict.node_cost import TIE, gap_to
from isochrone.collective_io.workload import Floats, Ints

SEARCH_SECONDS = 8.0
"""Time limit of the search, not counting what cannot be left out."""

SECONDS_OF_MANY = 30.0
"""The same for more than `MAX_EXACT_NODES` nodes."""

MAX_EXACT_NODES = 2048


class NodeOrder(NamedTuple):
    """An order of nodes.

    Attributes
    ----------
    order
        Nodes, as indices of those given.
    cost, given_cost
        Seconds of a round in this and in the given order.
    lower_bound
        No order is cheaper than this.
    method
        What found it: ``given``, ``spread``, ``in step``, ``sorted``, ``local search``, ``exact``.
    others
        Costs of reference orders, by name.
    """

    order: list[int]
    cost: float
    given_cost: float
    lower_bound: float
    method: str
    others: dict[str, float]

    @property
    def gap(self) -> float:
        """How far the cost may be from the best, as a part of the bound; 0 if it is proven best."""
        return gap_to(self.cost, self.lower_bound)


def spread(cores: Ints) -> Ints:
    """Spread the nodes of each size evenly over the order (Bresenham's rule for many sizes).

    The ideal position of the j-th of m nodes of a size is (j + 1/2) / m; nodes are sorted by it.
    """
    sizes, counts = np.unique(cores, return_counts=True)
    wish = np.concatenate([(np.arange(m) + 0.5) / m for m in counts])
    size = np.repeat(sizes, counts)
    return size[np.lexsort((-size, wish))]


def in_step(cores: Ints) -> Ints:
    """Choose at each place the node after which the ranks are most in step with the file."""
    sizes, counts = np.unique(cores, return_counts=True)
    total, first_rank = int(cores.sum()), 0
    chosen = np.empty(len(cores), np.int64)
    for position in range(len(cores)):
        left = np.flatnonzero(counts)
        middle = first_rank + sizes[left] / 2
        best = left[np.argmin(np.abs(middle - (position + 0.5) * total / len(cores)))]
        counts[best] -= 1
        chosen[position] = sizes[best]
        first_rank += int(sizes[best])
    return chosen


def best_order(
    cores: Sequence[int], positions: Positions, *, seconds: float | None = None
) -> NodeOrder:
    """Return the cheapest order found in time, with a lower bound.

    Parameters
    ----------
    cores
        Ranks of each node, in the given order.
    positions
        Costs of nodes by position.
    seconds
        Time limit of local and exact search together; None: derived from the number of nodes.
    """
    default_seconds = SEARCH_SECONDS if len(cores) <= MAX_EXACT_NODES else SECONDS_OF_MANY
    end = monotonic() + (default_seconds if seconds is None else seconds)
    given_sizes = np.array(cores, np.int64)
    generator = np.random.default_rng(1)
    orders = {
        "given": given_sizes,
        "spread": spread(given_sizes),
        "in step": in_step(given_sizes),
        "ascending": np.sort(given_sizes),
        "descending": np.sort(given_sizes)[::-1],
        "random": generator.permutation(given_sizes),
    }
    costs = {name: float(positions.total(order)) for name, order in orders.items()}
    method = min(costs, key=lambda name: costs[name])
    best = _Best(orders[method], costs[method], method)
    bound = positions.bound()
    small = is_small(positions)
    if not best.reaches(bound) and small:
        bound = max(bound, _exact(positions, best, end))
    for name in sorted(orders, key=lambda name: costs[name])[:3]:
        if not best.reaches(bound):  # each gets half of the time that is left
            share = monotonic() + 0.5 * (end - monotonic())
            order = improve(orders[name], positions, bound, share, generator)
            best.take(order, positions, "local search")
    if not best.reaches(bound) and not small:
        bound = max(bound, _exact(positions, best, end))
    if not best.reaches(bound):
        bound = max(bound, relaxed_bound(positions, bound, best.cost, end))
    if best.reaches(bound):
        bound = best.cost
    return NodeOrder(
        nodes_of(given_sizes, best.order), best.cost, costs["given"], bound, best.method, costs
    )


class _Best(Struct):
    """The cheapest order so far, and the method that found it."""

    order: Ints
    cost: float
    method: str

    def reaches(self, bound: float) -> bool:
        """Whether it reaches the lower bound."""
        return self.cost <= bound * (1 + TIE)

    def take(self, order: Ints, positions: Positions, method: str) -> None:
        """Replace it by an order if that is cheaper."""
        cost = float(positions.total(order))
        if cost < self.cost * (1 - TIE):
            self.order, self.cost, self.method = order, cost, method


def _exact(positions: Positions, best: _Best, end: float) -> float:
    """Search a cheaper order; return a lower bound of the cost of all."""
    if are_few(positions) or len(positions.weights) > 1:
        order, complete = enumerate_orders(positions, best.cost)
        if order is not None:
            best.take(order, positions, "exact")
        return best.cost if complete else 0.0
    order, complete = layered_search(positions, best.cost, end)
    bound = best.cost
    if order is not None:
        best.take(order, positions, "exact")
        bound = positions.least(order)
    return min(bound, best.cost) if complete else 0.0


def nodes_of(given_sizes: Ints, sizes: Ints) -> list[int]:
    """Convert an order of sizes to nodes; nodes of equal size retain their order."""
    order = np.empty(len(given_sizes), np.int64)
    order[np.argsort(sizes, kind="stable")] = np.argsort(given_sizes, kind="stable")
    return list(map(int, order))


# --- local search --------------------------------------------------------------------------------

# Local search for an order of nodes: swap two nodes to reduce the hot-spot cost.
#
# A swap changes only the costs of the nodes from one to the other of the pair. Many swaps are
# therefore evaluated at once.

_HOT_NODE_SWAPS = 48
"""A hot node is swapped with each of this many nodes on either side …"""
_NEIGHBOUR_SWAPS = 10
"""… and each of this many before it with each of this many after it, and it …"""
_RANDOM_SWAPS = 32
"""… with this many of all others, and with as many of about its own size, by chance: the ranks
before those in between hardly change then."""
_SIMILAR_SIZES = 4
"""Sizes that differ by no more are about the same."""
_POWER = 12
"""Of the sum that decides between swaps that leave the hottest node as it is."""
_SAME = 1 + 1e-12
"""Costs that differ by no more than this factor are equal."""
_GIVE_UP = 300
"""Kicks in a row without a gain after which the search ends."""


def improve(
    start: Ints, positions: Positions, bound: float, end: float, generator: np.random.Generator
) -> Ints:
    """Return an order that is at least as good as ``start``.

    Parameters
    ----------
    start
        Ranks of each node, in order.
    bound
        Lower bound: the search stops there.
    end
        Time (of the monotonic clock) at which to stop.
    generator
        For far swaps and for kicks.
    """
    search = _Search(start.copy(), positions)
    best, best_cost, kicks = start.copy(), search.cost, 0
    while best_cost > bound * (1 + TIE) and kicks < _GIVE_UP and monotonic() < end:
        while search.cost > bound * (1 + TIE) and monotonic() < end:
            if not search.step(generator):
                break
        if search.cost < best_cost * (1 - TIE):
            best, best_cost, kicks = search.order.copy(), search.cost, 0
        else:
            kicks += 1
            search = _Search(best.copy(), positions)
        search.kick(generator)
    return best


class _Search:
    """An order, what its nodes cost, and the hottest before and after each place."""

    def __init__(self, order: Ints, positions: Positions) -> None:
        self.order, self.positions = order, positions
        self.before = np.zeros_like(order)
        self.costs = np.zeros((len(positions.weights), len(order)))
        self.refresh(0, len(order))

    def refresh(self, first: int, end: int) -> None:
        """Take up what changed at the places ``first`` … ``end - 1``."""
        sizes = self.order[first:end]
        start = int(self.before[first]) if first else 0
        self.before[first:end] = start + np.cumsum(sizes) - sizes
        positions = np.arange(first, end)
        self.costs[:, first:end] = self.positions.costs(positions, self.before[first:end], sizes)
        edge = np.zeros((len(self.costs), 1))
        self.upto = np.hstack([edge, np.maximum.accumulate(self.costs, axis=1)])
        back = np.maximum.accumulate(self.costs[:, ::-1], axis=1)[:, ::-1]
        self.beyond = np.hstack([back, edge])
        self.cost = float(self.positions.weights @ self.costs.max(axis=1))

    def step(self, generator: np.random.Generator) -> bool:
        """Make the best swap around the hottest node of some kind of round, if one is better."""
        kind = int(generator.choice(len(self.costs), p=self.positions.weights))
        hot = int(np.argmax(self.costs[kind]))
        i, j = self.promising(*self.candidates(hot, generator))
        if not len(i):
            return False
        cost, change = self.evaluate(i, j)
        best = int(np.lexsort((change, cost))[0])
        same = cost[best] <= self.cost * _SAME and change[best] < -1e-9
        if cost[best] < self.cost * (1 - 1e-9) or same:
            first, last = int(i[best]), int(j[best])
            self.order[[first, last]] = self.order[[last, first]]
            self.refresh(first, last + 1)
            return True
        return False

    def candidates(self, hot: int, generator: np.random.Generator) -> tuple[Ints, Ints]:
        """List pairs of positions whose swap changes the node at ``hot`` or the ranks before it."""
        n = len(self.order)
        neighbours = np.arange(max(0, hot - _HOT_NODE_SWAPS), min(n, hot + _HOT_NODE_SWAPS + 1))
        # far swaps cost more to evaluate the farther they are: fewer of them in a large order
        draws = _RANDOM_SWAPS if n <= 2048 else 4
        alike = np.flatnonzero(np.abs(self.order - self.order[hot]) <= _SIMILAR_SIZES)
        distant = np.concatenate([generator.integers(0, n, draws), generator.choice(alike, draws)])
        left = np.arange(max(0, hot - _NEIGHBOUR_SWAPS), hot)
        right = np.arange(hot + 1, min(n, hot + _NEIGHBOUR_SWAPS + 1))
        across = np.meshgrid(left, right, indexing="ij")
        others = np.concatenate([neighbours, distant])
        i = np.concatenate([np.minimum(others, hot), across[0].ravel()])
        j = np.concatenate([np.maximum(others, hot), across[1].ravel()])
        useful = self.order[i] != self.order[j]
        return i[useful], j[useful]

    def promising(self, i: Ints, j: Ints) -> tuple[Ints, Ints]:
        """Drop swaps after which the swapped nodes alone exceed the hot spot.

        That saves most of the work of far swaps.
        """
        if not len(i):
            return i, j
        positions = self.positions
        left = positions.costs(i, self.before[i], self.order[j])
        right = positions.costs(j, self.before[j] + self.order[j] - self.order[i], self.order[i])
        unswapped = np.maximum(self.upto[:, i], self.beyond[:, j + 1])
        bounds = positions.weights @ np.maximum(np.maximum(left, right), unswapped)
        useful = bounds <= self.cost * _SAME
        return i[useful], j[useful]

    def evaluate(self, i: Ints, j: Ints) -> tuple[Floats, Floats]:
        """Return the cost after each swap, and how much the sum of powers changes."""
        length = j - i + 1
        starts = np.cumsum(length) - length
        position = np.arange(length.sum()) - np.repeat(starts - i, length)
        shift = np.repeat(self.order[j] - self.order[i], length)
        size = self.order[position].copy()
        size[starts], size[starts + length - 1] = self.order[j], self.order[i]
        first_rank = self.before[position] + shift
        first_rank[starts] = self.before[i]
        costs = self.positions.costs(position, first_rank, size)
        within = np.maximum.reduceat(costs, starts, axis=1)
        hottest = np.maximum(within, np.maximum(self.upto[:, i], self.beyond[:, j + 1]))
        weights = self.positions.weights
        power = (costs / self.cost) ** _POWER - (self.costs[:, position] / self.cost) ** _POWER
        return weights @ hottest, weights @ np.add.reduceat(power, starts, axis=1)

    def kick(self, generator: np.random.Generator) -> None:
        """Shuffle a few neighbours of the hottest node."""
        kind = int(generator.choice(len(self.costs), p=self.positions.weights))
        hot = int(np.argmax(self.costs[kind]))
        low = max(0, hot - int(generator.integers(1, 6)))
        high = min(len(self.order), hot + int(generator.integers(2, 7)))
        self.order[low:high] = generator.permutation(self.order[low:high])
        self.refresh(low, high)

"""The order of nodes with the least predicted cost: quick heuristics, local search, exact search.

A node has few messages if it serves the data of its own ranks. Node k of n serves the file from k/n
to (k+1)/n; its ranks own, roughly, S/P to (S+c)/P, where S of all P ranks are on nodes before it.
Both match if large nodes are spread evenly among small ones. Sorting by size is the worst order.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from isochrone.collective_io.nodes.exact import (
    are_few,
    enumerate_orders,
    is_small,
    layered_search,
    relaxed_bound,
)
from isochrone.collective_io.nodes.local_search import improve
from isochrone.collective_io.nodes.positions import Positions
from isochrone.collective_io.predict.node_cost import TIE
from isochrone.collective_io.workload import Ints

SECONDS: Final = 8.0
"""Time limit of the search, not counting what cannot be left out."""

SECONDS_OF_MANY: Final = 30.0
"""The same for more than `MANY` nodes."""

MANY: Final = 2048


@dataclass(frozen=True)
class NodeOrder:
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
        return self.cost / self.lower_bound - 1 if self.lower_bound > 0 else float("inf")


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
    total, before = int(cores.sum()), 0
    chosen = np.empty(len(cores), np.int64)
    for place in range(len(cores)):
        left = np.flatnonzero(counts)
        middle = before + sizes[left] / 2
        best = left[np.argmin(np.abs(middle - (place + 0.5) * total / len(cores)))]
        counts[best] -= 1
        chosen[place] = sizes[best]
        before += int(sizes[best])
    return chosen


def best_order(
    cores: Sequence[int], positions: Positions, *, seconds: float | None = None, seed: int = 1
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
    seed
        Of the random orders to compare with, and of the local search.
    """
    usual = SECONDS if len(cores) <= MANY else SECONDS_OF_MANY
    end = time.monotonic() + (usual if seconds is None else seconds)
    given = np.array(cores, np.int64)
    generator = np.random.default_rng(seed)
    orders = {
        "given": given,
        "spread": spread(given),
        "in step": in_step(given),
        "ascending": np.sort(given),
        "descending": np.sort(given)[::-1],
        "random": generator.permutation(given),
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
            share = time.monotonic() + 0.5 * (end - time.monotonic())
            order = improve(orders[name], positions, bound, share, generator)
            best.take(order, positions, "local search")
    if not best.reaches(bound) and not small:
        bound = max(bound, _exact(positions, best, end))
    if not best.reaches(bound):
        bound = max(bound, relaxed_bound(positions, bound, best.cost, end))
    if best.reaches(bound):
        bound = best.cost
    return NodeOrder(
        nodes_of(given, best.order), best.cost, costs["given"], bound, best.method, costs
    )


@dataclass
class _Best:
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


def nodes_of(given: Ints, sizes: Ints) -> list[int]:
    """Convert an order of sizes to nodes; nodes of equal size retain their order."""
    waiting: dict[int, list[int]] = {}
    for node in reversed(range(len(given))):
        waiting.setdefault(int(given[node]), []).append(node)
    return [waiting[int(size)].pop() for size in sizes]

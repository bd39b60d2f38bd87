"""The order of nodes with the least predicted cost: quick heuristics, local search, exact search.

A node is cheap if the part of the file it serves is that of its own ranks. Node k of n serves the
part from k/n to (k+1)/n of the file, and its ranks own, roughly, the part from S/P to (S+c)/P,
where S of all P ranks are on nodes before it. Both stay in step if the large nodes are spread
evenly among the small ones. Sorting by size is the worst one can do.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from isochrone.improve.nodes.exact import (
    arrangements,
    enumerate_orders,
    how_many,
    is_small,
    layered_search,
    relaxed_bound,
)
from isochrone.improve.nodes.local_search import improve
from isochrone.improve.nodes.positions import Positions
from isochrone.predict.node_cost import TIE
from isochrone.workloads import Ints

__all__ = ["NodeOrder", "best_order", "in_step", "nodes_of", "spread"]

SECONDS: Final = 8.0
"""Time limit of the search, not counting what cannot be left out."""

SECONDS_OF_MANY: Final = 30.0
"""The same for more than `MANY` nodes."""

MANY: Final = 2048

SECONDS_AMONG_BUSY: Final = 2.0
"""What is left at least for the search among busy nodes."""

FEW_ORDERS: Final = 5_000
"""So many orders are tried one by one where the cost of a node depends on all others."""


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
        No order is cheaper than this; 0 if that is not known.
    method
        What found it: ``given``, ``spread``, ``in step``, ``sorted``, ``local search``, ``exact``.
    others
        Costs of orders to compare with, by name.
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

    The j-th of m nodes of a size would like to stand at the part (j + 1/2) / m of the order; all
    nodes are sorted by this wish.
    """
    sizes, counts = np.unique(cores, return_counts=True)
    wish = np.concatenate([(np.arange(m) + 0.5) / m for m in counts])
    size = np.repeat(sizes, counts)
    found: Ints = size[np.lexsort((-size, wish))]
    return found


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
    """Return the cheapest order that is found in time, with a bound.

    Parameters
    ----------
    cores
        Ranks of each node, in the given order.
    positions
        What nodes cost where.
    seconds
        Time limit of local and exact search together; None: what suits the number of nodes.
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
    proven = best.cost <= bound * (1 + TIE)
    if not proven and is_small(positions):
        proven = _exact(positions, best, end)
    if not proven:
        promising = sorted(orders, key=lambda name: costs[name])[:3]
        _local(positions, best, [orders[name] for name in promising], bound, end, generator)
        proven = best.cost <= bound * (1 + TIE)
    if not proven and not is_small(positions):
        proven = _exact(positions, best, end)
    if not proven:
        bound = max(bound, relaxed_bound(positions, bound, best.cost, end))
    if proven or best.cost <= bound * (1 + TIE):
        bound = best.cost
    if positions.of_neighbours:
        end = max(end, time.monotonic() + SECONDS_AMONG_BUSY)
        return _among_busy(given, orders, best, bound, positions, end)
    order = nodes_of(given, best.order)
    return NodeOrder(order, best.cost, costs["given"], bound, best.method, costs)


def _among_busy(
    given: Ints,
    orders: Mapping[str, Ints],
    best: _Best,
    bound: float,
    positions: Positions,
    end: float,
) -> NodeOrder:
    """Search once more, by what nodes cost where the others are as busy as they are.

    The search before took all others to be idle. Its bound still holds if busy nodes cost no less;
    an order is proven best only if all were tried.
    """
    cost = positions.among_busy
    others = {name: cost(order) for name, order in orders.items()}
    candidates = {**orders, best.method: best.order}
    costs = {**others, best.method: cost(best.order)}
    method = min(costs, key=lambda name: (costs[name], name != best.method))
    found, least = candidates[method], costs[method]
    few = how_many(positions.counts) <= FEW_ORDERS
    tried = arrangements(positions.sizes, positions.counts) if few else _exchanged(found)
    for order in tried:
        if time.monotonic() > end:
            few = False
            break
        if (one := cost(order)) < least * (1 - TIE):
            found, least, method = order, one, "exact" if few else "local search"
    bound = least if few else bound if positions.busy_costs else 0.0
    return NodeOrder(nodes_of(given, found), least, others["given"], bound, method, others)


def _exchanged(order: Ints) -> Iterator[Ints]:
    """Yield an order with each two unlike nodes exchanged."""
    for one, other in combinations(range(len(order)), 2):
        if order[one] != order[other]:
            exchanged = order.copy()
            exchanged[[one, other]] = order[[other, one]]
            yield exchanged


@dataclass
class _Best:
    """The cheapest order so far, and what found it."""

    order: Ints
    cost: float
    method: str

    def take(self, order: Ints, positions: Positions, method: str) -> None:
        """Take another order if it is cheaper."""
        cost = float(positions.total(order))
        if cost < self.cost * (1 - TIE):
            self.order, self.cost, self.method = order, cost, method


def _local(
    positions: Positions,
    best: _Best,
    starts: Sequence[Ints],
    bound: float,
    end: float,
    generator: np.random.Generator,
) -> None:
    """Improve several orders by local search; each gets half of the time that is left."""
    for start in starts:
        if best.cost > bound * (1 + TIE):
            share = time.monotonic() + 0.5 * (end - time.monotonic())
            order = improve(start, positions, bound, share, generator)
            best.take(order, positions, "local search")


def _exact(positions: Positions, best: _Best, end: float) -> bool:
    """Look for a cheaper order; tell whether there is certainly none."""
    if len(positions.weights) > 1:
        order, complete = enumerate_orders(positions, best.cost)
    else:
        order, complete = layered_search(positions, best.cost, end)
    if order is not None:
        best.take(order, positions, "exact")
    return complete


def nodes_of(given: Ints, sizes: Ints) -> list[int]:
    """Turn an order of sizes into nodes; nodes of the same size keep their order."""
    waiting: dict[int, list[int]] = {}
    for node in reversed(range(len(given))):
        waiting.setdefault(int(given[node]), []).append(node)
    return [waiting[int(size)].pop() for size in sizes]

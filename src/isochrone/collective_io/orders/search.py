"""Search for the cheapest order: given starts, local search, exact searches, bounds.

A swap of two elements changes only the costs of those from one to the other of the pair. Many swaps
are therefore evaluated at once.
"""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from isochrone.collective_io.orders.exact import (
    OrderCosts,
    are_few,
    enumerate_orders,
    is_small,
    layered_search,
    relaxed_bound,
)
from isochrone.collective_io.predict.node_cost import TIE, gap_to
from isochrone.collective_io.workload import Floats, Ints, in_portions


class BestOrder(NamedTuple):
    """The cheapest order that was found.

    Attributes
    ----------
    order
        Labels; of nodes, their indices.
    cost, lower_bound
        Seconds of a round in this order, and below which no order is.
    method
        Name of the start, ``local search`` or ``exact``.
    starts
        Costs of the starts, by name; one is ``given``.
    """

    order: list[int]
    cost: float
    lower_bound: float
    method: str
    starts: dict[str, float]

    @property
    def given_cost(self) -> float:
        """Seconds of a round in the given order."""
        return self.starts["given"]

    @property
    def gap(self) -> float:
        """How far the cost may be from the best, as a part of the bound; 0 if it is proven best."""
        return gap_to(self.cost, self.lower_bound)


def cheapest_order(
    costs: OrderCosts, starts: Mapping[str, Ints], bound: float, seconds: float
) -> BestOrder:
    """Return the cheapest order found in time, with a lower bound.

    Parameters
    ----------
    costs
        Of the orders.
    starts
        Initial orders, by name; each can be made.
    bound
        Known lower bound of all orders.
    seconds
        Time limit of all searches together.
    """
    end = monotonic() + seconds
    generator = np.random.default_rng(1)
    start_costs = {name: float(costs.total(order)) for name, order in starts.items()}
    method = min(start_costs, key=lambda name: start_costs[name])
    best = _Cheapest(starts[method], start_costs[method], method)
    small = is_small(costs)
    if not best.reaches(bound) and small:
        bound = max(bound, _exact(costs, best, end))
    for name in sorted(starts, key=lambda name: start_costs[name])[:3]:
        if not best.reaches(bound):  # each gets half of the time that is left
            share = monotonic() + 0.5 * (end - monotonic())
            order = improve(starts[name], costs, bound, share, generator)
            if not costs.separable:  # so far by bounds
                order = climb(order, lambda orders: -costs.total(orders), share, generator)
            best.take(order, costs, "local search")
    if not best.reaches(bound) and not small:
        bound = max(bound, _exact(costs, best, end))
    if not best.reaches(bound):
        bound = max(bound, relaxed_bound(costs, bound, best.cost, end))
    if best.reaches(bound):
        bound = best.cost
    return BestOrder(best.order.tolist(), best.cost, bound, best.method, start_costs)


class _Cheapest(Struct):
    """The cheapest order so far, and the method that found it."""

    order: Ints
    cost: float
    method: str

    def reaches(self, bound: float) -> bool:
        """Whether it reaches the lower bound."""
        return self.cost <= bound * (1 + TIE)

    def take(self, order: Ints | None, costs: OrderCosts, method: str) -> None:
        """Replace it by an order if that, as far as it can be made, is cheaper."""
        if order is None:
            return
        order, _ = costs.expressible(order)
        cost = float(costs.total(order))
        if cost < self.cost * (1 - TIE):
            self.order, self.cost, self.method = order, cost, method


def _exact(costs: OrderCosts, best: _Cheapest, end: float) -> float:
    """Search a cheaper order; return a lower bound of the cost of all."""
    limit = best.cost
    if are_few(costs):
        order, complete = enumerate_orders(costs, limit)
        bound = float(costs.total(order)) if order is not None else limit
    elif len(costs.weights) > 1:
        order, bound = costs.by_limits(limit, end - monotonic())
        complete = True
    elif len(costs.labels) == costs.length and not is_small(costs):
        return 0.0  # layers are too wide to prove anything
    else:
        order, complete = layered_search(costs, limit, end)
        bound = float(costs.least(order)) if order is not None else limit
    best.take(order, costs, "exact")
    return min(bound, limit) if complete else 0.0


Total = Callable[[Ints], Floats]
"""Costs of orders: labels of shape (orders, elements) to seconds of each order."""

ELEMENTS = 2_000_000
"""Labels whose orders are evaluated at once."""

_SWAPS = 512
"""Swaps of whole orders that are tried at once; of more pairs, some by chance."""


def climb(order: Ints, total: Total, end: float, generator: np.random.Generator) -> Ints:
    """Swap two labels while that raises the cost; each time the best of many swaps."""
    first, second = np.triu_indices(len(order), 1)
    cost = float(total(order[None, :])[0])
    while monotonic() < end:
        useful = np.flatnonzero(order[first] != order[second])
        if len(useful) > _SWAPS:
            useful = generator.choice(useful, _SWAPS, replace=False)
        if not len(useful):
            break
        i, j, row = first[useful], second[useful], np.arange(len(useful))
        tried = np.repeat(order[None, :], len(useful), axis=0)
        tried[row, i], tried[row, j] = order[j], order[i]
        costs = in_portions(total, ELEMENTS // len(order), tried)
        best = int(np.argmax(costs))
        if costs[best] - cost <= TIE * abs(cost):
            break
        order, cost = tried[best], float(costs[best])
    return order


_HOT_ELEMENT_SWAPS = 48
"""A hot element is swapped with each of this many on either side …"""
_NEIGHBOUR_SWAPS = 10
"""… and each of this many before it with each of this many after it, and it …"""
_RANDOM_SWAPS = 32
"""… with this many of all others, and with as many of about its own width, by chance: the widths
before those in between hardly change then."""
_SIMILAR_WIDTHS = 4
"""Widths that differ by no more are about the same."""
_POWER = 12
"""Of the sum that decides between swaps that leave the hottest element as it is."""
_SAME = 1 + 1e-12
"""Costs that differ by no more than this factor are equal."""
_GIVE_UP = 100
"""Kicks in a row without a gain after which the search ends."""


def improve(
    start: Ints, costs: OrderCosts, bound: float, end: float, generator: np.random.Generator
) -> Ints:
    """Return an order that is at least as good as ``start``.

    Parameters
    ----------
    start
        Labels, in order.
    costs
        Of the orders.
    bound
        Lower bound: the search stops there.
    end
        Time (of the monotonic clock) at which to stop.
    generator
        For far swaps and for kicks.
    """
    search = _Search(start.copy(), costs)
    best, best_cost, kicks = start.copy(), search.cost, 0
    while best_cost > bound * (1 + TIE) and kicks < _GIVE_UP and monotonic() < end:
        while search.cost > bound * (1 + TIE) and monotonic() < end:
            if not search.step(generator):
                break
        if search.cost < best_cost * (1 - TIE):
            best, best_cost, kicks = search.order.copy(), search.cost, 0
        else:
            kicks += 1
            search.begin(best.copy())
        search.kick(generator)
    return best


class _Search:
    """An order, what its elements cost, and the hottest before and after each position."""

    def __init__(self, order: Ints, costs: OrderCosts) -> None:
        self.of = costs
        self.chance = costs.weights / costs.weights.sum()
        self.begin(order)

    def begin(self, order: Ints) -> None:
        """Go on from an order."""
        self.order, self.movable = order, self.of.expressible(order)[1]
        self.width, self.before = np.zeros_like(order), np.zeros_like(order)
        self.costs = np.zeros((len(self.of.weights), len(order)))
        self.refresh(0, len(order))

    def refresh(self, first: int, end: int) -> None:
        """Take up what changed at the positions ``first`` … ``end - 1``."""
        labels = self.order[first:end]
        widths = self.width[first:end] = self.of.widths(labels)
        start = int(self.before[first]) if first else 0
        self.before[first:end] = start + np.cumsum(widths) - widths
        positions = np.arange(first, end)
        self.costs[:, first:end] = self.of.costs(positions, self.before[first:end], labels)
        edge = np.zeros((len(self.costs), 1))
        self.upto = np.hstack([edge, np.maximum.accumulate(self.costs, axis=1)])
        back = np.maximum.accumulate(self.costs[:, ::-1], axis=1)[:, ::-1]
        self.beyond = np.hstack([back, edge])
        self.cost = float(self.of.weights @ self.costs.max(axis=1))

    def step(self, generator: np.random.Generator) -> bool:
        """Make the best swap around the hottest element of some kind of round, if one is better."""
        kind = int(generator.choice(len(self.costs), p=self.chance))
        hot = int(np.argmax(self.costs[kind]))
        i, j = self.promising(*self.candidates(hot, generator))
        if not len(i):
            return self.moved_across(hot, generator)
        cost, change = self.evaluate(i, j)
        best = int(np.lexsort((change, cost))[0])
        same = cost[best] <= self.cost * _SAME and change[best] < -1e-9
        if cost[best] < self.cost * (1 - 1e-9) or same:
            first, last = int(i[best]), int(j[best])
            self.order[[first, last]] = self.order[[last, first]]
            self.refresh(first, last + 1)
            return True
        return self.moved_across(hot, generator)

    def moved_across(self, hot: int, generator: np.random.Generator) -> bool:
        """Let the hottest element enter or leave those that can be swapped, if that is cheaper.

        The others then follow anew: whole orders are evaluated.
        """
        n, orders = len(self.order), []
        other_side = np.arange(self.movable) if hot >= self.movable else np.arange(self.movable, n)
        for position in generator.permutation(other_side)[:_HOT_ELEMENT_SWAPS]:
            swapped = self.order.copy()
            swapped[[hot, position]] = swapped[[position, hot]]
            moved = np.insert(np.delete(self.order, hot), position, self.order[hot])
            orders += [self.of.expressible(order)[0] for order in (swapped, moved)]
        if not orders:
            return False
        least = self.of.least(np.stack(orders))
        best = int(np.argmin(least))
        if least[best] >= self.cost * (1 - 1e-9):
            return False
        self.begin(orders[best])
        return True

    def candidates(self, hot: int, generator: np.random.Generator) -> tuple[Ints, Ints]:
        """List pairs whose swap changes the element at ``hot`` or the widths before it."""
        n = len(self.order)
        neighbours = np.arange(
            max(0, hot - _HOT_ELEMENT_SWAPS), min(n, hot + _HOT_ELEMENT_SWAPS + 1)
        )
        # far swaps cost more to evaluate the farther they are: fewer of them in a large order
        draws = _RANDOM_SWAPS if n <= 2048 else 4
        alike = np.flatnonzero(np.abs(self.width - self.width[hot]) <= _SIMILAR_WIDTHS)
        distant = np.concatenate([generator.integers(0, n, draws), generator.choice(alike, draws)])
        left = np.arange(max(0, hot - _NEIGHBOUR_SWAPS), hot)
        right = np.arange(hot + 1, min(n, hot + _NEIGHBOUR_SWAPS + 1))
        across = np.meshgrid(left, right, indexing="ij")
        others = np.concatenate([neighbours, distant])
        i = np.concatenate([np.minimum(others, hot), across[0].ravel()])
        j = np.concatenate([np.maximum(others, hot), across[1].ravel()])
        useful = (self.order[i] != self.order[j]) & (j < self.movable)
        return i[useful], j[useful]

    def promising(self, i: Ints, j: Ints) -> tuple[Ints, Ints]:
        """Drop swaps after which the swapped elements alone exceed the hot spot.

        That saves most of the work of far swaps.
        """
        if not len(i):
            return i, j
        left = self.of.costs(i, self.before[i], self.order[j])
        right = self.of.costs(j, self.before[j] + self.width[j] - self.width[i], self.order[i])
        unswapped = np.maximum(self.upto[:, i], self.beyond[:, j + 1])
        bounds = self.of.weights @ np.maximum(np.maximum(left, right), unswapped)
        useful = bounds <= self.cost * _SAME
        return i[useful], j[useful]

    def evaluate(self, i: Ints, j: Ints) -> tuple[Floats, Floats]:
        """Return the cost after each swap, and how much the sum of powers changes."""
        length = j - i + 1
        starts = np.cumsum(length) - length
        position = np.arange(length.sum()) - np.repeat(starts - i, length)
        shift = np.repeat(self.width[j] - self.width[i], length)
        label = self.order[position].copy()
        label[starts], label[starts + length - 1] = self.order[j], self.order[i]
        before = self.before[position] + shift
        before[starts] = self.before[i]
        costs = self.of.costs(position, before, label)
        within = np.maximum.reduceat(costs, starts, axis=1)
        hottest = np.maximum(within, np.maximum(self.upto[:, i], self.beyond[:, j + 1]))
        weights = self.of.weights
        power = (costs / self.cost) ** _POWER - (self.costs[:, position] / self.cost) ** _POWER
        return weights @ hottest, weights @ np.add.reduceat(power, starts, axis=1)

    def kick(self, generator: np.random.Generator) -> None:
        """Shuffle a few neighbours of the hottest element."""
        kind = int(generator.choice(len(self.costs), p=self.chance))
        hot = min(int(np.argmax(self.costs[kind])), self.movable - 1)
        low = max(0, hot - int(generator.integers(1, 6)))
        high = min(len(self.order), hot + int(generator.integers(2, 7)), self.movable)
        if low < high:
            self.order[low:high] = generator.permutation(self.order[low:high])
            self.refresh(low, high)

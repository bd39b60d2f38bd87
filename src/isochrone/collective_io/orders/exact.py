"""Costs of orders of nodes or of hosts in a list of aggregators, and exact searches for the best.

An order arranges labels. Each has a width: the ranks of a node, or the aggregators of a host. The
cost of an element depends on its label, its position and the widths before it, in each kind of
round. The cost of an order is the weighted sum of the hot spots of all kinds. All searches rest on
this. With a model that has ``busy``, times depend on the other elements, too: then the costs of
elements are lower bounds. Equal labels are not permuted.
"""

import heapq
from abc import ABC, abstractmethod
from math import perm, prod
from time import monotonic
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from isochrone.base.arrays import Bools
from isochrone.collective_io.predict.node_cost import TIE
from isochrone.collective_io.workload import Floats, Ints, in_portions


class OrderCosts(ABC):
    """Costs of the orders of some labels.

    Attributes
    ----------
    weights
        Fraction of the rounds that is of each kind.
    labels, counts, width
        Different labels, ascending; how often each occurs; and their widths.
    places
        Positions, from the first on, at which it matters which label is there.
    separable
        Whether the costs of elements are exact, not bounds.
    """

    weights: Floats
    labels: Ints
    counts: Ints
    width: Ints
    places: int
    separable: bool

    @property
    @abstractmethod
    def most_orders(self) -> int:
        """Number of orders that are enumerated at most."""

    @abstractmethod
    def costs(self, position: Ints, before: Ints, label: Ints) -> Floats:
        """Return the seconds of elements in each kind of round; shape (kinds, …)."""

    @abstractmethod
    def total(self, orders: Ints) -> Floats:
        """Return the seconds of a round in whole orders; shape (…, elements)."""

    @abstractmethod
    def bound(self) -> float:
        """Return a lower bound of the cost of all orders."""

    def widths(self, labels: Ints) -> Ints:
        """Return the width of each label."""
        return self.width[np.searchsorted(self.labels, labels)]

    def each(self, orders: Ints) -> Floats:
        """Return the costs of the elements of orders; shape (kinds, …, elements)."""
        widths = self.widths(orders)
        position = np.broadcast_to(np.arange(orders.shape[-1]), orders.shape)
        return self.costs(position, np.cumsum(widths, axis=-1) - widths, orders)

    def least(self, orders: Ints) -> Floats:
        """Return the seconds below which orders are not, by what their elements are at least."""
        return np.asarray(np.tensordot(self.weights, self.each(orders).max(axis=-1), 1))

    def expressible(self, order: Ints) -> tuple[Ints, int]:
        """Return the order that can be made of this, and how many of its first may be swapped."""
        return order, len(order)

    def by_limits(self, cost: float, seconds: float) -> tuple[Ints | None, float]:
        """Return an order cheaper than ``cost`` or None, and a lower bound, by other means."""
        return None, 0.0

    @property
    def length(self) -> int:
        """Number of elements."""
        return int(self.counts.sum())

    @property
    def orders(self) -> int:
        """Number of orders that differ; of too many, some number above `most_orders`."""
        if self.places < self.length and (self.counts == 1).all():
            return perm(self.length, self.places) if self.places < 12 else self.most_orders + 1
        return how_many(self.counts)

    @property
    def states(self) -> int:
        """Number of multisets of labels, from none to all."""
        return prod((self.counts + 1).tolist())


def how_many(counts: Ints) -> int:
    """Return the number of permutations of the multiset with these ``counts``."""
    number, before = 1, 0
    for count in counts.tolist():
        number *= perm(before + count, count) // perm(count, count)
        before += count
    return number


def arrangements(labels: Ints, counts: Ints, places: int | None = None) -> Ints:
    """Return all permutations of the multiset with these ``counts``, one a row.

    ``places``: only of the first of each row; the others follow in the order of the labels.
    """
    left = counts[None, :]
    length = int(counts.sum())
    orders = np.empty((1, 0), labels.dtype)
    for _ in range(length if places is None else places):
        which, label = np.nonzero(left)
        orders = np.column_stack([orders[which], labels[label]])
        left = left[which]
        left[np.arange(len(left)), label] -= 1
    if orders.shape[1] == length:
        return orders
    others = np.repeat(np.tile(labels, len(left)), left.ravel()).reshape(len(left), -1)
    return np.column_stack([orders, others])


# --- exact searches ------------------------------------------------------------------------------

MAX_ORDERS = 50_000
"""Maximum number of orders for plain enumeration."""

MAX_STATES = 200_000
"""Widest layer of the search by layers; beyond it only the most promising are followed."""

_COSTS_BATCH = 500_000
"""Costs that are worked out at once."""

_TOTALS_BATCH = 2000
"""Orders whose total is worked out at once, those with the lowest bound first."""

_MAX_COST_EVALUATIONS = 50_000_000
"""Most evaluations of a cost that the relaxed bound may take."""


def are_few(costs: OrderCosts) -> bool:
    """Whether to enumerate all orders, where the search by layers proves nothing.

    So it is with several kinds of rounds, and where the cost of an element depends on the others.
    """
    separable = len(costs.weights) == 1 and costs.separable
    return not separable and costs.orders <= costs.most_orders


def is_small(costs: OrderCosts) -> bool:
    """Whether an exact search is certain to be fast."""
    return are_few(costs) or (len(costs.weights) == 1 and costs.states <= MAX_STATES // 10)


def enumerate_orders(costs: OrderCosts, cost: float) -> tuple[Ints | None, bool]:
    """Enumerate all orders, if there are few.

    Returns
    -------
    tuple
        An order that is cheaper than ``cost`` or None; and whether all were tried.
    """
    if costs.orders > costs.most_orders:
        return None, False
    orders = arrangements(costs.labels, costs.counts, min(costs.places, costs.length))
    lower_bounds = in_portions(costs.least, _COSTS_BATCH // costs.length, orders)
    best = None
    # from where the bound is no less than the best, none can be better
    cheapest = np.argsort(lower_bounds, kind="stable")
    for start in range(0, len(orders), _TOTALS_BATCH):
        candidates = cheapest[start : start + _TOTALS_BATCH]
        candidates = candidates[lower_bounds[candidates] < cost * (1 - TIE)]
        if not len(candidates):
            break
        total = lower_bounds[candidates] if costs.separable else costs.total(orders[candidates])
        at = int(np.argmin(total))
        if total[at] < cost * (1 - TIE):
            best, cost = orders[candidates[at]], float(total[at])
    return best, True


def layered_search(costs: OrderCosts, cost: float, end: float) -> tuple[Ints | None, bool]:
    """Search an order cheaper than ``cost``, position by position (dynamic programming, bounded).

    A state is the multiset of labels used so far: it determines the position and the widths before,
    and hence all later costs. Each state stores its least hot spot so far; states no better than
    ``cost`` are dropped. For one kind of round only. The search uses `OrderCosts.costs`, which are
    bounds where elements depend on each other.

    Returns
    -------
    tuple
        An order that is cheaper or None; and whether there is certainly no better one than this
        or, if None, than ``cost``.
    """
    if costs.states >= 2**62:
        return None, False
    total_width = int(costs.counts @ costs.width)
    strides = np.append(1, np.cumprod(costs.counts[:-1] + 1))
    code, hot, before = (np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64))
    layers = []
    complete, limit = True, cost * (1 - TIE)
    for position in range(costs.length):
        if monotonic() > end:
            return None, False
        used = code[:, None] // strides % (costs.counts + 1)
        chosen, parent = np.nonzero((used < costs.counts).T)
        before = before[parent]
        columns = np.full(len(chosen), position), before, costs.labels[chosen]
        step = in_portions(lambda *portion: costs.costs(*portion)[0], _COSTS_BATCH, *columns)
        hot = np.maximum(hot[parent], step)
        code, before = code[parent] + strides[chosen], before + costs.width[chosen]
        order = np.lexsort((hot, code))
        order = order[hot[order] < limit]
        first = order[np.append(True, np.diff(code[order]) > 0)[: len(order)]]
        if len(first) > MAX_STATES:
            complete = False
            away = np.abs(before[first] / total_width - (position + 1) / costs.length)
            first = first[np.argsort(away, kind="stable")[: MAX_STATES // 10]]
        if not len(first):
            return None, complete
        code, hot, before = code[first], hot[first], before[first]
        layers.append((parent[first], chosen[first]))
    at, path = int(np.argmin(hot)), []
    for parent, chosen in reversed(layers):
        path.append(int(costs.labels[chosen[at]]))
        at = int(parent[at])
    return np.array(path[::-1]), complete


def relaxed_bound(costs: OrderCosts, low: float, cost: float, end: float) -> float:
    """Return a cost below which no order can be, labels being allowed any number of times.

    Dynamic programming over position and widths before; every real order is one of its paths. It is
    not made where it would take too long; then the answer is ``low``.
    """
    total_width = int(costs.counts @ costs.width)
    evaluations = costs.length * total_width * len(costs.labels)
    if len(costs.weights) > 1 or evaluations > _MAX_COST_EVALUATIONS:
        return low
    hot = np.full(total_width + 1, np.inf)
    hot[0] = 0.0
    for position in range(costs.length):
        if monotonic() > end:
            return low
        following = np.full(total_width + 1, np.inf)
        reached = np.flatnonzero(hot <= cost)
        for label, width in zip(costs.labels.tolist(), costs.width.tolist(), strict=True):
            starts = reached[reached + width <= total_width]
            if len(starts):
                columns = np.full(len(starts), position), starts, np.full(len(starts), label)
                value = np.maximum(hot[starts], costs.costs(*columns)[0])
                following[starts + width] = np.minimum(following[starts + width], value)
        hot = following
    return max(low, min(float(hot[total_width]), cost))


# --- assignment by limits ------------------------------------------------------------------------

# Bottleneck assignment problem, with one or several cost tables, solved exactly.
#
# With one table the minimum of the maximum cost is found by bisection over bipartite matchings.
# With several, the objective is the weighted sum of their maxima, and the search is over limits:
# one for each table. A vector of limits is feasible if the pairs within all limits have a perfect
# matching. If not, some hosts have too few positions (Hall), and a feasible vector must allow one
# of them another position: these vectors are tried next, cheapest first. The first feasible one is
# the optimum; until then the cheapest in the queue is a lower bound.

_COST_ROUNDING = 1e-11
"""Costs are rounded down to this part of the largest, so that equal ones are equal."""


class Found(NamedTuple):
    """Result of a search.

    Attributes
    ----------
    order
        The host of each position; None: nothing cheaper was found.
    bound
        Lower bound of all assignments; the known cost if nothing is cheaper.
    """

    order: Ints | None
    bound: float


def least_maximum(costs: Floats) -> float:
    """Return the minimal maximum cost of a pair: bisection over bipartite matchings."""
    # lower bound: the cheapest pair of each host and of each position
    floor = max(costs.min(axis=0).max(), costs.min(axis=1).max())
    values = np.unique(costs[costs >= floor])
    low, high, reach = 0, len(values) - 1, 1
    while low < high:
        # the bound is often near: steps get longer from there, before the interval is halved
        middle = min(low + reach - 1, (low + high) // 2)
        if np.all(_matching(costs <= values[middle]) >= 0):
            high, reach = middle, len(values)
        else:
            low, reach = middle + 1, 4 * reach
    return float(values[low])


def balanced(costs: Floats) -> Ints:
    """Return the host of each position: least maximum cost, then least sum of costs."""
    if not len(costs):
        return np.empty(0, np.int64)
    limit = least_maximum(costs)
    dear = len(costs) * (float(np.abs(costs).max()) + 1.0)
    hosts, positions = linear_sum_assignment(np.where(costs <= limit, costs, dear))
    order = np.empty(len(costs), np.int64)
    order[positions] = hosts
    return order


def cheapest(
    costs: Floats, weights: Floats, known_cost: float, *, tries: int = 4000, seconds: float = 4.0
) -> Found:
    """Return the assignment with the least weighted sum of maximum costs.

    Parameters
    ----------
    costs
        Of each host (row) at each position (column), of each kind of round; shape (kinds, n, n).
    weights
        Of the kinds.
    known_cost
        Cost of a known assignment: only cheaper ones are searched.
    tries, seconds
        Limits of the search: vectors tried, and duration. Beyond them only the bound is returned.
    """
    unit = _COST_ROUNDING * float(np.abs(costs).max()) or 1.0
    costs = np.floor(costs / unit) * unit
    lowest = np.array([least_maximum(matrix) for matrix in costs])
    mean = np.tensordot(weights, costs, 1)
    bound = max(float(weights @ lowest), least_maximum(mean))
    enough = known_cost * (1 - TIE)
    end = monotonic() + seconds
    waiting = [(float(weights @ lowest), 0, lowest)]
    seen = {lowest.tobytes()}
    tried = 0
    while waiting and tried < tries and monotonic() < end:
        cost, _, limits = heapq.heappop(waiting)
        if max(cost, bound) >= enough:
            return Found(None, known_cost)
        bound = max(bound, cost)
        allowed: Bools = np.all(costs <= limits[:, None, None], axis=0)
        match = _matching(allowed)
        if np.all(match >= 0):
            return Found(match, min(known_cost, max(bound, cost)))
        for vector in _next(costs, limits, allowed, match, weights):
            key = vector.tobytes()
            price = float(weights @ vector)
            if key not in seen and price < enough:
                seen.add(key)
                tried += 1
                heapq.heappush(waiting, (price, tried, vector))
    left = waiting[0][0] if waiting else known_cost
    return Found(None, min(known_cost, max(bound, left)))


def _matching(allowed: Bools) -> Ints:
    """Return the host of each place, -1 where none is left."""
    return np.asarray(
        maximum_bipartite_matching(csr_array(allowed), perm_type="row").astype(np.int64)
    )


def _next(costs: Floats, limits: Floats, allowed: Bools, match: Ints, weights: Floats) -> Floats:
    """Return minimal vectors such that any feasible one above ``limits`` dominates one of them.

    Two sets lack neighbours: hosts with too few positions, and positions with too few hosts. The
    set whose cheapest extension costs more leaves fewer vectors to try.
    """
    hosts, positions = _violators(allowed, match)
    ways = []
    for rows, columns in (hosts, positions):
        required = np.maximum(costs[:, rows][:, :, columns], limits[:, None, None])
        ways.append(_least(required.reshape(len(costs), -1).T, weights))
    return max(ways, key=lambda vectors: float((vectors @ weights).min()))


def _least(vectors: Floats, weights: Floats) -> Floats:
    """Drop vectors that are nowhere below another one."""
    vectors = np.unique(vectors, axis=0)
    vectors = vectors[np.argsort(vectors @ weights, kind="stable")]
    minimal: list[int] = []
    for k, vector in enumerate(vectors):
        if not minimal or not (vectors[minimal] <= vector).all(axis=1).any():
            minimal.append(k)
    return vectors[minimal]


def _violators(allowed: Bools, match: Ints) -> tuple[tuple[Bools, Bools], tuple[Bools, Bools]]:
    """Return hosts with the places they do not reach, and hosts that do not reach places."""
    places = np.flatnonzero(match >= 0)
    by_host = np.full(len(allowed), -1)
    by_host[match[places]] = places
    hosts, reached = _reached(allowed, match, int(np.argmin(by_host)))
    lacking, reaching = _reached(allowed.T, by_host, int(np.argmin(match)))
    return (hosts, ~reached), (~reaching, lacking)


def _reached(allowed: Bools, match: Ints, start: int) -> tuple[Bools, Bools]:
    """Follow alternating paths from an unmatched row; return reached rows and columns."""
    rows = np.arange(len(allowed)) == start
    while True:
        columns = allowed[rows].any(axis=0)
        more = rows.copy()
        more[match[columns]] = True
        if (more == rows).all():
            return rows, columns
        rows = more

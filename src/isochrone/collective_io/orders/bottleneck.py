"""Bottleneck assignment problem, with one or several cost tables, solved exactly.

With one table the minimum of the maximum cost is found by bisection over bipartite matchings. With
several, the objective is the weighted sum of their maxima, and the search is over limits: one for
each table. A vector of limits is feasible if the pairs within all limits have a perfect matching.
If not, some hosts have too few positions (Hall), and a feasible vector must allow one of them
another position: these vectors are tried next, cheapest first. The first feasible one is the
optimum; until then the cheapest in the queue is a lower bound.
"""

import heapq
from time import monotonic
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_bipartite_matching

from isochrone.base.arrays import Bools
from isochrone.collective_io.predict.node_cost import TIE
from isochrone.collective_io.workload import Floats, Ints

Allowed = Bools

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
        allowed: Allowed = np.all(costs <= limits[:, None, None], axis=0)
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


def _matching(allowed: Allowed) -> Ints:
    """Return the host of each place, -1 where none is left."""
    return np.asarray(
        maximum_bipartite_matching(csr_array(allowed), perm_type="row").astype(np.int64)
    )


def _next(costs: Floats, limits: Floats, allowed: Allowed, match: Ints, weights: Floats) -> Floats:
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


def _violators(allowed: Allowed, match: Ints) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """Return hosts with the places they do not reach, and hosts that do not reach places."""
    n = len(allowed)
    free_place = int(np.flatnonzero(match < 0)[0])
    free_host = int(np.setdiff1d(np.arange(n), match)[0])
    by_host = np.full(n, -1)
    by_host[match[match >= 0]] = np.flatnonzero(match >= 0)
    rows, columns = _reached(allowed, match, free_host)
    hosts = np.flatnonzero(rows), np.flatnonzero(~columns)
    columns, rows = _reached(allowed.T, by_host, free_place)
    return hosts, (np.flatnonzero(~rows), np.flatnonzero(columns))


def _reached(allowed: Allowed, match: Ints, start: int) -> tuple[Allowed, Allowed]:
    """Follow alternating paths from an unmatched row; return reached rows and columns."""
    n = len(allowed)
    # nodes: rows, then columns; a column leads to the row it is matched with
    edges = np.zeros((2 * n, 2 * n), bool)
    edges[:n, n:] = allowed
    matched = np.flatnonzero(match >= 0)
    edges[n + matched, match[matched]] = True
    order = breadth_first_order(csr_array(edges), start, return_predecessors=False)
    reached = np.zeros(2 * n, bool)
    reached[order] = True
    return reached[:n], reached[n:]

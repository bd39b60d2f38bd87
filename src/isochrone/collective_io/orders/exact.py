"""Exact searches for an order; equal labels are not permuted."""

from time import monotonic

import numpy as np

from isochrone.collective_io.orders.order_costs import OrderCosts, arrangements
from isochrone.collective_io.predict.node_cost import TIE
from isochrone.collective_io.workload import Ints, in_portions

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

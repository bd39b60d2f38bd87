"""Assign file domains to hosts by the order of aggregators in a hint; ranks do not move.

ROMIO gives file domain i to aggregator i of ``cb_config_list``. The cost of a host at a position of
the list does not depend on the others. With one kind of round, minimising the hot spot is therefore
a bottleneck assignment, solved exactly. With several kinds the weighted sum of their hot spots is
minimised: by enumeration if there are few orders, else by local search and a search over limits
(`bottleneck.cheapest`), with a lower bound. The result must fit into a hint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from isochrone.base.errors import InputError
from isochrone.collective_io.aggregators.bottleneck import balanced, cheapest, least_maximum
from isochrone.collective_io.aggregators.hint_list import VALUE_LIMIT, HintList
from isochrone.collective_io.aggregators.host_costs import HostCosts
from isochrone.collective_io.aggregators.host_search import best_of_all, few_enough, improve
from isochrone.collective_io.predict.collective_io import predict
from isochrone.collective_io.predict.node_cost import TIE, NodeCost
from isochrone.collective_io.workload import Floats, Ints
from isochrone.collective_io.workload.node_messages import Layout
from isochrone.collective_io.workload.traffic import RoundKind

MAX_HOSTS: Final = 4096
"""Of more hosts a list of 1,023 characters could name but a few."""

_MANY: Final = 200
"""Hosts of which a search over limits would take too long."""


@dataclass(frozen=True)
class Assignment:
    """Hosts in the order of the file domains they serve.

    Attributes
    ----------
    order
        Hosts, by index; the first of them serve the first domains, the last may serve none.
    named
        How many of them a hint must name; the others follow.
    cost, given_cost
        Seconds of a round with this and with ROMIO's own order.
    lower_bound
        No order is cheaper than this.
    whole
        Whether every order fits into a hint.
    """

    order: list[int]
    named: int
    cost: float
    given_cost: float
    lower_bound: float
    whole: bool

    @property
    def gap(self) -> float:
        """How far the cost may be from the best, as a part of the bound."""
        return self.cost / self.lower_bound - 1 if self.lower_bound > 0 else float("inf")


def assign(
    kinds: Sequence[RoundKind],
    layout: Layout,
    hints: HintList,
    model: NodeCost,
    *,
    reading: bool = False,
    seconds: float = 3.0,
) -> Assignment:
    """Return the order of hosts with the lowest hot-spot cost among those a hint can express.

    Parameters
    ----------
    kinds
        Rounds of the call, for the wanted number of aggregators.
    layout
        Which ranks are on which host.
    hints
        How many aggregators each host has.
    model
        What messages cost.
    reading
        Whether data go from the aggregators to the ranks.
    seconds
        Time limit of each inexact search.

    Raises
    ------
    InputError
        If there are too many hosts, or those that must be named do not fit into a hint.
    """
    if len(hints.hosts) > MAX_HOSTS:
        raise InputError(
            f"{len(hints.hosts)} hosts are too many for a hint of {VALUE_LIMIT} characters",
            hint="isochrone place nodes has no such limit",
        )
    must = np.flatnonzero(hints.must)
    if not hints.fits(must):
        raise InputError(f"a hint of {VALUE_LIMIT} characters cannot name {len(must)} hosts")
    costs = HostCosts.of(kinds, layout, hints.counts, model, reading=reading)

    def real(order: Ints) -> float:
        ranks = hints.aggregators(order, layout)
        return predict(kinds, layout, ranks, hints.hosts, model, reading=reading).cost

    given = hints.completed(must)
    given_cost = real(given)
    bound, found = _bound(costs), given
    if given_cost > (bound + costs.rest) * (1 + TIE):
        found, bound = _search(costs, hints, given, bound, seconds)
    bound = min(bound + costs.rest, given_cost)
    order, named = _shortest(found, costs, hints)
    cost = real(order)
    if cost >= given_cost * (1 - TIE):
        order, named, cost = given, len(must), given_cost
    bound = cost if cost <= bound * (1 + TIE) else bound
    whole = hints.room(np.arange(len(hints.hosts))) == len(hints.hosts)
    return Assignment(order.tolist(), named, cost, given_cost, bound, whole)


def _search(
    costs: HostCosts, hints: HintList, given: Ints, bound: float, seconds: float
) -> tuple[Ints, float]:
    """Return the best order that is found and a cost that none is below."""
    starts = [_fitting(order, hints) for order in [given, *_starts(costs, hints)]]
    orders = np.stack([hints.completed(named) for named in starts])
    total = costs.total(orders)
    best, known = orders[int(np.argmin(total))], float(total.min())
    if known <= bound * (1 + TIE):
        return best, bound
    if few_enough(costs, hints):
        best = best_of_all(costs, best)
        return best, float(costs.total(best[None, :])[0])
    named = improve(starts, costs, hints, bound, kicks=0, seconds=seconds)
    if len(costs.weights) > 1 and costs.uniform and len(given) <= _MANY:
        known = float(costs.total(hints.completed(named)[None, :])[0])
        better, limit = cheapest(_square(costs), costs.weights, known, seconds=seconds)
        bound = max(bound, limit)
        if better is not None:
            named = improve([named, _fitting(better, hints)], costs, hints, bound, kicks=0)
    named = improve([named], costs, hints, bound, seconds=seconds)
    return hints.completed(named), bound


def _bound(costs: HostCosts) -> float:
    """Return a cost that no order is below."""
    if costs.uniform:
        squares = _square(costs)
        alone = float(costs.weights @ [least_maximum(square) for square in squares])
        if len(squares) == 1:
            return alone
        # the hot spot of the average costs at most the average of the hot spots
        return max(alone, least_maximum(np.tensordot(costs.weights, squares, 1)))
    hottest = costs.table.min(axis=2).max(axis=1)  # each host has exactly one position
    return float(costs.weights @ hottest)


def _square(costs: HostCosts) -> Floats:
    """Return the costs of hosts by place, with a place for each host; shape (kinds, n, n)."""
    hosts = len(costs.counts)
    columns = np.minimum(np.arange(hosts), costs.places)
    return costs.table[:, :, columns]


def _starts(costs: HostCosts, hints: HintList) -> list[Ints]:
    """Return initial orders: the best for the mean, for the maximum, and for each kind."""
    if not costs.uniform:
        return []
    square = _square(costs)
    mean = np.tensordot(costs.weights, square, 1)
    several = [mean]
    if len(square) > 1:
        heaviest = np.argsort(-costs.weights * square.max(axis=(1, 2)))[:4]
        several += [square.max(axis=0), *(square[k] for k in heaviest)]
    found = [balanced(some) for some in several]
    room = hints.room(found[0])
    if room < len(mean):  # another order, which leaves all beyond the hint as they are
        found.append(np.append(balanced(mean[:room, :room]), np.arange(room, len(mean))))
    return found


def _fitting(order: Ints, hints: HintList) -> Ints:
    """Return the hosts of an order that a hint can name: the first ones, and those it must."""
    if hints.fits(order):
        return order
    for room in range(hints.room(order), -1, -1):
        late = order[room:]
        named = np.concatenate([order[:room], late[hints.must[late]]])
        if hints.fits(named):
            return named
    return np.flatnonzero(hints.must)


def _shortest(order: Ints, costs: HostCosts, hints: HintList) -> tuple[Ints, int]:
    """Return the best order that names only the first hosts of this one, and how many."""
    named = _fitting(order, hints)
    least = int(np.flatnonzero(hints.must[named])[-1]) + 1 if hints.must.any() else 0
    lengths = range(least, len(named) + 1)
    orders = np.stack([hints.completed(named[:length]) for length in lengths])
    total = costs.total(orders)
    at = int(np.flatnonzero(total <= total.min() * (1 + TIE))[0])
    return orders[at], least + at

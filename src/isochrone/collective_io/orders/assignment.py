"""Assign file domains to hosts by the order of aggregators in a hint; ranks do not move.

ROMIO gives file domain i to aggregator i of ``cb_config_list``. The cost of a host at a position of
the list does not depend on the others. With one kind of round, minimising the hot spot is therefore
a bottleneck assignment, solved exactly. With several kinds the weighted sum of their hot spots is
minimised (`search`). The result must fit into a hint.
"""

from collections.abc import Sequence

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.collective_io.orders.hint_list import VALUE_LIMIT, HintList
from isochrone.collective_io.orders.host_costs import HostCosts
from isochrone.collective_io.orders.search import cheapest_order
from isochrone.collective_io.predict.node_cost import TIE, NodeCost, gap_to, predict
from isochrone.collective_io.workload import Ints
from isochrone.collective_io.workload.traffic import RoundKind

MAX_LIST_HOSTS = 4096
"""Of more hosts a list of 1,023 characters could name but a few."""


class Assignment(Record):
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
        return gap_to(self.cost, self.lower_bound)


def assign(
    kinds: Sequence[RoundKind],
    hints: HintList,
    model: NodeCost,
    *,
    seconds: float = 3.0,
) -> Assignment:
    """Return the order of hosts with the lowest hot-spot cost among those a hint can express.

    Parameters
    ----------
    kinds
        Rounds of the call, for the wanted number of aggregators.
    hints
        How many aggregators each host has.
    model
        What messages cost.
    seconds
        Time limit of the search.

    Raises
    ------
    InputError
        If there are too many hosts, or those that must be named do not fit into a hint.
    """
    if len(hints.hosts) > MAX_LIST_HOSTS:
        raise InputError(
            f"the names of {len(hints.hosts)} hosts do not fit into a hint of {VALUE_LIMIT} "
            "characters",
            hint="isochrone place nodes has no such limit",
        )
    must = np.flatnonzero(hints.must)
    if not hints.fits(must):
        raise InputError(
            f"the names of {len(must)} hosts do not fit into a hint of {VALUE_LIMIT} characters"
        )
    costs = HostCosts(kinds, hints, model)

    def real(order: Ints) -> float:
        return predict(kinds, hints.layout, hints.aggregators(order), model).cost

    given_order = hints.completed(must)
    given_cost = real(given_order)
    bound, best_order = costs.bound(), given_order
    if given_cost > (bound + costs.rest) * (1 + TIE):
        starts = {"given": given_order, **costs.starts()}
        searched = cheapest_order(costs, starts, bound, seconds)
        best_order, bound = np.array(searched.order), searched.lower_bound
    bound = min(bound + costs.rest, given_cost)
    # the shortest list among the best that name only the first hosts of this order
    named = hints.longest(best_order)
    shortest = int(np.flatnonzero(hints.must[named])[-1]) + 1 if len(must) else 0
    lengths = range(shortest, len(named) + 1)
    orders = np.stack([hints.completed(named[:length]) for length in lengths])
    total = costs.total(orders)
    at = int(np.flatnonzero(total <= total.min() * (1 + TIE))[0])
    order, length, cost = orders[at], lengths[at], real(orders[at])
    if cost >= given_cost * (1 - TIE):
        order, length, cost = given_order, len(must), given_cost
    bound = cost if cost <= bound * (1 + TIE) else bound
    all_named = hints.room(np.arange(len(hints.hosts))) == len(hints.hosts)
    return Assignment(order.tolist(), length, cost, given_cost, bound, all_named)

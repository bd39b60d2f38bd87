"""Which host serves which part of the file: ranks stay, a hint says the order of the aggregators.

ROMIO gives file domain i to aggregator i of ``cb_config_list``. Each host costs something with each
domain, whatever the others do, so that the least hot spot is a bottleneck assignment; it can be
solved exactly. The solution must fit into a hint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from isochrone.base.errors import InputError
from isochrone.predict.node_cost import TIE, NodeCost
from isochrone.workloads import Ints
from isochrone.workloads.node_messages import Counts, Layout
from isochrone.workloads.traffic import RoundKind, Sums

__all__ = ["MAX_HOSTS", "VALUE_LIMIT", "Assignment", "assign", "hint"]

VALUE_LIMIT: Final = 1023
"""Characters of a hint: ``MPI_MAX_INFO_VAL`` of MPICH is 1024, the end of the string included."""

MAX_HOSTS: Final = 4096
"""Of more hosts a list of 1,023 characters could name but a few."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Assignment:
    """Hosts in the order of the file domains they serve.

    Attributes
    ----------
    order
        Hosts, by index; host ``order[i]`` serves domain i, those beyond the domains none.
    named
        How many of them a hint has to name; the others follow by themselves.
    cost, given_cost
        Seconds of a round with this and with ROMIO's own order.
    lower_bound
        No order is cheaper than this.
    whole
        Whether all of the order that was found fits into a hint.
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
    hosts: Sequence[str],
    model: NodeCost,
    *,
    reading: bool = False,
) -> Assignment:
    """Return the order of hosts with the least hot spot that a hint can hold.

    Raises
    ------
    InputError
        If there are too many hosts.
    """
    if len(hosts) > MAX_HOSTS:
        raise InputError(
            f"{len(hosts)} hosts are too many for a hint of {VALUE_LIMIT} characters",
            hint="isochrone place nodes has no such limit",
        )
    rounds = sum(kind.rounds for kind in kinds)
    weights = np.array([kind.rounds / rounds for kind in kinds])
    costs = np.stack([_costs(kind, layout, model, reading) for kind in kinds])
    bound = float(weights @ [_bottleneck(some) for some in costs])
    given = np.arange(len(hosts))
    given_cost = float(weights @ _hottest(costs, given))
    if given_cost <= bound * (1 + TIE):
        return Assignment(given.tolist(), 0, given_cost, given_cost, given_cost, True)
    mean = np.tensordot(weights, costs, 1)
    order = _assignment(mean)
    room = len(hosts)
    while room and len(hint(hosts, order[:room])) > VALUE_LIMIT:
        room -= 1
    candidates = [(order, length) for length in range(room + 1)]
    if room < len(hosts):  # another order, which leaves all beyond the hint as they are
        inner = np.append(_assignment(mean[:room, :room]), given[room:])
        candidates.append((inner, room))
    best, named, cost = given, 0, given_cost
    for tried, length in candidates:
        full = _completed(tried[:length], len(hosts))
        found = float(weights @ _hottest(costs, full))
        if found < cost * (1 - TIE):
            best, named, cost = full, length, found
    bound = cost if cost <= bound * (1 + TIE) else bound
    return Assignment(best.tolist(), named, cost, given_cost, bound, room == len(hosts))


def hint(hosts: Sequence[str], named: Sequence[int] | Ints) -> str:
    """Return the value of ``cb_config_list``: hosts in order, then all others, one rank of each.

    ``host`` means ``host:1``. The end is needed: a host that is not named would serve nothing.
    """
    return ",".join([*(hosts[int(k)] for k in named), "*:1"])


def _costs(kind: RoundKind, layout: Layout, model: NodeCost, reading: bool) -> Floats:
    """Return the seconds of each host (row) with each domain; columns beyond them: with none."""
    messages = _sides(kind.traffic.messages, layout)
    intra, into, out = (side.astype(np.int64) for side in messages)
    found = Counts(intra, into, out, *_sides(kind.traffic.bytes, layout))
    return model.cost(found.reversed() if reading else found, kind.spread)


def _sides(sums: Sums, layout: Layout) -> tuple[Floats, Floats, Floats]:
    """Return what stays within, comes into and leaves each host (row) with each domain."""
    intra = _overlap(sums, layout)
    of_runs = sums.sent[layout.last] - sums.sent[layout.first]
    sent = np.bincount(layout.node, weights=of_runs, minlength=layout.nodes)
    received = np.zeros(layout.nodes)
    served = min(sums.domains, layout.nodes)
    received[:served] = sums.received[:served]
    into, out = received[None, :] - intra, sent[:, None] - intra
    return intra, np.maximum(into, 0.0), np.maximum(out, 0.0)


def _overlap(sums: Sums, layout: Layout) -> Floats:
    """Return what each host has for each domain; shape (hosts, hosts)."""
    served = min(sums.domains, layout.nodes)
    intra = np.zeros((layout.nodes, layout.nodes))
    for domain in range(served):
        place = np.full(len(layout.first), domain)
        found = sums.between(place, layout.first, layout.last)
        intra[:, domain] = np.bincount(layout.node, weights=found, minlength=layout.nodes)
    return intra


def _hottest(costs: Floats, order: Ints) -> Floats:
    """Return the cost of the hottest host in each kind of round."""
    found: Floats = costs[:, order, np.arange(len(order))].max(axis=1)
    return found


def _bottleneck(costs: Floats) -> float:
    """Return the least possible cost of the dearest host: bisection over bipartite matchings."""
    # a host, and a domain, cannot be cheaper than where it is cheapest
    floor = max(costs.min(axis=0).max(), costs.min(axis=1).max())
    values = np.unique(costs[costs >= floor])
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        graph = csr_array(costs <= values[middle])
        if np.all(maximum_bipartite_matching(graph, perm_type="column") >= 0):
            high = middle
        else:
            low = middle + 1
    return float(values[low])


def _assignment(costs: Floats) -> Ints:
    """Return the host of each domain: least hot spot first, then the least sum of all costs."""
    if not len(costs):
        return np.empty(0, np.int64)
    limit = _bottleneck(costs)
    dear = len(costs) * (float(np.abs(costs).max()) + 1.0)
    hosts, domains = linear_sum_assignment(np.where(costs <= limit, costs, dear))
    order = np.empty(len(costs), np.int64)
    order[domains] = hosts
    return order


def _completed(named: Ints, hosts: int) -> Ints:
    """Let all hosts that are not named follow in their own order, as ``*:1`` does."""
    rest = np.setdiff1d(np.arange(hosts), named)
    return np.concatenate([named, rest])

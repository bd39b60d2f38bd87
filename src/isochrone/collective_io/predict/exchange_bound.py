"""Lower bound of the exchange for any assignment of file domains to nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.workload import Floats
from isochrone.collective_io.workload.node_messages import Counts, Layout
from isochrone.collective_io.workload.traffic import RoundKind, Sums

MAX_ENTRIES: Final = 20_000
"""Ranks of domains; of more, runs of ranks are taken in steps, and the bound is lower."""

MAX_CHOICES: Final = 20_000
"""Sizes of nodes times domains; of more, only single domains and nodes are looked at."""


@dataclass(frozen=True)
class ExchangeBound:
    """Lower bounds for the busiest node: seconds, bytes and messages (one direction)."""

    seconds: float
    bytes: float
    messages: float


@dataclass(frozen=True)
class _Nodes:
    """Nodes by their number of ranks.

    Attributes
    ----------
    ranks, number
        Ranks of a node, and how many nodes have as many.
    most
        Domains that a node serves at most; None: as many as there are.
    neighbours
        Whether the ranks of a node follow each other.
    """

    ranks: list[int]
    number: Floats
    most: int | None
    neighbours: bool


def least_exchange(
    kinds: Sequence[RoundKind], layout: Layout, model: NodeCost | None, most: int | None = None
) -> ExchangeBound:
    """Return a lower bound of the exchange, for any order of nodes and of aggregators.

    Each domain is served by a node of some size, which receives at least the data that no run of as
    many ranks has, and sends its own ranks' data for other domains. Relaxations: fractions of
    domains (a linear program), and equal shares for nodes of one size. The other direction is
    bounded by zero.

    Parameters
    ----------
    most
        Maximum number of domains of one node; None: unlimited.
    """
    size = np.bincount(layout.node, layout.last - layout.first, layout.nodes).astype(np.int64)
    ranks, number = np.unique(size, return_counts=True)
    neighbours = len(layout.node) == layout.nodes
    nodes = _Nodes(ranks.tolist(), number.astype(np.float64), most, neighbours)
    found = np.zeros(3)
    for kind in kinds:
        messages = _one_way(kind.traffic.messages, nodes)
        data = _one_way(kind.traffic.bytes, nodes)
        seconds = 0.0
        if model:
            way = np.array([[messages, 0.0], [0.0, messages]])
            way_bytes = np.array([[data, 0.0], [0.0, data]])
            columns: list[Any] = [np.zeros(2), *way, np.zeros(2), *way_bytes]
            cost = model.cost(Counts(*columns), kind.spread)
            seconds = max(0.0, float(cost.min())) * kind.spread
        found += kind.times * np.array([seconds, data, messages])
    return ExchangeBound(*found.tolist())


def _one_way(sums: Sums, nodes: _Nodes) -> float:
    """Return the amount that some node has at least into it or out of it."""
    local = np.array([_local(sums, ranks, nodes.neighbours) for ranks in nodes.ranks])
    into = np.maximum(sums.received - local, 0.0)
    # the least that so many ranks have for all domains together
    each = np.sort(np.diff(sums.sent))
    own = np.array([float(each[:ranks].sum()) for ranks in nodes.ranks])
    least = float(into.min(axis=0).max(initial=0.0))
    if nodes.most is not None:  # of a node that serves what suits it best
        served = np.sort(local, axis=1)[:, ::-1][:, : nodes.most].sum(axis=1)
        least = max(least, float((own - served).max()))
    if local.size > MAX_CHOICES:
        return least
    return max(least, _fractional(local, into, own, nodes))


def _fractional(local: Floats, into: Floats, own: Floats, nodes: _Nodes) -> float:
    """Return the optimum of the linear program: x parts of each domain for each size, and t."""
    sizes, domains = local.shape
    unit = max(float(own.max()), float(into.max()), 1.0)
    # sums of x over the domains, size by size; nearly all is zero
    of_size = sparse.kron(sparse.eye(sizes), np.ones((1, domains)), "csr")
    per_node = -nodes.number[:, None]
    zero = np.zeros((sizes, 1))
    above = [
        sparse.hstack([of_size.multiply(into.ravel() / unit), per_node]),
        sparse.hstack([of_size.multiply(-local.ravel() / unit), per_node]),
    ]
    limit = [np.zeros(sizes), -nodes.number * own / unit]
    if nodes.most is not None:
        above.append(sparse.hstack([of_size, zero]))
        limit.append(nodes.number * nodes.most)
    once = sparse.hstack([*[sparse.eye(domains)] * sizes, np.zeros((domains, 1))])
    goal = np.append(np.zeros(sizes * domains), 1.0)
    found = linprog(
        goal, sparse.vstack(above), np.concatenate(limit), once, np.ones(domains), method="highs"
    )
    return float(found.fun) * unit if found.status == 0 else 0.0


def _local(sums: Sums, size: int, neighbours: bool) -> Floats:
    """Return for each domain the most that the ranks of a node of this size have."""
    if not neighbours:
        return np.minimum(sums.received, size * sums.heaviest)
    # a run that begins before the first rank of a domain has no more than the one that begins there
    begin, end = sums.span()
    span = int((end - begin).max(initial=1))
    step = max(1, -(-span * sums.domains // MAX_ENTRIES))
    first = np.minimum(begin[:, None] + step * np.arange(-(-span // step)), sums.ranks)
    last = np.minimum(first + size + step - 1, sums.ranks)
    domain = np.arange(sums.domains)[:, None]
    return np.asarray(sums.between(domain, first, last).max(axis=1).astype(np.float64))

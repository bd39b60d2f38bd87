"""Cost of a node by its position in the order of nodes.

Nodes are filled one after the other and node k serves file domain k. Then the messages of a node
depend on three numbers only: its position k, the ranks S on the nodes before it, and its own ranks
c. The order of the other nodes does not matter. All searches depend on this. With a model that has
``busy``, times depend on the other nodes, too: then `Positions.costs` are lower bounds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.collective_io.nodes.kind_costs import distinct, form_of
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.workload import Floats, Ints
from isochrone.collective_io.workload.traffic import RoundKind


class Positions:
    """Costs of nodes by position, ranks before them and own ranks.

    Parameters
    ----------
    kinds
        Messages by kind of round.
    cores
        Ranks of each node, in any order.
    model
        What messages cost a node.
    reading
        Whether the call is a read: messages in the opposite direction.
    """

    def __init__(
        self, kinds: Sequence[RoundKind], cores: Ints, model: NodeCost, *, reading: bool = False
    ) -> None:
        self.nodes = len(cores)
        self.of_neighbours = model.of_neighbours
        self.ranks = int(cores.sum())
        self.sizes, self.counts = np.unique(cores, return_counts=True)
        different = distinct(kinds, model)
        rounds = np.array([times for _, times in different])
        self.weights = rounds / rounds.sum()
        form = form_of(model)
        self._kinds = [
            form(kind, self.nodes, self.sizes, model, reading=reading) for kind, _ in different
        ]

    def costs(self, place: Ints, before: Ints, size: Ints) -> Floats:
        """Return the seconds of nodes in each kind of round; shape (kinds, nodes asked for).

        Lower bounds if they depend on the other nodes.
        """
        return np.stack([kind.costs(place, before, size) for kind in self._kinds])

    def total(self, orders: Ints) -> Floats:
        """Return the cost of whole orders, given as ranks of each node; shape (…, nodes)."""
        before = np.cumsum(orders, axis=-1) - orders
        place = np.broadcast_to(np.arange(self.nodes), orders.shape)
        hottest = [kind.hottest(place, before, orders) for kind in self._kinds]
        return np.asarray(np.tensordot(self.weights, hottest, 1))

    def least(self, order: Ints) -> float:
        """Return the cost below which an order is not, by what its nodes are at least."""
        before = np.cumsum(order) - order
        costs = self.costs(np.arange(self.nodes), before, order)
        return float(self.weights @ costs.max(axis=-1))

    def bound(self) -> float:
        """Return a lower bound of the cost of all orders.

        Each node has its own position. If m nodes are of the sizes A, then the m-th cheapest
        position, each at the cheapest of A and of all ranks before, is a bound (Hall's condition
        for a bottleneck assignment). A runs through the single sizes and through all from the
        largest down to each.
        """
        return float(
            self.weights @ [kind.bound(self.counts, len(self._kinds)) for kind in self._kinds]
        )

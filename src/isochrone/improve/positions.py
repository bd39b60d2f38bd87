"""What a node costs at a place in the order of nodes.

Nodes are filled one after the other and node k serves file domain k. Then the messages of a node
depend on three numbers only: its place k, the ranks S on the nodes before it, and its own ranks c.
How the other nodes are ordered does not matter. All searches rest on this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.predict.node_cost import NodeCost
from isochrone.workloads import Ints
from isochrone.workloads.node_messages import Counts
from isochrone.workloads.traffic import RoundKind

__all__ = ["Positions"]

Floats = NDArray[np.float64]

_MAX_ENTRIES: Final = 20_000_000
"""Larger tables of costs are not made."""

_MAX_STEPS: Final = 20_000_000
"""Most costs that are looked up for the bound of a kind of round."""


class Positions:
    """Costs of nodes by place, ranks before and ranks.

    Parameters
    ----------
    kinds
        Messages by kind of round.
    cores
        Ranks of each node, in any order.
    model
        What messages cost a node.
    reading
        Whether the call is a read: messages go the other way.
    """

    def __init__(
        self, kinds: Sequence[RoundKind], cores: Ints, model: NodeCost, *, reading: bool = False
    ) -> None:
        self.nodes = len(cores)
        self.ranks = int(cores.sum())
        self.sizes, self.counts = np.unique(cores, return_counts=True)
        rounds = sum(kind.rounds for kind in kinds)
        self.weights = np.array([kind.rounds / rounds for kind in kinds])
        self._kinds = [_KindCosts(kind, self, model, reading) for kind in kinds]

    def costs(self, place: Ints, before: Ints, size: Ints) -> Floats:
        """Return the seconds of nodes in each kind of round; shape (kinds, nodes asked for)."""
        return np.stack([kind.costs(place, before, size) for kind in self._kinds])

    def total(self, orders: Ints) -> Floats:
        """Return the cost of whole orders, given as ranks of each node; shape (…, nodes)."""
        before = np.cumsum(orders, axis=-1) - orders
        place = np.broadcast_to(np.arange(self.nodes), orders.shape)
        found: Floats = self.weights @ self.costs(place, before, orders).max(axis=-1).reshape(
            len(self.weights), -1
        )
        return found.reshape(orders.shape[:-1])

    def bound(self) -> float:
        """Return a cost below which no order can be.

        Every node must stand somewhere, and no two at the same place. If m nodes are of the sizes
        A, then the m-th cheapest of the places, each at the cheapest of A and of all ranks
        before, is a bound (Hall's condition for a bottleneck assignment). A runs through the
        single sizes and through all from the largest down to each.
        """
        return float(self.weights @ [kind.bound(self.counts) for kind in self._kinds])


class _KindCosts:
    """One kind of round, as a table of costs by messages within, received and sent."""

    def __init__(self, kind: RoundKind, of: Positions, model: NodeCost, reading: bool) -> None:
        self.traffic, self.spread = kind.traffic.messages, kind.spread
        self.size = kind.traffic.message_size
        self.model, self.reading = model, reading
        self.domains = min(self.traffic.domains, of.nodes)
        received = np.zeros(of.nodes, np.int64)
        received[: self.domains] = self.traffic.received[: self.domains]
        self.received, self.kind = np.unique(received, return_inverse=True)
        sent = self.traffic.sent
        of_size = [np.unique(sent[c:] - sent[: len(sent) - c]) for c in of.sizes]
        self.sent = np.unique(np.concatenate(of_size))
        self.sent_at = np.zeros(int(self.sent[-1]) + 1, np.int64)
        self.sent_at[self.sent] = np.arange(len(self.sent))
        self.sent_by_size = [self.sent_at[found] for found in of_size]
        self.most = int(min(self.received[-1], self.sent[-1]))
        # no rank sends more than this for one domain, so no node overlaps with it more often
        self.heaviest = int(self.traffic.heaviest)
        self.sizes = of.sizes
        entries = (self.most + 1) * len(self.received) * len(self.sent)
        if entries > _MAX_ENTRIES:
            raise InputError(
                "too many different message counts to search for an order of nodes",
                hint="take larger buffers or stripes, or fewer rounds",
            )
        self.table = self._table()

    def _table(self) -> Floats:
        """Return the costs by overlap, received and sent; infinite where that cannot be."""
        shape = (self.most + 1, len(self.received), len(self.sent))
        intra, received, sent = np.meshgrid(
            np.arange(self.most + 1), self.received, self.sent, indexing="ij"
        )
        possible = (intra <= received) & (intra <= sent)
        into, out = (received - intra)[possible], (sent - intra)[possible]
        into, out = (out, into) if self.reading else (into, out)
        table = np.full(shape, np.inf)
        within = intra[possible]
        found = Counts(within, into, out, self.size * within, self.size * into, self.size * out)
        table[possible] = self.model.cost(found, self.spread)
        return table

    def costs(self, place: Ints, before: Ints, size: Ints) -> Floats:
        after = before + size
        sent = self.traffic.sent[after] - self.traffic.sent[before]
        if self.domains == len(self.kind):
            intra = self.traffic.between(place, before, after)
        else:
            serves = place < self.domains
            intra = self.traffic.between(np.where(serves, place, 0), before, after) * serves
        found: Floats = self.table[intra, self.kind[place], self.sent_at[sent]]
        return found

    def bound(self, counts: Ints) -> float:
        """Return the bound of `Positions.bound` for this kind of round."""
        union = np.full(len(self.kind), np.inf)
        dearest, together, work = 0.0, 0, 0
        for at in reversed(range(len(self.sizes))):
            work += self.steps(int(self.sizes[at]))
            floor = self.places(at, exactly=work <= _MAX_STEPS)
            count = int(counts[at])
            together += count
            union = np.minimum(union, floor)
            dearest = max(
                dearest,
                float(np.partition(floor, count - 1)[count - 1]),
                float(np.partition(union, together - 1)[together - 1]),
            )
        return dearest

    def steps(self, size: int) -> int:
        """Return how many numbers of ranks before let a node overlap with what its place serves."""
        first, last = self.traffic.span()
        return int(np.maximum(last - first + size - 1, 0).sum())

    def places(self, at: int, *, exactly: bool) -> Floats:
        """Return for each place a cost below which no node of a size can be there.

        Ranks before that give an overlap are tried one by one if ``exactly``; all others are
        relaxed to the cheapest that the node could send, and possibly overlap.
        """
        size = int(self.sizes[at])
        overlap = 0 if exactly else min(self.most, size * self.heaviest)
        cheapest = self.table[: overlap + 1][:, :, self.sent_by_size[at]].min(axis=(0, 2))
        floor: Floats = cheapest[self.kind]
        if exactly:
            first, last = self.traffic.span()
            low = np.maximum(first - size + 1, 0)
            each = np.maximum(np.minimum(last - 1, self.traffic.ranks - size) - low + 1, 0)
            each[self.domains :] = 0
            place = np.repeat(np.arange(len(each)), each)
            before = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each) + low[place]
            found = self.costs(place, before, np.full(len(place), size))
            np.minimum.at(floor, place, found)
        return floor

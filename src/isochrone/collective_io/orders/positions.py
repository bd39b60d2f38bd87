"""Cost of a node by its position in the order of nodes.

Nodes are filled one after the other and node k serves file domain k. Then the messages of a node
depend on three numbers only: its position k, the ranks S on the nodes before it, and its own ranks
c. The order of the other nodes does not matter. All searches depend on this. With a model that has
``busy``, times depend on the other nodes, too: then `Positions.costs` are lower bounds.
"""

from collections.abc import Sequence

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.table import grouped
from isochrone.collective_io.orders import exact
from isochrone.collective_io.orders.order_costs import OrderCosts
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.workload import Floats, Ints, expanded, in_portions
from isochrone.collective_io.workload.traffic import Amounts, Counts, RoundKind, Sums


class Positions(OrderCosts):
    """Costs of nodes by position, ranks before them and own ranks.

    Parameters
    ----------
    kinds
        Messages by kind of round.
    cores
        Ranks of each node, in any order.
    model
        What messages cost a node.
    """

    def __init__(self, kinds: Sequence[RoundKind], cores: Ints, model: NodeCost) -> None:
        self.places = len(cores)
        self.separable = not model.of_neighbours
        self.labels, self.counts = np.unique(cores, return_counts=True)
        self.width = self.labels
        different = distinct(kinds, model)
        rounds = np.array([times for _, times in different])
        self.weights = rounds / rounds.sum()
        form = _ByBytes if model.of_data else _ByMessages
        self._kinds = [form(kind, self.places, self.labels, model) for kind, _ in different]

    @property
    def most_orders(self) -> int:
        """Number of orders that are enumerated at most."""
        return exact.MAX_ORDERS

    def widths(self, labels: Ints) -> Ints:
        """Return the ranks of nodes: they are the labels."""
        return labels

    def costs(self, position: Ints, before: Ints, label: Ints) -> Floats:
        """Return the seconds of nodes in each kind of round; shape (kinds, nodes asked for)."""
        return np.stack([kind.costs(position, before, label) for kind in self._kinds])

    def total(self, orders: Ints) -> Floats:
        """Return the cost of whole orders, given as ranks of each node; shape (…, nodes)."""
        first_rank = np.cumsum(orders, axis=-1) - orders
        position = np.broadcast_to(np.arange(self.places), orders.shape)
        hottest = [kind.hottest(position, first_rank, orders) for kind in self._kinds]
        return np.asarray(np.tensordot(self.weights, hottest, 1))

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


# --- costs of one kind of round ------------------------------------------------------------------

# Cost of a node in one kind of round, by position, ranks before it and its own ranks.
#
# For models of messages alone, costs come from a table by messages within, received and sent. For
# models with bytes they are computed, and bounds are taken over boxes of similar nodes.

_MAX_COST_ENTRIES = 20_000_000
"""Larger tables of costs are not made."""

_MAX_COST_LOOKUPS = 20_000_000
"""Most costs that are looked up for the bound, of all kinds of rounds together."""

_NODES_BATCH = 20_000
"""Costs of so many nodes are worked out in the caches of a processor."""

_RECEIVERS = 128
_SENDERS = 16
_OVERLAPS = 16
"""Boxes of similar positions, of similar runs of ranks, and of their overlaps."""


class _ByMessages:
    """Costs of nodes in one kind of round: a table by messages within, received and sent.

    Parameters
    ----------
    kind
        The messages.
    nodes
        Number of nodes; node k serves domain k.
    sizes
        Distinct numbers of ranks of nodes, ascending.
    model
        What messages cost a node.
    """

    def __init__(self, kind: RoundKind, nodes: int, sizes: Ints, model: NodeCost) -> None:
        self.directed, self.traffic, self.spread = kind.directed, kind.traffic, kind.spread
        self.nodes, self.sizes, self.model = nodes, sizes, model
        self.domains = min(self.traffic.domains, nodes)
        of_bytes = [self.traffic.bytes] if model.of_data else []
        self.overlaps = Overlaps(self.traffic.messages, *of_bytes)
        self.prepare()

    def prepare(self) -> None:
        """Work out what all costs need."""
        messages = self.traffic.messages
        self.received, self.kind = np.unique(self._received(messages), return_inverse=True)
        sent = messages.sent
        of_size = [np.unique(sent[c:] - sent[: len(sent) - c]) for c in self.sizes]
        self.sent = np.unique(np.concatenate(of_size))
        self.sent_at = np.zeros(int(self.sent[-1]) + 1, np.int64)
        self.sent_at[self.sent] = np.arange(len(self.sent))
        self.sent_by_size = [self.sent_at[amounts] for amounts in of_size]
        self.most = int(min(self.received[-1], self.sent[-1]))
        entries = (self.most + 1) * len(self.received) * len(self.sent)
        if entries > _MAX_COST_ENTRIES:
            raise InputError(
                "the access pattern has too many different message counts for a search",
                hint="give larger buffers or stripes",
            )
        # costs by overlap, received and sent; infinite where that cannot be
        intra, received, sent = np.meshgrid(
            np.arange(self.most + 1), self.received, self.sent, indexing="ij"
        )
        possible = (intra <= received) & (intra <= sent)
        into, out = (received - intra)[possible], (sent - intra)[possible]
        within, none = intra[possible], np.zeros(len(into))
        counts = self.directed(Counts(within, into, out, none, none, none))
        self.table = np.full(intra.shape, np.inf)
        self.table[possible] = self.model.cost(counts, self.spread)

    def costs(self, position: Ints, first_rank: Ints, size: Ints) -> Floats:
        """Return the seconds of nodes at their places; arrays of one shape.

        If they depend on the other nodes, too: seconds below which these nodes are not.
        """
        end_rank = first_rank + size
        sent = self.traffic.messages.sent[end_rank] - self.traffic.messages.sent[first_rank]
        (intra,) = self._overlap(position, first_rank, end_rank)
        return np.asarray(self.table[intra, self.kind[position], self.sent_at[sent]])

    def hottest(self, position: Ints, first_rank: Ints, size: Ints) -> Floats:
        """Return the seconds of the hottest node of whole orders, nodes along the last axis."""
        return np.asarray(self.costs(position, first_rank, size).max(axis=-1))

    def floor(self, at: int, *, disjoint: bool) -> Floats:
        """Return a lower bound of the cost of a node of size ``sizes[at]`` at each position.

        ``disjoint``: only for nodes without data in the domain they serve.
        """
        # no rank sends more than this for one domain, so no node overlaps with it more often
        heaviest = int(self.traffic.messages.heaviest)
        overlap = 0 if disjoint else min(self.most, int(self.sizes[at]) * heaviest)
        cheapest = self.table[: overlap + 1][:, :, self.sent_by_size[at]].min(axis=(0, 2))
        return np.asarray(cheapest[self.kind])

    def bound(self, counts: Ints, kinds: int) -> float:
        """Return the bound of `Positions.bound` for this kind of round, one of ``kinds``."""
        steps = _MAX_COST_LOOKUPS // kinds
        union = np.full(self.nodes, np.inf)
        worst, together, work = 0.0, 0, 0
        for at in reversed(range(len(self.sizes))):
            # numbers of ranks before that let a node overlap with what its place serves
            overlapping = self.overlaps.last - self.overlaps.first + int(self.sizes[at]) - 1
            work += int(np.maximum(overlapping, 0).sum())
            floor = self._places(at, exactly=work <= steps)
            count = int(counts[at])
            together += count
            union = np.minimum(union, floor)
            worst = max(
                worst,
                float(np.partition(floor, count - 1)[count - 1]),
                float(np.partition(union, together - 1)[together - 1]),
            )
        return worst

    def _received(self, of: Sums) -> Floats:
        """Return what each place receives."""
        return np.pad(of.received[: self.domains], (0, self.nodes - self.domains))

    def _overlap(self, position: Ints, first_rank: Ints, end_rank: Ints) -> list[Floats]:
        """Return what nodes have for what their place serves, by amount."""
        if self.domains == self.nodes:
            return self.overlaps.between(position, first_rank, end_rank)
        serves = position < self.domains
        overlaps = self.overlaps.between(np.where(serves, position, 0), first_rank, end_rank)
        return [amount * serves for amount in overlaps]

    def _places(self, at: int, *, exactly: bool) -> Floats:
        """Return a lower bound of the cost of a node of this size at each position.

        With ``exactly``, numbers of ranks before that give an overlap are tried individually; all
        others are relaxed to the least the node could send and overlap.
        """
        floor = self.floor(at, disjoint=exactly)
        if exactly:
            size = int(self.sizes[at])
            first, last = self.overlaps.first, self.overlaps.last
            low = np.maximum(first - size + 1, 0)
            widths = np.maximum(np.minimum(last - 1, self.traffic.ranks - size) - low + 1, 0)
            widths[self.domains :] = 0
            position, first_rank = expanded(low, widths)
            np.minimum.at(
                floor, position, self.costs(position, first_rank, np.full(len(position), size))
            )
        return floor


def distinct(kinds: Sequence[RoundKind], model: NodeCost) -> list[tuple[RoundKind, int]]:
    """Return the kinds that differ for a model, each with its number of rounds.

    Where messages alone count, kinds that differ in their bytes are one.
    """
    if model.of_data:
        return [(kind, kind.rounds) for kind in kinds]
    same = grouped(((kind.traffic.messages.fingerprint, kind.spread), kind) for kind in kinds)
    return [(alike[0], sum(kind.rounds for kind in alike)) for alike in same.values()]


class _ByBytes(_ByMessages):
    """Costs from messages and bytes; arrays hold the two in this order."""

    def prepare(self) -> None:
        amounts = self.traffic.messages, self.traffic.bytes
        self.usual = self.traffic.message_size
        self.sent = np.stack([amount.sent.astype(float) for amount in amounts])
        self.received = np.stack([self._received(amount).astype(float) for amount in amounts])
        self.heaviest = [amount.heaviest for amount in amounts]
        self.places = _Boxes(self.received, _RECEIVERS)

    def costs(self, position: Ints, first_rank: Ints, size: Ints) -> Floats:
        columns = (np.ravel(column) for column in (position, first_rank, first_rank + size))
        return in_portions(self._costs, _NODES_BATCH, *columns).reshape(np.shape(position))

    def hottest(self, position: Ints, first_rank: Ints, size: Ints) -> Floats:
        if not self.model.of_neighbours:
            return super().hottest(position, first_rank, size)
        orders = (
            np.reshape(column, (-1, self.nodes))
            for column in (position, first_rank, first_rank + size)
        )
        seconds = in_portions(self._hottest, _NODES_BATCH // self.nodes, *orders)
        return seconds.reshape(np.shape(position)[:-1])

    def _hottest(self, position: Ints, first_rank: Ints, end_rank: Ints) -> Floats:
        counts = self._all_counts(position, first_rank, end_rank)
        costs = self.model.cost(counts, self.spread, self.usual, counts.busy)
        return np.asarray(costs.max(axis=-1))

    def _costs(self, position: Ints, first_rank: Ints, end_rank: Ints) -> Floats:
        counts = self._all_counts(position, first_rank, end_rank)
        return self.model.whatever_others_do(counts, self.spread, self.usual)

    def _all_counts(self, position: Ints, first_rank: Ints, end_rank: Ints) -> Counts:
        """Return what nodes send and receive."""
        sides: list[Floats] = []
        for amount, within in enumerate(self._overlap(position, first_rank, end_rank)):
            sent = self.sent[amount].take(end_rank) - self.sent[amount].take(first_rank)
            # bytes may be rounded means: avoid negative values
            into = np.maximum(self.received[amount].take(position) - within, 0.0)
            sides += [within, into, np.maximum(sent - within, 0.0)]
        return self.directed(Counts(*sides))

    def floor(self, at: int, *, disjoint: bool) -> Floats:
        size = int(self.sizes[at])
        senders = _Boxes(self.sent[:, size:] - self.sent[:, :-size], _SENDERS)
        messages, data = self.heaviest
        max_overlap = min(size * messages, self.places.high[0].max(), senders.high[0].max())
        edges = np.zeros(2) if disjoint else np.linspace(0, max_overlap, _OVERLAPS + 1)
        shape = self.places.low.shape[1], senders.low.shape[1], len(edges) - 1
        r, s, k = (index.ravel() for index in np.indices(shape))
        received, sent = self.places.low[:, r], senders.low[:, s]
        received_most, sent_most = self.places.high[:, r], senders.high[:, s]
        within = np.stack([edges[k], np.zeros(len(k))])
        # several messages may be of one rank, in an average of rounds
        within_most = np.stack([edges[k + 1], np.minimum(edges[k + 1], size) * data])
        within_most = np.minimum(within_most, np.minimum(received_most, sent_most))
        low, high = (
            self.directed(Counts(*np.maximum(np.stack(sides, axis=1), 0.0).reshape(6, -1)))
            for sides in (
                (within, received - within_most, sent - within_most),
                (within_most, received_most - within, sent_most - within),
            )
        )
        costs = self.model.least(low, high, self.spread, self.usual)
        costs[within[0] > within_most[0]] = np.inf
        return np.asarray(costs.reshape(len(self.places.low[0]), -1).min(axis=1)[self.places.of])


class _Boxes:
    """Pairs of amounts, grouped into boxes of similar ones.

    Parameters
    ----------
    pairs
        Shape (2, n).
    limit
        Maximum number of boxes; fewer different pairs have a box each.

    Attributes
    ----------
    of
        Box of each pair.
    low, high
        Least and largest amounts in each box; shape (2, boxes).
    """

    def __init__(self, pairs: Floats, limit: int) -> None:
        order = np.lexsort(pairs)
        ordered = pairs[:, order]
        # what differs by less than the rounding of a mean is the same
        new = np.append(True, np.any(np.diff(ordered.round(3)) != 0, axis=0))
        if int(new.sum()) > limit:
            new[:] = False
            new[np.arange(limit) * len(order) // limit] = True
        heads = np.flatnonzero(new)
        self.low = np.minimum.reduceat(ordered, heads, axis=1)
        self.high = np.maximum.reduceat(ordered, heads, axis=1)
        self.of = np.empty(len(order), np.int64)
        self.of[order] = np.cumsum(new) - 1


MAX_NUMBER_ENTRIES = 10_000_000
"""Larger tables are not made: numbers are searched for then."""


class Overlaps:
    """Amounts of runs of ranks by domain.

    Of each domain only the ranks from the first to the last that have something for it are held.

    Parameters
    ----------
    amounts
        Amounts that the same ranks have for the same domains.
    """

    def __init__(self, *amounts: Sums) -> None:
        self._amounts = amounts
        self.first, self.last = amounts[0].span()
        self._width = self.last - self.first
        self._base = np.cumsum(self._width + 1) - (self._width + 1)
        entries = int((self._width + 1).sum())
        self._tables: list[Amounts] = []
        if entries <= MAX_NUMBER_ENTRIES:
            domain, rank = expanded(self.first, self._width + 1)
            self._tables = [amount.before(domain, rank) for amount in amounts]

    def between(self, domain: Ints, first: Ints, last: Ints) -> list[Amounts]:
        """Return what the ranks ``first`` … ``last - 1`` have for each domain, by amount."""
        if not self._tables:
            return [amount.between(domain, first, last) for amount in self._amounts]
        start, width, base = (c.take(domain) for c in (self.first, self._width, self._base))
        low = base + np.minimum(np.maximum(first - start, 0), width)
        high = base + np.minimum(np.maximum(last - start, 0), width)
        return [np.maximum(table.take(high) - table.take(low), 0) for table in self._tables]

"""The best order of nodes, by the cost of a node at each position.

Nodes are filled one after the other and node k serves file domain k. Then the messages of a node
depend on three numbers only: its position k, the ranks S on the nodes before it, and its own ranks
c. The order of the other nodes does not matter. All searches depend on this. With a model that has
``busy``, times depend on the other nodes, too: then `Positions.costs` are lower bounds.

A node has few messages if it serves the data of its own ranks. Node k of n serves the file from k/n
to (k+1)/n; its ranks own, roughly, S/P to (S+c)/P, where S of all P ranks are on nodes before it.
Both match if large nodes are spread evenly among small ones. Sorting by size is the worst order.
"""

from collections.abc import Sequence

import numpy as np

from isochrone.base.table import grouped
from isochrone.collective_io.orders import exact
from isochrone.collective_io.orders.exact import OrderCosts
from isochrone.collective_io.orders.search import BestOrder, cheapest_order
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.workload import Floats, Ints, expanded, in_portions
from isochrone.collective_io.workload.traffic import Amounts, Counts, RoundKind, Sums

SEARCH_SECONDS = 8.0
"""Time limit of the search, not counting what cannot be left out."""

SECONDS_OF_MANY = 30.0
"""The same for more than `MAX_EXACT_NODES` nodes."""

MAX_EXACT_NODES = 2048


def spread(cores: Ints) -> Ints:
    """Spread the nodes of each size evenly over the order (Bresenham's rule for many sizes).

    The ideal position of the j-th of m nodes of a size is (j + 1/2) / m; nodes are sorted by it.
    """
    sizes, counts = np.unique(cores, return_counts=True)
    wish = np.concatenate([(np.arange(m) + 0.5) / m for m in counts])
    size = np.repeat(sizes, counts)
    return size[np.lexsort((-size, wish))]


def in_step(cores: Ints) -> Ints:
    """Choose at each place the node after which the ranks are most in step with the file."""
    sizes, counts = np.unique(cores, return_counts=True)
    total, first_rank = int(cores.sum()), 0
    chosen = np.empty(len(cores), np.int64)
    for position in range(len(cores)):
        left = np.flatnonzero(counts)
        middle = first_rank + sizes[left] / 2
        best = left[np.argmin(np.abs(middle - (position + 0.5) * total / len(cores)))]
        counts[best] -= 1
        chosen[position] = sizes[best]
        first_rank += int(sizes[best])
    return chosen


def best_order(
    cores: Sequence[int], positions: "Positions", *, seconds: float | None = None
) -> BestOrder:
    """Return the cheapest order found in time, with a lower bound.

    Parameters
    ----------
    cores
        Ranks of each node, in the given order.
    positions
        Costs of nodes by position.
    seconds
        Time limit of local and exact search together; None: derived from the number of nodes.
    """
    if seconds is None:
        seconds = SEARCH_SECONDS if len(cores) <= MAX_EXACT_NODES else SECONDS_OF_MANY
    given_sizes = np.array(cores, np.int64)
    starts = {
        "given": given_sizes,
        "spread": spread(given_sizes),
        "in step": in_step(given_sizes),
        "ascending": np.sort(given_sizes),
        "descending": np.sort(given_sizes)[::-1],
        "random": np.random.default_rng(1).permutation(given_sizes),
    }
    best = cheapest_order(positions, starts, positions.bound(), seconds)
    return best._replace(order=nodes_of(given_sizes, np.array(best.order)))


def nodes_of(given_sizes: Ints, sizes: Ints) -> list[int]:
    """Convert an order of sizes to nodes; nodes of equal size retain their order."""
    order = np.empty(len(given_sizes), np.int64)
    order[np.argsort(sizes, kind="stable")] = np.argsort(given_sizes, kind="stable")
    return list(map(int, order))


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
        different = [(kind, kind.rounds) for kind in kinds]
        if not model.of_data:  # kinds that differ in their bytes alone are one
            marks = ((kind.traffic.messages.fingerprint, kind.spread) for kind in kinds)
            same = grouped(zip(marks, kinds, strict=True))
            different = [(alike[0], sum(kind.rounds for kind in alike)) for alike in same.values()]
        rounds = np.array([times for _, times in different])
        self.weights = rounds / rounds.sum()
        self._kinds = [_Kind(kind, self.places, self.labels, model) for kind, _ in different]

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
        if self.separable:
            return self.least(orders)
        end_rank = np.cumsum(orders, axis=-1)
        columns = (
            np.broadcast_to(np.arange(self.places), orders.shape),
            end_rank - orders,
            end_rank,
        )
        rows = [np.reshape(column, (-1, self.places)) for column in columns]
        hottest = [in_portions(k.hottest, _NODES_BATCH // self.places, *rows) for k in self._kinds]
        return np.tensordot(self.weights, hottest, 1).reshape(orders.shape[:-1])

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

_MAX_COST_LOOKUPS = 20_000_000
"""Most costs that are looked up for the bound, of all kinds of rounds together."""

_NODES_BATCH = 20_000
"""Costs of so many nodes are worked out in the caches of a processor."""

_RECEIVERS = 128
_SENDERS = 16
_OVERLAPS = 16
"""Boxes of similar positions, of similar runs of ranks, and of their overlaps."""


class _Kind:
    """Costs of nodes in one kind of round; arrays hold messages and, for some models, bytes.

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
        amounts = (self.traffic.messages, self.traffic.bytes)[: 1 + model.of_data]
        self.overlaps = Overlaps(*amounts)
        self.usual = self.traffic.message_size
        self.sent = np.stack([amount.sent.astype(float) for amount in amounts])
        self.received = np.zeros((len(amounts), nodes))
        self.received[:, : self.domains] = [a.received[: self.domains] for a in amounts]
        self.heaviest = [amount.heaviest for amount in amounts]
        self.places = _Boxes(self.received, _RECEIVERS)

    def costs(self, position: Ints, first_rank: Ints, size: Ints) -> Floats:
        """Return the seconds of nodes at their places; arrays of one shape.

        If they depend on the other nodes, too: seconds below which these nodes are not.
        """
        columns = (np.ravel(column) for column in (position, first_rank, first_rank + size))
        return in_portions(self._costs, _NODES_BATCH, *columns).reshape(np.shape(position))

    def _costs(self, position: Ints, first_rank: Ints, end_rank: Ints) -> Floats:
        counts = self._counts(position, first_rank, end_rank)
        return self.model.whatever_others_do(counts, self.spread, self.usual)

    def hottest(self, position: Ints, first_rank: Ints, end_rank: Ints) -> Floats:
        """Return the seconds of the hottest node of whole orders, nodes along the last axis."""
        counts = self._counts(position, first_rank, end_rank)
        costs = self.model.cost(counts, self.spread, self.usual, counts.busy)
        return np.asarray(costs.max(axis=-1))

    def _counts(self, position: Ints, first_rank: Ints, end_rank: Ints) -> Counts:
        """Return what nodes send and receive."""
        serves = position < self.domains
        within = self.overlaps.between(np.where(serves, position, 0), first_rank, end_rank)
        sides: list[Floats] = []
        for amount, overlap in enumerate(within):
            local = overlap * serves
            sent = self.sent[amount].take(end_rank) - self.sent[amount].take(first_rank)
            # bytes may be rounded means: avoid negative values
            into = np.maximum(self.received[amount].take(position) - local, 0.0)
            sides += [local, into, np.maximum(sent - local, 0.0)]
        return self.directed(Counts(*sides[:3], *sides[-3:]))

    def bound(self, counts: Ints, kinds: int) -> float:
        """Return the bound of `Positions.bound` for this kind of round, one of ``kinds``."""
        steps = _MAX_COST_LOOKUPS // kinds
        union = np.full(self.nodes, np.inf)
        worst, together, work = 0.0, 0, 0
        for at in reversed(range(len(self.sizes))):
            # numbers of ranks before that let a node overlap with what its place serves
            overlapping = self.overlaps.last - self.overlaps.first + int(self.sizes[at]) - 1
            work += int(np.maximum(overlapping, 0).sum())
            floor = self._places(int(self.sizes[at]), exactly=work <= steps)
            count = int(counts[at])
            together += count
            union = np.minimum(union, floor)
            for least, number in ((floor, count), (union, together)):
                worst = max(worst, float(np.partition(least, number - 1)[number - 1]))
        return worst

    def _places(self, size: int, *, exactly: bool) -> Floats:
        """Return a lower bound of the cost of a node of this size at each position.

        With ``exactly``, numbers of ranks before that give an overlap are tried individually; all
        others are relaxed to the least the node could send and overlap.
        """
        floor = self.floor(size, disjoint=exactly)
        if exactly:
            first, last = self.overlaps.first, self.overlaps.last
            low = np.maximum(first - size + 1, 0)
            widths = np.maximum(np.minimum(last - 1, self.traffic.ranks - size) - low + 1, 0)
            widths[self.domains :] = 0
            position, first_rank = expanded(low, widths)
            np.minimum.at(
                floor, position, self.costs(position, first_rank, np.full(len(position), size))
            )
        return floor

    def floor(self, size: int, *, disjoint: bool) -> Floats:
        """Return a lower bound of the cost of a node of this size at each position.

        ``disjoint``: only for nodes without data in the domain they serve.
        """
        of_data = len(self.heaviest) > 1
        senders = _Boxes(self.sent[:, size:] - self.sent[:, :-size], _SENDERS)
        max_overlap = min(size * self.heaviest[0], self.places.high[0].max(), senders.high[0].max())
        edges = np.zeros(2) if disjoint else np.linspace(0, max_overlap, _OVERLAPS + 1)
        shape = self.places.low.shape[1], senders.low.shape[1], len(edges) - 1
        r, s, k = (index.ravel() for index in np.indices(shape))
        received, sent = self.places.low[:, r], senders.low[:, s]
        received_most, sent_most = self.places.high[:, r], senders.high[:, s]
        within = np.stack([edges[k], np.zeros(len(k))][: 1 + of_data])
        # several messages may be of one rank, in an average of rounds
        most = [edges[k + 1], np.minimum(edges[k + 1], size) * self.heaviest[-1]]
        within_most = np.minimum(most[: 1 + of_data], np.minimum(received_most, sent_most))
        low, high = (
            self.directed(Counts(*(np.maximum(side[a], 0.0) for a in (0, -1) for side in sides)))
            for sides in (
                (within, received - within_most, sent - within_most),
                (within_most, received_most - within, sent_most - within),
            )
        )
        costs = self.model.least(low, high, self.spread, self.usual)
        costs[within[0] > within_most[0]] = np.inf
        return np.asarray(costs.reshape(len(self.places.low[0]), -1).min(axis=1)[self.places.of])


class _Boxes:
    """Columns of amounts, grouped into boxes of similar ones.

    Parameters
    ----------
    columns
        Shape (1 or 2, n).
    limit
        Maximum number of boxes; fewer different columns have a box each.

    Attributes
    ----------
    of
        Box of each column.
    low, high
        Least and largest amounts in each box; shape (1 or 2, boxes).
    """

    def __init__(self, columns: Floats, limit: int) -> None:
        order = np.lexsort(columns)
        ordered = columns[:, order]
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

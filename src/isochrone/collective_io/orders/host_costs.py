"""Aggregators in the order of a hint: hosts by the first file domain they serve; ranks do not move.

ROMIO gives file domain i to aggregator i of ``cb_config_list``. A host's aggregators are neighbours
in the list, so it serves neighbouring domains, determined by the number of aggregators before it.
Its messages do not depend on the order of the others; its time does only with a model that has
``busy``. With one kind of round, minimising the hot spot is therefore a bottleneck assignment,
solved exactly. With several kinds the weighted sum of their hot spots is minimised (`search`). The
result must fit into a hint.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.collective_io.orders.exact import OrderCosts, balanced, cheapest, least_maximum
from isochrone.collective_io.orders.search import cheapest_order
from isochrone.collective_io.orders.setting import VALUE_LIMIT, HintList
from isochrone.collective_io.predict.best_possible import least_exchange
from isochrone.collective_io.predict.node_cost import TIE, NodeCost, gap_to, predict
from isochrone.collective_io.workload import Floats, Ints, in_portions
from isochrone.collective_io.workload.traffic import Counts, Layout, RoundKind, Sums

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
    if len(hints.layout.hosts) > MAX_LIST_HOSTS:
        raise InputError(
            f"the names of {len(hints.layout.hosts)} hosts do not fit into a hint of {VALUE_LIMIT} "
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
    all_named = hints.room(np.arange(len(hints.layout.hosts))) == len(hints.layout.hosts)
    return Assignment(order.tolist(), length, cost, given_cost, bound, all_named)


# --- costs of hosts ------------------------------------------------------------------------------

MAX_TABLE_ENTRIES = 4_000_000
"""Entries of all tables: more take too long."""

_PORTION = 2_000_000
"""Entries that are handled at once."""


MAX_HOST_ORDERS = 400_000
"""More orders are not tried, …"""

_LOOKUPS = 60_000_000
"""… nor so many that their costs are looked up more often than that."""

_MAX_LIMITED_HOSTS = 200
"""Hosts of which a search over limits would take too long."""


class HostCosts(OrderCosts):
    """Seconds of hosts by their position in the list of aggregators.

    A label is a host; its width is the number of its aggregators.

    Parameters
    ----------
    kinds
        Rounds of the call.
    hints
        How many aggregators each host has, and which orders a hint can express.
    model
        What messages cost.

    Attributes
    ----------
    step
        Domains from one column to the next: the number that all hosts have, or else 1.
    table
        Seconds, or lower bounds if they depend on the other hosts; shape (kinds, hosts, columns).
        Column j: the first domain is number j · step; the last column: none.
    rest
        Lower bound of a round for kinds without a table: those with the fewest messages, if all
        tables would be too large.
    """

    def __init__(self, kinds: Sequence[RoundKind], hints: HintList, model: NodeCost) -> None:
        layout, width = hints.layout, hints.counts
        rounds = sum(kind.rounds for kind in kinds)
        self.uniform = bool((width == width[0]).all())
        self.step = int(width[0]) if self.uniform else 1
        columns = -(-min(kinds[0].traffic.domains, int(width.sum())) // self.step) + 1
        room = max(1, MAX_TABLE_ENTRIES // (len(width) * columns))
        busiest = sorted(kinds, key=lambda kind: -int(kind.traffic.messages.sent[-1]) * kind.times)
        tabled, left = busiest[:room], busiest[room:]
        self._amounts = [
            (_counts(kind, layout, width, self.step, of_data=model.of_data), kind.spread)
            for kind in tabled
        ]
        self.table = np.stack([_least(model, *amounts) for amounts in self._amounts])
        self.rest = least_exchange(left, layout, model, int(width.max())).seconds / rounds
        self.weights = np.array([kind.rounds / rounds for kind in tabled])
        self.labels, self.counts = np.arange(len(width)), np.ones(len(width), np.int64)
        self.width, self.separable = width, not model.of_neighbours
        self.places = min(columns - 1, len(width)) if self.uniform else len(width)
        self._model, self._hints = model, hints

    @property
    def most_orders(self) -> int:
        """Number of orders that are enumerated at most; 0 if a hint cannot express each."""
        hints = self._hints
        longest_first = np.argsort([-len(name) for name in hints.layout.hosts], kind="stable")
        free = not hints.must.any() and hints.room(longest_first) >= self.places
        lookups = len(self.labels) * len(self.weights)
        orders = min(MAX_HOST_ORDERS, _LOOKUPS // lookups)
        return orders if free or hints.fits(self.labels) else 0

    def widths(self, labels: Ints) -> Ints:
        """Return the aggregators of hosts."""
        return self.width[labels]

    def _column(self, before: Ints) -> Ints:
        return np.asarray(np.minimum(before // self.step, self.table.shape[2] - 1))

    def costs(self, position: Ints, before: Ints, label: Ints) -> Floats:
        """Return entries of the table; the position is determined by the aggregators before."""
        return np.asarray(self.table[:, label, self._column(before)])

    def total(self, orders: Ints) -> Floats:
        """Return a round's seconds in each order, with how busy the other hosts are."""
        if self.separable:
            return self.least(orders)
        rows = orders.reshape(-1, orders.shape[-1])
        return in_portions(self._busy, _PORTION // orders.shape[-1], rows).reshape(
            orders.shape[:-1]
        )

    def _busy(self, orders: Ints) -> Floats:
        widths = self.width[orders]
        at = self._column(np.cumsum(widths, axis=-1) - widths)
        total = np.zeros(len(orders))
        for weight, (counts, spread) in zip(self.weights, self._amounts, strict=True):
            placed = Counts(*(side[orders, at] for side in counts))
            total += weight * self._model.ask(placed, spread, placed.busy)[0].max(axis=1)
        return total

    def bound(self) -> float:
        """Return a lower bound of all orders: exact for one kind of round of equal hosts."""
        if not self.uniform:  # each host has exactly one position
            return float(self.weights @ self.table.min(axis=2).max(axis=1))
        squares = self.squares
        separate = float(self.weights @ [least_maximum(square) for square in squares])
        if len(squares) == 1:
            return separate
        # the hot spot of the average costs at most the average of the hot spots
        return max(separate, least_maximum(np.tensordot(self.weights, squares, 1)))

    @cached_property
    def squares(self) -> Floats:
        """Costs of equal hosts by place, with a place for each host; shape (kinds, n, n)."""
        columns = np.minimum(self.labels, self.table.shape[2] - 1)
        return np.asarray(self.table[:, :, columns])

    def starts(self) -> dict[str, Ints]:
        """Return initial orders: the best for the mean, for the maximum, and for each kind."""
        if not self.uniform:
            return {}
        mean = np.tensordot(self.weights, self.squares, 1)
        several = {"mean": mean}
        if len(self.squares) > 1:
            heaviest = np.argsort(-self.weights * self.squares.max(axis=(1, 2)))[:4]
            several["maximum"] = self.squares.max(axis=0)
            several |= {f"kind {k}": self.squares[k] for k in heaviest}
        orders = {name: balanced(matrix) for name, matrix in several.items()}
        room = self._hints.room(orders["mean"])
        if room < len(mean):  # another order, which leaves all beyond the hint as they are
            first = balanced(mean[:room, :room])
            orders["first hosts"] = np.append(first, np.arange(room, len(mean)))
        return {name: self.expressible(order)[0] for name, order in orders.items()}

    def expressible(self, order: Ints) -> tuple[Ints, int]:
        """Return the order of a hint that names as many hosts as fit, and how many it names."""
        named = self._hints.longest(order)
        return self._hints.completed(named), len(named)

    def by_limits(self, cost: float, seconds: float) -> tuple[Ints | None, float]:
        """Search over limits of the hot spots; only equal hosts, and not too many."""
        if not self.uniform or len(self.labels) > _MAX_LIMITED_HOSTS:
            return None, 0.0
        return cheapest(self.squares, self.weights, cost, seconds=seconds)


def _least(model: NodeCost, counts: Counts, spread: int) -> Floats:
    """Return lower bounds of the seconds of hosts, however busy the others are.

    The cost of a host without messages may depend on the others; it is never the hot spot.
    """
    seconds = model.whatever_others_do(counts, spread)
    if "b" in model.model.variables:
        idle = counts.intra + counts.into + counts.out == 0
        seconds = np.where(idle, 0.0, seconds)
    return seconds


def _counts(kind: RoundKind, layout: Layout, counts: Ints, step: int, *, of_data: bool) -> Counts:
    """Return the messages and bytes of each host (row) in each place (column) of a round."""
    messages = _sides(kind.traffic.messages, layout, counts, step)
    intra, into, out = (np.rint(side).astype(np.int64) for side in messages)
    data = _sides(kind.traffic.bytes, layout, counts, step) if of_data else messages
    return kind.directed(Counts(intra, into, out, *data))


def _sides(sums: Sums, layout: Layout, counts: Ints, step: int) -> tuple[Floats, Floats, Floats]:
    """Return what stays within, comes into and leaves each host (row) in each place."""
    domains = min(sums.domains, int(counts.sum()))
    start = np.append(np.arange(0, domains, step), domains)
    end = np.minimum(start + counts[:, None], domains)
    start = np.broadcast_to(start, end.shape)
    received = np.append(0.0, np.cumsum(sums.received[:domains], dtype=float))
    # each host's own data in the domains it serves
    overlap = _overlap(sums, layout, domains)
    if (end - start <= 1).all() and end.shape[1] == domains + 1:
        intra = np.append(overlap, np.zeros((len(overlap), 1)), axis=1)
    else:
        cumulative = np.append(np.zeros((len(overlap), 1)), np.cumsum(overlap, axis=1), axis=1)
        host = np.arange(len(overlap))[:, None]
        intra = cumulative[host, end] - cumulative[host, start]
    intra = np.maximum(intra, 0.0)
    into = received[end] - received[start] - intra
    out = sums.sent_by(layout)[:, None] - intra
    return intra, np.maximum(into, 0.0), np.maximum(out, 0.0)


def _overlap(sums: Sums, layout: Layout, domains: int) -> Floats:
    """Return what each host has for each domain; shape (hosts, domains)."""
    edge = np.append(layout.first, layout.last[-1])
    by_node = np.argsort(layout.node, kind="stable")
    starts = np.searchsorted(layout.node[by_node], np.arange(layout.nodes))

    def held(domain: Ints) -> Floats:
        of_runs = np.diff(sums.before(domain[:, None], edge), axis=1)
        return np.add.reduceat(of_runs[:, by_node], starts, axis=1).astype(float)

    return in_portions(held, _PORTION // len(edge), np.arange(domains)).T

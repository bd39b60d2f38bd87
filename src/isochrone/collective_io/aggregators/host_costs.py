"""Cost of a host by the first file domain it serves, in each kind of round.

A host's aggregators are neighbours in the list, so it serves neighbouring domains, determined by
the number of aggregators before it. Its messages do not depend on the order of the others; its time
does only with a model that has ``busy``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.base.record import Record
from isochrone.collective_io.predict.best_possible import least_exchange
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.workload import Floats, Ints, in_portions
from isochrone.collective_io.workload.traffic import Counts, Layout, RoundKind, Sums

MAX_TABLE_ENTRIES = 4_000_000
"""Entries of all tables: more take too long."""

_PORTION = 2_000_000
"""Entries that are handled at once."""


class HostCosts(Record):
    """Seconds of hosts by their position in the list of aggregators.

    Attributes
    ----------
    weights
        Fraction of all rounds that is of each kind of the table.
    counts
        Aggregators of each host.
    step
        Domains from one column to the next: the number that all hosts have, or else 1.
    table
        Seconds, or lower bounds if they depend on the other hosts; shape (kinds, hosts, columns).
        Column j: the first domain is number j · step; the last column: none.
    rest
        Lower bound of a round for kinds without a table: those with the fewest messages, if all
        tables would be too large.
    """

    weights: Floats
    counts: Ints
    step: int
    table: Floats
    rest: float
    _model: NodeCost
    _found: Sequence[tuple[Counts, int]]

    @staticmethod
    def of(
        kinds: Sequence[RoundKind],
        layout: Layout,
        counts: Ints,
        model: NodeCost,
    ) -> HostCosts:
        """Count the messages of every host at every position, and evaluate the model."""
        rounds = sum(kind.rounds for kind in kinds)
        step = int(counts[0]) if (counts == counts[0]).all() else 1
        columns = -(-min(kinds[0].traffic.domains, int(counts.sum())) // step) + 1
        room = max(1, MAX_TABLE_ENTRIES // (len(counts) * columns))
        busiest = sorted(kinds, key=lambda kind: -int(kind.traffic.messages.sent[-1]) * kind.times)
        tabled, left = busiest[:room], busiest[room:]
        weights = np.array([kind.rounds / rounds for kind in tabled])
        of_data = model.of_data
        tabled_counts = [
            (_counts(kind, layout, counts, step, of_data=of_data), kind.spread) for kind in tabled
        ]
        table = np.stack([_least(model, *counted) for counted in tabled_counts])
        max_count = int(counts.max())
        remainder = least_exchange(left, layout, model, max_count).seconds / rounds
        return HostCosts(weights, counts, step, table, remainder, model, tabled_counts)

    @property
    def uniform(self) -> bool:
        """Whether all hosts have equally many aggregators: then any order is possible."""
        return bool((self.counts == self.counts[0]).all())

    @property
    def places(self) -> int:
        """Places that serve a domain, if all hosts have as many aggregators."""
        return int(self.table.shape[2]) - 1

    @property
    def separable(self) -> bool:
        """Whether the table holds exact seconds, not bounds."""
        return not self._model.of_neighbours

    def columns(self, orders: Ints) -> Ints:
        """Return the column of each host of orders of hosts; shape as theirs, (orders, hosts)."""
        counts = self.counts[orders]
        first = np.cumsum(counts, axis=-1) - counts
        return np.asarray(np.minimum(first // self.step, self.table.shape[2] - 1))

    def each(self, orders: Ints) -> Floats:
        """Return the entries of the table for orders; shape (kinds, orders, hosts)."""
        return self.table[:, orders, self.columns(orders)]

    def least(self, orders: Ints) -> Floats:
        """Return a round's seconds in each order, of the hottest hosts, by the table."""
        at = self.columns(orders)
        hottest = np.stack([table[orders, at].max(axis=-1) for table in self.table])
        return np.asarray(self.weights @ hottest)

    def total(self, orders: Ints) -> Floats:
        """Return a round's seconds in each order, with how busy the other hosts are."""
        if self.separable:
            return self.least(orders)
        return in_portions(self._busy, _PORTION // orders.shape[1], orders)

    def _busy(self, orders: Ints) -> Floats:
        at = self.columns(orders)
        total = np.zeros(len(orders))
        for weight, (counts, spread) in zip(self.weights, self._found, strict=True):
            placed = Counts(*(side[orders, at] for side in counts))
            total += weight * self._model.ask(placed, spread, placed.busy)[0].max(axis=1)
        return total


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

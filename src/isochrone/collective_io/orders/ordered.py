"""Orders of nodes to compare: given, best, worst, sorted and random ones."""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from time import monotonic

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.collective_io.orders.exact import MAX_ORDERS, arrangements, how_many
from isochrone.collective_io.orders.positions import Positions, best_order, nodes_of
from isochrone.collective_io.orders.search import ELEMENTS, Total, climb
from isochrone.collective_io.predict.node_cost import CallCost, NodeCost, predict
from isochrone.collective_io.workload import Ints, in_portions
from isochrone.collective_io.workload.call import Call, aggregators
from isochrone.collective_io.workload.traffic import RoundKind, layout_of
from isochrone.measure import allocation as allocations
from isochrone.measure.allocation import Allocation
from isochrone.measure.arrangement import Arrangement

_SAMPLES_PER_ORDER = 100
"""Random orders sampled for each wanted one, as repeats are dropped."""


Order = Sequence[int]
"""Nodes or hosts, as indices of those given."""


class Candidate(Record):
    """An order to compare.

    Attributes
    ----------
    names
        What it is: ``given``, ``best found``, ``random 1`` …; several if they are the same order.
    order
        Nodes or hosts, as indices of those given.
    """

    names: list[str]
    order: list[int]


def choose(
    named: Iterable[tuple[str, Order]],
    alike: Callable[[Order], Hashable],
    *,
    limit: int,
    random: int = 0,
    seed: int = 1,
) -> list[Candidate]:
    """Return distinct orders: those with names, then random ones.

    Parameters
    ----------
    named
        Named orders, most important first.
    alike
        Returns equal keys for equivalent orders: nodes with equally many ranks are interchangeable.
    limit
        Maximum number of orders.
    random
        How many elements a random order has; 0: no random ones.
    seed
        Of the random orders.
    """
    candidates: dict[Hashable, Candidate] = {}
    for name, order in named:
        key = alike(order)
        if key in candidates:
            candidates[key].names.append(name)
        elif len(candidates) < limit:
            candidates[key] = Candidate([name], [int(k) for k in order])
    generator = np.random.default_rng(seed)
    drawn = 0
    for _ in range(_SAMPLES_PER_ORDER * limit if random else 0):
        if len(candidates) >= limit:
            break
        order = generator.permutation(random).tolist()
        key = alike(order)
        if key not in candidates:
            drawn += 1
            candidates[key] = Candidate([f"random {drawn}"], order)
    return list(candidates.values())


class Nodes(Record):
    """A job whose nodes, which are filled one after the other, can be put in order.

    Attributes
    ----------
    given
        The nodes as they are given.
    call
        The collective call.
    model
        What messages cost a node.
    most
        ``cb_nodes``: at most so many aggregators; None: one on each host.
    """

    given: Allocation
    call: Call
    model: NodeCost
    most: int | None = None

    @cached_property
    def kinds(self) -> list[RoundKind]:
        """Messages by kind of round; they are the same in every order."""
        hosts = len(self.given.hosts)
        return self.call.round_kinds(min(self.most or hosts, hosts))

    def predict(self, order: Order) -> CallCost:
        """Return the cost of the call in an order."""
        layout = layout_of(self.ranks(order))
        return predict(self.kinds, layout, self.aggregators(order), self.model)

    def aggregators(self, order: Order) -> list[int]:
        """Return the ranks that serve the parts of the file."""
        return aggregators(self.ranks(order), nodes=self.most)

    def ranks(self, order: Order) -> list[str]:
        """Return the host of each rank."""
        return self.arranged(order).filled.by_rank

    def named(self) -> list[tuple[str, Order]]:
        """List orders by what they are: the best and the worst found, as given, sorted."""
        ranks = np.array(self.given.cores)
        return [
            ("best found", self.best()),
            ("given", range(len(ranks))),
            ("worst found", self.worst()),
            ("ascending", np.argsort(ranks, kind="stable").tolist()),
            ("descending", np.argsort(-ranks, kind="stable").tolist()),
        ]

    def read(self, text: str) -> list[int]:
        """Read an order: the hosts' names, or the ranks of each node as in ``4,4,2,2``.

        Raises
        ------
        InputError
            If it is no order of these nodes.
        """
        host_index = {host: k for k, host in enumerate(self.given.hosts)}
        names = text.split(",")
        if set(names) <= set(host_index):
            if len(names) != len(host_index) or len(set(names)) != len(names):
                raise InputError(
                    f"'{text[:60]}' does not name each of the {len(host_index)} nodes once",
                    where="--orders",
                )
            return [host_index[name] for name in names]
        ranks = self.given.cores
        numbers = re.fullmatch("[0-9(x),]+", text)
        sizes = allocations.from_numbers(text, "--orders").cores if numbers else ()
        if sorted(sizes) != sorted(ranks):
            raise InputError(
                f"'{text[:60]}' is not an order of the nodes with {','.join(map(str, ranks[:16]))} "
                "ranks",
                where="--orders",
                hint="give the ranks of each node, or the names of the hosts",
            )
        return nodes_of(np.array(ranks), np.array(sizes))

    @cached_property
    def positions(self) -> Positions:
        """Costs of nodes by position."""
        return Positions(self.kinds, np.array(self.given.cores), self.model)

    def arranged(self, order: Order) -> Arrangement:
        """Return where the ranks are: nodes are filled in this order."""
        return Arrangement(self.given, order)

    def alike(self, order: Order) -> Hashable:
        """Return the same for orders that cannot differ: nodes of equal size change places."""
        return tuple(self.given.cores[k] for k in order)

    def best(self) -> list[int]:
        """Return the best order that is found, as `place nodes` does."""
        return best_order(self.given.cores, self.positions).order

    def worst(self) -> list[int]:
        """Return the worst order that is found, among nodes out of step with the file."""
        ranks = np.array(self.given.cores)
        starts = [ranks, *out_of_step(ranks)]
        return nodes_of(ranks, worst(ranks, self.positions.total, starts))


# --- the worst order -----------------------------------------------------------------------------

# Worst-case order of nodes: the highest predicted cost that was found.
#
# An order arranges numbers of ranks, because nodes with equally many are interchangeable. Few
# orders are enumerated; otherwise those that match the file least are made worse by swaps.

ORDERED_SEARCH_SECONDS = 4.0
"""Time limit of the search."""

_STARTS = 5
"""Orders that are made worse by swaps."""

_PLACES = 32
"""Places at which `out_of_step` puts a node out of step."""


def worst(labels: Ints, total: Total, starts: Sequence[Ints]) -> Ints:
    """Return the most expensive arrangement of ``labels`` found; exact if there are few.

    Parameters
    ----------
    labels
        Labels to arrange; equal ones are interchangeable.
    total
        Costs of arrangements.
    starts
        Initial arrangements; at least one.
    """
    kinds, counts = np.unique(labels, return_counts=True)
    if how_many(counts) <= MAX_ORDERS:
        every = arrangements(kinds, counts)
        return np.asarray(every[int(np.argmax(in_portions(total, ELEMENTS // len(labels), every)))])
    end = monotonic() + ORDERED_SEARCH_SECONDS
    generator = np.random.default_rng(1)
    initial = np.stack(starts)
    order = np.argsort(-in_portions(total, ELEMENTS // len(labels), initial), kind="stable")[
        :_STARTS
    ]
    climbed = [climb(initial[k], total, end, generator) for k in order]
    return max(climbed, key=lambda arrangement: float(total(arrangement[None, :])[0]))


def out_of_step(cores: Ints) -> list[Ints]:
    """Put a node of each size at each place, after the largest or the smallest of the others.

    The ranks before it are then as many, or as few, as they can be at this place: no node can be
    further away from the part of the file it serves.
    """
    orders = [np.sort(cores), np.sort(cores)[::-1]]
    positions = np.unique(np.linspace(0, len(cores) - 1, _PLACES).round().astype(np.int64))
    for size in np.unique(cores)[-_PLACES:]:
        others = np.sort(np.delete(cores, np.flatnonzero(cores == size)[0]))
        for position in positions:
            orders += [
                np.insert(arrangement, position, size) for arrangement in (others, others[::-1])
            ]
    return orders

"""Estimate of the speedup that settings with collective buffering can achieve.

It is reported before anything is tried: where most of a call does not depend on the order of nodes
or aggregators, the best order gains little.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from scipy import sparse
from scipy.optimize import linprog

from isochrone.base.documents import Hidden, Inline, shown
from isochrone.base.record import Record
from isochrone.base.units import format_seconds
from isochrone.collective_io.predict.call_parts import LATE, PARTS
from isochrone.collective_io.predict.node_cost import NodeCost
from isochrone.collective_io.predict.whole_call import WholeCall, WholeCost, collective_features
from isochrone.collective_io.workload import Floats
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.traffic import Counts, Layout, RoundKind, Sums, layout_of

NAMES = {
    "offsets": "offsets and lengths",
    "counts": "sizes",
    "exchange": "exchange",
    "file": "file access",
    "rest": "remainder",
}

MAX_EACH_RANKS = 64
"""Up to so many ranks each number of aggregators is looked at, and of more, powers of two."""

MAX_EVALUATED_RANKS = 2048
"""With more ranks, evaluating other numbers of aggregators takes too long."""


class Gain(NamedTuple):
    """How many times as fast, and the seconds; null: beyond any number."""

    gain: float | None
    seconds: float


class Bounds(NamedTuple):
    """The most that can be gained by the model, by anything and by another order alone."""

    gain: float | None
    seconds: float
    why: str
    by_order: Gain


class BestPossible(Record):
    """Bounds on the time of a call.

    Attributes
    ----------
    now
        Seconds of the given setting.
    by_order
        Lower bound for all orders of nodes or aggregators.
    by_hints
        The same for any number of aggregators and any buffer; None: not known.
    independent
        Seconds without collective buffering; None: not known.
    why
        Sentences on the limits; the first has the gain.
    """

    now: Hidden[float]
    by_order: Hidden[float]
    by_hints: float | None
    independent: float | None
    why: Hidden[list[str]]

    @property
    @shown
    def bounds(self) -> Inline[Bounds]:
        """How much can be gained, for a document."""
        order = Gain(self.order_gain, min(self.by_order, self.now))
        return Bounds(self.gain, min(self.seconds, self.now), " ".join(self.why), order)

    @property
    def seconds(self) -> float:
        """The least of the known bounds."""
        bounds = [self.by_hints, self.independent]
        return min([self.by_order, *(bound for bound in bounds if bound is not None)])

    @property
    def gain(self) -> float:
        """Maximum speedup; at least 1."""
        return _gain(self.now, self.seconds)

    @property
    def order_gain(self) -> float:
        """How many times as fast another order alone can be."""
        return _gain(self.now, self.by_order)


def best_possible(
    call_model: WholeCall, call: Call, by_rank: Sequence[str], aggregators: Sequence[int]
) -> BestPossible:
    """Return how much any order, and any hints, can gain at most."""
    features = collective_features(call, by_rank, aggregators, call_model.model)
    present = call_model.of(call.reading, features)
    max_per_node = max(Counter(by_rank[rank] for rank in aggregators).values())
    bound = _bounded(call_model, call, by_rank, len(aggregators), features.values, max_per_node)
    law = call_model.times.laws.get((call.reading, "exchange"))
    exchange, best_exchange = (
        law.ask(quantities).seconds if law else quantities.get("exchange", 0.0)
        for quantities in (features.values, bound)
    )
    by_order = max(0.0, present.seconds - exchange + min(exchange, best_exchange))
    independent_cost = call_model.independent(call)
    independent = independent_cost.seconds if independent_cost else None
    why = _of_order(present, by_order, exchange)
    by_hints, ranks = None, len(by_rank)
    if present.known and call.driver != "ompio" and ranks <= MAX_EVALUATED_RANKS:
        # any number of aggregators, in a single round
        single = call if call.cyclic else replace(call, buffer=None)
        counts = (
            range(1, ranks + 1)
            if ranks <= MAX_EACH_RANKS
            else (2**k for k in range(ranks.bit_length()))
        )
        by_hints = min(by_order, *(_least(call_model, single, by_rank, count) for count in counts))
        if by_hints <= 0.97 * by_order:
            why.append(
                "By the model, another number of aggregators or another buffer size makes the "
                f"call at most {_gain(present.seconds, by_hints):.3g} times as fast."
            )
    why += _of_independent(present, independent_cost, call.reading)
    return BestPossible(present.seconds, by_order, by_hints, independent, why)


def _bounded(
    call_model: WholeCall,
    call: Call,
    by_rank: Sequence[str],
    count: int,
    values: dict[str, float],
    max_domains: int | None = None,
) -> dict[str, float]:
    """Return the quantities of a call with its hot spot at its lower bound.

    On one node all messages are within it, whichever ranks serve.
    """
    if len(set(by_rank)) == 1:
        exact = collective_features(call, by_rank, range(count), call_model.model).values
        hot = ("hot_bytes", "hot_messages", "exchange")
        return values | {name: exact[name] for name in hot if name in exact}
    bound = least_exchange(
        call.round_kinds(count), layout_of(by_rank), call_model.model, max_domains
    )
    quantities = {**values, "hot_bytes": bound.bytes, "hot_messages": bound.messages}
    return {**quantities, "exchange": bound.seconds} if call_model.model else quantities


def _least(call_model: WholeCall, call: Call, by_rank: Sequence[str], count: int) -> float:
    """Return the sum of what each part takes at least with this many aggregators."""
    ranks = list(range(count))
    quantities = collective_features(call, by_rank, ranks, None).values
    values = _bounded(call_model, call, by_rank, count, quantities)
    # lists of pieces travel with the data
    lists = values["hot_bytes"] / max(quantities["hot_bytes"], 1.0)
    values["list_pieces"] *= min(lists, 1.0)
    values |= {"rounds": 1.0, "calls": 2.0}
    laws = [call_model.times.laws.get((call.reading, part_name)) for part_name in (*PARTS, LATE)]
    return sum(law.least(values) for law in laws if law)


def _of_order(present: WholeCost, best_seconds: float, exchange: float) -> list[str]:
    """Sentence on the gain of another order, and on what it does not change."""
    gain = _gain(present.seconds, best_seconds)
    if gain < 1.005:
        return ["No other order of the nodes or of the aggregators is faster."]
    if not present.known:
        return [
            "By the model, another order of the nodes or of the aggregators makes the exchange at "
            f"most {gain:.2g} times as fast."
        ]
    remainder = max(present.seconds - exchange, 0.0)
    why = (
        " The order affects only the exchange. The other parts of the call take "
        f"{format_seconds(remainder)} of {format_seconds(present.seconds)}."
    )
    return [
        "By the model, another order of the nodes or of the aggregators makes the call at most "
        f"{gain:.3g} times as fast.{why}"
    ]


def _of_independent(present: WholeCost, independent: WholeCost | None, reading: bool) -> list[str]:
    """Sentence on the benefit of collective buffering."""
    hint = "romio_cb_read" if reading else "romio_cb_write"
    if independent is None:
        if not present.known:
            return []
        return [
            f"Without collective buffering: not known, may be faster. Measure it with {hint} = "
            "disable."
        ]
    times = (
        f"{format_seconds(independent.seconds)} without, {format_seconds(present.seconds)} with it"
    )
    if independent.high < present.low:
        return [f"Collective buffering is slower here; disable it ({hint} = disable): {times}."]
    if independent.seconds < present.seconds:
        return [f"Collective buffering may be slower here; try {hint} = disable: {times}."]
    return [f"Collective buffering is faster: {times}."]


def _gain(present: float, best: float) -> float:
    if present <= best:
        return 1.0
    return present / best if best > 0 else float("inf")


# --- the exchange --------------------------------------------------------------------------------

# Lower bound of the exchange for any assignment of file domains to nodes.

MAX_DOMAIN_RANKS = 20_000
"""Ranks of domains; of more, runs of ranks are taken in steps, and the bound is lower."""

MAX_CHOICES = 20_000
"""Sizes of nodes times domains; of more, only single domains and nodes are looked at."""


class ExchangeBound(Record):
    """Lower bounds for the busiest node: seconds, bytes and messages (one direction)."""

    seconds: float
    bytes: float
    messages: float


class _Nodes(Record):
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
    kinds: Sequence[RoundKind],
    layout: Layout,
    model: NodeCost | None,
    max_domains: int | None = None,
) -> ExchangeBound:
    """Return a lower bound of the exchange, for any order of nodes and of aggregators.

    Each domain is served by a node of some size, which receives at least the data that no run of as
    many ranks has, and sends its own ranks' data for other domains. Relaxations: fractions of
    domains (a linear program), and equal shares for nodes of one size. The other direction is
    bounded by zero.

    Parameters
    ----------
    max_domains
        Maximum number of domains of one node; None: unlimited.
    """
    ranks, node_counts = np.unique(layout.ranks, return_counts=True)
    neighbours = len(layout.node) == layout.nodes
    nodes = _Nodes(ranks.tolist(), node_counts.astype(np.float64), max_domains, neighbours)
    totals = np.zeros(3)
    for kind in kinds:
        messages = _one_way(kind.traffic.messages, nodes)
        data = _one_way(kind.traffic.bytes, nodes)
        seconds = 0.0
        if model:
            way = np.array([[messages, 0.0], [0.0, messages]])
            way_bytes = np.array([[data, 0.0], [0.0, data]])
            columns = [np.zeros(2), *way, np.zeros(2), *way_bytes]
            cost = model.cost(Counts(*columns), kind.spread)
            seconds = max(0.0, float(cost.min())) * kind.spread
        totals += kind.times * np.array([seconds, data, messages])
    return ExchangeBound(*totals.tolist())


def _one_way(sums: Sums, nodes: _Nodes) -> float:
    """Return the amount that some node has at least into it or out of it."""
    local = np.array([_local(sums, ranks, nodes.neighbours) for ranks in nodes.ranks])
    into = np.maximum(sums.received - local, 0.0)
    # the least that so many ranks have for all domains together
    sent_sorted = np.sort(np.diff(sums.sent))
    own_data = np.array([float(sent_sorted[:ranks].sum()) for ranks in nodes.ranks])
    bound = float(into.min(axis=0).max(initial=0.0))
    if nodes.most is not None:  # of a node that serves what suits it best
        served = np.sort(local, axis=1)[:, ::-1][:, : nodes.most].sum(axis=1)
        bound = max(bound, float((own_data - served).max()))
    if local.size > MAX_CHOICES:
        return bound
    return max(bound, _fractional(local, into, own_data, nodes))


def _fractional(local: Floats, into: Floats, own_data: Floats, nodes: _Nodes) -> float:
    """Return the optimum of the linear program: x parts of each domain for each size, and t."""
    sizes, domains = local.shape
    unit = max(float(own_data.max()), float(into.max()), 1.0)
    # sums of x over the domains, size by size; nearly all is zero
    of_size = sparse.kron(sparse.eye(sizes), np.ones((1, domains)), "csr")
    per_node = -nodes.number[:, None]
    zero = np.zeros((sizes, 1))
    above = [
        sparse.hstack([of_size.multiply(into.ravel() / unit), per_node]),
        sparse.hstack([of_size.multiply(-local.ravel() / unit), per_node]),
    ]
    limit = [np.zeros(sizes), -nodes.number * own_data / unit]
    if nodes.most is not None:
        above.append(sparse.hstack([of_size, zero]))
        limit.append(nodes.number * nodes.most)
    once = sparse.hstack([*[sparse.eye(domains)] * sizes, np.zeros((domains, 1))])
    goal = np.append(np.zeros(sizes * domains), 1.0)
    solution = linprog(
        goal, sparse.vstack(above), np.concatenate(limit), once, np.ones(domains), method="highs"
    )
    return float(solution.fun) * unit if solution.status == 0 else 0.0


def _local(sums: Sums, size: int, neighbours: bool) -> Floats:
    """Return for each domain the most that the ranks of a node of this size have."""
    if not neighbours:
        return np.minimum(sums.received, size * sums.heaviest)
    # a run that begins before the first rank of a domain has no more than the one that begins there
    begin, end = sums.span()
    span = int((end - begin).max(initial=1))
    step = max(1, -(-span * sums.domains // MAX_DOMAIN_RANKS))
    first = np.minimum(begin[:, None] + step * np.arange(-(-span // step)), sums.ranks)
    last = np.minimum(first + size + step - 1, sums.ranks)
    domain = np.arange(sums.domains)[:, None]
    return np.asarray(sums.between(domain, first, last).max(axis=1).astype(np.float64))

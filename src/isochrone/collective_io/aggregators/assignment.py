"""Assign file domains to hosts by the order of aggregators in a hint; ranks do not move.

ROMIO gives file domain i to aggregator i of ``cb_config_list``. The cost of a host at a position of
the list does not depend on the others. With one kind of round, minimising the hot spot is therefore
a bottleneck assignment, solved exactly. With several kinds the weighted sum of their hot spots is
minimised: by enumeration if there are few orders, else by local search and a search over limits
(`bottleneck.cheapest`), with a lower bound. The result must fit into a hint.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, permutations
from math import perm
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.stats import median_of
from isochrone.collective_io.aggregators.bottleneck import balanced, cheapest, least_maximum
from isochrone.collective_io.aggregators.hint_list import VALUE_LIMIT, HintList
from isochrone.collective_io.aggregators.host_costs import HostCosts
from isochrone.collective_io.predict.node_cost import TIE, NodeCost, gap_to, predict
from isochrone.collective_io.workload import Floats, Ints, in_portions
from isochrone.collective_io.workload.traffic import RoundKind

MAX_LIST_HOSTS = 4096
"""Of more hosts a list of 1,023 characters could name but a few."""

_MAX_SEARCHED_HOSTS = 200
"""Hosts of which a search over limits would take too long."""


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
        Time limit of each inexact search.

    Raises
    ------
    InputError
        If there are too many hosts, or those that must be named do not fit into a hint.
    """
    if len(hints.hosts) > MAX_LIST_HOSTS:
        raise InputError(
            f"the names of {len(hints.hosts)} hosts do not fit into a hint of {VALUE_LIMIT} "
            "characters",
            hint="isochrone place nodes has no such limit",
        )
    must = np.flatnonzero(hints.must)
    if not hints.fits(must):
        raise InputError(
            f"the names of {len(must)} hosts do not fit into a hint of {VALUE_LIMIT} characters"
        )
    costs = HostCosts.of(kinds, hints.layout, hints.counts, model)

    def real(order: Ints) -> float:
        return predict(kinds, hints.layout, hints.aggregators(order), model).cost

    given_order = hints.completed(must)
    given_cost = real(given_order)
    bound, best_order = _bound(costs), given_order
    if given_cost > (bound + costs.rest) * (1 + TIE):
        best_order, bound = _search(costs, hints, given_order, bound, seconds)
    bound = min(bound + costs.rest, given_cost)
    order, named = _shortest(best_order, costs, hints)
    cost = real(order)
    if cost >= given_cost * (1 - TIE):
        order, named, cost = given_order, len(must), given_cost
    bound = cost if cost <= bound * (1 + TIE) else bound
    all_named = hints.room(np.arange(len(hints.hosts))) == len(hints.hosts)
    return Assignment(order.tolist(), named, cost, given_cost, bound, all_named)


def _search(
    costs: HostCosts, hints: HintList, given_order: Ints, bound: float, seconds: float
) -> tuple[Ints, float]:
    """Return the best order that is found and a cost that none is below."""
    starts = [_fitting(order, hints) for order in [given_order, *_starts(costs, hints)]]
    orders = np.stack([hints.completed(named) for named in starts])
    total = costs.total(orders)
    best, best_cost = orders[int(np.argmin(total))], float(total.min())
    if best_cost <= bound * (1 + TIE):
        return best, bound
    if few_enough(costs, hints):
        best = best_of_all(costs, best)
        return best, float(costs.total(best[None, :])[0])
    named = improve(starts, costs, hints, bound, kicks=0, seconds=seconds)
    if len(costs.weights) > 1 and costs.uniform and len(given_order) <= _MAX_SEARCHED_HOSTS:
        best_cost = float(costs.total(hints.completed(named)[None, :])[0])
        better, limit = cheapest(_square(costs), costs.weights, best_cost, seconds=seconds)
        bound = max(bound, limit)
        if better is not None:
            named = improve([named, _fitting(better, hints)], costs, hints, bound, kicks=0)
    named = improve([named], costs, hints, bound, seconds=seconds)
    return hints.completed(named), bound


def _bound(costs: HostCosts) -> float:
    """Return a cost that no order is below."""
    if costs.uniform:
        squares = _square(costs)
        separate = float(costs.weights @ [least_maximum(square) for square in squares])
        if len(squares) == 1:
            return separate
        # the hot spot of the average costs at most the average of the hot spots
        return max(separate, least_maximum(np.tensordot(costs.weights, squares, 1)))
    hottest = costs.table.min(axis=2).max(axis=1)  # each host has exactly one position
    return float(costs.weights @ hottest)


def _square(costs: HostCosts) -> Floats:
    """Return the costs of hosts by place, with a place for each host; shape (kinds, n, n)."""
    hosts = len(costs.counts)
    columns = np.minimum(np.arange(hosts), costs.places)
    return costs.table[:, :, columns]


def _starts(costs: HostCosts, hints: HintList) -> list[Ints]:
    """Return initial orders: the best for the mean, for the maximum, and for each kind."""
    if not costs.uniform:
        return []
    square = _square(costs)
    mean = np.tensordot(costs.weights, square, 1)
    several = [mean]
    if len(square) > 1:
        heaviest = np.argsort(-costs.weights * square.max(axis=(1, 2)))[:4]
        several += [square.max(axis=0), *(square[k] for k in heaviest)]
    orders = [balanced(matrix) for matrix in several]
    room = hints.room(orders[0])
    if room < len(mean):  # another order, which leaves all beyond the hint as they are
        orders.append(np.append(balanced(mean[:room, :room]), np.arange(room, len(mean))))
    return orders


def _fitting(order: Ints, hints: HintList) -> Ints:
    """Return the hosts of an order that a hint can name: the first ones, and those it must."""
    if hints.fits(order):
        return order
    for room in range(hints.room(order), -1, -1):
        late = order[room:]
        named = np.concatenate([order[:room], late[hints.must[late]]])
        if hints.fits(named):
            return named
    return np.flatnonzero(hints.must)


def _shortest(order: Ints, costs: HostCosts, hints: HintList) -> tuple[Ints, int]:
    """Return the best order that names only the first hosts of this one, and how many."""
    named = _fitting(order, hints)
    shortest = int(np.flatnonzero(hints.must[named])[-1]) + 1 if hints.must.any() else 0
    lengths = range(shortest, len(named) + 1)
    orders = np.stack([hints.completed(named[:length]) for length in lengths])
    total = costs.total(orders)
    at = int(np.flatnonzero(total <= total.min() * (1 + TIE))[0])
    return orders[at], shortest + at


# --- local search --------------------------------------------------------------------------------

# Local search for an order of hosts: move the hot host to reduce the hot-spot cost.
#
# Only the named part of the list changes; the other hosts follow in rank order. So naming a host
# shifts others.

_OTHERS = 48
"""The hot host is swapped with at most this many others, …"""
_CYCLES = 24
"""… takes part in as many cycles of three, and moves to as many places."""
_POWER = 12
"""Exponent of the sum that decides between orders with the same hot spot."""
_DESCENT_STEPS = 400
"""Steps of a descent."""


def improve(
    starts: Sequence[Ints],
    costs: HostCosts,
    hints: HintList,
    bound: float,
    *,
    kicks: int = 40,
    seconds: float = 3.0,
) -> Ints:
    """Return the named hosts of the best order found from several starts.

    Parameters
    ----------
    starts
        Hosts to name, in order; each fits into a hint.
    costs, hints
        Costs of hosts by position, and which hosts a hint can name.
    bound
        Lower bound: the search stops there.
    kicks
        Descents from the best order after a few random changes, in a row without gain.
    seconds
        Time after which no other descent begins.
    """
    dice, end = np.random.default_rng(1), monotonic() + seconds
    search = _Search(costs, hints, dice)
    descents = [search.descend(start, end) for start in starts]
    at = int(np.argmin([cost for _, cost in descents]))
    best, cost = descents[at]
    idle = 0
    while idle < kicks and cost > bound * (1 + TIE) and monotonic() < end:
        candidate, reached = search.descend(search.kicked(best), end)
        idle += 1
        if reached < cost * (1 - TIE):
            best, cost, idle = candidate, reached, 0
    return best


class _Search(Record):
    costs: HostCosts
    hints: HintList
    dice: np.random.Generator

    def judge(self, orders: Ints) -> tuple[Floats, Floats]:
        """Return the cost of orders, and the sum of powers as a tie-breaker."""
        host_costs = self.costs.each(orders)
        cost = self.costs.weights @ host_costs.max(axis=2)
        scale = max(median_of(cost), 1e-300)
        power = self.costs.weights @ ((np.maximum(host_costs, 0.0) / scale) ** _POWER).sum(axis=2)
        return (cost if self.costs.separable else self.costs.total(orders)), power

    def descend(self, named: Ints, end: float) -> tuple[Ints, float]:
        """Take the best change again and again, until none is better."""
        order = self.hints.completed(named)
        first, _ = self.judge(order[None, :])
        cost = float(first[0])
        for _ in range(_DESCENT_STEPS):
            lists = [new for new in self.changes(named, order) if self.hints.fits(new)]
            if not lists or monotonic() > end:
                break
            orders = np.stack([order, *(self.hints.completed(new) for new in lists)])
            reached, power = self.judge(orders)
            at = int(np.lexsort((power[1:], reached[1:]))[0])
            equal = reached[at + 1] <= cost * (1 + 1e-12) and power[at + 1] < power[0] * (1 - 1e-9)
            if not (reached[at + 1] < cost * (1 - 1e-9) or equal):
                break
            named, order, cost = lists[at], orders[at + 1], float(reached[at + 1])
        return named, cost

    def changes(self, named: Ints, order: Ints) -> Iterator[Ints]:
        """List changes of the named hosts that move the hottest host of some kind of round."""
        weights = self.costs.weights / self.costs.weights.sum()
        kind = int(self.dice.choice(len(weights), p=weights))
        host_costs = self.costs.table[kind, order, self.costs.columns(order[None, :])[0]]
        position = int(np.argmax(host_costs))
        host, length = int(order[position]), len(named)
        others = self.some(len(order), _OTHERS)
        if position < length:
            for partner in others:
                yield self.swapped(named, order, position, int(partner))
            for a, b in zip(self.some(length, _CYCLES), self.some(length, _CYCLES), strict=True):
                if len({position, int(a), int(b)}) == 3:
                    new = named.copy()
                    new[[position, a, b]] = new[[a, b, position]]
                    yield new
            named = np.delete(named, position)
            yield named
        for at in self.some(len(named) + 1, _CYCLES):
            yield np.insert(named, at, host)
        if position >= length:
            for at in self.some(length, _OTHERS):
                new = named.copy()
                new[at] = host
                yield new
            for at in self.some(length, _CYCLES):
                yield np.delete(named, at)

    def swapped(self, named: Ints, order: Ints, position: int, partner: int) -> Ints:
        """Swap two places; one beyond the named ones gives up its host for the other's place."""
        new = named.copy()
        new[position] = order[partner]
        if partner < len(named):
            new[partner] = order[position]
        return new

    def some(self, count: int, limit: int) -> Ints:
        """Return all numbers below ``count``, or as many of them as are looked at, by chance."""
        if count <= limit:
            return np.arange(count)
        return self.dice.choice(count, limit, replace=False)

    def kicked(self, named: Ints) -> Ints:
        """Swap a few named hosts at random, or name another one."""
        new = named.copy()
        for _ in range(int(self.dice.integers(2, 5))):
            if len(new) > 1:
                i, j = self.dice.choice(len(new), 2, replace=False)
                new[[i, j]] = new[[j, i]]
        left = np.setdiff1d(np.arange(len(self.hints.hosts)), new)
        if len(left) and (not len(new) or self.dice.random() < 0.5):
            at = int(self.dice.integers(0, len(new) + 1))
            longer = np.insert(new, at, int(self.dice.choice(left)))
            new = longer if self.hints.fits(longer) else longer[:-1]
        return new if self.hints.fits(new) else named


_MAX_TRIED_ORDERS = 400_000
"""More are not tried, …"""
_LOOKUPS = 60_000_000
"""… nor so many that their costs are looked up more often than that."""
_ORDERS_BATCH = 50_000


def few_enough(costs: HostCosts, hints: HintList) -> bool:
    """Whether all orders can be enumerated and each fits into a hint."""
    hosts, positions = len(costs.counts), _places(costs)
    order_count = perm(hosts, positions) if positions < 12 else _MAX_TRIED_ORDERS + 1
    longest_first = np.argsort([-len(name) for name in hints.hosts], kind="stable")
    fits = hints.fits(np.arange(hosts)) or (
        not hints.must.any() and hints.room(longest_first) >= positions
    )
    return (
        order_count <= _MAX_TRIED_ORDERS
        and order_count * hosts * len(costs.weights) <= _LOOKUPS
        and fits
    )


def _places(costs: HostCosts) -> int:
    """Return how many hosts, from the first of an order on, matter."""
    return min(costs.places, len(costs.counts)) if costs.uniform else len(costs.counts)


def best_of_all(costs: HostCosts, incumbent: Ints) -> Ints:
    """Return the cheapest order of all; the ``incumbent`` one if none is cheaper."""
    hosts, positions = len(costs.counts), _places(costs)
    order_count = perm(hosts, positions)
    flat = chain.from_iterable(permutations(range(hosts), positions))
    firsts = np.fromiter(flat, np.int16, order_count * positions).reshape(order_count, positions)
    lower_bounds = in_portions(
        lambda portion: costs.least(_with_rest(portion, hosts)), _ORDERS_BATCH, firsts
    )
    best, cost = incumbent, float(costs.total(incumbent[None, :])[0])
    # the table is a bound of each: from where it is no less than the best, none can be better
    cheap = np.argsort(lower_bounds, kind="stable")
    for k in range(0, order_count, 2000):
        candidates = cheap[k : k + 2000]
        candidates = candidates[lower_bounds[candidates] < cost * (1 - TIE)]
        if not len(candidates):
            break
        orders = _with_rest(firsts[candidates], hosts)
        total = lower_bounds[candidates] if costs.separable else costs.total(orders)
        at = int(np.argmin(total))
        if total[at] < cost * (1 - TIE):
            best, cost = orders[at], float(total[at])
    return best


def _with_rest(firsts: NDArray[np.int16], hosts: int) -> Ints:
    """Let all hosts that are not among the first follow in their own order."""
    if firsts.shape[1] == hosts:
        return firsts.astype(np.int64)
    used = np.zeros((len(firsts), hosts), bool)
    np.put_along_axis(used, firsts.astype(np.int64), True, axis=1)
    remaining = np.argsort(used, axis=1, kind="stable")[:, : hosts - firsts.shape[1]]
    return np.concatenate([firsts, remaining], axis=1)

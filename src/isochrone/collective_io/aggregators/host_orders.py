"""All orders of a few hosts, or of the few that serve a domain, and the best of them."""

from __future__ import annotations

from itertools import chain, permutations
from math import perm
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.collective_io.aggregators.hint_list import HintList
from isochrone.collective_io.aggregators.host_costs import HostCosts
from isochrone.collective_io.predict.node_cost import TIE
from isochrone.collective_io.workload import Ints

__all__ = ["best_of_all", "few_enough"]

_ORDERS: Final = 400_000
"""More are not tried, …"""
_LOOKUPS: Final = 60_000_000
"""… nor so many that their costs are looked up more often than that."""
_AT_ONCE: Final = 50_000


def few_enough(costs: HostCosts, hints: HintList) -> bool:
    """Whether all orders can be tried, and a hint can hold each of them."""
    hosts, places = len(costs.counts), _places(costs)
    number = perm(hosts, places) if places < 12 else _ORDERS + 1
    fits = hints.fits(np.arange(hosts)) or (
        not hints.must.any() and hints.room(_longest_first(hints)) >= places
    )
    return number <= _ORDERS and number * hosts * len(costs.weights) <= _LOOKUPS and fits


def _longest_first(hints: HintList) -> Ints:
    return np.argsort([-len(name) for name in hints.hosts], kind="stable")


def _places(costs: HostCosts) -> int:
    """Return how many hosts, from the first of an order on, matter."""
    return min(costs.places, len(costs.counts)) if costs.uniform else len(costs.counts)


def best_of_all(costs: HostCosts, known: Ints) -> Ints:
    """Return the cheapest order of all; the ``known`` one if none is cheaper."""
    hosts, places = len(costs.counts), _places(costs)
    number = perm(hosts, places)
    flat = chain.from_iterable(permutations(range(hosts), places))
    firsts = np.fromiter(flat, np.int16, number * places).reshape(number, places)
    least = np.concatenate(
        [
            costs.least(_with_rest(firsts[k : k + _AT_ONCE], hosts))
            for k in range(0, number, _AT_ONCE)
        ]
    )
    best, cost = known, float(costs.total(known[None, :])[0])
    # the table is a bound of each: from where it is no less than the best, none can be better
    cheap = np.argsort(least, kind="stable")
    for k in range(0, number, 2000):
        some = cheap[k : k + 2000]
        some = some[least[some] < cost * (1 - TIE)]
        if not len(some):
            break
        orders = _with_rest(firsts[some], hosts)
        total = least[some] if costs.separable else costs.total(orders)
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
    rest = np.argsort(used, axis=1, kind="stable")[:, : hosts - firsts.shape[1]]
    return np.concatenate([firsts, rest], axis=1)

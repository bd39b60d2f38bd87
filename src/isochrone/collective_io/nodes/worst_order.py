"""Worst-case order of nodes: the highest predicted cost that was found.

An order arranges labels. For nodes they are numbers of ranks, because nodes with equally many are
interchangeable; for aggregators they are hosts. Few orders are enumerated; otherwise the orders
that match the file least are made worse by swaps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from isochrone.collective_io.nodes.exact import MAX_ORDERS, arrangements, how_many
from isochrone.collective_io.predict.node_cost import TIE
from isochrone.collective_io.workload import Floats, Ints, in_portions

Total = Callable[[Ints], Floats]
"""Costs of orders: labels of shape (orders, places) to seconds of each order."""

SECONDS: Final = 4.0
"""Time limit of the search."""

_SWAPS: Final = 512
"""Swaps that are tried at once; of more pairs, some by chance."""

_STARTS: Final = 5
"""Orders that are made worse by swaps."""

_PLACES: Final = 32
"""Places at which `out_of_step` puts a node out of step."""

_ELEMENTS: Final = 2_000_000
"""Labels whose orders are evaluated at once."""


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
        return np.asarray(
            every[int(np.argmax(in_portions(total, _ELEMENTS // len(labels), every)))]
        )
    end = time.monotonic() + SECONDS
    generator = np.random.default_rng(1)
    given = np.stack(starts)
    order = np.argsort(-in_portions(total, _ELEMENTS // len(labels), given), kind="stable")[
        :_STARTS
    ]
    climbed = [climb(given[k], total, end, generator) for k in order]
    return max(climbed, key=lambda one: float(total(one[None, :])[0]))


def climb(order: Ints, total: Total, end: float, generator: np.random.Generator) -> Ints:
    """Swap two labels while that raises the cost; each time the best of many swaps."""
    first, second = np.triu_indices(len(order), 1)
    cost = float(total(order[None, :])[0])
    while time.monotonic() < end:
        useful = np.flatnonzero(order[first] != order[second])
        if len(useful) > _SWAPS:
            useful = generator.choice(useful, _SWAPS, replace=False)
        if not len(useful):
            break
        i, j, row = first[useful], second[useful], np.arange(len(useful))
        tried = np.repeat(order[None, :], len(useful), axis=0)
        tried[row, i], tried[row, j] = order[j], order[i]
        costs = in_portions(total, _ELEMENTS // len(order), tried)
        best = int(np.argmax(costs))
        if costs[best] <= cost * (1 + TIE):
            break
        order, cost = tried[best], float(costs[best])
    return order


def out_of_step(cores: Ints) -> list[Ints]:
    """Put a node of each size at each place, after the largest or the smallest of the others.

    The ranks before it are then as many, or as few, as they can be at this place: no node can be
    further away from the part of the file it serves.
    """
    found = [np.sort(cores), np.sort(cores)[::-1]]
    places = np.unique(np.linspace(0, len(cores) - 1, _PLACES).round().astype(np.int64))
    for size in np.unique(cores)[-_PLACES:]:
        others = np.sort(np.delete(cores, np.flatnonzero(cores == size)[0]))
        for place in places:
            found += [np.insert(some, place, size) for some in (others, others[::-1])]
    return found

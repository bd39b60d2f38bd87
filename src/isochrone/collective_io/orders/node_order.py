"""The order of nodes with the least predicted cost.

A node has few messages if it serves the data of its own ranks. Node k of n serves the file from k/n
to (k+1)/n; its ranks own, roughly, S/P to (S+c)/P, where S of all P ranks are on nodes before it.
Both match if large nodes are spread evenly among small ones. Sorting by size is the worst order.
"""

from collections.abc import Sequence

import numpy as np

from isochrone.collective_io.orders.positions import Positions
from isochrone.collective_io.orders.search import BestOrder, cheapest_order
from isochrone.collective_io.workload import Ints

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
    cores: Sequence[int], positions: Positions, *, seconds: float | None = None
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
    default_seconds = SEARCH_SECONDS if len(cores) <= MAX_EXACT_NODES else SECONDS_OF_MANY
    given_sizes = np.array(cores, np.int64)
    starts = {
        "given": given_sizes,
        "spread": spread(given_sizes),
        "in step": in_step(given_sizes),
        "ascending": np.sort(given_sizes),
        "descending": np.sort(given_sizes)[::-1],
        "random": np.random.default_rng(1).permutation(given_sizes),
    }
    limit = default_seconds if seconds is None else seconds
    best = cheapest_order(positions, starts, positions.bound(), limit)
    return best._replace(order=nodes_of(given_sizes, np.array(best.order)))


def nodes_of(given_sizes: Ints, sizes: Ints) -> list[int]:
    """Convert an order of sizes to nodes; nodes of equal size retain their order."""
    order = np.empty(len(given_sizes), np.int64)
    order[np.argsort(sizes, kind="stable")] = np.argsort(given_sizes, kind="stable")
    return list(map(int, order))

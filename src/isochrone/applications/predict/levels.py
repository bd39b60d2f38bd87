"""Between which nodes messages are slower: the levels of a machine, from its latency map.

Messages were measured between nodes that are near each other. Between others they take as much more
as the map says: a latency, and what its larger sizes add to that.

Nothing is known of pairs with a node that is not in the map. They are as far from each other as the
farthest that were measured, or farther by one level of switches: in a tree of switches a message
passes one switch on the lowest level, three on the next and five on that above (C. Leiserson,
Fat-trees, IEEE Trans. Comp. 34, 1985), so a further level takes at most `FURTHER` times as long.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from isochrone.applications.predict.message_times import Cost, Side
from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.stats import median_of
from isochrone.collectives.predicted_grids import Machine
from isochrone.latency_map.pairs import nodes_of, rank_pairs
from isochrone.latency_map.partitions import Partition, level_of
from isochrone.latency_map.topology import analyse
from isochrone.runfile.run import Run

SIZES = (64, 65536)
"""Bytes of the messages of a map: one that shows latencies, and one that shows bandwidths."""

FURTHER = 3.0
"""Latency of a further level of switches against the one before it, at most."""


class Levels:
    """How far the nodes of a machine are from each other.

    Parameters
    ----------
    chain
        For each level the group of each node, shape (nodes,), the nearest level first; on the last
        one all are in one group. Empty: no node is known.
    sizes
        Bytes, ascending, shape (sizes,).
    seconds
        One-way times of messages of these sizes, shape (levels, sizes).
    """

    def __init__(self, chain: list[Partition], sizes: Floats, seconds: Floats) -> None:
        self.chain = chain
        self.sizes = sizes
        self.seconds = seconds
        self.nodes = len(chain[0]) if chain else 0
        self.unknown = len(seconds)
        """Level of pairs of which nothing is known."""

    @classmethod
    def of_map(cls, run: Run) -> Levels:
        """Return the levels between the nodes of a map; nodes are in the order of its ranks.

        Raises
        ------
        InputError
            If the run is no latency map, or shows no nodes that are apart.
        """
        sizes = sorted(run.message_sizes())
        found = analyse(run)
        node = nodes_of(run.hosts)
        first = np.unique(node, return_index=True)[1]  # a rank on each node
        if not all(run.hosts) or len(first) < 2:
            raise InputError(
                "the latency map does not show how far nodes are from each other", where=run.where,
                hint="measure it with ranks on several nodes",
            )  # fmt: skip
        chain = [one[first] for one in found.chain if len(np.unique(one[first])) < len(first)]
        seconds = np.empty((len(chain), len(sizes)))
        for column, size in enumerate(sizes):
            pairs = rank_pairs(run, run.statistic(), size)
            a, b = node[pairs.i], node[pairs.j]
            level = np.where(a == b, -1, level_of(chain, a, b))
            seconds[:, column] = [
                median_of(pairs.seconds[level == k]) / 2 for k in range(len(chain))
            ]
        return cls(chain, np.array(sizes, dtype=np.float64), seconds)

    def between(self, a: Ints, b: Ints) -> Ints:
        """Return the levels of pairs of different nodes."""
        found = np.full(len(a), self.unknown)
        known = (a < self.nodes) & (b < self.nodes)
        found[known] = level_of(self.chain, a[known], b[known])
        return found

    @cached_property
    def per_byte(self) -> Floats:
        """Seconds that a byte adds on each level, and where it is not known; shape (levels + 1,).

        0 if the map has messages of one size only.
        """
        found = np.zeros(len(self.seconds))
        if len(self.sizes) > 1:
            more = self.seconds[:, -1] - self.seconds[:, 0]
            found = np.maximum(more, 0.0) / (self.sizes[-1] - self.sizes[0])
        return np.append(found, found[-1])

    def latencies(self, side: Side) -> Floats:
        """Return seconds of a small message on each level, and where it is not known, likewise."""
        found = self.seconds[:, 0]
        return np.append(found, found[-1] * (FURTHER if side == "high" else 1.0))

    def cost(self, measured: Cost, level: int, size: float, side: Side) -> Cost:
        """Return the cost of a message on a level, from that on the nearest one."""
        latencies = self.latencies(side)
        of_bytes = max(self.per_byte[level] - self.per_byte[0], 0.0) * size
        alone = measured.alone + latencies[level] - latencies[0] + of_bytes
        gap = measured.gap + of_bytes
        return measured._replace(
            alone=float(max(alone, gap)), gap=float(gap), wire=float(measured.wire + of_bytes)
        )


class MappedMachine(Machine, kw_only=True):
    """Where ranks are, and how far the nodes are from each other."""

    levels: Levels

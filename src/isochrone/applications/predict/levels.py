"""Between which nodes messages are slower: the levels of a machine, from its latency map.

Messages were measured between the first two nodes. Between others they take as much more as the map
says: a latency, and what its larger sizes add to that.

Nothing is known of pairs with a node that is not in the map. They are as far from each other as the
farthest that were measured, or farther by one level of switches: in a tree of switches a message
passes one switch on the lowest level, three on the next and five on that above (C. Leiserson,
Fat-trees, IEEE Trans. Comp. 34, 1985), so a further level takes at most `FURTHER` times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from isochrone.applications.predict.message_times import Cost, MessageTimes, Side
from isochrone.applications.thresholds import FURTHER
from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.stats import median_of
from isochrone.collectives.predicted_grids import Machine
from isochrone.latency_map.grid import grid_of
from isochrone.latency_map.pairs import between_nodes, hosts_known, nodes_of, rank_pairs
from isochrone.latency_map.partitions import level_of
from isochrone.latency_map.topology import analyse
from isochrone.models import Model
from isochrone.runfile.run import Run

SIZES = (64, 65536)
"""Bytes of the messages of a map: one that shows latencies, and one that shows bandwidths."""


class Levels:
    """How far the nodes of a machine are from each other.

    Parameters
    ----------
    apart
        Level of each pair of nodes, 0 for the nearest, shape (nodes, nodes).
    sizes
        Bytes, ascending, shape (sizes,).
    seconds
        One-way times of messages of these sizes on each level, shape (levels, sizes).
    """

    def __init__(self, apart: Ints, sizes: Floats, seconds: Floats) -> None:
        self.apart = apart
        self.sizes = sizes
        self.seconds = seconds
        self.nodes = len(apart)

    @classmethod
    def unknown(cls, models: Sequence[Model]) -> Levels:
        """Return those of a machine of which no map is given, but models of messages."""
        messages = MessageTimes(models)
        measured = "network" in messages.paths
        latency = (
            messages.cost("network", 0.0).alone if measured else 1.0
        )  # only ratios are asked for
        return cls(np.zeros((0, 0), np.int64), np.zeros(1), np.full((1, 1), latency))

    @classmethod
    def of_map(cls, run: Run) -> Levels:
        """Return the levels between the nodes of a map; nodes are in the order of its ranks.

        Raises
        ------
        InputError
            If the run is no latency map, or shows no nodes that are apart.
        """
        sizes = sorted(run.message_sizes())
        node = nodes_of(run.hosts)
        if not hosts_known(run.hosts):
            raise InputError(
                "the latency map does not show how far nodes are from each other",
                where=run.where,
                hint="measure it with ranks on several nodes",
            )
        maps = [
            between_nodes(rank_pairs(run, run.statistic(), size), node, np.zeros(run.size))[0]
            for size in sizes
        ]
        times, first = maps[0], np.unique(node, return_index=True)[1]
        chain = [groups[first] for groups in analyse(run).chain]
        hops = grid_of(times) if len({*map(bytes, chain)}) <= 2 else None
        everyone = np.arange(len(first))
        sources, targets = np.repeat(everyone, len(first)), np.tile(everyone, len(first))
        level = level_of(chain, sources, targets)
        if hops is not None:
            level = np.zeros_like(level)
            count = np.round((times.seconds - hops.first) / hops.further).astype(np.int64)
            level[times.i * len(first) + times.j] = level[times.j * len(first) + times.i] = count
        distinct = np.unique(level[sources != targets])
        apart = np.searchsorted(distinct, level).reshape(len(first), len(first))
        seconds = np.array(
            [
                [
                    median_of(of_size.seconds[apart[of_size.i, of_size.j] == k]) / 2
                    for of_size in maps
                ]
                for k in range(len(distinct))
            ]
        )
        return cls(apart, np.array(sizes, dtype=np.float64), seconds)

    def between(self, a: Ints, b: Ints) -> Ints:
        """Return the levels of pairs of different nodes; one above all if it is not known."""
        level = np.full(len(a), len(self.seconds))
        mapped = (a < self.nodes) & (b < self.nodes)
        level[mapped] = self.apart[a[mapped], b[mapped]]
        return level

    @cached_property
    def measured(self) -> int:
        """Level of the first two nodes, between which messages were measured."""
        return int(self.apart[0, 1]) if self.nodes else 0

    @cached_property
    def per_byte(self) -> Floats:
        """Seconds that a byte adds on each level, and where it is not known; shape (levels + 1,).

        0 if the map has messages of one size only.
        """
        seconds = np.zeros(len(self.seconds))
        if len(self.sizes) > 1:
            added = self.seconds[:, -1] - self.seconds[:, 0]
            seconds = np.maximum(added, 0.0) / (self.sizes[-1] - self.sizes[0])
        return np.append(seconds, seconds[-1])

    def latencies(self, side: Side) -> Floats:
        """Return seconds of a small message on each level, and where it is not known, likewise."""
        seconds = self.seconds[:, 0]
        return np.append(seconds, seconds[-1] * (FURTHER if side == "high" else 1.0))

    def cost(self, measured: Cost, level: int, size: float, side: Side) -> Cost:
        """Return the cost of a message on a level, from that between the first two nodes."""
        latencies = self.latencies("seconds")
        further = self.latencies(side)[level] - latencies[self.measured]
        of_bytes = max(self.per_byte[level] - self.per_byte[self.measured], 0.0) * size
        gap = measured.gap + of_bytes
        single = max(measured.alone + further + of_bytes, gap)
        return measured._replace(
            alone=float(single), gap=float(gap), wire=float(measured.wire + of_bytes)
        )


class MappedMachine(Machine, kw_only=True):
    """Where ranks are, and how far the nodes are from each other."""

    levels: Levels

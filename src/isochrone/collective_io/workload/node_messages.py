"""Messages and bytes of every node: those within it, into it and out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.collective_io.workload import Floats, Ints
from isochrone.collective_io.workload.traffic import Sums, Traffic


@dataclass(frozen=True)
class Layout:
    """Runs of neighbouring ranks and the node each run is on.

    Attributes
    ----------
    first, last
        Ranks ``first`` … ``last - 1`` of each run, in rank order.
    node
        Node of each run.
    nodes
        Number of nodes.
    """

    first: Ints
    last: Ints
    node: Ints
    nodes: int

    def node_of(self, rank: Ints) -> Ints:
        """Return the node of each rank."""
        return self.node[np.searchsorted(self.last, rank, side="right")]


@dataclass(frozen=True)
class Counts:
    """Messages and bytes of nodes, of a write: towards the aggregators.

    Attributes
    ----------
    intra
        Messages within the node, those of an aggregator to itself included.
    into
        From other nodes.
    out
        To other nodes.
    intra_bytes, into_bytes, out_bytes
        The bytes of these messages.
    """

    intra: Ints
    into: Ints
    out: Ints
    intra_bytes: Floats
    into_bytes: Floats
    out_bytes: Floats

    @staticmethod
    def none(nodes: int) -> Counts:
        """Return no messages of this many nodes."""
        whole, parts = np.zeros((3, nodes), np.int64), np.zeros((3, nodes))
        return Counts(*whole, *parts)

    def reversed(self) -> Counts:
        """Return the messages of the corresponding read: the same in the opposite direction."""
        return Counts(
            self.intra, self.out, self.into, self.intra_bytes, self.out_bytes, self.into_bytes
        )

    def plus(self, other: Counts, times: int = 1) -> Counts:
        """Return the sum of these messages and ``times`` others."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Counts(*(mine + times * theirs for mine, theirs in pairs))

    @property
    def totals(self) -> tuple[Floats, Floats]:
        """Messages and bytes of each node, flat."""
        sides = [np.asarray(side, np.float64).ravel() for side in vars(self).values()]
        return sum(sides[1:3], sides[0]), sum(sides[4:], sides[3])

    @property
    def message_size(self) -> float:
        """Mean bytes of a message; 0 without messages."""
        messages = int(self.intra.sum() + self.out.sum())
        return float(self.intra_bytes.sum() + self.out_bytes.sum()) / max(1, messages)

    @property
    def busy(self) -> Floats:
        """Mean over the nodes of their busier direction's bytes, as a fraction of the largest.

        Nodes are along the last axis; shape (…, 1).
        """
        load = np.maximum(self.into_bytes, self.out_bytes)
        most = load.max(axis=-1, initial=0.0, keepdims=True)
        mean = load.mean(axis=-1, keepdims=True)
        return np.asarray(mean / np.where(most > 0, most, 1.0))


def block_layout(cores: Sequence[int] | Ints) -> Layout:
    """Fill one node after the other."""
    last = np.cumsum(np.asarray(cores, np.int64))
    return Layout(last - cores, last, np.arange(len(last)), len(last))


def layout_of(hosts: Sequence[str]) -> tuple[Layout, list[str]]:
    """Return the runs of ranks on the same host, and the hosts in order of first appearance."""
    names = {host: k for k, host in enumerate(dict.fromkeys(hosts))}
    node = np.array([names[host] for host in hosts])
    first = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
    last = np.append(first[1:], len(node))
    return Layout(first, last, node[first], len(names)), list(names)


def count(traffic: Traffic, layout: Layout, aggregators: Sequence[int] | Ints) -> Counts:
    """Count the messages of every node if domain k is served by rank ``aggregators[k]``."""
    server = layout.node_of(np.asarray(aggregators[: traffic.domains], np.int64))
    pairs = _pairs(layout, server)
    messages = _sides(traffic.messages, layout, server, pairs)
    data = _sides(traffic.bytes, layout, server, pairs)
    intra, into, out = (side.astype(np.int64) for side in messages)
    return Counts(intra, into, out, *data)


def _sides(
    sums: Sums, layout: Layout, server: Ints, pairs: list[tuple[Ints, Ints]]
) -> tuple[Floats, Floats, Floats]:
    """Return what stays within each node, comes into it, and goes out of it."""
    intra = np.zeros(layout.nodes)
    for run, domain in pairs:
        found = sums.between(domain, layout.first[run], layout.last[run])
        np.add.at(intra, layout.node[run], found)
    received = np.bincount(server, weights=sums.received, minlength=layout.nodes)
    of_runs = sums.sent[layout.last] - sums.sent[layout.first]
    sent = np.bincount(layout.node, weights=of_runs, minlength=layout.nodes)
    # bytes may be rounded means: avoid negative values
    intra = np.maximum(intra, 0.0)
    return intra, np.maximum(received - intra, 0.0), np.maximum(sent - intra, 0.0)


def _pairs(layout: Layout, server: Ints) -> list[tuple[Ints, Ints]]:
    """List the runs and the domains that are on the same node, in handy portions."""
    order = np.argsort(layout.node, kind="stable")
    runs_of = np.searchsorted(layout.node[order], np.arange(layout.nodes + 1))
    portions = []
    for some in np.array_split(np.arange(len(server)), max(1, len(layout.node) // 100_000)):
        low, high = runs_of[server[some]], runs_of[server[some] + 1]
        each = high - low
        place = np.arange(each.sum()) - np.repeat(np.cumsum(each) - each, each)
        portions.append((order[place + np.repeat(low, each)], np.repeat(some, each)))
    return portions

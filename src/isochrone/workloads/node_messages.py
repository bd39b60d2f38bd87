"""Messages of every node: those within it, into it and out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.workloads import Ints
from isochrone.workloads.traffic import Traffic

__all__ = ["Counts", "Layout", "block_layout", "count", "layout_of"]


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
        found: Ints = self.node[np.searchsorted(self.last, rank, side="right")]
        return found


@dataclass(frozen=True)
class Counts:
    """Messages of nodes in the whole call, of a write: towards the aggregators.

    Attributes
    ----------
    intra
        Within the node, messages of an aggregator to itself included.
    into
        From other nodes.
    out
        To other nodes.
    """

    intra: Ints
    into: Ints
    out: Ints

    def reversed(self) -> Counts:
        """Return the messages of the read that undoes the write: the same the other way round."""
        return Counts(self.intra, self.out, self.into)

    def plus(self, other: Counts, times: int = 1) -> Counts:
        """Return the sum of these messages and ``times`` others."""
        return Counts(
            self.intra + times * other.intra,
            self.into + times * other.into,
            self.out + times * other.out,
        )


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
    intra = np.zeros(layout.nodes, np.int64)
    for run, domain in _pairs(layout, server):
        found = traffic.between(domain, layout.first[run], layout.last[run])
        np.add.at(intra, layout.node[run], found)
    received = np.bincount(server, weights=traffic.received, minlength=layout.nodes)
    of_runs = traffic.sent[layout.last] - traffic.sent[layout.first]
    sent = np.bincount(layout.node, weights=of_runs, minlength=layout.nodes)
    return Counts(intra, received.astype(np.int64) - intra, sent.astype(np.int64) - intra)


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

"""Distribution of file data over nodes, and the nodes that serve each part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone.collective_io.workload import Ints
from isochrone.collective_io.workload.call import Call
from isochrone.collective_io.workload.node_messages import Layout


@dataclass(frozen=True)
class Distribution:
    """The data of each node along a file, and the parts of the file that it serves.

    Attributes
    ----------
    edges
        Bytes at which the parts of the file begin, and where the last ends; shape (parts + 1,).
    held
        Fraction of the bytes of each file part held by a node's ranks, shape (nodes, parts).
    server
        Node whose aggregator serves most of a part of the file, shape (parts,).
    """

    edges: Ints
    held: NDArray[np.float64]
    server: Ints

    @property
    def at_home(self) -> float:
        """Fraction of all bytes that are served by the node that holds them."""
        length = np.diff(self.edges)
        own = self.held[self.server, np.arange(len(self.server))]
        return float(own @ length / max(length.sum(), 1))


def distribution(
    call: Call, layout: Layout, aggregators: Sequence[int] | Ints, parts: int
) -> Distribution:
    """Divide the file of a call into equal parts, and find holders and servers of each.

    Parts are at least a byte long, so that there may be fewer.
    """
    first, last = call.pattern.extent
    edges = np.unique(np.linspace(first, last, parts + 1).astype(np.int64))
    found = call.pattern.touches(edges[:-1], edges[1:])
    by_rank = np.zeros((len(edges) - 1, call.pattern.ranks + 1))
    np.add.at(by_rank, (found.window, found.first), found.bytes)
    np.add.at(by_rank, (found.window, found.last), -found.bytes)
    each = np.cumsum(by_rank, axis=1)[:, :-1]
    held = np.zeros((layout.nodes, len(each)))
    np.add.at(held, layout.node_of(np.arange(call.pattern.ranks)), each.T)
    whole = np.maximum(held.sum(axis=0), 1.0)
    serving = layout.node_of(np.asarray(aggregators, np.int64))
    return Distribution(edges, held / whole, serving[_domains(call, len(serving), edges)])


def _domains(call: Call, count: int, edges: Ints) -> Ints:
    """Return the domain that the middle of each part of the file belongs to."""
    windows = call.windows(count)
    order = np.argsort(windows.start, kind="stable")
    middle = (edges[:-1] + edges[1:] - 1) // 2
    place = np.searchsorted(windows.start[order], middle, side="right") - 1
    return np.asarray(windows.domain[order][np.maximum(place, 0)])

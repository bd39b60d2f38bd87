"""Clients that ask, and a server, rank 0, that answers."""

from __future__ import annotations

from isochrone.applications.description.topology import Edge, Graph, Topology

TOPOLOGY = Topology(
    make=lambda options: Graph(tuple(Edge(0, r) for r in range(1, options.ranks)), root=0),
    flow="request",
)

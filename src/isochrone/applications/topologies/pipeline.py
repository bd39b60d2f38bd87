"""Stages, one rank each, that work on what the stage before sends."""

from isochrone.applications.description.topology import Edge, Graph, Topology

TOPOLOGY = Topology(
    make=lambda options: Graph(
        tuple(Edge(r, r + 1) for r in range(options.ranks - 1)), directed=True, root=0
    ),
    flow="stream",
)

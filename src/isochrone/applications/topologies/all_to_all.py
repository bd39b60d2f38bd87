"""Everyone sends to everyone else."""

from itertools import combinations

from isochrone.applications.description.topology import Edge, Graph, Options, Topology


def _make(options: Options) -> Graph:
    p = options.ranks
    options.check_edges(p * (p - 1) / 2)
    return Graph(tuple(Edge(a, b) for a, b in combinations(range(p), 2)))


TOPOLOGY = Topology(make=_make)

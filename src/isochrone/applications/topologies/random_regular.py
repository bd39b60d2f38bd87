"""A random graph in which every rank has the same number of neighbours."""

import networkx as nx

from isochrone.applications.description.program import MAX_RANKS
from isochrone.applications.description.shapes import Given
from isochrone.applications.description.topology import Edge, Graph, Options, Topology


def _make(options: Options) -> Graph:
    p = options.ranks
    degree = options.count("degree", 1, MAX_RANKS)
    if degree >= p:
        raise options.place("degree").error(f"{p} ranks cannot have {degree} neighbours each")
    if degree * p % 2:
        raise options.place("degree").error(
            f"no graph of {p} ranks has {degree} neighbours each", "ranks x degree must be even"
        )
    options.check_edges(degree * p / 2)
    seed = options.count("seed", 0, 2**32 - 1, default=options.seed % 2**32)
    graph = nx.random_regular_graph(degree, p, seed=seed)
    return Graph(tuple(Edge(a, b) for a, b in sorted(map(sorted, graph.edges))))


TOPOLOGY = Topology(
    make=_make, options={"degree": Given, "seed": Given}, needed=("degree",), example={"degree": 3}
)

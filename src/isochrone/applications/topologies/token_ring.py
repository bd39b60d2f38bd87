"""A ring in which a token goes round: from each rank to the next one, and from the last to 0."""

from isochrone.applications.description.topology import Edge, Graph, Options, Topology


def _make(options: Options) -> Graph:
    p = options.ranks
    edges = tuple(Edge(r, (r + 1) % p) for r in range(p)) if p > 1 else ()
    return Graph(edges, directed=True, root=0)


TOPOLOGY = Topology(make=_make, flow="token")

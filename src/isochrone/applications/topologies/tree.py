"""A complete tree: rank 0 is the root, and the children of rank r are d*r + 1 to d*r + d."""

from isochrone.applications.description.program import MAX_RANKS
from isochrone.applications.description.shapes import Given
from isochrone.applications.description.topology import Edge, Graph, Options, Topology


def _make(options: Options) -> Graph:
    degree = options.count("degree", 1, MAX_RANKS, default=2)
    return Graph(tuple(Edge((r - 1) // degree, r) for r in range(1, options.ranks)), root=0)


TOPOLOGY = Topology(make=_make, flow="stream", options={"degree": Given}, example={"degree": 2})

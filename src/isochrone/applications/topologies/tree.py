"""A complete tree: rank 0 is the root, and the children of rank r are d*r + 1 to d*r + d.

Or a binomial tree: the parent of a rank has the same number without its lowest bit. Data go away
from the root, or to it.
"""

from isochrone.applications.description.program import MAX_RANKS
from isochrone.applications.description.shapes import Given
from isochrone.applications.description.topology import Edge, Graph, Options, Topology


def _make(options: Options) -> Graph:
    degree = options.count("degree", 1, MAX_RANKS, default=2)
    binomial, to_root = options.get("binomial", False), options.get("to-root", False)
    parents = (
        (rank & (rank - 1) if binomial else (rank - 1) // degree, rank)
        for rank in range(1, options.ranks)
    )
    edges = tuple(Edge(b, a) if to_root else Edge(a, b) for a, b in parents)
    return Graph(edges, directed=to_root, root=0)


TOPOLOGY = Topology(
    make=_make,
    flow="stream",
    options={"degree": Given, "binomial": bool, "to-root": bool},
    example={"degree": 2},
)

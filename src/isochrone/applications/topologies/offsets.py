"""The same neighbours for all ranks of a grid, as offsets: a function of the number of ranks.

With `apart`, the grid is the coarser one of each so many-th rank along each dimension.
"""

from dataclasses import dataclass

from isochrone.applications.description import quantities
from isochrone.applications.description.grids import Order, coarser, shifted
from isochrone.applications.description.program import MAX_RANKS
from isochrone.applications.description.shapes import Declared, Given
from isochrone.applications.description.topology import Edge, Graph, Options, Topology


@dataclass(frozen=True, kw_only=True)
class _Offset(Declared):
    """Steps along the dimensions of a grid, and the size of a message that way."""

    to: tuple[Given, ...]
    bytes: Given | None = None


def _make(options: Options) -> Graph:
    apart = options.count("apart", 1, options.ranks, 1)
    order: Order = "F" if options.get("first-fastest", False) else "C"
    members = coarser(options.ranks, options.count("dimensions", 1, 4, 2), apart, order)
    around = options.get("periodic", False)
    edges: list[Edge] = []
    for offset in options.get("list"):
        if len(offset.to) != members.ndim:
            raise offset.at.key("to").error(
                f"the offset has {len(offset.to)} numbers for {members.ndim} dimensions"
            )
        size = None if offset.bytes is None else int(quantities.size(offset.bytes, options.scope))
        step = [
            quantities.count(along, options.scope, -MAX_RANKS, MAX_RANKS) for along in offset.to
        ]
        edges += [Edge(a, b, size) for a, b in shifted(members, step, around) if a != b]
        options.check_edges(len(edges))
    return Graph(tuple(edges), directed=True)


TOPOLOGY = Topology(
    make=_make,
    options={
        "dimensions": Given,
        "periodic": bool,
        "first-fastest": bool,
        "apart": Given,
        "list": tuple[_Offset, ...],
    },
    needed=("list",),
    short="list",
    example={"dimensions": 2, "list": [{"to": [0, 1]}, {"to": [1, 0], "bytes": "4KiB"}]},
)

"""The same neighbours for all ranks of a grid, as offsets: a function of the number of ranks.

With `apart`, the grid is the coarser one of each so many-th rank along each dimension.
"""

from dataclasses import dataclass

import numpy as np

from isochrone.applications.description import quantities
from isochrone.applications.description.grids import Order, coarser
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
    sides = np.array(members.shape)
    ranks = members.ravel()
    coordinates = np.indices(members.shape).reshape(len(sides), -1).T
    edges = []
    for offset in options.get("list"):
        if len(offset.to) != len(sides):
            raise offset.at.key("to").error(
                f"the offset has {len(offset.to)} numbers for {len(sides)} dimensions"
            )
        size = None if offset.bytes is None else int(quantities.size(offset.bytes, options.scope))
        step = []
        for expression in offset.to:
            along = quantities.quantity(expression, options.scope)
            if not along.plain or along.value != round(along.value):
                raise expression.at.error("the offset is not a whole number")
            step.append(round(along.value))
        neighbours = coordinates + np.array(step)
        inside = ((neighbours >= 0) & (neighbours < sides)).all(axis=1)
        if around:
            neighbours, inside = neighbours % sides, np.ones(len(ranks), dtype=bool)
        targets = members[tuple(neighbours[inside].T)]
        pairs = zip(ranks[inside].tolist(), targets.tolist(), strict=True)
        edges += [Edge(a, b, size) for a, b in pairs if a != b]
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

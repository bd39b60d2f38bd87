"""The same neighbours for all ranks of a grid, as offsets: a function of the number of ranks."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from isochrone.applications.description import quantities
from isochrone.applications.description.grids import balanced
from isochrone.applications.description.shapes import Declared, Given
from isochrone.applications.description.topology import Edge, Graph, Options, Topology


@dataclass(frozen=True, kw_only=True)
class _Offset(Declared):
    """Steps along the dimensions of a grid, and the size of a message that way."""

    to: tuple[Given, ...]
    bytes: Given | None = None


def _make(options: Options) -> Graph:
    shape = balanced(options.ranks, options.count("dimensions", 1, 4, 2))
    around = options.get("periodic", False)
    order: Literal["F", "C"] = "F" if options.get("first-fastest", False) else "C"
    sides = np.array(shape)
    ranks = np.arange(options.ranks)
    coordinates = np.stack(np.unravel_index(ranks, shape, order), axis=1)
    edges = []
    for offset in options.get("list"):
        if len(offset.to) != len(shape):
            raise offset.at.key("to").error(
                f"the offset has {len(offset.to)} numbers for {len(shape)} dimensions"
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
        targets = np.ravel_multi_index(tuple(neighbours[inside].T), shape, order=order)
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
        "list": tuple[_Offset, ...],
    },
    needed=("list",),
    short="list",
    example={"dimensions": 2, "list": [{"to": [0, 1]}, {"to": [1, 0], "bytes": "4KiB"}]},
)

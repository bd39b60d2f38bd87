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
    for one in options.get("list"):
        if len(one.to) != len(shape):
            raise one.at.key("to").error(
                f"the offset has {len(one.to)} numbers for {len(shape)} dimensions"
            )
        size = None if one.bytes is None else int(quantities.size(one.bytes, options.scope))
        step = []
        for given in one.to:
            along = quantities.quantity(given, options.scope)
            if not along.plain or along.value != round(along.value):
                raise given.at.error("the offset is not a whole number")
            step.append(round(along.value))
        there = coordinates + np.array(step)
        inside = ((there >= 0) & (there < sides)).all(axis=1)
        if around:
            there, inside = there % sides, np.ones(len(ranks), dtype=bool)
        targets = np.ravel_multi_index(tuple(there[inside].T), shape, order=order)
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

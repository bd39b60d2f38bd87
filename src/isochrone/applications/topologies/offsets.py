"""The same neighbours for all ranks of a grid, as offsets: a function of the number of ranks."""

import numpy as np

from isochrone.applications.description import quantities
from isochrone.applications.description.grids import balanced
from isochrone.applications.description.shapes import Given
from isochrone.applications.description.topology import Edge, Graph, Options, Topology


def _make(options: Options) -> Graph:
    shape = balanced(options.ranks, options.count("dimensions", 1, 3, 2))
    around = bool(options.written.get("periodic", False))
    sides = np.array(shape)
    ranks = np.arange(options.ranks)
    coordinates = np.stack(np.unravel_index(ranks, shape), axis=1)
    edges = []
    at = options.place("list")
    for k, one in enumerate(options.written["list"]):
        here = at.item(k)
        if len(one["to"]) != len(shape):
            raise here.key("to").error(
                f"the offset has {len(one['to'])} numbers for {len(shape)} dimensions"
            )
        size = None
        if "bytes" in one:
            size = int(quantities.size(Given(one["bytes"], here.key("bytes")), options.scope))
        step = [_whole(Given(v, here.key("to").item(j)), options) for j, v in enumerate(one["to"])]
        there = coordinates + np.array(step)
        inside = ((there >= 0) & (there < sides)).all(axis=1)
        if around:
            there, inside = there % sides, np.ones(len(ranks), dtype=bool)
        targets = np.ravel_multi_index(tuple(there[inside].T), shape)
        pairs = zip(ranks[inside].tolist(), targets.tolist(), strict=True)
        edges += [Edge(a, b, size) for a, b in pairs if a != b]
        options.check_edges(len(edges))
    return Graph(tuple(edges), directed=True)


def _whole(given: Given, options: Options) -> int:
    found = quantities.quantity(given, options.scope)
    if not found.plain or found.value != round(found.value):
        raise given.at.error("the offset is not a whole number")
    return round(found.value)


TOPOLOGY = Topology(
    make=_make,
    options={"dimensions": "number", "periodic": "boolean", "list": "offsets"},
    needed=("list",),
    short="list",
    example={"dimensions": 2, "list": [{"to": [0, 1]}, {"to": [1, 0], "bytes": "4KiB"}]},
)

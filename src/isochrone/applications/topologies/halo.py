"""Neighbours in a grid of one to three dimensions, last one fastest; optionally periodic."""

import math

import numpy as np

from isochrone.applications.description.grids import balanced, shifted
from isochrone.applications.description.quantities import count
from isochrone.applications.description.shapes import Given
from isochrone.applications.description.topology import MAX_EDGES, Edge, Graph, Options, Topology

DEFAULT_DIMENSIONS = 2
"""If neither a shape nor dimensions are given."""


def _shape(options: Options) -> list[int]:
    """Return the sides, and refuse a grid of another number of ranks."""
    if "shape" not in options:
        return balanced(options.ranks, options.count("dimensions", 1, 3, DEFAULT_DIMENSIONS))
    if "dimensions" in options:
        raise options.place("dimensions").error(
            "shape and dimensions exclude each other", "remove one"
        )
    at = options.place("shape")
    shape = [count(side, options.scope, 1, MAX_EDGES) for side in options.get("shape")]
    if len(shape) > 3:
        raise at.error(f"the shape has {len(shape)} dimensions", "at most three")
    if math.prod(shape) != options.ranks:
        written = "x".join(map(str, shape))
        raise at.error(
            f"the grid {written} has {math.prod(shape)} ranks, but the application {options.ranks}",
            "{halo: {dimensions: 2}} works with every number",
        )
    return shape


def _make(options: Options) -> Graph:
    shape = _shape(options)
    periodic = options.get("periodic", False)
    if isinstance(periodic, tuple) and len(periodic) != len(shape):
        raise options.place("periodic").error(
            f"periodic has {len(periodic)} values for {len(shape)} dimensions"
        )
    numbers = np.arange(options.ranks).reshape(shape)
    steps = [
        step for step, side in zip(np.eye(len(shape), dtype=int), shape, strict=True) if side > 1
    ]
    return Graph(tuple(Edge(a, b) for step in steps for a, b in shifted(numbers, step, periodic)))


TOPOLOGY = Topology(
    make=_make,
    options={
        "shape": tuple[Given, ...],
        "dimensions": Given,
        "periodic": bool | tuple[bool, ...],
    },
    example={"shape": [2, 2, 2], "periodic": True},
)

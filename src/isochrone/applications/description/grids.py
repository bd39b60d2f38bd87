"""Grids of ranks whose sides are as equal as whole numbers allow."""

from typing import Literal

import numpy as np

from isochrone.base.arrays import Ints

Order = Literal["C", "F"]
"""Whether the numbers of ranks grow along the last dimension of a grid first, or the first."""


def balanced(ranks: int, dimensions: int) -> list[int]:
    """Return sides of a grid of that many ranks, as equal as whole numbers allow, largest first."""
    if dimensions == 1:
        return [ranks]
    best = [ranks, *[1] * (dimensions - 1)]
    for side in (s for s in range(1, ranks + 1) if ranks % s == 0 and s**dimensions <= ranks):
        shape = sorted([*balanced(ranks // side, dimensions - 1), side], reverse=True)
        best = min(best, shape, key=lambda sides: (sum(sides), sides))
    return best


def coarser(ranks: int, dimensions: int, apart: int = 1, order: Order = "C") -> Ints:
    """Return the ranks of the balanced grid whose coordinates are multiples of `apart`.

    They form a coarser grid: the shape of the array is that of it.
    """
    members = np.arange(ranks).reshape(balanced(ranks, dimensions), order=order)
    return members[(slice(None, None, apart),) * dimensions]

"""Grids of ranks whose sides are as equal as whole numbers allow."""

from collections.abc import Sequence
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


def shifted(
    members: Ints, step: Ints | Sequence[int], around: bool | Sequence[bool]
) -> list[list[int]]:
    """Return pairs of ranks of a grid: each, and the one that is `step` further.

    Parameters
    ----------
    members
        Ranks, by their coordinates.
    step
        Along each dimension.
    around
        Whether the ends of the dimensions join; else ranks beyond an end are left out.
    """
    places = np.indices(members.shape).reshape(members.ndim, -1).T
    beyond = places + np.array(step)
    targets = beyond % members.shape
    inside = ((targets == beyond) | np.array(around)).all(axis=1)
    ends = [members.ravel()[inside], members[tuple(targets[inside].T)]]
    pairs: list[list[int]] = np.stack(ends, axis=1).tolist()
    return pairs

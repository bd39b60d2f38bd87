"""Squared deviations of all segments between any two positions, by least squares.

Two ways: exactly, by orthogonal triangles, for one formula; and fast, by elimination in the normal
equations, for many formulas of the same columns, where deviations far below the noise do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEPENDENT = 1e-10
"""A term is a linear combination of others if this fraction of its column remains."""

_SQUARE_DEPENDENT = 1e-11
"""The same for the square of the column, the precision of normal equations."""


def exact_costs(
    rows: Array, places: NDArray[np.int64], starts: NDArray[Any], min_values: int
) -> Array:
    """Return the squared deviations of every segment: entry (i, j) of places i to j - 1.

    A triangle for each first place is extended place by place. Nothing is subtracted, so data
    without noise have costs of rounding size. Segments that are too short or whose terms depend on
    each other cost infinitely much.

    Parameters
    ----------
    rows
        Weighted columns of the terms, and of the measured values last; sorted.
    places
        Index of the first value of each place, and the number of values.
    starts
        First row of each value, and the number of rows.
    min_values
        Fewest values of a segment.
    """
    blocks = _blocks(rows, starts[places[:-1]])
    count, width = len(blocks), blocks.shape[1]
    cost = np.full((count + 1, count + 1), np.inf)
    triangles = np.zeros((count, width, width))
    for j in range(count):
        upper = np.broadcast_to(blocks[j], (j + 1, width, width))
        triangles[: j + 1] = np.linalg.qr(
            np.concatenate([triangles[: j + 1], upper], axis=1), mode="r"
        )
        inner = triangles[: j + 1, :-1, :-1]
        left = np.abs(np.diagonal(inner, axis1=1, axis2=2))
        whole = np.linalg.norm(inner, axis=1)
        allowed = np.all(left > DEPENDENT * whole, axis=1)
        allowed &= places[j + 1] - places[: j + 1] >= min_values
        allowed &= starts[places[j + 1]] - starts[places[: j + 1]] >= width  # terms, and one more
        cost[: j + 1, j + 1] = np.where(allowed, triangles[: j + 1, -1, -1] ** 2, np.inf)
    return cost


class Sums:
    """Normal equations of the first values, of which those of any segment are the difference.

    Parameters
    ----------
    rows
        Weighted columns of the terms, and of the measured values last; sorted.
    starts
        First row of each value, and the number of rows.
    """

    def __init__(self, rows: Array, starts: NDArray[Any]) -> None:
        length = np.linalg.norm(rows[:, :-1], axis=0)
        rows = np.column_stack([rows[:, :-1] / np.where(length > 0, length, 1.0), rows[:, -1]])
        products = np.einsum("ni,nj->ijn", rows, rows)
        each = np.add.reduceat(products, starts[:-1], axis=2)
        # the values are along the last axis: long loops are fast ones
        self._sums = np.cumsum(np.pad(each, ((0, 0), (0, 0), (1, 0))), axis=2)
        self._starts = starts

    def costs(
        self, forms: Sequence[Sequence[int]], first: NDArray[Any], last: NDArray[Any]
    ) -> Array:
        """Return the squared deviations by each formula, shape (forms, segments).

        They are precise to about 1e-10 of the squares of the values, and infinite where columns
        depend or rows are too few. ``forms`` are the columns that each formula uses; the segments
        hold the values ``first`` to ``last`` - 1, arrays of shape (segments,).
        """
        count = self._starts[last] - self._starts[first]
        cost = np.full((len(forms), len(first)), np.inf)
        for terms in sorted({len(form) for form in forms}):
            mine = [k for k, form in enumerate(forms) if len(form) == terms]
            columns = np.array([[*forms[k], -1] for k in mine]).T
            sums = self._sums[columns[:, None], columns[None, :]]
            own = sums.take(last, axis=-1) - sums.take(first, axis=-1)
            cost[mine] = np.where(count > terms, _eliminated(own), np.inf)
        return cost


def fast_costs(
    sums: Sums, forms: Sequence[Sequence[int]], places: NDArray[np.int64], min_values: int
) -> Array:
    """Return the same for each formula, shape (formulas, places, places)."""
    first, last = np.triu_indices(len(places), 1)
    long = places[last] - places[first] >= min_values
    first, last = first[long], last[long]
    cost = np.full((len(forms), len(places), len(places)), np.inf)
    cost[:, first, last] = sums.costs(forms, places[first], places[last])
    return cost


def _eliminated(normal: Array) -> Array:
    """Return what is left of the last square; infinite where columns depend.

    ``normal`` are equations of shape (terms + 1, terms + 1, ...), and are overwritten.
    """
    size = len(normal)
    whole = np.array([normal[k, k] for k in range(size)])
    possible = np.ones(normal.shape[2:], dtype=bool)
    for k in range(size - 1):
        pivot = normal[k, k]
        possible &= pivot > _SQUARE_DEPENDENT * whole[k]
        factor = normal[k, k + 1 :] / np.where(possible, pivot, 1.0)
        for i in range(k + 1, size):  # the equations are symmetric: half of them are enough
            normal[i, i:] -= factor[i - k - 1] * normal[k, i:]
    return np.where(possible, np.maximum(normal[-1, -1], 0.0), np.inf)


def _blocks(rows: Array, starts: NDArray[np.int64]) -> Array:
    """Reduce the rows of each place to a triangle with the same normal equations (QR)."""
    width = rows.shape[1]
    blocks = np.zeros((len(starts), width, width))
    for k, part in enumerate(np.split(rows, starts[1:])):
        small = np.linalg.qr(part, mode="r") if len(part) > width else part
        blocks[k, : len(small)] = small
    return blocks

"""Squared deviations of all segments between any two positions, by least squares.

Elimination in the normal equations, for many formulas of the same columns at once.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise

import numpy as np

from isochrone.base.arrays import Array, Floats, Ints

_MIN_INDEPENDENT_SQUARE = 1e-11
"""A term is a linear combination of others if this fraction of the square of its column remains."""


@cache
def _upper(size: int) -> tuple[Ints, Ints]:
    """Return rows and columns of the upper triangle of a square matrix, one row after the other."""
    return np.triu_indices(size)


class Sums:
    """Normal equations of the first values, of which those of any segment are the difference.

    Parameters
    ----------
    rows
        Weighted columns of the terms, and of the measured values last; sorted.
    starts
        First row of each value, and the number of rows.
    """

    def __init__(self, rows: Floats, starts: Array) -> None:
        length = np.linalg.norm(rows[:, :-1], axis=0)
        columns = np.vstack(
            [rows[:, :-1].T / np.where(length > 0, length, 1.0)[:, None], rows[:, -1]]
        )
        # the equations are symmetric: half of them are enough
        row, column = _upper(len(columns))
        self._number = np.zeros((len(columns), len(columns)), dtype=np.int64)
        self._number[row, column] = self._number[column, row] = np.arange(len(row))
        sums = np.add.reduceat(columns[row] * columns[column], starts[:-1], axis=1)
        # the values are along the last axis: long loops are fast ones
        self._sums = np.zeros((len(row), len(starts)))
        np.cumsum(sums, axis=1, out=self._sums[:, 1:])
        self._starts = starts

    def costs(self, forms: Sequence[Sequence[int]], first: Array, last: Array) -> Floats:
        """Return the squared deviations by each formula, shape (forms, segments).

        They are precise to about 1e-10 of the squares of the values, and infinite where columns
        depend or rows are too few. ``forms`` are the columns that each formula uses; the segments
        hold the values ``first`` to ``last`` - 1, arrays of shape (segments,).
        """
        count = self._starts[last] - self._starts[first]
        sums = self._sums.take(last, axis=1) - self._sums.take(first, axis=1)
        cost = np.full((len(forms), len(first)), np.inf)
        for terms in sorted({len(form) for form in forms}):
            mine = [k for k, form in enumerate(forms) if len(form) == terms]
            columns = np.array([[*forms[k], -1] for k in mine]).T
            row, column = _upper(terms + 1)
            left = _eliminated(sums[self._number[columns[row], columns[column]]], terms)
            cost[mine] = np.where(count > terms, left, np.inf)
        return cost


def costs_between(
    sums: Sums, forms: Sequence[Sequence[int]], positions: Ints, min_values: int
) -> Floats:
    """Return the squared deviations of every segment by each formula: entry (k, i, j).

    It is of the values from place i to before place j; infinite if these are too few.
    """
    first, last = np.triu_indices(len(positions), 1)
    long = positions[last] - positions[first] >= min_values
    first, last = first[long], last[long]
    cost = np.full((len(forms), len(positions), len(positions)), np.inf)
    cost[:, first, last] = sums.costs(forms, positions[first], positions[last])
    return cost


def _eliminated(normal: Floats, terms: int) -> Floats:
    """Return what is left of the last square; infinite where columns depend.

    ``normal`` are the upper triangles of equations, one row after the other, and are overwritten.
    """
    ends = accumulate(range(terms + 1, 0, -1), initial=0)
    rows = [normal[first:last] for first, last in pairwise(ends)]
    diagonal = [row[0].copy() for row in rows]
    possible = np.ones(normal.shape[1:], dtype=bool)
    for k in range(terms):
        pivot, *others = rows[k]
        possible &= pivot > _MIN_INDEPENDENT_SQUARE * diagonal[k]
        pivot = np.where(possible, pivot, 1.0)
        for i, entry in enumerate(others, 1):
            rows[k + i] -= entry / pivot * rows[k][i:]
    return np.where(possible, np.maximum(normal[-1], 0.0), np.inf)

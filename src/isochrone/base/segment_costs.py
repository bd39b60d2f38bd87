"""Squared deviations of all segments between any two positions, by least squares.

Elimination in the normal equations, for many formulas of the same columns at once.
"""

from collections.abc import Sequence

import numpy as np

from isochrone.base.arrays import Array, Floats, Ints

_DEPENDENT = 1e-11
"""A term is a linear combination of others if this fraction of the square of its column remains."""


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
        rows = np.column_stack([rows[:, :-1] / np.where(length > 0, length, 1.0), rows[:, -1]])
        products = np.einsum("ni,nj->ijn", rows, rows)
        each = np.add.reduceat(products, starts[:-1], axis=2)
        # the values are along the last axis: long loops are fast ones
        self._sums = np.cumsum(np.pad(each, ((0, 0), (0, 0), (1, 0))), axis=2)
        self._starts = starts

    def costs(self, forms: Sequence[Sequence[int]], first: Array, last: Array) -> Floats:
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


def costs_between(
    sums: Sums, forms: Sequence[Sequence[int]], places: Ints, min_values: int
) -> Floats:
    """Return the squared deviations of every segment by each formula: entry (k, i, j).

    It is of the values from place i to before place j; infinite if these are too few.
    """
    first, last = np.triu_indices(len(places), 1)
    long = places[last] - places[first] >= min_values
    first, last = first[long], last[long]
    cost = np.full((len(forms), len(places), len(places)), np.inf)
    cost[:, first, last] = sums.costs(forms, places[first], places[last])
    return cost


def _eliminated(normal: Floats) -> Floats:
    """Return what is left of the last square; infinite where columns depend.

    ``normal`` are equations of shape (terms + 1, terms + 1, ...), and are overwritten.
    """
    size = len(normal)
    whole = np.array([normal[k, k] for k in range(size)])
    possible = np.ones(normal.shape[2:], dtype=bool)
    for k in range(size - 1):
        pivot = normal[k, k]
        possible &= pivot > _DEPENDENT * whole[k]
        factor = normal[k, k + 1 :] / np.where(possible, pivot, 1.0)
        for i in range(k + 1, size):  # the equations are symmetric: half of them are enough
            normal[i, i:] -= factor[i - k - 1] * normal[k, i:]
    return np.where(possible, np.maximum(normal[-1, -1], 0.0), np.inf)

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


def fast_costs(
    rows: Array, forms: Sequence[Sequence[int]], places: NDArray[np.int64], starts: NDArray[Any],
    min_values: int,
) -> Array:  # fmt: skip
    """Return the same for each formula, shape (formulas, places + 1, places + 1).

    ``forms`` are the columns that each formula uses. The normal equations of a segment are the
    difference of two sums, so the result is precise to about 1e-10 of the squares of the values.
    """
    length = np.linalg.norm(rows[:, :-1], axis=0)
    rows = np.column_stack([rows[:, :-1] / np.where(length > 0, length, 1.0), rows[:, -1]])
    products = np.einsum("ni,nj->nij", rows, rows)
    cuts = starts[places]
    sums = np.concatenate([
        np.zeros((1, *products.shape[1:])), np.cumsum(np.add.reduceat(products, cuts[:-1]), axis=0),
    ])  # fmt: skip
    first, last = np.triu_indices(len(places), 1)
    long = (places[last] - places[first] >= min_values) & (last > first)
    first, last = first[long], last[long]
    normal = sums[last] - sums[first]
    count = cuts[last] - cuts[first]
    cost = np.full((len(forms), len(places), len(places)), np.inf)
    for terms in sorted({len(form) for form in forms}):
        mine = [k for k, form in enumerate(forms) if len(form) == terms]
        columns = np.array([[*forms[k], rows.shape[1] - 1] for k in mine])
        own = normal[:, columns[:, :, None], columns[:, None, :]]
        found = np.where(count[:, None] > terms, _eliminated(own), np.inf)
        cost[np.array(mine)[:, None], first, last] = found.T
    return cost


def _eliminated(normal: Array) -> Array:
    """Return what is left of the last square, shape (...,); infinite where columns depend."""
    whole = np.diagonal(normal, axis1=-2, axis2=-1).copy()
    possible = np.ones(normal.shape[:-2], dtype=bool)
    for k in range(normal.shape[-1] - 1):
        pivot = normal[..., k, k]
        possible &= pivot > _SQUARE_DEPENDENT * whole[..., k]
        factor = normal[..., k + 1 :, k] / np.where(possible, pivot, 1.0)[..., None]
        normal[..., k + 1 :, k + 1 :] -= factor[..., None] * normal[..., k, None, k + 1 :]
    return np.where(possible, np.maximum(normal[..., -1, -1], 0.0), np.inf)


def _blocks(rows: Array, starts: NDArray[np.int64]) -> Array:
    """Reduce the rows of each place to a triangle with the same normal equations (QR)."""
    width = rows.shape[1]
    blocks = np.zeros((len(starts), width, width))
    for k, part in enumerate(np.split(rows, starts[1:])):
        small = np.linalg.qr(part, mode="r") if len(part) > width else part
        blocks[k, : len(small)] = small
    return blocks

"""Intervals of a time that one of several formulas gives: quantiles of a mixture of Student's t."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr, stdtrit

__all__ = ["interval"]

Array = NDArray[np.float64]

_HALVINGS: Final = 40

_NORMAL: Final = 200
"""Degrees of freedom from which Student's t is the normal distribution, which is quick."""


def interval(
    centre: Array, spread: Array, freedom: Array, weights: Array, level: float
) -> tuple[Array, Array]:
    """Return where a share of ``level`` of a mixture lies, as much of the rest on either side.

    Parameters
    ----------
    centre, spread
        Of each component at each point, shape (components, points).
    freedom, weights
        Degrees of freedom and weights of the components, shape (components,).
    level
        Such as 0.95.

    Returns
    -------
    tuple of ndarray of shape (points,)
        Low and high.
    """
    tail = (1 - level) / 2
    reach = -stdtrit(freedom, tail)[:, None] * spread
    if len(centre) == 1:
        return centre[0] - reach[0], centre[0] + reach[0]
    bounds = []
    for share, ends in ((tail, centre - reach), (1 - tail, centre + reach)):
        low, high = ends.min(axis=0), ends.max(axis=0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            away = (middle - centre) / np.maximum(spread, 1e-300)
            below = weights @ _probability(freedom, away) < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        bounds.append((low + high) / 2)
    return bounds[0], bounds[1]


def _probability(freedom: Array, away: Array) -> Array:
    """Return the probability of a value below, for components with their degrees of freedom."""
    found = np.empty_like(away)
    normal = freedom >= _NORMAL
    found[normal] = ndtr(away[normal])
    found[~normal] = stdtr(freedom[~normal, None], away[~normal])
    return found

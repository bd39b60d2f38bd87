"""Shifts of levels and nodes that explain those of pairs; a few odd pairs do not matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.stats import MAD_TO_SIGMA

__all__ = ["MIN_UNITS", "shifts_of"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MIN_UNITS: Final = 4
"""Of fewer nodes, or hosts that are compared inside, none is the odd one out."""

HUBER: Final = 1.345
"""Residuals beyond so many spreads count less; 95 % as efficient as least squares if normal."""

_ROUNDS: Final = 30
_SETTLED: Final = 1e-6


def shifts_of(pairs: Ints, level: Ints, values: Array) -> tuple[Array, Array, Array]:
    """Return the shift of each level and unit, and the rest of each pair.

    What all units have in common belongs to the levels: the unit in the middle has none. Of fewer
    than `MIN_UNITS` all is the level's.
    """
    levels, of_level = np.unique(level, return_inverse=True)
    units = int(pairs.max()) + 1
    middle = np.array([np.median(values[of_level == k]) for k in range(len(levels))])
    if len(np.unique(pairs)) < MIN_UNITS:
        return middle, np.zeros(units), values - middle[of_level]
    ends = of_level, len(levels) + pairs[:, 0], len(levels) + pairs[:, 1]
    count = len(levels) + units
    found, rest = np.zeros(count), values - middle[of_level]
    for _ in range(_ROUNDS):
        spread = max(MAD_TO_SIGMA * float(np.median(np.abs(rest))), 1e-6)
        weight = np.minimum(1.0, HUBER * spread / np.maximum(np.abs(rest), 1e-12))
        before, found = found, _least_squares(ends, weight, values, count)
        rest = values - sum(found[end] for end in ends)
        if np.max(np.abs(found - before)) < _SETTLED:
            break
    own = found[len(levels) :]
    common = float(np.median(own[np.unique(pairs)]))
    return found[: len(levels)] + 2 * common, own - common, rest


def _least_squares(ends: Sequence[Ints], weight: Array, values: Array, count: int) -> Array:
    """Solve for numbers of which each value is the sum of three, by the normal equations."""
    square = np.zeros((count, count))
    right = np.zeros(count)
    for one in ends:
        right += np.bincount(one, weight * values, count)
        for other in ends:
            square += np.bincount(one * count + other, weight, count**2).reshape(count, count)
    scale = max(float(np.trace(square)) / count, 1.0)
    return np.asarray(np.linalg.solve(square + 1e-9 * scale * np.eye(count), right), np.float64)

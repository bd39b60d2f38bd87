"""How far predicted times are from measured ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_GROUPS", "Deviation", "deviation", "r_squared"]

Array = NDArray[np.float64]

MAX_GROUPS: Final = 200
"""Values of a variable that get deviations of their own; a longer list tells nothing."""


@dataclass(frozen=True)
class Deviation:
    """|predicted - measured| / measured: minimum, mean and maximum, and the number of points."""

    minimum: float
    average: float
    maximum: float
    points: int


def deviation(predicted: Array, measured: Array) -> Deviation:
    """Compare times; a time that could not be predicted (NaN) counts as wrong by 100 %."""
    away = np.abs(predicted - measured) / measured
    away = np.where(np.isnan(away), 1.0, away)
    return Deviation(float(away.min()), float(away.mean()), float(away.max()), len(away))


def r_squared(predicted: Array, measured: Array) -> float:
    """Return the coefficient of determination, in seconds; 1 if all times are equal and met."""
    total = float(np.sum((measured - measured.mean()) ** 2))
    with np.errstate(over="ignore"):  # of a formula that is far off: its R² is minus infinity
        residual = float(np.sum((measured - predicted) ** 2))
    if total == 0:
        return 1.0 if residual == 0 else 0.0
    return 1 - residual / total

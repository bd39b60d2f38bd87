"""How far predicted times are from measured ones."""

from dataclasses import dataclass

import numpy as np

from isochrone.base.arrays import Array, Floats
from isochrone.base.documents import IfKnown

MAX_DEVIATION_VALUES = 200
"""Values of a variable that get deviations of their own; a longer list tells nothing."""


_MAX_LOG_RATIO = 10.0
"""Logarithm of a ratio not distinguished from larger ones, and that of no time at all."""


@dataclass(frozen=True)
class Deviation:
    """How far predictions are off: minimum, mean and maximum, and the number of points.

    A prediction is off by the larger of predicted / measured and its inverse, less 1. ``median`` is
    that of the repetitions: a point that a time limit cut short counts as much as it was measured.
    """

    minimum: float
    average: float
    maximum: float
    points: int
    median: IfKnown[float] = None


def deviation(predicted: Floats, measured: Floats, repeats: Array | None = None) -> Deviation:
    """Compare times; a time that could not be predicted (NaN) counts as wrong by 100 %.

    Parameters
    ----------
    predicted, measured
        Seconds, shape (n,).
    repeats
        How often each was measured, shape (n,); alike if None.
    """
    away = np.where(np.isnan(predicted), 1.0, np.expm1(log_ratio(predicted, measured)))
    weights = np.ones(len(away)) if repeats is None else repeats
    rising = np.argsort(away)
    share = np.cumsum(weights[rising])
    middle = away[rising[np.searchsorted(share, share[-1] / 2)]]
    ends = float(away.min()), float(away.mean()), float(away.max())
    return Deviation(*ends, len(away), float(middle))


def log_ratio(predicted: Floats, measured: Floats) -> Floats:
    """Return |log(predicted / measured)|, at most 10: that is also for what is not above zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.abs(np.log(predicted / measured))
    return np.minimum(np.where(predicted > 0, distance, _MAX_LOG_RATIO), _MAX_LOG_RATIO)


def r_squared(predicted: Floats, measured: Floats) -> float:
    """Return the coefficient of determination, in seconds; 1 if all times are equal and met."""
    total = float(np.sum((measured - measured.mean()) ** 2))
    with np.errstate(over="ignore"):  # of a formula that is far off: its R² is minus infinity
        residual = float(np.sum((measured - predicted) ** 2))
    if total == 0:
        return 1.0 if residual == 0 else 0.0
    return 1 - residual / total

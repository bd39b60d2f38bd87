"""What a start of the job adds to all of its points, where each point is of one start.

Where every number of ranks was measured in a start of its own, the errors of all its sizes have a
part in common, and so many points know less than as many independent ones. That part is found in
the deviations from the formula (analysis of variance); if all of m points of a start have the
part ρ of their variance in common, n points count as n / (1 + (m - 1) ρ) (Kish 1965, *Survey
Sampling*, 5.4). It cannot be told from what a wrong formula misses at a number of ranks, which
makes intervals wider as well.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from isochrone.models.linear import Fit

__all__ = ["with_shared_starts"]

Array = NDArray[np.float64]

_FEWEST: Final = 3
"""Starts of which something can be said."""


def with_shared_starts(fit: Fit, seconds: Array, start: NDArray[np.int64]) -> Fit:
    """Return a fit whose intervals know that the points of a start have errors in common.

    Parameters
    ----------
    fit
        Of these points.
    seconds
        Measured times, shape (n,).
    start
        Number of the start of each point, -1 for one of several starts; shape (n,).
    """
    count, width = len(seconds), len(fit.terms)
    starts, group = np.unique(start, return_inverse=True)
    if len(starts) < _FEWEST or count == len(starts) or start.min() < 0:
        return fit
    share = _in_common((seconds - fit.predicted) * fit.weights, group.ravel(), width)
    factor = 1 + (count / len(starts) - 1) * share
    freedom = max(count / factor - width, 1.0)
    wider = (count - width) / (factor * freedom)
    covariance = fit.covariance * factor * wider
    half = float(stdtrit(freedom, 0.975)) * np.sqrt(np.diag(covariance))
    return replace(
        fit, covariance=covariance, low=fit.coefficients - half, high=fit.coefficients + half,
        sigma=fit.sigma * sqrt(wider), degrees_of_freedom=int(freedom),
    )  # fmt: skip


def _in_common(deviations: Array, group: NDArray[np.int64], width: int) -> float:
    """Return the part of the variance of deviations that those of a group have in common."""
    number = np.bincount(group)
    mean = np.bincount(group, deviations) / number
    between = float(np.sum(number * mean**2)) / max(len(number) - width, 1)
    within = float(np.sum((deviations - mean[group]) ** 2)) / (len(group) - len(number))
    typical = len(group) / len(number)
    whole = between + (typical - 1) * within
    return max(0.0, (between - within) / whole) if whole > 0 else 0.0

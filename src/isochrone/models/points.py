"""Repetitions become points: one time for each combination of the variables, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from isochrone.base.stats import MAD_TO_SIGMA, MEDIAN_LOSS
from isochrone.models.medians import medians_by
from isochrone.models.starts import ONE_START, Starts, compare_starts

__all__ = ["Points", "summarised"]

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class Points:
    """Times of points; arrays of shape (points,).

    Attributes
    ----------
    seconds
        Median of the repetitions; of several starts the geometric mean of their medians.
    repeats
        How many repetitions.
    noise
        Typical relative standard error of ``seconds``; None if nothing was repeated. What all
        points of a start have in common is no part of it.
    starts
        How far starts are from each other.
    start
        Number of the start of each, -1 where there are several.
    """

    seconds: Array
    repeats: Index
    noise: float | None
    starts: Starts
    start: Index


def summarised(seconds: Array, point: Index, start: Index) -> Points:
    """Summarise repetitions.

    Parameters
    ----------
    seconds
        Shape (n,).
    point
        Number of the point of each, from 0, none left out; shape (n,).
    start
        Number of the start of the job in which each was measured; shape (n,).
    """
    repeats = np.bincount(point)
    starts = int(start.max()) + 1
    codes, cell = np.unique(point * starts + start, return_inverse=True)
    median, error = _medians(seconds, cell.ravel())
    known = error[~np.isnan(error)]
    within = float(np.median(known)) if len(known) else None
    if len(codes) == len(repeats):
        return Points(median, repeats, within, ONE_START, codes % starts)
    logs, owner = np.log(median), codes // starts
    found = compare_starts(logs, owner, codes % starts, error)
    number = np.bincount(owner)
    typical = np.exp(np.bincount(owner, logs) / number)
    typical = np.where(number == 1, median[np.cumsum(number) - 1], typical)
    noise = sqrt(((within or 0.0) ** 2 + found.alone**2) / found.launches)
    single = np.where(number == 1, (codes % starts)[np.cumsum(number) - 1], -1)
    return Points(typical, repeats, noise or None, found, single)


def _medians(seconds: Array, group: Index) -> tuple[Array, Array]:
    """Return the median of each group and its relative standard error, NaN of fewer than three."""
    counts = np.bincount(group)
    median = medians_by(seconds, group)
    spread = medians_by(np.abs(seconds - median[group]), group) / median
    error = MEDIAN_LOSS * MAD_TO_SIGMA * spread / np.sqrt(counts)
    return median, np.where(counts >= 3, error, np.nan)  # the spread of two is a coin toss

"""How far one start of a job is from the next, seen at points that several starts measured.

The repetitions of one start share where its ranks and pages are, so a start is one value at a
point, the logarithm of its median, as in `isochrone.changes.launches`. The spread of these values
has two parts: what all points of a start have in common, and what each has of its own (analysis of
variance with two crossed random factors: Searle, Casella & McCulloch 1992, *Variance Components*,
chapter 4). Of the spread, what the repetitions explain by themselves is taken away.
"""

from math import sqrt

import msgspec
import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtrit

from isochrone.base.arrays import Array, Floats, Ints
from isochrone.base.stats import MAD_TO_SIGMA, MEDIAN_LOSS, median_of, medians_by
from isochrone.models.thresholds import MEDIAN_DEGREES


class Starts(msgspec.Struct, frozen=True, omit_defaults=True):
    """Starts of a job, and how far they are from each other.

    Attributes
    ----------
    launches
        How many starts a point has, typically.
    between
        Standard deviation of a start's median around the typical one, as a part of the time, beyond
        what repetitions explain; None if each point was measured in one start only.
    freedom
        Its degrees of freedom: few starts hardly tell how much starts differ.
    alone
        The part of ``between`` that the points of a start do not have in common.
    """

    launches: int = 1
    between: float | None = None
    freedom: float = 0.0
    alone: float = 0.0

    def next_start(self, level: float = 0.95) -> float:
        """Return half the interval of a next start around the typical time, as a part of it.

        0 if it is not known: Hahn & Meeker 1991, *Statistical Intervals*, 4.7.
        """
        if not self.between:
            return 0.0
        t = float(stdtrit(max(self.freedom, 1.0), (1 + level) / 2))
        return t * self.between * sqrt(1 + 1 / self.launches)


ONE_START = Starts()


def widened(
    seconds: Floats, low: Floats, high: Floats, next_start: Floats
) -> tuple[Floats, Floats]:
    """Return intervals that hold the next start, too.

    Parameters
    ----------
    seconds, low, high
        Times and their intervals, shape (n,).
    next_start
        `Starts.next_start` of each, shape (n,).
    """
    widening = np.log1p(next_start)
    return (
        seconds * np.exp(-np.hypot(np.log(seconds / low), widening)),
        seconds * np.exp(np.hypot(np.log(high / seconds), widening)),
    )


def compare_starts(logs: Floats, point: Ints, start: Ints, error: Floats) -> Starts:
    """Tell how far starts are from each other.

    Parameters
    ----------
    logs
        Logarithms of the median of one start at one point each, shape (n,).
    point, start
        Which point and which start, numbered from 0; shape (n,).
    error
        Relative standard error of each median, NaN where it is not known; shape (n,).
    """
    counts = np.bincount(point)
    several = counts[point] > 1
    if not several.any():
        return ONE_START
    logs, error = logs[several], error[several]
    point, start = numbered(point[several]), numbered(start[several])
    counts = np.bincount(point)
    away = logs - (np.bincount(point, logs) / counts)[point]
    common = medians_by(start, away)[1]
    residuals = away - common[start]

    count, starts = len(logs), len(common)
    # groups of starts that have no point in common: each has a level of its own
    size = starts + len(counts)
    links = coo_matrix((np.ones(count), (start, point + starts)), (size, size))
    separate = int(connected_components(links, directed=False, return_labels=False))
    of_common = starts - separate
    of_rest = count - len(counts) - of_common
    per_start = count / starts
    shared = float(np.sum(np.bincount(start) * common**2)) / of_common
    single_variance = 0.0
    if of_rest >= MEDIAN_DEGREES:  # by the median: one may be disturbed
        single_variance = spread_of(residuals, of_rest) ** 2
    elif of_rest > 0:
        single_variance = float(np.sum(residuals**2)) / of_rest
    components = (shared / per_start, (1 - 1 / per_start) * single_variance if of_rest > 0 else 0.0)
    variance = sum(components)
    if variance == 0:
        return Starts(int(median_of(counts)), 0.0, float(of_common))
    # Satterthwaite 1946, An approximate distribution of estimates of variance components.
    freedom = variance**2 / (components[0] ** 2 / of_common + components[1] ** 2 / max(of_rest, 1))
    errors = error[~np.isnan(error)]
    explained = median_of(errors**2) if len(errors) else 0.0
    return Starts(
        int(median_of(counts)),
        sqrt(max(variance - explained, 0.0)),
        freedom,
        sqrt(max(single_variance - explained, 0.0)),
    )


def numbered(*columns: Array) -> Ints:
    """Return the number of the combination of values in each row, from 0, none left out."""
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        codes = np.unique(column, return_inverse=True)[1].ravel()
        code = np.unique(code * (codes.max() + 1) + codes, return_inverse=True)[1].ravel()
    return code


def spread_of(residuals: Floats, freedom: int) -> float:
    """Return the standard deviation of what is left around a fit, by its median deviation."""
    return MAD_TO_SIGMA * median_of(np.abs(residuals)) * sqrt(len(residuals) / freedom)


# --- repetitions become points --------------------------------------------------------------------


def summarised(
    seconds: Floats, point: Ints, start: Ints
) -> tuple[Floats, Ints, float | None, Starts, Ints]:
    """Summarise repetitions.

    Parameters
    ----------
    seconds
        Shape (n,).
    point
        Number of the point of each, from 0, none left out; shape (n,).
    start
        Number of the start of the job in which each was measured; shape (n,).

    Returns
    -------
    tuple
        Of each point the time, which is the median of the repetitions, of several starts the
        geometric mean of their medians; how many repetitions; the typical relative standard error
        of a time, None if nothing was repeated, without what all points of a start have in common;
        how far starts are from each other; and the start of each point, -1 where there are several.
    """
    repeats = np.bincount(point)
    starts = int(start.max()) + 1
    codes, cell = np.unique(point * starts + start, return_inverse=True)
    cell = cell.ravel()
    counts = np.bincount(cell)
    median = medians_by(cell, seconds)[1]
    spread = medians_by(cell, np.abs(seconds - median[cell]))[1] / median
    error = MEDIAN_LOSS * MAD_TO_SIGMA * spread / np.sqrt(counts)
    error = np.where(counts >= 3, error, np.nan)  # the spread of two is a coin toss
    errors = error[~np.isnan(error)]
    within = median_of(errors) if len(errors) else None
    if len(codes) == len(repeats):
        return (median, repeats, within, ONE_START, codes % starts)
    logs, owner = np.log(median), codes // starts
    comparison = compare_starts(logs, owner, codes % starts, error)
    start_counts = np.bincount(owner)
    typical = np.exp(np.bincount(owner, logs) / start_counts)
    typical = np.where(start_counts == 1, median[np.cumsum(start_counts) - 1], typical)
    noise = sqrt(((within or 0.0) ** 2 + comparison.alone**2) / comparison.launches)
    single = np.where(start_counts == 1, (codes % starts)[np.cumsum(start_counts) - 1], -1)
    return typical, repeats, noise or None, comparison, single

"""The small statistics of a measurement; every formula names its source."""

from functools import lru_cache
from math import cos, exp, lgamma, log, log1p, nan, pi, sin, sqrt, tan

import numpy as np
from numpy.typing import ArrayLike

from isochrone.base.arrays import Array, Floats, Ints

INTERVAL_HALF = 1.96
"""Φ⁻¹(0.975): half the width of a 95 % interval of a normal estimate, in standard errors."""

INTERVAL_WIDTH = 2 * INTERVAL_HALF
"""Width of a 95 % interval of a normal estimate, in standard errors."""

MAD_TO_SIGMA = 1.4826
"""1 / Φ⁻¹(3/4) turns the MAD of a normal sample into its standard deviation (Hampel 1974, *The
influence curve and its role in robust estimation*, JASA 69, 383–393)."""

MAD_EFFICIENCY = 0.37
"""A spread by MAD is as uncertain as a standard deviation from this part of the sample (Rousseeuw &
Croux 1993, *Alternatives to the median absolute deviation*, JASA 88, 1273–1283)."""

MEDIAN_LOSS = 1.2533
"""√(π/2): how much wider the error of a median is than that of a mean, for normal samples
(Kendall & Stuart, *The Advanced Theory of Statistics*, volume 1, 10.10)."""

MEDIAN_WIDENING = 0.55
"""1 + 0.55 / n widens the 80 % quantile of the distances of n normal values from their own median
to that of the distances from the true one, within 2 % from three values on (by simulation)."""

Q80_TO_SIGMA = 0.7803
"""1 / Φ⁻¹(0.9) turns the 80 % quantile of |x| into the standard deviation of a normal x."""


def median_of(values: ArrayLike) -> float:
    """Return the median of all values; NaN if one is NaN, or there is none.

    `numpy.median` loads the masks of NumPy, which takes longer than to read a map.
    """
    sample = np.ravel(values)
    if not sample.size:
        return nan
    half = sample.size // 2
    ordered = np.partition(sample, [(sample.size - 1) // 2, half, -1])
    low, high, last = ordered[(sample.size - 1) // 2], ordered[half], ordered[-1]
    return nan if last != last else float((low + high) / 2)


def quantile(values: ArrayLike, fraction: float) -> float:
    """Return a quantile of all values, linear between two; NaN as `median_of`."""
    sample = np.ravel(values)
    if not sample.size:
        return nan
    position = (sample.size - 1) * fraction
    at = int(position)
    above = min(at + 1, sample.size - 1)
    ordered = np.partition(sample, [at, above, -1])
    low, high = ordered[at], ordered[above]
    return float(low + (high - low) * (position - at)) if ordered[-1] == ordered[-1] else nan


def mad(values: ArrayLike) -> float:
    """Return the median absolute deviation from the median, scaled to a standard deviation.

    Up to half the values may be arbitrarily wrong without harm (Rousseeuw & Croux 1993). NaN are
    left out; an empty sample has no spread and gives 0.
    """
    # `scipy.stats.median_abs_deviation` is the same; to import scipy.stats takes longer than to
    # read a map.
    sample = known(values)
    if not sample.size:
        return 0.0
    return MAD_TO_SIGMA * median_of(np.abs(sample - median_of(sample)))


def row_medians(values: Floats) -> Floats:
    """Return the median over the last axis without NaN; NaN for a row that has nothing else.

    The same as ``numpy.nanmedian``, which takes row after row.
    """
    if not values.shape[-1]:
        return np.full(values.shape[:-1], np.nan)
    ordered = np.sort(values)  # NaN come last
    known = np.sum(~np.isnan(values), axis=-1, keepdims=True)
    middle = np.concatenate([(known - 1) // 2, known // 2], axis=-1)
    return np.asarray(np.take_along_axis(ordered, middle, axis=-1).sum(axis=-1) / 2)


def order_by(key: Ints, values: Floats) -> Ints:
    """Return the order by key, and by value where keys are the same; as ``numpy.lexsort`` does.

    Keys are sorted by their digits, which takes a fifth of its time.
    """
    order = np.argsort(values)
    return np.asarray(order[order_of(key[order])])


def order_of(key: Ints) -> Ints:
    """Return the order by key; those of the same key stay as they are."""
    largest = key.max(initial=0)
    if key.min(initial=0) < 0 or largest >= 2**32:
        return np.argsort(key, kind="stable")
    order = np.argsort(key.astype(np.uint16), kind="stable")
    if largest >= 2**16:
        order = order[np.argsort((key[order] >> 16).astype(np.uint16), kind="stable")]
    return order


def middles_by(key: Ints, values: Floats) -> tuple[Ints, Floats, Floats]:
    """Return the two middle values of those that share a key; their mean is the median.

    Parameters
    ----------
    key, values
        Of the same length.

    Returns
    -------
    keys, lower, upper
        Each key once, ascending; the same value twice where the count is odd.
    """
    groups = Groups(key)
    return (groups.keys, *groups.middles(values))


def medians_by(key: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Return each key once, ascending, and the median of the values that share it."""
    groups = Groups(key)
    return groups.keys, groups.medians(values)


class Groups:
    """What shares a key is a group.

    Attributes
    ----------
    keys
        Each key once, ascending.
    size
        How many share it.
    """

    def __init__(self, key: Ints) -> None:
        self._key, self._order = key, order_of(key)
        ordered = key[self._order]
        self._first = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
        self.keys = ordered[self._first]
        self.size = np.diff(np.append(self._first, len(key)))

    def middles(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the two middle values of each group, as `middles_by`."""
        first, size = self._first, self.size
        if len(size) and (size == size[0]).all():
            values = np.sort(values[self._order].reshape(len(size), -1), axis=1).ravel()
        else:
            values = values[order_by(self._key, values)]
        return values[first + (size - 1) // 2], values[first + size // 2]

    def medians(self, values: Floats) -> Floats:
        """Return the median of each group."""
        lower, upper = self.middles(values)
        return (lower + upper) / 2

    def of_each(self, values: Array) -> Array:
        """Return for all that have a key the value of their group."""
        expanded = np.empty(len(self._order), values.dtype)
        expanded[self._order] = np.repeat(values, self.size)
        return expanded


def distinct(values: ArrayLike) -> Array:
    """Return the different values in ascending order; without counts, NumPy would load masks."""
    if isinstance(values, np.ndarray) and values.strides == (0,):
        return values[:1]  # all are the same
    return np.unique(values, return_counts=True)[0]


def outlier_limit(tests: int, degrees_of_freedom: float, rate: float = 0.01) -> float:
    """Return how many standard deviations one of many values must exceed to be an outlier.

    The quantile of Student's t for the ``degrees_of_freedom`` of the spread, with ``rate`` shared
    out among ``tests`` values (Bonferroni), so that ``rate`` bounds the chance that *any* healthy
    value is called an outlier.
    """
    return student(max(degrees_of_freedom, 1.0), 1 - rate / max(tests, 1))


# `scipy.special` and `scipy.stats` have all of these; to import them takes longer than to read a
# map, explain it and show it.


@lru_cache(16)
def binomial(n: int, probability: float) -> Floats:
    """Return the chance of at most 0, 1 … n of n, each of which has the chance ``probability``.

    Beyond nine standard deviations it is 0 or 1.
    """
    wide = 1 + 9 * sqrt(n * probability * (1 - probability))
    low, high = max(0, int(n * probability - wide)), min(n, int(n * probability + wide))
    k = np.arange(low + 1, high + 1)
    ratios = np.log((n + 1 - k) / k * (probability / (1 - probability)))
    ways = lgamma(n + 1) - lgamma(low + 1) - lgamma(n - low + 1)
    first = ways + low * log(probability) + (n - low) * log1p(-probability)
    cumulated = np.ones(n + 1)
    cumulated[:low] = 0.0
    cumulated[low : high + 1] = np.cumsum(np.exp(first + np.append(0.0, np.cumsum(ratios))))
    return np.minimum(cumulated, 1.0)


@lru_cache(1)
def _gauss() -> tuple[Floats, Floats]:
    """Return 64 nodes and weights of Gauss and Legendre (Golub & Welsch, Math. Comp. 23, 1969)."""
    k = np.arange(1, 64)
    nodes, vectors = np.linalg.eigh(np.diag(k / np.sqrt(4.0 * k**2 - 1), -1))
    return nodes, 2 * vectors[0] ** 2


@lru_cache(64)
def student(freedom: float, probability: float) -> float:
    """Return a quantile, above the median, of Student's t.

    With t = √ν tan θ its density is that of cos^(ν-1) θ (Johnson, Kotz & Balakrishnan 1995,
    *Continuous Univariate Distributions* 2, 28.2), whose integral is concave: Newton's method comes
    to its root from below. Of fewer than three degrees of freedom the integrand is too steep at its
    end for that: there the rest of the integral, from the other end, is ∫ sin^(ν-1) φ dφ, which is
    convex, and with φ ~ z^4 smooth enough.
    """
    nodes, weights = _gauss()
    scale = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi)
    if freedom < 3:
        z = (nodes + 1) / 2
        left, step = pi / 2, 1.0
        while step > 1e-14 * left:
            tail = weights @ (np.sin(left * z**4) ** (freedom - 1) * z**3) * 2 * left
            step = (tail - (1 - probability) / scale) / sin(left) ** (freedom - 1)
            left -= step
        return sqrt(freedom) / tan(left)
    angle, step = 0.0, 1.0
    while step > 1e-14 * angle:
        below = weights @ np.cos(angle * (nodes + 1) / 2) ** (freedom - 1) * angle / 2
        step = ((probability - 0.5) / scale - below) / cos(angle) ** (freedom - 1)
        angle += step
    return sqrt(freedom) * tan(angle)


def known(values: ArrayLike) -> Floats:
    """Return the values that are not NaN, in a row."""
    sample = np.asarray(values, dtype=np.float64).ravel()
    return sample[~np.isnan(sample)]

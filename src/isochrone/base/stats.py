"""The small statistics of a measurement; every formula names its source."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "FEW_GROUPS",
    "INTERVAL_HALF",
    "INTERVAL_WIDTH",
    "MAD_EFFICIENCY",
    "MAD_TO_SIGMA",
    "MEDIAN_LOSS",
    "Q80_TO_SIGMA",
    "even_median_interval",
    "grouped_median_interval",
    "mad",
    "median_interval",
    "middles_by",
    "order_by",
    "outlier_limit",
    "quantile_interval",
    "ratio_interval",
    "row_medians",
]

FEW_GROUPS: Final = 6
"""Fewer values cannot enclose their median at 95 %: that of 5 is beyond all of them in 2/32."""

INTERVAL_HALF: Final = 1.96
"""Φ⁻¹(0.975): half the width of a 95 % interval of a normal estimate, in standard errors."""

INTERVAL_WIDTH: Final = 2 * INTERVAL_HALF
"""Width of a 95 % interval of a normal estimate, in standard errors."""

MAD_TO_SIGMA: Final = 1.4826
"""1 / Φ⁻¹(3/4) turns the MAD of a normal sample into its standard deviation (Hampel 1974, *The
influence curve and its role in robust estimation*, JASA 69, 383–393)."""

MAD_EFFICIENCY: Final = 0.37
"""A spread by MAD is as uncertain as a standard deviation from this part of the sample (Rousseeuw &
Croux 1993, *Alternatives to the median absolute deviation*, JASA 88, 1273–1283)."""

MEDIAN_LOSS: Final = 1.2533
"""√(π/2): how much wider the error of a median is than that of a mean, for normal samples
(Kendall & Stuart, *The Advanced Theory of Statistics*, volume 1, 10.10)."""

Q80_TO_SIGMA: Final = 0.7803
"""1 / Φ⁻¹(0.9) turns the 80 % quantile of |x| into the standard deviation of a normal x."""


def mad(values: ArrayLike) -> float:
    """Return the median absolute deviation from the median, scaled to a standard deviation.

    Up to half the values may be arbitrarily wrong without harm (Rousseeuw & Croux 1993). NaN are
    left out; an empty sample has no spread and gives 0.
    """
    sample = _known(values)
    if not sample.size:
        return 0.0
    return MAD_TO_SIGMA * float(np.median(np.abs(sample - np.median(sample))))


def median_interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Return two order statistics that enclose the true median, whatever the distribution.

    The k-th smallest and the k-th largest of n values miss the median only if fewer than k of them
    fall on one side of it, and that number is binomial with n and 1/2 (Le Boudec 2010, *Performance
    Evaluation of Computer and Communication Systems*, theorem 2.1). The largest k that keeps
    ``confidence`` is taken. Fewer than six values cannot reach 95 %: then they are the smallest
    and the largest. An empty sample gives NaN.
    """
    sample = np.sort(_known(values))
    n = sample.size
    if not n:
        return float("nan"), float("nan")
    k = _median_order(n, confidence)
    return float(sample[k - 1]), float(sample[n - k])


@lru_cache(maxsize=1024)
def _median_order(n: int, confidence: float) -> int:
    """Return the order k of the interval of the median of n values."""
    beyond = (1 - confidence) / 2
    return max(1, int(np.searchsorted(_binomial(n, 0.5)[: n // 2], beyond, side="right")))


def quantile_interval(
    values: ArrayLike, part: float, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return two order statistics that enclose a quantile, whatever the distribution; or None.

    As `median_interval`, for the value that a ``part`` of all repetitions stays below: the number
    of values below it is binomial with n and ``part``, and on either side at most half of what
    ``confidence`` leaves may be missed (Le Boudec 2010, theorem 2.1). None where even the largest
    value is below the quantile too often: 72 values are the fewest for 0.95, 368 for 0.99.
    """
    sample = np.sort(_known(values))
    below, above = _quantile_orders(sample.size, part, confidence)
    if below < 1 or above >= sample.size:
        return None
    return float(sample[below - 1]), float(sample[above])


@lru_cache(maxsize=1024)
def _quantile_orders(n: int, part: float, confidence: float) -> tuple[int, int]:
    """Return how many of n values are below a quantile at least, and at most."""
    beyond = (1 - confidence) / 2
    cumulated = _binomial(n, part)[:n]
    below = int(np.searchsorted(cumulated, beyond, side="right"))  # P(fewer than this) <= beyond
    return below, int(np.searchsorted(cumulated, 1 - beyond, side="left"))


def even_median_interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Return an interval of the median that holds it with ``confidence``, and not with more.

    Few values have few order statistics: those of `median_interval` enclose the median of eight at
    99.2 % where 95 % is asked for. Here the two pairs next to ``confidence`` are interpolated so
    that the level is met closely for any distribution (Hettmansperger & Sheather 1986, *Confidence
    intervals based on interpolated order statistics*, Statistics & Probability Letters 4, 75-79).
    Of five values these are the smallest and the largest, which hold it with 93.75 %; fewer cannot
    come near 95 %, and give NaN.
    """
    sample = np.sort(_known(values))
    n = sample.size
    if n < FEW_GROUPS - 1:
        return math.nan, math.nan
    levels = (1 - 2 * _binomial(n, 0.5)[: n // 2]).tolist()
    if levels[0] < confidence:
        return float(sample[0]), float(sample[-1])
    k = sum(level >= confidence for level in levels)
    part = (levels[k - 1] - confidence) / (levels[k - 1] - levels[k])
    weight = (n - k) * part / (k + (n - 2 * k) * part)
    low = (1 - weight) * sample[k - 1] + weight * sample[k]
    high = (1 - weight) * sample[n - k] + weight * sample[n - k - 1]
    return float(low), float(high)


def grouped_median_interval(
    values: ArrayLike, groups: ArrayLike, confidence: float = 0.95
) -> tuple[float, float]:
    """Enclose the median of values of which those of a group are alike.

    Repetitions that follow each other are correlated, so the interval of independent ones is far
    too narrow. Here each group, such as a pass, is one value: its median. The interval is that of
    `median_interval` over them, and widened if need be to hold the median of all values.

    Raises
    ------
    ValueError
        If there are fewer than `FEW_GROUPS` groups.
    """
    sample, codes = np.asarray(values, dtype=np.float64), np.asarray(groups)
    order = np.lexsort((sample, codes))
    starts = np.flatnonzero(np.diff(codes[order], prepend=np.nan))
    if len(starts) < FEW_GROUPS:
        raise ValueError(f"{len(starts)} groups are too few for an interval")
    ends = np.append(starts[1:], len(sample))
    ordered = sample[order]
    medians = (ordered[(starts + ends - 1) // 2] + ordered[(starts + ends) // 2]) / 2
    low, high = median_interval(medians, confidence)
    middle = float(np.median(sample))
    return min(low, middle), max(high, middle)


def row_medians(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of each row without its NaN; NaN for a row that has nothing else.

    The same as ``numpy.nanmedian`` over the last axis of a matrix, which takes row after row.
    """
    ordered = np.sort(values, axis=1)  # NaN come last
    known = np.sum(~np.isnan(values), axis=1)
    rows = np.arange(len(values))
    return np.asarray((ordered[rows, (known - 1) // 2] + ordered[rows, known // 2]) / 2)


def order_by(key: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the order by key, and by value where keys are the same; as ``numpy.lexsort`` does.

    Small keys are sorted by their digits, which takes a fifth of its time.
    """
    order = np.argsort(values)
    ordered = key[order]
    if len(key) and ordered.min() >= 0 and ordered.max() < 2**16:
        ordered = ordered.astype(np.uint16)
    return np.asarray(order[np.argsort(ordered, kind="stable")])


def middles_by(
    key: NDArray[np.int64], values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
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
    order = order_by(key, values)
    key, values = key[order], values[order]
    first = np.flatnonzero(np.diff(key, prepend=key[:1] - 1))
    size = np.diff(np.append(first, len(key)))
    return key[first], values[first + (size - 1) // 2], values[first + size // 2]


def outlier_limit(tests: int, degrees_of_freedom: float, rate: float = 0.01) -> float:
    """Return how many standard deviations one of many values must exceed to be an outlier.

    The quantile of Student's t for the ``degrees_of_freedom`` of the spread, with ``rate`` shared
    out among ``tests`` values (Bonferroni), so that ``rate`` bounds the chance that *any* healthy
    value is called an outlier.
    """
    return _student(max(degrees_of_freedom, 1.0), 1 - rate / max(tests, 1))


# `scipy.special` and `scipy.stats` have all of these; to import them takes longer than to read a
# map, explain it and show it.


@lru_cache(16)
def _binomial(n: int, part: float) -> NDArray[np.float64]:
    """Return the chance of at most 0, 1 … n of n, each of which has the chance ``part``.

    Beyond nine standard deviations it is 0 or 1.
    """
    wide = 1 + 9 * math.sqrt(n * part * (1 - part))
    low, high = max(0, int(n * part - wide)), min(n, int(n * part + wide))
    k = np.arange(low + 1, high + 1)
    ratios = np.log((n + 1 - k) / k * (part / (1 - part)))
    ways = math.lgamma(n + 1) - math.lgamma(low + 1) - math.lgamma(n - low + 1)
    first = ways + low * math.log(part) + (n - low) * math.log1p(-part)
    found = np.ones(n + 1)
    found[:low] = 0.0
    found[low : high + 1] = np.cumsum(np.exp(first + np.append(0.0, np.cumsum(ratios))))
    return np.minimum(found, 1.0)


@lru_cache(64)
def _student(freedom: float, probability: float) -> float:
    """Return a quantile, above the median, of Student's t.

    With t = √ν tan θ its density is that of cos^(ν-1) θ (Johnson, Kotz & Balakrishnan 1995,
    *Continuous Univariate Distributions* 2, 28.2), whose integral is concave: Newton's method comes
    to its root from below. Of fewer than three degrees of freedom the integrand is too steep at its
    end for that, and SciPy, which takes long to import, knows better.
    """
    if freedom < 3:
        from scipy.special import stdtrit

        return float(stdtrit(freedom, probability))
    nodes, weights = np.polynomial.legendre.leggauss(64)
    most = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    angle, step = 0.0, 1.0
    while step > 1e-14 * angle:
        below = weights @ np.cos(angle * (nodes + 1) / 2) ** (freedom - 1) * angle / 2
        step = ((probability - 0.5) / most - below) / math.cos(angle) ** (freedom - 1)
        angle += step
    return math.sqrt(freedom) * math.tan(angle)


def ratio_interval(
    above: tuple[float, float, float], below: tuple[float, float, float]
) -> tuple[float, float]:
    """Enclose the ratio of two positive estimates by their own intervals.

    Each estimate is its value, low and high end. Their distances are added as those of independent
    errors, on the logarithms (Zou & Donner 2008, *Construction of confidence intervals about linear
    combinations of parameters*, Statistics in Medicine 27, 1693-1702: MOVER), so that the interval
    is narrower than that of the worst case. NaN where an end is not known or not positive.
    """
    if not all(value > 0 for value in (*above, *below)):
        return math.nan, math.nan
    (a, a_low, a_high), (b, b_low, b_high) = above, below
    down = math.hypot(math.log(a / a_low), math.log(b_high / b))
    up = math.hypot(math.log(a_high / a), math.log(b / b_low))
    return a / b * math.exp(-down), a / b * math.exp(up)


def _known(values: ArrayLike) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=np.float64).ravel()
    return sample[~np.isnan(sample)]

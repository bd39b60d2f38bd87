"""Statistical inference: intervals, tests of two sides, and verdicts.

Repetitions within one launch are correlated because they share the launch: the location of ranks
and pages, and other programs. Launches of the same program differ by 5 to 30 %, so that a thousand
repetitions of one launch are one observation of the machine (Hunold & Carpen-Amarie 2016,
*Reproducible MPI Benchmarking Is Still Not as Easy as You Think*, IEEE TPDS 27). Each launch is
therefore one number, its log-median.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import exp, hypot, isnan, log, nan
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isochrone.base.arrays import Floats, Ints
from isochrone.base.documents import MaybeNan
from isochrone.base.record import Record
from isochrone.base.stats import binomial, known, mad, median_of, medians_by, outlier_limit
from isochrone.base.verdicts import FASTER, NOT_KNOWN, SAME, SLOWER, Change

FALSE_CHANGE_RATE = 0.05
"""Probability of any wrong ``slower`` or ``faster``, and of an interval without the true value."""

_CONFIDENCE = 1 - FALSE_CHANGE_RATE
_BEYOND = (1 - _CONFIDENCE) / 2
"""On either side of an interval."""

FEW_GROUPS = 6
"""Minimum number of values for a 95 % interval of their median: of 5 it is beyond all in 2/32."""

FLOAT_ROUNDING = 1e-9
"""Relative rounding error."""

_WRITTEN_PRECISION = 1e-4
"""Relative precision of written times, to which simulated ones repeat."""

TRIM = 0.2
"""Fraction of the launches trimmed on either end."""

LEAST_TO_TRIM = 5

RESAMPLES = 2000

FEW_PAIRS = 4
"""Fewer are not resampled: without any difference, one interval of eight (for three pairs) would be
above 1."""

FEW_SPREADS = 4
"""Minimum number of variances to estimate their distribution."""

FEW_TO_SEE_TAILS = 4
"""Minimum number of values of a column: of fewer, the differences from their mean are nearly
normal, whatever the values are."""

MIN_TIME_SPREAD = 2e-3
"""Minimum relative standard deviation, also for exact times of a simulator."""


Interval = tuple[float, float]
"""The lower and the upper end."""

# ---- the verdict -------------------------------------------------------------------------------


def verdict(
    ratio: float,
    low: float,
    high: float,
    *,
    margin: float = 0.0,
    rounding: float = 0.0,
    threshold: float = 0.0,
    sure: bool = True,
) -> Change:
    """Return the verdict on a ratio of times, after / before, with its interval.

    Parameters
    ----------
    ratio, low, high
        The estimate and its 95 % interval; NaN where that is not known.
    margin
        ``same``: the whole interval lies within it, so that equality is proved.
    rounding
        Part of the ratio by which the ends of the interval may be off.
    threshold
        Smaller differences are ``not known``.
    sure
        Whether the difference is significant after correction for multiple tests.
    """
    if low * (1 + margin) >= 1 - FLOAT_ROUNDING and high <= (1 + margin) * (1 + FLOAT_ROUNDING):
        return SAME
    if sure and low * (1 - rounding) > 1 and ratio > 1 + threshold:
        return SLOWER
    if sure and high * (1 + rounding) < 1 and ratio * (1 + threshold) < 1:
        return FASTER
    return NOT_KNOWN


# ---- one sample --------------------------------------------------------------------------------


class Estimate(Record):
    """A median over repetitions, and its 95 % interval; NaN where these are too few."""

    n: int
    median: Annotated[float, "as seconds"]
    low: MaybeNan
    high: MaybeNan

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return not isnan(self.low)

    @property
    def differs(self) -> bool:
        """Whether it is of a ratio, and its interval is known and does not contain 1."""
        return verdict(self.median, self.low, self.high, rounding=_WRITTEN_PRECISION) in (
            FASTER,
            SLOWER,
        )


def estimate(values: Iterable[float]) -> Estimate:
    """Return the median of at least one value, and its interval by `even_median_interval`."""
    sample = np.array(list(values))
    return Estimate(len(sample), median_of(sample), *even_median_interval(sample))


def median_interval(values: ArrayLike, confidence: float = _CONFIDENCE) -> Interval:
    """Return two order statistics that enclose the true median of any distribution.

    The k-th smallest and the k-th largest of n values miss the median only if fewer than k of them
    fall on one side of it, and that number is binomial with n and 1/2 (Le Boudec 2010, *Performance
    Evaluation of Computer and Communication Systems*, theorem 2.1). The largest k that keeps
    ``confidence`` is taken. Fewer than six values cannot reach 95 %: then they are the smallest
    and the largest. An empty sample gives NaN.
    """
    sample = np.sort(known(values))
    n = sample.size
    if not n:
        return nan, nan
    k = _median_order(n, confidence)
    return float(sample[k - 1]), float(sample[n - k])


@lru_cache(maxsize=1024)
def _median_order(n: int, confidence: float = _CONFIDENCE) -> int:
    """Return the order k of the interval of the median of n values."""
    beyond = (1 - confidence) / 2
    return max(1, int(np.searchsorted(binomial(n, 0.5)[: n // 2], beyond, side="right")))


def quantile_interval(values: ArrayLike, fraction: float) -> Interval | None:
    """Return two order statistics that enclose a quantile of any distribution; or None.

    As `median_interval`, for the value that a ``fraction`` of repetitions stays below: the number
    of values below it is binomial with n and ``fraction``, and on either side at most 2.5 % may be
    missed (Le Boudec 2010, theorem 2.1). None where even the largest
    value is below the quantile too often: 72 values are the fewest for 0.95, 368 for 0.99.
    """
    sample = np.sort(known(values))
    below, above = _quantile_orders(sample.size, fraction)
    if below < 1 or above >= sample.size:
        return None
    return float(sample[below - 1]), float(sample[above])


@lru_cache(maxsize=1024)
def _quantile_orders(n: int, fraction: float) -> tuple[int, int]:
    """Return how many of n values are below a quantile at least, and at most."""
    cumulated = binomial(n, fraction)[:n]
    below = int(np.searchsorted(cumulated, _BEYOND, side="right"))  # P(fewer than this) <= _BEYOND
    return below, int(np.searchsorted(cumulated, 1 - _BEYOND, side="left"))


def even_median_interval(values: ArrayLike) -> Interval:
    """Return an interval of the median that holds it with 95 %, and not with more.

    Few values have few order statistics: those of `median_interval` enclose the median of eight at
    99.2 % where 95 % is asked for. Here the two pairs next to 95 % are interpolated so
    that the level is met closely for any distribution (Hettmansperger & Sheather 1986, *Confidence
    intervals based on interpolated order statistics*, Statistics & Probability Letters 4, 75-79).
    Of five values these are the smallest and the largest, which hold it with 93.75 %; fewer cannot
    come near 95 %, and give NaN.
    """
    sample = np.sort(known(values))
    n = sample.size
    if n < FEW_GROUPS - 1:
        return nan, nan
    k = _median_order(n)
    level, next_level = (1 - 2 * binomial(n, 0.5)[[k - 1, k]]).tolist()
    if level < _CONFIDENCE:
        return float(sample[0]), float(sample[-1])
    share = (level - _CONFIDENCE) / (level - next_level)
    weight = (n - k) * share / (k + (n - 2 * k) * share)
    low = (1 - weight) * sample[k - 1] + weight * sample[k]
    high = (1 - weight) * sample[n - k] + weight * sample[n - k - 1]
    return float(low), float(high)


def grouped_median_interval(values: ArrayLike, groups: ArrayLike) -> Interval:
    """Enclose the median of values that are correlated within groups.

    Consecutive repetitions are correlated, so the interval for independent values is far too
    narrow. Each group, such as a pass, is one value: its median. The interval is that of
    `median_interval` over them, widened to include the median of all values.

    Raises
    ------
    ValueError
        If there are fewer than `FEW_GROUPS` groups.
    """
    sample = np.asarray(values, dtype=np.float64)
    keys, middles = medians_by(np.unique(groups, return_inverse=True)[1], sample)
    if len(keys) < FEW_GROUPS:
        raise ValueError(f"{len(keys)} groups are too few for an interval")
    low, high = median_interval(middles)
    middle = median_of(sample)
    return min(low, middle), max(high, middle)


def group_medians(values: Floats, groups: Sequence[Ints]) -> Floats:
    """Return for each launch the median over the columns of a group that all launches have.

    Parameters
    ----------
    values
        Shape (launches, columns), NaN where a launch lacks one.
    groups
        Numbers of columns.

    Returns
    -------
    ndarray of shape (launches, groups)
        NaN for a group without common columns.
    """
    complete = np.asarray(~np.isnan(values).any(axis=0))
    medians = np.full((len(values), len(groups)), np.nan)
    for k, group in enumerate(groups):
        common = group[complete[group]]
        if len(common):
            medians[:, k] = np.median(values[:, common], axis=1)
    return medians


class Means(NamedTuple):
    """Means of columns: their number of values, squared standard error, degrees of freedom.

    The last two are NaN for a single value.
    """

    n: Floats
    middle: Floats
    squared: Floats
    freedom: Floats

    def interval(self, rate: float = FALSE_CHANGE_RATE) -> tuple[Floats, Floats]:
        """Enclose the means (Student 1908, *The probable error of a mean*, Biometrika 6, 1-25)."""
        from scipy.special import stdtrit  # SciPy takes long to import

        half = stdtrit(self.freedom, 1 - rate / 2) * np.sqrt(self.squared)
        return self.middle - half, self.middle + half

    def next_interval(self) -> tuple[Floats, Floats]:
        """Enclose one more value (Hahn & Meeker 1991, *Statistical Intervals*, 4.7)."""
        return self._replace(squared=self.squared * (self.n + 1)).interval()

    def without(self, values: Floats) -> "Means":
        """Return the means without one value of each column; NaN are no values."""
        gone = ~np.isnan(values)
        n = self.n - gone
        off = np.where(gone, values - self.middle, 0.0)
        middle = np.where(n > 0, self.middle - off / np.maximum(n, 1), np.nan)
        squares = self.squared * self.n * self.freedom - off**2 * self.n / np.maximum(n, 1)
        freedom = np.where(n > 1, n - 1, np.nan)
        return Means(n, middle, np.maximum(squares, 0) / freedom / np.maximum(n, 1), freedom)


def means(values: Floats) -> Means:
    """Return the mean of each column without NaN, and its standard error."""
    n = np.sum(~np.isnan(values), axis=0).astype(np.float64)
    middle = np.where(n, np.nansum(values, axis=0) / np.maximum(n, 1), np.nan)
    freedom = np.where(n > 1, n - 1, np.nan)
    return Means(n, middle, np.nansum((values - middle) ** 2, axis=0) / freedom / n, freedom)


def _trimmed_means(values: Floats) -> Means:
    """Return the trimmed mean of each column, and its error by the winsorised variance."""
    launches = len(values)
    cut = int(TRIM * launches)
    remaining = launches - 2 * cut
    inner = np.sort(values, axis=0)[cut : launches - cut]
    pulled_in = np.clip(values, inner[0], inner[-1])
    squared = (launches - 1) * np.var(pulled_in, axis=0, ddof=1) / (remaining * (remaining - 1))
    counts = np.full(values.shape[1], float(remaining))
    return Means(counts, np.mean(inner, axis=0), squared, counts - 1)


def moderated(squared: Floats, freedom: int | Floats) -> tuple[Floats, Floats]:
    """Return variances by empirical-Bayes shrinkage, and their degrees of freedom.

    Five launches give the spread of one pair within a factor of two, but a map has thousands of
    pairs with similar spreads. Each variance is shrunk towards the common one, depending on how
    similar they are (Smyth 2004, *Linear models and empirical Bayes methods for assessing
    differential expression in microarray experiments*, Statistical Applications in Genetics and
    Molecular Biology 3, article 3).

    Parameters
    ----------
    squared
        Variances of log-times.
    freedom
        Degrees of freedom of each: launches - 1.
    """
    from scipy.special import digamma, polygamma

    variances = np.maximum(squared, MIN_TIME_SPREAD**2)
    free = np.broadcast_to(np.asarray(freedom, np.float64), variances.shape)
    if len(variances) < FEW_SPREADS:
        return variances, free
    half = free / 2
    logs = np.log(variances) - digamma(half) + np.log(half)
    excess = float(np.var(logs, ddof=1)) - float(np.mean(polygamma(1, half)))
    if excess <= 0:  # no significant differences: one variance for all
        total = float(np.sum(free))
        return np.full(len(variances), free @ variances / total), np.full(len(variances), total)
    prior = 2 * _trigamma_inverse(excess)
    common = np.exp(np.mean(logs) + digamma(prior / 2) - np.log(prior / 2))
    return (prior * common + free * variances) / (prior + free), free + prior


class Components(NamedTuple):
    """Columns of one kind: their mean, and the variances within and between them.

    ``columns`` have values.
    """

    middle: float
    within: float
    between: float
    columns: int

    def reliability(self, n: Floats | Ints) -> Floats:
        """Return the part of the difference of a mean of n values that is one of its column."""
        total = n * self.between + self.within
        return np.asarray(n * self.between / np.where(total > 0, total, 1.0))

    def next_one(self, n: Floats, middle: Floats) -> tuple[Floats, Floats, float]:
        """Predict one more value of columns that have few values or none.

        Returns
        -------
        middle, squared, freedom
            The best linear prediction (Robinson 1991, *That BLUP is a good thing: the estimation of
            random effects*, Statistical Science 6, 15-32), the variance of a value around it, and
            its degrees of freedom.
        """
        reliability = self.reliability(n)
        mean = (self.between + self.within) / max(self.columns, 1)
        squared = self.within + (1 - reliability) * self.between + (1 - reliability) ** 2 * mean
        shift = np.where(n > 0, reliability * (middle - self.middle), 0.0)
        return self.middle + shift, squared, float(self.columns - 1)


def components(column_means: Means) -> Components:
    """Estimate the variances within and between columns.

    By the analysis of variance of unequal numbers (Searle, Casella & McCulloch 1992, *Variance
    Components*, 3.6). Columns that are the only ones so far off are pulled in: one that is slow
    does not make all others look different. Of columns with one value each, the difference is
    taken as that of repetitions.
    """
    column_means = Means(*(array[column_means.n > 0] for array in column_means))
    n, middle = column_means.n, column_means.middle
    count, total = len(n), float(np.sum(n))
    if count < 2:
        return Components(float("nan"), 0.0, 0.0, count)
    centre, reach = median_of(middle), outlier_limit(count, count - 1) * mad(middle)
    middle = np.clip(middle, centre - reach, centre + reach)
    grand = float(n @ middle) / total
    mean_square = float(n @ (middle - grand) ** 2) / (count - 1)
    if total == count:
        return Components(float(np.mean(middle)), mean_square, 0.0, count)
    within = float(np.nansum(column_means.squared * n * column_means.freedom)) / (total - count)
    typical_n = (total - float(n @ n) / total) / (count - 1)
    between = max((mean_square - within) / typical_n, 0.0)
    return Components(float(np.mean(middle)), max(within, MIN_TIME_SPREAD**2), between, count)


TAILS = (3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0)
"""Degrees of freedom that are tried for tails."""

MOST_FOR_TAILS = 5000
"""Values that tails are estimated from, at most: more take longer and change nothing."""

_SETTLING = 15


def tail_freedom(values: Floats, middle: Floats) -> float:
    """Return the degrees of freedom of Student's distribution that has tails as long as columns.

    The most likely ones (Lange, Little & Taylor 1989, *Robust statistical modeling using the t
    distribution*, Journal of the American Statistical Association 84, 881-896); infinity if normal
    tails are likelier by Akaike's criterion. Values that no normal one reaches are pulled in, so
    that a single bad one does not count as tails.

    Parameters
    ----------
    values, middle
        Columns, and the mean of each; NaN is a missing value.
    """
    from scipy.special import gammaln

    n = np.sum(~np.isnan(values), axis=0)
    enough = n >= FEW_TO_SEE_TAILS
    residuals = (values - middle)[:, enough] * np.sqrt(n[enough] / (n[enough] - 1))
    residuals = residuals[~np.isnan(residuals)]
    residuals = residuals[:: 1 + len(residuals) // MOST_FOR_TAILS]
    scale = mad(residuals)
    if scale <= 0:
        return math.inf
    limit = outlier_limit(len(residuals), len(residuals) - 1)
    squares = np.minimum(np.abs(residuals) / scale, limit) ** 2
    normal = -0.5 * math.log(2 * math.pi * math.e * float(np.mean(squares)))
    likely = {math.inf: normal + 1 / len(residuals)}
    for free in TAILS:
        of = 1.0
        for _ in range(_SETTLING):
            of = float(np.mean((free + 1) * squares / (free + squares / of)))
        constant = float(gammaln((free + 1) / 2) - gammaln(free / 2))
        likely[free] = (
            constant
            - 0.5 * math.log(free * math.pi * of)
            - (free + 1) / 2 * float(np.mean(np.log1p(squares / free / of)))
        )
    return max(likely, key=likely.__getitem__)


def _trigamma_inverse(value: float) -> float:
    """Solve trigamma(x) = value by Newton's steps on 1 / trigamma (Smyth 2004, appendix)."""
    from scipy.special import polygamma

    x = 0.5 + 1 / value
    for _ in range(60):
        at = float(polygamma(1, x))
        step = at * (1 - at / value) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-8 * x:
            break
    return x


# ---- two sides ---------------------------------------------------------------------------------


class Contrast(NamedTuple):
    """Differences of many things at once, as logarithms of ratios; arrays of one length.

    ``error`` is the standard error, ``low`` and ``high`` enclose the change at 95 %, and ``p`` is
    the chance of such a change between equals; NaN where a side has fewer than two launches.
    ``before`` and ``after`` are the logarithms of the times whose ratio it is.
    """

    change: Floats
    error: Floats
    low: Floats
    high: Floats
    p: Floats
    before: Floats
    after: Floats


def contrast(before: Floats, after: Floats, rate: float = FALSE_CHANGE_RATE) -> Contrast:
    """Compare two sides by Welch's test, or by Yuen's where that has more power.

    Welch (1947, *The generalization of "Student's" problem when several different population
    variances are involved*, Biometrika 34) compares means, which one disturbed launch distorts.
    Yuen (1974, *The two-sample trimmed t for unequal population variances*, Biometrika 61) trims
    the fastest and the slowest fifth. From five launches a side on the narrower interval is used,
    each at half of the error rate.

    Parameters
    ----------
    before, after
        Logarithms of times, one row a launch and one column for each thing that is compared; NaN
        where a launch did not measure it.
    rate
        Chance that an interval does not hold the truth.
    """
    sides = means(before), means(after)
    if min(len(before), len(after)) < LEAST_TO_TRIM:
        return _test(*sides, rate)
    complete = ~np.isnan(np.concatenate([before, after])).any(axis=0)
    plain = _test(*sides, np.where(complete, rate / 2, rate))
    trimmed = _test(_trimmed_means(before), _trimmed_means(after), rate / 2)
    narrower = complete & (trimmed.high - trimmed.low < plain.high - plain.low)
    chosen = Contrast(*(np.where(narrower, t, p) for t, p in zip(trimmed, plain, strict=True)))
    return chosen._replace(p=np.minimum(chosen.p * np.where(complete, 2, 1), 1.0))


def _test(left: Means, right: Means, rate: float | Floats) -> Contrast:
    """Compare two estimates; the interval is wrong with a chance of ``rate``."""
    from scipy.special import stdtr, stdtrit

    change = right.middle - left.middle
    error = np.sqrt(left.squared + right.squared)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Satterthwaite's degrees of freedom; infinite for sides without spread
        weight = left.squared**2 / left.freedom + right.squared**2 / right.freedom
        of_t = np.where(weight > 0, (left.squared + right.squared) ** 2 / weight, 1.0)
        p = 2 * stdtr(of_t, -np.abs(change) / error)
    certain = error <= FLOAT_ROUNDING
    p = np.where(certain, np.where(np.abs(change) > FLOAT_ROUNDING, 0.0, 1.0), p)
    half = np.where(certain, 0.0, stdtrit(of_t, 1 - rate / 2) * error)
    return Contrast(change, error, change - half, change + half, p, left.middle, right.middle)


def without_chance(before: Floats, after: Floats) -> Contrast:
    """Compare times that know no chance: any difference beyond rounding is one."""
    middles = means(before).middle, means(after).middle
    change = middles[1] - middles[0]
    p = np.where(np.abs(change) > FLOAT_ROUNDING, 0.0, 1.0)
    return Contrast(change, np.zeros_like(change), change, change, p, *middles)


def holm(chances: Floats) -> Floats:
    """Correct p-values for their number, NaN left out.

    Holm 1979, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of
    Statistics 6, 65-70.
    """
    corrected = np.full(len(chances), np.nan)
    order = np.argsort(chances, kind="stable")[: int(np.sum(~np.isnan(chances)))]
    stepped = chances[order] * (len(order) - np.arange(len(order)))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return corrected


def ratio_interval(
    above: tuple[float, float, float], below: tuple[float, float, float]
) -> Interval:
    """Enclose the ratio of two positive estimates by their own intervals.

    Each estimate is its value, low and high end. Their distances are added as those of independent
    errors, on the logarithms (Zou & Donner 2008, *Construction of confidence intervals about linear
    combinations of parameters*, Statistics in Medicine 27, 1693-1702: MOVER), so that the interval
    is narrower than that of the worst case. NaN where an end is not known or not positive.
    """
    if not all(value > 0 for value in (*above, *below)):
        return nan, nan
    (a, a_low, a_high), (b, b_low, b_high) = above, below
    down = hypot(log(a / a_low), log(b_high / b))
    up = hypot(log(a_high / a), log(b / b_low))
    return a / b * exp(-down), a / b * exp(up)


# ---- launches in turns -------------------------------------------------------------------------


class Speedup(Record):
    """How many times faster the proposed arrangement is.

    Attributes
    ----------
    given, proposed
        Medians over the launches, seconds.
    ratio, low, high
        given / proposed and its 95 % interval.
    launches
        Of each arrangement.
    origin
        Where the times come from: ``measured``, or ``simulated``.
    """

    given: float
    proposed: float
    ratio: float
    low: float
    high: float
    launches: int
    origin: str = "measured"


def speedup(baseline: Sequence[float], proposed: Sequence[float], seed: int = 1) -> Speedup:
    """Compare launches that were made in turn, each given by its median.

    The interval is that of `bootstrap_interval` over turns, because what disturbed the machine
    disturbed both. Two to `FEW_PAIRS` pairs get Student's interval of the logarithms of their
    ratios.
    """
    sides = np.array([baseline, proposed], np.float64)
    middle = np.median(sides, axis=1)
    ratio = float(middle[0] / middle[1])
    if 1 < len(baseline) <= FEW_PAIRS:
        wide = exp(np.ptp(means(np.log(sides[0] / sides[1])).interval()) / 2)
        low, high = ratio / wide, ratio * wide
    else:
        left, right = redrawn_medians(sides, seed)
        low, high = bootstrap_interval(left / right)
    return Speedup(float(middle[0]), float(middle[1]), ratio, low, high, len(baseline))


def redrawn_medians(times: Floats, seed: int = 1) -> Floats:
    """Return medians over turns that are drawn again and again; shape (orders, draws).

    ``times`` has the shape (orders, turns). What disturbed the machine disturbed its neighbours in
    time, so that a turn is drawn as a whole.
    """
    # `scipy.stats.bootstrap` with `paired` is the same; every `isochrone place` would wait for
    # the import of scipy.stats.
    turns = times.shape[1]
    drawn = np.random.default_rng(seed).integers(0, turns, (RESAMPLES, turns))
    return np.asarray(np.median(times[:, drawn], axis=2))


def bootstrap_interval(draws: Floats) -> Interval:
    """Enclose what was drawn again and again; draws that are NaN are left out.

    Percentiles (Efron & Tibshirani 1993, *An Introduction to the Bootstrap*, chapter 13).
    """
    low, high = np.nanquantile(draws, [FALSE_CHANGE_RATE / 2, 1 - FALSE_CHANGE_RATE / 2])
    return float(low), float(high)

"""Is it slower, faster, the same, or not known? Launches of a program are what is repeated.

Repetitions within one launch are alike because they share the launch: where its ranks and pages
are, what else runs. Launches of the same program differ by 5 to 30 %, so that a thousand
repetitions of one launch are still one observation of the machine (Hunold & Carpen-Amarie 2016,
*Reproducible MPI Benchmarking Is Still Not as Easy as You Think*, IEEE TPDS 27). Each launch is
therefore one number, the logarithm of its median.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isnan
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

__all__ = [
    "MARGIN", "RATE", "VERDICTS", "Contrast", "Difference", "contrast", "holm",
    "without_chance",
]  # fmt: skip

Array = NDArray[np.float64]

RATE: Final = 0.05
"""Chance of even one wrong ``slower`` or ``faster``."""

MARGIN: Final = 0.05
"""Times that differ by less than this are the same, unless the user says otherwise."""

TRIM: Final = 0.2
"""Part of the launches that may be disturbed on either end."""

LEAST_TO_TRIM: Final = 5

ROUNDING: Final = 1e-9
"""Relative difference that is only how numbers are written."""

BEYOND_ALL: Final = 700.0
"""Logarithm of a ratio that says nothing more; few launches may know their error that badly."""

VERDICTS: Final = ("slower", "faster", "same", "unclear")


@dataclass(frozen=True)
class Difference:
    """One ratio of times, and what may be said of it.

    Attributes
    ----------
    ratio
        after / before.
    low, high
        Its 95 % interval; None where a side has one launch, which says nothing of the others.
    p
        Chance of such a difference between equal machines, corrected for the number of questions
        asked; None likewise.
    verdict
        ``same``: the interval lies within the margin, so that equality is proved; ``slower`` or
        ``faster``: more than chance, and not within the margin; ``unclear``: not known.
    """

    ratio: float
    low: float | None
    high: float | None
    p: float | None
    verdict: str


class Contrast(NamedTuple):
    """Differences of many things at once, as logarithms of ratios; arrays of one length.

    ``error`` is the standard error, ``low`` and ``high`` enclose the change at 95 %, and ``p`` is
    the chance of such a change between equals; NaN where a side has fewer than two launches.
    """

    change: Array
    error: Array
    low: Array
    high: Array
    p: Array

    def differences(self, corrected: Array, margin: float) -> list[Difference]:
        """Return each, with its p-value as it was corrected, in words."""
        columns = (self.change, self.low, self.high, np.minimum(corrected, 1.0))
        rows = np.column_stack(columns).tolist()
        return [_in_words(change, low, high, p, margin) for change, low, high, p in rows]


def contrast(before: Array, after: Array) -> Contrast:
    """Compare two sides by Welch's test, or by Yuen's where that tells more.

    Welch (1947, *The generalization of "Student's" problem when several different population
    variances are involved*, Biometrika 34) takes means. One launch that was disturbed as a whole
    spoils them; Yuen (1974, *The two-sample trimmed t for unequal population variances*,
    Biometrika 61) leaves out the fastest and the slowest fifth. From five launches a side on the
    one with the narrower interval counts, and each has half of the chance to be wrong.

    Parameters
    ----------
    before, after
        Logarithms of times, one row a launch and one column for each thing that is compared; NaN
        where a launch did not measure it.
    """
    if min(len(before), len(after)) < LEAST_TO_TRIM:
        return _test(_side(before), _side(after), RATE)
    whole = ~np.isnan(np.concatenate([before, after])).any(axis=0)
    plain = _test(_side(before), _side(after), np.where(whole, RATE / 2, RATE))
    trimmed = _test(_trimmed_side(before), _trimmed_side(after), RATE / 2)
    narrower = whole & (trimmed.high - trimmed.low < plain.high - plain.low)
    chosen = Contrast(*(np.where(narrower, t, p) for t, p in zip(trimmed, plain, strict=True)))
    return chosen._replace(p=np.minimum(chosen.p * np.where(whole, 2, 1), 1.0))


def _test(left: _Side, right: _Side, rate: float | Array) -> Contrast:
    """Compare two estimates; the interval is wrong with a chance of ``rate``."""
    change = right.middle - left.middle
    known = (left.freedom > 0) & (right.freedom > 0)
    error = np.where(known, np.sqrt(left.squared + right.squared), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Satterthwaite's degrees of freedom; sides without any spread leave no doubt
        weight = left.squared**2 / left.freedom + right.squared**2 / right.freedom
        of_t = np.where(weight > 0, (left.squared + right.squared) ** 2 / weight, 1.0)
        p = 2 * stdtr(of_t, -np.abs(change) / error)
    certain = known & (error <= ROUNDING)
    p = np.where(certain, np.where(np.abs(change) > ROUNDING, 0.0, 1.0), p)
    half = np.where(certain, 0.0, stdtrit(of_t, 1 - rate / 2) * error)
    return Contrast(change, error, change - half, change + half, np.where(known, p, np.nan))


def without_chance(before: Array, after: Array) -> Contrast:
    """Compare times that know no chance: any difference beyond rounding is one."""
    change = _mean(after) - _mean(before)
    p = np.where(np.abs(change) > ROUNDING, 0.0, 1.0)
    return Contrast(change, np.zeros_like(change), change, change, p)


def holm(chances: Array) -> Array:
    """Correct p-values for their number, NaN left out.

    Holm 1979, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of
    Statistics 6, 65-70.
    """
    corrected = np.full(len(chances), np.nan)
    order = np.argsort(chances, kind="stable")[: int(np.sum(~np.isnan(chances)))]
    stepped = chances[order] * (len(order) - np.arange(len(order)))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return corrected


@dataclass(frozen=True)
class _Side:
    """Estimates of one side: middle, squared standard error, degrees of freedom."""

    middle: Array
    squared: Array
    freedom: Array


def _side(logs: Array) -> _Side:
    """Return the mean of each column, NaN left out."""
    number = np.sum(~np.isnan(logs), axis=0).astype(np.float64)
    mean, freedom = _mean(logs), number - 1
    squares = np.nansum((logs - mean) ** 2, axis=0)
    return _Side(mean, squares / np.maximum(freedom, 1) / np.maximum(number, 1), freedom)


def _trimmed_side(logs: Array) -> _Side:
    """Return the trimmed mean of each column, and its error by the winsorised variance."""
    number = len(logs)
    cut = int(TRIM * number)
    kept = number - 2 * cut
    ordered = np.sort(logs, axis=0)
    inner = ordered[cut : number - cut]
    pulled_in = np.clip(ordered, inner[0], inner[-1])
    squared = (number - 1) * np.var(pulled_in, axis=0, ddof=1) / (kept * (kept - 1))
    return _Side(np.mean(inner, axis=0), squared, np.full(logs.shape[1], kept - 1.0))


def _mean(logs: Array) -> Array:
    number = np.sum(~np.isnan(logs), axis=0)
    return np.asarray(np.where(number, np.nansum(logs, axis=0) / np.maximum(number, 1), np.nan))


def _in_words(change: float, low: float, high: float, p: float, margin: float) -> Difference:
    """Turn logarithms into a ratio and a word."""
    if isnan(p):
        return Difference(exp(change), None, None, None, "unclear")
    ends = exp(low), exp(min(high, BEYOND_ALL))
    return Difference(exp(change), *ends, p, _verdict(exp(change), *ends, p, margin))


def _verdict(ratio: float, low: float, high: float, p: float, margin: float) -> str:
    if low * (1 + margin) >= 1 - ROUNDING and high <= (1 + margin) * (1 + ROUNDING):
        return "same"
    if p >= RATE or low <= 1 <= high:
        return "unclear"
    return "slower" if ratio > 1 else "faster"

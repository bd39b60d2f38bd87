"""Whether a change helped: times before and after it, as a ratio with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

__all__ = ["Speedup", "speedup"]

_RESAMPLES: Final = 2000

_STUDENT: Final = {2: 12.706, 3: 4.303, 4: 3.182}
"""97.5 % quantiles of Student's distribution, by number of pairs."""


@dataclass(frozen=True)
class Speedup:
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


def speedup(given: Sequence[float], proposed: Sequence[float], seed: int = 1) -> Speedup:
    """Compare launches that were made in turn, each given by its median.

    The interval is a percentile bootstrap (Efron & Tibshirani 1993, *An Introduction to the
    Bootstrap*, chapter 13) that draws pairs of neighbouring launches, because what disturbed the
    machine disturbed both. Two to four pairs are too few to be drawn from: where nothing differs,
    one interval of eight (of three pairs) would lie above 1. They get Student's interval of the
    logarithms of their ratios.
    """
    # `scipy.stats.bootstrap` with `paired` is the same; every `isochrone place` would wait for
    # the import of scipy.stats.
    left, right = (np.asarray(side, np.float64) for side in (given, proposed))
    drawn = np.random.default_rng(seed).integers(0, len(left), (_RESAMPLES, len(left)))
    ratios = np.median(left[drawn], axis=1) / np.median(right[drawn], axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    middle = float(np.median(left)), float(np.median(right))
    ratio = middle[0] / middle[1]
    if len(left) in _STUDENT:
        spread = np.std(np.log(left / right), ddof=1) / np.sqrt(len(left))
        wide = float(np.exp(_STUDENT[len(left)] * spread))
        low, high = ratio / wide, ratio * wide
    return Speedup(*middle, ratio, float(low), float(high), len(left))

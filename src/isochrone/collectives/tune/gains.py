"""What one way of doing an operation saves against another one, and how sure that is.

The gain is 1 − chosen / library. Its interval is of the logarithm x of the ratio library / chosen:

* three or more launches that measured both: of each launch one x, from its medians, and Student's
  interval of their mean (1908, *The probable error of a mean*, Biometrika 6): launches differ, and
  what both have in common cancels;
* fewer: of each pass, in which both were measured in turn, one x, and the order statistics that
  enclose their median, whatever the distribution (`isochrone.base.stats.median_interval`). It is
  of these launches: another one may be slower or faster by more;
* launches that measured one each: Welch's interval (1947, Biometrika 34) of the difference of the
  mean logarithms of the launches, from three of each on; of fewer launches that of their passes,
  but only where the other side has to be ruled out and not to be chosen.

Where one of k candidates is to be chosen by the same data, the fastest looks better than it is.
Each interval then has the confidence 1 − 0.05 / k (Bonferroni), so that of choices between equals
at most one in twenty is wrong, at each size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, log
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from isochrone.base.documents import Hidden, MaybeNan, shown
from isochrone.base.stats import median_interval
from isochrone.collectives.tune.times import Times

__all__ = ["FEWEST_LAUNCHES", "RATE", "Gain", "gain", "median_of"]

RATE: Final = 0.05
"""Chance that an interval does not hold the truth, over all candidates of a point."""

FEWEST_LAUNCHES: Final = 3


@dataclass(frozen=True)
class Gain:
    """Part of the library's time that is saved.

    Attributes
    ----------
    library, chosen
        Medians, seconds.
    low, high
        Interval of the gain; -inf and 1 where too little was measured to have one.
    launches
        Of those it rests on; 0: it rests on passes.
    """

    library: float
    chosen: float
    low: MaybeNan
    high: MaybeNan
    launches: Hidden[int]

    @property
    @shown
    def part(self) -> Annotated[float, "as gain"]:
        """The gain."""
        return 1 - self.chosen / self.library


def median_of(times: Times) -> float:
    """Return the median over the launches of their medians over the passes."""
    return float(np.median([_of_launch(passes) for passes in times.values()]))


def gain(
    library: Times,
    chosen: Times,
    *,
    candidates: int = 1,
    exact: bool = False,
    by_passes: bool = False,
) -> Gain:
    """Compare two ways of doing an operation.

    Parameters
    ----------
    library, chosen
        Their times.
    candidates
        How many there were to choose from.
    exact
        Whether the times know no chance, as in a simulation.
    by_passes
        Whether launches of one each may be compared by their passes, where they are few.
    """
    both = sorted(library.keys() & chosen.keys())
    least, own = (times if not both else {k: times[k] for k in both} for times in (library, chosen))
    before, after = median_of(least), median_of(own)
    confidence = 1 - RATE / candidates
    launches = 0
    if exact:
        low = high = log(before / after)
    elif len(both) >= FEWEST_LAUNCHES:
        launches = len(both)
        low, high = _student(_launches(least) - _launches(own), confidence)
    elif both:
        low, high = _ordered(_passes(least, own), confidence)
    else:
        launches = min(len(library), len(chosen))
        sides = _launches(library), _launches(chosen)
        if launches < FEWEST_LAUNCHES and by_passes:
            launches, sides = 0, (_all_passes(library), _all_passes(chosen))
        low, high = _welch(*sides, confidence)
    return Gain(before, after, 1 - exp(-low), 1 - exp(-high), launches)


def _of_launch(passes: Mapping[int, float]) -> float:
    return float(np.median(list(passes.values())))


def _launches(times: Times) -> NDArray[np.float64]:
    return np.log([_of_launch(times[launch]) for launch in sorted(times)])


def _all_passes(times: Times) -> NDArray[np.float64]:
    return np.log([seconds for passes in times.values() for seconds in passes.values()])


def _passes(library: Times, chosen: Times) -> NDArray[np.float64]:
    """Return the logarithm of the ratio of each pass that measured both."""
    found = [
        log(library[launch][turn] / chosen[launch][turn])
        for launch in library
        for turn in library[launch].keys() & chosen[launch].keys()
    ]
    return np.array(found)


def _ordered(values: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """Enclose the median; n values cannot if all lie on one side of it too often, in 2^(1-n)."""
    if 2.0 ** (1 - len(values)) > 1 - confidence:
        return -inf, inf
    return median_interval(values, confidence)


def _student(values: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5
    half = float(stdtrit(len(values) - 1, (1 + confidence) / 2)) * error
    return float(values.mean()) - half, float(values.mean()) + half


def _welch(
    library: NDArray[np.float64], chosen: NDArray[np.float64], confidence: float
) -> tuple[float, float]:
    if min(len(library), len(chosen)) < FEWEST_LAUNCHES:  # or passes
        return -inf, inf
    parts = [float(np.var(side, ddof=1)) / len(side) for side in (library, chosen)]
    middle = float(library.mean() - chosen.mean())
    if not sum(parts):
        return middle, middle
    weights = [p * p / (len(side) - 1) for p, side in zip(parts, (library, chosen), strict=True)]
    freedom = sum(parts) ** 2 / sum(weights)
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * sum(parts) ** 0.5
    return middle - half, middle + half

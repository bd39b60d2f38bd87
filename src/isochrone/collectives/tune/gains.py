"""Relative gain of one algorithm over another, with its confidence interval.

The gain is 1 − chosen / library. Its interval is of the logarithm x of the ratio library / chosen:

* three or more launches that measured both: of each launch one x, from its medians, and Student's
  interval of their mean (1908, *The probable error of a mean*, Biometrika 6): differences between
  launches that affect both cancel;
* fewer: of each pass, in which both were measured in turn, one x, and the order statistics that
  enclose their median, whatever the distribution (`isochrone.base.inference.median_interval`). It
  holds for these launches; others may differ by more;
* launches that measured one each: the interval of `isochrone.base.inference.contrast`, from three
  of each on; of fewer launches that of their passes, but only to exclude a candidate, never to
  choose one.

Choosing the fastest of k candidates by the same data is biased. Each interval then has the
confidence 1 − 0.05 / k (Bonferroni), so that at most one in twenty choices between equals is wrong,
at each size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, log
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.documents import Hidden, MaybeNan, shown
from isochrone.base.inference import RATE, contrast, means, median_interval
from isochrone.collectives.tune.times import Times

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
    """Compare two algorithms of an operation.

    Parameters
    ----------
    library, chosen
        Their times.
    candidates
        How many there were to choose from.
    exact
        Whether the times are deterministic, as in a simulation.
    by_passes
        Whether launches of one each may be compared by their passes, where they are few.
    """
    both = sorted(library.keys() & chosen.keys())
    least, own = (times if not both else {k: times[k] for k in both} for times in (library, chosen))
    before, after = median_of(least), median_of(own)
    rate = RATE / candidates
    launches = 0
    low, high = -inf, inf
    if exact:
        low = high = log(before / after)
    elif len(both) >= FEWEST_LAUNCHES:
        launches = len(both)
        low, high = map(float, means(_launches(least) - _launches(own)).interval(rate))
    elif both:
        ratios = _passes(least, own)
        if 2.0 ** (1 - len(ratios)) <= rate:  # all may be on one side of the median
            low, high = median_interval(ratios, 1 - rate)
    else:
        launches = min(len(library), len(chosen))
        sides = _launches(chosen), _launches(library)
        if launches < FEWEST_LAUNCHES and by_passes:
            launches, sides = 0, (_all_passes(chosen), _all_passes(library))
        if min(map(len, sides)) >= FEWEST_LAUNCHES:  # or passes
            found = contrast(sides[0][:, None], sides[1][:, None], rate)
            low, high = float(found.low[0]), float(found.high[0])
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

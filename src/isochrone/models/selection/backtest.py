"""Extrapolation of ranks, tried on what was measured: fit without the largest, and predict them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.base.stats import median_of
from isochrone.base.table import grouped
from isochrone.models.data.observations import Observations
from isochrone.models.data.placement import PLACES
from isochrone.models.data.terms import Selector, picked, variables_of
from isochrone.models.formulas.segment import Segment, Widening
from isochrone.models.selection.choice import Fitted
from isochrone.models.thresholds import (
    BELIEVED_SHARE,
    ERROR_GROWTH,
    MAX_TRIAL_ERROR,
    MIN_FIT_VALUES,
)

PARTS = (2, 4)
"""What is beyond a half, and beyond a quarter, of the largest value is predicted from the rest."""


_UNTRIED = (0.1, 0.3)
"""What is added where nothing could be tried, at twice and at four times the largest value."""


class Backtest(msgspec.Struct):
    """How well larger values of a variable were predicted from smaller ones.

    Attributes
    ----------
    where, variable
        Operation and variable.
    upto
        Largest value that was fitted.
    values
        Those that were predicted.
    average, maximum
        |measured - predicted| / predicted.
    """

    where: dict[str, Selector]
    variable: str
    upto: float
    values: list[float]
    average: float
    maximum: float


@dataclass(frozen=True)
class _Trial:
    """Points that were predicted from smaller ones.

    Attributes
    ----------
    part
        Of the largest value, the part up to which was fitted: a half, or a quarter.
    upto
        Largest value that was fitted.
    values
        Those that were predicted, shape (n,).
    octaves
        How far they are beyond the largest fitted value of their size.
    off, excess
        By how much a prediction was off as a part of itself, in all and beyond its own interval.
    """

    part: int
    upto: float
    values: Floats
    octaves: Floats
    off: Floats
    excess: Floats

    @property
    def away(self) -> Floats:
        """How far predictions were off; where the formula gave no time, by 100 %."""
        return np.where(np.isnan(self.off), 1.0, np.abs(self.off))

    def worst(self, doubling: int) -> float:
        """Return the largest excess within the first or second doubling; 0 without any point."""
        within = (self.octaves > doubling - 1) & (self.octaves <= doubling + 0.01)
        return float(np.max(self.excess[within], initial=0.0))


def backtested(
    fitted: Fitted, refit: Callable[[Observations, Segment], Segment], weights: str
) -> list[Backtest]:
    """Try how well ranks are extrapolated, and widen the intervals beyond them by what was seen.

    Each segment is tried by its own points, so that one which begins late is not judged by others.

    Parameters
    ----------
    fitted
        Its segments get `beyond`.
    refit
        Chooses and fits the formula of a segment to fewer observations.
    """
    observed = fitted.observed
    if "p" not in observed.variables:
        return []
    every: list[_Trial] = []
    for segment, segment_fit in zip(fitted.segments, fitted.parts, strict=True):
        points = observed.only(segment_fit.mask)
        trials = list(_trials(points, segment, refit, weights))
        every += trials
        if trials:
            segment.tried = float(trials[0].away.mean())
        if {"p", *PLACES} & set(variables_of(segment.terms)):
            segment.beyond["p"] = _widening(trials, float(_largest(points.variables).min()))
    return [_summed(observed, trials) for trials in grouped((t.part, t) for t in every).values()]


def _summed(observed: Observations, trials: Sequence[_Trial]) -> Backtest:
    """Put the trials of all segments together."""
    away = np.concatenate([trial.away for trial in trials])
    values = np.unique(np.concatenate([trial.values for trial in trials]))
    return Backtest(
        observed.where,
        "p",
        max(trial.upto for trial in trials),
        values.tolist(),
        float(away.mean()),
        float(away.max()),
    )


def _trials(
    points: Observations,
    segment: Segment,
    refit: Callable[[Observations, Segment], Segment],
    weights: str,
) -> Iterator[_Trial]:
    """Predict the largest numbers of ranks of a segment from the others.

    What is large is said of each message size, so that a single far point does not decide.
    """
    variables, values = points.variables, points.variables["p"]
    placement = [variables[name] for name in PLACES if name in variables]
    largest = _largest(variables)
    for divisor in PARTS:
        small = values <= largest / divisor
        if len(np.unique(values[small])) < MIN_FIT_VALUES or small.all():
            continue
        # the small runs know nothing of what nodes cost, or of several ranks on one
        if any(np.ptp(column[small]) == 0 < np.ptp(column) for column in placement):
            continue
        try:
            fewer = refit(points.only(small), segment)
        except InputError:
            continue
        beyond = points.only(~small)
        upto = np.maximum(_largest(picked(variables, small)).max(), 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            seconds, low, high = fewer.evaluate(beyond.variables, weights)
            ratio = beyond.seconds / np.where(seconds > 0, seconds, np.nan)
            away = np.abs(np.log(ratio))
            half = np.where(ratio > 1, np.log(high / seconds), np.log(seconds / low))
        excess = np.expm1(np.maximum(away - BELIEVED_SHARE * half, 0.0))
        # not a number where the formula gave no time
        excess = np.where(np.isnan(excess), MAX_TRIAL_ERROR, excess)
        octaves = np.log2(np.maximum(values[~small] * divisor / largest[~small], 1.0))
        excess = np.minimum(excess, MAX_TRIAL_ERROR)
        yield _Trial(divisor, float(upto), values[~small], octaves, ratio - 1, excess)


def _largest(variables: Mapping[str, Floats]) -> Floats:
    """Return for each point the most ranks that were measured of its size; shape (n,).

    They are no fewer than the median of the sizes: fewer of a size are no end of it.
    """
    values = variables["p"]
    if "b" not in variables:
        return np.full(len(values), values.max(initial=1.0))
    group = np.unique(variables["b"], return_inverse=True)[1].ravel()
    maxima = np.zeros(group.max(initial=0) + 1)
    np.maximum.at(maxima, group, values)
    return np.maximum(maxima[group], median_of(maxima[group]))


def _widening(trials: Sequence[_Trial], upto: float) -> Widening:
    """Return by how much predictions beyond ``upto`` may be off more.

    That is the most that was seen, and grows from one doubling to the next.
    """
    if not trials:
        return Widening([_UNTRIED[0]], [_UNTRIED[1]], upto)
    once = ERROR_GROWTH * trials[0].worst(1)
    return Widening(
        [once], [max(ERROR_GROWTH * trials[-1].worst(2), (1 + ERROR_GROWTH) * once)], upto
    )

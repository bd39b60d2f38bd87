"""Extrapolation of ranks, tried on what was measured: fit without the largest, and predict them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.base.stats import median_of, quantile
from isochrone.base.table import grouped
from isochrone.models.data.observations import Observations
from isochrone.models.data.placement import PLACES
from isochrone.models.data.terms import Selector, picked, variables_of
from isochrone.models.formulas.segment import Segment, Widening
from isochrone.models.selection.choice import Fitted
from isochrone.models.thresholds import BEYOND, MIN_FIT_VALUES

PARTS = (2, 4)
"""What is beyond a half, and beyond a quarter, of the largest value is predicted from the rest."""


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
    off
        By how much a prediction was off as a part of itself; NaN where the formula gave no time.
    """

    part: int
    upto: float
    values: Floats
    off: Floats

    @property
    def away(self) -> Floats:
        """How far predictions were off; where the formula gave no time, by 100 %."""
        return np.where(np.isnan(self.off), 1.0, np.abs(self.off))


def backtested(fitted: Fitted, refit: Callable[[Observations, Segment], Segment]) -> list[Backtest]:
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
        trials = list(_trials(points, segment, refit))
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
    upto = max(trial.upto for trial in trials)  # a size may end at fewer
    return Backtest(
        observed.where,
        "p",
        upto,
        values[values > upto].tolist() or values.tolist(),
        float(away.mean()),
        float(away.max()),
    )


def _trials(
    points: Observations,
    segment: Segment,
    refit: Callable[[Observations, Segment], Segment],
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
            seconds = fewer.seconds(beyond.variables)
            off = beyond.seconds / np.where(seconds > 0, seconds, np.nan) - 1
        yield _Trial(divisor, float(upto), values[~small], off)


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
    """Return by how much predictions beyond ``upto`` may be off, the same for each doubling.

    That is what 95 % of those were off that could be tried; if none could, those of other machines.
    """
    logs = np.abs(np.log1p(np.nan_to_num(trials[0].off, nan=1.0))) if trials else np.array([BEYOND])
    once = float(np.expm1(quantile(logs, 0.95)))
    return Widening([once], [(1 + once) ** 2 - 1], upto)

"""Extrapolation of ranks, tried on what was measured: fit without the largest, and predict them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from isochrone.base.errors import InputError
from isochrone.models.auto import Fitted
from isochrone.models.choice import overdetermined
from isochrone.models.cross_validation import SegmentFit
from isochrone.models.model import Backtest, Model
from isochrone.models.observations import Observations
from isochrone.models.placement import PLACES
from isochrone.models.questions import needed
from isochrone.models.segment import LEAST_SPREAD, Segment, Widening
from isochrone.models.splits import TOLERANCE
from isochrone.models.terms import design_matrix, picked

Array = NDArray[np.float64]

PARTS: Final = (2, 4)
"""What is beyond a half, and beyond a quarter, of the largest value is predicted from the rest."""

_FEWEST: Final = 3
"""Values of the variable that a fit needs."""

_GROWTH: Final = (1.5, 3.0)
"""How much an error may grow from one doubling to the next."""

_UNKNOWN_GROWTH: Final = 2.0
"""The same if it was seen once."""

_BELIEVED: Final = 0.5
"""Part of an interval that is believed. Points are few where a fit without the largest is tried, so
its intervals are wide, and hide that the formula is wrong."""

_MISFIT: Final = 2.0
"""Deviations of so many times the noise are of the formula."""

_CHANCE: Final = 0.2
"""Probability with which a right formula fails to stand the test."""

_COMMON: Final = 0.75
"""Part of the points of a segment whose error every point has to expect."""

_MOST: Final = 10.0
"""An error that is larger tells no more."""


@dataclass(frozen=True)
class _Trial:
    """Points that were predicted from smaller ones.

    Attributes
    ----------
    upto
        Largest value that was fitted.
    points
        Indices of those that were predicted, shape (n,).
    octaves
        How far they are beyond ``upto``.
    off, excess
        By how much a prediction was off as a part of itself, in all and beyond its own interval.
    """

    upto: float
    points: NDArray[np.intp]
    octaves: Array
    off: Array
    excess: Array

    @property
    def away(self) -> Array:
        """How far predictions were off; where the formula gave no time, by 100 %."""
        return np.where(np.isnan(self.off), 1.0, np.abs(self.off))


def backtested(
    fitted: Fitted, refit: Callable[[Observations], Fitted], weights: str
) -> list[Backtest]:
    """Try how well ranks are extrapolated, and widen the intervals beyond them by what was seen.

    Parameters
    ----------
    fitted
        Its segments get `beyond`.
    refit
        Fits fewer observations in the same way.
    """
    observed = fitted.observed
    if "p" not in observed.variables:
        return []
    trials = list(_trials(observed, refit, weights))
    sizes = observed.variables["b"] if "b" in needed(fitted.segments) else None
    for segment, part in zip(fitted.segments, fitted.parts, strict=True):
        if trials and "p" in segment.fitted and not _stands(segment, part, observed):
            segment.beyond["p"] = _widening(trials, sizes, np.flatnonzero(part.mask))
    values = observed.variables["p"]
    return [
        Backtest(
            observed.where, "p", trial.upto, np.unique(values[trial.points]).tolist(),
            float(trial.away.mean()), float(trial.away.max()),
        )
        for trial in trials
    ]  # fmt: skip


def _stands(segment: Segment, part: SegmentFit, observed: Observations) -> bool:
    """Whether the points beyond a half, and a quarter, are what the formula says of the others.

    The test is that of Chow (1960, *Tests of equality between sets of coefficients in two linear
    regressions*, Econometrica 28, 591-605) for predictions: whether the squares that the far points
    add are those of the noise.
    """
    if "p" in segment.range:  # it was cut there because it did not go on
        return False
    if observed.noise and part.fit.sigma > _MISFIT * max(observed.noise, TOLERANCE):
        return False
    own = observed.only(part.mask)
    columns = design_matrix(segment.terms, own.variables) * part.fit.weights[:, None]
    target = own.seconds * part.fit.weights
    scale = LEAST_SPREAD * np.sqrt(np.mean(target**2))
    value, tested = own.variables["p"], 0
    for share in PARTS:
        near = value <= observed.variables["p"].max() / share
        far, left = int(np.sum(~near)), int(np.sum(near)) - columns.shape[1]
        enough = left > 0 and far > 0 and overdetermined(segment.terms, own.only(near).variables)
        found = _squares(columns[near], target[near]) if enough else None
        if found is None:
            continue
        tested += 1
        added = np.sum((target - part.fit.predicted * part.fit.weights) ** 2) - found
        ratio = (added / far) / max(found / left, scale**2)
        if fdtrc(far, left, max(ratio, 0.0)) < _CHANCE:
            return False
    return tested > 0


def _squares(columns: Array, target: Array) -> float | None:
    """Return what least squares leave; None if the columns depend on each other."""
    length = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    found, _, rank, _ = np.linalg.lstsq(columns / length, target, rcond=1e-8)
    if rank < len(length):
        return None
    return float(np.sum((target - columns / length @ found) ** 2))


def _trials(
    observed: Observations, refit: Callable[[Observations], Fitted], weights: str
) -> Iterator[_Trial]:
    values = observed.variables["p"]
    places = [observed.variables[name] for name in PLACES if name in observed.variables]
    for part in PARTS:
        near = values <= values.max() / part
        if len(np.unique(values[near])) < _FEWEST:
            continue
        # the small runs know nothing of what nodes cost, or of several ranks on one
        if any(np.ptp(column[near]) == 0 < np.ptp(column) for column in places):
            continue
        upto = float(values[near].max())
        beyond = np.flatnonzero(~near)
        try:
            found = Model(refit(observed.only(near)).segments, weights=weights).predict(
                picked(observed.variables, beyond)
            )
        except InputError:
            continue
        off = observed.seconds[beyond] / found.seconds - 1
        half = np.where(off > 0, found.high - found.seconds, found.seconds - found.low)
        excess = np.maximum(np.abs(off) - _BELIEVED * half / found.seconds, 0.0)
        excess = np.where(np.isnan(excess), _MOST, excess)  # the formula gave no time there
        octaves = np.log2(values[beyond] / upto)
        yield _Trial(upto, beyond, octaves, off, np.minimum(excess, _MOST))


def _widening(trials: Sequence[_Trial], sizes: Array | None, mine: NDArray[np.intp]) -> Widening:
    """Return by how much predictions at twice and at four times the largest value may be off more.

    That is what was seen last, and grows by as much from one doubling to the next as it did.
    """
    last, first = trials[0], trials[-1]
    growth = _UNKNOWN_GROWTH  # of errors from one doubling to the next
    if last is not first:
        before, after = (
            float(np.mean(excess)) if excess.size else 0.0
            for trial in (first, last)
            for excess in [trial.excess[np.isin(trial.points, mine) & (trial.octaves < 1.01)]]
        )
        if before > 0:
            growth = float(np.clip(after / before, *_GROWTH))

    def ahead(points: NDArray[np.intp]) -> tuple[float, float]:
        once = growth * _seen(last, points, 0, 1)
        twice = growth * _seen(first, points, 1, 2)
        return once, max(twice, (1 + growth) * once)

    if sizes is None:
        once, twice = ahead(mine)
        return Widening([once], [twice])
    at = np.unique(sizes[mine])
    own = [ahead(mine[sizes[mine] == size]) for size in at]
    usual = growth * _seen(last, mine, 0, 1, _COMMON), growth * _seen(first, mine, 1, 2, _COMMON)
    return Widening(
        [max(usual[0], once) for once, _ in own],
        [max(usual[1], (1 + growth) * usual[0], twice) for _, twice in own],
        "b", at.tolist(),
    )  # fmt: skip


def _seen(
    trial: _Trial, mine: NDArray[np.intp], above: float, upto: float, part: float = 1.0
) -> float:
    """Return the excess of a part of some points that are so many octaves beyond; 0 without any."""
    chosen = np.isin(trial.points, mine)
    chosen &= (trial.octaves > above) & (trial.octaves <= upto + 0.01)
    return float(np.quantile(trial.excess[chosen], part)) if chosen.any() else 0.0

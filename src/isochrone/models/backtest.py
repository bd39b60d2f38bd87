"""Extrapolation of ranks, tried on what was measured: fit without the largest, and predict them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.base.stats import median_of, quantile
from isochrone.base.table import grouped
from isochrone.models.auto import Fitted
from isochrone.models.choice import overdetermined
from isochrone.models.deviation import MAX_GROUPS, log_ratio
from isochrone.models.linear import Fit
from isochrone.models.model import Backtest
from isochrone.models.observations import Observations
from isochrone.models.placement import PLACES
from isochrone.models.questions import needed
from isochrone.models.segment import LEAST_SPREAD, Segment, Widening, by_formula
from isochrone.models.splits import TOLERANCE
from isochrone.models.terms import design_matrix, picked, variables_of

PARTS = (2, 4)
"""What is beyond a half, and beyond a quarter, of the largest value is predicted from the rest."""

_FEWEST = 3
"""Values of the variable that a fit needs."""

_GROWTH = (1.5, 3.0)
"""How much an error may grow from one doubling to the next."""

_UNKNOWN_GROWTH = 2.0
"""The same if it was seen once."""

_BELIEVED = 0.5
"""Part of an interval that is believed. Points are few where a fit without the largest is tried, so
its intervals are wide, and hide that the formula is wrong."""

_MISFIT = 2.0
"""Deviations of so many times the noise are of the formula."""

_CHANCE = 0.2
"""Probability with which a right formula fails to stand the test."""

_UNTRIED = (0.1, 0.3)
"""What is added where nothing could be tried, at twice and at four times the largest value."""

_COMMON = 0.75
"""Part of the points of a segment whose error every point has to expect."""

_NEARLY = 0.26
"""Octaves that count as the same: from a half to one beyond is what is found at twice the ranks."""

_MOST = 10.0
"""An error that is larger tells no more."""


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
    sizes
        Message size of each; 0 without any.
    octaves
        How far they are beyond ``upto``.
    off, excess
        By how much a prediction was off as a part of itself, in all and beyond its own interval.
    """

    part: int
    upto: float
    values: Floats
    sizes: Floats
    octaves: Floats
    off: Floats
    excess: Floats

    @property
    def away(self) -> Floats:
        """How far predictions were off; where the formula gave no time, by 100 %."""
        return np.where(np.isnan(self.off), 1.0, np.abs(self.off))


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
    found: list[_Trial] = []
    for segment, part in zip(fitted.segments, fitted.parts, strict=True):
        own = observed.only(part.mask)
        trials = list(_trials(own, segment, refit, weights))
        found += trials
        if trials:
            segment.tried = float(trials[0].away.mean())
        if {"p", *PLACES} & set(variables_of(segment.terms)) and not (
            trials and _stands(segment, part.fit, own, observed.variables["p"].max())
        ):
            short = len(trials) < len(PARTS)
            least = _broken_off(fitted, segment, own) if short else (0.0, 0.0)
            segment.beyond["p"] = _widening(trials, least, segment, own)
    by_part = grouped((trial.part, trial) for trial in found)
    return [_summed(observed, trials) for trials in by_part.values()]


def _summed(observed: Observations, trials: Sequence[_Trial]) -> Backtest:
    """Put the trials of all segments together."""
    away = np.concatenate([trial.away for trial in trials])
    values = np.unique(np.concatenate([trial.values for trial in trials]))
    return Backtest(
        observed.where, "p", max(trial.upto for trial in trials), values.tolist(),
        float(away.mean()), float(away.max()),
    )  # fmt: skip


def _stands(segment: Segment, fit: Fit, own: Observations, most: float) -> bool:
    """Whether the points beyond a half, and a quarter, are what the formula says of the others.

    The test is that of Chow (1960, *Tests of equality between sets of coefficients in two linear
    regressions*, Econometrica 28, 591-605) for predictions: whether the squares that the far points
    add are those of the noise.
    """
    if "p" in segment.range:  # it was cut there because it did not go on
        return False
    if own.noise and fit.sigma > _MISFIT * max(own.noise, TOLERANCE):
        return False
    columns = design_matrix(segment.terms, own.variables) * fit.weights[:, None]
    target = own.seconds * fit.weights
    scale = LEAST_SPREAD * np.sqrt(np.mean(target**2))
    value, tested = own.variables["p"], 0
    for share in PARTS:
        near = value <= most / share
        far, left = int(np.sum(~near)), int(np.sum(near)) - columns.shape[1]
        enough = left > 0 and far > 0 and overdetermined(segment.terms, own.only(near).variables)
        found = _squares(columns[near], target[near]) if enough else None
        if found is None:
            continue
        tested += 1
        added = np.sum((target - fit.predicted * fit.weights) ** 2) - found
        ratio = (added / far) / max(found / left, scale**2)
        if fdtrc(far, left, max(ratio, 0.0)) < _CHANCE:
            return False
    return tested > 0


def _squares(columns: Floats, target: Floats) -> float | None:
    """Return what least squares leave; None if the columns depend on each other."""
    length = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    found, _, rank, _ = np.linalg.lstsq(columns / length, target, rcond=1e-8)
    if rank < len(length):
        return None
    return float(np.sum((target - columns / length @ found) ** 2))


def _trials(
    own: Observations, segment: Segment, refit: Callable[[Observations, Segment], Segment],
    weights: str,
) -> Iterator[_Trial]:  # fmt: skip
    """Predict the largest numbers of ranks of a segment from the others.

    What is large is said of each message size, so that a single far point does not decide.
    """
    variables, values = own.variables, own.variables["p"]
    places = [variables[name] for name in PLACES if name in variables]
    largest = _largest(variables)
    largest = np.maximum(largest, median_of(largest))  # fewer of a size are no end of it
    for part in PARTS:
        near = values <= largest / part
        if len(np.unique(values[near])) < _FEWEST or near.all():
            continue
        # the small runs know nothing of what nodes cost, or of several ranks on one
        if any(np.ptp(column[near]) == 0 < np.ptp(column) for column in places):
            continue
        try:
            found = refit(own.only(near), segment)
        except InputError:
            continue
        beyond = own.only(~near)
        upto = np.maximum(_largest(picked(variables, near)).max(), 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            seconds, low, high = found.evaluate(beyond.variables, weights)
            ratio = beyond.seconds / np.where(seconds > 0, seconds, np.nan)
            away = np.abs(np.log(ratio))
            half = np.where(ratio > 1, np.log(high / seconds), np.log(seconds / low))
        excess = np.expm1(np.maximum(away - _BELIEVED * half, 0.0))
        excess = np.where(np.isnan(excess), _MOST, excess)  # the formula gave no time there
        ranks, size = values[~near], beyond.variables.get("b", np.zeros(len(beyond)))
        octaves = np.log2(np.maximum(ranks * part / largest[~near], 1.0))
        excess = np.minimum(excess, _MOST)
        yield _Trial(part, float(upto), ranks, size, octaves, ratio - 1, excess)


def _largest(variables: Mapping[str, Floats]) -> Floats:
    """Return for each point the most ranks that were measured of its size; shape (n,)."""
    values = variables["p"]
    if "b" not in variables:
        return np.full(len(values), values.max(initial=1.0))
    group = np.unique(variables["b"], return_inverse=True)[1].ravel()
    most = np.zeros(group.max() + 1)
    np.maximum.at(most, group, values)
    return most[group]


def _broken_off(fitted: Fitted, segment: Segment, own: Observations) -> tuple[float, float]:
    """Return by how much formulas of fewer ranks miss a segment at twice and four times their most.

    What comes after a segment that is too short to be tried itself may be as far off.
    """
    start = segment.range.get("p", (None, None))[0] or 0.0
    below = [
        one for one in fitted.segments
        if (one.range.get("p", (None, None))[1] or np.inf) <= start
        and one.fitted.get("nodes", (1, 2))[1] > 1  # that several nodes differ from one is known
    ]  # fmt: skip
    if not below:
        return 0.0, 0.0
    owner, seconds = by_formula(below, own.variables)
    off = np.expm1(log_ratio(seconds, own.seconds))
    octaves = np.log2(own.variables["p"] / np.array([one.fitted["p"][1] for one in below])[owner])
    once, twice = (
        max(
            quantile(near, _COMMON)
            if (near := off[(owner == k) & (abs(octaves - ahead) <= _NEARLY)]).size else 0.0
            for k in range(len(below))
        )
        for ahead in (0.75, 1.75)
    )  # fmt: skip
    return min(once, _MOST), min(max(twice, 2 * once), _MOST)


def _widening(
    trials: Sequence[_Trial], least: tuple[float, float], segment: Segment, own: Observations
) -> Widening:
    """Return by how much predictions at twice and at four times the largest value may be off more.

    That is what was seen last, and grows by as much from one doubling to the next as it did. What
    could not be tried may be off by `_UNTRIED`.
    """
    sizes = own.variables.get("b") if "b" in needed([segment]) else None
    if sizes is not None and len(np.unique(sizes)) > MAX_GROUPS:  # hardly two points of each
        sizes = None
    growth = _growth(trials)

    def ahead(size: float | None, part: float = 1.0) -> tuple[float, float]:
        if not trials:
            return max(_UNTRIED[0], least[0]), max(_UNTRIED[1], least[1])
        once = max(growth * _seen(trials[0], size, 0, 1, part), least[0])
        twice = max(growth * _seen(trials[-1], size, 1, 2, part), least[1])
        return once, max(twice, (1 + growth) * once)

    if sizes is None:
        once, twice = ahead(None)
        return Widening([once], [twice])
    at = np.unique(sizes)
    each = np.maximum([ahead(size) for size in at], ahead(None, _COMMON))
    upto = [float(own.variables["p"][sizes == size].max()) for size in at]
    return Widening(each[:, 0].tolist(), each[:, 1].tolist(), "b", at.tolist(), upto)


def _growth(trials: Sequence[_Trial]) -> float:
    """Return by how much errors grow from one doubling to the next."""
    if len(trials) < 2:
        return _UNKNOWN_GROWTH
    after, before = (
        float(np.mean(near)) if (near := trial.excess[trial.octaves < 1.01]).size else 0.0
        for trial in trials
    )
    return float(np.clip(after / before, *_GROWTH)) if before > 0 else _UNKNOWN_GROWTH


def _seen(trial: _Trial, size: float | None, above: float, upto: float, part: float) -> float:
    """Return the excess of a part of the points so many octaves beyond; 0 without any."""
    chosen = (trial.octaves > above) & (trial.octaves <= upto + 0.01)
    if size is not None:
        chosen &= trial.sizes == size
    return quantile(trial.excess[chosen], part) if chosen.any() else 0.0

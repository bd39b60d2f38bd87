"""Formulas of a pool fitted to one operation: its regimes, and how well they predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from isochrone.base.errors import InputError
from isochrone.models import choice, linear
from isochrone.models.choice import Errors, Judged
from isochrone.models.cross_validation import RegimeFit
from isochrone.models.deviation import r_squared
from isochrone.models.family import Form, form_without
from isochrone.models.observations import Observations
from isochrone.models.pool import Candidate, Pool
from isochrone.models.regime import Regime, Rival, owners
from isochrone.models.splits import Options, Region, Search
from isochrone.models.terms import evaluate_term

__all__ = ["Fitted", "PoolFitter", "fit_again", "refuse_too_few", "with_shared_starts"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """The regimes of one operation, and the fits they are from.

    Attributes
    ----------
    foreign
        Regimes with a formula that was made for something else.
    """

    observed: Observations
    regimes: list[Regime]
    parts: list[RegimeFit]
    foreign: int

    @property
    def coefficients(self) -> int:
        """Number of all coefficients."""
        return sum(len(regime.terms) for regime in self.regimes)

    @property
    def numbers(self) -> int:
        """Number of all coefficients and breaks."""
        return self.coefficients + len(self.regimes) - 1

    @property
    def cost(self) -> float:
        """Numbers that were chosen; formulas that were made for something else cost more."""
        return self.numbers + choice.FOREIGN * (self.foreign > 0)

    @property
    def overdetermined(self) -> bool:
        """Whether there are enough numbers of ranks in each regime to judge its formula."""
        return all(
            choice.overdetermined(regime.terms, self.observed.only(part.mask).variables)
            for regime, part in zip(self.regimes, self.parts, strict=True)
        )

    @cached_property
    def errors(self) -> list[Errors]:
        """Held-out errors, see `isochrone.models.choice`."""
        return choice.errors_of(self.parts, self.observed)

    @property
    def error(self) -> float:
        """Mean held-out error."""
        return choice.mean_error(self.errors)

    @cached_property
    def sicc(self) -> float:
        """SICc of all regimes together, times n; a break is a number, too."""
        predicted = np.empty(len(self.observed))
        for part in self.parts:
            predicted[part.mask] = part.fit.predicted
        return choice.sicc(predicted, self.observed, self.numbers)


class PoolFitter:
    """Fits formulas of a pool to one operation; remembers what was chosen for the same points."""

    def __init__(self, pool: Pool, observed: Observations, options: Options) -> None:
        self.pool, self.observed, self.options = pool, observed, options
        self.search = Search(pool, observed, options.splits, options.weights)
        self._chosen: dict[bytes, tuple[Judged, list[tuple[Judged, float]]]] = {}

    def fit(self) -> Fitted:
        """Look for regimes, and take for each the formula that describes it.

        Raises
        ------
        InputError
            If there are not enough points for any of them.
        """
        return self.fit_regions(self.search.regions())

    def fit_regions(self, regions: Sequence[Region]) -> Fitted:
        """Take for each of some regions the formula that describes it."""
        regimes, parts, foreign = [], [], 0
        for region in regions:
            key = region.mask.tobytes()
            if key not in self._chosen:
                own = self.observed.only(region.mask)
                candidates = _in_region(self.pool.candidates, region)
                self._chosen[key] = choice.choose(candidates, own, self.options)
            taken, rivals = self._chosen[key]
            parts.append(RegimeFit(taken.fit, region.mask))
            regimes.append(_regime(taken, rivals, self.observed, region))
            foreign += not taken.candidate.made_for
        found = Fitted(self.observed, regimes, parts, foreign)
        refuse_too_few(len(self.observed), found.coefficients)
        return found

    def compared(self, fitted: Fitted) -> Fitted:
        """Return a fit whose regimes have the rivals that there are in all of the pool."""
        regimes = []
        for regime, part in zip(fitted.regimes, fitted.parts, strict=True):
            own = self.observed.only(part.mask)
            found = choice.rivals_of(part.fit, self.pool.candidates, own, self.options)
            rivals = [_rival(one, own, weight) for one, weight in found]
            regimes.append(msgspec.structs.replace(regime, rivals=rivals))
        return replace(fitted, regimes=regimes)


def _in_region(candidates: Sequence[Candidate], region: Region) -> list[Candidate]:
    """Return the formulas that are possible in a region.

    The constant of a line is a latency only where the smallest sizes are: beyond, where bytes cost
    more than before, the line of a regime meets zero bytes below zero. A level is a constant.
    """
    if region.level:
        one = next(one for one in candidates if "1" in one.form.terms)
        others = set(one.form.terms) - {"1"}
        return [replace(one, form=form_without(one.form, others), costs=("1",))]
    if region.range.get("b", (None, None))[0] is None:
        return list(candidates)
    return [replace(one, costs=("b",)) if one.costs == ("1", "b") else one for one in candidates]


def fit_again(fitted: Fitted, observed: Observations, options: Options) -> Fitted:
    """Fit the formulas that were chosen by some points to all; regimes stay where they are."""
    owner = owners(fitted.regimes, observed.variables)
    regimes, parts = [], []
    for k, regime in enumerate(fitted.regimes):
        own = observed.only(owner == k)
        fit = linear.fit(
            regime.terms, own.variables, own.seconds,
            weights=options.weights, robust=options.robust,
        )  # fmt: skip
        parts.append(RegimeFit(fit, owner == k))
        region = Region(regime.range, owner == k, regime.switch, regime.reach)
        form = Form(tuple(regime.terms), tuple(regime.symbols))
        taken = Judged(Candidate(regime.family, form, True), fit, [], 0.0)
        again = _regime(taken, [], observed, region)
        regimes.append(msgspec.structs.replace(again, rivals=regime.rivals))
    return Fitted(observed, regimes, parts, fitted.foreign)


def _regime(
    taken: Judged, rivals: Sequence[tuple[Judged, float]], observed: Observations, region: Region
) -> Regime:
    own = observed.only(region.mask)
    form, fitted = taken.candidate.form, with_shared_starts(taken.fit, own)
    used = dict.fromkeys([*observed.variables, *region.range])
    measured = {key: evaluate_term(key, own.variables) for key in used}
    return Regime(
        family=taken.candidate.family, where=observed.where,
        range=region.range, switch=region.switch, reach=region.reach,
        terms=list(form.terms), symbols=list(form.symbols),
        coefficients=fitted.coefficients.tolist(),
        low=fitted.low.tolist(), high=fitted.high.tolist(), covariance=fitted.covariance.tolist(),
        sigma=fitted.sigma, degrees_of_freedom=fitted.degrees_of_freedom,
        fitted={key: (float(v.min()), float(v.max())) for key, v in measured.items()},
        rivals=[
            _rival(one, own, weight) for one, weight in rivals
        ],
        r2=r_squared(fitted.predicted, own.seconds),
        points=len(own), starts=observed.starts if observed.starts.between else None,
    )  # fmt: skip


def _rival(judged: Judged, own: Observations, weight: float) -> Rival:
    fit = with_shared_starts(judged.fit, own)
    return Rival(
        judged.candidate.family, list(fit.terms), list(judged.candidate.form.symbols),
        fit.coefficients.tolist(), fit.covariance.tolist(), fit.sigma, fit.degrees_of_freedom,
        weight,
    )  # fmt: skip


SPARE: Final = 2
"""Points beyond the coefficients: without any one of them, there still is one to judge the rest."""


def refuse_too_few(points: int, coefficients: int) -> None:
    """Refuse a formula that runs through its points whatever they are.

    Raises
    ------
    InputError
        If one point were left out and the others had no error; says how many are needed.
    """
    if points < coefficients + SPARE:
        raise InputError(
            f"{points} point{'s are' if points != 1 else ' is'} too few to judge a formula of "
            f"{coefficients} coefficient{'s' if coefficients != 1 else ''}",
            hint=f"measure at least {coefficients + SPARE}: other sizes, or other numbers of ranks",
        )


# --- points of one start --------------------------------------------------------------------------

_FEWEST: Final = 3
"""Starts of which something can be said."""


def with_shared_starts(fit: linear.Fit, own: Observations) -> linear.Fit:
    """Return a fit whose intervals know that the points of a start have errors in common.

    Parameters
    ----------
    fit
        Of these points.
    own
        The points.
    """
    count, width = len(own), len(fit.terms)
    starts, group = np.unique(own.start, return_inverse=True)
    if len(starts) < _FEWEST or count == len(starts) or own.start.min() < 0:
        return fit
    share = _in_common((own.seconds - fit.predicted) * fit.weights, group.ravel(), width)
    factor = 1 + (count / len(starts) - 1) * share
    freedom = max(count / factor - width, 1.0)
    wider = (count - width) / (factor * freedom)
    covariance = fit.covariance * factor * wider
    half = float(stdtrit(freedom, 0.975)) * np.sqrt(np.diag(covariance))
    return replace(
        fit, covariance=covariance, low=fit.coefficients - half, high=fit.coefficients + half,
        sigma=fit.sigma * sqrt(wider), degrees_of_freedom=int(freedom),
    )  # fmt: skip


def _in_common(deviations: Array, group: NDArray[np.int64], width: int) -> float:
    """Return the part of the variance of deviations that those of a group have in common."""
    number = np.bincount(group)
    mean = np.bincount(group, deviations) / number
    between = float(np.sum(number * mean**2)) / max(len(number) - width, 1)
    within = float(np.sum((deviations - mean[group]) ** 2)) / (len(group) - len(number))
    typical = len(group) / len(number)
    whole = between + (typical - 1) * within
    return max(0.0, (between - within) / whole) if whole > 0 else 0.0

"""Which formula of a pool describes one segment, and which do it as well.

Of the formulas whose held-out error is hardly above the least, the simplest is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, log
from sys import float_info

import numpy as np
from scipy.special import softmax

from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.models.data.observations import Observations
from isochrone.models.data.placement import PLACES, grouping
from isochrone.models.data.terms import design_matrix, evaluate_term, picked, variables_of
from isochrone.models.formulas import linear
from isochrone.models.formulas.family import form_without
from isochrone.models.formulas.pool import Candidate
from isochrone.models.formulas.segment import Segment
from isochrone.models.selection.cross_validation import SegmentFit, left_out
from isochrone.models.selection.errors import log_ratio
from isochrone.models.selection.growth import Limits
from isochrone.models.selection.splits import Options, Region
from isochrone.models.thresholds import (
    ABOUT_THE_SAME,
    FOREIGN,
    JUDGED_FORMULAS,
    MIN_LEFT_VALUES,
    MIN_MACHINE_ERROR,
    PLAUSIBLE,
    SPARE_POINTS,
)

_AS_GOOD = (0.2, 0.001)
"""Errors that are a fifth larger, or by a tenth of a per cent of the time, are the same."""


@dataclass(frozen=True)
class Fitted:
    """Formulas of one operation, each fitted to a part of its points.

    Attributes
    ----------
    observed
        The points.
    parts
        The fit of each formula.
    segments
        What a model holds of them; empty while formulas are compared.
    """

    observed: Observations
    parts: list[SegmentFit]
    segments: list[Segment] = field(default_factory=list)

    @property
    def coefficients(self) -> int:
        """Number of all coefficients."""
        return sum(len(segment_fit.fit.terms) for segment_fit in self.parts)

    @property
    def numbers(self) -> int:
        """Number of all coefficients and breaks."""
        return self.coefficients + len(self.parts) - 1

    @property
    def cost(self) -> float:
        """Numbers that were chosen; formulas for something else cost more."""
        foreign = any(not segment_fit.candidate.made_for for segment_fit in self.parts)
        return self.numbers + FOREIGN * foreign

    @cached_property
    def overdetermined(self) -> bool:
        """Whether there are enough numbers of ranks in each part to judge its formula."""
        return all(
            overdetermined(segment_fit.fit.terms, picked(self.observed.variables, segment_fit.mask))
            for segment_fit in self.parts
        )

    @cached_property
    def error(self) -> float:
        """Mean error of points that were left out, over the ways to leave them out."""
        return float(np.mean([away.mean() for away in errors_of(self.parts, self.observed)]))

    @cached_property
    def sicc(self) -> float:
        """SICc of all formulas together, times n; a break is a number, too."""
        predicted = np.empty(len(self.observed))
        for segment_fit in self.parts:
            predicted[segment_fit.mask] = segment_fit.fit.predicted
        return sicc(predicted, self.observed, self.numbers)


class Judge:
    """Takes for each region of one operation the formula that describes it.

    Attributes
    ----------
    observed
        All points of the operation.
    candidates
        Formulas to take from.
    options
        How to fit.
    limits
        What the times of the operation show about its growth.
    """

    def __init__(
        self,
        observed: Observations,
        candidates: Sequence[Candidate],
        options: Options,
        limits: Limits | None = None,
    ) -> None:
        self.observed, self.candidates, self.options = observed, candidates, options
        self.limits = limits or Limits.of(observed)
        self._tried: dict[bytes, list[Fitted]] = {}

    def in_regions(self, regions: Sequence[Region]) -> Fitted:
        """Take for each of some regions the formula that describes it.

        Raises
        ------
        InputError
            If none can be fitted to one of them, or there are too few points in all.
        """
        segment_fits = []
        for region in regions:
            (segment_fit,) = simplest(self._fits(region)).parts
            segment_fits.append(replace(segment_fit, region=region))
        fitted = Fitted(self.observed, segment_fits)
        refuse_too_few(len(self.observed), fitted.coefficients)
        return fitted

    def rivals(self, chosen: SegmentFit) -> list[tuple[SegmentFit, float]]:
        """Return the formulas that may as well be the right one of a region, with their weights.

        The weights are those of Bayesian model averaging by Schwarz's criterion (Raftery 1995,
        *Bayesian model selection in social research*, Sociological Methodology 25, 111-163). A
        formula that has all terms of the one that is taken, and more, is no rival: what it has more
        cannot be distinguished from nothing.
        """
        tried, terms = self._fits(chosen.region), chosen.fit.terms
        variables = {"p", *variables_of(terms)}
        others = [
            fitted
            for fitted in tried
            if not set(terms) <= set(fitted.parts[0].fit.terms)
            and variables.issuperset(variables_of(fitted.parts[0].fit.terms))
        ]
        chosen_fit = Fitted(tried[0].observed, [replace(chosen, region=tried[0].parts[0].region)])
        weights = softmax([-0.5 * fitted.sicc for fitted in (chosen_fit, *others)])[1:].tolist()
        rivals = [
            (fitted.parts[0], weight)
            for fitted, weight in zip(others, weights, strict=True)
            if weight >= PLAUSIBLE
        ]
        return sorted(rivals, key=lambda rival: -rival[1])

    def _fits(self, region: Region) -> list[Fitted]:
        """Return the formulas that describe a region by itself, fitted to its points."""
        key = region.mask.tobytes()
        if key not in self._tried:
            points = self.observed.only(region.mask)
            self._tried[key] = [Fitted(points, [fit]) for fit in self._possible(points, region)]
        return self._tried[key]

    def _possible(self, points: Observations, region: Region) -> list[SegmentFit]:
        """Fit what looks promising; leave out what gives impossible times if all do not."""
        fits, failed = [], None
        for candidate in _promising(self.candidates, points, self.options):
            if candidate.costs == ("1", "b") and region.range.get("b", (None, None))[0] is not None:
                # The constant of a line is a latency only where the smallest sizes are: beyond,
                # where bytes cost more than before, a line meets zero bytes below zero.
                candidate = replace(candidate, costs=("b",))
            try:
                fits.append(self._fitted(self.limits.costs(candidate), points))
            except InputError as failure:
                failed = failed or failure
        if not fits:
            assert failed is not None
            raise failed
        return self.limits.allowed(fits, points) or fits

    def _fitted(self, candidate: Candidate, points: Observations) -> SegmentFit:
        """Fit a formula; of costs without those that would be gains, the largest in errors first.

        What is left of a line is a constant; its cost per byte is 0, and not left out.
        """
        line = None
        while True:
            terms = candidate.form.terms
            fit = fit_to(points, terms, self.options)
            below = (fit.coefficients < 0) & np.isin(terms, candidate.costs)
            if not below.any() or len(terms) == 1:
                break
            with np.errstate(divide="ignore"):  # without noise there are no errors
                in_errors = fit.coefficients / np.sqrt(np.diag(fit.covariance))
            weakest = int(np.argmin(np.where(below, in_errors, np.inf)))
            if len(terms) == 2 and terms[0] == "1" and weakest == 1:
                line = candidate, fit
            candidate = replace(candidate, form=form_without(candidate.form, {terms[weakest]}))
        if line is not None:
            candidate, fit = line[0], linear.bounded(fit, line[1])
        return SegmentFit(candidate, fit, Region({}, np.ones(len(points), dtype=bool)))


def refuse_too_few(points: int, coefficients: int) -> None:
    """Refuse a formula that runs through its points whatever they are.

    Raises
    ------
    InputError
        If one point were left out and the others had no error; says how many are needed.
    """
    if points < coefficients + SPARE_POINTS:
        raise InputError(
            f"{points} point{'s are' if points != 1 else ' is'} too few to validate a formula with "
            f"{coefficients} coefficient{'s' if coefficients != 1 else ''}",
            hint=f"measure at least {coefficients + SPARE_POINTS} combinations of size and ranks",
        )


def fit_to(points: Observations, terms: Sequence[str], options: Options) -> linear.Fit:
    """Fit one formula to points; errors as of `isochrone.models.formulas.linear.fit`."""
    return linear.fit(
        terms, points.variables, points.seconds, weights=options.weights, robust=options.robust
    )


def overdetermined(terms: Sequence[str], variables: Mapping[str, Floats]) -> bool:
    """Whether there are more numbers of ranks than a formula has shapes to bend along them.

    Twice as many, less one: else it runs through the values whatever they are, and says nothing of
    others. Where ranks were goes with their number.
    """
    if "p" not in variables or np.ptp(variables["p"]) == 0:
        return True
    values, rows = np.unique(variables["p"], return_index=True)
    placement = {key: variables[key][rows] for key in ("p", *PLACES) if key in variables}
    fixed = {key: np.full(len(values), column[0]) for key, column in variables.items()}
    columns = design_matrix(terms, {**fixed, **placement})
    length = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    return bool(len(values) >= 2 * np.linalg.matrix_rank(columns / length) - 1)


def simplest(tried: list[Fitted]) -> Fitted:
    """Return the cheapest of those that are as good as the best.

    Left out are those that few numbers of ranks cannot judge, if others do about as well; and what
    costs more than another and yet is worth less by SICc.
    """
    judged = [fitted for fitted in tried if fitted.overdetermined]
    limit = ABOUT_THE_SAME * min(fitted.error for fitted in tried)
    if any(fitted.error <= limit for fitted in judged):
        tried = judged
    tried = [
        fitted
        for fitted in tried
        if not any(cheaper.cost < fitted.cost and cheaper.sicc < fitted.sicc for cheaper in tried)
    ]
    least = min(fitted.error for fitted in tried)
    limit = least + max(_AS_GOOD[0] * least, _AS_GOOD[1])
    good = (fitted for fitted in tried if fitted.error <= limit)
    return min(good, key=lambda fitted: (fitted.cost, round(fitted.sicc, 3)))


def errors_of(segment_fits: Sequence[SegmentFit], points: Observations) -> list[Floats]:
    """Return how far points are off that were left out: by each value of each variable.

    Numbers of ranks are left out in another way, too: all beyond half the largest, because that is
    what a formula is asked for.
    """
    errors = []
    seconds = points.seconds
    for name in grouping(points.variables):
        distinct, groups = points.distinct[name]
        if len(distinct) < 2:
            continue
        away = _away(segment_fits, seconds, groups, too_few=MIN_LEFT_VALUES)
        errors.append(away)
        if name == "p" and len(distinct) > 3:
            keep = points.variables[name] > distinct[-1] / 2
            # Runs on one node say nothing of several, nor do those on two of how many there are.
            several = "nodes" in points.variables and len(points.distinct["nodes"][0]) != 2
            extrapolated = _away(
                segment_fits, seconds, keep.astype(np.int64), unknown=away if several else 1.0
            )
            errors.append(extrapolated[keep])
    if not errors:
        singles = np.arange(len(seconds))
        errors.append(_away(segment_fits, seconds, singles))
    return errors


def _away(
    segment_fits: Sequence[SegmentFit],
    seconds: Floats,
    groups: Ints,
    too_few: int = 0,
    unknown: Floats | float = 1.0,
) -> Floats:
    """Return |log(predicted / measured)| of groups that were left out; at most 10."""
    predicted = left_out(segment_fits, seconds, groups, too_few)
    return np.where(np.isnan(predicted), unknown, log_ratio(predicted, seconds))


def _promising(
    candidates: Sequence[Candidate], points: Observations, options: Options
) -> list[Candidate]:
    """Return those that fit best by a quick look, in their order."""
    if len(candidates) <= JUDGED_FORMULAS:
        return list(candidates)
    seconds = points.seconds
    scale = 1 / seconds if options.weights == "relative" else np.ones(len(seconds)) / seconds.mean()
    columns = {
        term: evaluate_term(term, points.variables) * scale
        for term in {t for c in candidates for t in c.form.terms}
    }
    columns = {term: x / max(np.linalg.norm(x), 1e-300) for term, x in columns.items()}
    target, n = seconds * scale, len(seconds)
    worth = []
    for candidate in candidates:
        terms = candidate.form.terms
        x = np.column_stack([columns[term] for term in terms])
        solution, _, rank, _ = np.linalg.lstsq(x, target, rcond=1e-10)
        if rank < len(terms) or len(terms) + 2 >= n:
            worth.append(inf if rank < len(terms) else float_info.max)
            continue
        worth.append(_sicc(target - x @ solution, MIN_MACHINE_ERROR, len(terms)))
    order = np.argsort(worth, kind="stable")[:JUDGED_FORMULAS]
    return [candidates[k] for k in sorted(order)]


def sicc(predicted: Floats, points: Observations, parameters: int) -> float:
    """Return n times the SICc of relative deviations; those below the noise count as noise."""
    return _sicc(
        predicted / points.seconds - 1, max(points.noise or 0.0, MIN_MACHINE_ERROR), parameters
    )


def _sicc(deviations: Floats, least: float, parameters: int) -> float:
    n, mean = len(deviations), float(np.mean(deviations**2))
    left = max(n - parameters - 2, 1)
    return n * log(max(mean, least**2)) + parameters * log(n) * n / left

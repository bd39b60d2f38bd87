"""Which formula of a pool describes one segment, and which do it as well.

The one-standard-error rule (Breiman, Friedman, Olshen and Stone 1984, *Classification and
Regression Trees*, section 3.4.3): of the formulas whose held-out error exceeds the least by no more
than its own standard error, the simplest is taken.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import inf, log, sqrt
from typing import TypeVar

import numpy as np
from scipy.special import softmax

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.base.errors import InputError
from isochrone.models import linear
from isochrone.models.cross_validation import SegmentFit, left_out
from isochrone.models.deviation import log_ratio
from isochrone.models.family import form_without
from isochrone.models.observations import Observations
from isochrone.models.placement import PLACES, farther, grouping
from isochrone.models.pool import Candidate
from isochrone.models.splits import Options
from isochrone.models.starts import numbered
from isochrone.models.terms import (
    design_matrix,
    evaluate_term,
    length_of,
    picked,
    stacked,
    variables_of,
)

Errors = tuple[Floats, Ints]
"""Relative deviations of points that were left out, and the number of each point's group."""

_AS_GOOD = (0.05, 0.001)
"""Errors that are a twentieth larger, or by a tenth of a per cent of the time, are the same."""

_MUCH = 0.2
"""Errors that are larger by more than this are not the same, however few groups there are."""

NOISY = 3.0
"""Errors of so many times the noise may be due to it."""

_FEW = 2
"""Values of a variable of which none can be left out: one alone determines no line."""

_ABOUT = 2.0
"""Errors that are larger by this factor are about the same."""

_MISFIT = 1.0
"""SICc by each point that a formula may be worse: by e in the square of its deviations."""

FOREIGN = 1.5
"""Coefficients that a family may have more if it was made for the operation."""

_TRIED = 12
"""Formulas that are judged by what they predict; which, says a quick look at how they fit."""

_BEYOND = (2.0, 4.0, 8.0)
"""Times the largest number of ranks and bytes, where a formula must give a possible time."""

_FALLS = 0.001
"""Part of a time by which a formula may fall as ranks or bytes grow."""

_FELL = (0.02, 4.0)
"""Part of a time, and times its noise, by which times must fall before data show that they do."""

_UNKNOWN_NOISE = 0.03

_PLAUSIBLE = 0.01
"""Weight of a rival that is not worth telling."""

FLOOR = 0.002
"""Relative deviation that tells no two formulas apart: no machine repeats itself better."""


@dataclass(frozen=True)
class Described:
    """Points of one operation and the formulas that describe them, each a part of the points.

    Attributes
    ----------
    observed
        The points.
    parts
        The fit of each formula.
    foreign
        Whether one was made for something else.
    """

    observed: Observations
    parts: list[SegmentFit]
    foreign: bool

    @property
    def coefficients(self) -> int:
        """Number of all coefficients."""
        return sum(len(part.fit.terms) for part in self.parts)

    @property
    def numbers(self) -> int:
        """Number of all coefficients and breaks."""
        return self.coefficients + len(self.parts) - 1

    @property
    def cost(self) -> float:
        """Numbers that were chosen; formulas that were made for something else cost more."""
        return self.numbers + FOREIGN * self.foreign

    @property
    def overdetermined(self) -> bool:
        """Whether there are enough numbers of ranks in each part to judge its formula."""
        return all(
            overdetermined(part.fit.terms, picked(self.observed.variables, part.mask))
            for part in self.parts
        )

    @cached_property
    def errors(self) -> list[Errors]:
        """Relative deviations of points that were left out, for each way to leave them out."""
        return errors_of(self.parts, self.observed)

    @cached_property
    def error(self) -> float:
        """Mean held-out error over the ways of leaving out."""
        return mean_error(self.errors)

    @cached_property
    def sicc(self) -> float:
        """SICc of all formulas together, times n; a break is a number, too."""
        predicted = np.empty(len(self.observed))
        for part in self.parts:
            predicted[part.mask] = part.fit.predicted
        return sicc(predicted, self.observed, self.numbers)


Tried = TypeVar("Tried", bound=Described)


@dataclass(frozen=True)
class Judged(Described):
    """A ``candidate`` that was fitted to one segment."""

    candidate: Candidate

    @property
    def fit(self) -> linear.Fit:
        """Its coefficients."""
        return self.parts[0].fit


@dataclass(frozen=True)
class Limits:
    """What the times of an operation show about its growth.

    Attributes
    ----------
    rising
        ``p`` and ``b`` if times never fall as it doubles, as far as the noise lets see.
    largest
        Largest message size; 0 without any.
    fastest
        By how much a time grows at most as ranks double; infinite if that is not known.
    """

    rising: tuple[str, ...]
    largest: float
    fastest: float = inf

    @classmethod
    def of(cls, observed: Observations) -> Limits:
        """Look at the times of an operation."""
        names = [name for name in ("p", "b") if name in observed.variables]
        rising = tuple(name for name in names if _rises(observed, name))
        largest = float(np.max(observed.variables.get("b", np.zeros(1))))
        return cls(rising, largest, _fastest(observed) if "p" in observed.variables else inf)

    def costs(self, candidate: Candidate) -> Candidate:
        """Return a formula of one growth with that as a cost, if times grow."""
        first, *others = candidate.form.terms
        if first != "1" or len(others) != 1 or not set(variables_of(others)) <= {*self.rising}:
            return candidate
        return replace(candidate, costs=(*candidate.costs, *others))

    def allowed(self, found: list[Judged], own: Observations) -> list[Judged]:
        """Return the formulas that give possible times within a segment and beyond.

        They are above zero, and fall with neither ranks nor bytes unless the data do.
        """
        if not {"p", "b"} & own.variables.keys():
            return found
        far = [own.variables]
        if "p" in own.variables:
            far += [farther(own.variables, factor) for factor in (1.0, *_BEYOND)]
        by_bytes = [self._by_bytes(far[k]) for k in (0, -1) if "b" in self.rising]
        every = [*far, *(points for points, _ in by_bytes)]
        ends = np.cumsum([length_of(one) for one in every])[:-1]
        points = stacked(every)
        columns = {
            term: evaluate_term(term, points)
            for term in dict.fromkeys(term for one in found for term in one.fit.terms)
        }

        def allows(fit: linear.Fit) -> bool:
            time = np.column_stack([columns[term] for term in fit.terms]) @ fit.coefficients
            times = np.split(time, ends)
            if any(np.any(time <= 0) for time in times[: len(far)]):
                return False
            if "p" in self.rising and any(
                np.any(more < less * (1 - _FALLS)) for less, more in pairwise(times[1 : len(far)])
            ):
                return False
            return not any(
                np.any(same & (np.diff(time) < -_FALLS * time[:-1]))
                for time, (_, same) in zip(times[len(far) :], by_bytes, strict=True)
            )

        return [one for one in found if allows(one.fit)]

    def _by_bytes(self, points: Mapping[str, Floats]) -> tuple[dict[str, Floats], Bools]:
        """Return points in the order of their bytes, and beyond; and which differ in these only.

        That is said of each and the one after it.
        """
        size = points["b"]
        most = size == size.max()
        beyond = [{**picked(points, most), "b": factor * size[most]} for factor in _BEYOND]
        every = [points, *(beyond if size.max() == self.largest else [])]
        points = stacked(every)
        row = _rows(points, {"b"})
        order = np.lexsort((points["b"], row))
        return picked(points, order), np.diff(row[order]) == 0


def _rows(points: Mapping[str, Floats], but: Container[str]) -> Ints:
    """Return the number of the combination of all variables but some at each point, from 0."""
    others = [column for name, column in points.items() if name not in but]
    return numbered(*others) if others else np.zeros(length_of(points), dtype=np.int64)


def _fastest(observed: Observations) -> float:
    """Return by how much the times of a size grow at most as ranks double."""
    ranks, size = observed.variables["p"], observed.variables.get("b", np.zeros(len(observed)))
    more = ranks / ranks[:, None]
    before, after = np.nonzero((size == size[:, None]) & (more >= 2) & (more <= 4))
    growth = np.log(observed.seconds[after] / observed.seconds[before])
    return float(np.exp(np.max(growth / np.log2(more[before, after]), initial=0.0)))


def _rises(observed: Observations, name: str) -> bool:
    """Whether no time falls as a variable at least doubles, all others being equal."""
    row = _rows(observed.variables, {name, *(PLACES if name == "p" else ())})
    value = observed.variables[name]
    noise = _UNKNOWN_NOISE if observed.noise is None else observed.noise
    limit = 1 - max(_FELL[0], _FELL[1] * noise)
    for k in range(row.max() + 1):
        order = np.flatnonzero(row == k)[np.argsort(value[row == k])]
        most = np.maximum.accumulate(observed.seconds[order])
        half = np.searchsorted(value[order], value[order] / 2, side="right") - 1
        known = half >= 0
        if np.any(observed.seconds[order][known] < limit * most[half[known]]):
            return False
    return True


@dataclass(frozen=True)
class Judge:
    """Fits formulas to segments of one operation, and says which to take.

    Attributes
    ----------
    observed
        All points of the operation.
    options
        How to fit.
    """

    observed: Observations
    options: Options

    @cached_property
    def limits(self) -> Limits:
        """What its times show about its growth."""
        return Limits.of(self.observed)

    def choose(
        self, candidates: Sequence[Candidate], mask: Bools
    ) -> tuple[Judged, list[tuple[Judged, float]]]:
        """Return the formula to take for some points, and its rivals with their weights.

        Raises
        ------
        InputError
            If none can be fitted; says why the first cannot.
        """
        sane = self._judged(candidates, mask)
        taken = simplest(sane, self.observed.noise)
        return taken, _rivals(taken, sane)

    def rivals_of(
        self, fit: linear.Fit, candidates: Sequence[Candidate], mask: Bools
    ) -> list[tuple[Judged, float]]:
        """Return the rivals of a formula that was taken already, with their weights.

        None where no other can be fitted, as where only sizes vary and all others need ranks.
        """
        try:
            found = self._judged(candidates, mask)
        except InputError:
            return []
        taken = replace(found[0].parts[0], fit=fit)
        return _rivals(Described(found[0].observed, [taken], foreign=False), found)

    def _judged(self, candidates: Sequence[Candidate], mask: Bools) -> list[Judged]:
        """Fit what looks promising; leave out what gives impossible times if all do not."""
        own = self.observed.only(mask)
        found, failed = [], None
        for candidate in _promising(candidates, own, self.options):
            try:
                found.append(self._fitted(self.limits.costs(candidate), own))
            except InputError as failure:
                failed = failed or failure
        if not found:
            assert failed is not None
            raise failed
        return self.limits.allowed(found, own) or found

    def _fitted(self, candidate: Candidate, own: Observations) -> Judged:
        """Fit a formula; of costs without those that would be gains, the largest in errors first.

        What is left of a line is a constant; its cost per byte is 0, and not left out.
        """
        whole = None
        while True:
            terms = candidate.form.terms
            fit = fit_to(own, terms, self.options)
            below = (fit.coefficients < 0) & np.isin(terms, candidate.costs)
            if not below.any() or len(terms) == 1:
                break
            with np.errstate(divide="ignore"):  # without noise there are no errors
                in_errors = fit.coefficients / np.sqrt(np.diag(fit.covariance))
            least = int(np.argmin(np.where(below, in_errors, np.inf)))
            if len(terms) == 2 and terms[0] == "1" and least == 1:
                whole = candidate, fit
            candidate = replace(candidate, form=form_without(candidate.form, {terms[least]}))
        if whole is not None:
            candidate, fit = whole[0], linear.bounded(fit, whole[1])
        everything = np.ones(len(own), dtype=bool)
        return Judged(own, [SegmentFit(fit, everything)], not candidate.made_for, candidate)


def fit_to(own: Observations, terms: Sequence[str], options: Options) -> linear.Fit:
    """Fit one formula to points; errors as of `isochrone.models.linear.fit`."""
    return linear.fit(
        terms, own.variables, own.seconds, weights=options.weights, robust=options.robust
    )


def overdetermined(terms: Sequence[str], variables: Mapping[str, Floats]) -> bool:
    """Whether there are more numbers of ranks than a formula has shapes to bend along them.

    Twice as many, less one: else it runs through the values whatever they are, and says nothing of
    others. Where ranks were goes with their number.
    """
    if "p" not in variables or np.ptp(variables["p"]) == 0:
        return True
    values, rows = np.unique(variables["p"], return_index=True)
    places = {key: variables[key][rows] for key in ("p", *PLACES) if key in variables}
    fixed = {key: np.full(len(values), column[0]) for key, column in variables.items()}
    columns = design_matrix(terms, {**fixed, **places})
    length = np.maximum(np.linalg.norm(columns, axis=0), 1e-300)
    return bool(len(values) >= 2 * np.linalg.matrix_rank(columns / length) - 1)


def simplest(tried: list[Tried], noise: float | None) -> Tried:
    """Return the cheapest of those that are as good as the best.

    Left out are those that few numbers of ranks cannot judge, if others do about as well; what
    costs more than another and yet is worth less by SICc; and what is off by much more within the
    data than the one that SICc is for. ``noise`` is that of a measured time.
    """
    judged = [one for one in tried if one.overdetermined]
    limit = _ABOUT * min(one.error for one in tried)
    if any(one.error <= limit for one in judged):
        tried = judged
    tried = [
        one for one in tried
        if not any(other.cost < one.cost and other.sicc < one.sicc for other in tried)
    ]  # fmt: skip
    best = min(tried, key=lambda one: one.error)
    good = [one for one in tried if as_good(one.errors, best.errors, noise or 0.0)]
    most = min(one.sicc for one in good) + _MISFIT * len(best.observed)
    fitting = (one for one in good if one.sicc <= most)
    return min(fitting, key=lambda one: (one.cost, round(one.sicc, 3)))


def errors_of(parts: Sequence[SegmentFit], own: Observations) -> list[Errors]:
    """Return how far points are off that were left out: by each value of each variable.

    Numbers of ranks are left out in another way, too: all beyond half the largest, because that is
    what a formula is asked for.
    """
    found = []
    seconds = own.seconds
    for name in grouping(own.variables):
        distinct, groups = own.distinct[name]
        if len(distinct) < 2:
            continue
        away = _away(parts, seconds, groups, few=_FEW)
        found.append((away, groups))
        if name == "p" and len(distinct) > 3:
            keep = own.variables[name] > distinct[-1] / 2
            # Runs on one node say nothing of several, nor do those on two of how many there are.
            several = "nodes" in own.variables and len(own.distinct["nodes"][0]) != 2
            far = _away(parts, seconds, keep.astype(np.int64), unknown=away if several else 1.0)
            found.append((far[keep], groups[keep]))
    if not found:
        each = np.arange(len(seconds))
        found.append((_away(parts, seconds, each), each))
    return found


def mean_error(errors: Sequence[Errors]) -> float:
    """Return the mean held-out error over the ways of leaving out."""
    return float(np.mean([away.mean() for away, _ in errors]))


def _away(
    parts: Sequence[SegmentFit], seconds: Floats, groups: Ints, few: int = 0,
    unknown: Floats | float = 1.0,
) -> Floats:  # fmt: skip
    """Return |log(predicted / measured)| of groups that were left out; at most 10."""
    predicted = left_out(parts, seconds, groups, few)
    return np.where(np.isnan(predicted), unknown, log_ratio(predicted, seconds))


def as_good(one: Sequence[Errors], best: Sequence[Errors], noise: float) -> bool:
    """Whether errors exceed the least by no more than the standard error of the difference.

    ``noise`` is that of a measured time. Errors far beyond it are of the formula, not of chance.
    """
    more, variance = 0.0, 0.0
    for (away, groups), (least, _) in zip(one, best, strict=True):
        difference = away - least
        mean, n = float(difference.mean()), len(difference)
        more += mean
        # the variance of the mean; what a group has in common counts once
        count = np.bincount(groups)
        many = np.count_nonzero(count)
        if many < 2:
            variance += float(np.var(difference)) / max(n - 1, 1)
            continue
        rest = np.bincount(groups, difference) - mean * count
        variance += float(np.sum(rest**2)) / n**2 * many / (many - 1)
    ways = len(best)
    error = mean_error(best)
    by_chance = sqrt(variance) / ways
    limit = by_chance if error < NOISY * noise else min(by_chance, _MUCH * error)
    limit = max(limit, _AS_GOOD[0] * error, _AS_GOOD[1])
    return more / ways <= limit


def _promising(
    candidates: Sequence[Candidate], own: Observations, options: Options
) -> list[Candidate]:
    """Return those that fit best by a quick look, in their order."""
    if len(candidates) <= _TRIED:
        return list(candidates)
    seconds = own.seconds
    scale = 1 / seconds if options.weights == "relative" else np.ones(len(seconds)) / seconds.mean()
    columns = {
        term: evaluate_term(term, own.variables) * scale
        for term in {t for c in candidates for t in c.form.terms}
    }
    columns = {term: x / max(np.linalg.norm(x), 1e-300) for term, x in columns.items()}
    target, n = seconds * scale, len(seconds)
    worth = []
    for candidate in candidates:
        terms = candidate.form.terms
        x = np.column_stack([columns[term] for term in terms])
        found, _, rank, _ = np.linalg.lstsq(x, target, rcond=1e-10)
        left = n - len(terms) - 2
        if rank < len(terms) or left <= 0:
            worth.append(inf)
            continue
        mean = float(np.mean((target - x @ found) ** 2))
        worth.append(n * log(max(mean, FLOOR**2)) + len(terms) * log(n) * n / left)
    order = np.argsort(worth, kind="stable")[:_TRIED]
    return [candidates[k] for k in sorted(order)]


def sicc(predicted: Floats, own: Observations, parameters: int) -> float:
    """Return n times the SICc of relative deviations; those below the noise count as noise."""
    n, noise = len(own), own.noise or 0.0
    mean = float(np.mean((predicted / own.seconds - 1) ** 2))
    left = max(n - parameters - 2, 1)
    return n * log(max(mean, noise**2, FLOOR**2)) + parameters * log(n) * n / left


def _rivals(taken: Described, found: Sequence[Judged]) -> list[tuple[Judged, float]]:
    """Return the formulas that may as well be the right one, with their weights.

    The weights are those of Bayesian model averaging by Schwarz's criterion (Raftery 1995,
    *Bayesian model selection in social research*, Sociological Methodology 25, 111-163). A
    formula that has all terms of the one that is taken, and more, is no rival: what it has more
    cannot be distinguished from nothing.
    """
    terms = taken.parts[0].fit.terms
    own, known = set(terms), {"p", *variables_of(terms)}
    others = [
        one for one in found
        if not own <= set(one.fit.terms) and known.issuperset(variables_of(one.fit.terms))
    ]  # fmt: skip
    weights = softmax([-0.5 * one.sicc for one in (taken, *others)])[1:].tolist()
    rivals = list(zip(others, weights, strict=True))
    return sorted((r for r in rivals if r[1] >= _PLAUSIBLE), key=lambda r: -r[1])

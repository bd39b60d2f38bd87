"""Which formulas describe an operation: pieces of any family, along any variable, or one family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import inf, sqrt
from typing import Any

import msgspec
import numpy as np
from scipy.special import stdtrit

from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.base.units import format_error
from isochrone.models import choice, linear
from isochrone.models.choice import Judge, Judged
from isochrone.models.cross_validation import SegmentFit, leave_out
from isochrone.models.deviation import deviation, r_squared
from isochrone.models.family import declared, fewest_coefficients
from isochrone.models.linear import refuse_vanished
from isochrone.models.observations import Observations
from isochrone.models.placement import GROUP, farther
from isochrone.models.pool import Candidate, Pool, usable_pools, whole_pool
from isochrone.models.segment import Rival, Segment, by_formula, owners
from isochrone.models.splits import MAX_DEPTH, TOLERANCE, Options, Region, Search
from isochrone.models.terms import CLASSES, UNUSUAL, design_matrix, evaluate_term

MANY = 400
"""Points that families and segments are chosen by; of more, as many that are spread evenly."""

UNUSUAL_COST = 2.0
"""Coefficients that a fit may have more if its breaks are along usual variables."""

HOPELESS_BY = 2.0
"""SICc for each point by which a family is off much more than the best: 2.7 times as far."""

HOPELESS = 0.5
"""Held-out error from which a formula describes nothing."""


def ranked(observed: Observations, options: Options) -> tuple[Fitted, list[dict[str, Any]]]:
    """Return the best of all families and of their pieces, and what was tried, the best first."""
    whole, observed = observed, thinned(observed)
    pools = usable_pools(declared(), observed)
    pool = every_pool(pools, observed)
    judge = Judge(observed, options)
    mixed, reasons = _mixed(pool, judge)
    tried, failed = _by_family(pools, judge, min((m.sicc for m in mixed), default=inf))
    if not tried and not mixed:
        reason = failed[0]["reason"] if failed else reasons[0]
        raise InputError(f"no family of models fits: {reason}")
    every = _growing_alike([*(fitted for _, fitted in tried), *mixed], judge)
    taken = choice.simplest(every, observed.noise)
    own = next((name for name, one in tried if one is taken), "")
    families = " + ".join(dict.fromkeys(one.family for one in taken.segments))
    others = sorted((pair for pair in tried if pair[0] != own), key=lambda pair: pair[1].error)
    rows = [
        row_of(name, one.error, one.sicc, one.segments)
        for name, one in [(own or families, taken), *others]
    ]
    if own:  # it was compared with its own family only
        taken = PoolFitter(pool, judge).compared(taken)
    return fit_again(taken, whole, options), rows + failed


def refuse_hopeless(fitted: Fitted) -> None:
    """Refuse a formula that describes nothing.

    Raises
    ------
    InputError
        Unless these are groups of a grid, which are kept as measured beside the formula.
    """
    if GROUP not in fitted.observed.where and fitted.error > HOPELESS:
        raise InputError(
            "no family of models describes these data: the best one has an error of "
            f"{format_error(fitted.error)} on average in cross-validation",
            hint="measure more points, or choose a family with --family",
        )


def row_of(
    name: str, error: float, sicc: float | None, segments: Sequence[Segment]
) -> dict[str, Any]:
    """Return what a ranking says of one that was tried."""
    return {
        "family": name, "held_out": error, "sicc": sicc, "pieces": len(segments),
        "coefficients": sum(len(one.terms) for one in segments),
    }  # fmt: skip


_JUMP = 1.5
_AS_GOOD = 2.5
"""How much faster than in the data a time may grow from one doubling of ranks to the next, and how
much larger the errors of what grows no faster may be."""


def _growing_alike(every: list[Fitted], judge: Judge) -> list[Fitted]:
    """Leave out fits whose times jump beyond the data as none in them does, if others do.

    A segment along a product may begin beyond the data, at a size that was never in it. What is
    as good as the noise allows is believed.
    """
    least = min(one.error for one in every)
    if least <= max(choice.NOISY * (judge.observed.noise or 0.0), TOLERANCE):
        return every
    alike = [one for one in every if _growth(one) <= _JUMP * judge.limits.fastest]
    return [one for one in alike if one.error <= _AS_GOOD * least] or every


def _growth(fitted: Fitted) -> float:
    """Return by how much times grow at most from one doubling of the ranks to the next."""
    variables = fitted.observed.variables
    if "p" not in variables:
        return 0.0
    times = [
        np.maximum(by_formula(fitted.segments, farther(variables, factor))[1], 1e-300)
        for factor in (1.0, 2.0, 4.0, 8.0)
    ]
    return float(max(np.max(more / less) for less, more in pairwise(times)))


def thinned(observed: Observations) -> Observations:
    """Return points that are spread evenly over all; all if they are not many."""
    if len(observed) <= MANY:
        return observed
    order = np.lexsort([observed.variables[name] for name in observed.variables])
    mine = np.zeros(len(observed), dtype=bool)
    mine[order[np.linspace(0, len(observed) - 1, MANY).round().astype(np.int64)]] = True
    return observed.only(mine)


def every_pool(pools: Mapping[str, Pool], observed: Observations) -> Pool:
    """Return all formulas that can be tried; refuse data that are too few or say nothing."""
    pool, variables = whole_pool(pools.values(), observed), observed.variables
    if not any(np.any(design_matrix(one.terms, variables), axis=0).all() for one in pool.forms):
        for form in pool.forms:  # more points like these would not help
            refuse_vanished(form.terms, variables)
    refuse_too_few(len(observed), fewest_coefficients(variables))
    if not pool.candidates:
        raise InputError("no family of models fits: the data have none of their variables")
    return pool


def _by_family(
    pools: Mapping[str, Pool], judge: Judge, best: float
) -> tuple[list[tuple[str, Fitted]], list[dict[str, Any]]]:
    """Fit each family by itself; return also those that cannot be, with the reason.

    One that is off by much more than the ``best`` of all, by SICc, is cut along one variable only.
    """
    tried, failed = [], []
    for name, pool in pools.items():
        fitter = PoolFitter(pool, judge)
        try:
            one = fitter.fit(depth=1)
            if one.sicc < best + HOPELESS_BY * len(judge.observed):
                one = fitter.fit()
            tried.append((name, one))
        except InputError as failure:
            failed.append({"family": name, "held_out": None, "reason": str(failure)})
    return tried, failed


def _mixed(pool: Pool, judge: Judge) -> tuple[list[Fitted], list[str]]:
    """Cut the data along each variable first, and take for each piece the formula that fits it."""
    found: dict[str, Fitted] = {}
    reasons = []
    fitter = PoolFitter(pool, judge)
    variables, along = judge.observed.variables, judge.options.splits.along
    ways: list[Callable[[], list[Region]]] = [
        fitter.search.given, *(partial(fitter.search.regions, v) for v in fitter.search.along),
    ]  # fmt: skip
    if "p" in variables:
        names = [*CLASSES, *(["nodes"] if "nodes" in variables else [])]
        ways += [
            partial(fitter.search.classes, name, first)
            for name in names if along is None or name in along  # only as it is asked for
            for first in ("", "b")
        ]  # fmt: skip
    for way in ways:
        try:
            one = fitter.fit_regions(way())
        except InputError as failure:
            reasons.append(str(failure))
            continue
        found[repr([(segment.range, segment.terms) for segment in one.segments])] = one
    return list(found.values()), reasons


# --- fitting a pool -------------------------------------------------------------------------------

# Formulas of a pool fitted to one operation: its segments, and how well they predict.


@dataclass(frozen=True)
class Fitted(choice.Described):
    """The ``segments`` of one operation, and the fits they are from."""

    segments: list[Segment]

    @property
    def cost(self) -> float:
        """Numbers that were chosen; formulas for something else and unusual breaks cost more."""
        along = {name for one in self.segments for name in one.range}
        return super().cost + UNUSUAL_COST * len(along & set(UNUSUAL))


class PoolFitter:
    """Fits formulas of a pool to one operation; remembers what was chosen for the same points."""

    def __init__(self, pool: Pool, judge: Judge) -> None:
        self.pool, self.judge = pool, judge
        self.search = Search(pool, judge.observed, judge.options)
        self._chosen: dict[bytes, tuple[Judged, list[tuple[Judged, float]]]] = {}

    def fit(self, depth: int = MAX_DEPTH) -> Fitted:
        """Look for segments along so many variables, and take for each the formula it has.

        Raises
        ------
        InputError
            If there are not enough points for any of them.
        """
        return self.fit_regions(self.search.regions(depth=depth))

    def fit_regions(self, regions: Sequence[Region]) -> Fitted:
        """Take for each of some regions the formula that describes it."""
        segments, parts, foreign = [], [], False
        for region in regions:
            key = region.mask.tobytes()
            if key not in self._chosen:
                candidates = _in_region(self.pool.candidates, region)
                self._chosen[key] = self.judge.choose(candidates, region.mask)
            taken, rivals = self._chosen[key]
            parts.append(SegmentFit(taken.fit, region.mask))
            candidate = taken.candidate
            one = _segment(
                candidate.family, candidate.form.symbols, taken.fit, self.judge.observed, region
            )
            segments.append(msgspec.structs.replace(
                one, rivals=_rivals(rivals), rising=list(self.judge.limits.rising)
            ))  # fmt: skip
            foreign |= taken.foreign
        found = Fitted(self.judge.observed, parts, foreign, segments)
        refuse_too_few(len(found.observed), found.coefficients)
        return found

    def compared(self, fitted: Fitted) -> Fitted:
        """Return a fit whose segments have the rivals that there are in all of the pool."""
        segments = []
        for segment, part in zip(fitted.segments, fitted.parts, strict=True):
            found = self.judge.rivals_of(part.fit, self.pool.candidates, part.mask)
            segments.append(msgspec.structs.replace(segment, rivals=_rivals(found)))
        return replace(fitted, segments=segments)


def _in_region(candidates: Sequence[Candidate], region: Region) -> list[Candidate]:
    """Return the formulas that are possible in a region.

    The constant of a line is a latency only where the smallest sizes are: beyond, where bytes cost
    more than before, the line of a segment meets zero bytes below zero.
    """
    if region.range.get("b", (None, None))[0] is None:
        return list(candidates)
    return [replace(one, costs=("b",)) if one.costs == ("1", "b") else one for one in candidates]


def fit_again(fitted: Fitted, observed: Observations, options: Options) -> Fitted:
    """Fit the formulas that were chosen by some points to all; segments stay where they are."""
    if fitted.observed is observed:
        return fitted
    owner = owners(fitted.segments, observed.variables)
    segments, parts = [], []
    for k, segment in enumerate(fitted.segments):
        fit = choice.fit_to(observed.only(owner == k), segment.terms, options)
        parts.append(SegmentFit(fit, owner == k))
        region = Region(segment.range, owner == k, segment.switch, segment.reach)
        again = _segment(segment.family, segment.symbols, fit, observed, region)
        segments.append(
            msgspec.structs.replace(
                again, rivals=segment.rivals, rising=segment.rising, only=segment.only
            )
        )
    return Fitted(observed, parts, fitted.foreign, segments)


def _segment(
    family: str, symbols: Sequence[str], fit: linear.Fit, observed: Observations, region: Region
) -> Segment:
    own = observed.only(region.mask)
    fitted = with_shared_starts(fit, own)
    used = dict.fromkeys([*observed.variables, *region.range])
    measured = {key: evaluate_term(key, own.variables) for key in used}
    return Segment(
        family=family, where=observed.where,
        range=region.range, switch=region.switch, reach=region.reach,
        terms=list(fit.terms), symbols=list(symbols),
        coefficients=fitted.coefficients.tolist(),
        low=fitted.low.tolist(), high=fitted.high.tolist(), covariance=fitted.covariance.tolist(),
        sigma=fitted.sigma, degrees_of_freedom=fitted.degrees_of_freedom,
        fitted={key: (float(v.min()), float(v.max())) for key, v in measured.items()},
        r2=r_squared(fit.predicted, own.seconds), only=_only(own, region),
        left_out=deviation(leave_out(fit, own.seconds), own.seconds).average,
        points=len(own), starts=observed.starts if observed.starts.between else None,
    )  # fmt: skip


def _only(own: Observations, region: Region) -> list[str]:
    """Return the class that all numbers of ranks, or of nodes, are of, if these are several."""
    nodes = {"nodes", "ppn"} <= own.variables.keys()
    classes = ("power2(nodes)",) if nodes else CLASSES
    values = np.unique(own.variables.get("nodes" if nodes else "p", np.ones(1)))
    if len(values) < 2 or region.range.keys() & set(CLASSES):
        return []
    points = {"nodes" if nodes else "p": values}
    return [name for name in classes if evaluate_term(name, points).all()][:1]


def _rivals(found: Sequence[tuple[Judged, float]]) -> list[Rival]:
    rivals = []
    for one, weight in found:
        fit = with_shared_starts(one.fit, one.observed)
        rivals.append(Rival(
            one.candidate.family, list(fit.terms), list(one.candidate.form.symbols),
            fit.coefficients.tolist(), fit.covariance.tolist(), fit.sigma, fit.degrees_of_freedom,
            weight,
        ))  # fmt: skip
    return rivals


SPARE = 2
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
            f"{points} point{'s are' if points != 1 else ' is'} too few to validate a formula with "
            f"{coefficients} coefficient{'s' if coefficients != 1 else ''}",
            hint=f"measure at least {coefficients + SPARE} combinations of size and ranks",
        )


# --- points of one start --------------------------------------------------------------------------

_FEWEST = 3
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


def _in_common(deviations: Floats, group: Ints, width: int) -> float:
    """Return the part of the variance of deviations that those of a group have in common."""
    number = np.bincount(group)
    mean = np.bincount(group, deviations) / number
    between = float(np.sum(number * mean**2)) / max(len(number) - width, 1)
    within = float(np.sum((deviations - mean[group]) ** 2)) / (len(group) - len(number))
    typical = len(group) / len(number)
    whole = between + (typical - 1) * within
    return max(0.0, (between - within) / whole) if whole > 0 else 0.0

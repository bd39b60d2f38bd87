"""Which formulas describe an operation: pieces of any family, along any variable, or one family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
from scipy.special import stdtrit

from isochrone.base.arrays import Floats, Ints
from isochrone.base.errors import InputError
from isochrone.models.data.observations import Observations
from isochrone.models.data.terms import CLASSES, design_matrix, evaluate_term
from isochrone.models.formulas import linear
from isochrone.models.formulas.family import Form, declared, fewest_coefficients
from isochrone.models.formulas.linear import refuse_vanished
from isochrone.models.formulas.pool import Candidate, Pool, usable_pools, varying, whole_pool
from isochrone.models.formulas.segment import Rival, Segment, owners
from isochrone.models.selection.choice import Fitted, Judge, fit_to, refuse_too_few, simplest
from isochrone.models.selection.cross_validation import SegmentFit, leave_out
from isochrone.models.selection.errors import deviation, r_squared
from isochrone.models.selection.splits import Options, Region, Search
from isochrone.models.thresholds import MAX_CHOICE_POINTS, MIN_LAUNCHES_KNOWN


def ranked(observed: Observations, options: Options) -> tuple[Fitted, list[dict[str, object]]]:
    """Return the best pieces of all families, and how well each family describes these pieces.

    Raises
    ------
    InputError
        If no formula can be fitted.
    """
    subset = thinned(observed)
    pools = usable_pools(declared(), subset)
    judge, best = _best(every_pool(pools, subset), subset, options)
    regions = [segment_fit.region for segment_fit in best.parts]
    tried, failed = list[tuple[str, Fitted]](), list[dict[str, object]]()
    for name, pool in pools.items():
        try:
            of_family = Judge(subset, pool.candidates, options, judge.limits)
            tried.append((name, of_family.in_regions(regions)))
        except InputError as failure:
            failed.append({"family": name, "held_out": None, "reason": str(failure)})
    best = simplest([*(fitted for _, fitted in tried), best])
    names = list(dict.fromkeys(segment_fit.candidate.family for segment_fit in best.parts))
    others = sorted((pair for pair in tried if [pair[0]] != names), key=lambda pair: pair[1].error)
    rows = [
        row_of(
            name, fitted.error, fitted.sicc, [segment_fit.fit.terms for segment_fit in fitted.parts]
        )
        for name, fitted in [(" + ".join(names), best), *others]
    ]
    return _with_segments(best, judge, observed), rows + failed


def of_pool(pool: Pool, observed: Observations, options: Options) -> Fitted:
    """Cut the points where that pays most, and take formulas of a pool.

    Raises
    ------
    InputError
        If none can be fitted.
    """
    subset = thinned(observed)
    judge = Judge(subset, pool.candidates, options)
    return _with_segments(
        judge.in_regions(Search(pool, subset, options).regions()), judge, observed
    )


def of_few_ranks(observed: Observations, options: Options) -> Fitted | None:
    """Fit one coefficient to numbers of ranks that are too few for a formula.

    Predictions then follow the measured times. None if other variables vary, too.
    """
    if varying(observed) != ["p"] or not {"p", "b"} >= observed.variables.keys():
        return None
    candidate = Candidate("interpolation", Form(("sqrt(p)",), ("β",)), made_for=False)
    region = Region({}, np.ones(len(observed), dtype=bool))
    fit = fit_to(observed, candidate.form.terms, options)
    judge = Judge(observed, [candidate], options)
    return _with_segments(Fitted(observed, [SegmentFit(candidate, fit, region)]), judge, observed)


def in_region(pool: Pool, observed: Observations, segment: Segment, options: Options) -> Segment:
    """Choose the formula of a segment by other points, all of which are in it."""
    observed = thinned(observed)
    everything = np.ones(len(observed), dtype=bool)
    region = Region(segment.range, everything, segment.switch, segment.reach)
    judge = Judge(observed, pool.candidates, options)
    return _with_segments(judge.in_regions([region]), judge, observed).segments[0]


def row_of(
    name: str, error: float, sicc: float | None, terms: Sequence[Sequence[str]]
) -> dict[str, object]:
    """Return what a ranking says of one that was tried; ``terms`` are those of each segment."""
    return {
        "family": name,
        "held_out": error,
        "sicc": sicc,
        "pieces": len(terms),
        "coefficients": sum(map(len, terms)),
    }


def thinned(observed: Observations) -> Observations:
    """Return points that are spread evenly over all; all if they are not many."""
    if len(observed) <= MAX_CHOICE_POINTS:
        return observed
    order = np.lexsort([observed.variables[name] for name in observed.variables])
    mine = np.zeros(len(observed), dtype=bool)
    mine[order[np.linspace(0, len(observed) - 1, MAX_CHOICE_POINTS).round().astype(np.int64)]] = (
        True
    )
    return observed.only(mine)


def every_pool(pools: Mapping[str, Pool], observed: Observations) -> Pool:
    """Return all formulas that can be tried; refuse data that are too few or say nothing."""
    pool, variables = whole_pool(pools.values(), observed), observed.variables
    if not any(np.any(design_matrix(form.terms, variables), axis=0).all() for form in pool.forms):
        for form in pool.forms:  # more points like these would not help
            refuse_vanished(form.terms, variables)
    refuse_too_few(len(observed), fewest_coefficients(variables))
    if not pool.candidates:
        raise InputError("no family of models fits: the data have none of their variables")
    return pool


def _best(pool: Pool, observed: Observations, options: Options) -> tuple[Judge, Fitted]:
    """Cut the points along each variable first, or not, and take the simplest of all."""
    search, judge = Search(pool, observed, options), Judge(observed, pool.candidates, options)
    tried, failed = dict[str, Fitted](), list[InputError]()
    for cut in search.ways():
        try:
            regions = cut()
            key = repr([region.range for region in regions])
            tried[key] = tried.get(key) or judge.in_regions(regions)
        except InputError as failure:
            failed.append(failure)
    if not tried:
        raise failed[0]
    return judge, simplest(list(tried.values()))


# --- segments of a model --------------------------------------------------------------------------


def _with_segments(fitted: Fitted, judge: Judge, observed: Observations) -> Fitted:
    """Return a fit with its segments; of formulas chosen by some points, fitted to all."""
    rivals = [
        [
            _rival(rival, fitted.observed.only(segment_fit.mask), weight)
            for rival, weight in judge.rivals(segment_fit)
        ]
        for segment_fit in fitted.parts
    ]
    if fitted.observed is not observed:
        ranges = [
            Segment("", [], [], range=segment_fit.region.range, switch=segment_fit.region.switch)
            for segment_fit in fitted.parts
        ]
        owner = owners(ranges, observed.variables)
        segment_fits = [
            SegmentFit(
                segment_fit.candidate,
                fit_to(observed.only(owner == k), segment_fit.fit.terms, judge.options),
                replace(segment_fit.region, mask=owner == k),
            )
            for k, segment_fit in enumerate(fitted.parts)
        ]
        fitted = Fitted(observed, segment_fits)
    rising = list(judge.limits.rising)
    segments = [
        _segment(segment_fit, observed, others, rising)
        for segment_fit, others in zip(fitted.parts, rivals, strict=True)
    ]
    return replace(fitted, segments=segments)


def _segment(
    segment_fit: SegmentFit, observed: Observations, rivals: list[Rival], rising: list[str]
) -> Segment:
    points, region = observed.only(segment_fit.mask), segment_fit.region
    fit = with_shared_starts(segment_fit.fit, points)
    measured = {
        key: evaluate_term(key, points.variables)
        for key in dict.fromkeys([*observed.variables, *region.range])
    }
    return Segment(
        family=segment_fit.candidate.family,
        where=observed.where,
        range=region.range,
        switch=region.switch,
        reach=region.reach,
        rivals=rivals,
        rising=rising,
        terms=list(fit.terms),
        symbols=list(segment_fit.candidate.form.symbols),
        coefficients=fit.coefficients.tolist(),
        low=fit.low.tolist(),
        high=fit.high.tolist(),
        covariance=fit.covariance.tolist(),
        sigma=fit.sigma,
        degrees_of_freedom=fit.degrees_of_freedom,
        fitted={key: (float(v.min()), float(v.max())) for key, v in measured.items()},
        r2=r_squared(fit.predicted, points.seconds),
        only=_only(points, region),
        left_out=deviation(leave_out(fit, points.seconds), points.seconds, points.repeats).median,
        points=len(points),
        starts=observed.starts if observed.starts.between else None,
    )


def _rival(segment_fit: SegmentFit, points: Observations, weight: float) -> Rival:
    fit = with_shared_starts(segment_fit.fit, points)
    return Rival(
        segment_fit.candidate.family,
        list(fit.terms),
        list(segment_fit.candidate.form.symbols),
        fit.coefficients.tolist(),
        fit.covariance.tolist(),
        fit.sigma,
        fit.degrees_of_freedom,
        weight,
    )


def _only(points: Observations, region: Region) -> list[str]:
    """Return the class that all numbers of ranks, or of nodes, are of, if these are several."""
    nodes = {"nodes", "ppn"} <= points.variables.keys()
    classes = ("power2(nodes)",) if nodes else CLASSES
    values = np.unique(points.variables.get("nodes" if nodes else "p", np.ones(1)))
    if len(values) < 2 or region.range.keys() & set(CLASSES):
        return []
    every = {"nodes" if nodes else "p": values}
    return [name for name in classes if evaluate_term(name, every).all()][:1]


# --- points of one start --------------------------------------------------------------------------


def with_shared_starts(fit: linear.Fit, points: Observations) -> linear.Fit:
    """Return a fit whose intervals know that the points of a start have errors in common.

    Parameters
    ----------
    fit
        Of these points.
    points
        The points.
    """
    count, width = len(points), len(fit.terms)
    starts, group = np.unique(points.start, return_inverse=True)
    if len(starts) < MIN_LAUNCHES_KNOWN or count == len(starts) or points.start.min() < 0:
        return fit
    share = _in_common((points.seconds - fit.predicted) * fit.weights, group.ravel(), width)
    factor = 1 + (count / len(starts) - 1) * share
    freedom = max(count / factor - width, 1.0)
    wider = (count - width) / (factor * freedom)
    covariance = fit.covariance * factor * wider
    half = float(stdtrit(freedom, 0.975)) * np.sqrt(np.diag(covariance))
    return replace(
        fit,
        covariance=covariance,
        low=fit.coefficients - half,
        high=fit.coefficients + half,
        sigma=fit.sigma * sqrt(wider),
        degrees_of_freedom=int(freedom),
    )


def _in_common(deviations: Floats, group: Ints, width: int) -> float:
    """Return the part of the variance of deviations that those of a group have in common."""
    counts = np.bincount(group)
    mean = np.bincount(group, deviations) / counts
    between = float(np.sum(counts * mean**2)) / max(len(counts) - width, 1)
    within = float(np.sum((deviations - mean[group]) ** 2)) / (len(group) - len(counts))
    typical = len(group) / len(counts)
    total = between + (typical - 1) * within
    return max(0.0, (between - within) / total) if total > 0 else 0.0

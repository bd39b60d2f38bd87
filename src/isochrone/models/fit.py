"""Fit a family of models to measurements, or the pieces of any that describe them best."""

from functools import partial
from typing import Any

import numpy as np

from isochrone.base.errors import InputError
from isochrone.base.units import format_error
from isochrone.models.data.extension import adding, kept
from isochrone.models.data.load import Measured, samples_of
from isochrone.models.data.observations import Observations, Samples
from isochrone.models.data.placement import GROUP, what_to_vary
from isochrone.models.data.quality import MORE_REPETITIONS, noise_behind, questionable
from isochrone.models.data.sizes import apart, refuse_one_size, several, together
from isochrone.models.data.terms import variables_of
from isochrone.models.formulas import linear
from isochrone.models.formulas.family import (
    Family,
    broken,
    check_family,
    declaration,
    declared,
    of_bytes,
    within,
)
from isochrone.models.formulas.pool import Pool, family_pool, usable_pools
from isochrone.models.formulas.segment import Segment, by_formula
from isochrone.models.prediction.deviation import goodness_of_fit, lack_of_fit, steps
from isochrone.models.prediction.doubtful import switches
from isochrone.models.prediction.model import Model
from isochrone.models.prediction.neighbours import Neighbours, neighbours_of
from isochrone.models.prediction.questions import needed
from isochrone.models.selection import auto
from isochrone.models.selection.backtest import Backtest, backtested
from isochrone.models.selection.choice import Fitted
from isochrone.models.selection.cross_validation import cross_validate
from isochrone.models.selection.splits import Options, Splits
from isochrone.models.thresholds import HOPELESS, MUCH_WORSE, WELL

AUTO = "auto"


EACH = ", for each size"


def fit(
    measured: Measured,
    name: str | Family = AUTO,
    *,
    splits: Splits | None = None,
    weights: str = "relative",
    robust: bool = False,
) -> Model:
    """Fit a family to measurements.

    Parameters
    ----------
    measured
        A run, or several; paths of run files or CSV files; a data frame, columns by their names or
        rows (dicts), with the columns of a CSV; or samples that were read already.
    name
        Name of a family, a `Family` of one's own, or ``auto``: all that the variables allow are
        tried, and the one with the least leave-one-group-out error is taken.
    splits
        Segments; looked for if None.
    weights
        ``relative`` or ``absolute`` deviations.
    robust
        Let outliers count less.

    Returns
    -------
    Model
        With coefficients, intervals, deviations and, for ``auto``, the ranking.

    Raises
    ------
    InputError
        If the data do not hold the variables, or not enough of them; says what to measure. If the
        family of one's own cannot be fitted. Of several operations, those that cannot are left out
        with a warning, unless it is all of them.
    """
    if weights not in linear.WEIGHTS:
        raise InputError(f"there are no weights '{weights}'", hint="there are: relative, absolute")
    # an unknown name is the first thing to say
    named = name if isinstance(name, Family) else None if name == AUTO else declaration(name)
    if isinstance(name, Family):
        check_family(name)
    samples = samples_of(measured)
    options = Options(splits or Splits(), weights, robust)
    if named is None and several(samples):
        return _of_sizes(samples, options)
    if named is not None and of_bytes(named):
        refuse_one_size(samples)
        return _fitted(together(samples), named, options)
    return _fitted(apart(samples), named, options)


def _of_sizes(samples: Samples, options: Options) -> Model:
    """Fit several sizes of counted messages at once, unless that describes them much worse.

    A formula for all sizes answers what those of each do not: another size.
    """
    candidates, reasons = list[Model](), list[str]()
    for family in filter(of_bytes, map(declaration, declared())):
        try:
            candidates.append(_fitted(together(samples), family, options))
        except InputError as error:
            reasons.append(f"the formula {family.name} does not fit all sizes: {error}")
    joint = min(candidates, key=_error, default=None)
    try:
        separate = _fitted(apart(samples), None, options)
    except InputError:
        if joint is None:
            raise
        return joint
    separate.warnings += reasons
    good = max(MUCH_WORSE * _error(separate), WELL)
    if len(separate.selectors["bytes"]) < len(separate.sizes):
        good = HOPELESS  # some sizes have no formula of their own
    if joint is None or _error(joint) > good:
        return separate
    rows = [
        auto.row_of(name, _error(model), None, [segment.terms for segment in model.segments])
        for model, name in ((joint, joint.family), (separate, separate.family + EACH))
    ]
    joint.ranking = [{"where": {}, "families": rows}]
    return joint


def _error(model: Model) -> float:
    """Return the average deviation of points that were left out."""
    return float(model.quality["held_out"]["point"]["average"])


def _fitted(samples: Samples, named: Family | None, options: Options) -> Model:
    """Fit samples that are arranged as the family needs them."""
    observed = samples.observations()
    if named is not None:
        ops = dict.fromkeys(str(points.where["op"]) for points in observed if "op" in points.where)
        if len(ops) > 1:
            raise InputError(
                f"the data have several operations, but '{named.name}' describes a single one",
                hint=f"choose one with --op: {', '.join(ops)}; or --family auto",
            )
    fits, ranking, backtests = list[Fitted](), list[dict[str, Any]](), []
    left_out, neighbours = list[InputError](), list[Neighbours]()
    for points in observed:
        try:
            if named is None:
                fitted, rows = _best(points, options)
                ranked = [{"where": points.where, "families": rows}] if rows else []
            else:
                ranked, fitted = [], auto.of_pool(_family_pool(named, points), points, options)
            tried = backtested(fitted, partial(_again, named, options))
            between = None if named else _neighbours(fitted, tried)
            if named is None and not (between and between.needs_no_formula):
                _refuse_hopeless(fitted, samples)
            if not needed(fitted.segments):  # it says nothing of what was varied
                raise InputError("the times do not depend on any varied variable")
        except InputError as error:
            where = ", ".join(f"{key} {value}" for key, value in points.where.items())
            left_out.append(InputError(error.what, where=error.where or where, hint=error.hint))
            continue
        ranking += ranked
        fits.append(fitted)
        backtests += tried
        neighbours += [between] if between else []
    if not fits:
        raise left_out[0]
    observed = [fitted.observed for fitted in fits]
    sizes = np.zeros(0)
    if adding(samples.variables):
        sizes = samples.selectors.get("bytes", samples.variables.get("b", sizes))
    fitted_ops = {str(points.where.get("op", "")) for points in observed}
    model = Model(
        [segment for fitted in fits for segment in fitted.segments],
        weights=options.weights,
        ranking=ranking,
        backtests=backtests,
        made_from=samples.made_from,
        origin=samples.origin,
        experiment=samples.experiment,
        sizes=np.unique(sizes).astype(float).tolist(),
        constant=samples.constants,
        full_node=samples.full_node,
        neighbours=neighbours,
        kept={
            key: own
            for key, every in samples.kept.items()
            if (own := [entry for entry in every if getattr(entry, kept()[key].op) in fitted_ops])
        },
    )
    model.samples = samples
    held_out = cross_validate([(fitted.parts, fitted.observed) for fitted in fits])
    model.quality = goodness_of_fit(model, observed) | {"held_out": held_out}
    model.warnings = [
        *(f"skipped: {error}" for error in left_out),
        *questionable(samples),
        *lack_of_fit(model, observed),
        *steps(model, observed),
        *_warnings(model, samples),
        *(broken() if named is None else []),
    ]
    return model


def _best(points: Observations, options: Options) -> tuple[Fitted, list[dict[str, object]]]:
    """Return the best formulas and the ranking; of few numbers of ranks, what follows these."""
    try:
        return auto.ranked(points, options)
    except InputError:
        fitted = auto.of_few_ranks(points, options)
        if fitted is None:
            raise
        return fitted, []


def _refuse_hopeless(fitted: Fitted, samples: Samples) -> None:
    """Refuse a formula that describes nothing; name the noise if that is why.

    Groups of a grid are kept as measured beside the formula.
    """
    if GROUP in fitted.observed.where or fitted.error <= HOPELESS:
        return
    noise = noise_behind(samples.only(**fitted.observed.where), fitted.error)
    raise InputError(
        "no family of models describes these data: the best one has an error of "
        f"{format_error(fitted.error)} on average in cross-validation{noise and f': {noise}'}",
        hint=MORE_REPETITIONS if noise else "measure more points, or choose a family with --family",
    )


def _neighbours(fitted: Fitted, backtests: list[Backtest]) -> Neighbours | None:
    """Return the measured times, if lines between them are better than the formula."""
    tried = float(np.log1p(backtests[0].average)) if backtests else None
    return neighbours_of(
        fitted.observed,
        lambda points: by_formula(fitted.segments, points)[1],
        fitted.segments[0].rising,
        tried,
    )


def _again(
    named: Family | None, options: Options, points: Observations, segment: Segment
) -> Segment:
    """Choose the formula of a segment by some of its points."""
    pool = (
        auto.every_pool(usable_pools(declared(), points), points)
        if named is None
        else _family_pool(named, points)
    )
    return auto.in_region(pool, points, segment, options)


def _family_pool(chosen: Family, observed: Observations) -> Pool:
    """Return the formulas of a family for the variables of one operation; refuse if none fits."""
    fitting = within(chosen, observed.variables)
    if not fitting.forms:
        needed = variables_of([term for form in chosen.forms for term in form.terms])
        missing = [name for name in needed if name not in observed.variables]
        raise InputError(
            f"'{chosen.name}' needs the variable{'s' if len(missing) > 1 else ''} "
            f"{', '.join(missing)}",
            hint=what_to_vary(missing, observed.constant)
            or f"the data have {', '.join(observed.variables)}",
        )
    return family_pool(fitting, observed)


def _warnings(model: Model, samples: Samples) -> list[str]:
    remarks = []
    if min((segment.degrees_of_freedom for segment in model.segments), default=0) < 3:
        remarks.append("few independent points: intervals are wide")
    error = model.quality["held_out"]["point"]["median"]
    if error > HOPELESS:
        noise = noise_behind(samples, error)
        remarks.append(
            f"the median leave-one-out error is {format_error(error)}: "
            + (
                f"{noise}; {MORE_REPETITIONS}"
                if noise
                else "predictions of this formula are unreliable"
            )
        )
    nodes = samples.variables.keys() & {"nodes", "ppn"}
    breaks = [switch for switch in switches(model.segments) if switch.name == "p" and not nodes]
    if breaks:
        remarks.append(
            f"the formula changes from p = {breaks[0].below:g} to {breaks[0].above:g}: if a node "
            "has so "
            "many ranks, add columns 'nodes' and 'ppn'"
        )
    return remarks

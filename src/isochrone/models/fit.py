"""Fit a family of models to measurements, or try all and keep the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base import registry
from isochrone.base.errors import InputError
from isochrone.models import linear
from isochrone.models.cross_validation import RegimeFit, cross_validate, leave_one_group_out_error
from isochrone.models.deviation import r_squared
from isochrone.models.family import Family, Form
from isochrone.models.load import Measured, samples_of
from isochrone.models.model import Model
from isochrone.models.observations import Observations
from isochrone.models.quality import goodness_of_fit
from isochrone.models.regime import Regime
from isochrone.models.splits import Region, Splits, find_regions
from isochrone.models.terms import evaluate_term, variables_of

__all__ = ["AUTO", "family", "fit"]

Array = NDArray[np.float64]

AUTO: Final = "auto"

_AS_GOOD: Final = (1.05, 0.001)
"""Errors that are a twentieth larger, or by a tenth of a per cent of the time, are the same: then
the family with fewer coefficients is taken."""

HOPELESS: Final = 0.5
"""Leave-one-out error from which a formula is said to predict little."""

_FOREIGN: Final = 1.5
"""Coefficients that a family may have more if it was made for the operation."""


@dataclass(frozen=True)
class Fitted:
    """One family fitted to the observations of one operation."""

    name: str
    family: Family
    regimes: list[Regime]
    parts: list[RegimeFit]

    @property
    def coefficients(self) -> int:
        """Number of all coefficients."""
        return sum(len(regime.terms) for regime in self.regimes)


@dataclass(frozen=True)
class _Options:
    """How to fit: see `fit`."""

    splits: Splits
    weights: str
    robust: bool


@cache
def family(name: str) -> Family:
    """Return the declaration of a family.

    Raises
    ------
    InputError
        If there is none of this name; says which there are.
    """
    found = registry.load("models.families", name).FAMILY
    assert isinstance(found, Family)
    return found


def fit(
    measured: Measured,
    name: str = AUTO,
    *,
    splits: Splits | None = None,
    weights: str = "relative",
    robust: bool = False,
) -> Model:
    """Fit a family to measurements.

    Parameters
    ----------
    measured
        A run, or several; paths of run files or CSV files; or samples that were read already.
    name
        Name of a family, or ``auto``: all that the variables allow are tried, and the one with the
        least leave-one-group-out error is taken.
    splits
        Regimes; looked for if None.
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
        If the data do not hold the variables, or not enough of them; says what to measure.
    """
    if weights not in linear.WEIGHTS:
        raise InputError(f"no weights '{weights}'", hint="there are: relative, absolute")
    samples = samples_of(measured)
    options = _Options(splits or Splits(), weights, robust)
    observed = samples.observations()
    if name != AUTO:
        family(name)  # an unknown name is the first thing to say
        _check_operations(name, observed)
    chosen, ranking = [], []
    for one in observed:
        if name == AUTO:
            best, tried = _best_family(one, options)
            ranking.append({"where": one.where, "families": tried})
        else:
            best = _fit_family(name, one, options)
        chosen.append(best)
    model = Model(
        [regime for best in chosen for regime in best.regimes],
        weights=weights, ranking=ranking, made_from=samples.made_from, origin=samples.origin,
    )  # fmt: skip
    parts = [best.parts for best in chosen]
    held_out = cross_validate(list(zip(parts, observed, strict=True)))
    model.quality = goodness_of_fit(model, observed) | {"held_out": held_out}
    model.warnings = _warnings(model, observed)
    return model


def _fit_family(name: str, observed: Observations, options: _Options) -> Fitted:
    """Fit one family to the observations of one operation."""
    chosen = family(name)
    missing = [v for v in _variables(chosen) if v not in observed.variables]
    if missing:
        raise InputError(
            f"'{name}' needs the variable{'s' if len(missing) > 1 else ''} {', '.join(missing)}",
            hint=f"the data hold {', '.join(observed.variables)}",
        )
    regimes, parts = [], []
    for region in find_regions(chosen, observed, options.splits, options.weights):
        variables = {key: values[region.mask] for key, values in observed.variables.items()}
        fitted, form = _best_form(chosen, variables, observed.seconds[region.mask], options)
        parts.append(RegimeFit(fitted, region.mask))
        regimes.append(_regime(name, form, fitted, observed, region))
    return Fitted(name, chosen, regimes, parts)


def _best_form(
    chosen: Family, variables: dict[str, Array], seconds: Array, options: _Options
) -> tuple[linear.Fit, Form]:
    """Fit the forms of a family and take the one with the least leave-one-group-out error."""
    found: list[tuple[float, linear.Fit, Form]] = []
    failed: InputError | None = None
    everything = np.ones(len(seconds), dtype=bool)
    for form in chosen.forms:
        try:
            fitted = linear.fit(
                form.terms, variables, seconds, weights=options.weights, robust=options.robust
            )
        except InputError as failure:
            failed = failed or failure
            continue
        error = leave_one_group_out_error([RegimeFit(fitted, everything)], variables, seconds)
        found.append((error, fitted, form))
    if not found:
        assert failed is not None
        raise failed
    limit = _as_good(min(error for error, *_ in found))
    _, fitted, form = min(
        (one for one in found if one[0] <= limit), key=lambda one: len(one[2].terms)
    )
    return fitted, form


def _as_good(least: float) -> float:
    """Return the error up to which another fit is as good as the best."""
    return max(_AS_GOOD[0] * least, _AS_GOOD[1] + least)


def _regime(
    name: str, form: Form, fitted: linear.Fit, observed: Observations, region: Region
) -> Regime:
    inside = {key: values[region.mask] for key, values in observed.variables.items()}
    used = list(dict.fromkeys([*variables_of(form.terms), *region.range]))
    measured = {key: evaluate_term(key, inside) for key in used}
    return Regime(
        family=name, where=observed.where, range=region.range,
        terms=list(form.terms), symbols=list(form.symbols),
        coefficients=fitted.coefficients.tolist(),
        low=fitted.low.tolist(), high=fitted.high.tolist(), covariance=fitted.covariance.tolist(),
        sigma=fitted.sigma, degrees_of_freedom=fitted.degrees_of_freedom,
        fitted={key: (float(v.min()), float(v.max())) for key, v in measured.items()},
        r2=r_squared(fitted.predicted, observed.seconds[region.mask]),
        points=int(region.mask.sum()),
    )  # fmt: skip


def _best_family(observed: Observations, options: _Options) -> tuple[Fitted, list[dict[str, Any]]]:
    """Try all families whose variables the data hold; return the best, and the ranking."""
    tried: list[tuple[Fitted, float]] = []
    failed: list[dict[str, Any]] = []
    for name in registry.names("models.families"):
        if not set(_variables(family(name))) <= observed.variables.keys():
            continue
        try:
            fitted = _fit_family(name, observed, options)
        except InputError as failure:
            failed.append({"family": name, "held_out": None, "reason": str(failure)})
            continue
        error = leave_one_group_out_error(fitted.parts, observed.variables, observed.seconds)
        tried.append((fitted, error))
    if not tried:
        reason = failed[0]["reason"] if failed else "the data hold no variables of a family"
        raise InputError(f"no family of models can be fitted: {reason}")
    best = _simplest(tried, observed.where.get("op"))
    tried.sort(key=lambda pair: (pair[0] is not best, pair[1]))
    rows = [
        {
            "family": fitted.name, "held_out": error,
            "pieces": len(fitted.regimes), "coefficients": fitted.coefficients,
        }
        for fitted, error in tried
    ]  # fmt: skip
    return best, rows + failed


def _simplest(tried: Sequence[tuple[Fitted, float]], operation: object) -> Fitted:
    """Return the fit with the fewest coefficients of those that are as good as the best."""
    limit = _as_good(min(error for _, error in tried))
    return min(
        (pair for pair in tried if pair[1] <= limit),
        key=lambda pair: (
            pair[0].coefficients + _FOREIGN * (operation not in pair[0].family.operations),
            len(pair[0].family.forms),
            pair[1],
        ),
    )[0]


def _check_operations(name: str, observed: Sequence[Observations]) -> None:
    """Refuse to fit a formula of one operation to several others at once."""
    found = [str(one.where["op"]) for one in observed if "op" in one.where]
    if len(set(found)) > 1:
        raise InputError(
            f"the data hold several operations, but '{name}' describes a single one",
            hint=f"choose one with --op: {', '.join(dict.fromkeys(found))}; or --model auto",
        )


def _warnings(model: Model, observed: Sequence[Observations]) -> list[str]:
    found = []
    least = min((regime.degrees_of_freedom for regime in model.regimes), default=0)
    if least < 3:
        found.append(
            f"a regime has only {least} degree{'s' if least != 1 else ''} of freedom: "
            "its intervals are wide"
        )
    error = model.quality.get("held_out", {}).get("point", {}).get("average", 0.0)
    if error > HOPELESS:
        found.append(
            f"the leave-one-out error is {100 * error:.0f} % on average: "
            "predictions of this formula are unreliable"
        )
    if any(np.any(model.predict(one.variables, one.where).seconds <= 0) for one in observed):
        found.append("the formula gives times of zero or less within the data")
    return found


def _variables(chosen: Family) -> list[str]:
    return variables_of([term for form in chosen.forms for term in form.terms])

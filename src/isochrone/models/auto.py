"""Which formulas describe an operation: pieces of any family, along any variable, or one family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from isochrone.base.errors import InputError
from isochrone.models.choice import simplest
from isochrone.models.family import declaration, declared, fewest_coefficients
from isochrone.models.fitted import Fitted, PoolFitter, fit_again, refuse_too_few
from isochrone.models.linear import refuse_vanished
from isochrone.models.observations import Observations
from isochrone.models.placement import GROUP
from isochrone.models.pool import Pool, family_pool, in_order, usable, whole_pool
from isochrone.models.splits import Options, Region

__all__ = ["HOPELESS", "best", "ranked"]

MANY: Final = 1000
"""Points that families and regimes are chosen by; of more, as many that are spread evenly."""

HOPELESS: Final = 0.5
"""Held-out error from which a formula describes nothing."""


def ranked(observed: Observations, options: Options) -> tuple[Fitted, list[dict[str, Any]]]:
    """Return the best of all families and of their pieces, and what was tried, the best first."""
    whole, observed = observed, thinned(observed)
    pool = _pool(observed)
    tried, failed = _by_family(observed, options)
    mixed, reasons = _mixed(pool, observed, options)
    if not tried and not mixed:
        reason = failed[0]["reason"] if failed else reasons[0]
        raise InputError(f"no family of models can be fitted: {reason}")
    every = [*(fitted for _, fitted in tried), *mixed]
    taken = simplest(every, [one.overdetermined for one in every], observed)
    # groups of a grid are kept as measured beside the formula
    if GROUP not in observed.where and taken.error > HOPELESS:
        raise InputError(
            "no formula of mine describes this: the best one is off by "
            f"{100 * taken.error:.0f} % on average at points that were left out",
            hint="measure more points; --model FAMILY fits a certain formula all the same",
        )
    named = [(name, one) for name, one in tried if one is not taken]
    named.sort(key=lambda pair: pair[1].error)
    own = next(
        (name for name, one in tried if one is taken),
        " + ".join(dict.fromkeys(one.family for one in taken.regimes)),
    )
    rows = [
        {
            "family": name, "held_out": one.error, "sicc": one.sicc,
            "pieces": len(one.regimes), "coefficients": one.coefficients,
        }
        for name, one in [(own, taken), *named]
    ]  # fmt: skip
    if any(one is taken for _, one in tried):  # it was held against its own family only
        taken = PoolFitter(pool, observed, options).compared(taken)
    return (taken if whole is observed else fit_again(taken, whole, options)), rows + failed


def best(observed: Observations, options: Options) -> Fitted:
    """Return the best pieces of any families."""
    observed = thinned(observed)
    mixed, reasons = _mixed(_pool(observed), observed, options)
    if not mixed:
        raise InputError(f"no family of models can be fitted: {reasons[0]}")
    return simplest(mixed, [one.overdetermined for one in mixed], observed)


def thinned(observed: Observations) -> Observations:
    """Return points that are spread evenly over all; all if they are not many."""
    if len(observed) <= MANY:
        return observed
    order = np.lexsort([observed.variables[name] for name in observed.variables])
    mine = np.zeros(len(observed), dtype=bool)
    mine[order[np.linspace(0, len(observed) - 1, MANY).round().astype(np.int64)]] = True
    return observed.only(mine)


def _pool(observed: Observations) -> Pool:
    pool = whole_pool(declared(), observed)
    _refuse_if_all_vanish(pool, observed)  # more points like these would not help
    refuse_too_few(len(observed), fewest_coefficients(observed.variables))
    if not pool.candidates:
        raise InputError("no family of models can be fitted: the data hold no variables of one")
    return pool


def _refuse_if_all_vanish(pool: Pool, observed: Observations) -> None:
    """Refuse data in which each formula has a term that is 0 everywhere."""
    reasons = []
    for form in pool.forms:
        try:
            refuse_vanished(form.terms, observed.variables)
        except InputError as reason:
            reasons.append(reason)
        else:
            return
    if reasons:
        raise reasons[0]


def _by_family(
    observed: Observations, options: Options
) -> tuple[list[tuple[str, Fitted]], list[dict[str, Any]]]:
    """Fit each family by itself; return also those that cannot be, with the reason."""
    tried, failed = [], []
    for name in in_order(declared(), observed):
        forms = tuple(usable(declaration(name), observed))
        if not forms:
            continue
        chosen = replace(declaration(name), forms=forms)
        try:
            one = PoolFitter(family_pool(chosen, observed), observed, options).fit()
            tried.append((name, one))
        except InputError as failure:
            failed.append({"family": name, "held_out": None, "reason": str(failure)})
    return tried, failed


def _mixed(pool: Pool, observed: Observations, options: Options) -> tuple[list[Fitted], list[str]]:
    """Cut the data along each variable first, and take for each piece the formula that fits it."""
    found: dict[str, Fitted] = {}
    reasons = []
    fitter = PoolFitter(pool, observed, options)
    ways: list[Callable[[], list[Region]]] = [
        fitter.search.given, *(partial(fitter.search.regions, v) for v in fitter.search.along),
    ]  # fmt: skip
    for way in ways:
        try:
            one = fitter.fit_regions(way())
        except InputError as failure:
            reasons.append(str(failure))
            continue
        found[repr([(regime.range, regime.terms) for regime in one.regimes])] = one
    return list(found.values()), reasons

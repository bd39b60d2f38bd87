"""A time below which a model does not fall, where its variables are known within limits only.

Each factor of a term rises or falls with all of its variables, so that its values at both ends of
the limits enclose it; terms and sums follow by interval arithmetic (Moore 1966, *Interval
Analysis*). The limits may leave open which regime holds: then the least of those that may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from isochrone.models.regime import Regime, octaves_beyond
from isochrone.models.terms import evaluate_term

__all__ = ["least"]

Array = NDArray[np.float64]
Limits = Mapping[str, Array]


@np.errstate(divide="ignore", invalid="ignore", over="ignore")  # what is no number is no bound
def least(regimes: Sequence[Regime], low: Limits, high: Limits) -> Array:
    """Return a lower bound of what the formulas give, shape (n,).

    Parameters
    ----------
    regimes
        Of one operation, order …; as `Model.chosen` returns them.
    low, high
        Each variable lies between these; equally long arrays.
    """
    bounds = np.stack([_formula(regime, low, high) for regime in regimes])
    if len(regimes) == 1:
        return np.asarray(bounds[0])
    near, far = np.stack([_distances(regime, low, high) for regime in regimes], axis=1)
    # the regime at the least distance holds
    possible = near <= far.min(axis=0)
    return np.asarray(np.where(possible, bounds, np.inf).min(axis=0))


def _formula(regime: Regime, low: Limits, high: Limits) -> Array:
    total = np.zeros(len(next(iter(low.values()))))
    for term, coefficient in zip(regime.terms, regime.coefficients, strict=True):
        total = total + coefficient * _range(term, low, high)[0 if coefficient >= 0 else 1]
    return np.where(np.isnan(total), -np.inf, total)


def _range(term: str, low: Limits, high: Limits) -> tuple[Array, Array]:
    """Return the least and the largest value of a term."""
    length = len(next(iter(low.values())))
    least, most = np.ones(length), np.ones(length)
    for factor in term.split("*"):
        ends = np.stack([evaluate_term(factor, low), evaluate_term(factor, high)])
        products = np.concatenate([least * ends, most * ends])
        least, most = products.min(axis=0), products.max(axis=0)
    return least, most


def _distances(regime: Regime, low: Limits, high: Limits) -> tuple[Array, Array]:
    """Return how far from the regime the nearest and the farthest point may be, in octaves."""
    near, far = np.zeros((2, len(next(iter(low.values())))))
    for name, (begin, end) in {**regime.range, **regime.switch}.items():
        value = _range(name, low, high)
        for bound, side, nearest in ((begin, -1.0, 1), (end, 1.0, 0)):
            if bound is not None:
                near += octaves_beyond(value[nearest], bound, side)
                far += octaves_beyond(value[1 - nearest], bound, side)
    return near, far

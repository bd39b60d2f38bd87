"""What belongs to an end and what to a link: a robust fit of t_ij = level + cost_i + cost_j."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from isochrone.base.stats import MAD_TO_SIGMA, Q80_TO_SIGMA

__all__ = ["CostFit", "fit_costs"]

Matrix = NDArray[np.float64]

SWEEPS: Final = 14
"""Reweightings; the smoothing of |r| shrinks from 10 % of the level to 0.01 % on the way."""

SETTLED: Final = 1e-4
"""Costs that change by less than this part of the level have been found."""

SPARING: Final = 1.0
"""A cost counts as much as one residual of its size: it must explain more than one pair. Where
the pairs leave it open what is slow, as with one slow link among four nodes, the fit with fewer
costs is taken, and what all pairs have in common is base and not cost."""

NO_COST: Final = 0.01
"""A cost of less than this part of the level is none: that end uses up no degree of freedom (as in
the lasso: Zou, Hastie & Tibshirani 2007, *Annals of Statistics* 35, 2173–2192)."""

MIN_PARTNERS: Final = 3
"""An end measured with fewer others has no cost of its own: it could not be told from its links."""


@dataclass(frozen=True)
class CostFit:
    """A fitted map.

    Attributes
    ----------
    base
        Time of each level between two ends without extra cost, in seconds; NaN for a level that
        has no pair.
    cost
        What each end adds to all of its pairs, in seconds; the median end adds 0.
    expected
        What the fit expects of every pair, in seconds.
    spread
        Robust standard deviation of log(measured / expected).
    degrees_of_freedom
        Pairs less fitted numbers: how much is known about the spread.
    """

    base: Matrix
    cost: Matrix
    expected: Matrix
    spread: float
    degrees_of_freedom: int


def fit_costs(times: Matrix, level: NDArray[np.int8], levels: int) -> CostFit:
    """Fit one base time for each level and one cost for each end by least absolute deviations.

    The sum of |t_ij - L_level(ij) - c_i - c_j| / L_level(ij) is made smallest, so that a slow link
    does not spoil the costs of its two ends; costs are used sparingly (`SPARING`). Solved by
    iteratively reweighted least squares (Schlossmacher 1973, *An iterative technique for absolute
    deviations curve fitting*, JASA 68, 857–859).

    Parameters
    ----------
    times
        Symmetric matrix of round trips in seconds; NaN where a pair is not to be used.
    level
        Level of each pair, 0 for the closest.
    levels
        Number of levels.
    """
    used = np.isfinite(times)
    np.fill_diagonal(used, False)
    base = _medians(times, used, level, levels)
    unit = float(np.median(times[used])) if used.any() else 1.0
    scale = np.where(used, base[level], unit)
    known = np.where(used, times, 0.0)
    own = scale.mean(axis=1)
    cost = np.zeros(len(times))
    fitted = used.sum(axis=1) >= MIN_PARTNERS
    if fitted.any():
        for width in np.geomspace(0.1, 1e-4, SWEEPS):
            residual = np.where(used, times - base[level] - cost[:, None] - cost, 0.0)
            weight = used / (scale * np.maximum(np.abs(residual), width * scale))
            pull = SPARING / (own * np.maximum(np.abs(cost), width * own))
            last = cost
            base, cost = _solve(known, weight, level, levels, np.where(fitted, pull, np.inf))
            if np.all(np.abs(cost - last) <= SETTLED * own):
                break
        cost -= np.where(fitted, np.median(cost[fitted]), 0.0)
    # given the costs, the best base times are plain medians
    base = _medians(times - cost[:, None] - cost, used, level, levels)
    expected = np.maximum(base[level] + cost[:, None] + cost, 0.1 * base[level])
    costly = int(np.sum(np.abs(cost) > NO_COST * own))
    freedom = int(used.sum()) // 2 - costly - int(np.isfinite(base).sum())
    return CostFit(base, cost, expected, _spread(times, expected, used, freedom), freedom)


def _medians(times: Matrix, used: NDArray[np.bool_], level: NDArray[np.int8], n: int) -> Matrix:
    members = (times[used & (level == k)] for k in range(n))
    return np.array([np.median(m) if m.size else np.nan for m in members])


def _solve(
    times: Matrix,
    weight: Matrix,
    level: NDArray[np.int8],
    levels: int,
    pull: Matrix,
) -> tuple[Matrix, Matrix]:
    """Solve the normal equations of one weighted least-squares step for base times and costs.

    ``pull`` is the weight with which each cost is held at zero; infinite where it is zero.
    """
    n = len(times)
    system = np.zeros((n + levels, n + levels))
    right = np.zeros(n + levels)
    system[:n, :n] = weight
    np.fill_diagonal(system[:n, :n], weight.sum(axis=1) + pull)
    weighted = weight * times
    right[:n] = weighted.sum(axis=1)
    for k in range(levels):
        inside = level == k
        shared = np.where(inside, weight, 0.0).sum(axis=1)
        system[:n, n + k] = system[n + k, :n] = shared
        system[n + k, n + k] = shared.sum() / 2
        right[n + k] = weighted[inside].sum() / 2
    diagonal = np.diagonal(system)
    free = np.flatnonzero(np.isfinite(diagonal) & (diagonal > 0))
    solution = np.zeros(n + levels)
    solution[free] = solve(system[np.ix_(free, free)], right[free], assume_a="pos")
    return solution[n:], solution[:n]


def _spread(times: Matrix, expected: Matrix, used: NDArray[np.bool_], freedom: int) -> float:
    """Estimate the spread from the residuals that the fit could not make zero by its freedom.

    An exact fit through as many points as it has numbers says nothing about noise, so only the
    ``freedom`` largest residuals count (Maronna, Martin & Yohai 2006, *Robust Statistics*, 4.4.2).
    If more than a fifth of them are large, this is no noise with outliers but a wide distribution,
    such as the distances on a small torus.
    """
    above = np.triu(used, 1)
    residual = np.sort(np.abs(np.log(times[above] / expected[above])))[-freedom:]
    if freedom < 1:
        return np.inf
    return max(
        MAD_TO_SIGMA * float(np.median(residual)), Q80_TO_SIGMA * float(np.quantile(residual, 0.8))
    )

"""What belongs to an end and what to a link: a robust fit of t_ij = level + cost_i + cost_j."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

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
    pairs = _pairs(times, level, levels)
    base = pairs.medians(pairs.time)
    unit = float(np.median(pairs.time)) if pairs.time.size else 1.0
    scale = base[pairs.level]
    partners = np.bincount(pairs.i, minlength=pairs.ranks)
    partners += np.bincount(pairs.j, minlength=pairs.ranks)
    own = (pairs.sums(scale).sum(axis=0) + unit * (pairs.ranks - partners)) / pairs.ranks
    cost = np.zeros(pairs.ranks)
    fitted = partners >= MIN_PARTNERS
    if fitted.any():
        for width in np.geomspace(0.1, 1e-4, SWEEPS):
            residual = np.abs(pairs.without(cost) - base[pairs.level])
            weight = 1 / (scale * np.maximum(residual, width * scale))
            pull = SPARING / (own * np.maximum(np.abs(cost), width * own))
            last = cost
            base, cost = _solve(pairs, weight, np.where(fitted, pull, np.inf))
            if np.all(np.abs(cost - last) <= SETTLED * own):
                break
        cost -= np.where(fitted, np.median(cost[fitted]), 0.0)
    # given the costs, the best base times are plain medians
    base = pairs.medians(pairs.without(cost))
    bases = base[level]
    expected = np.maximum(bases + cost[:, None] + cost, 0.1 * bases)
    costly = int(np.sum(np.abs(cost) > NO_COST * own))
    freedom = pairs.time.size - costly - int(np.isfinite(base).sum())
    spread = _spread(pairs.time / expected[pairs.i, pairs.j], freedom)
    return CostFit(base, cost, expected, spread, freedom)


@dataclass(frozen=True)
class _Pairs:
    """The pairs that a fit rests on, each once: its ends ``i < j``, its level, its round trip."""

    ranks: int
    levels: int
    i: NDArray[np.intp]
    j: NDArray[np.intp]
    level: NDArray[np.intp]
    time: Matrix

    def without(self, cost: Matrix) -> Matrix:
        """Return the round trips without the costs of both ends."""
        return self.time - cost[self.i] - cost[self.j]

    def medians(self, values: Matrix) -> Matrix:
        """Return the median of each level; NaN for one without pairs."""
        members = (values[self.level == k] for k in range(self.levels))
        return np.array([np.median(m) if m.size else np.nan for m in members])

    def sums(self, values: Matrix) -> Matrix:
        """Sum the pairs of each rank on each level, one row for each level."""
        size = self.levels * self.ranks
        sums = np.bincount(self.of_i, values, size) + np.bincount(self.of_j, values, size)
        return np.asarray(sums.reshape(self.levels, self.ranks))

    @cached_property
    def of_i(self) -> NDArray[np.intp]:
        """Place of the lower end among the sums."""
        return self.level * self.ranks + self.i

    @cached_property
    def of_j(self) -> NDArray[np.intp]:
        """Place of the higher end among the sums."""
        return self.level * self.ranks + self.j


def _pairs(times: Matrix, level: NDArray[np.int8], levels: int) -> _Pairs:
    """Return the pairs above the diagonal that have a time."""
    i, j = np.nonzero(np.triu(np.isfinite(times), 1))
    return _Pairs(len(times), levels, i, j, level[i, j].astype(np.intp), times[i, j])


def _solve(pairs: _Pairs, weight: Matrix, pull: Matrix) -> tuple[Matrix, Matrix]:
    """Solve the normal equations of one weighted least-squares step for base times and costs.

    ``pull`` is the weight with which each cost is held at zero; infinite where it is zero.
    """
    n = pairs.ranks
    shared, weighted = pairs.sums(weight), pairs.sums(weight * pairs.time)
    right = np.concatenate([weighted.sum(axis=0), weighted.sum(axis=1) / 2])
    # symmetric: the lower triangle, by columns, is all that LAPACK reads
    system = np.zeros((right.size, right.size), order="F")
    system[pairs.j, pairs.i] = weight
    system[n:, :n] = shared
    diagonal = np.concatenate([shared.sum(axis=0) + pull, shared.sum(axis=1) / 2])
    # an unknown that is zero takes no part: its equation becomes x = 0
    zero = ~(np.isfinite(diagonal) & (diagonal > 0))
    system[zero, :] = system[:, zero] = right[zero] = 0.0
    np.fill_diagonal(system, np.where(zero, 1.0, diagonal))
    solution = cho_solve(cho_factor(system, lower=True, overwrite_a=True), right)
    return solution[n:], solution[:n]


def _spread(ratio: Matrix, freedom: int) -> float:
    """Estimate the spread from the residuals that the fit could not make zero by its freedom.

    ``ratio`` is measured over expected time of each pair. An exact fit through as many points as
    it has numbers says nothing about noise, so only the ``freedom`` largest residuals count
    (Maronna, Martin & Yohai 2006, *Robust Statistics*, 4.4.2). If more than a fifth of them are
    large, this is no noise with outliers but a wide distribution, such as the distances on a small
    torus.
    """
    if freedom < 1:
        return np.inf
    residual = np.sort(np.abs(np.log(ratio)))[-freedom:]
    return max(
        MAD_TO_SIGMA * float(np.median(residual)), Q80_TO_SIGMA * float(np.quantile(residual, 0.8))
    )

"""Weighted least squares on the terms of a formula, with what the fit is worth.

Deviations are relative by default, because times span decades: the standard deviation of a time is
taken to be proportional to the time the formula gives. The weights come from the fitted times and
not from the measured ones, which would draw the formula to the times that are too short by chance;
they are found by repetition (Wedderburn 1974, *Quasi-likelihood functions, generalized linear
models, and the Gauss-Newton method*, Biometrika 61, 439-447).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.special import stdtrit

from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.base.stats import MAD_TO_SIGMA, median_of
from isochrone.models.data.starts import spread_of
from isochrone.models.data.terms import design_matrix, variables_of

WEIGHTS = ("relative", "absolute")

_HUBER = 1.345
"""In standard deviations: 95 % efficient for normal samples (Huber 1981, *Robust Statistics*)."""

_MIN_INDEPENDENT_COLUMN = 1e-10
"""A term depends on others if this little of its column is left beside them."""

_SHARE = 1e-6
"""A column that depends on others holds less of one than this: that one has no part in it."""

_ITERATIONS = 6
_ROBUST_ITERATIONS = 50

_LOWEST = 0.05
"""Part of the measured time below which a fitted one is not believed as a weight."""


@dataclass(frozen=True)
class Fit:
    """Coefficients and what they are worth.

    Attributes
    ----------
    terms
        Their names.
    coefficients, low, high
        Seconds a unit of the term; the 95 % intervals are those of Student's t.
    covariance
        Shape (terms, terms).
    sigma
        Standard deviation of the observations around the formula, relative or in seconds.
    degrees_of_freedom
        Observations less terms.
    predicted
        Seconds at the points, shape (n,).
    orthonormal
        Orthonormal columns of the weighted problem, shape (n, terms): its hat matrix is that times
        its transpose.
    weights
        What the rows were multiplied by, shape (n,).
    """

    terms: tuple[str, ...]
    coefficients: Floats
    low: Floats
    high: Floats
    covariance: Floats
    sigma: float
    degrees_of_freedom: int
    predicted: Floats
    orthonormal: Floats
    weights: Floats


def fit(
    terms: Sequence[str],
    variables: Mapping[str, Floats],
    seconds: Floats,
    *,
    weights: str = "relative",
    robust: bool = False,
) -> Fit:
    """Fit the coefficients of terms to measured times.

    Parameters
    ----------
    terms
        Names of the terms.
    variables
        Arrays of shape (n,).
    seconds
        Measured times, shape (n,).
    weights
        ``relative`` or ``absolute`` deviations.
    robust
        Let points far away count less (Huber's M-estimator).

    Raises
    ------
    InputError
        If there are too few points, or terms are collinear; says what to measure.
    """
    x = design_matrix(terms, variables)
    count, width = x.shape
    if not np.any(x, axis=0).all():
        refuse_vanished(terms, variables)
    rows = x / seconds[:, None] if weights == "relative" else x
    rows = rows / np.abs(rows).max(axis=0)  # squares of the largest and smallest are no numbers
    named = [terms[k] for k in _dependent(rows / np.linalg.norm(rows, axis=0))]
    if named:
        raise InputError(
            f"the terms {' and '.join(named)} are collinear", hint=_advice(named, variables)
        )
    if count <= width:
        raise InputError(
            f"{count} points are too few to estimate {width} coefficients and an error",
            hint="measure more sizes, or more numbers of ranks",
        )
    scale, trust = _reweighted(x, seconds, weights, robust)
    solution, q, inverse = _solve(x, seconds, scale * np.sqrt(trust))
    predicted = x @ solution
    residuals = (seconds - predicted) * scale
    if robust:
        inverse = _solve(x, seconds, scale)[2]
    sigma, factor = _spread(residuals, width, trust)
    covariance = inverse @ inverse.T * factor**2
    half = float(stdtrit(max(count - width, 1), 0.975)) * np.sqrt(np.diag(covariance))
    return Fit(
        tuple(terms),
        solution,
        solution - half,
        solution + half,
        covariance,
        sigma,
        count - width,
        predicted,
        q,
        scale * np.sqrt(trust),
    )


def bounded(fit: Fit, free: Fit) -> Fit:
    """Return a fit of some terms as one of all those of ``free``: the others are 0, or hardly more.

    Their errors are those that they had while they could be below zero.
    """
    positions = [free.terms.index(term) for term in fit.terms]
    coefficients, low, high = np.zeros((3, len(free.terms)))
    covariance = np.diag(np.diag(free.covariance)).copy()
    high[:] = np.maximum(free.high, 0.0)
    coefficients[positions], low[positions], high[positions] = fit.coefficients, fit.low, fit.high
    covariance[np.ix_(positions, positions)] = fit.covariance
    return replace(
        fit, terms=free.terms, coefficients=coefficients, low=low, high=high, covariance=covariance
    )


def _reweighted(x: Floats, seconds: Floats, weights: str, robust: bool) -> tuple[Floats, Floats]:
    """Find by repeated fits what each row is multiplied by, and its Huber weight; shape (n,)."""
    scale = 1 / seconds if weights == "relative" else np.ones(len(seconds))
    trust = np.ones(len(seconds))
    for iteration in range(_ROBUST_ITERATIONS if robust else _ITERATIONS):
        rows = scale * np.sqrt(trust)
        q = _decomposed(x, rows)[0]
        predicted = q @ (q.T @ (seconds * rows)) / rows
        previous = scale, trust
        if weights == "relative":
            scale = 1 / np.where(predicted > _LOWEST * seconds, predicted, seconds)
        if robust:
            away = np.abs((seconds - predicted) * scale)
            away /= max(MAD_TO_SIGMA * median_of(away), 1e-300)
            trust = np.where(away <= _HUBER, 1.0, _HUBER / np.maximum(away, _HUBER))
        if iteration and all(
            np.all(np.abs(new - old) <= 1e-7 * old)
            for old, new in zip(previous, (scale, trust), strict=True)
        ):
            break
    return scale, trust


def refuse_vanished(terms: Sequence[str], variables: Mapping[str, Floats]) -> None:
    """Refuse a term that is 0 everywhere: its coefficient could be any number.

    Raises
    ------
    InputError
        With the first such term, and what to measure.
    """
    for term, column in zip(terms, design_matrix(terms, variables).T, strict=True):
        if not np.any(column):
            raise InputError(f"the term {term} is 0 everywhere", hint=_advice([term], variables))


def _dependent(columns: Floats) -> list[int]:
    """Return the fewest and first columns of which one is a sum of the others; empty if none is.

    QR with column pivoting moves the columns that depend on others to the end (Golub & Van Loan
    2013, *Matrix Computations*, section 5.4.2).
    """
    width = columns.shape[1]
    if (
        len(columns) >= width
        and np.linalg.svd(columns, compute_uv=False)[-1] >= _MIN_INDEPENDENT_COLUMN
    ):
        return []  # what is left of a column is never less than the least singular value
    r, order = qr(columns, mode="r", pivoting=True)
    left = np.zeros(width)  # with fewer rows than columns the last ones have nothing left
    left[: min(r.shape)] = np.abs(np.diagonal(r))
    rank = int(np.sum(left >= _MIN_INDEPENDENT_COLUMN))
    if rank == width:
        return []
    shares = solve_triangular(r[:rank, :rank], r[:rank, rank:])
    groups = []
    for k, share in enumerate(shares.T):
        others: list[int] = order[:rank][np.abs(share) > _SHARE].tolist()
        groups.append(sorted([*others, int(order[rank + k])]))
    return min(groups, key=lambda columns: (len(columns), columns))


def _advice(terms: Sequence[str], variables: Mapping[str, Floats]) -> str:
    """Say why terms are alike and what to measure."""
    needed = variables_of(terms)
    constant = [name for name in needed if np.ptp(variables[name]) == 0]
    if constant:
        name = constant[0]
        return f"{name} is always {variables[name][0]:g}: measure other values of it"
    text = " ".join(terms)
    if "log2(p)" in text and "floor" in text and np.all(np.log2(variables["p"]) % 1 == 0):
        return "all p are powers of two: measure other numbers of ranks, such as 3, 6 and 12"
    if "max(in,out)" in text and np.array_equal(variables["in"], variables["out"]):
        return "in and out are equal everywhere: measure different ones"
    return f"measure more combinations of {', '.join(needed)}" if needed else ""


def _decomposed(x: Floats, scale: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Q and R of the weighted columns at equal length, and their length."""
    rows = x * scale[:, None]
    length = np.sqrt(np.sum(rows**2, axis=0))
    q, r = np.linalg.qr(rows / length)
    return q, r, length


def _solve(x: Floats, seconds: Floats, scale: Floats) -> tuple[Floats, Floats, Floats]:
    """Solve by QR with columns of equal length; return coefficients, Q and a root of (X'X)⁻¹."""
    q, r, length = _decomposed(x, scale)
    coefficients = np.linalg.solve(r, q.T @ (seconds * scale)) / length
    return coefficients, q, np.linalg.inv(r) / length[:, None]


def _spread(residuals: Floats, width: int, trust: Floats) -> tuple[float, float]:
    """Return the spread of the observations, and that which counts for the coefficients.

    They are the same if all observations are trusted. Else the first is the spread by the MAD, and
    the second that of an M-estimator (Huber 1981, *Robust Statistics*, section 7.6).
    """
    count = len(residuals)
    pulled = float(np.sqrt(np.sum((residuals * trust) ** 2) / (count - width)))
    inside = float(np.mean(trust >= 1))
    if inside == 1 or inside == 0:
        return pulled, pulled
    correction = 1 + width / count * (1 - inside) / inside
    return spread_of(residuals, count - width), correction * pulled / inside

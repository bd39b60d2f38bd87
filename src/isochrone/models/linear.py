"""Weighted least squares on the terms of a formula, with what the fit is worth.

Deviations are relative by default, because times span decades: the standard deviation of a time is
taken to be proportional to the time the formula gives. The weights come from the fitted times and
not from the measured ones, which would draw the formula to the times that are too short by chance;
they are found by repetition (Wedderburn 1974, *Quasi-likelihood functions, generalized linear
models, and the Gauss-Newton method*, Biometrika 61, 439-447).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from isochrone.base.errors import InputError
from isochrone.base.stats import MAD_TO_SIGMA
from isochrone.models.terms import columns, variables_of

__all__ = ["Deviation", "Fit", "deviation", "fit", "group_error", "left_out", "r_squared"]

Array = NDArray[np.float64]

WEIGHTS: Final = ("relative", "absolute")

_HUBER: Final = 1.345
"""In standard deviations: 95 % efficient for normal samples (Huber 1981, *Robust Statistics*)."""

_DEPENDENT: Final = 1e-10
_ROUNDS: Final = 6
_ROBUST_ROUNDS: Final = 50
_LOWEST: Final = 0.05
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
        Standard deviation of the points around the formula, relative or in seconds.
    freedom
        Points less terms.
    predicted
        Seconds at the points, shape (n,).
    scaled
        Orthonormal columns of the weighted problem, shape (n, terms), for `left_out`.
    weights
        What the rows were multiplied by, shape (n,).
    """

    terms: tuple[str, ...]
    coefficients: Array
    low: Array
    high: Array
    covariance: Array
    sigma: float
    freedom: int
    predicted: Array
    scaled: Array
    weights: Array


@dataclass(frozen=True)
class Deviation:
    """|predicted - measured| / measured: least, mean and largest of so many points."""

    minimum: float
    average: float
    maximum: float
    points: int

    def to_json(self) -> dict[str, float]:
        """Return the deviation for JSON."""
        return dict(vars(self))


def fit(
    terms: Sequence[str],
    variables: Mapping[str, Array],
    seconds: Array,
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
        If there are too few points, or terms cannot be told apart; says what to measure.
    """
    x = columns(terms, variables)
    count, width = x.shape
    check_rank(terms, variables, x, seconds, weights)
    if count <= width:
        raise InputError(
            f"{count} points are too few for {width} coefficients and their error",
            hint="measure more sizes, or more numbers of ranks",
        )
    scale = 1 / seconds if weights == "relative" else np.ones(count)
    trust = np.ones(count)
    for round_ in range(_ROBUST_ROUNDS if robust else _ROUNDS):
        found = _solve(x, seconds, scale * np.sqrt(trust))[0]
        predicted = x @ found
        before = scale, trust
        if weights == "relative":
            scale = 1 / np.where(predicted > _LOWEST * seconds, predicted, seconds)
        if robust:
            trust = _huber((seconds - predicted) * scale)
        if round_ and np.allclose(before, (scale, trust), rtol=1e-10, atol=0):
            break
    found, q, inverse = _solve(x, seconds, scale * np.sqrt(trust))
    predicted = x @ found
    rest = (seconds - predicted) * scale
    if robust:
        inverse = _solve(x, seconds, scale)[2]
    sigma, factor = _spread(rest, width, trust)
    covariance = inverse @ inverse.T * factor**2
    half = _student(count - width) * np.sqrt(np.diag(covariance))
    return Fit(
        tuple(terms), found, found - half, found + half, covariance, sigma, count - width,
        predicted, q, scale * np.sqrt(trust),
    )  # fmt: skip


def left_out(fitted: Fit, seconds: Array, groups: NDArray[np.int64] | None = None) -> Array:
    """Predict each point from a fit without it, or without its whole group.

    No fit is repeated: leaving rows G out of least squares changes their deviations r to
    (I - H)⁻¹ r with the part H of the hat matrix (Cook & Weisberg 1982, *Residuals and Influence in
    Regression*, 2.2). The weights stay as they are.

    Returns
    -------
    ndarray of shape (n,)
        Seconds; NaN where the rest cannot tell the terms apart.
    """
    rest = (seconds - fitted.predicted) * fitted.weights
    if groups is None or len(np.unique(groups)) == len(groups):
        one_less = 1 - np.sum(fitted.scaled**2, axis=1)
        alone = np.where(one_less > 1e-9, rest / np.maximum(one_less, 1e-9), np.nan)
        return np.asarray(seconds - alone / fitted.weights)
    changed = np.full(len(seconds), np.nan)
    for group in np.unique(groups):
        mine = np.flatnonzero(groups == group)
        q = fitted.scaled[mine]
        # (I - q q')⁻¹ = I + q (I - q'q)⁻¹ q': as many equations as terms, not as points.
        values, vectors = np.linalg.eigh(np.eye(q.shape[1]) - q.T @ q)
        if values.min() > 1e-9:
            inner = vectors @ ((vectors.T @ (q.T @ rest[mine])) / values)
            changed[mine] = rest[mine] + q @ inner
    return np.asarray(seconds - changed / fitted.weights)


def group_error(fits: Sequence[tuple[Fit, NDArray[np.bool_]]], variables: Mapping[str, Array],
                seconds: Array) -> float:  # fmt: skip
    """Return the average deviation of points left out together with all of their group.

    All points of one value of a variable are left out at once, for each variable in turn; the
    result is the mean over the variables. A group without which the terms cannot be told apart
    counts as wrong by its whole time.

    Parameters
    ----------
    fits
        The pieces of a model, each with its points.
    variables, seconds
        All points, shape (n,).
    """
    errors = []
    for values in variables.values():
        numbers = np.unique(values, return_inverse=True)[1].ravel()
        if numbers.max() == 0:
            continue
        without = np.full(len(seconds), np.nan)
        for fitted, mine in fits:
            without[mine] = left_out(fitted, seconds[mine], numbers[mine])
        errors.append(deviation(without, seconds).average)
    return float(np.mean(errors)) if errors else 0.0


def deviation(predicted: Array, measured: Array) -> Deviation:
    """Compare times; a time that could not be predicted counts as wrong by its whole length."""
    away = np.abs(predicted - measured) / measured
    away = np.where(np.isnan(away), 1.0, away)
    return Deviation(float(away.min()), float(away.mean()), float(away.max()), len(away))


def r_squared(predicted: Array, measured: Array) -> float:
    """Return the coefficient of determination, in seconds; 1 if all times are equal and met."""
    total = float(np.sum((measured - measured.mean()) ** 2))
    rest = float(np.sum((measured - predicted) ** 2))
    if total == 0:
        return 1.0 if rest == 0 else 0.0
    return 1 - rest / total


def check_rank(
    terms: Sequence[str], variables: Mapping[str, Array], x: Array, seconds: Array, weights: str
) -> None:
    """Refuse terms that cannot be told apart; name them, and what to measure."""
    rows = x / seconds[:, None] if weights == "relative" else x
    length = np.linalg.norm(rows, axis=0)
    if np.any(length == 0):
        term = terms[int(np.argmin(length))]
        raise InputError(f"the term {term} is 0 everywhere", hint=_advice([term], variables))
    q = np.zeros((len(rows), 0))
    for k, column in enumerate((rows / length).T):
        for _ in range(2):  # a second time, because of rounding
            column = column - q @ (q.T @ column)
        left = np.linalg.norm(column)
        if left < _DEPENDENT:
            weight = np.linalg.lstsq(rows[:, :k] / length[:k], rows[:, k] / length[k], rcond=None)[
                0
            ]
            alike = [t for t, w in zip(terms[:k], weight, strict=True) if abs(w) > 1e-6]
            names = " and ".join([*alike, terms[k]])
            raise InputError(
                f"the terms {names} cannot be told apart",
                hint=_advice([*alike, terms[k]], variables),
            )
        q = np.column_stack([q, column / left])


def _advice(terms: Sequence[str], variables: Mapping[str, Array]) -> str:
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


def _solve(x: Array, seconds: Array, scale: Array) -> tuple[Array, Array, Array]:
    """Solve by QR with columns of equal length; return coefficients, Q and a root of (X'X)⁻¹."""
    rows = x * scale[:, None]
    length = np.linalg.norm(rows, axis=0)
    q, r = np.linalg.qr(rows / length)
    found = np.linalg.solve(r, q.T @ (seconds * scale)) / length
    return found, q, np.linalg.inv(r) / length[:, None]


def _huber(rest: Array) -> Array:
    spread = MAD_TO_SIGMA * float(np.median(np.abs(rest)))
    away = np.abs(rest) / max(spread, 1e-300)
    return np.where(away <= _HUBER, 1.0, _HUBER / np.maximum(away, _HUBER))


def _spread(rest: Array, width: int, trust: Array) -> tuple[float, float]:
    """Return the spread of the points, and that which counts for the coefficients.

    They are the same if all points are trusted. Else the first is the spread by the MAD, and the
    second that of an M-estimator (Huber 1981, *Robust Statistics*, section 7.6).
    """
    count = len(rest)
    pulled = float(np.sqrt(np.sum((rest * trust) ** 2) / (count - width)))
    inside = float(np.mean(trust >= 1))
    if inside == 1 or inside == 0:
        return pulled, pulled
    sigma = MAD_TO_SIGMA * float(np.median(np.abs(rest))) * np.sqrt(count / (count - width))
    correction = 1 + width / count * (1 - inside) / inside
    return float(sigma), correction * pulled / inside


def _student(freedom: int) -> float:
    return float(stdtrit(max(freedom, 1), 0.975))

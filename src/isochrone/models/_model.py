"""A fitted or published model: pieces of formulas, and what they predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isochrone.errors import InputError
from isochrone.models._terms import VARIABLES, columns, product, variables_of
from isochrone.units import format_bytes

__all__ = ["Model", "Piece", "Prediction", "Selector"]

Array = NDArray[np.float64]
Selector = str | int
Range = tuple[float | None, float | None]


@dataclass
class Piece:
    """One formula and where it holds.

    Attributes
    ----------
    where
        Selectors it is for, for example ``{"op": "gather"}``.
    range
        Regime: lowest and highest value of a variable or of a product of them (``p*b``); None
        where it has no end. The first piece of a model that holds a point is the one that counts.
    fitted
        Lowest and highest value of each variable in the data it was fitted to.
    family, terms, symbols
        The formula: the sum of coefficient times term.
    coefficients, low, high
        In seconds, seconds a byte …; ``low`` and ``high`` enclose the true ones with 95 %. None
        where that is not known.
    covariance
        Of the coefficients, shape (terms, terms); None if not known.
    sigma
        Standard deviation of a measured time around the formula: relative to the time, or in
        seconds if the model has absolute weights. None if not known.
    freedom
        Degrees of freedom of ``sigma``.
    """

    family: str
    terms: list[str]
    coefficients: list[float]
    where: dict[str, Selector] = field(default_factory=dict)
    range: dict[str, Range] = field(default_factory=dict)
    fitted: dict[str, tuple[float, float]] = field(default_factory=dict)
    symbols: list[str] = field(default_factory=list)
    low: list[float] | None = None
    high: list[float] | None = None
    covariance: list[list[float]] | None = None
    sigma: float | None = None
    freedom: int = 0
    r2: float | None = None
    points: int | None = None
    note: str = ""

    def distance(self, variables: Mapping[str, Array]) -> Array:
        """Return how far points are from the regime of this piece: 0 within, else in octaves."""
        length = len(next(iter(variables.values()), ()))
        away = np.zeros(length)
        for name, (low, high) in self.range.items():
            value = product(name, variables)
            for bound, side in ((low, -1.0), (high, 1.0)):
                if bound is not None:
                    # Sizes and ranks span decades; a bound of 0 has no logarithm.
                    ratio = np.log2((value + 1e-3) / (bound + 1e-3))
                    away += np.maximum(side * ratio, 0)
        return away

    def evaluate(self, variables: Mapping[str, Array], weights: str) -> tuple[Array, Array]:
        """Return the times and half the width of their 95 % intervals (NaN if not known)."""
        x = columns(self.terms, variables)
        seconds = x @ np.array(self.coefficients)
        if self.covariance is None or self.sigma is None:
            return seconds, np.full_like(seconds, np.nan)
        from scipy.special import stdtrit

        spread = self.sigma * (np.abs(seconds) if weights == "relative" else 1.0)
        variance = np.einsum("ij,jk,ik->i", x, np.array(self.covariance), x) + spread**2
        t = float(stdtrit(max(self.freedom, 1), 0.975))
        return seconds, t * np.sqrt(np.maximum(variance, 0.0))


@dataclass
class Prediction:
    """What a model predicts.

    Attributes
    ----------
    seconds
        One time for each point.
    low, high
        95 % interval of a measured time; NaN where the model does not know.
    warnings
        What makes these times doubtful, one sentence each.
    """

    seconds: Array
    low: Array
    high: Array
    warnings: list[str] = field(default_factory=list)


@dataclass
class Model:
    """Times of communication as formulas.

    Attributes
    ----------
    pieces
        At least one.
    weights
        ``relative`` or ``absolute``: what ``sigma`` of the pieces means.
    quality
        What was found when it was judged by its data: R², deviations, held-out error.
    source, notes
        Where it is from, and what to know of it.
    made_from
        Path and SHA-256 of the files it was fitted to.
    extra
        Unknown keys of a model file; they are kept.
    """

    pieces: list[Piece]
    weights: str = "relative"
    quality: dict[str, Any] = field(default_factory=dict)
    ranking: list[dict[str, Any]] = field(default_factory=list)
    source: str = ""
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    made_from: list[dict[str, str]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """Name of the family; ``several`` if the operations have different ones."""
        found = {piece.family for piece in self.pieces}
        return found.pop() if len(found) == 1 else "several"

    @property
    def variables(self) -> list[str]:
        """Names of the variables that a prediction needs."""
        return variables_of(
            [term for piece in self.pieces for term in (*piece.terms, *piece.range)]
        )

    @property
    def selectors(self) -> dict[str, list[Selector]]:
        """What the model can be asked for: the values of each selector, for example of ``op``."""
        found: dict[str, dict[Selector, None]] = {}
        for piece in self.pieces:
            for key, value in piece.where.items():
                found.setdefault(key, {})[value] = None
        return {key: list(values) for key, values in found.items()}

    def predict(
        self,
        variables: Mapping[str, ArrayLike],
        where: Mapping[str, Selector] | None = None,
        **selectors: Selector,
    ) -> Prediction:
        """Predict the times of some points.

        Parameters
        ----------
        variables
            Arrays (or numbers) by the names of `variables`; bytes and counts.
        where, selectors
            Which of the model's operations, orders … is meant. What the model has only one of
            need not be said.

        Raises
        ------
        InputError
            If a variable is missing, or the model does not hold what is asked for.
        """
        pieces = self.chosen({**(where or {}), **selectors})
        points = _points(variables, _needed(pieces))
        owner = np.argmin([piece.distance(points) for piece in pieces], axis=0)
        length = len(owner)
        seconds, half = np.empty(length), np.empty(length)
        for number, piece in enumerate(pieces):
            mine = owner == number
            own = {name: values[mine] for name, values in points.items()}
            seconds[mine], half[mine] = piece.evaluate(own, self.weights)
        warnings = _warnings(pieces, owner, points, seconds)
        low = np.maximum(seconds - half, np.minimum(seconds, 0.0))  # no time is below zero
        return Prediction(seconds, low, seconds + half, warnings)

    def chosen(self, where: Mapping[str, Selector]) -> list[Piece]:
        """Return the pieces that selectors mean, in their order.

        Raises
        ------
        InputError
            If there are none, or the selectors leave open which operation, order … is meant.
        """
        pieces, selectors = self.pieces, self.selectors
        for key in where:
            if key not in selectors:
                raise InputError(f"the model does not know which '{key}' it is of")
        for key, known in selectors.items():
            if key in where:
                pieces = [p for p in pieces if p.where.get(key, where[key]) == where[key]]
            elif len({repr(piece.where.get(key)) for piece in pieces}) > 1:
                listed = ", ".join(map(str, known))
                raise InputError(f"the model holds several of '{key}'", hint=f"say which: {listed}")
            if not pieces:
                listed = ", ".join(map(str, known))
                raise InputError(f"the model holds no {key} '{where[key]}'", hint=f"only: {listed}")
        return pieces

    def __repr__(self) -> str:
        from isochrone.models._words import plain

        return plain(self)

    def _repr_html_(self) -> str:
        from isochrone.models._words import html

        return html(self)


def _needed(pieces: Sequence[Piece]) -> list[str]:
    return variables_of([term for piece in pieces for term in (*piece.terms, *piece.range)])


def _points(variables: Mapping[str, ArrayLike], needed: Sequence[str]) -> dict[str, Array]:
    """Return the variables as equally long arrays, checked."""
    for name in needed:
        if name not in variables:
            raise InputError(
                f"the variable '{name}' is missing", hint=f"it is the {VARIABLES[name]}"
            )
    arrays = [np.asarray(variables[name], dtype=np.float64) for name in needed]
    try:
        equal = np.broadcast_arrays(*arrays)
    except ValueError as error:
        raise InputError("the variables are not equally long") from error
    points = {
        name: np.atleast_1d(values).ravel() for name, values in zip(needed, equal, strict=True)
    }
    for name, values in points.items():
        if not np.all(np.isfinite(values) & (values >= 0)):
            raise InputError(f"'{name}' has a value that is no number from 0 up")
    return points


def _value(name: str, value: float) -> str:
    """Write a value of a variable or of a product of them, sizes with their unit."""
    if "b" in name.split("*") and value.is_integer():
        return format_bytes(int(value))
    return f"{value:g}"


def _warnings(
    pieces: Sequence[Piece], owner: NDArray[np.int64], points: Mapping[str, Array], seconds: Array
) -> list[str]:
    """Say where points lie outside what was fitted, and where a formula gives no time at all."""
    found: dict[str, None] = {}
    for number, piece in enumerate(pieces):
        mine = owner == number
        for name, (low, high) in piece.fitted.items():
            value = product(name, points)[mine]
            outside = value[(value < low) | (value > high)]
            if outside.size:
                shown = ", ".join(_value(name, v) for v in np.unique(outside)[:3])
                found[
                    f"{name} = {shown}{', …' if np.unique(outside).size > 3 else ''} is outside "
                    f"the fitted range {_value(name, low)} to {_value(name, high)}"
                ] = None
    if np.any(seconds <= 0):
        found["the formula gives a time that is not above zero"] = None
    return list(found)

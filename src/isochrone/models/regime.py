"""One regime of a model: a formula, and where it holds."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from isochrone.models.terms import design_matrix, evaluate_term

__all__ = ["Range", "Regime", "Selector"]

Array = NDArray[np.float64]
Selector = str | int
Range = tuple[float | None, float | None]


class Regime(msgspec.Struct, rename={"degrees_of_freedom": "freedom"}):
    """One formula and where it holds; an entry of ``pieces`` in a model file.

    Attributes
    ----------
    family, terms, symbols
        The formula: the sum of coefficient times term.
    coefficients, low, high
        In seconds, seconds a byte …; ``low`` and ``high`` enclose the true ones with 95 %. None
        where that is not known.
    where
        Selectors it is for, for example ``{"op": "gather"}``.
    range
        Lowest and highest value of a variable or of a product of them (``p*b``); None where it has
        no end. The first regime of a model that contains a point is the one that counts.
    fitted
        Lowest and highest value of each variable in the data it was fitted to.
    covariance
        Of the coefficients, shape (terms, terms); None if not known.
    sigma
        Standard deviation of a measured time around the formula: relative to the time, or in
        seconds if the model has absolute weights. None if not known.
    degrees_of_freedom
        Of ``sigma``.
    """

    family: str
    terms: list[str]
    coefficients: list[float]
    where: dict[str, Selector] = msgspec.field(default_factory=dict)
    range: dict[str, Range] = msgspec.field(default_factory=dict)
    fitted: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    symbols: list[str] = msgspec.field(default_factory=list)
    low: list[float] | None = None
    high: list[float] | None = None
    covariance: list[list[float]] | None = None
    sigma: float | None = None
    degrees_of_freedom: int = 0
    r2: float | None = None
    points: int | None = None
    note: str = ""

    def distance(self, variables: Mapping[str, Array]) -> Array:
        """Return how far points are from this regime: 0 within, else in octaves; shape (n,)."""
        length = len(next(iter(variables.values()), ()))
        away = np.zeros(length)
        for name, (low, high) in self.range.items():
            value = evaluate_term(name, variables)
            for bound, side in ((low, -1.0), (high, 1.0)):
                if bound is not None:
                    # Sizes and ranks span decades; a bound of 0 has no logarithm.
                    ratio = np.log2((value + 1e-3) / (bound + 1e-3))
                    away += np.maximum(side * ratio, 0)
        return away

    def evaluate(self, variables: Mapping[str, Array], weights: str) -> tuple[Array, Array]:
        """Return the times and half the width of their 95 % intervals (NaN if not known)."""
        x = design_matrix(self.terms, variables)
        seconds = x @ np.array(self.coefficients)
        if self.covariance is None or self.sigma is None:
            return seconds, np.full_like(seconds, np.nan)

        spread = self.sigma * (np.abs(seconds) if weights == "relative" else 1.0)
        variance = np.einsum("ij,jk,ik->i", x, np.array(self.covariance), x) + spread**2
        t = float(stdtrit(max(self.degrees_of_freedom, 1), 0.975))
        return seconds, t * np.sqrt(np.maximum(variance, 0.0))

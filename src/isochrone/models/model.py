"""A fitted or published model: its regimes, and what they predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from isochrone.base.errors import InputError
from isochrone.base.text import printable
from isochrone.models.formulas import formula, headings, number
from isochrone.models.regime import Regime, Selector
from isochrone.models.terms import VARIABLES, evaluate_term, variables_of
from isochrone.runfile.origin import with_noun

__all__ = ["Model", "Prediction"]

Array = NDArray[np.float64]


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
    origin
        Where the times come from that the model was fitted to; empty if that is not known.
    """

    seconds: Array
    low: Array
    high: Array
    warnings: list[str] = field(default_factory=list)
    origin: str = ""


class Model(msgspec.Struct, rename={"regimes": "pieces"}):
    """Times of communication as formulas; a model file holds its fields (`isochrone.models.file`).

    Attributes
    ----------
    regimes
        At least one.
    weights
        ``relative`` or ``absolute``: what ``sigma`` of the regimes means.
    quality
        How well it fits its data: R², deviations, cross-validation (``held_out``).
    source, notes
        Where it is from, and what to know of it.
    made_from
        Path and SHA-256 of the files it was fitted to.
    origin
        Where the times it was fitted to come from, such as ``simulated``, or ``measured and
        imported``; empty if that is not known.
    extra
        Unknown keys of a model file; they are kept.
    """

    regimes: list[Regime]
    weights: str = "relative"
    quality: dict[str, Any] = msgspec.field(default_factory=dict)
    ranking: list[dict[str, Any]] = msgspec.field(default_factory=list)
    source: str = ""
    notes: list[str] = msgspec.field(default_factory=list)
    warnings: list[str] = msgspec.field(default_factory=list)
    made_from: list[dict[str, str]] = msgspec.field(default_factory=list)
    origin: str = ""
    extra: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def family(self) -> str:
        """Name of the family; ``several`` if the operations have different ones."""
        found = {regime.family for regime in self.regimes}
        return found.pop() if len(found) == 1 else "several"

    @property
    def variables(self) -> list[str]:
        """Names of the variables that a prediction needs."""
        return _needed(self.regimes)

    @property
    def selectors(self) -> dict[str, list[Selector]]:
        """What the model can be asked for: the values of each selector, for example of ``op``."""
        found: dict[str, dict[Selector, None]] = {}
        for regime in self.regimes:
            for key, value in regime.where.items():
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
        regimes = self.chosen({**(where or {}), **selectors})
        points = _points(variables, _needed(regimes))
        owner = np.argmin([regime.distance(points) for regime in regimes], axis=0)
        length = len(owner)
        seconds, half = np.empty(length), np.empty(length)
        for k, regime in enumerate(regimes):
            mine = owner == k
            own = {name: values[mine] for name, values in points.items()}
            seconds[mine], half[mine] = regime.evaluate(own, self.weights)
        warnings = _warnings(regimes, owner, points, seconds)
        low = np.maximum(seconds - half, np.minimum(seconds, 0.0))  # no time is below zero
        return Prediction(seconds, low, seconds + half, warnings, self.origin)

    def chosen(self, where: Mapping[str, Selector]) -> list[Regime]:
        """Return the regimes that selectors mean, in their order.

        Raises
        ------
        InputError
            If there are none, or the selectors leave open which operation, order … is meant.
        """
        regimes, selectors = self.regimes, self.selectors
        for key in where:
            if key not in selectors:
                raise InputError(f"the model does not record its '{key}'")
        for key, known in selectors.items():
            if key in where:
                regimes = [r for r in regimes if r.where.get(key, where[key]) == where[key]]
            elif len({repr(regime.where.get(key)) for regime in regimes}) > 1:
                listed = ", ".join(map(str, known))
                raise InputError(f"the model holds several of '{key}'", hint=f"say which: {listed}")
            if not regimes:
                listed = ", ".join(map(str, known))
                raise InputError(f"the model holds no {key} '{where[key]}'", hint=f"only: {listed}")
        return regimes

    def __repr__(self) -> str:
        lines = [_title(self)]
        for regime, words in zip(self.regimes, headings(self.regimes), strict=True):
            lines.append(f"  {words}: {formula(regime)}" if words else f"  {formula(regime)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(words)}</td><td>{escape(formula(regime))}</td></tr>"
            for regime, words in zip(self.regimes, headings(self.regimes), strict=True)
        )
        return f"<b>{escape(_title(self))}</b><table>{rows}</table>"


def _needed(regimes: Sequence[Regime]) -> list[str]:
    """List the variables of the formulas and of the ranges."""
    return variables_of([term for regime in regimes for term in (*regime.terms, *regime.range)])


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
        raise InputError("the variables have different lengths") from error
    points = {
        name: np.atleast_1d(values).ravel() for name, values in zip(needed, equal, strict=True)
    }
    for name, values in points.items():
        if not np.all(np.isfinite(values) & (values >= 0)):
            raise InputError(f"'{name}' has a value that is negative or not a number")
    return points


def _warnings(
    regimes: Sequence[Regime], owner: NDArray[np.int64], points: Mapping[str, Array], seconds: Array
) -> list[str]:
    """Say where points lie outside what was fitted, and where a formula gives no time at all."""
    found: dict[str, None] = {}
    for k, regime in enumerate(regimes):
        mine = owner == k
        for name, (low, high) in regime.fitted.items():
            value = evaluate_term(name, points)[mine]
            outside = value[(value < low) | (value > high)]
            if outside.size:
                shown = ", ".join(number(name, v) for v in np.unique(outside)[:3])
                found[
                    f"{name} = {shown}{', …' if np.unique(outside).size > 3 else ''} is outside "
                    f"the fitted range {number(name, low)} to {number(name, high)}"
                ] = None
    if np.any(seconds <= 0):
        found["the formula gives a time of zero or less"] = None
    return list(found)


def _title(model: Model) -> str:
    """Name the family and how well it fits."""
    words = [f"{printable(model.family)} model"]
    if model.origin:
        words[0] += f" of {with_noun(printable(model.origin))}"
    r2 = model.quality.get("r2")
    if isinstance(r2, float):
        words.append(f"R² {r2:.4f}")
    deviation = model.quality.get("deviation")
    if isinstance(deviation, dict) and isinstance(deviation.get("average"), float):
        words.append(f"average deviation {100 * deviation['average']:.2f} %")
    if model.source:
        words.append(printable(model.source))
    return " · ".join(words)

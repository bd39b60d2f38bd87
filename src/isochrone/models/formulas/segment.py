"""One segment of a model: a formula, and where it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from scipy.special import stdtrit

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.models.data.starts import Starts
from isochrone.models.data.terms import (
    Selector,
    design_matrix,
    evaluate_term,
    length_of,
    picked,
    variables_of,
)
from isochrone.models.thresholds import MIN_FORMULA_SPREAD

Range = tuple[float | None, float | None]


class Rival(msgspec.Struct, rename={"degrees_of_freedom": "freedom"}):
    """A formula that may as well be the right one of a segment; fields as those of `Segment`.

    Attributes
    ----------
    weight
        Its probability if one of the formulas is right; the rest is that of the others.
    """

    family: str
    terms: list[str]
    symbols: list[str]
    coefficients: list[float]
    covariance: list[list[float]]
    sigma: float
    degrees_of_freedom: int
    weight: float


class Widening(msgspec.Struct):
    """How much less a formula is to be trusted beyond what was measured.

    Attributes
    ----------
    once, twice
        By how much predictions at twice and at four times the largest value may be off beyond
        their intervals, as a part of the time. Of several, the largest.
    largest
        Value that most message sizes were measured up to; the largest fitted one if 0.
    """

    once: list[float]
    twice: list[float]
    largest: float = 0.0

    def evaluate(self, octaves: Floats) -> Floats:
        """Return what is added to the half width, as a part of the time, so far beyond."""
        once, twice = max(self.once), max(self.twice)
        return np.where(octaves <= 1, once * octaves, once + (twice - once) * (octaves - 1))


class Segment(msgspec.Struct, rename={"degrees_of_freedom": "freedom"}):
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
        no end. The first segment of a model that contains a point is the one that counts.
    switch, reach
        Where the segment is taken to begin and to end, and between which measured values that
        certainly is: from the last of the segment below to the first of the one above.
    rivals
        Formulas that may as well be right; its own has the rest of the weight.
    beyond
        For a variable, what intervals are widened by beyond the values that were fitted.
    fitted
        Lowest and highest value of each variable in the data it was fitted to.
    only
        Classes that all its numbers of ranks are of, though not because of its range.
    rising
        Variables with which the times of the operation never fall.
    covariance
        Of the coefficients, shape (terms, terms); None if not known.
    sigma
        Standard deviation of a measured time around the formula: relative to the time, or in
        seconds if the model has absolute weights. None if not known.
    degrees_of_freedom
        Of ``sigma``.
    starts
        How far starts of the job are from each other; None if that is not known.
    left_out, tried
        Mean error at points that were left out one by one, and at the largest ranks that were
        predicted from the others; None if that is not known.
    """

    family: str
    terms: list[str]
    coefficients: list[float]
    where: dict[str, Selector] = {}
    range: dict[str, Range] = {}
    switch: dict[str, Range] = {}
    reach: dict[str, Range] = {}
    fitted: dict[str, tuple[float, float]] = {}
    rivals: list[Rival] = []
    beyond: dict[str, Widening] = {}
    only: list[str] = []
    rising: list[str] = []
    symbols: list[str] = []
    low: list[float] | None = None
    high: list[float] | None = None
    covariance: list[list[float]] | None = None
    sigma: float | None = None
    degrees_of_freedom: int = 0
    r2: float | None = None
    points: int | None = None
    note: str = ""
    starts: Starts | None = None
    left_out: float | None = None
    tried: float | None = None

    def rival(self, index: int) -> Segment:
        """Return the segment with the formula of a rival; with its own if there are fewer."""
        if index >= len(self.rivals):
            return self
        rival = self.rivals[index]
        named = {field: getattr(rival, field) for field in rival.__struct_fields__}
        del named["weight"]
        unknown: dict[str, object] = {"low": None, "high": None, "r2": None, "rivals": []}
        return msgspec.structs.replace(self, **named, **unknown)

    def every(self) -> list[tuple[Segment, float]]:
        """Return the formula and its rivals, each with its probability."""
        rivals = [(self.rival(k), rival.weight) for k, rival in enumerate(self.rivals)]
        return [(self, 1 - sum(weight for _, weight in rivals)), *rivals]

    def distance(self, variables: Mapping[str, Floats]) -> Floats:
        """Return how far points are from this segment: 0 within, else in octaves; shape (n,)."""
        away = np.zeros(length_of(variables))
        for name, (low, high) in {**self.range, **self.switch}.items():
            value = evaluate_term(name, variables)
            for bound, side in ((low, -1.0), (high, 1.0)):
                if bound is not None:
                    away += octaves_beyond(value, bound, side)
        return away

    def may_hold(self, variables: Mapping[str, Floats]) -> Bools:
        """Return which points may be in this segment, which ends somewhere in a gap; shape (n,)."""
        inside = np.full(length_of(variables), bool(self.reach))
        for name, (low, high) in {**self.range, **self.reach}.items():
            value = evaluate_term(name, variables)
            open_ended = name in self.reach
            if low is not None:
                inside &= value > low if open_ended else value >= low
            if high is not None:
                inside &= value < high if open_ended else value <= high
        return inside

    def seconds(self, variables: Mapping[str, Floats]) -> Floats:
        """Return what the formula gives, shape (n,)."""
        return np.asarray(design_matrix(self.terms, variables) @ np.array(self.coefficients))

    def evaluate(
        self, variables: Mapping[str, Floats], weights: str, level: float = 0.95
    ) -> tuple[Floats, Floats, Floats]:
        """Return the times, and their intervals (NaN if not known).

        The variance is that within formulas and that between them, weighted (Hoeting, Madigan,
        Raftery & Volinsky 1999, *Bayesian model averaging: a tutorial*, Statistical Science 14).
        """
        seconds, error = _with_error(self, variables, weights)
        if self.covariance is None or self.sigma is None:
            return seconds, error, error
        others = [_with_error(rival, variables, weights) for rival in self.rivals]
        centre, spread = np.stack([(seconds, error), *others], axis=1)
        possible = centre > 0  # where a rival gives no time, it says nothing
        centre, spread = np.where(possible, (centre, spread), [[seconds], [error]])
        shares = np.array([share for _, share in self.every()])
        degrees = [self.degrees_of_freedom, *(r.degrees_of_freedom for r in self.rivals)]
        # On a logarithmic scale no time is below zero; where errors are small it is the same.
        reach = -stdtrit(np.maximum(degrees, 1), (1 - level) / 2)[:, None]
        widths = np.log1p(reach * spread / np.abs(centre)) / reach
        mean = shares @ np.log(centre)
        half = reach[0] * np.sqrt(shares @ (widths**2 + (np.log(centre) - mean) ** 2))
        low, high = np.exp(mean - half), np.exp(mean + half)
        factor = 1 + self._beyond(variables)
        low, high = np.minimum(low, seconds) / factor, np.maximum(high, seconds) * factor
        return seconds, *self._of_other_classes(variables, seconds, low, high)

    def _beyond(self, variables: Mapping[str, Floats]) -> Floats:
        """Return by how much more predictions may be off that lie beyond what was measured."""
        excess = np.zeros(length_of(variables))
        for name, widening in self.beyond.items():
            largest = widening.largest or self.fitted[name][1]
            octaves = np.log2(np.maximum(evaluate_term(name, variables), largest) / largest)
            excess += widening.evaluate(octaves)
        return excess

    def _of_other_classes(
        self, variables: Mapping[str, Floats], seconds: Floats, low: Floats, high: Floats
    ) -> tuple[Floats, Floats]:
        """Return intervals that hold two more steps, for numbers of ranks of other classes.

        That is what recursive doubling takes off powers of two: the times are between that of the
        power of two below, and that of the one above or of two more steps.
        """
        unmeasured = self.of_other_class(variables)
        if not unmeasured.any():
            return low, high
        points = picked(variables, unmeasured)
        (name,) = variables_of(self.only)
        doublings, smallest = np.log2(points[name]), self.fitted[name][0]
        below, above = (self._at(points, 2.0 ** end(doublings)) for end in (np.floor, np.ceil))
        step = self._at(points, smallest) / max(np.log2(smallest), 1.0)
        if name == "nodes":  # of a node alone it is no step between nodes
            step = self._at(points, 2 * smallest) - self._at(points, smallest)
        low, high = low.copy(), high.copy()
        away = np.maximum(
            seconds[unmeasured] / low[unmeasured], high[unmeasured] / seconds[unmeasured]
        )
        low[unmeasured] = np.fmin(low[unmeasured], below / away)
        high[unmeasured] = np.fmax(high[unmeasured], np.fmax(above, below + 2 * step) * away)
        return low, high

    def _at(self, points: Mapping[str, Floats], value: Floats | float) -> Floats:
        """Return the times of other numbers of ranks or nodes; the least fitted one if lower."""
        (name,) = variables_of(self.only)
        counts = np.full_like(points[name], np.maximum(value, self.fitted[name][0]))
        moved = {**points, name: counts}
        if name == "nodes" and "p" in points:
            moved["p"] = counts * points.get("ppn", points["p"] / points["nodes"])
        return self.seconds(moved)

    def of_other_class(self, variables: Mapping[str, Floats]) -> Bools:
        """Return which numbers of ranks or nodes are of a class that was not measured."""
        unmeasured = np.zeros(length_of(variables), dtype=bool)
        for name in self.only:
            if set(variables_of([name])) <= variables.keys():
                unmeasured |= evaluate_term(name, variables) == 0
        return unmeasured


def _with_error(
    formula: Segment | Rival, variables: Mapping[str, Floats], weights: str
) -> tuple[Floats, Floats]:
    """Return the times of a formula, and the standard errors of measured ones; NaN if not known."""
    x = design_matrix(formula.terms, variables)
    seconds, sigma = x @ np.array(formula.coefficients), formula.sigma
    if formula.covariance is None or sigma is None:
        return seconds, np.full_like(seconds, np.nan)
    around = np.abs(seconds) * max(sigma, MIN_FORMULA_SPREAD) if weights == "relative" else sigma
    variance: Floats = np.einsum("ij,jk,ik->i", x, np.array(formula.covariance), x) + around**2
    return seconds, np.sqrt(np.maximum(variance, 0.0))


def owners(segments: Sequence[Segment], points: Mapping[str, Floats]) -> Ints:
    """Return the number of the segment that each point belongs to, the nearest; shape (n,)."""
    return np.asarray(np.argmin([segment.distance(points) for segment in segments], axis=0))


def by_formula(segments: Sequence[Segment], points: Mapping[str, Floats]) -> tuple[Ints, Floats]:
    """Return the number of the segment of each point, and what its formula gives; shape (n,)."""
    owner = owners(segments, points)
    seconds = np.empty(len(owner))
    for k, segment in enumerate(segments):
        seconds[owner == k] = segment.seconds(picked(points, owner == k))
    return owner, seconds


def octaves_beyond(value: Floats, bound: float, side: float) -> Floats:
    """Return how far values are beyond a bound: above it (``side`` 1) or below it (-1)."""
    # Sizes and ranks span decades; a bound of 0 has no logarithm.
    ratio = np.log2((value + 1e-3) / (bound + 1e-3))
    return np.maximum(side * ratio, 0)

"""Numbers at several numbers of ranks, as functions of these that compete.

A function is a term of ``p``, or a sum of two with positive factors, and is written as an
expression that descriptions know. Terms are those of programs that divide something: by all ranks,
by sides of the grid that they form, by a power of their number; or that have as much on each of
them. Few recordings leave several functions: each has a weight, the probability of the values if it
is the right one, and what is written is their mean (Bayesian model averaging: J. A. Hoeting et al.,
Statistical Science 14 (1999), 382-417). A sum of two is less probable than one term that fits as
well, since most of the ways to share out a value among its terms do not fit.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np

from isochrone.applications.description.expression import Quantity, evaluate
from isochrone.applications.thresholds import (
    MAX_COUNT_ERROR,
    MAX_FUNCTION_ERROR,
    MAX_MEAN_ERRORS,
    MIN_WRITTEN_WEIGHT,
    UNLIKELY,
)
from isochrone.base.arrays import Floats

_SHARES = (np.arange(1000) + 0.5) / 1000
"""Of the first of two terms in the value at the fewest ranks; each as probable as the others."""

_ENDS = (0.025, 0.975)
"""Probabilities at the ends of an interval."""

_LEVELS = ("log2(p)", "ceil(log2(p))", *(f"ceil(log2(side(p, {k}, 0)))" for k in (2, 3)))
"""Levels of a grid on which each has half as many ranks along a side as the one before."""

_POWERS = ("1/3", "1/2", "2/3", "4/3", "3/2")

Values = Mapping[int, float]
"""By number of ranks."""


@dataclass(frozen=True)
class Rival:
    """A function: its terms, and what is probable of it.

    Attributes
    ----------
    terms
        One or two.
    weight
        Probability that it is this one.
    factors, chances
        Factors of its terms, shape (k, terms), and how probable each row of them is.
    error
        Largest relative error of the best of them.
    """

    terms: tuple[str, ...]
    weight: float
    factors: Floats
    chances: Floats
    error: float

    def at(self, ranks: int) -> Floats:
        """Return its values for all rows of factors."""
        return np.asarray(self.factors @ [_term(text, ranks) for text in self.terms])


@dataclass(frozen=True)
class Growth:
    """What is known of a value as a function of the number of ranks.

    Attributes
    ----------
    text
        The mean of the functions, as an expression of p.
    error
        Largest relative error of the best one at the recordings.
    rivals
        The functions, the most probable first.
    """

    text: str
    error: float
    rivals: tuple[Rival, ...] = ()

    def at(self, ranks: int) -> float:
        """Return the value that is written, on so many ranks."""
        return _term(self.text, ranks)

    def spread(self, ranks: int) -> float:
        """Return by what part its value on so many ranks may be off: half a width, 95 %.

        By the error at the recordings, and by what the functions differ there.
        """
        if not self.rivals:
            return 0.0
        values = np.concatenate([rival.at(ranks) for rival in self.rivals])
        weights = np.concatenate([rival.weight * rival.chances for rival in self.rivals])
        order = np.argsort(values)
        reached = np.cumsum(weights[order])
        ends = values[order][np.searchsorted(reached, np.array(_ENDS) * reached[-1])]
        return math.hypot(self.error, float(np.abs(ends / self.at(ranks) - 1).max()))

    def decides(self, largest: int) -> int | None:
        """Return on how many more ranks a recording would tell the two likeliest functions apart.

        None if there are no two, or none that differ by more than `MAX_FUNCTION_ERROR` on 16 times
        as many.
        """
        likely = [rival for rival in self.rivals if rival.weight > MIN_WRITTEN_WEIGHT][:2]
        for times in (2, 4, 8, 16):
            ranks = times * largest
            ends = [float(rival.at(ranks) @ rival.chances) for rival in likely]
            if len(ends) == 2 and max(ends) > (1 + MAX_FUNCTION_ERROR) * min(ends):
                return ranks
        return None


def growth(
    values: Values,
    first: str = "",
    *,
    noise: float = 0.0,
    below: float = math.inf,
    grids: Collection[int] = (),
    visits: Values | None = None,
) -> Growth | None:
    """Return the functions that may have these values; None if none comes near.

    Parameters
    ----------
    values
        By number of ranks.
    first
        The term that is right of several that fit as well.
    noise
        Relative standard error of the values.
    below
        Functions are weighed by all values; their factors are those of the values on fewer ranks.
    grids
        Dimensions of the grids that messages of the program have.
    visits
        Of seconds of computation: how often a rank computes so long. That of all ranks together is
        the work, which hardly becomes less.
    """
    if max(values.values()) == min(values.values()):
        return Growth(_number(next(iter(values.values()))), 0.0)
    if min(values.values()) <= 0:
        return None
    fewer = {p: value for p, value in values.items() if p < below} or values
    candidates = []
    for terms, prior in _functions(len(values), first, grids):
        if visits is None:
            unlikely = _turns(terms)
        else:
            unlikely = all(_becomes_less(visits, text) for text in terms)
        prior *= UNLIKELY if unlikely else 1.0
        _, residuals = _fitted(values, terms)
        candidates.append((terms, prior, residuals, *_fitted(fewer, terms)))
    errors = [float(np.abs(candidate[2]).max(axis=1).min()) for candidate in candidates]
    smallest_error = min(errors)
    if smallest_error > max(MAX_FUNCTION_ERROR, MAX_MEAN_ERRORS * noise):
        return None
    scale = math.hypot(MAX_COUNT_ERROR, noise, smallest_error)
    evidence = [
        prior * float(np.mean(_likely(residuals, scale))) for _, prior, residuals, *_ in candidates
    ]
    rivals = []
    for (terms, _, _, factors, residuals), likelihood, error in zip(
        candidates, evidence, errors, strict=True
    ):
        if likelihood > 1e-6 * sum(evidence):
            chances = _likely(residuals, scale)
            rivals.append(
                Rival(terms, likelihood / sum(evidence), factors, chances / chances.sum(), error)
            )
    rivals.sort(key=lambda rival: -rival.weight)
    return Growth(_mean(rivals), smallest_error, tuple(rivals))


def whole(
    values: Mapping[int, int], *, levels: bool = False, grids: Collection[int] = ()
) -> str | None:
    """Return the function that has exactly these values; None if there is none.

    It is a constant, a multiple of p or of sides of a grid that the program shows, a part of p or
    of a constant, or a sum; at last, of sides of another grid. A number of `levels` is of coarser
    and coarser grids: a logarithm.
    """
    if len(set(values.values())) == 1:
        return _number(next(iter(values.values())))
    logarithms = (*_LEVELS, *(f"({text} + 1)" for text in _LEVELS))
    if levels:
        return _multiple(values, (*logarithms, "(p - 1)"))
    shown = [text for dimensions in sorted(grids) for text in _sides(dimensions)]
    return (
        _multiple(values, ["p", *shown, "(p - 1)"])
        or _part(values)
        or _sum(values)
        or _multiple(values, [*_sides(2), *_sides(3), *logarithms])
    )


def _multiple(values: Mapping[int, int], terms: Iterable[str]) -> str | None:
    """Return the first term of which all values are the same multiple."""
    for text in terms:
        by = [values[p] / _term(text, p) for p in values]
        factor = round(by[0])
        if factor >= 1 and all(math.isclose(ratio, factor, rel_tol=1e-9) for ratio in by):
            return _times(factor, text)
    return None


def _times(factor: int, text: str) -> str:
    return text if factor == 1 else f"{factor}*{text}"


def _part(values: Mapping[int, int]) -> str | None:
    """Return a part of p, or a constant that p ranks share."""
    parts = {Fraction(value, p) for p, value in values.items()}
    constants = {value * p for p, value in values.items()}
    if len(parts) == 1:
        (part,) = parts
        return f"floor({_times(part.numerator, 'p')}/{part.denominator})"
    return f"max(1, floor({constants.pop()}/p))" if len(constants) == 1 else None


def _sum(values: Mapping[int, int]) -> str | None:
    """Return a constant and a multiple of p or its logarithm; of two values any would do."""
    fewest, most = min(values), max(values)
    for text in ("p", "ceil(log2(p))"):
        terms = {p: round(_term(text, p)) for p in values}
        factor = round((values[most] - values[fewest]) / max(terms[most] - terms[fewest], 1))
        constant = values[fewest] - factor * terms[fewest]
        alike = all(value == constant + factor * terms[p] for p, value in values.items())
        if len(values) > 2 and factor > 0 and constant > 0 and alike:
            return f"({constant} + {_times(factor, text)})"
    return None


def _functions(
    count: int, first: str, grids: Collection[int]
) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield functions that so many values can tell apart: terms, and how probable they are."""
    common = dict.fromkeys(("1", "1/p", "p", "log2(p)", "1/p**2"), 1.0)
    single = {**common, "(p - 1)": 1.0, "1/(p - 1)": 1.0, "p*log2(p)": 1.0, "p**2": 1.0}
    single["p**2*log2(p)"] = UNLIKELY
    for dimensions in {*grids} - {1}:
        common[faces(dimensions)] = single[faces(dimensions)] = 1.0
        for text in _sides(dimensions):
            for term in (text, f"1/({text})", f"1/(p*{text})"):
                single[term] = UNLIKELY**2
    single |= {f"p**({sign}{text})": UNLIKELY for sign in ("", "-") for text in _POWERS}
    if first:
        single[first] = UNLIKELY**-2
    for text, prior in single.items():
        yield (text,), prior
    if count > 2:
        for left, right in combinations(common, 2):
            yield (left, right), common[left] * common[right]


def faces(dimensions: int) -> str:
    """Return what the surface of a part of a grid is a multiple of."""
    sides = "+".join(f"side(p, {dimensions}, {k})" for k in range(dimensions))
    return f"({sides})/p"


def _sides(dimensions: int) -> Iterator[str]:
    """Yield sides of a grid and products of them."""
    for count in range(1, dimensions):
        for chosen in combinations(range(dimensions), count):
            yield "*".join(f"side(p, {dimensions}, {k})" for k in chosen)


def _turns(terms: Sequence[str]) -> bool:
    """Whether a sum falls on few ranks and grows on many."""
    return len({_term(text, 2) > _term(text, 4) for text in terms if text != "1"}) > 1


def _becomes_less(visits: Values, text: str) -> bool:
    """Whether all ranks together have less work at the most ranks, if each has this at a time."""
    first_work, last_work = (p * visits[p] * _term(text, p) for p in (min(visits), max(visits)))
    return last_work < (1 - MAX_COUNT_ERROR) * first_work


@cache
def _term(text: str, ranks: int) -> float:
    return evaluate(text, {"p": Quantity(float(ranks))}).value


def _fitted(values: Values, terms: Sequence[str]) -> tuple[Floats, Floats]:
    """Return factors of terms for all ways to share out the value at the fewest ranks among them.

    Returns
    -------
    tuple
        Factors, shape (k, terms), and relative residuals, shape (k, values).
    """
    fewest = min(values)
    shares = np.ones((1, 1))
    if len(terms) > 1:
        shares = np.column_stack([_SHARES, 1 - _SHARES])
    factors = shares / [_term(text, fewest) for text in terms]
    predicted = factors @ [[_term(text, p) for p in values] for text in terms]
    logs = np.log(np.array(list(values.values())) / predicted)
    level = logs.mean(axis=1, keepdims=True)
    return factors * np.exp(level), logs - level


def _likely(residuals: Floats, scale: float) -> Floats:
    return np.asarray(np.exp(-0.5 * (residuals**2).sum(axis=1) / scale**2))


def _mean(rivals: Sequence[Rival]) -> str:
    """Write the mean of functions as one sum of their terms."""
    likely = [rival for rival in rivals if rival.weight >= MIN_WRITTEN_WEIGHT] or [*rivals[:1]]
    whole_weight = sum(rival.weight for rival in likely)
    sums: dict[str, float] = {}
    for rival in likely:
        for text, factor in zip(rival.terms, rival.chances @ rival.factors, strict=True):
            sums[text] = sums.get(text, 0.0) + float(factor) * rival.weight / whole_weight
    written = [
        _number(factor) if text == "1" else f"{_number(factor)}*{text}"
        for text, factor in sums.items()
    ]
    return written[0] if len(written) == 1 else "(" + " + ".join(written) + ")"


def _number(value: float) -> str:
    return str(round(value)) if value == round(value) and abs(value) < 1e15 else f"{value:.6g}"

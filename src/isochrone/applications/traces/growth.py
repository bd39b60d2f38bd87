"""Numbers at several numbers of ranks, as functions of these.

A function is written as an expression of ``p``, which descriptions know. Those that are tried are
those of programs that divide something: by all ranks, by the sides of the grid that they form, by a
power of their number; or that have as much on each of them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from isochrone.applications.description.grids import balanced
from isochrone.applications.traces.gaps import CHANCE

EXACT = 0.005
"""Relative error below which a simpler function is preferred."""

ENOUGH = 0.1
"""Largest relative error of a function."""

_POWERS = {
    "1/3": 1 / 3, "1/2": 0.5, "2/3": 2 / 3, "1": 1.0, "4/3": 4 / 3, "3/2": 1.5, "2": 2.0,
}  # fmt: skip


class Growth(NamedTuple):
    """A function of the number of ranks: what is written, and its largest relative error."""

    text: str
    error: float


Values = Mapping[int, float]
"""By number of ranks."""


def growth(
    values: Values, first: str = "", *, noise: float = 0.0, below: float = math.inf
) -> Growth | None:
    """Return the simplest function that has these values; None if none comes near.

    Parameters
    ----------
    values
        By number of ranks.
    first
        The one that is chosen of several that fit as well.
    noise
        Relative standard error of the values: what it explains is no reason for another function.
    below
        The function is chosen by all values, its coefficients by those on fewer ranks.
    """
    if max(values.values()) == min(values.values()):
        return Growth(_number(next(iter(values.values()))), 0.0)
    if min(values.values()) <= 0:
        return None
    shapes = dict(_shapes(sorted(values)))
    names = sorted(shapes, key=lambda text: text != first)
    fits = [(1, _scaled, text) for text in names]
    if len(values) > 2:
        fits += [(2, _with_constant, text) for text in ("1/p", "p", "log2(p)")]
    least = math.inf
    for terms, fit, text in fits:
        error = fit(values, text, shapes[text]).error
        if error < least - terms * EXACT - noise:
            least, chosen, shape = error, fit, text
    if least > max(ENOUGH, CHANCE * noise):
        return None
    fewer = {p: value for p, value in values.items() if p < below}
    return chosen(fewer or values, shape, shapes[shape])


def whole(values: Values) -> str | None:
    """Return the function that has exactly these values: of sides of a grid, p - 1, or constant."""
    if len(set(values.values())) == 1:
        return _number(next(iter(values.values())))
    less = {p: p - 1.0 for p in values}
    for text, shape in [*_shapes(sorted(values)), ("(p - 1)", less)]:
        by = {p: values[p] / shape[p] for p in values}
        factor = round(next(iter(by.values())))
        if factor >= 1 and all(math.isclose(one, factor, rel_tol=1e-9) for one in by.values()):
            return text if factor == 1 else f"{factor}*{text}"
    return None


def _shapes(ranks: Sequence[int]) -> Iterator[tuple[str, Values]]:
    """Yield functions of p with their values, the simplest first."""
    yield "1", dict.fromkeys(ranks, 1.0)
    yield "1/p", {p: 1 / p for p in ranks}
    yield "p", {p: float(p) for p in ranks}
    for dimensions in (2, 3):
        sides = {p: balanced(p, dimensions) for p in ranks}
        for count in range(1, dimensions + 1):
            for chosen in combinations(range(dimensions), count):
                names = [f"side(p, {dimensions}, {k})" for k in chosen]
                product = {p: math.prod(sides[p][k] for k in chosen) for p in ranks}
                yield "1/(" + "*".join(names) + ")", {p: 1 / product[p] for p in ranks}
                yield "*".join(names), {p: float(product[p]) for p in ranks}
                yield "1/(p*" + "*".join(names) + ")", {p: 1 / p / product[p] for p in ranks}
    for text, power in _POWERS.items():
        yield f"p**(-{text})", {p: p**-power for p in ranks}
        yield f"p**({text})", {p: p**power for p in ranks}
    yield "log2(p)", {p: math.log2(p) for p in ranks}


def _scaled(values: Values, text: str, shape: Values) -> Growth:
    ratios = {p: values[p] / shape[p] for p in values}
    factor = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    error = max(abs(factor / ratio - 1) for ratio in ratios.values())
    return Growth(_number(factor) if text == "1" else f"{_number(factor)}*{text}", error)


def _with_constant(values: Values, text: str, shape: Values) -> Growth:
    """Return a constant and a multiple of something, both positive; or only the multiple."""
    columns = np.array([(1 / value, shape[p] / value) for p, value in values.items()])
    (constant, factor), *_ = np.linalg.lstsq(columns, np.ones(len(values)), rcond=None)
    if constant <= 0 or factor <= 0:
        return _scaled(values, text, shape)
    error = float(np.abs(columns @ [constant, factor] - 1).max())
    return Growth(f"({_number(constant)} + {_number(factor)}*{text})", error)


def _number(value: float) -> str:
    return str(round(value)) if value == round(value) and abs(value) < 1e15 else f"{value:.6g}"

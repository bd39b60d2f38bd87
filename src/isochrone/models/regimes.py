"""Regimes: where one formula ends and the next begins, given by the user or found in the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.segments import Break, Segmentation, segment
from isochrone.base.units import parse_bytes
from isochrone.models.family import Family
from isochrone.models.points import Points
from isochrone.models.terms import columns, product

__all__ = ["Regime", "Splits", "find", "parse_splits"]

Array = NDArray[np.float64]
Range = tuple[float | None, float | None]

_ROUNDING: Final = 1e-9

_PLACES: Final = {2000: 100, 1 << 62: 40}
"""Places where a regime may end, up to so many points; many families are tried along several
variables, and a fit of ten thousand points is to be done in a moment."""

MOST_PIECES: Final = 4

TOLERANCE: Final = 0.01
"""No formula is better than a per cent on a real machine: finer regimes are not worth reading."""


@dataclass(frozen=True)
class Splits:
    """Where regimes may end.

    Attributes
    ----------
    given
        For a variable or product, the largest values of all regimes but the last.
    along
        Variables or products along which regimes are looked for; None for those of the family.
    most
        Most pieces along one of them.
    tolerance
        Relative deviations below this do not justify another regime.
    """

    given: dict[str, list[float]] = field(default_factory=dict)
    along: tuple[str, ...] | None = None
    most: int = MOST_PIECES
    tolerance: float = TOLERANCE


@dataclass(frozen=True)
class Regime:
    """One regime: its bounds and which of the points are in it."""

    range: dict[str, Range]
    mine: NDArray[np.bool_]


def parse_splits(
    texts: Sequence[str] | None, most: int = MOST_PIECES, tolerance: float = TOLERANCE
) -> Splits:
    """Read ``--split``: ``none``, ``p`` (look along p), ``p:4`` or ``p*b:64KiB,8MiB`` (given).

    Raises
    ------
    InputError
        If a value is none, or they do not rise.
    """
    if texts is None:
        return Splits(most=most, tolerance=tolerance)
    given: dict[str, list[float]] = {}
    along: list[str] = []
    for text in texts:
        name, colon, values = text.partition(":")
        name = name.strip()
        if name == "none" and not colon:
            continue
        product(name, {key: np.ones(1) for key in ("b", "p", "w", "n", "pa", "pe", "in", "out")})
        if colon:
            given[name] = [_value(name, value) for value in values.split(",")]
            if sorted(set(given[name])) != given[name]:
                raise InputError(f"the bounds of '{text}' do not rise")
        else:
            along.append(name)
    return Splits(given, tuple(along), most, tolerance)


def find(family: Family, points: Points, splits: Splits, weights: str = "relative") -> list[Regime]:
    """Return the regimes of one family in the order of their variables, at least one."""
    whole = Regime({}, np.ones(len(points), dtype=bool))
    regimes = [whole]
    for name, bounds in splits.given.items():
        regimes = [cell for regime in regimes for cell in _cells(regime, name, bounds, points)]
    along = family.splits if splits.along is None else splits.along
    free = [name for name in along if name not in splits.given and _has(name, points)]
    return [
        cell
        for regime in regimes
        for cell in _search(family, points, regime, free, splits, weights)
    ]


def _cells(regime: Regime, name: str, bounds: Sequence[float], points: Points) -> list[Regime]:
    """Cut one regime at given bounds; a value on a bound belongs to the regime below."""
    if not _has(name, points):
        raise InputError(f"no split along '{name}'", hint="the data do not hold it")
    value = product(name, points.variables)
    number = np.searchsorted(bounds, value, side="left")
    edges = [None, *bounds, None]
    cells = []
    for k in range(len(bounds) + 1):
        mine = regime.mine & (number == k)
        if not mine.any():
            raise InputError(
                f"no points in the regime {k + 1} of '{name}'", hint="give other bounds"
            )
        cells.append(Regime({**regime.range, name: (edges[k], edges[k + 1])}, mine))
    return cells


def _search(
    family: Family, points: Points, regime: Regime, along: Sequence[str], splits: Splits,
    weights: str,
) -> list[Regime]:  # fmt: skip
    """Cut one regime where that pays most, and its parts along the other variables."""
    # Any of several variables may happen to be cut by noise: they share one chance (Bonferroni).
    best = None
    least = 2 * math.log(max(len(along), 1))
    for name in along:
        found = _segmentation(family, points, regime, name, splits, weights)
        if found is None or not found.breaks:
            continue
        gain = found.criterion[0] - min(found.criterion)
        if gain > least:
            least, best = gain, (name, found)
    if best is None:
        return [regime]
    name, found = best
    value = product(name, points.variables)
    others = [other for other in along if other != name]
    cells = []
    for bounds in _bounds(found.breaks):
        low, high = bounds
        mine = (
            regime.mine
            & (value >= (low or -np.inf))
            & (value <= (np.inf if high is None else high))
        )
        cell = Regime({**regime.range, name: bounds}, mine)
        cells += _search(family, points, cell, others, splits, weights)
    return cells


def _bounds(breaks: Sequence[Break]) -> list[Range]:
    lows = [None, *(found.above for found in breaks)]
    highs = [*(found.below for found in breaks), None]
    return list(zip(lows, highs, strict=True))


def _segmentation(
    family: Family, points: Points, regime: Regime, name: str, splits: Splits, weights: str
) -> Segmentation | None:
    """Segment along one variable; None if the data do not allow a single piece."""
    variables = {key: values[regime.mine] for key, values in points.variables.items()}
    seconds = points.seconds[regime.mine]
    scale = seconds if weights == "relative" else np.full_like(seconds, seconds.mean())
    noise = max(points.noise or 0.0, splits.tolerance, _ROUNDING)
    bases = [columns(form.terms, variables) for form in family.forms]
    places = next(count for most, count in _PLACES.items() if len(seconds) <= most)
    try:
        return segment(
            product(name, variables), seconds, bases[0], alternatives=bases[1:],
            sigma=noise * scale, most=splits.most, fewest=family.fewest, places=places,
        )  # fmt: skip
    except InputError:
        return None


def _has(name: str, points: Points) -> bool:
    try:
        product(name, points.variables)
    except InputError:
        return False
    return True


def _value(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        if "b" in name.split("*"):
            return float(parse_bytes(text))
        raise InputError(f"'{text}' is no bound of '{name}'") from None

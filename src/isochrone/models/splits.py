"""Where one regime ends and the next begins: given by the user or found in the data.

A regime that is found is a segment along one variable, and within it along the next, see
`isochrone.base.segmentation`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.segmentation import Break, Segmentation, segment
from isochrone.base.units import parse_bytes
from isochrone.models.family import Family
from isochrone.models.observations import Observations
from isochrone.models.regime import Range
from isochrone.models.terms import VARIABLES, design_matrix, evaluate_term

__all__ = ["Region", "Splits", "find_regions", "parse_splits"]

Array = NDArray[np.float64]

_ROUNDING: Final = 1e-9

_CANDIDATES: Final = {2000: 100, 1 << 62: 40}
"""Positions where a regime may end, up to this many observations; many families are tried along
several variables, and a fit of ten thousand observations is to be done in a moment."""

MAX_REGIMES: Final = 4

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
    max_regimes
        Most regimes along one of them.
    tolerance
        Relative deviations below this do not justify another regime.
    """

    given: dict[str, list[float]] = field(default_factory=dict)
    along: tuple[str, ...] | None = None
    max_regimes: int = MAX_REGIMES
    tolerance: float = TOLERANCE


@dataclass(frozen=True)
class Region:
    """Where one regime holds: its range, and a mask of the observations in it, shape (n,)."""

    range: dict[str, Range]
    mask: NDArray[np.bool_]


def parse_splits(
    texts: Sequence[str] | None, max_regimes: int = MAX_REGIMES, tolerance: float = TOLERANCE
) -> Splits:
    """Read ``--split``: ``none``, ``p`` (look along p), ``p:4`` or ``p*b:64KiB,8MiB`` (given).

    Raises
    ------
    InputError
        If a value is none, or they do not rise.
    """
    if texts is None:
        return Splits(max_regimes=max_regimes, tolerance=tolerance)
    given: dict[str, list[float]] = {}
    along: list[str] = []
    for text in texts:
        name, colon, values = text.partition(":")
        name = name.strip()
        if name == "none" and not colon:
            continue
        evaluate_term(name, {key: np.ones(1) for key in VARIABLES})
        if colon:
            given[name] = [_value(name, value) for value in values.split(",")]
            if sorted(set(given[name])) != given[name]:
                raise InputError(f"the bounds in '{text}' are not increasing")
        else:
            along.append(name)
    return Splits(given, tuple(along), max_regimes, tolerance)


def find_regions(
    family: Family, observed: Observations, splits: Splits, weights: str = "relative"
) -> list[Region]:
    """Return where the regimes of one family hold, in the order of their variables; at least one.

    Raises
    ------
    InputError
        If the data do not hold the variable of a given split, or no values between its bounds.
    """
    regions = [Region({}, np.ones(len(observed), dtype=bool))]
    for name, bounds in splits.given.items():
        regions = [part for region in regions for part in _cut(region, name, bounds, observed)]
    along = family.splits if splits.along is None else splits.along
    free = [name for name in along if name not in splits.given and _has(name, observed)]
    return [
        part
        for region in regions
        for part in _search(family, observed, region, free, splits, weights)
    ]


def _cut(
    region: Region, name: str, bounds: Sequence[float], observed: Observations
) -> list[Region]:
    """Cut one region at given bounds; a value on a bound belongs to the part below."""
    if not _has(name, observed):
        raise InputError(f"cannot split along '{name}'", hint="it is not in the data")
    number = np.searchsorted(bounds, evaluate_term(name, observed.variables), side="left")
    edges = [None, *bounds, None]
    parts = []
    for k in range(len(bounds) + 1):
        mask = region.mask & (number == k)
        if not mask.any():
            raise InputError(
                f"no points in the regime {k + 1} of '{name}'", hint="give other bounds"
            )
        parts.append(Region({**region.range, name: (edges[k], edges[k + 1])}, mask))
    return parts


def _search(
    family: Family, observed: Observations, region: Region, along: Sequence[str], splits: Splits,
    weights: str,
) -> list[Region]:  # fmt: skip
    """Cut one region where that pays most, and its parts along the other variables."""
    # Any of several variables may happen to be cut by noise: they share one chance (Bonferroni).
    best = None
    least = 2 * math.log(max(len(along), 1))
    for name in along:
        found = _segmentation(family, observed, region, name, splits, weights)
        if found is None or not found.breaks:
            continue
        gain = found.criterion[0] - min(found.criterion)
        if gain > least:
            least, best = gain, (name, found)
    if best is None:
        return [region]
    name, found = best
    value = evaluate_term(name, observed.variables)
    others = [other for other in along if other != name]
    parts = []
    for low, high in _ranges(found.breaks):
        mask = region.mask.copy()
        if low is not None:
            mask &= value >= low
        if high is not None:
            mask &= value <= high
        part = Region({**region.range, name: (low, high)}, mask)
        parts += _search(family, observed, part, others, splits, weights)
    return parts


def _ranges(breaks: Sequence[Break]) -> list[Range]:
    lows = [None, *(found.above for found in breaks)]
    highs = [*(found.below for found in breaks), None]
    return list(zip(lows, highs, strict=True))


def _segmentation(
    family: Family, observed: Observations, region: Region, name: str, splits: Splits, weights: str
) -> Segmentation | None:
    """Segment along one variable; None if the data do not allow a single segment."""
    variables = {key: values[region.mask] for key, values in observed.variables.items()}
    seconds = observed.seconds[region.mask]
    scale = seconds if weights == "relative" else np.full_like(seconds, seconds.mean())
    noise = max(observed.noise or 0.0, splits.tolerance, _ROUNDING)
    bases = [design_matrix(form.terms, variables) for form in family.forms]
    candidates = next(count for most, count in _CANDIDATES.items() if len(seconds) <= most)
    try:
        return segment(
            evaluate_term(name, variables), seconds, bases[0], alternatives=bases[1:],
            sigma=noise * scale, max_segments=splits.max_regimes, min_values=family.min_values,
            max_candidates=candidates,
        )  # fmt: skip
    except InputError:
        return None


def _has(name: str, observed: Observations) -> bool:
    try:
        evaluate_term(name, observed.variables)
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

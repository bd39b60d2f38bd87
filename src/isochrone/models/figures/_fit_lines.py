"""What is across in the picture of a fit, and which lines are drawn, at which values."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.models import Observations
from isochrone.models.sizes import NODE

__all__ = ["axes_of", "fine", "is_wide", "lines_of", "smallest"]

Array = NDArray[np.float64]

_STEPS: Final = 240
_WIDE: Final = 30  # largest over smallest size from which an axis is logarithmic
_WHOLE: Final = ("p", "w", "nodes", "ppn")
"""There are no halves of these."""


def is_wide(x: Array) -> bool:
    """Whether values span so wide a range that only a logarithmic axis shows them all."""
    above = x[x > 0]
    return len(above) > 0 and bool(above.max() > _WIDE * above.min())


def smallest(x: Array) -> float:
    """Return the smallest value above 0, with which a logarithmic axis begins; 1 if none is."""
    above = x[x > 0]
    return float(above.min()) if len(above) else 1.0


def axes_of(points: Observations, wanted: str) -> tuple[str, list[str]]:
    """Choose the variable across (that with most values), and those that make the lines."""
    counts = {name: len(np.unique(values)) for name, values in points.variables.items()}
    if set(NODE) <= counts.keys():  # the others follow from these
        counts = {name: counts[name] for name in (*NODE, "busy")}
        wanted = wanted or "b"
    if wanted and wanted not in counts:
        raise InputError(
            f"nothing was measured over {wanted}", hint=f"the data hold {', '.join(counts)}"
        )
    order = sorted(counts, key=lambda name: (name != wanted, -counts[name], name))
    return order[0], order[1:]


def lines_of(points: Observations, series: list[str], most: int) -> list[dict[str, Any]]:
    """Choose the values of the other variables: those with most points, spread evenly."""
    if not series:
        return [{}]
    rows = np.column_stack([points.variables[name] for name in series])
    found, counts = np.unique(rows, axis=0, return_counts=True)
    rich = found[counts >= min(3, counts.max())]
    chosen = np.unique(np.linspace(0, len(rich) - 1, min(len(rich), most)).round())
    return [dict(zip(series, rich[int(k)].tolist(), strict=True)) for k in chosen]


def fine(x: Array, across: str, reach: float) -> Array:
    """Return many values from the least to the largest that is drawn, the measured ones included.

    Of ranks, those around powers of two are among them: the steps of a tree change there.
    """
    low, high = smallest(x), max(float(x.max()), reach)
    spread = np.linspace(float(x.min()), high, _STEPS)
    if is_wide(np.append(x, high)):
        spread = np.geomspace(low, high, _STEPS)
    if across in _WHOLE:
        powers = 2.0 ** np.arange(64)
        powers = np.concatenate([powers, powers + 1])
        spread = np.append(np.round(spread), powers[(powers >= x.min()) & (powers <= high)])
    return np.unique(np.append(spread, x))

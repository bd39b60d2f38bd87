"""Where formulas have a meaning: what may be asked, and which times are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.units import LARGEST
from isochrone.models.formulas import number
from isochrone.models.observations import COUNTED
from isochrone.models.questions import recorded
from isochrone.models.regime import Regime
from isochrone.models.terms import VARIABLES
from isochrone.runfile.columns import MAX_SECONDS, MIN_SECONDS

__all__ = ["checked", "without_time"]

Array = NDArray[np.float64]


def checked(points: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return the points, none of which is absurd.

    Raises
    ------
    InputError
        If a count is not a whole number from 1, or a value larger than any.
    """
    for name, values in points.items():
        wrong = values[values > LARGEST]
        if name in COUNTED:
            wrong = values[(values < 1) | (values != np.floor(values)) | (values > LARGEST)]
        if len(wrong):
            raise InputError(f"'{name}' is {wrong[0]:g}, no {VARIABLES[name]}")
    return points


def without_time(
    regimes: Sequence[Regime], points: Mapping[str, Array], seconds: Array
) -> tuple[NDArray[np.bool_], list[str]]:
    """Mark the points that no formula gives a time for, shape (n,), and say why.

    One rank has nobody to send to: a formula of many says nothing of it, unless one was measured.
    """
    nowhere = ~((seconds >= MIN_SECONDS) & (seconds <= MAX_SECONDS))
    reasons = []
    measured = recorded(regimes, "p")
    if "p" in points and not (measured and measured[0] <= 1):
        alone = points["p"] < 2
        nowhere &= ~alone
        if alone.any():
            reasons.append("p = 1: a single rank sends nothing to others, and was not measured")
    else:
        alone = np.zeros(len(seconds), dtype=bool)
    if nowhere.any():
        first = int(np.argmax(nowhere))
        place = ", ".join(f"{name} = {number(name, v[first])}" for name, v in points.items())
        more = f", and at {int(nowhere.sum()) - 1} more" if nowhere.sum() > 1 else ""
        reasons.append(f"the formula gives no possible time at {place}{more}")
    return nowhere | alone, reasons

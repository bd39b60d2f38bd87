"""What a model is worth: predicted against measured, in all and per group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.models import linear
from isochrone.models.model import Model
from isochrone.models.points import Points

__all__ = ["by_group", "held_out", "judge", "predictions"]

Array = NDArray[np.float64]
Part = tuple[linear.Fit, NDArray[np.bool_]]

MOST_GROUPS: Final = 200
"""Values of a variable that are told apart; beyond that a list of deviations tells nothing."""


def judge(model: Model, groups: Sequence[Points]) -> dict[str, Any]:
    """Compare a model with measurements, which may be others than it was fitted to.

    Returns
    -------
    dict
        ``points``, ``samples``, ``r2``, ``deviation`` (overall) and ``groups``: deviations for each
        value of each variable, and of each selector.
    """
    predicted, measured = predictions(model, groups), _measured(groups)
    return {
        "points": len(measured),
        "samples": int(sum(points.repeats.sum() for points in groups)),
        "r2": linear.r_squared(predicted, measured),
        "deviation": linear.deviation(predicted, measured).to_json(),
        "groups": {
            name: {value: found.to_json() for value, found in values.items()}
            for name, values in by_group(model, groups).items()
        },
    }


def predictions(model: Model, groups: Sequence[Points]) -> Array:
    """Predict all points of all groups, shape (n,)."""
    known = model.selectors
    times = []
    for points in groups:
        where = {key: value for key, value in points.where.items() if key in known}
        times.append(model.predict(points.variables, where).seconds)
    return np.concatenate(times)


def by_group(model: Model, groups: Sequence[Points]) -> dict[str, dict[str, linear.Deviation]]:
    """Return the deviations for each value of each variable and selector that has several."""
    predicted, measured = predictions(model, groups), _measured(groups)
    names = groups[0].variables
    keys = {name: np.concatenate([p.variables[name] for p in groups]) for name in names}
    for name in groups[0].where:
        keys[name] = np.concatenate([np.full(len(p), p.where[name], dtype=object) for p in groups])
    found: dict[str, dict[str, linear.Deviation]] = {}
    for name, column in keys.items():
        values = list(dict.fromkeys(np.sort(column).tolist()))
        if not 1 < len(values) <= MOST_GROUPS:
            continue
        chosen = {value: column == value for value in values}
        found[name] = {
            f"{value:.15g}" if isinstance(value, float) else str(value): linear.deviation(
                predicted[mine], measured[mine]
            )
            for value, mine in chosen.items()
        }
    return found


def held_out(fits: Sequence[tuple[Sequence[Part], Points, Array]]) -> dict[str, Any]:
    """Return the deviations of points left out of the fit: one by one, and all of a value.

    ``point`` leaves out one point at a time, ``p`` all points of a number of ranks, and so on. The
    regimes stay where they are. A value without which terms cannot be told apart is not counted.
    """
    measured = _measured([points for _, points, _ in fits])
    single = np.concatenate([without for _, _, without in fits])
    found = {"point": linear.deviation(single, measured).to_json()}
    for name in fits[0][1].variables:
        columns = [points.variables[name] for _, points, _ in fits]
        if not 1 < len(np.unique(np.concatenate(columns))) <= MOST_GROUPS:
            continue
        without = np.concatenate([_without(parts, points, name) for parts, points, _ in fits])
        known = ~np.isnan(without)
        if known.any():
            found[name] = linear.deviation(without[known], measured[known]).to_json()
    return found


def _without(parts: Sequence[Part], points: Points, name: str) -> Array:
    without = np.full(len(points), np.nan)
    for fitted, mine in parts:
        numbers = np.unique(points.variables[name][mine], return_inverse=True)[1].ravel()
        without[mine] = linear.left_out(fitted, points.seconds[mine], numbers)
    return without


def _measured(groups: Sequence[Points]) -> Array:
    return np.concatenate([points.seconds for points in groups])

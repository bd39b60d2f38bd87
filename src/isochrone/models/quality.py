"""How well a model fits measured times: overall, and for each value of each variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isochrone.base.documents import IfKnown, Scalar
from isochrone.models.deviation import MAX_GROUPS, Deviation, deviation, r_squared
from isochrone.models.model import Model
from isochrone.models.observations import Observations

__all__ = ["deviations_by_group", "goodness_of_fit"]

Array = NDArray[np.float64]


class Tried:
    """A family that was tried; ``reason`` says why it cannot be fitted."""

    family: str
    held_out: float | None
    sicc: IfKnown[float]
    pieces: IfKnown[int]
    coefficients: IfKnown[int]
    reason: IfKnown[str]


class Ranked:
    """The families that were tried for one operation."""

    where: dict[str, Scalar]
    families: list[Tried]


class Quality:
    """How well a model fits its data; ``groups`` by variable and value, ``held_out`` likewise."""

    points: int
    samples: int
    r2: float | None
    deviation: Deviation
    groups: dict[str, dict[str, Deviation]]
    held_out: dict[str, Deviation]


def goodness_of_fit(model: Model, observed: Sequence[Observations]) -> dict[str, Any]:
    """Compare a model with measurements, which may be others than it was fitted to.

    Returns
    -------
    dict
        ``points``, ``samples``, ``r2``, ``deviation`` (overall) and ``groups``: deviations for each
        value of each variable, and of each selector.
    """
    predicted, measured = _predicted(model, observed), _measured(observed)
    return {
        "points": len(measured),
        "samples": int(sum(one.repeats.sum() for one in observed)),
        "r2": r_squared(predicted, measured),
        "deviation": vars(deviation(predicted, measured)),
        "groups": {
            name: {value: vars(found) for value, found in values.items()}
            for name, values in deviations_by_group(model, observed).items()
        },
    }


def deviations_by_group(
    model: Model, observed: Sequence[Observations]
) -> dict[str, dict[str, Deviation]]:
    """Return the deviations for each value of each variable and selector that has several."""
    predicted, measured = _predicted(model, observed), _measured(observed)
    keys = {
        name: np.concatenate([one.variables[name] for one in observed])
        for name in observed[0].variables
    }
    for name in observed[0].where:
        column = [np.full(len(one), one.where[name], dtype=object) for one in observed]
        keys[name] = np.concatenate(column)
    found: dict[str, dict[str, Deviation]] = {}
    for name, values in keys.items():
        distinct = list(dict.fromkeys(np.sort(values).tolist()))
        if not 1 < len(distinct) <= MAX_GROUPS:
            continue
        found[name] = {
            _text(value): deviation(predicted[values == value], measured[values == value])
            for value in distinct
        }
    return found


def _predicted(model: Model, observed: Sequence[Observations]) -> Array:
    """Predict all observations, shape (n,)."""
    known = model.selectors
    times = []
    for one in observed:
        where = {key: value for key, value in one.where.items() if key in known}
        times.append(model.by_formula(one.variables, where))
    return np.concatenate(times)


def _measured(observed: Sequence[Observations]) -> Array:
    return np.concatenate([one.seconds for one in observed])


def _text(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)

"""How far each measured point is from a formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.models.observations import Observations
from isochrone.models.regime import Selector

if TYPE_CHECKING:
    from isochrone.models.model import Model

__all__ = ["applicable", "residuals"]


def applicable(
    selectors: Mapping[str, Sequence[Selector]], observed: Sequence[Observations]
) -> Iterator[Observations]:
    """Yield the observations of what a model holds, such as its operations."""
    for one in observed:
        if all(one.where[key] in selectors[key] for key in selectors if key in one.where):
            yield one


def residuals(model: Model, observed: Sequence[Observations]) -> dict[str, NDArray[Any]]:
    """Return the points as columns: selectors, variables, and how far they are from the formula.

    Raises
    ------
    InputError
        If the model is for nothing of it.
    """
    known = model.selectors
    parts = list(applicable(known, observed))
    if not parts:
        raise InputError("the model does not apply to anything measured")
    columns: dict[str, list[NDArray[Any]]] = {}
    for one in parts:
        where = {key: value for key, value in one.where.items() if key in known}
        predicted = model.predict(one.variables, where).seconds
        named = {key: np.full(len(one), value) for key, value in one.where.items()}
        for name, values in {
            **named, **one.variables, "seconds": one.seconds, "predicted": predicted,
            "residual": one.seconds / predicted - 1,
        }.items():  # fmt: skip
            columns.setdefault(name, []).append(values)
    return {name: np.concatenate(values) for name, values in columns.items()}

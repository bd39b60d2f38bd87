"""The values that an application draws, some iterations at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from isochrone.applications.description.draws import draw

__all__ = ["Draws"]

_AHEAD: Final = 64
"""Iterations that are drawn together."""


class Draws:
    """Draws of one application.

    Parameters
    ----------
    seed
        Of the program.
    values
        Its lists of equally likely values.
    app
        Number of the application.
    """

    def __init__(self, seed: int, values: Sequence[Sequence[float]], app: int) -> None:
        self._seed = seed
        self._values = values
        self._app = app
        self._kept: dict[tuple[int, int, int, int], tuple[int, list[float]]] = {}

    def value(self, of: int, rank: int, phase: int, iteration: int, number: int) -> float:
        """Return what is drawn from list ``of`` by a key; see `lowering`."""
        values = self._values[of]
        if len(values) == 1:
            return values[0]
        part, place = divmod(iteration, _AHEAD)
        key = (of, rank, phase, number)
        kept = self._kept.get(key)
        if kept is None or kept[0] != part:
            iterations = np.arange(part * _AHEAD, (part + 1) * _AHEAD)
            drawn = draw(self._seed, values, self._app, rank, phase, iterations, number)
            kept = self._kept[key] = (part, drawn.tolist())
        return kept[1][place]

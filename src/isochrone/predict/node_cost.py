"""The cost of a node from its messages, by a model of a hot spot, for whole arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isochrone.base.errors import InputError
from isochrone.models import Model

__all__ = ["TIE", "NodeCost", "refuse_no_time"]

Floats = NDArray[np.float64]

KNOWN: Final = ("pa", "pe", "in", "out")

TIE: Final = 5e-7
"""Costs closer than this part of them are the same hot spot: below the digits of any model."""


@dataclass(frozen=True)
class NodeCost:
    """A model of what communication costs a node.

    Attributes
    ----------
    model
        With variables among ``pa``, ``pe``, ``in`` and ``out``. Half of the messages
        are counted as pairs, as the cFireworks paper does (its equation 1 and table II):
        pa = intra / 2, pe = (in + out) / 2.
    where
        Which part of the model is meant, e.g. ``{"order": "intra-first"}``.
    """

    model: Model
    where: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [name for name in self.model.variables if name not in KNOWN]
        if unknown or not self.model.variables:
            found = ", ".join(self.model.variables) or "nothing"
            raise InputError(
                f"the model is a function of {found}, not of the messages of a node (pa, pe)",
                where="--model", hint="fit a hotspot measurement, or see examples/models",
            )  # fmt: skip

    def cost(self, intra: ArrayLike, into: ArrayLike, out: ArrayLike, spread: int = 1) -> Floats:
        """Return the seconds of each node in an average of the ``spread`` rounds."""
        return self.ask(intra, into, out, spread)[0]

    def ask(
        self, intra: ArrayLike, into: ArrayLike, out: ArrayLike, spread: int = 1
    ) -> tuple[Floats, Floats, Floats, list[str]]:
        """Return the seconds of each node in an average round, their interval, and warnings."""
        sides = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (intra, into, out)))
        a, i, o = (side.ravel() / spread for side in sides)
        values = {"pa": a / 2, "pe": (i + o) / 2, "in": i, "out": o}
        asked = {name: values[name] for name in self.model.variables}
        found = self.model.predict(asked, dict(self.where))
        seconds, low, high = (
            side.reshape(sides[0].shape) for side in (found.by_formula, found.low, found.high)
        )
        return seconds, low, high, found.warnings


def refuse_no_time(cost: float) -> None:
    """Refuse the cost of the hottest node where a formula gives no time; others may be idle.

    Raises
    ------
    InputError
        If it is zero or less.
    """
    if not cost > 0:
        raise InputError(
            "the formula gives the hottest node no time above zero", where="--model",
            hint="fit a hot spot that was measured with as few messages as this call has",
        )  # fmt: skip

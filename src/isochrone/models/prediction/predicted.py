"""Times that a model predicts, as data, a table and a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from isochrone.base.arrays import Floats
from isochrone.base.frames import data_frame

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass
class Prediction:
    """What a model predicts.

    Attributes
    ----------
    seconds
        One time for each point, in the shape in which they were asked for; NaN where the formula
        gives none, as for a single rank that was not measured, or where it falls to zero or below.
        The warnings say so first.
    low, high
        Interval of a measured time, of 95 % or as asked for; NaN where the model does not know.
    warnings
        What makes these times doubtful, one sentence each.
    origin
        Where the times come from that the model was fitted to; empty if that is not known.
    by_formula
        What the formula gives, in seconds, also where that is no time.
    points
        Values of the variables, such as ``p`` and ``b``, in the same shape.
    """

    seconds: Floats
    low: Floats
    high: Floats
    warnings: list[str] = field(default_factory=list)
    origin: str = ""
    by_formula: Floats = field(default_factory=lambda: np.empty(0))
    points: Mapping[str, Floats] = field(default_factory=dict)

    def to_pandas(self) -> DataFrame:
        """Return a data frame: a row for each point, its variables, ``seconds``, ``low``, ``high``.

        Raises
        ------
        InputError
            If pandas is not installed.
        """
        names = (*self.points, "seconds", "low", "high")
        each = np.broadcast_arrays(*self.points.values(), self.seconds, self.low, self.high)
        return data_frame({name: np.ravel(v) for name, v in zip(names, each, strict=True)})

    def plot(self, ax: Any = None) -> Any:
        """Plot the times with their intervals, over the variable with most values.

        Parameters
        ----------
        ax
            Axes of a figure of yours to plot on; that figure is returned.

        Raises
        ------
        InputError
            If no time is predicted, or matplotlib is not installed.
        """
        figures = import_module("isochrone.models.figures._prediction")  # these know models
        return figures.draw(self, ax)

    def _repr_html_(self) -> str:
        rows = np.stack(np.broadcast_arrays(self.seconds, self.low, self.high)).reshape(3, -1).T
        cells = "".join(f"<tr><td>{s:.4g} s<td>{low:.4g} to {high:.4g}" for s, low, high in rows)
        return f"<table>{cells}</table>{escape(' '.join(self.warnings))}"

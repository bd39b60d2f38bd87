"""Predicted times with their intervals, over the variable that has most values."""

from typing import cast

import numpy as np

from isochrone.base.errors import InputError
from isochrone.models.figures._fitted import WORDS, value_text
from isochrone.models.figures.fit import BAND_OPACITY, is_wide, scale_times, smallest
from isochrone.models.prediction.predicted import Prediction
from isochrone.views.scales import Scale, place, tick_bytes, where_ticks
from isochrone.views.style import COLOURS, new_figure, plain_axes, plain_legend
from isochrone.views.view import Axes, Figure

_SIZE = 6.4, 4.4
"""Inches, as a panel of the view fit."""


def draw(prediction: Prediction, axes: Axes | None = None) -> Figure:
    """Draw a line for each value of the other variables, on given axes or a new figure.

    Raises
    ------
    InputError
        If no time is predicted, or matplotlib is not installed.
    """
    seconds, low, high = (
        np.ravel(values) for values in (prediction.seconds, prediction.low, prediction.high)
    )
    if not np.any(seconds > 0) or not prediction.points:
        raise InputError("there is no predicted time to plot")
    if axes is None:
        axes = new_figure(*_SIZE).add_subplot()
    points = {name: np.ravel(values) for name, values in prediction.points.items()}
    across = max(points, key=lambda name: len(np.unique(points[name])))
    x = points.pop(across)
    scale: Scale = "log" if is_wide(x) else "linear"
    others = np.stack([np.zeros(len(x)), *points.values()])
    lines, line = np.unique(others, axis=1, return_inverse=True)
    for k, colour in zip(range(lines.shape[1]), COLOURS, strict=False):
        mine = np.flatnonzero(line.ravel() == k)
        mine = mine[np.argsort(x[mine], kind="stable")]
        at = place(x[mine], scale, smallest(x))
        axes.fill_between(at, low[mine], high[mine], color=colour, alpha=BAND_OPACITY, linewidth=0)
        varied = [name for name, values in points.items() if len(np.unique(values)) > 1]
        label = ", ".join(value_text(name, points[name][mine[0]]) for name in varied)
        axes.plot(at, seconds[mine], "o-", color=colour, markersize=3, label=label)
    drawn = seconds[seconds > 0]
    scale_times(axes, float(drawn.min()), float(drawn.max()))
    ticks = where_ticks(x, scale, tick_bytes if across == "b" else lambda value: f"{value:g}")
    axes.set_xticks(ticks.places, ticks.texts)
    axes.minorticks_off()
    plain_axes(axes, WORDS.get(across, across), "predicted time, band: interval")
    if lines.shape[1] > 1:
        plain_legend(axes)
    return cast("Figure", axes.figure)

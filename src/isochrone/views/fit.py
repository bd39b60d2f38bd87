"""Measured times with the curve of a model: how well does the formula fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.models import Model, Points
from isochrone.run import Run
from isochrone.units import format_bytes
from isochrone.views._fitted import (
    COLOURS,
    MOST_PANELS,
    WORDS,
    head,
    name_of,
    resolve,
    title_of,
    value_text,
)
from isochrone.views._style import CAPTION, FAINT, INK, LABEL, new_figure, time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DRAWS", "draw"]

DRAWS: Final = "model"
"""The kind of view: it draws runs together with a model."""

Array = NDArray[np.float64]

_MOST_LINES: Final = len(COLOURS)
_STEPS: Final = 120


def draw(
    runs: Sequence[Run], *, model: str | Path | Model = "auto", ops: Sequence[str] = ()
) -> Figure:
    """Draw the points of each operation and the curves of the model through them."""
    model, groups = resolve(runs, model, ops)
    shown = groups[:MOST_PANELS]
    columns = min(len(shown), 2)
    rows = -(-len(shown) // columns)
    figure = new_figure(5.4 * columns + 0.4, 3.6 * rows + 0.75)
    for number, points in enumerate(shown):
        axes = figure.add_subplot(rows, columns, number + 1)
        _panel(axes, model, points)
    note = "points: medians · lines: the formula · band: its 95 % interval"
    if len(groups) > len(shown):
        note += f" · {len(groups) - len(shown)} more are not drawn"
    head(figure, f"Measured times and {name_of(model)}", note)
    return figure


def _panel(axes: Axes, model: Model, points: Points) -> None:
    """Draw one operation: a line for each value of the variable that is not on the axis."""
    across, series = _axes_of(points)
    unit = time_unit(points.seconds)
    for colour, fixed in zip(COLOURS, _lines(points, series), strict=False):
        mine = np.ones(len(points), dtype=bool)
        for name, value in fixed.items():
            mine &= points.variables[name] == value
        x = points.variables[across][mine]
        fine = _fine(x)
        if across in ("p", "w"):  # there are no halves of a rank
            fine = np.unique(np.concatenate([np.round(fine), x]))
        where = {key: value for key, value in points.where.items() if key in model.selectors}
        given = {across: fine, **{name: np.full_like(fine, v) for name, v in fixed.items()}}
        found = model.predict(given, where)
        label = ", ".join(value_text(name, value) for name, value in fixed.items())
        axes.plot(fine, found.seconds / unit.factor, "-", color=colour, linewidth=1.2)
        if np.all(np.isfinite(found.low)):
            low, high = np.maximum(found.low, 0) / unit.factor, found.high / unit.factor
            axes.fill_between(fine, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(x, points.seconds[mine] / unit.factor, "o", color=colour, markersize=4,
                  label=label or None)  # fmt: skip
    _finish(axes, points, across, unit.name)


def _finish(axes: Axes, points: Points, across: str, unit: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    x, y = points.variables[across], points.seconds
    if x.min() > 0 and x.max() > 30 * x.min():
        axes.set_xscale("log", base=2 if across in ("b", "p", "w") else 10)
        if across in ("b", "p", "w"):
            axes.xaxis.set_major_locator(LogLocator(base=2, numticks=8))
    if y.max() > 30 * y.min():
        axes.set_yscale("log")
    if across in ("p", "w"):
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    if across == "b":
        axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: format_bytes(max(round(v), 0))))
    axes.set_title(title_of(points), size=LABEL + 1, color=INK, loc="left", parse_math=False)
    axes.set_xlabel(WORDS[across], size=LABEL, color=FAINT)
    axes.set_ylabel(f"time in {unit}", size=LABEL, color=FAINT)
    axes.tick_params(labelsize=CAPTION, labelcolor=INK, color=FAINT)
    axes.set_facecolor("none")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize=CAPTION, frameon=False)


def _axes_of(points: Points) -> tuple[str, list[str]]:
    """Choose the variable across (that with most values), and those that make the lines."""
    counts = {name: len(np.unique(values)) for name, values in points.variables.items()}
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return order[0], order[1:]


def _lines(points: Points, series: list[str]) -> list[dict[str, Any]]:
    """Choose the values of the other variables: those with most points, spread evenly."""
    if not series:
        return [{}]
    rows = np.column_stack([points.variables[name] for name in series])
    found, counts = np.unique(rows, axis=0, return_counts=True)
    rich = found[counts >= min(3, counts.max())]
    chosen = np.unique(np.linspace(0, len(rich) - 1, min(len(rich), _MOST_LINES)).round())
    return [dict(zip(series, rich[int(k)].tolist(), strict=True)) for k in chosen]


def _fine(x: Array) -> Array:
    """Return many values from the least to the largest."""
    low, high = float(x.min()), float(x.max())
    if low > 0 and high > 30 * low:
        return np.geomspace(low, high, _STEPS)
    return np.linspace(low, high, _STEPS)

"""Times with the curve of a model: how well does the formula fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.models import Model, Observations
from isochrone.runfile.origin import with_noun
from isochrone.runfile.run import Run
from isochrone.views.fitted import (
    COLOURS,
    MAX_PANELS,
    WORDS,
    head,
    name_of,
    origin_notes,
    resolve,
    title_of,
    value_text,
)
from isochrone.views.scales import Scale, place, tick_bytes, tick_seconds, value_ticks, where_ticks
from isochrone.views.style import CAPTION, FAINT, INK, LABEL, new_figure
from isochrone.views.view import Options, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["VIEW", "draw"]

Array = NDArray[np.float64]

_MAX_LINES: Final = len(COLOURS)
_STEPS: Final = 240
_WIDE: Final = 30  # largest over smallest size from which an axis is logarithmic
_WIDE_TIMES: Final = 8
_MIN_BAND_SHARE: Final = (
    0.1  # of the shortest time: a band has to end somewhere on a logarithmic axis
)


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the points of each operation and the curves of the model through them."""
    model, groups, origin = resolve(runs, options.model, options.ops)
    shown = groups[:MAX_PANELS]
    columns = min(len(shown), 2)
    rows = -(-len(shown) // columns)
    figure = new_figure(5.4 * columns + 0.4, 3.6 * rows + 0.75)
    for number, points in enumerate(shown):
        axes = figure.add_subplot(rows, columns, number + 1)
        _panel(axes, model, points)
    notes = ["points: medians", "lines: the formula", "band: its 95 % interval"]
    note = " · ".join([*notes, *origin_notes(model, origin)])
    if len(groups) > len(shown):
        note += f" · {len(groups) - len(shown)} more are not drawn"
    head(figure, f"{with_noun(origin).capitalize()} and {name_of(model)}", note)
    return figure


def _panel(axes: Axes, model: Model, points: Observations) -> None:
    """Draw one operation: a line for each value of the variable that is not on the axis."""
    across, series = _axes_of(points)
    scale: Scale = "log" if _wide(points.variables[across]) else "linear"
    smallest = _smallest(points.variables[across])
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
        where_fine, where_x = place(fine, scale, smallest), place(x, scale, smallest)
        axes.plot(where_fine, found.seconds, "-", color=colour, linewidth=1.2)
        if np.all(np.isfinite(found.low)):
            low = np.maximum(found.low, _MIN_BAND_SHARE * points.seconds.min())
            axes.fill_between(where_fine, low, found.high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(where_x, points.seconds[mine], "o", color=colour, markersize=4,
                  label=label or None)  # fmt: skip
    _finish(axes, points, across, scale)


def _finish(axes: Axes, points: Observations, across: str, scale: Scale) -> None:
    x, y = points.variables[across], points.seconds
    value_scale: Scale = "log" if y.max() > _WIDE_TIMES * y.min() else "linear"
    axes.set_yscale(value_scale)
    where = where_ticks(x, scale, tick_bytes if across == "b" else lambda v: f"{v:g}")
    axes.set_xticks(where.places, where.texts)
    low, high = axes.get_ylim()
    values = value_ticks(max(low, 0.0), high, value_scale, tick_seconds)
    axes.set_yticks(values.places, values.texts)
    axes.minorticks_off()
    axes.set_title(title_of(points), size=LABEL + 1, color=INK, loc="left", parse_math=False)
    axes.set_xlabel(WORDS[across], size=LABEL, color=FAINT)
    axes.tick_params(labelsize=CAPTION, labelcolor=INK, color=FAINT)
    axes.set_facecolor("none")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if len(axes.get_legend_handles_labels()[1]) > 1:
        axes.legend(fontsize=CAPTION, frameon=False)


def _wide(x: Array) -> bool:
    """Whether values span so wide a range that only a logarithmic axis shows them all."""
    above = x[x > 0]
    return len(above) > 0 and bool(above.max() > _WIDE * above.min())


def _smallest(x: Array) -> float:
    above = x[x > 0]
    return float(above.min()) if len(above) else 1.0


def _axes_of(points: Observations) -> tuple[str, list[str]]:
    """Choose the variable across (that with most values), and those that make the lines."""
    counts = {name: len(np.unique(values)) for name, values in points.variables.items()}
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return order[0], order[1:]


def _lines(points: Observations, series: list[str]) -> list[dict[str, Any]]:
    """Choose the values of the other variables: those with most points, spread evenly."""
    if not series:
        return [{}]
    rows = np.column_stack([points.variables[name] for name in series])
    found, counts = np.unique(rows, axis=0, return_counts=True)
    rich = found[counts >= min(3, counts.max())]
    chosen = np.unique(np.linspace(0, len(rich) - 1, min(len(rich), _MAX_LINES)).round())
    return [dict(zip(series, rich[int(k)].tolist(), strict=True)) for k in chosen]


def _fine(x: Array) -> Array:
    """Return many values from the least to the largest."""
    low, high = _smallest(x), float(x.max())
    if _wide(x):
        return np.unique(np.concatenate([x[x == 0], np.geomspace(low, high, _STEPS)]))
    return np.linspace(float(x.min()), high, _STEPS)


VIEW: Final = View(draw, kinds=("sweep", "hotspot"), several=True)

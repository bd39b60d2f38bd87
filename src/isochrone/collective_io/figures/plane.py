"""The fitted plane of a hot spot with the points it goes through, as lines over the messages.

A plane seen from the side: over the pairs of messages with other nodes (pe) it is a bundle of
lines, one for each number of pairs within the node (pa), each with its points. A model
that keeps the two directions apart has max(in,out) across and a line for each min(in,out).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.base.errors import InputError
from isochrone.base.units import format_seconds
from isochrone.collective_io.figures._hot_spots import (
    asked,
    by_kind,
    heading,
    model_for,
    notes_of,
    points_of,
    regimes_of,
    title,
    value_of,
)
from isochrone.collective_io.results.hotspot import STAR, GridPoint
from isochrone.models import Model, Regime
from isochrone.models.figures._fitted import MAX_PANELS, head
from isochrone.models.formulas import ranges
from isochrone.runfile.origin import together
from isochrone.runfile.run import Run
from isochrone.views.scales import tick_seconds, value_ticks
from isochrone.views.style import CAPTION, new_figure, plain_axes, plain_legend
from isochrone.views.view import Options, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["VIEW", "draw"]

Array = NDArray[np.float64]
Where = dict[str, Any]

MAX_LINES: Final = 8
MAX_FORMULAS: Final = 3
_SHADES: Final = ("#482878", "#31688e", "#1f9e89", "#6ccd5a", "#b5c421")
"""From few messages to many: matplotlib's viridis, whose order is seen with any colour vision."""
_MARKERS: Final = (6.5, 3.5)
"""Sizes of the points from few messages to many: of those in one place, all can be seen."""
_STYLES: Final = ("-", "--", ":", "-.")
_STYLE_NAMES: Final = ("solid", "dashed", "dotted", "dash-dotted")
_AXES: Final = {
    "pa": "pairs of messages within the node (pa)",
    "pe": "pairs of messages with other nodes (pe)",
    "max": "messages of the busier direction, max(in,out)",
    "min": "messages of the other direction, min(in,out)",
}
_SHORT: Final = {"pa": "pa", "pe": "pe", "min": "min(in,out)"}


@dataclass(frozen=True)
class Panel:
    """Points of one kind, what is across and what tells the lines apart."""

    where: Where
    points: list[GridPoint]
    across: str
    series: str
    pa: float | None = None


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the points of hot spots and the model's lines through them.

    With ``auto``, points that no family fits are drawn alone, and the picture says why.

    Raises
    ------
    InputError
        If the runs hold no points of hot spots, or the model that was named is not for them.
    """
    every = points_of(runs)
    points = [point for point in every if point.shape == STAR]
    if not points:
        raise InputError(
            "at every point all nodes are busy, and none is the hot one",
            where=runs[0].where, hint="--view plane-surface draws them",
        )  # fmt: skip
    found, why = model_for(runs, options.model, options.ops)
    panels = _panels(points, found)
    shown = panels[:MAX_PANELS]
    columns = min(len(shown), 2)
    rows = -(-len(shown) // columns)
    figure = new_figure(5.6 * columns + (1.2 if columns == 1 else 0.2), 3.9 * rows + 0.75)
    for number, panel in enumerate(shown):
        axes = figure.add_subplot(rows, columns, number + 1)
        # all panels of a size have one scale: two cannot be compared
        alike = [other for other in shown if other.where["bytes"] == panel.where["bytes"]]
        times = [point.times for other in alike for point in other.points]
        highest = max(one.high if one.has_interval else one.median for one in times)
        _draw_panel(axes, panel, found, highest)
    origin = together(run.origin for run in runs)
    notes = notes_of(found, why, runs, len(panels) - len(shown))
    if len(every) > len(points):
        notes.insert(1, f"{len(every) - len(points)} points with all nodes busy are not drawn")
    head(figure, title(found, origin), notes)
    return figure


def _panels(points: Sequence[GridPoint], model: Model | None) -> list[Panel]:
    """Part the points by order, hot processes and size, and by pa where directions are apart."""
    groups = by_kind(points)
    directional = model is not None and bool({"in", "out", "bi", "bo"} & set(model.variables))
    each = 2 if 2 * len(groups) <= MAX_PANELS else 1
    panels: list[Panel] = []
    for where, own in groups:
        if directional:
            for pa in _spread({point.pa for point in own}, each):
                mine = [point for point in own if point.pa == pa]
                panels.append(Panel(where, mine, "max", "min", pa))
        elif len({point.pe for point in own}) > 1:
            panels.append(Panel(where, own, "pe", "pa"))
        else:
            panels.append(Panel(where, own, "pa", "pe"))
    return panels


def _draw_panel(axes: Axes, panel: Panel, model: Model | None, highest: float) -> None:
    values = _spread({value_of(point, panel.series) for point in panel.points}, MAX_LINES)
    most = max(value_of(point, panel.across) for point in panel.points)
    regimes = regimes_of(model, panel.where) if model else []
    sizes = np.linspace(*_MARKERS, len(values)).tolist()
    for value, colour, size in zip(values, _shades(len(values)), sizes, strict=True):
        own = [point for point in panel.points if value_of(point, panel.series) == value]
        if model and regimes:
            _draw_line(axes, panel, model, regimes, value, most, colour)
        x = [value_of(point, panel.across) for point in own]
        y = np.array([point.times.median for point in own])
        ends = np.array([[point.times.low, point.times.high] for point in own])
        axes.errorbar(
            x, y, yerr=np.abs(ends.T - y), fmt="o", color=colour, markersize=size,
            elinewidth=1.0, capsize=2.0, label=f"{value:g}", zorder=3,
        )  # fmt: skip
    _finish(axes, panel, regimes, most, highest)


def _draw_line(
    axes: Axes, panel: Panel, model: Model, regimes: Sequence[Regime], value: float, most: float,
    colour: str,
) -> None:  # fmt: skip
    """Draw the formula for one value of what tells the lines apart; each regime has a style."""
    start = value if panel.series == "min" else 0.0
    x = np.unique(np.concatenate([np.linspace(start, most, 60), np.arange(start, most + 1)]))
    x = x[x <= most]
    given = asked(_variables(panel, x, value), panel.where["bytes"])
    known = {key: v for key, v in panel.where.items() if key in model.selectors}
    seconds = model.predict(given, known).seconds
    owner = np.argmin([regime.distance(given) for regime in regimes], axis=0)
    for number in np.unique(owner).tolist():
        mine = owner == number
        axes.plot(x[mine], seconds[mine], _STYLES[number % len(_STYLES)], color=colour,
                  linewidth=1.3, zorder=2)  # fmt: skip


def _variables(panel: Panel, x: Array, value: float) -> dict[str, Array]:
    """Return the variables of a model along a line; balanced where directions do not matter."""
    fixed = np.full_like(x, value)
    if panel.series == "min":
        pa = np.full_like(x, panel.pa or 0.0)
        return {"pa": pa, "pe": (x + fixed) / 2, "in": x, "out": fixed}
    pa, pe = (fixed, x) if panel.across == "pe" else (x, fixed)
    return {"pa": pa, "pe": pe, "in": pe, "out": pe}


def _finish(
    axes: Axes, panel: Panel, regimes: Sequence[Regime], most: float, highest: float
) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(-0.04 * max(most, 1), 1.04 * max(most, 1))
    axes.set_ylim(0, 1.08 * (highest or 1e-9))
    values = value_ticks(0, 1.08 * (highest or 1e-9), "linear", tick_seconds)
    axes.set_yticks(values.places, values.texts)
    ticks = np.asarray(MaxNLocator(8, integer=True).tick_values(0, most))
    axes.set_xticks(ticks[(ticks >= 0) & (ticks <= most)])
    plain_axes(axes, _AXES[panel.across], size=CAPTION, title=_heading(panel, regimes), grid="y")
    _add_legend(axes, panel.series)


def _add_legend(axes: Axes, series: str) -> None:
    """Say beside the panel which line is which: within it, a steep plane leaves no room."""
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    labels = axes.get_legend_handles_labels()[1]
    plain_legend(
        axes, dots[::-1], labels[::-1], title=_SHORT[series], loc="center left",
        bbox_to_anchor=(1.0, 0.5), handlelength=1.0, borderaxespad=0.2,
    )  # fmt: skip


def _heading(panel: Panel, regimes: Sequence[Regime]) -> str:
    """Name the points, and below them the formula of each regime."""
    words = heading(panel.where)
    if panel.pa is not None:
        words.append(f"{panel.pa:g} pair{'' if panel.pa == 1 else 's'} within the node")
    lines = [" · ".join(words)]
    for number, (regime, holds) in enumerate(zip(regimes, ranges(regimes), strict=True)):
        style = f"{_STYLE_NAMES[number % len(_STYLES)]}, " if len(regimes) > 1 else ""
        start = f"{style}{holds}: " if holds else ""
        if number < MAX_FORMULAS:
            lines.append(f"{start}{_formula(regime)}")
    return "\n".join(lines)


def _formula(regime: Regime) -> str:
    """Write a formula with times a person reads: ``6.12 ms pe + 3.81 ms pa + 1.59 ms``."""
    text = ""
    for value, term in zip(regime.coefficients, regime.terms, strict=True):
        sign = " − " if value < 0 else " + " if text else ""
        text += sign + format_seconds(abs(value)) + ("" if term == "1" else f" {term}")
    return text.strip()


def _spread(values: set[float], most: int) -> list[float]:
    """Choose at most this many values, evenly, the least and the largest among them."""
    listed = sorted(values)
    if most == 1:
        return listed[-1:]
    places = np.linspace(0, len(listed) - 1, min(most, len(listed))).round().astype(int)
    return [listed[k] for k in dict.fromkeys(places.tolist())]


def _shades(count: int) -> list[str]:
    """Return this many colours, from few messages to many."""
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    shades = LinearSegmentedColormap.from_list("messages", list(_SHADES))
    return [to_hex(shades(k / max(count - 1, 1))) for k in range(count)]


VIEW: Final = View(draw, kinds=("hotspot",), usual=("hotspot",), several=True)

"""The fitted plane of a hot spot in three dimensions, with the points it goes through.

A model with separate directions is a folded surface over the messages into and out of the node; any
other is a plane over pairs within the node and with other nodes. There is a panel for each message
size. If the model includes busy nodes, a wire frame shows their cost.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from isochrone.collective_io.figures._hot_spots import (
    Panel,
    add_head,
    groups,
    model_for,
    points_of,
    value,
)
from isochrone.collective_io.results.hotspot import STAR, GridPoint
from isochrone.collective_io.workload import Floats
from isochrone.models import Model
from isochrone.models.figures._fitted import MAX_CURVE_PANELS
from isochrone.runfile.run import Run
from isochrone.views.style import CAPTION, INK, LABEL, Unit, dress_space, new_figure, time_unit
from isochrone.views.view import Figure, Options, View

_MESH = 25
"""Points along a side of the surface, including the fold."""
_SIDES = {
    "in": "messages in",
    "out": "messages out",
    "pa": "pairs within (pa)",
    "pe": "pairs with others (pe)",
}
_SURFACE, _WIRE, _POINT, _BUSY = "#9db8dc", "#8a8f98", "#1f4e96", "#e07b39"


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the surface of a model over the messages of the hot node, with the measured points.

    With ``auto``, points that no family fits are drawn alone, and the picture says why.

    Raises
    ------
    InputError
        If the runs hold no points of hot spots, or the named model is not for them.
    """
    points = points_of(runs)
    wanted = [point for point in points if not options.sizes or point.bytes in options.sizes]
    model, why = model_for(runs, options)
    panels = _panels(wanted or points, model)
    drawn = panels[:MAX_CURVE_PANELS]
    columns = min(len(drawn), 2)
    rows = -(-len(drawn) // columns)
    figure = new_figure(5.4 * columns, 4.5 * rows + 0.75)
    # No layout is computed for axes in three dimensions: they have places.
    top = 1 - 0.85 / figure.get_figheight()
    for index, panel in enumerate(drawn):
        row, column = divmod(index, columns)
        bounds = (column / columns, top * (1 - (row + 1) / rows), 0.94 / columns, top / rows)
        axes: Any = figure.add_axes(bounds, projection="3d", facecolor="none")
        _draw_panel(axes, panel, model)
    notes = ["points: medians"]
    if any(point.shape != STAR for panel in drawn for point in panel.points):
        notes.append("orange, and wire frame: all nodes busy")
    left_out = len(panels) - MAX_CURVE_PANELS
    add_head(figure, model, why, runs, left_out, notes, "surface", positioned=True)
    return figure


def _panels(points: Sequence[GridPoint], model: Model | None) -> list[Panel]:
    """Group the points by order, hot processes and size; of several pa, take the most frequent."""
    unlike = any(point.into != point.out for point in points)
    directional = {"in", "out", "bi", "bo"} & set(model.variables) if model else unlike
    panels = []
    for where, members in groups(points):
        if directional:
            pa = Counter(point.pa for point in members).most_common(1)[0][0]
            mine = [point for point in members if point.pa == pa]
            panels.append(Panel(where, mine, "in", "out", pa))
        else:
            panels.append(
                Panel(where, [point for point in members if point.shape == STAR], "pe", "pa")
            )
    return panels


def _draw_panel(axes: Any, panel: Panel, model: Model | None) -> None:
    times = np.array([point.times.median for point in panel.points])
    unit = time_unit(times)
    sides = [_along(panel.values(side)) for side in (panel.x, panel.y)]
    if model and panel.segments(model):
        x, y = np.meshgrid(*sides)
        heights = _heights(panel, model, x, y, 0.0) / unit.factor
        axes.plot_surface(
            x,
            y,
            heights,
            color=_SURFACE,
            alpha=0.55,
            linewidth=0.3,
            edgecolor="#ffffff",
            rstride=2,
            cstride=2,
        )
        if "busy" in model.variables:
            busy = _heights(panel, model, x, y, 1.0) / unit.factor
            axes.plot_wireframe(x, y, busy, color=_WIRE, linewidth=0.4, rstride=4, cstride=4)
    for shape_is_star, colour in ((True, _POINT), (False, _BUSY)):
        drawn = [point for point in panel.points if (point.shape == STAR) == shape_is_star]
        axes.scatter(
            [value(point, panel.x) for point in drawn],
            [value(point, panel.y) for point in drawn],
            [point.times.median / unit.factor for point in drawn],
            color=colour,
            s=14,
            depthshade=False,
        )
    _dress(axes, panel, unit)


def _along(values: Sequence[float]) -> Floats:
    """Return values along a side, the measured ones and the whole numbers among them."""
    highest = max(values, default=1.0) or 1.0
    return np.unique(np.concatenate([np.linspace(0, highest, _MESH), np.array(values)]))


def _heights(panel: Panel, model: Model, x: Floats, y: Floats, busy: float) -> Floats:
    """Evaluate the model on the mesh; NaN where it gives no time."""
    variables = panel.variables(x.ravel(), y.ravel(), busy)
    prediction = model.predict(variables, panel.selected(model))
    return np.asarray(prediction.by_formula.reshape(x.shape))


def _dress(axes: Any, panel: Panel, unit: Unit) -> None:
    """Set the viewpoint so that the surface hides no point."""
    from matplotlib.ticker import MaxNLocator

    axes.view_init(elev=22, azim=-125)
    axes.set_box_aspect((1, 1, 0.75), zoom=0.92)
    axes.set_zlim(bottom=0)
    for side, limit in ((panel.x, axes.set_xlim), (panel.y, axes.set_ylim)):
        if len(values := set(panel.values(side))) == 1:  # no parts of messages at the ticks
            limit(max(0.0, min(values) - 1), max(values) + 1)
    heading = panel.heading("pa = {:g}")
    axes.set_title(heading, size=LABEL, color=INK, parse_math=False, y=0.98)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_major_locator(MaxNLocator(5, integer=axis is not axes.zaxis))
    dress_space(axes, (_SIDES[panel.x], _SIDES[panel.y], unit.name), CAPTION)


VIEW = View(draw, kinds=("hotspot",), several=True)

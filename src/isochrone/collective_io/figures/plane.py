"""The fitted plane of a hot spot with the points it goes through, as lines over the messages.

A plane seen from the side: lines over the pairs of messages with other nodes (pe), one for each
number of pairs within the node (pa), with their points. For a model with separate directions: lines
over max(in,out), one for each min(in,out).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isochrone import models  # before the variables, which it loads itself
from isochrone.base.errors import InputError
from isochrone.base.record import Members
from isochrone.base.table import grouped
from isochrone.base.text import printable
from isochrone.base.units import format_bytes, format_seconds
from isochrone.collective_io.results import hotspot as hotspots
from isochrone.collective_io.results.hotspot import STAR, GridPoint
from isochrone.collective_io.variables.hotspot import BYTES, NODE, filled
from isochrone.collective_io.workload import Floats
from isochrone.models.figures._fitted import MAX_CURVE_PANELS, head, name_of, origin_notes, resolve
from isochrone.models.formulas.text import ranges
from isochrone.runfile.origin import together, with_noun
from isochrone.runfile.run import Run
from isochrone.views.scales import tick_seconds, value_ticks
from isochrone.views.style import CAPTION, INK, LABEL, new_figure, plain_axes, plain_legend
from isochrone.views.view import Axes, Figure, Options, View

_VARIABLES = ("pe", "busy", *NODE, *BYTES)
"""Variables of models of a node."""

MAX_CHARACTERS = 96
MAX_PLANE_LINES = 8
MAX_FORMULAS = 3
_SHADES = ("#482878", "#31688e", "#1f9e89", "#6ccd5a", "#b5c421")
"""From few messages to many: matplotlib's viridis, whose order is seen with any colour vision."""
_MARKERS = (6.5, 3.5)
"""Sizes of the points from few messages to many: of those in one place, all can be seen."""
_STYLES = ("-", "--", ":", "-.")
_STYLE_NAMES = ("solid", "dashed", "dotted", "dash-dotted")
_AXES = {
    "pa": "pairs of messages within the node (pa)",
    "pe": "pairs of messages with other nodes (pe)",
    "max": "messages of the busier direction, max(in,out)",
    "min": "messages of the other direction, min(in,out)",
}
_SHORT = {"pa": "pa", "pe": "pe", "min": "min(in,out)"}


class _Panel(NamedTuple):
    """Points of one kind, and the coordinates along two axes for `_value`.

    Attributes
    ----------
    where
        Order, hot processes and size.
    pa
        Of all points, where the two sides are directions.
    """

    where: Members
    points: list[GridPoint]
    x: str
    y: str
    pa: float | None = None

    def values(self, side: str) -> list[float]:
        """Return what the points have of a side."""
        return [_value(point, side) for point in self.points]

    def variables(self, x: Floats, y: Floats) -> dict[str, Floats]:
        """Return the variables of a model; balanced where directions do not matter."""
        if self.pa is None:
            sides = {self.x: x, self.y: y}
            sides |= {"in": sides["pe"], "out": sides["pe"]}
        else:
            sides = {"pa": np.full_like(x, self.pa), "pe": (x + y) / 2, "in": x, "out": y}
        idle = np.zeros_like(x)
        return filled({**sides, "b": idle + self.where["bytes"], "busy": idle})

    def selected(self, model: models.Model) -> Members:
        """Return which part of a model these points are of."""
        return {key: value for key, value in self.where.items() if key in model.selectors}

    def segments(self, model: models.Model | None) -> list[models.Segment]:
        """Return the formulas of a model for these points; none if it is for others."""
        try:
            return model.chosen(self.selected(model)) if model else []
        except InputError:
            return []


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the points of hot spots and the model's lines through them.

    With ``auto``, points that no family fits are drawn alone, and the picture says why.

    Raises
    ------
    InputError
        If the runs hold no points of hot spots, or the named model is not for them.
    """
    every = _points(runs)
    points = [point for point in every if point.shape == STAR]
    if not points:
        raise InputError(
            "the run has no hot node: all nodes are busy at every point",
            where=runs[0].where,
            hint="use --view fit",
        )
    model, why = _model(runs, options)
    panels = _panels(points, model)
    drawn = panels[:MAX_CURVE_PANELS]
    columns = min(len(drawn), 2)
    rows = -(-len(drawn) // columns)
    figure = new_figure(5.6 * columns + (1.2 if columns == 1 else 0.2), 3.9 * rows + 0.75)
    for index, panel in enumerate(drawn):
        axes = figure.add_subplot(rows, columns, index + 1)
        # all panels of a size have one scale: two cannot be compared
        alike = [peer for peer in drawn if peer.where["bytes"] == panel.where["bytes"]]
        times = [point.times for peer in alike for point in peer.points]
        highest = max(timing.high if timing.has_interval else timing.median for timing in times)
        _draw_panel(axes, panel, model, highest)
    notes = ["points: medians and their 95 % intervals"]
    if len(every) > len(points):
        notes.append(f"{len(every) - len(points)} points with all nodes busy are not drawn")
    _add_head(figure, model, why, runs, len(panels) - MAX_CURVE_PANELS, notes)
    return figure


def _panels(points: Sequence[GridPoint], model: models.Model | None) -> list[_Panel]:
    """Group the points by order, hot processes and size, and by pa for separate directions."""
    parted = _groups(points)
    directional = model is not None and bool({"in", "out", "bi", "bo"} & set(model.variables))
    per_group = 2 if 2 * len(parted) <= MAX_CURVE_PANELS else 1
    panels = []
    for where, members in parted:
        if directional:
            for pa in _spread({point.pa for point in members}, per_group):
                mine = [point for point in members if point.pa == pa]
                panels.append(_Panel(where, mine, "max", "min", pa))
        else:
            sides = ("pe", "pa") if len({point.pe for point in members}) > 1 else ("pa", "pe")
            panels.append(_Panel(where, members, *sides))
    return panels


def _points(runs: Sequence[Run]) -> list[GridPoint]:
    """Return the points of hot spots.

    Raises
    ------
    InputError
        If there is none.
    """
    if not runs:
        raise InputError("no run is given", hint="give at least one run file")
    points = hotspots.points(runs)
    if not points:
        raise InputError(
            "the run contains no point of a hot spot",
            where=str(runs[0].path or ""),
            hint="the run was interrupted, or has too few nodes or ranks",
        )
    return points


def _model(runs: Sequence[Run], options: Options) -> tuple[models.Model | None, str]:
    """Return the model, or why there is none.

    Raises
    ------
    InputError
        If a model that was named cannot be had, or is none of a node.
    """
    try:
        model, _, _ = resolve(runs, options.model, options.ops)
    except InputError as error:
        if options.model != "auto":
            raise
        reason = error.what.removeprefix("no family of models fits: ")
        return None, printable(f"no formula: {reason}", MAX_CHARACTERS)
    foreign = [name for name in model.variables if name not in _VARIABLES]
    if foreign or set(model.variables) <= {"b", "busy"}:
        named = ", ".join(foreign or model.variables)
        raise InputError(f"the model depends on {named}, not on the messages of a node")
    return model, ""


def _add_head(
    figure: Figure,
    model: models.Model | None,
    why: str,
    runs: Sequence[Run],
    left_out: int,
    points: Sequence[str],
) -> None:
    """Title and caption: meaning of ``points``, and omissions."""
    origin, notes = together(run.origin for run in runs), list(points)
    title = f"{with_noun(origin, 'points').capitalize()} of the hot spot"
    if model is not None:
        title += f" and {name_of(model)}"
        notes += ["lines: the formula", *origin_notes(model, origin)]
    if any(not run.complete for run in runs):
        notes.append("partial run")
    if left_out > 0:
        notes.append(f"{left_out} more are not drawn")
    head(figure, title, [*notes, why] if why else notes)


def _groups(points: Sequence[GridPoint]) -> list[tuple[Members, list[GridPoint]]]:
    """Group points by order, hot processes and size, as `_Panel.where`."""
    by_setting = grouped(((point.order, point.hot, point.bytes), point) for point in points)
    names = ("order", "hot", "bytes")
    return [(dict(zip(names, key, strict=True)), members) for key, members in by_setting.items()]


def _value(point: GridPoint, side: str) -> float:
    """Return the messages of a point of one kind, or of its busier or other direction."""
    busier, other = max(point.into, point.out), min(point.into, point.out)
    return float({"pa": point.pa, "pe": point.pe, "max": busier, "min": other}[side])


def _draw_panel(axes: Axes, panel: _Panel, model: models.Model | None, highest: float) -> None:
    values = _spread(set(panel.values(panel.y)), MAX_PLANE_LINES)
    x_max = max(panel.values(panel.x))
    segments = panel.segments(model)
    sizes = np.linspace(*_MARKERS, len(values)).tolist()
    for level, colour, size in zip(values, _shades(len(values)), sizes, strict=True):
        line_points = [point for point in panel.points if _value(point, panel.y) == level]
        if model and segments:
            _draw_line(axes, panel, model, segments, level, x_max, colour)
        x = [_value(point, panel.x) for point in line_points]
        y = np.array([point.times.median for point in line_points])
        ends = np.array([[point.times.low, point.times.high] for point in line_points])
        axes.errorbar(
            x,
            y,
            yerr=np.abs(ends.T - y),
            fmt="o",
            color=colour,
            markersize=size,
            elinewidth=1.0,
            capsize=2.0,
            label=f"{level:g}",
            zorder=3,
        )
    _finish(axes, panel, segments, x_max, highest)


def _draw_line(
    axes: Axes,
    panel: _Panel,
    model: models.Model,
    segments: Sequence[models.Segment],
    level: float,
    x_max: float,
    colour: str,
) -> None:
    """Draw one line of the formula; each segment has a style."""
    start = level if panel.y == "min" else 0.0
    x = np.unique(np.concatenate([np.linspace(start, x_max, 60), np.arange(start, x_max + 1)]))
    x = x[x <= x_max]
    variables = panel.variables(x, np.full_like(x, level))
    seconds = model.predict(variables, panel.selected(model)).seconds
    owner = np.argmin([segment.distance(variables) for segment in segments], axis=0)
    for index in np.unique(owner).tolist():
        mine = owner == index
        axes.plot(
            x[mine],
            seconds[mine],
            _STYLES[index % len(_STYLES)],
            color=colour,
            linewidth=1.3,
            zorder=2,
        )


def _finish(
    axes: Axes, panel: _Panel, segments: Sequence[models.Segment], x_max: float, highest: float
) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(-0.04 * max(x_max, 1), 1.04 * max(x_max, 1))
    axes.set_ylim(0, 1.08 * (highest or 1e-9))
    values = value_ticks(0, 1.08 * (highest or 1e-9), "linear", tick_seconds)
    axes.set_yticks(values.places, values.texts)
    ticks = np.asarray(MaxNLocator(8, integer=True).tick_values(0, x_max))
    axes.set_xticks(ticks[(ticks >= 0) & (ticks <= x_max)])
    axes.set_title(_heading(panel, segments), size=LABEL, color=INK, loc="left", parse_math=False)
    plain_axes(axes, _AXES[panel.x], size=CAPTION, grid="y")
    # the legend is next to the panel: a steep plane leaves no room in it
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    labels = axes.get_legend_handles_labels()[1]
    plain_legend(
        axes,
        dots[::-1],
        labels[::-1],
        title=_SHORT[panel.y],
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        handlelength=1.0,
        borderaxespad=0.2,
    )


def _heading(panel: _Panel, segments: Sequence[models.Segment]) -> str:
    """Legend of the points and of the formula of each segment."""
    labels = [printable(panel.where["order"], 20), format_bytes(panel.where["bytes"])]
    if panel.where["hot"] != 1:
        labels.append(f"{panel.where['hot']} hot processes")
    if panel.pa is not None:
        labels.append(f"{panel.pa:g} pair{'' if panel.pa == 1 else 's'} within the node")
    lines = [" · ".join(labels)]
    for index, (segment, holds) in enumerate(zip(segments, ranges(segments), strict=True)):
        style = f"{_STYLE_NAMES[index % len(_STYLES)]}, " if len(segments) > 1 else ""
        start = f"{style}{holds}: " if holds else ""
        if index < MAX_FORMULAS:
            lines.append(f"{start}{_formula(segment)}")
    return "\n".join(lines)


def _formula(segment: models.Segment) -> str:
    """Write a formula with times a person reads: ``6.12 ms pe + 3.81 ms pa + 1.59 ms``."""
    text = ""
    for factor, term in zip(segment.coefficients, segment.terms, strict=True):
        sign = " − " if factor < 0 else " + " if text else ""
        text += sign + format_seconds(abs(factor)) + ("" if term == "1" else f" {term}")
    return text.strip()


def _spread(values: set[float], limit: int) -> list[float]:
    """Choose at most this many values, evenly, the least and the largest among them."""
    listed = sorted(values)
    if limit == 1:
        return listed[-1:]
    indices = np.linspace(0, len(listed) - 1, min(limit, len(listed))).round().astype(int)
    return [listed[k] for k in dict.fromkeys(indices.tolist())]


def _shades(count: int) -> list[str]:
    """Return this many colours, from few messages to many."""
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    shades = LinearSegmentedColormap.from_list("messages", list(_SHADES))
    return [to_hex(shades(k / max(count - 1, 1))) for k in range(count)]


VIEW = View(draw, kinds=("hotspot",), usual=("hotspot",), several=True)

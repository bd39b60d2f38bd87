"""Times with the curve of a model: how well does the formula fit, and how far does it reach."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

import numpy as np

from isochrone.base.arrays import Bools, Floats
from isochrone.base.errors import InputError
from isochrone.models import Model, Observations, Prediction
from isochrone.models.data.extension import added
from isochrone.models.data.sizes import filled
from isochrone.models.data.terms import BYTES, evaluate_term, variables_of
from isochrone.models.figures._fitted import (
    MAX_CURVE_PANELS,
    WORDS,
    Drawn,
    head,
    name_of,
    origin_notes,
    resolve,
    title_of,
    value_text,
)
from isochrone.models.prediction.doubtful import switches
from isochrone.runfile.origin import with_noun
from isochrone.views.scales import (
    Scale,
    place,
    tick_bytes,
    tick_seconds,
    value_ticks,
    where_ticks,
    with_margin,
)
from isochrone.views.style import (
    CAPTION,
    COLOURS,
    FAINT,
    new_figure,
    plain_axes,
    plain_legend,
)
from isochrone.views.view import TABLE, Axes, Figure, Options, View

_MAX_LINES = len(COLOURS)

_WIDE_TIMES = 8

_DRAWN_RANKS_FACTOR = 4.0
"""How far ranks are drawn, of the most that were measured."""


_BAND = 1.6
"""How far an interval may widen the axis of times beyond points and lines."""

BAND_OPACITY = 0.18
"""Opacity of a band; where several lie upon each other, of them together."""

_LEGEND = 26
"""Characters of a line of the legend."""

_FAR = (0, (3.2, 1.6))
_DOTS = (0, (1, 1.4))


@dataclass(frozen=True)
class Curve:
    """One line of a panel: a formula at fixed values of the other variables.

    Attributes
    ----------
    fixed
        Values of the other variables.
    colour
        Of the line, its band and points.
    mine
        Mask of the observations on it, shape (n,).
    x
        Values across, from the least that was measured as far as is drawn.
    found
        What the model predicts there.
    between
        Mask of the values between two measured ones between which the formula changes somewhere,
        shape of ``x``. No line is drawn there: where one formula ends and the next begins is not
        known, and a jump in the middle would look as if times went up and down.
    """

    fixed: dict[str, float]
    colour: str
    mine: Bools
    x: Floats
    found: Prediction
    between: Bools

    @property
    def seconds(self) -> Floats:
        """What is predicted, NaN where the formula changes."""
        return np.where(self.between, np.nan, self.found.seconds)


@dataclass(frozen=True)
class Panel:
    """One operation: its points, the lines through them, and the variable across.

    ``reach`` is the largest value drawn, ``last`` the largest measured.
    """

    points: Observations
    across: str
    scale: Scale
    last: float
    reach: float
    curves: list[Curve]

    def measured(self, curve: Curve, predicted: Floats) -> Floats:
        """Return of predicted times, at ``curve.x``, those where the curve was measured."""
        x = self.points.variables[self.across][curve.mine]
        return np.asarray(predicted[np.searchsorted(curve.x, x)])

    @property
    def follows_times(self) -> bool:
        """Whether the prediction goes through measured times that the formula does not give."""
        ratios = np.concatenate(
            [
                self.measured(line, line.found.seconds / line.found.by_formula)
                for line in self.curves
            ]
        )
        return not np.allclose(ratios[np.isfinite(ratios)], 1)

    def at(self, x: Floats) -> Floats:
        """Return where values lie on the axis."""
        return place(x, self.scale, smallest(self.points.variables[self.across]))


def draw(runs: Sequence[Drawn], options: Options) -> Figure:
    """Draw the points of each operation, the curves of the model, and the residuals."""
    model, groups, origin = resolve(runs, options.model, options.ops)
    panels = [_panel(model, points, options.across) for points in groups[:MAX_CURVE_PANELS]]
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    figure = new_figure(6.4 * columns + 0.2, 4.4 * rows + 0.75)
    grid = figure.add_gridspec(rows, columns)
    for index, panel in enumerate(panels):
        subgrid = grid[index // columns, index % columns].subgridspec(
            2, 1, height_ratios=(3.4, 1), hspace=0.09
        )
        upper = figure.add_subplot(subgrid[0])
        lower = figure.add_subplot(subgrid[1], sharex=upper)
        _draw_times(upper, panel)
        _draw_residuals(lower, panel)
    follows = any(panel.follows_times for panel in panels)
    lines = "lines: the prediction, through measured times" if follows else "lines: the formula"
    notes = ["points: medians", lines, "band: its 95 % interval"]
    if follows:
        notes.append("below: difference from the formula, which does not hold")
    if beyond := [panel for panel in panels if panel.reach > panel.last]:
        notes.append(f"grey: more {WORDS[beyond[0].across]} than were measured")
    if any(curve.between.any() for panel in panels for curve in panel.curves):
        notes.append("dots: the formula changes somewhere between")
    omitted = len(groups) - MAX_CURVE_PANELS
    left_out = [f"{omitted} more are not drawn"] if omitted > 0 else []
    of_lines = "the prediction" if follows else name_of(model)
    title = f"{with_noun(origin).capitalize()} and {of_lines}"
    head(figure, title, [*notes, *origin_notes(model, origin), *left_out])
    return figure


def _panel(model: Model, points: Observations, wanted: str) -> Panel:
    """Choose what is across and how far, and ask the model for the lines."""
    across, series = axes_of(points, wanted)
    where = model.known(points.where)
    last = float(points.variables[across].max())
    # a formula without the variable says nothing beyond the data
    depends = across in variables_of([t for segment in model.chosen(where) for t in segment.terms])
    reach = _DRAWN_RANKS_FACTOR * last if across == "p" and depends else last
    lines = lines_of(points, series)
    curves = []
    for colour, fixed in zip(COLOURS, lines, strict=False):
        mine = np.ones(len(points), dtype=bool)
        for name, value in fixed.items():
            mine &= points.variables[name] == value
        x = fine(points.variables[across][mine], across, reach)
        variables = _given(across, x, fixed)
        predicted = model.predict(variables, where)
        between = np.zeros(len(x), dtype=bool)
        for switch in switches(model.chosen(where)):
            if set(variables_of([switch.name])) <= variables.keys():
                between |= switch.holds(evaluate_term(switch.name, variables))
        curves.append(Curve(fixed, colour, mine, x, predicted, between))
    wide = is_wide(points.variables[across]) or (
        reach > last and bool(points.variables[across].all())
    )
    return Panel(
        points,
        across,
        "log" if wide else "linear",
        last,
        reach,
        curves,
    )


def _given(across: str, x: Floats, fixed: dict[str, float]) -> dict[str, Floats]:
    variables = {across: x, **{name: np.full_like(x, value) for name, value in fixed.items()}}
    return filled(variables)


# --- times ----------------------------------------------------------------------------------------


def _draw_times(axes: Axes, panel: Panel) -> None:
    """Draw a line for each value of what is not across, with its band and points."""
    drawn = [panel.points.seconds]
    for curve in panel.curves:
        x, inside = panel.at(curve.x), curve.x <= panel.last
        beyond = curve.x >= curve.x[inside].max()
        axes.fill_between(
            x,
            curve.found.low,
            curve.found.high,
            color=curve.colour,
            alpha=BAND_OPACITY,
            linewidth=0,
        )
        axes.plot(x[inside], curve.seconds[inside], "-", color=curve.colour, linewidth=1.3)
        axes.plot(
            x[beyond],
            curve.seconds[beyond],
            linestyle=_FAR,
            color=curve.colour,
            linewidth=1.3,
            alpha=0.75,
        )
        certain = np.flatnonzero(~curve.between)
        for k in np.flatnonzero(np.diff(certain) > 1):  # dots across each gap between two formulas
            ends = certain[[k, k + 1]]
            axes.plot(
                x[ends],
                curve.found.seconds[ends],
                linestyle=_DOTS,
                color=curve.colour,
                linewidth=1.1,
            )
        drawn.append(curve.found.seconds)
        label = ", ".join(value_text(name, value) for name, value in curve.fixed.items())
        if len(curve.fixed) == 1 and "b" not in curve.fixed:  # the legend has its name above
            label = f"{next(iter(curve.fixed.values())):g}"
        axes.plot(
            panel.at(panel.points.variables[panel.across][curve.mine]),
            panel.points.seconds[curve.mine],
            "o",
            color=curve.colour,
            markersize=4,
            label=fill(label, _LEGEND),
        )
    _finish_times(axes, panel, np.concatenate(drawn))


def scale_times(axes: Axes, lowest: float, highest: float) -> None:
    """Scale an axis of times, in seconds: logarithmic if their ratio is large."""
    scale: Scale = "log" if highest > _WIDE_TIMES * lowest else "linear"
    axes.set_yscale(scale)
    ends = with_margin(lowest, highest, scale)
    axes.set_ylim(ends)
    ticks = value_ticks(max(ends[0], 0.0), ends[1], scale, tick_seconds)
    axes.set_yticks(ticks.places, ticks.texts)
    axes.minorticks_off()


def _finish_times(axes: Axes, panel: Panel, drawn: Floats) -> None:
    """Scale the axis of times to points and lines, and bands if they are not huge; add a legend."""
    times = drawn[np.isfinite(drawn) & (drawn > 0)]
    lowest, highest = float(times.min()), float(times.max())
    bands = np.concatenate([[c.found.low, c.found.high] for c in panel.curves], axis=None)
    bands = bands[np.isfinite(bands) & (bands > 0)]
    if len(bands):
        lowest = max(min(lowest, float(bands.min())), lowest / _BAND)
        highest = min(max(highest, float(bands.max())), highest * _BAND)
    scale_times(axes, lowest, highest)
    axes.tick_params(labelbottom=False, bottom=False)
    _plain(axes, panel, beside="time", title=title_of(panel.points))
    # the legend is next to the panel: within it, lines and bands leave no room
    if len(axes.get_legend_handles_labels()[1]) < 2:
        return
    fixed = [name for name in panel.curves[0].fixed if name not in BYTES]
    named = [
        WORDS[name] if name == "b" or len(fixed) == 1 else f"{name}: {WORDS[name]}"
        for name in fixed
    ]
    plain_legend(
        axes,
        title="\n".join(fill(text, _LEGEND) for text in named) or None,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.03),
        borderaxespad=0.2,
        handlelength=2.2,
        alignment="left",
    )


# --- residuals ------------------------------------------------------------------------------------


def _draw_residuals(axes: Axes, panel: Panel) -> None:
    """Draw how far the points are from the formula, in per cent of it, with its interval."""
    from matplotlib.ticker import MaxNLocator

    farthest = 0.0
    for curve in panel.curves:
        inside = (curve.x <= panel.last) & (curve.found.seconds > 0) & ~curve.between
        inside &= not panel.follows_times
        low, high = (
            np.where(inside, 100 * (side / curve.found.seconds - 1), np.nan)
            for side in (curve.found.low, curve.found.high)
        )
        axes.fill_between(
            panel.at(curve.x),
            low,
            high,
            color=curve.colour,
            alpha=BAND_OPACITY / len(panel.curves),
            linewidth=0,
        )
        x = panel.points.variables[panel.across][curve.mine]
        formula = panel.measured(curve, curve.found.by_formula)
        formula[formula <= 0] = np.nan  # no time
        away = 100 * (panel.points.seconds[curve.mine] / formula - 1)
        axes.plot(panel.at(x), away, "o", color=curve.colour, markersize=3)
        magnitudes = np.abs(np.concatenate([away, low, high]))
        farthest = max(farthest, float(np.max(magnitudes[np.isfinite(magnitudes)], initial=0.0)))
    axes.axhline(0, color=FAINT, linewidth=0.8)
    end = 1.15 * farthest or 1.0
    axes.set_ylim(-end, end)
    ticks = np.asarray(MaxNLocator(4, symmetric=True).tick_values(-end, end))
    ticks = ticks[np.abs(ticks) <= end]
    signed = [f"{tick:+.4g} %".replace("-", "−") if tick else "0" for tick in ticks.tolist()]
    axes.set_yticks(ticks.tolist(), signed)
    write = tick_bytes if panel.across == "b" else lambda value: f"{value:g}"
    where = where_ticks(
        np.append(panel.points.variables[panel.across], panel.reach), panel.scale, write
    )
    axes.set_xticks(where.places, where.texts)
    axes.minorticks_off()
    _plain(axes, panel, below=WORDS[panel.across], beside="difference")


def _plain(axes: Axes, panel: Panel, below: str = "", beside: str = "", title: str = "") -> None:
    plain_axes(axes, below, beside, size=CAPTION, title=title)
    if panel.reach > panel.last:
        ends = panel.at(np.array([panel.last, panel.reach]))
        axes.axvspan(float(ends[0]), float(ends[1]), color=FAINT, alpha=0.09, linewidth=0, zorder=0)


VIEW = View(
    draw,
    kinds=("sweep", *(extension.kind for extension in added()), TABLE),
    usual=(TABLE,),
    several=True,
)


# --- lines ----------------------------------------------------------------------------------------

_LINE_POINTS = 240
_MIN_LOG_RANGE = 30  # largest over smallest size from which an axis is logarithmic
_WHOLE = ("p", "w", "nodes", "ppn")
"""There are no halves of these."""


def is_wide(x: Floats) -> bool:
    """Whether values span so wide a range that only a logarithmic axis shows them all."""
    above = x[x > 0]
    return len(above) > 0 and bool(above.max() > _MIN_LOG_RANGE * above.min())


def smallest(x: Floats) -> float:
    """Return the smallest value above 0, with which a logarithmic axis begins; 1 if none is."""
    above = x[x > 0]
    return float(above.min()) if len(above) else 1.0


def axes_of(points: Observations, wanted: str) -> tuple[str, list[str]]:
    """Choose the variable across (that with most values), and those that make the lines."""
    counts = {name: len(np.unique(values)) for name, values in points.variables.items()}
    for extension in added():  # what follows from the basis
        if set(extension.basis) <= counts.keys():
            counts = {name: counts[name] for name in (*extension.basis, *extension.unless_known)}
            wanted = wanted or "b"
    if wanted and wanted not in counts:
        raise InputError(
            f"the data do not vary {wanted}", hint=f"the data have {', '.join(counts)}"
        )
    order = sorted(counts, key=lambda name: (name != wanted, -counts[name], name))
    return order[0], order[1:]


def lines_of(points: Observations, series: list[str]) -> list[dict[str, float]]:
    """Choose the values of the other variables: those with most points, spread evenly."""
    if not series:
        return [{}]
    rows = np.column_stack([points.variables[name] for name in series])
    combinations, counts = np.unique(rows, axis=0, return_counts=True)
    rich = combinations[counts >= min(3, counts.max())]
    chosen = np.unique(np.linspace(0, len(rich) - 1, min(len(rich), _MAX_LINES)).round())
    return [dict(zip(series, rich[int(k)].tolist(), strict=True)) for k in chosen]


def fine(x: Floats, across: str, reach: float) -> Floats:
    """Return many values from the least to the largest that is drawn, the measured ones included.

    Of ranks, those around powers of two are among them: the steps of a tree change there.
    """
    low, high = smallest(x), max(float(x.max()), reach)
    spread = np.linspace(float(x.min()), high, _LINE_POINTS)
    if is_wide(np.append(x, high)):
        spread = np.geomspace(low, high, _LINE_POINTS)
    if across in _WHOLE:
        powers = 2.0 ** np.arange(64)
        powers = np.concatenate([powers, powers + 1])
        spread = np.append(np.round(spread), powers[(powers >= x.min()) & (powers <= high)])
    return np.unique(np.append(spread, x))

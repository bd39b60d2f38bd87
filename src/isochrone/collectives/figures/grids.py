"""Collectives on grids of ranks: time by size, the best grid, and model deviations."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isochrone import models
from isochrone.base.errors import InputError
from isochrone.base.table import grouped
from isochrone.base.text import printable
from isochrone.collectives.grid_collectives import NAMES
from isochrone.collectives.predicted_grids import Compared, compare, summarised
from isochrone.collectives.results.grid_collectives import (
    LIBRARY,
    TOTAL,
    GridPoint,
    is_grid_run,
    points,
)
from isochrone.models import Model
from isochrone.models.figures._fitted import head, name_of, origin_notes
from isochrone.runfile.origin import one_word, together, with_noun
from isochrone.runfile.run import Run
from isochrone.views.scales import place, tick_bytes, tick_seconds, value_ticks, where_ticks
from isochrone.views.style import (
    CAPTION,
    COLOURS,
    FAINT,
    INK,
    new_figure,
    plain_axes,
    plain_legend,
)
from isochrone.views.view import Axes, Figure, Options, View

_MAX_GRIDS = 7
"""Maximum number of grids next to the library; of more, the best ones and some of all shapes."""

_MAX_GRID_PANELS = 8

_PARTS = ("LG", "CG", TOTAL)

_DASHED = (0, (3.5, 1.6))

_TIMES = 4.4
_RATIOS = 5.4
_BARS_INCHES = 3.6
_HIGH = 2.9
"""Inches of the columns, of which the second has the legend, and of a row."""

_BEST_GRID_SHARE = 0.98
"""A grid is named the best where it takes less than this part of the library's time."""


ByGrid = dict[str, list[GridPoint]]
"""Whole operations by grid."""


class Panel(NamedTuple):
    """One operation on one number of ranks.

    Attributes
    ----------
    op, ranks
        What was measured.
    measured
        Whole operations by grid, each in ascending order of sizes.
    drawn
        The grids that are drawn, ``library`` first.
    compared
        Predicted times; empty without a model.
    left_out
        How many grids are not drawn.
    """

    op: str
    ranks: int
    measured: ByGrid
    drawn: list[str]
    compared: list[Compared]
    left_out: int

    @property
    def sizes(self) -> list[int]:
        """All sizes in ascending order."""
        return sorted(
            {point.bytes for grid_points in self.measured.values() for point in grid_points}
        )

    @property
    def smallest(self) -> float:
        """The smallest size above 0, where a logarithmic axis begins."""
        return float(min((size for size in self.sizes if size), default=1))

    def colour(self, grid: str) -> str:
        """Return the colour of a grid; the library's own has that of text."""
        return INK if grid == LIBRARY else COLOURS[self.drawn.index(grid) - 1]


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw a row for each operation: times, and next to them the deviations of a model."""
    for run in runs:
        if not is_grid_run(run):
            raise InputError(
                "the run contains no two-phase algorithms",
                where=run.where,
                hint="isochrone measure collective --grid 4x4,nodes",
            )
    model = _model(options)
    panels = [panel for run in runs for panel in _panels(run, model, options)]
    if not panels:
        operations = " or ".join(options.ops) or "operation"
        raise InputError(f"the runs contain no {operations} on grids with times above zero")
    left_out, panels = max(0, len(panels) - _MAX_GRID_PANELS), panels[:_MAX_GRID_PANELS]
    widths = [_TIMES, _RATIOS, *([_BARS_INCHES] if model else [])]
    figure = new_figure(sum(widths), _HIGH * len(panels) + 0.8)
    grid = figure.add_gridspec(len(panels), len(widths), width_ratios=widths)
    for row, panel in enumerate(panels):
        _draw_times(figure.add_subplot(grid[row, 0]), panel)
        _draw_ratios(figure.add_subplot(grid[row, 1]), panel)
        if model:
            _draw_deviations(figure.add_subplot(grid[row, 2]), panel)
    origin = together(run.origin for run in runs)
    notes = _notes(panels, model, origin) + ([f"{left_out} more not drawn"] if left_out else [])
    head(figure, f"Collectives on grids: {with_noun(origin)}", notes)
    return figure


def _model(options: Options) -> Model | None:
    """Read the model file; a family cannot be fitted to totals."""
    if isinstance(options.model, Model):
        return options.model
    path = Path(options.model)
    if path.suffix == ".json" or path.is_file():
        return models.read(path)
    if str(options.model) != "auto":
        raise InputError(
            f"'{options.model}' is not a model file",
            where="--model",
            hint="isochrone fit -o writes one",
        )
    return None


def _notes(panels: Sequence[Panel], model: Model | None, origin: str) -> list[str]:
    notes = [
        "points: medians",
        "ringed, and named above: the best of a size; the library's own "
        "unless a grid is 2 % faster",
    ]
    if model:
        notes.append(f"dashed: predicted by {name_of(model)}")
        observed = one_word(origin)
        notes.append(
            f"bars: average of |predicted - {observed}| / the smaller of both; "
            "black lines: from least to largest of all sizes"
        )
        notes += origin_notes(model, origin)
    max_left_out = max(panel.left_out for panel in panels)
    return [*notes, *([f"up to {max_left_out} grids are not drawn"] if max_left_out else [])]


def _panels(run: Run, model: Model | None, options: Options) -> list[Panel]:
    """Return the panels of one run."""
    compared = compare(model, run) if model else []
    by_operation = grouped(
        ((point.op, point.ranks), (point.grid, point))
        for point in sorted(points(run), key=lambda point: point.bytes)
        if not options.ops or point.op in options.ops
        if point.phase == TOTAL and point.seconds > 0  # 0 is no place on the axis
    )
    return [
        Panel(
            op,
            ranks,
            grids,
            drawn := _chosen(grids),
            [
                comparison
                for comparison in compared
                if (comparison.op, comparison.ranks) == (op, ranks) and comparison.grid in drawn
            ],
            len(grids) - len(drawn),
        )
        for (op, ranks), op_points in by_operation.items()
        for grids in [grouped(op_points)]
    ]


def _chosen(grids: ByGrid) -> list[str]:
    """Choose the grids to draw: those that are best of a size, and others evenly."""
    others = [grid for grid in grids if grid != LIBRARY]
    best = [grid for grid in others if grid in _best(grids).values()][:_MAX_GRIDS]
    remaining = [grid for grid in others if grid not in best]
    room = min(_MAX_GRIDS - len(best), len(remaining))
    if room > 0:
        best += [
            remaining[k]
            for k in np.unique(np.linspace(0, len(remaining) - 1, room).round().astype(int))
        ]
    return [grid for grid in grids if grid == LIBRARY or grid in best]


def _best(grids: ByGrid) -> dict[int, str]:
    """Return the grid that takes least of each size, or the library where that is as good."""
    times: dict[int, dict[str, float]] = {}
    for grid, grid_points in grids.items():
        for point in grid_points:
            times.setdefault(point.bytes, {}).setdefault(grid, point.seconds)
    best = {}
    for size, of in times.items():
        seconds, grid = min((seconds, grid) for grid, seconds in of.items())
        best[size] = LIBRARY if seconds >= _BEST_GRID_SHARE * of.get(LIBRARY, np.inf) else grid
    return best


# --- times ----------------------------------------------------------------------------------------


def _draw_times(axes: Axes, panel: Panel) -> None:
    """Draw the time of each grid over the sizes, and name the best of each size."""
    every = _draw_lines(axes, panel, dict.fromkeys(panel.sizes, 1.0))
    _mark_best(axes, panel)
    _scale(axes, every, tick_seconds)
    _finish(axes, panel, f"{printable(panel.op, 40)}, {panel.ranks} ranks")


def _draw_ratios(axes: Axes, panel: Panel) -> None:
    """Draw the same times relative to the library's, to distinguish the grids."""
    library_times = {point.bytes: point.seconds for point in panel.measured.get(LIBRARY, [])}
    every = _draw_lines(axes, panel, library_times)
    if every:
        _scale(axes, every, "{:.3g}x".format)
    _finish(axes, panel, "time / library")
    if not axes.get_legend_handles_labels()[0]:  # the library itself was not measured
        return
    plain_legend(
        axes, loc="upper left", bbox_to_anchor=(1.0, 1.03), borderaxespad=0.3, handlelength=1.8
    )


def _draw_lines(axes: Axes, panel: Panel, by: dict[int, float]) -> list[float]:
    """Draw a line for each grid, dashed if predicted, relative to ``by``; return all values.

    Sizes missing in ``by`` are omitted.
    """
    every: list[float] = []
    for grid in panel.drawn:
        colour, wide = panel.colour(grid), 2.0 if grid == LIBRARY else 1.2
        measured = [(point.bytes, point.seconds) for point in panel.measured[grid]]
        predicted = sorted(
            (comparison.bytes, comparison.predicted)
            for comparison in panel.compared
            if (comparison.grid, comparison.part) == (grid, TOTAL)
        )
        for curve, style in (
            (measured, {"linewidth": wide, "marker": "o", "markersize": 3.2, "label": grid}),
            (predicted, {"linewidth": 1.1, "linestyle": _DASHED, "marker": "x", "markersize": 3.6}),
        ):
            ratios = [(size, seconds / by[size]) for size, seconds in curve if size in by]
            if ratios:
                sizes, values = zip(*ratios, strict=True)
                x = place(sizes, "log", panel.smallest)
                axes.plot(x, values, color=colour, zorder=4, **style)  # type: ignore[arg-type]
                every += values
    return every


def _scale(axes: Axes, values: Sequence[float], write: Callable[[float], str]) -> None:
    """Make the axis of times logarithmic, with room for all values."""
    low, high = min(values), max(values)
    margin = max((high / low) ** 0.06, 1.05)
    axes.set_yscale("log")
    axes.set_ylim(low / margin, high * margin)
    ticks = value_ticks(low / margin, high * margin, "log", write)
    axes.set_yticks(ticks.places, ticks.texts)


def _finish(axes: Axes, panel: Panel, title: str) -> None:
    where = where_ticks(np.array(panel.sizes, dtype=np.float64), "log", tick_bytes)
    axes.set_xticks(where.places, where.texts, rotation=30, ha="right", rotation_mode="anchor")
    axes.minorticks_off()
    plain_axes(axes, "block of one rank", size=CAPTION, title=title, pad=30, grid="y")


def _mark_best(axes: Axes, panel: Panel) -> None:
    """Mark the best of each size with a ring and, space permitting, its name."""
    best = _best({grid: panel.measured[grid] for grid in panel.drawn})
    step = -(-len(panel.sizes) // 10)
    for index, size in enumerate(panel.sizes):
        grid = best[size]
        point = next(point for point in panel.measured[grid] if point.bytes == size)
        x = float(place([size], "log", panel.smallest)[0])
        axes.plot(
            [x],
            [point.seconds],
            "o",
            markersize=8.5,
            markerfacecolor="none",
            markeredgecolor=panel.colour(grid),
            markeredgewidth=1.2,
            zorder=6,
        )
        if index % step == 0:
            axes.annotate(
                printable(grid, 14),
                (x, 1.0),
                (0, 3),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                size=CAPTION - 1,
                color=panel.colour(grid),
                ha="left",
                va="bottom",
                rotation=35,
                rotation_mode="anchor",
                parse_math=False,
            )


# --- deviations -----------------------------------------------------------------------------------


def _draw_deviations(axes: Axes, panel: Panel) -> None:
    """Draw bars for the phases and the total of each grid, as figure 2 of the paper does."""
    grids = [
        grid
        for grid in panel.drawn
        if any(comparison.grid == grid for comparison in panel.compared)
    ]
    for index, (phase, colour) in enumerate(zip(_PARTS, (*COLOURS[:2], FAINT), strict=True)):
        bars = []
        for k, grid in enumerate(grids):
            deviation = summarised(
                comparison
                for comparison in panel.compared
                if (comparison.grid, comparison.part) == (grid, phase)
            )
            if deviation is not None:
                ends = (
                    deviation.average - deviation.minimum,
                    deviation.maximum - deviation.average,
                )
                bars.append((k + 0.27 * (index - 1), deviation.average, *ends))
        if bars:
            at, heights, *errors = np.array(bars).T * [[1], [100], [100], [100]]
            axes.bar(at, heights, width=0.25, color=colour, label=NAMES.get(phase, "whole"))
            axes.errorbar(
                at,
                heights,
                yerr=errors,
                fmt="none",
                ecolor=INK,
                elinewidth=0.8,
                capsize=1.8,
                capthick=0.8,
            )
    axes.set_xticks(
        range(len(grids)),
        [printable(grid, 14) for grid in grids],
        rotation=35,
        ha="right",
        rotation_mode="anchor",
    )
    axes.set_ylim(bottom=0)
    overall = summarised(comparison for comparison in panel.compared if comparison.part == TOTAL)
    text = f"whole: {100 * overall.average:.2g} % on average" if overall else "nothing predicted"
    plain_axes(axes, "", "deviation in %", size=CAPTION, title=text, pad=30)
    if overall:
        plain_legend(
            axes,
            ncols=3,
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            borderaxespad=0.2,
            handlelength=1.2,
        )


VIEW = View(draw, kinds=("sweep",), several=True)

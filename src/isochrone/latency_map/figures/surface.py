"""3-D surface over rank and rank, in the colours of the heat map.

Each mesh point is the round trip of one pair; rank 0 is at the lower left. The diagonal, which is
not measured, has the height of its lower neighbour, so that ranks that are equal look equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isochrone.base.arrays import Floats, Ints
from isochrone.latency_map.map_to_draw import SORTS, Drawn, as_drawn, order_of, refuse_bandwidths
from isochrone.runfile.run import Run
from isochrone.views.head import head_height, map_facts, map_title, write_head
from isochrone.views.style import (
    COLOURS_OF_MAPS,
    LABEL,
    Unit,
    axes_at,
    check,
    colour_bar,
    dress_space,
    new_figure,
    nice_ranks,
    pool,
    time_ticks,
    time_unit,
)
from isochrone.views.view import Figure, Options, View

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable

_MAX_MESH_POINTS = 128
"""Of a side of the mesh; with more, walls hide what is behind them, and nobody sees the points."""
_LINES_UP_TO = 64  # mesh points a side; more lines would hide the colours
_MIN_SPAN = 1.25  # largest / smallest from which the colours go to their end
_WIDTH, _HEIGHT = 8.2, 6.0
_LEFT = 0.06


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the surface of one message size of one run."""
    run, statistic, nbytes = runs[0], options.what, options.size
    check(statistic, run.pair_quantity)
    refuse_bandwidths(run)
    drawn = as_drawn(run, options)
    order = order_of(drawn.run, replace(options, analysis=drawn.found))
    points, block = pool(with_diagonal(drawn.matrix[np.ix_(order, order)]), _MAX_MESH_POINTS)
    unit = time_unit(points)
    heights = points / unit.factor
    low, high = np.nanmin(heights, initial=np.inf), float(np.nanmax(heights, initial=0.0))
    # the colours end above ranks that are equal, which are not slow
    high = (high if high > _MIN_SPAN * low else 1.5 * high) or 1.0

    notes = [*drawn.notes, "diagonal: as high as its neighbours"]
    notes += ["gaps: not measured"] if np.isnan(heights).any() else []
    notes += [f"each mesh point: maximum over {block} × {block} pairs"] if block > 1 else []
    notes += [SORTS[options.sort]] if options.sort != "rank" else []
    lines = map_facts(run, statistic, nbytes, notes, _WIDTH * (1 - 2 * _LEFT))
    head = head_height(len(lines))
    height = _HEIGHT + head - 0.3  # the corners above the surface are empty
    figure = new_figure(_WIDTH, height, dpi=125)
    box = (-0.01, 0.0, 0.90, _HEIGHT / height)
    axes: Any = figure.add_axes(box, projection="3d", facecolor="none")
    mappable = _surface(axes, heights, high, block)
    _dress(axes, drawn, order, high, unit)
    bar = axes_at(figure, 0.885 * _WIDTH, 0.25 * _HEIGHT, 0.022 * _WIDTH, 0.48 * _HEIGHT)
    quantity = "standard deviation" if statistic == "stddev" else f"{statistic} {run.pair_quantity}"
    colour_bar(bar, mappable, f"{quantity} in {unit.name}")
    time_ticks(bar.yaxis, 6, wide=False)
    write_head(figure, _LEFT, map_title(run, statistic), lines)
    return figure


def with_diagonal(matrix: Floats) -> Floats:
    """Give a diagonal that was not measured the lower of the neighbouring heights.

    The lower, because a rank is a neighbour of its own node and not of the next one.
    """
    filled = matrix.copy()
    beside = np.diagonal(matrix, 1)
    before, after = np.append(np.nan, beside), np.append(beside, np.nan)
    diagonal = np.diagonal(matrix)
    lower = np.fmin(before, after)
    np.fill_diagonal(filled, np.where(np.isnan(diagonal), lower, diagonal))
    return filled


def _surface(axes: Any, heights: Floats, high: float, block: int) -> ScalarMappable:
    """Draw the mesh; the colour of a face is that of the mean of its corners.

    All faces at once, with their colours as numbers: `plot_surface` handles each by itself.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    n = len(heights)
    along = np.minimum(np.arange(n) * block + (block - 1) / 2, n * block)
    x, y = np.meshgrid(along, along)
    mesh = np.stack([x, y, heights], axis=-1)
    corners = np.stack([mesh[:-1, :-1], mesh[:-1, 1:], mesh[1:, 1:], mesh[1:, :-1]], axis=2)
    faces = corners.reshape(-1, 4, 3)
    faces = faces[np.isfinite(faces).all(axis=(1, 2))]
    mappable = ScalarMappable(Normalize(0, high), COLOURS_OF_MAPS)
    lines = n <= _LINES_UP_TO
    drawn = Poly3DCollection(
        faces,
        facecolors=mappable.to_rgba(faces[..., 2].mean(axis=1)),
        linewidths=0.4 if lines else 0,
        edgecolors="#00000055" if lines else "none",
        antialiaseds=lines,
    )
    drawn.set_rasterized(n > 24)  # thousands of faces make an SVG that no browser likes
    axes.add_collection(drawn, autolim=False)
    return mappable


def _dress(axes: Any, drawn: Drawn, order: Ints, high: float, unit: Unit) -> None:
    """Look from where rank 0 is at the lower left, and label the three axes."""
    from matplotlib.ticker import MaxNLocator

    n = len(order)
    axes.view_init(elev=40, azim=-106)
    axes.set_proj_type("persp", focal_length=1.6)
    axes.set_box_aspect((1, 1, 0.42), zoom=1.12)  # mplot3d leaves wide margins
    axes.set(xlim=(0, n - 1), ylim=(0, n - 1), zlim=(0, high))
    ticks = nice_ranks(n)
    names = drawn.names(order[ticks])
    axes.set_xticks(ticks, names)
    axes.set_yticks(ticks, names)
    axes.zaxis.set_major_locator(MaxNLocator(4))
    dress_space(axes, (drawn.unit, drawn.unit, unit.name), LABEL)


VIEW = View(draw, kinds=("latency-map",))

"""3-D surface over rank and rank, low blue to high red, as in the mmpi paper.

Each mesh point is the round trip of one pair; rank 0 is at the lower left, and the diagonal, which
is not measured, is 0 as in the paper's logs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from isochrone.runfile.run import Run
from isochrone.views.style import (
    FAINT,
    INK,
    LABEL,
    Unit,
    check,
    heading,
    new_figure,
    nice_ranks,
    pool,
    time_unit,
)
from isochrone.views.view import Options, View

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

__all__ = ["VIEW", "draw"]

_MAX_POINTS: Final = 256  # a side of the mesh
_LINES_UP_TO: Final = 64  # mesh points a side; more lines would hide the colours
_COLOURS: Final = (0.06, 0.94)
"""Part of matplotlib's turbo: blue, green, yellow, red as in the paper, but with even steps."""
_WIDTH, _HEIGHT = 8.2, 6.4


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the surface of one message size of one run."""
    run, what, nbytes = runs[0], options.what, options.size
    check(what)
    points, block = pool(run.matrix(what, nbytes), _MAX_POINTS)
    unit = time_unit(points)
    heights = points / unit.factor
    np.fill_diagonal(heights, 0.0)
    high = float(np.nanmax(heights, initial=0.0)) or 1.0

    figure = new_figure(_WIDTH, _HEIGHT, dpi=160)
    axes: Any = figure.add_axes((-0.01, 0.0, 0.90, 0.94), projection="3d", facecolor="none")
    mappable = _surface(axes, heights, high, block)
    _dress(axes, run.size, high, unit)
    bar = figure.add_axes((0.885, 0.24, 0.022, 0.46))
    _colour_bar(figure, bar, mappable, unit, what)
    notes = ["diagonal = 0"]
    missing = np.isnan(heights).any()
    notes += ["gaps: not measured"] if missing else []
    notes += [f"each mesh point: maximum over {block} × {block} pairs"] if block > 1 else []
    heading(figure, 0.06, run, what, nbytes, " · ".join(notes))
    return figure


def _surface(axes: Any, heights: NDArray[np.float64], high: float, block: int) -> ScalarMappable:
    """Draw the mesh; the colour of a face is that of the mean of its corners."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    n = len(heights)
    along = np.minimum(np.arange(n) * block + (block - 1) / 2, n * block)
    x, y = np.meshgrid(along, along)
    mappable = ScalarMappable(
        Normalize(0, high), ListedColormap(colormaps["turbo"](np.linspace(*_COLOURS, 256)))
    )
    corners = (heights[:-1, :-1], heights[1:, :-1], heights[:-1, 1:], heights[1:, 1:])
    # The diagonal's zero is a definition and no measurement, so it does not tint its neighbours.
    faces = mappable.to_rgba(np.mean(corners, axis=0))
    lines = n <= _LINES_UP_TO
    drawn = axes.plot_surface(
        x, y, heights, rstride=1, cstride=1, facecolors=faces, shade=False,
        linewidth=0.4 if lines else 0, edgecolor="#00000055" if lines else "none",
        antialiased=lines,
    )  # fmt: skip
    drawn.set_rasterized(n > 24)  # thousands of faces make an SVG that no browser likes
    return mappable


def _dress(axes: Any, n: int, high: float, unit: Unit) -> None:
    """Look from where rank 0 is at the lower left, and label the three axes."""
    axes.view_init(elev=40, azim=-106)
    axes.set_proj_type("persp", focal_length=1.6)
    axes.set_box_aspect((1, 1, 0.42), zoom=1.12)  # mplot3d leaves wide margins
    ticks = nice_ranks(n)
    axes.set(xlim=(0, n - 1), ylim=(0, n - 1), zlim=(0, high), xticks=ticks, yticks=ticks)
    axes.zaxis.set_major_locator(_locator(4))
    for axis, words in ((axes.xaxis, "rank"), (axes.yaxis, "rank"), (axes.zaxis, unit.name)):
        axis.set_pane_color((0.5, 0.5, 0.5, 0.06))
        axis.set_label_text(words, size=LABEL, color=FAINT)
        axis.line.set_color(FAINT)
        axis._axinfo["grid"].update(color="#88888855", linewidth=0.5)
        axis.set_tick_params(labelsize=LABEL, labelcolor=INK, color=FAINT, pad=0)


def _locator(most: int) -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(most)


def _colour_bar(figure: Figure, axes: Any, mappable: ScalarMappable, unit: Unit, what: str) -> None:
    words = "standard deviation" if what == "stddev" else f"{what} round trip"
    bar = figure.colorbar(mappable, cax=axes)
    bar.outline.set_visible(False)
    axes.yaxis.set_major_locator(_locator(6))
    axes.tick_params(labelsize=LABEL, labelcolor=INK, color=FAINT, length=3)
    axes.set_ylabel(f"{words} in {unit.name}", size=LABEL, color=FAINT)


VIEW: Final = View(draw, kinds=("latency-map",))

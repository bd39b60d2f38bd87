"""Slowdown of each application by each other one, with intervals; grey where it may be 1."""

from collections.abc import Callable, Sequence
from functools import partial
from math import exp, log

import numpy as np

from isochrone.applications.emulation.summary import Emulation, emulation
from isochrone.applications.emulation.timing import MIN_REPEATS, Slowdown
from isochrone.applications.figures._emulations import HEAD, head, short, the_run
from isochrone.base.errors import InputError
from isochrone.base.inference import Estimate
from isochrone.base.units import format_ratio
from isochrone.runfile.run import Run
from isochrone.views.style import (
    CAPTION,
    FAINT,
    INK,
    LABEL,
    axes_at,
    new_figure,
    plain_axes,
    text_width,
)
from isochrone.views.view import Axes, Figure, Options, View

Of = Callable[[Slowdown], Estimate | None]

_WIDE, _HIGH = 0.84, 0.5  # inches of a cell that holds a ratio and its interval
_COLOUR_CELL_INCHES = 0.3  # and of one that is only a colour
_MAX_NUMBERED_COLUMNS = 17  # columns up to which cells hold numbers
_BESIDE = 11.5  # inches up to which both matrices stand side by side
_COLOUR_BAR_INCHES = 0.55  # inches of the colours and what they mean, below the matrices
_LEAST_SPAN = log(2.0)  # of the colours, so that noise does not look like much

_EVEN = "#dfe2e7"
_ON_EVEN = "#59606c"
_ON_LIGHT = "#1a1d24"
_ON_DARK = "#ffffff"


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the matrix of wall times, and that of the 99th percentiles if these are known.

    Raises
    ------
    InputError
        If there is no slowdown with an interval.
    """
    run = the_run(runs)
    summary = emulation(run)
    panels: list[tuple[str, Of]] = [("wall time", lambda slowdown: slowdown.wall)]
    if not any(slowdown.wall.known for slowdown in summary.slowdowns):
        raise InputError(
            "too few runs for intervals of slowdowns",
            where=run.where,
            hint=f"emulate with --combinations alone,pairs,all and --repeats {MIN_REPEATS} or more",
        )
    if any(slowdown.tail is not None and slowdown.tail.known for slowdown in summary.slowdowns):
        panels.append(("99th percentile of the iterations", lambda slowdown: slowdown.tail))
    columns = summary.columns()
    rows = list(dict.fromkeys(slowdown.app for slowdown in summary.slowdowns))
    numbers = len(columns) <= _MAX_NUMBERED_COLUMNS
    wide, high = (_WIDE, _HIGH) if numbers else (_COLOUR_CELL_INCHES, _COLOUR_CELL_INCHES)
    names, row_names = [short(name) for name in columns], [short(app) for app in rows]
    longest = max(text_width(name, LABEL) for name in names)
    slanted = longest > wide
    top = 0.42 + (0.72 * longest if slanted else 0.22)
    left = 0.35 + max(text_width(name, LABEL) for name in row_names)
    inner = (wide * len(columns), high * len(rows))
    width, height = left + inner[0] + 0.45, top + inner[1] + 0.25
    across = len(panels) if width * len(panels) <= _BESIDE else 1
    figure = new_figure(
        max(width * across, 6.2), HEAD + height * (len(panels) // across) + _COLOUR_BAR_INCHES
    )
    ratios = [of(slowdown) for slowdown in summary.slowdowns for _, of in panels]
    clear = [abs(log(ratio.median)) for ratio in ratios if ratio is not None and ratio.differs]
    span = max([_LEAST_SPAN, *clear])  # logarithm of the ratio at which the colours end
    full = (figure.get_figwidth(), figure.get_figheight())
    for index, (title, of) in enumerate(panels):
        down, right = divmod(index, across)
        x, y = left + width * right, full[1] - HEAD - height * down - top - inner[1]
        axes = axes_at(figure, x, y, *inner)
        _panel(axes, summary, rows, columns, of, span)
        _name(axes, row_names, names, slanted=slanted)
        figure.text(
            x / full[0],
            (y + inner[1] + top - 0.12) / full[1],
            title,
            size=LABEL + 1,
            color=INK,
            va="top",
        )
    _colour_bar(axes_at(figure, 0.35, 0.42, 2.4, 0.11), span)
    notes = [
        "time with the application of the column / time alone",
        f"{summary.repeats} repetitions",
        *["below: 95 % interval"] * numbers,
        "grey: not significantly different from 1",
        *["?: too few iterations"] * (None in ratios),
    ]
    head(figure, 0.2, "Slowdown", run, notes)
    return figure


def _panel(
    axes: Axes, summary: Emulation, rows: list[str], columns: list[str], of: Of, span: float
) -> None:
    """Fill the cells of one matrix: a ratio and its interval below it, unless there are many."""
    from matplotlib.patches import Rectangle

    ratios = {
        (slowdown.app, summary.beside(slowdown.beside)): of(slowdown)
        for slowdown in summary.slowdowns
    }
    write = partial(axes.text, ha="center", va="center")
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    for y, app in enumerate(rows):
        for x, column in enumerate(columns):
            ratio = ratios.get((app, column))
            if ratio is None or not ratio.known:
                if (app, column) in ratios:
                    write(x + 0.5, y + 0.5, "?", color=FAINT, size=LABEL)
                continue
            colour, ink = _colours(ratio.median, span) if ratio.differs else (_EVEN, _ON_EVEN)
            corner = (x + 0.02, y + 0.03)
            axes.add_patch(Rectangle(corner, 0.96, 0.94, facecolor=colour, linewidth=0))
            if len(columns) > _MAX_NUMBERED_COLUMNS:
                continue
            interval = f"{format_ratio(ratio.low)} … {format_ratio(ratio.high)}"
            weight = "bold" if ratio.differs else "normal"
            text = format_ratio(ratio.median)
            write(x + 0.5, y + 0.38, text, color=ink, size=LABEL + 1.5, weight=weight)
            write(x + 0.5, y + 0.75, interval, color=ink, size=CAPTION - 1)


def _colours(ratio: float, span: float) -> tuple[str, str]:
    """Return the colour of a ratio and of what is written on it: red is slower, blue faster."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    position = 0.5 + 0.5 * log(ratio) / span
    position += 0.06 if position > 0.5 else -0.06  # the middle is white, as if it were nothing
    position = min(max(position, 0.07), 0.93)  # and the ends are nearly black
    red, green, blue, _ = colormaps["RdBu_r"](position)
    light = 0.299 * red + 0.587 * green + 0.114 * blue
    return to_hex((red, green, blue)), _ON_LIGHT if light > 0.58 else _ON_DARK


def _colour_bar(axes: Axes, span: float) -> None:
    """Draw which colour a ratio has, below the matrices."""
    from matplotlib.colors import to_rgb

    positions = np.linspace(-span, span, 64)
    colours = [to_rgb(_colours(exp(at), span)[0]) for at in positions.tolist()]
    axes.imshow(np.array([colours]), aspect="auto", extent=(-span, span, 0, 1))
    ends = [-span, 0.0, span]
    axes.set(xticks=ends, yticks=[], xlim=(-span, span))
    axes.set_xticklabels([format_ratio(exp(at)) for at in ends])
    plain_axes(axes, "times as long (less than 1: faster)", size=CAPTION, frame=())


def _name(axes: Axes, rows: list[str], columns: list[str], *, slanted: bool) -> None:
    """Write which application is slower, and with which."""
    axes.xaxis.tick_top()
    axes.set_xticks([k + 0.5 for k in range(len(columns))], columns, parse_math=False)
    axes.set_yticks([k + 0.5 for k in range(len(rows))], rows, parse_math=False)
    plain_axes(axes, frame=())
    axes.tick_params(length=0, pad=3)
    if slanted:
        for label in axes.get_xticklabels():
            label.set(rotation=45, ha="left", rotation_mode="anchor")


VIEW = View(draw, kinds=("emulation",))

"""Lines with error bars, each named at its end: what the pictures of sweeps are made of."""

import textwrap
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from msgspec import field
from numpy.typing import ArrayLike

from isochrone.base.arrays import Floats
from isochrone.base.errors import InputError
from isochrone.base.record import Record
from isochrone.base.table import grouped
from isochrone.runfile.run import Run
from isochrone.views.head import head_height, head_lines, warned, write_head
from isochrone.views.scales import Scale, place, tick_bytes, value_ticks, where_ticks
from isochrone.views.style import (
    CAPTION,
    FAINT,
    INK,
    LABEL,
    axes_at,
    host_colours,
    new_figure,
    plain_axes,
    text_width,
)
from isochrone.views.view import Axes, Figure

_WIDTH, _HEIGHT = 6.6, 4.1  # inches of the axes
_LEFT, _BOTTOM = 1.1, 0.66
_LEAD = 0.30  # inches from the axes to the names of the lines
_NAME_GAP = 0.165  # inches between two names
_MAX_NAMES = int(_HEIGHT / _NAME_GAP)
_MAX_LINE_NAME = 60  # characters of a name
_MARKERS = 60  # points up to which each has a marker
_MAX_ERROR_BARS = 150
_MAX_SWITCHES = 4  # that are named; more are only shaded


class Line(Record):
    """One line: medians with their intervals over sizes or ranks.

    ``switches`` are pairs of neighbouring places between which the protocol changes.
    """

    name: str
    x: Floats
    y: Floats
    low: Floats
    high: Floats
    switches: list[tuple[float, float]] = field(default_factory=list)


class ChartText(Record):
    """What is written around the lines, how the ticks are written, and of which runs they are.

    A title is ``Quantity by variable``; the quantity is written along the vertical axis.
    """

    title: str
    facts: Sequence[str]
    below: str
    tick_x: Callable[[float], str]
    tick_y: Callable[[float], str]
    of: Sequence[Run] = ()


def draw_lines(lines: Sequence[Line], text: ChartText, scale: Scale) -> Figure:
    """Draw lines, their error bars, their switches, and their names at their ends.

    Raises
    ------
    InputError
        If no line has anything to draw on this scale.
    """
    lines = [_drawable(line, scale) for line in lines]
    drawable = [line for line in lines if len(line.x)]
    if not drawable:
        raise InputError("there is nothing to plot", hint="all values are zero or unknown")
    names = [textwrap.shorten(line.name, _MAX_LINE_NAME, placeholder=" …") for line in drawable]
    room = max((text_width(name, LABEL) for name in names), default=0)
    right = _LEAD + room + 0.15 if any(names) else 0.35
    across = _WIDTH + right - 0.1
    head = [*head_lines(text.facts, across), *warned(text.of, across)]
    top = head_height(len(head)) + (0.28 if any(line.switches for line in drawable) else 0.1)
    width, height = _LEFT + _WIDTH + right, _BOTTOM + _HEIGHT + top
    figure = new_figure(width, height)
    axes = axes_at(figure, _LEFT, _BOTTOM, _WIDTH, _HEIGHT)
    colours = list(host_colours([str(k) for k in range(len(drawable))]).values())
    smallest = _limits(axes, drawable, text, scale)
    to = partial(place, scale=scale, smallest=smallest)
    for line, colour in zip(drawable, colours, strict=True):
        _draw(axes, line, colour, to(line.x))
    _shade(axes, drawable, colours, to)
    if any(names):
        _name(axes, drawable, names, colours, [float(to(line.x)[-1]) for line in drawable])
    write_head(figure, _LEFT / width, text.title, head)
    return figure


def _drawable(line: Line, scale: Scale) -> Line:
    """Leave out what is not known, or is zero where the axis is logarithmic."""
    keep = np.isfinite(line.y) & (line.y > 0 if scale == "log" else line.y >= 0)
    low, high = np.where(np.isfinite(line.low), line.low, line.y), line.high
    high = np.where(np.isfinite(high), high, line.y)
    x, y, low, high = (values[keep] for values in (line.x, line.y, low, high))
    if scale == "log":
        low = np.where(low > 0, low, y)
    return Line(line.name, x, y, np.minimum(low, y), np.maximum(high, y), line.switches)


def _limits(axes: Axes, lines: Sequence[Line], text: ChartText, scale: Scale) -> float:
    """Set limits and ticks of both axes; return the smallest size above 0."""
    x = np.concatenate([line.x for line in lines])
    above = x[x > 0]
    smallest = float(above.min()) if len(above) else 1.0
    at = place(x, scale, smallest)
    first = 0.0 if scale == "linear" and at.min() < 0.15 * at.max() else float(at.min())
    span = float(at.max()) - first or 1.0
    axes.set_xlim(first - 0.025 * span, float(at.max()) + 0.025 * span)
    low = min(float(line.low.min()) for line in lines)
    high = max(float(line.high.max()) for line in lines)
    if scale == "log":
        axes.set_yscale("log")
        margin = max((high / low) ** 0.06, 1.04)
        low, high = low / margin, high * margin
    else:
        low, high = 0.0, 1.06 * high or 1.0
    axes.set_ylim(low, high)
    ticks = where_ticks(x, scale, text.tick_x)
    axes.set_xticks(ticks.places, ticks.texts)
    ticks = value_ticks(low, high, scale, text.tick_y)
    axes.set_yticks(ticks.places, ticks.texts)
    axes.minorticks_off()
    quantity = text.title.partition(" by ")[0].lower()
    plain_axes(axes, text.below, quantity, grid="y", frame=("bottom",))
    return smallest


def _draw(axes: Axes, line: Line, colour: str, at: Floats) -> None:
    """Draw one line; error bars are wider than the line, so that they are seen next to markers."""
    marker = "o" if len(at) <= _MARKERS else ""
    axes.plot(
        at,
        line.y,
        color=colour,
        linewidth=1.5,
        marker=marker,
        markersize=3.4,
        solid_joinstyle="round",
        zorder=3,
    )
    if len(at) <= _MAX_ERROR_BARS:
        bars = np.vstack([line.y - line.low, line.high - line.y])
        long = bars.any(axis=0)  # a bar without length would look like a known interval
        axes.errorbar(
            at[long],
            line.y[long],
            yerr=bars[:, long],
            fmt="none",
            ecolor=colour,
            elinewidth=1.1,
            capsize=2.4,
            capthick=1.1,
            zorder=2.5,
        )


def _shade(
    axes: Axes, lines: Sequence[Line], colours: Sequence[str], to: Callable[[ArrayLike], Floats]
) -> None:
    """Shade where the protocol switches, in the colour of the line if there are several."""
    several = len(lines) > 1
    drawn = zip(lines, colours, strict=True)
    gaps = grouped((gap, colour) for line, colour in drawn for gap in line.switches)
    for (after, before), inks in gaps.items():
        low, high = to([after, before]).tolist()
        thin = 0.004 * (axes.get_xlim()[1] - axes.get_xlim()[0])  # wide enough to be seen
        low, high = min(low, (low + high - thin) / 2), max(high, (low + high + thin) / 2)
        colour = inks[0] if several and len(inks) == 1 else FAINT
        axes.axvspan(low, high, color=colour, alpha=0.16, linewidth=0, zorder=1)
    left, right = axes.get_xlim()
    free = left
    for after, before in sorted(gaps)[:_MAX_SWITCHES]:
        text = f"protocol switch {tick_bytes(after)} – {tick_bytes(before)}"
        half = text_width(text, CAPTION) / _WIDTH * (right - left) / 2
        middle = float(to([after, before]).mean())
        middle = min(max(middle, left + half), right - half)
        if middle - half < free - 1e-9 * (right - left):
            continue
        free = middle + half
        axes.annotate(
            text,
            (middle, 1.0),
            (0, 4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            size=CAPTION,
            color=FAINT,
            ha="center",
            va="bottom",
        )


def _name(
    axes: Axes,
    lines: Sequence[Line],
    names: list[str],
    colours: Sequence[str],
    ends: Sequence[float],
) -> None:
    """Write the name of each line at its end; names never touch each other."""
    points = np.array([[end, float(line.y[-1])] for end, line in zip(ends, lines, strict=True)])
    heights = axes.transAxes.inverted().transform(axes.transData.transform(points))
    order = np.argsort(-heights[:, 1], kind="stable").tolist()
    left = len(order) - _MAX_NAMES
    if left > 0:
        order = order[: _MAX_NAMES - 1]
    levels = spread([float(heights[k, 1]) for k in order], _NAME_GAP / _HEIGHT)
    lead = _LEAD / _WIDTH
    for k, at in zip(order, levels, strict=True):
        end, height = heights[k].tolist()
        common = {
            "transform": axes.transAxes,
            "clip_on": False,
            "zorder": 2,
            "color": colours[k],
            "linewidth": 0.9,
            "alpha": 0.8,
        }
        if end < 0.95:  # within the axes it must not look like a line of times
            axes.plot([end + 0.006, 1.0], [height, height], linestyle=(0, (1, 4)), **common)
        start = max(end + 0.006, 1.0 if end < 0.95 else 0.0)
        axes.plot([start, 1.0 + 0.25 * lead, 1.0 + 0.8 * lead], [height, at, at], **common)
        axes.text(
            1.0 + lead,
            at,
            names[k],
            transform=axes.transAxes,
            size=LABEL,
            color=INK,
            va="center_baseline",
            parse_math=False,
        )
    if left > 0:
        axes.text(
            1.0 + lead,
            min(levels) - _NAME_GAP / _HEIGHT,
            f"and {left + 1} more",
            size=LABEL,
            transform=axes.transAxes,
            color=FAINT,
            va="center_baseline",
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Spread heights, given from the top down, so that neighbours keep a gap.

    Neighbours that are too close become a block around the mean of where they want to be; blocks
    that then touch are joined.
    """
    blocks = []
    for height in heights:
        blocks.append([height])
        # the next one has its place a gap below the last of the block above
        while len(blocks) > 1 and (
            _top(blocks[-1], gap) > _top(blocks[-2], gap) - len(blocks[-2]) * gap
        ):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    return [_top(block, gap) - k * gap for block in blocks for k in range(len(block))]


def _top(block: Sequence[float], gap: float) -> float:
    """Return where the first of a block is; a block stays within the axes if it can."""
    extent = (len(block) - 1) * gap
    middle = sum(block) / len(block)
    return min(max(middle + extent / 2, min(extent, 1.0)), 1.0)

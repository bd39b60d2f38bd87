"""Who sends how much to whom: a recorded program's bytes or messages as a colour for each pair.

Rows are senders and columns receivers, rank 0 at the top left, as a matrix is written. White is
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from isochrone.applications.results.recording import Sent, program, sent
from isochrone.base.arrays import Floats
from isochrone.base.units import format_amount, format_seconds
from isochrone.runfile.run import Run
from isochrone.views.head import HeadLine, head_height, head_lines, made, write_head
from isochrone.views.style import (
    CAPTION,
    COLOURS_OF_MAPS,
    LABEL,
    axes_at,
    colour_bar,
    host_segments,
    new_figure,
    nice_ranks,
    plain_axes,
    print_numbers,
)
from isochrone.views.view import Axes, Figure, Options, View

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable

_MAX_CELLS = 2048  # a side; more than this no screen or page resolves
_MAX_NUMBERS = 10  # ranks up to which the cells hold their numbers
_MIN_LOG_TRAFFIC_RATIO = 20.0  # largest / smallest from which the colours are logarithmic
_LEFT, _BOTTOM = 0.75, 0.3  # inches
_HEAD_INCHES = 0.55  # inches between the map and the head
_EMPTY = (255, 255, 255, 255)
_HOSTS = "#b9bec8"

_WORDS = {
    "bytes": "Bytes sent",
    "messages": "Messages sent",
    "seconds": "Time in calls that send",
}


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the matrix of one recording."""
    run = runs[0]
    quantity = "bytes" if options.what == Options.what else options.what
    pairs = sent(run, quantity)
    block = -(-run.size // _MAX_CELLS)  # ranks of a cell, which shows the largest of their pairs
    cells = np.full((-(-run.size // block),) * 2, np.nan)
    np.fmax.at(cells, (pairs.source // block, pairs.target // block), pairs.amount)
    side = 6.2 if run.size > _MAX_NUMBERS else 4.9
    width = _LEFT + side + 1.25
    lines = _facts(run, quantity, pairs, block, width - _LEFT - 0.1)
    height = _BOTTOM + side + _HEAD_INCHES + head_height(len(lines))
    dpi = len(cells) * -(-side * 150 // len(cells)) / side
    figure = new_figure(width, height, dpi)
    axes = axes_at(figure, _LEFT, _BOTTOM, side, side)
    mappable = _colours(cells)
    picture = mappable.to_rgba(np.nan_to_num(cells, nan=1.0), bytes=True)
    picture[np.isnan(cells)] = _EMPTY
    axes.imshow(
        picture,
        interpolation="none",
        extent=(-0.5, run.size - 0.5, run.size - 0.5, -0.5),
        aspect="auto",
    )
    if run.size <= _MAX_NUMBERS:
        print_numbers(
            axes,
            np.where(cells > 0, cells, np.nan),
            picture,
            lambda value: _text(value, quantity).replace(" ", "\n"),
            LABEL if len(cells) <= 6 else CAPTION - 1,
        )
    _decorate(axes, run)
    if not np.isnan(cells).all():
        _colour_bar(axes_at(figure, _LEFT + side + 0.15, _BOTTOM, 0.17, side), mappable, quantity)
    write_head(figure, _LEFT / width, f"{_WORDS[quantity]} from rank to rank", lines)
    return figure


def _colours(values: Floats) -> ScalarMappable:
    """Choose linear colours from zero, or logarithmic ones over a wide range."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    if low > 0 and high > _MIN_LOG_TRAFFIC_RATIO * low:
        return ScalarMappable(LogNorm(low, high, clip=True), COLOURS_OF_MAPS)
    return ScalarMappable(Normalize(0, high, clip=True), COLOURS_OF_MAPS)


def _text(value: float, quantity: str) -> str:
    if quantity == "bytes":
        return format_amount(value)
    return format_seconds(value) if quantity == "seconds" else f"{value:,.0f}"


def _decorate(axes: Axes, run: Run) -> None:
    """Write the numbers of ranks, and draw a line wherever the host changes."""
    ticks = nice_ranks(run.size, 12 if run.size <= 12 else 9)
    axes.set(xticks=ticks, yticks=ticks)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    plain_axes(axes, "to rank", "from rank", frame=("left", "right", "top", "bottom"))
    cuts = [segment.first - 0.5 for segment in host_segments(run.hosts)[1:]]
    if len(cuts) <= run.size // 2:
        for cut in cuts:
            axes.axhline(cut, color=_HOSTS, linewidth=0.6)
            axes.axvline(cut, color=_HOSTS, linewidth=0.6)


def _colour_bar(axes: Axes, mappable: ScalarMappable, quantity: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = mappable.get_clim()
    if colour_bar(axes, mappable, _WORDS[quantity].lower()):
        axes.yaxis.set_major_locator(
            LogLocator(base=2.0 if quantity == "bytes" else 10.0, numticks=8)
        )
    else:  # round in the unit they are written in
        unit = 1.0
        while quantity == "bytes" and high >= 1024 * unit:
            unit *= 1024
        ticks = unit * np.asarray(MaxNLocator(7).tick_values(0, (high or 1) / unit))
        axes.set_yticks(ticks[(ticks >= 0) & (ticks <= (high or 1) * (1 + 1e-9))])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _text(value, quantity)))
    axes.set_ylim(low, high)


def _facts(run: Run, quantity: str, pairs: Sent, block: int, width: float) -> list[HeadLine]:
    """Say of which program it is, on lines of at most this width in inches."""
    hosts = len(set(run.hosts) - {""})
    facts = [
        program(run),
        *([] if run.origin == "measured" else [run.origin]),
        f"{run.size} ranks on {hosts} host{'' if hosts == 1 else 's'}",
        f"{_text(float(pairs.amount.sum()), quantity)} in all, between {len(pairs.amount):,} pairs",
    ]
    facts += ["white: nothing"] if len(pairs.amount) < run.size**2 else []
    facts += [f"each cell: maximum over {block} × {block} ranks"] if block > 1 else []
    return [*head_lines(facts, width), *made(run, width)]


VIEW = View(draw, kinds=("recording",), usual=("recording",))

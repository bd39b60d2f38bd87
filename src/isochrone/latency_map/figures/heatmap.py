"""Rank-by-rank picture: the round trip of every pair as a colour, with the hosts drawn in.

Rank 0 is at the upper left: row 0 and column 0 hold the round trips between rank 0 and all others.
Blocks of one colour along the diagonal are nodes, slow parts are framed. Where the
ranks of a node are not neighbours, ``--sort node`` makes them so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isochrone.base.arrays import Bools, Floats, Ints
from isochrone.latency_map.figures._slow_parts import FRAMED, draw_frames, named
from isochrone.latency_map.map_to_draw import SORTS, Drawn, as_drawn, order_of, scattered
from isochrone.runfile.run import DIRECTIONS, Run
from isochrone.views.head import head_height, map_facts, map_title, write_head
from isochrone.views.style import (
    CAPTION,
    COLOURS_OF_MAPS,
    INK,
    LABEL,
    Rates,
    Segment,
    Unit,
    axes_at,
    check,
    colour_bar,
    host_colours,
    host_segments,
    host_strip,
    new_figure,
    nice_ranks,
    plain_axes,
    pool,
    print_numbers,
    rate_ticks,
    short_names,
    text_width,
    time_ticks,
    time_unit,
)
from isochrone.views.view import Axes, Figure, Options, View

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable

_MAX_CELLS = 2048  # a side; more than this no screen or page resolves
_MAX_NUMBERS = 10  # ranks up to which the cells hold their numbers
_MIN_LOG_COLOUR_RATIO = 6.0  # largest / smallest from which the colours are logarithmic
_MIN_SPAN = 1.25  # of the colours, so that noise alone does not look like structure
_STRIP = 0.10  # inches: the band of host colours along the map
_BAND_GAP = 0.05  # inches between the map and that band
_LEFT, _BOTTOM = 0.72, 0.62  # inches: room for the numbers of the ranks
_UPRIGHT = 10  # characters of the longest host name that is also written above the map
_LABEL_LINE = 0.155  # inches that one line of labels needs
_UNMEASURED = (150, 155, 165, 90)
_ESTIMATED_OPACITY = 110  # opacity of estimated cells


class _Label(NamedTuple):
    """A host name and its place along the map; ``key`` is the host if it is part of a legend."""

    where: float
    text: str
    key: str = ""


def draw(runs: Sequence[Run], options: Options) -> Figure:
    """Draw the heat map of one message size of one run."""
    run, statistic, nbytes = runs[0], options.what, options.size
    quantity = check(statistic, run.pair_quantity)
    drawn = as_drawn(run, options)
    matrix, analysis = drawn.matrix, drawn.found
    directed = run.pair_quantity != "round trip" and DIRECTIONS[0] in run.pairs()
    if directed and drawn.unit == "rank":
        _direct(drawn.run, matrix, analysis.nbytes)
    order = order_of(drawn.run, replace(options, analysis=analysis))
    of_unit, size = drawn.run.hosts, len(order)
    hosts = [of_unit[unit] for unit in order]
    cells, block = pool(matrix[np.ix_(order, order)], min(options.cells, _MAX_CELLS))
    segments = host_segments(hosts)
    unknown = np.isnan(cells)
    if block == 1:
        np.fill_diagonal(unknown, False)
    estimated = np.zeros_like(unknown)
    if drawn.guessed:
        _estimate(drawn)
        guessed = pool(matrix[np.ix_(order, order)], len(cells))[0]
        estimated = unknown & ~np.isnan(guessed)
        cells = np.where(estimated, guessed, cells)
        unknown &= ~estimated
    ways = ["from row to column"] * (directed and drawn.unit == "rank")
    notes = [*drawn.notes, *ways, *["grey: not measured"] * bool(unknown.any())]
    notes += ["pale: estimated"] if estimated.any() else []
    most = "minimum" if run.bandwidth else "maximum"
    notes += [f"each cell: {most} over {block} × {block} {drawn.unit}s"] if block > 1 else []
    if options.sort != "rank":
        notes.append(SORTS[options.sort])
    elif scattered(hosts):
        notes.append("ranks of a host are not neighbours: see --sort node")
    side = 6.2 if size > _MAX_NUMBERS else 4.9
    labels = _host_labels(segments, side, size)
    on_top = _names_on_top(segments, labels, side)
    longest = max((text_width(label.text, LABEL) for label in labels), default=0)
    right = longest + (0.35 if len(segments) > 1 else 0.12)
    width = _LEFT + side + right + 1.0
    lines = map_facts(run, statistic, nbytes, notes, width - _LEFT - 0.1)
    lines += named(analysis.slow, short_names(run.hosts), width - _LEFT - 0.1, FRAMED)
    top = {"flat": _LABEL_LINE + 0.24, "upright": longest + 0.2, "": 0.18}[on_top]
    height = _BOTTOM + side + top + head_height(len(lines))
    # Every cell gets the same whole number of pixels, so that the picture is crisp.
    dpi = len(cells) * -(-side * 150 // len(cells)) / side
    figure = new_figure(width, height, dpi)
    axes = axes_at(figure, _LEFT, _BOTTOM, side, side)
    unit = time_unit(cells)
    rates = Rates.of(analysis.nbytes, cells) if run.bandwidth else None
    number = partial(_rate, unit, rates) if rates else _number
    mappable = _draw_cells(axes, cells / unit.factor, (unknown, estimated), size, number)
    _rank_axes(axes, drawn, order)
    _boundaries(axes, segments, size, side)
    draw_frames(axes, analysis.slow, order, size / side, of_unit)
    _hosts(axes, segments, labels, on_top, size / side)
    bar = axes_at(figure, _LEFT + side + right + 0.15, _BOTTOM, 0.17, side)
    named_as = "standard deviation" if statistic == "stddev" else quantity.lower()
    named_as = f"bandwidth in {rates.name}" if rates else f"{named_as} in {unit.name}"
    wide = colour_bar(bar, mappable, named_as)
    if rates:
        rate_ticks(bar.yaxis, unit, rates)
    else:
        time_ticks(bar.yaxis, 7, wide=wide)
    write_head(figure, _LEFT / width, map_title(run, statistic), lines)
    return figure


def _direct(run: Run, matrix: Floats, nbytes: int) -> None:
    """Let a cell be of the messages from its row to its column, as far as they are known."""
    for at, key in enumerate(DIRECTIONS):
        i, j, seconds = run.cells(key, nbytes)
        known = np.isfinite(seconds)
        ends = (i[known], j[known])[:: -1 if at else 1]
        matrix[ends] = seconds[known]


def _estimate(drawn: Drawn) -> None:
    """Fill in the pairs that were not measured, as far as they can be estimated."""
    for k, row in enumerate(drawn.matrix):  # row by row: less memory
        others = np.flatnonzero(np.isnan(row) & (np.arange(len(row)) != k))
        row[others] = drawn.estimates(np.full(len(others), k), others)[0]


def _draw_cells(
    axes: Axes,
    values: Floats,
    unmeasured: tuple[Bools, ...],
    n: int,
    number: Callable[[float], str],
) -> ScalarMappable:
    """Draw the cells of ``n`` ranks, with their numbers if they are few; the diagonal is clear."""
    mappable = _colours(values)
    picture = mappable.to_rgba(values, bytes=True)
    picture[np.isnan(values)] = (255, 255, 255, 0)
    picture[unmeasured[0]] = _UNMEASURED
    picture[unmeasured[1], 3] = _ESTIMATED_OPACITY
    axes.imshow(picture, interpolation="none", extent=(-0.5, n - 0.5, n - 0.5, -0.5), aspect="auto")
    if n <= _MAX_NUMBERS:
        size = LABEL + 1 if len(values) <= 6 else CAPTION
        print_numbers(axes, values, picture, number, size)
    return mappable


def _colours(values: Floats) -> ScalarMappable:
    """Choose linear or logarithmic colours from the range of the values."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    positive = values[np.isfinite(values) & (values > 0)]
    low, high = (float(positive.min()), float(positive.max())) if len(positive) else (0.5, 1.0)
    if high > _MIN_LOG_COLOUR_RATIO * low:
        return ScalarMappable(LogNorm(low, high, clip=True), COLOURS_OF_MAPS)
    if high < _MIN_SPAN * low:
        middle = (low + high) / 2
        low, high = middle * 2 / (1 + _MIN_SPAN), middle * 2 * _MIN_SPAN / (1 + _MIN_SPAN)
    return ScalarMappable(Normalize(low, high, clip=True), COLOURS_OF_MAPS)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def _rate(unit: Unit, rates: Rates, value: float) -> str:
    return rates.number(value * unit.factor)


def _rank_axes(axes: Axes, drawn: Drawn, order: Ints) -> None:
    n = len(order)
    ticks = nice_ranks(n, 12 if n <= 12 else 9)
    names = drawn.names(order[ticks])
    axes.set_xticks(ticks, names)
    axes.set_yticks(ticks, names)
    plain_axes(axes, drawn.unit, drawn.unit, frame=())
    if n <= _MAX_NUMBERS:
        axes.tick_params(length=0)


def _boundaries(axes: Axes, segments: list[Segment], n: int, side: float) -> None:
    """Draw a line wherever the host changes, unless the lines would cover the map."""
    from matplotlib.collections import LineCollection

    if len(segments) * 0.08 > side:
        return
    cuts = [segment.first - 0.5 for segment in segments[1:]]
    ends = (-0.5, n - 0.5)
    lines = [[(c, e) for e in ends] for c in cuts] + [[(e, c) for e in ends] for c in cuts]
    thin = min(1.0, 24 / max(1, len(cuts)))
    # Light on dark, so that the line is seen on every colour of the map.
    axes.add_collection(LineCollection(lines, colors="#00000066", linewidths=0.6 + 1.2 * thin))
    axes.add_collection(LineCollection(lines, colors="#ffffffee", linewidths=0.3 + 0.6 * thin))


def _host_labels(segments: list[Segment], side: float, n: int) -> list[_Label]:
    """Choose the host names to print, with their places; they never touch each other.

    If ranks of one host are scattered and not every change can be named, the names become a legend
    of the colours instead: names picked out of a cyclic placement would mislead.
    """
    names = short_names([segment.host for segment in segments])
    if not any(names.values()):
        return []
    line = _LABEL_LINE * n / side
    capacity = int(side / _LABEL_LINE)
    if len(segments) > len(names) and len(segments) > capacity:
        listed = list(names)[:capacity]
        return [_Label(-0.5 + (k + 0.5) * line, names[host], host) for k, host in enumerate(listed)]
    labels: list[_Label] = []
    for segment in segments:
        if not labels or segment.centre - labels[-1].where >= line:
            labels.append(_Label(segment.centre, names[segment.host]))
    return labels


def _names_on_top(segments: list[Segment], labels: list[_Label], side: float) -> str:
    """Say how the host names stand above the map: ``flat``, ``upright``, or not at all."""
    n = segments[-1].last + 1
    if not labels or labels[0].key or len(segments) == 1:
        return ""
    room = min(segment.width for segment in segments) * side / n
    if len(labels) == len(segments) and all(text_width(k.text, LABEL) < room for k in labels):
        return "flat"
    return "upright" if max(len(label.text) for label in labels) <= _UPRIGHT else ""


def _hosts(
    axes: Axes, segments: list[Segment], labels: list[_Label], on_top: str, inch: float
) -> None:
    """Draw and name the hosts around the map; ``inch`` is the number of ranks in one."""
    n = segments[-1].last + 1
    colours = host_colours([segment.host for segment in segments])
    above, right = -0.5, n - 0.5
    if len(segments) > 1:
        inner_edge, outer_edge = _BAND_GAP * inch, (_BAND_GAP + _STRIP) * inch
        host_strip(axes, segments, colours, above - inner_edge, above - outer_edge)
        host_strip(axes, segments, colours, right + inner_edge, right + outer_edge, upright=True)
        above, right = above - outer_edge, right + outer_edge
    _name_hosts(axes, labels, on_top, (above, right), inch, colours)
    axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5))


def _name_hosts(
    axes: Axes,
    labels: list[_Label],
    on_top: str,
    edges: tuple[float, float],
    inch: float,
    colours: dict[str, str],
) -> None:
    above, right = edges
    write = partial(axes.text, size=LABEL, color=INK, parse_math=False)
    for label in labels:
        beside = right + 0.06 * inch
        if label.key:
            axes.text(
                beside, label.where, "■", size=LABEL, color=colours[label.key], va="center_baseline"
            )
            beside += 0.16 * inch
        write(beside, label.where, label.text, ha="left", va="center_baseline")
        if on_top:
            rotation = 0 if on_top == "flat" else 90
            at = label.where, above - 0.06 * inch
            write(*at, label.text, ha="center", va="bottom", rotation=rotation)


VIEW = View(draw, kinds=("latency-map",), usual=("latency-map",))
